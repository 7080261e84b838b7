//! Every relative link in a Markdown file leads to a file of the checkout, and its `#anchor` to a heading there.

use std::collections::BTreeSet;

use super::{Violation, has_extension};
use crate::workspace::SourceFile;

pub(super) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let known: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let markdown = files.iter().filter(|file| has_extension(file, "md"));
    let mut violations = Vec::new();
    for file in markdown {
        for (line, target) in targets(&file.text) {
            if let Some(what) = broken(&file.path, target, files, &known) {
                violations.push(Violation::new(
                    &file.path,
                    line,
                    what,
                    "correct the link, or remove it",
                ));
            }
        }
    }
    violations
}

/// Link targets outside fenced code, with their line numbers.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            // A link inside `code` is an example of one.
            let in_code = line[..at].matches('`').count() % 2 == 1;
            if let (Some(end), false) = (rest.find(')'), in_code) {
                found.push((index + 1, rest[..end].split_whitespace().next().unwrap_or("")));
            }
        }
        if let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            found.push((index + 1, target.trim()));
        }
    }
    found
}

/// What is wrong with `target` as seen from the file at `from`, if anything.
fn broken(from: &str, target: &str, files: &[SourceFile], known: &BTreeSet<&str>) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let resolved = if path.is_empty() {
        from.to_owned()
    } else {
        resolve(from, path)
    };
    let inside = format!("{resolved}/");
    let is_folder = known
        .range(inside.as_str()..)
        .next()
        .is_some_and(|next| next.starts_with(&inside));
    if !known.contains(resolved.as_str()) && !is_folder {
        return Some(format!(
            "the link to `{target}` leads nowhere ({resolved} is not there)"
        ));
    }
    let file = files.iter().find(|file| file.path == resolved)?;
    let has_anchor = anchor.is_empty()
        || file
            .text
            .lines()
            .filter_map(heading)
            .any(|title| slug(title) == anchor);
    (!has_anchor).then(|| format!("{resolved} has no heading `#{anchor}`"))
}

/// `path` relative to the folder of `from`, without `.` and `..`.
fn resolve(from: &str, path: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len() && title.starts_with(' ')).then(|| title.trim())
}

/// A heading's anchor as GitHub makes it.
fn slug(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn links_to_files_folders_and_headings_are_followed() {
        let guide =
            "# Guide\n## A `figure`, twice\n[up](../README.md) [here](#a-figure-twice) [x](https://a.b/c)\n";
        let files = [
            file(
                "README.md",
                "[g](docs/guide.md#guide) [d](docs) [p](./docs/guide.md)\n```\n[no](link.md)\n```\n`[no](x)`\n",
            ),
            file("docs/guide.md", guide),
        ];
        assert_eq!(check(&files), []);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named_with_its_line() {
        let files = [file(
            "docs/a.md",
            "# A\n\n[b](b.md)\n[c](#no-such)\n[ref]: ../c.md\n",
        )];
        let lines: Vec<usize> = check(&files).iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [3, 4, 5]);
    }
}
