//! Commands that go wrong, in a folder of their own, and what a user sees of them.

use std::path::{Path, PathBuf};

use crate::harness::{outcrop, workplace};

/// A folder, and the commands that ran in it with what they printed.
pub(super) struct Scene {
    dir: tempfile::TempDir,
    transcript: String,
}

impl Scene {
    pub(super) fn new() -> Self {
        Self {
            dir: workplace(),
            transcript: String::new(),
        }
    }

    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A file in the folder.
    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Runs a command line that must fail: words are apart by blanks, or in single quotes.
    pub(super) fn refused(&mut self, line: &str) {
        let words = words(line);
        let seen = outcrop(
            self.dir.path(),
            &words.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let code = seen.code.expect("nobody killed it");
        assert!([2, 3].contains(&code), "`{line}` must fail: {seen:?}");
        let text = self.without_places(&format!("{}{}", seen.stdout, seen.stderr));
        self.transcript
            .push_str(&format!("$ outcrop {line}\n{text}[exit code {code}]\n\n"));
    }

    /// What was printed, without what differs from machine to machine.
    fn without_places(&self, text: &str) -> String {
        let dir = self.dir.path().display().to_string();
        let text = text.replace(&dir, "DIR");
        let target = env!("CARGO_TARGET_TMPDIR");
        assert!(!text.contains(target), "a path of this machine is left: {text}");
        let lines = text.lines().map(|line| {
            // Which figures a short run has depends on how fast it was.
            let line = match line.split_once("; it has ") {
                Some((before, _)) if line.contains("this run has no figure") => {
                    &format!("{before}; it has FIGURES")
                }
                _ => line,
            };
            let words = line.split(' ').map(|word| match run_name(word) {
                Some((before, after)) => format!("{before}TIME-{after}"),
                None => without_chance(word),
            });
            words.collect::<Vec<_>>().join(" ") + "\n"
        });
        lines.collect()
    }

    /// Everything that was printed.
    pub(super) fn transcript(self) -> String {
        self.transcript
    }
}

/// The two sides of the time in `runs/20261121T020304Z-mine`.
fn run_name(word: &str) -> Option<(&str, &str)> {
    let (at, end) = word.match_indices("Z-").find_map(|(end, _)| {
        let at = end.checked_sub(15)?;
        let time = word.get(at..end)?;
        let is_time = time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'T');
        is_time.then_some((at, end))
    })?;
    Some((&word[..at], &word[end + 2..]))
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        // Every other part was quoted.
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A word without the random part of a temporary file's name; a checksum, which follows from the time as well, as `CHECKSUM`.
fn without_chance(word: &str) -> String {
    let is_checksum = |text: &str| text.len() == 8 && text.chars().all(|letter| letter.is_ascii_hexdigit());
    if let Some((before, _)) = word.split_once("/.outcrop-unfinished-") {
        return format!("{before}/.outcrop-unfinished-RANDOM\"");
    }
    match word.strip_suffix([',', ':']) {
        Some(hex) if is_checksum(hex) => word.replace(hex, "CHECKSUM"),
        _ => word.to_owned(),
    }
}
