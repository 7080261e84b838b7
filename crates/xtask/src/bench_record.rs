//! `cargo xtask bench-record NAME [-- ARGUMENTS]`: runs one benchmark and appends its result to its record.
//!
//! The benchmark is any program `benchmarks/NAME/run` (or `run.py`, `run.sh`); what it prints on stdout is Markdown and becomes the
//! result. It gets a release build of `outcrop` in `$OUTCROP` and the machine's fingerprint is taken
//! from that same program, so that the record and the figures come from one build.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::clock::StopWatch;
use crate::command;
use crate::workspace::Workspace;

/// Runs the benchmark `name` with `arguments` of its own and appends to `benchmarks/record/<name>.md`.
///
/// # Errors
/// There is no such benchmark, the build or the benchmark fails, or it printed nothing. Nothing is recorded then.
pub(crate) fn run(workspace: &Workspace, name: &str, arguments: &[String]) -> Result<bool> {
    let Some(script) = program(&workspace.root.join("benchmarks").join(name)) else {
        bail!(
            "there is no benchmarks/{name}/run; there are: {}",
            available(workspace)?.join(", ")
        );
    };
    let mut build = Command::new("cargo");
    build
        .current_dir(&workspace.root)
        .args(["build", "--release", "--locked", "--package", "outcrop"]);
    if !build.status().context("cannot start cargo")?.success() {
        bail!("the release build failed");
    }
    let outcrop = workspace.target.join("release/outcrop");
    let machine = command::output(Command::new(&outcrop).arg("env"))?;
    let watch = StopWatch::start();
    let mut benchmark = Command::new(&script);
    benchmark
        .args(arguments)
        .current_dir(&workspace.root)
        .env("OUTCROP", &outcrop)
        .stderr(Stdio::inherit());
    let result = command::output(&mut benchmark)?;
    if result.trim().is_empty() {
        bail!("benchmarks/{name}/run printed nothing, so there is nothing to record");
    }
    let entry = Entry {
        date: command::output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))?
            .trim()
            .to_owned(),
        commit: commit(workspace)?,
        command: command_line(name, arguments),
        took: watch.elapsed().to_string(),
        machine,
        result,
    };
    let record = workspace
        .root
        .join("benchmarks/record")
        .join(format!("{name}.md"));
    append(&record, name, &entry)?;
    println!("{}", record.display());
    Ok(true)
}

/// What makes the same record again.
fn command_line(name: &str, arguments: &[String]) -> String {
    let mut line = format!("cargo xtask bench-record {name}");
    if !arguments.is_empty() {
        line += " --";
    }
    for argument in arguments {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=".contains(&byte);
        if !argument.is_empty() && argument.bytes().all(is_plain) {
            line += &format!(" {argument}");
        } else {
            line += &format!(" '{}'", argument.replace('\'', "'\\''"));
        }
    }
    line
}

/// One dated result.
struct Entry {
    date: String,
    commit: String,
    command: String,
    took: String,
    machine: String,
    result: String,
}

impl Entry {
    fn markdown(&self) -> String {
        let Self {
            date,
            commit,
            command,
            took,
            machine,
            result,
        } = self;
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n## {date}\n\nCommit {commit}, `{command}`, {took}.\n\n{}\n\n\
             <details><summary>The machine</summary>\n\n```text\n{}\n```\n\n</details>\n",
            result.trim_end(),
            machine.trim_end()
        );
        text
    }
}

/// Appends to `path`; the newest result stands at the end. A new file gets a title.
fn append(path: &Path, name: &str, entry: &Entry) -> Result<()> {
    let title =
        format!("# {name}\n\nWritten by `cargo xtask bench-record {name}`; the newest result is the last.\n");
    let mut text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => title,
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    text.push_str(&entry.markdown());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The commit that was measured, and whether the working tree differed from it.
fn commit(workspace: &Workspace) -> Result<String> {
    let git = |args: &[&str]| command::output(Command::new("git").current_dir(&workspace.root).args(args));
    let hash = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let suffix = if changed.trim().is_empty() {
        ""
    } else {
        " with uncommitted changes"
    };
    Ok(format!("{}{suffix}", hash.trim()))
}

/// The program of the benchmark in `folder`.
fn program(folder: &Path) -> Option<PathBuf> {
    ["run", "run.py", "run.sh"]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|path| path.is_file())
}

fn available(workspace: &Workspace) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in
        std::fs::read_dir(workspace.root.join("benchmarks")).context("there is no folder benchmarks")?
    {
        let entry = entry?;
        if program(&entry.path()).is_some() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(date: &str, result: &str) -> Entry {
        let text = |text: &str| text.to_owned();
        Entry {
            date: text(date),
            commit: text("abc1234"),
            command: text("cargo xtask bench-record x"),
            took: text("42 s"),
            machine: text("cpu 2 cores\n"),
            result: text(result),
        }
    }

    #[test]
    fn a_record_says_with_which_arguments_it_was_made() {
        let line = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
            command_line("column-peers", &arguments)
        };
        assert_eq!(line(&[]), "cargo xtask bench-record column-peers");
        assert_eq!(
            line(&["--text", "/tmp/words.txt", "--only", "open loop"]),
            "cargo xtask bench-record column-peers -- --text /tmp/words.txt --only 'open loop'"
        );
    }

    #[test]
    fn results_are_appended_and_older_ones_stay() -> Result<()> {
        let path = std::env::temp_dir().join(format!("outcrop-xtask-record-{}/x.md", std::process::id()));
        append(&path, "x", &entry("2026-11-21T02:00:00Z", "| a | 1 |\n"))?;
        append(&path, "x", &entry("2026-11-22T02:00:00Z", "| a | 2 |\n"))?;
        let text = std::fs::read_to_string(&path)?;
        assert_eq!(text.matches("# x\n").count(), 1);
        let (first, second) = (text.find("| a | 1 |"), text.find("| a | 2 |"));
        assert!(first.is_some() && first < second, "{text}");
        assert!(text.contains("```text\ncpu 2 cores\n```"), "{text}");
        Ok(std::fs::remove_dir_all(
            path.parent().context("the record has a folder")?,
        )?)
    }
}
