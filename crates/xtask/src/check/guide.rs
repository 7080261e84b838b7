//! The step `guide`: every block of commands in the guide, and every `sh` block of the README, runs as it is printed.
//!
//! A fenced block marked `sh` is a script that readers are told to run. The blocks of one page run in order, in one shell and one
//! empty folder, with the program that the tests built first on the search path. Blocks marked otherwise (`console`, `text`) show
//! output, or need what a reader has and CI has not; they do not run. The guide says that it has none of these with a command.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::steps::{built_outcrop, fresh_folder};
use super::{Outcome, Session};

const NAME: &str = "guide";
const GUIDE: &str = "docs/guide.md";
const PAGES: [&str; 2] = ["README.md", GUIDE];
const OPENING: &str = "```sh";
const CLOSING: &str = "```";

pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let outcrop = match built_outcrop(session, NAME)? {
        Ok(outcrop) => outcrop,
        Err(failed) => return Ok(failed),
    };
    let mut commands = 0;
    for page in PAGES {
        let path = session.workspace.root.join(page);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {page}"))?;
        let not_run = if page == GUIDE { not_run(&text) } else { None };
        if let Some(line) = not_run {
            let excerpt =
                format!("{page}:{line}: a command in a block that CI does not run; mark the block `sh`");
            return Ok(Outcome::Failed { excerpt });
        }
        let script = script(&text, page);
        commands += script.lines().filter(|line| line.starts_with("outcrop ")).count();
        let folder = fresh_folder(session, &format!("{NAME}/{}", page.replace('/', "-")))?;
        let outcome = session.stream(NAME, &mut shell(&script, &folder, &outcrop)?)?;
        if !matches!(outcome, Outcome::Passed { .. }) {
            return Ok(outcome);
        }
    }
    Ok(match commands {
        0 => Outcome::Failed {
            excerpt: format!("no block marked `sh` in {} runs outcrop", PAGES.join(" or ")),
        },
        _ => Outcome::Passed {
            note: format!("{commands} commands"),
        },
    })
}

/// Bash that stops at the first failure and shows each command with its line.
fn shell(script: &str, folder: &Path, outcrop: &Path) -> Result<Command> {
    let programs = outcrop.parent().context("outcrop has a folder")?;
    let others = std::env::var_os("PATH").unwrap_or_default();
    let search = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&others));
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(search)?)
        // A page is run as a reader would run it on a terminal of the usual width, without colours.
        .env("COLUMNS", "80")
        .env("NO_COLOR", "1");
    Ok(bash)
}

/// The `sh` blocks of a page as one script that says which lines it runs.
fn script(page: &str, name: &str) -> String {
    let mut script = String::new();
    let mut is_inside = false;
    for (index, line) in page.lines().enumerate() {
        match line.trim_end() {
            OPENING if !is_inside => {
                is_inside = true;
                script.push_str(&format!("echo '{name}:{}' >&2\n", index + 2));
            }
            CLOSING if is_inside => is_inside = false,
            command if is_inside => {
                script.push_str(command);
                script.push('\n');
            }
            _ => {}
        }
    }
    script
}

/// The first line with a command of ours in a block that does not run.
fn not_run(page: &str) -> Option<usize> {
    let mut block = None;
    for (index, line) in page.lines().enumerate() {
        match (block, line.trim_end()) {
            (None, fence) => block = fence.starts_with(CLOSING).then_some(fence),
            (Some(_), CLOSING) => block = None,
            (Some(opening), command) => {
                let command = command.trim_start_matches("$ ");
                if opening != OPENING && command.starts_with("outcrop ") {
                    return Some(index + 1);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_marked_sh_are_run_in_order_and_named_by_line() {
        let page =
            "# A\n\n```sh\noutcrop a\n```\n\n```console\n$ outcrop b\n```\n```sh\noutcrop c \\\n  d\n```\n";
        let expected = "echo 'p.md:4' >&2\noutcrop a\necho 'p.md:11' >&2\noutcrop c \\\n  d\n";
        assert_eq!(script(page, "p.md"), expected);
    }

    #[test]
    fn a_command_in_a_block_that_does_not_run_is_found() {
        assert_eq!(
            not_run("`outcrop a`\n```sh\noutcrop b\n```\n```toml\na = 1\n```\n"),
            None
        );
        assert_eq!(
            not_run("```sh\noutcrop a\n```\n```text\noutcrop b\n```\n"),
            Some(5)
        );
        assert_eq!(not_run("```console\n$ outcrop b\n```\n"), Some(2));
    }

    #[test]
    fn a_failing_command_ends_the_script() -> Result<()> {
        let here = std::env::temp_dir();
        let outcrop = std::env::current_exe()?;
        assert!(!shell("false; true", &here, &outcrop)?.status()?.success());
        assert!(shell("true", &here, &outcrop)?.status()?.success());
        Ok(())
    }
}
