//! The step `guide`: every command of the guide and of the README runs as it is printed.
//!
//! A fenced block marked `sh` is a script that readers are told to run. The blocks of one page run in order, in one shell and one
//! empty folder, with the program that the tests built first on the search path. Blocks marked otherwise (`console`, `text`) show
//! output, or need what a reader has and CI has not; they do not run.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::steps::{built_outcrop, fresh_folder};
use super::{Outcome, Session};

const NAME: &str = "guide";
const PAGES: [&str; 2] = ["README.md", "docs/guide.md"];
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
    fn a_failing_command_ends_the_script() -> Result<()> {
        let here = std::env::temp_dir();
        let outcrop = std::env::current_exe()?;
        assert!(!shell("false; true", &here, &outcrop)?.status()?.success());
        assert!(shell("true", &here, &outcrop)?.status()?.success());
        Ok(())
    }
}
