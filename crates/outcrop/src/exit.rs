//! Exit codes, and the one place where an error reaches the user.

use std::process::ExitCode;

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was done.
    Done,
    /// A `--fail-if` condition was met, or a key is not there.
    ConditionMet,
    /// A run came to its end without a figure, for the reasons that its summary gives: no success for a script that looks at the code alone.
    NothingMeasured,
    /// Ctrl-C: what was finished is kept.
    Interrupted,
}

/// An error of the user's making (exit code 2); every other error is a failed measurement (3).
#[derive(Debug)]
pub(crate) struct BadInput;

impl BadInput {
    /// What the marker itself reads as in the chain of causes; [`sentence`] leaves it out.
    const TEXT: &str = "bad input";
}

impl std::fmt::Display for BadInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::TEXT)
    }
}

/// Marks an error as bad input while keeping its own sentence.
pub(crate) fn bad_input(error: impl Into<anyhow::Error>) -> anyhow::Error {
    error.into().context(BadInput)
}

/// An error after something was done, which `done` says: exit code 3, whoever made it.
pub(crate) fn failed_after(done: &str, error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<BadInput>() {
        // A mark cannot be taken off.
        Some(_) => anyhow::anyhow!("{done}: {}", sentence(&error)),
        None => error.context(done.to_owned()),
    }
}

/// The exit code of a command; an error is printed as one sentence per cause.
pub(crate) fn of(result: anyhow::Result<Ending>) -> ExitCode {
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::ConditionMet) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Ok(Ending::NothingMeasured) => {
            report("nothing could be measured; the summary gives the reasons");
            ExitCode::from(3)
        }
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let bad = error.downcast_ref::<BadInput>().is_some();
            report(&sentence(&error));
            ExitCode::from(if bad { 2 } else { 3 })
        }
    }
}

/// Prints clap's own message (help and version go to stdout with code 0, mistakes to stderr with 2).
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // A closed stdout or stderr leaves nobody to tell.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

fn report(message: &str) {
    crate::output::note(&format!("error: {message}"));
}

/// The causes joined by colons, each said once: libraries often repeat their source in their own text.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for part in error.chain().map(ToString::to_string) {
        if part == BadInput::TEXT || text.contains(&part) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&part);
    }
    text
}

/// `outcrop … | head` closes our stdout: that is the reader's choice and no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_input_is_told_apart_and_keeps_its_sentence() {
        let error = bad_input(anyhow::anyhow!("queue depth 0: at least 1 is needed"));
        assert!(error.downcast_ref::<BadInput>().is_some());
        assert_eq!(sentence(&error), "queue depth 0: at least 1 is needed");
    }

    #[test]
    fn what_fails_after_something_was_done_is_no_bad_input_and_a_closed_pipe_is_still_seen() {
        let read = bad_input(anyhow::anyhow!("no footer")).context("cannot read t.parquet");
        let error = failed_after("t-a.ocol is written", read);
        assert!(error.downcast_ref::<BadInput>().is_none());
        assert_eq!(
            sentence(&error),
            "t-a.ocol is written: cannot read t.parquet: no footer"
        );
        let closed = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&failed_after(
            "t-a.ocol is written",
            closed.into()
        )));
    }

    #[test]
    fn a_cause_that_its_parent_already_quotes_is_said_once() {
        let error = anyhow::anyhow!("no such file").context("cannot open plan.toml: no such file");
        assert_eq!(sentence(&error), "cannot open plan.toml: no such file");
    }
}
