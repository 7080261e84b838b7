//! Errors of the lab, with their exit codes, and what is left of a run that one ended before its trials were done.

use std::path::Path;

use outcrop_lab::{LabError, what_is_kept};
use outcrop_report::number::counted;
use outcrop_results::ResultsError;

use crate::exit::bad_input;
use crate::output::note;

/// Whether the exit code is that of a wrong plan or run, which is the user's, and not of a measurement that failed.
fn is_bad_input(error: &LabError) -> bool {
    error.is_bad_input()
        || matches!(
            error,
            LabError::Results(
                ResultsError::NotARun { .. }
                    | ResultsError::DamagedJournal { .. }
                    | ResultsError::DamagedEnvironment { .. }
            )
        )
}

/// An error of the lab, with its exit code.
pub(crate) fn lab_error(error: LabError) -> anyhow::Error {
    if is_bad_input(&error) {
        bad_input(error)
    } else {
        error.into()
    }
}

/// A run that an error ended.
pub(super) struct Ended<'s> {
    /// What resumes it.
    pub(super) command: &'s str,
    pub(super) dir: &'s Path,
    pub(super) is_kept: bool,
    /// Its finished trials.
    pub(super) finished: usize,
    /// Those of calls before.
    pub(super) finished_before: usize,
}

impl Ended<'_> {
    /// The error, and what becomes of the finished trials, after `conclude` has written its report, or shown what they say, where there are
    /// more of them than before.
    pub(super) fn by(&self, error: LabError, conclude: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Error {
        let Some(cause) = self.cause(&error) else {
            return lab_error(error);
        };
        // What ended the run may keep its report from being written, too: the filesystem may be full.
        if self.finished > self.finished_before
            && let Err(unwritten) = conclude()
        {
            note(&format!("warning: {unwritten:#}"));
        }
        let trials = match (self.finished, self.is_kept) {
            (0, _) => String::new(),
            (_, true) => what_is_kept(self.command, self.finished, self.dir),
            (_, false) => {
                let trials = counted(self.finished, "finished trial");
                format!("; --no-save does not keep the {trials}")
            }
        };
        let ended = anyhow::anyhow!("{cause}{trials}");
        match is_bad_input(&error) {
            true => bad_input(ended),
            false => ended,
        }
    }

    /// The error without what it says of the trials; none of one that says what to do, or came before any trial.
    fn cause(&self, error: &LabError) -> Option<String> {
        match error {
            LabError::Fatal { message, .. } => Some(message.clone()),
            LabError::Results(ResultsError::NoSpace { .. }) => {
                let place = match self.is_kept {
                    true => self.dir.display().to_string(),
                    false => "temporary files".to_owned(),
                };
                Some(format!(
                    "no space left on the filesystem of {place}, or its quota is used up"
                ))
            }
            LabError::LayerFailed { .. } | LabError::Results(_) => Some(error.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// What is said of an error after finished trials, one of which was there before, and whether their report was written.
    fn said(error: LabError, finished: usize, is_kept: bool) -> (String, bool) {
        let ended = Ended {
            command: "outcrop ab",
            dir: Path::new("my runs/one"),
            is_kept,
            finished,
            finished_before: 1.min(finished),
        };
        let is_concluded = Cell::new(false);
        let error = ended.by(error, || {
            is_concluded.set(true);
            Ok(())
        });
        (error.to_string(), is_concluded.get())
    }

    fn of_layer() -> LabError {
        LabError::LayerFailed {
            layer: "kv".to_owned(),
            message: "the engine stopped working".to_owned(),
        }
    }

    #[test]
    fn a_layer_that_fails_leaves_the_trials_of_others_with_how_to_read_and_to_resume_them() {
        let (kept, is_concluded) = said(of_layer(), 4, true);
        assert!(is_concluded);
        assert!(
            kept.ends_with(
                "; the 4 finished trials are kept (`outcrop report 'my runs/one'` shows them); fix this, then run \
                 `outcrop ab --resume 'my runs/one'`"
            ),
            "{kept}"
        );
        let (lost, is_concluded) = said(of_layer(), 4, false);
        assert!(
            is_concluded && lost.ends_with("; --no-save does not keep the 4 finished trials"),
            "{lost}"
        );
        let (none, is_concluded) = said(of_layer(), 0, true);
        assert!(
            !is_concluded && none.ends_with("the engine stopped working"),
            "{none}"
        );
        let (before, is_concluded) = said(of_layer(), 1, true);
        assert!(
            !is_concluded && before.contains("the finished trial is kept"),
            "{before}"
        );
    }

    #[test]
    fn a_full_disk_is_named_once_with_the_command_of_the_run_or_with_what_is_lost() {
        let full = || {
            LabError::Results(ResultsError::NoSpace {
                run: "my runs/one".into(),
                finished: 4,
            })
        };
        let (kept, _) = said(full(), 4, true);
        assert!(
            kept.starts_with(
                "no space left on the filesystem of my runs/one, or its quota is used up; the 4 "
            ) && kept.ends_with("`outcrop ab --resume 'my runs/one'`"),
            "{kept}"
        );
        let (lost, _) = said(full(), 4, false);
        assert!(
            lost.contains("of temporary files") && !lost.contains("kept"),
            "{lost}"
        );
    }

    #[test]
    fn an_error_that_says_what_to_do_is_left_as_it_is() {
        let (early, is_concluded) = said(LabError::NoTimeLeft { seconds: 90 }, 4, true);
        assert!(!is_concluded);
        assert_eq!(early, LabError::NoTimeLeft { seconds: 90 }.to_string());
    }
}
