//! The map, `ARCHITECTURE.md`, knows every crate, and the code paths that guides name exist.

use super::Violation;
use crate::workspace::{Member, SourceFile};

const MAP: &str = "ARCHITECTURE.md";
/// Files whose code paths are followed. Design notes are history and keep theirs.
const GUIDES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

pub(super) fn check(files: &[SourceFile], members: &[Member]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let map = files.iter().find(|file| file.path == MAP);
    let text = map.map_or("", |file| file.text.as_str());
    for member in members {
        if !text.contains(&format!("`{}`", member.name)) {
            let what = format!("does not mention the crate `{}`", member.name);
            violations.push(Violation::new(MAP, 0, what, "say in one sentence what it is for"));
        }
    }
    violations.extend(
        files
            .iter()
            .filter(|file| GUIDES.contains(&file.path.as_str()))
            .flat_map(|guide| dead_paths(guide, files, members)),
    );
    violations
}

/// Paths into a crate, in backticks, that lead nowhere; those with a `<placeholder>` are not followed.
fn dead_paths(guide: &SourceFile, files: &[SourceFile], members: &[Member]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (index, line) in guide.text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let quoted = quoted.strip_prefix("crates/").unwrap_or(quoted);
            let is_code_path = quoted
                .split_once('/')
                .is_some_and(|(first, _)| members.iter().any(|member| member.name == first));
            let path = format!("crates/{}", quoted.trim_end_matches('/'));
            let is_there =
                |file: &SourceFile| file.path == path || file.path.starts_with(&format!("{path}/"));
            if is_code_path && !quoted.contains('<') && !files.iter().any(is_there) {
                let what = format!("`{quoted}` leads nowhere");
                violations.push(Violation::new(
                    &guide.path,
                    index + 1,
                    what,
                    "name the file as it is called now",
                ));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn a_crate_that_a_map_forgot_is_named() {
        let member = Member {
            name: "outcrop-kv".into(),
            folder: "outcrop-kv".into(),
            rank: Some(2),
            dependencies: vec![],
        };
        let files = [
            file("README.md", "`outcrop-kv` stores\n"),
            file("ARCHITECTURE.md", "`outcrop`\n"),
        ];
        let found = check(&files, &[member]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "ARCHITECTURE.md");
    }
    #[test]
    fn a_code_path_that_moved_is_named_with_its_line() {
        let member = Member {
            name: "outcrop".into(),
            folder: "outcrop".into(),
            rank: Some(5),
            dependencies: vec![],
        };
        let map = "`outcrop`\n`outcrop/src/main.rs`, `outcrop/src/gone.rs`, `outcrop/src/<any>.rs`, `crates/outcrop/src/`\n";
        let files = [
            file("README.md", map),
            file("ARCHITECTURE.md", "`outcrop`"),
            file("crates/outcrop/src/main.rs", ""),
        ];
        let found = check(&files, &[member]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].line, found[0].what.as_str()),
            (2, "`outcrop/src/gone.rs` leads nowhere")
        );
    }
}
