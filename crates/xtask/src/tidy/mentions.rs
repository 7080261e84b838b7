//! The two maps, `README.md` and `ARCHITECTURE.md`, know every crate.

use super::Violation;
use crate::workspace::{Member, SourceFile};

const MAPS: [&str; 2] = ["README.md", "ARCHITECTURE.md"];

pub(super) fn check(files: &[SourceFile], members: &[Member]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for map in MAPS {
        let text = files
            .iter()
            .find(|file| file.path == map)
            .map_or("", |file| file.text.as_str());
        for member in members {
            if !text.contains(&format!("`{}`", member.name)) {
                let what = format!("does not mention the crate `{}`", member.name);
                violations.push(Violation::new(map, 0, what, "say in one sentence what it is for"));
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
}
