//! A run that an error ended before its trials were done.

use std::path::Path;

use outcrop_lab::{LabError, what_is_kept};
use outcrop_report::number::counted;
use outcrop_results::ResultsError;

use super::lab_error;
use crate::exit::bad_input;
use crate::output::note;

/// Such a run.
pub(super) struct Ended<'s> {
    /// What resumes it.
    pub(super) command: &'s str,
    pub(super) dir: &'s Path,
    pub(super) is_kept: bool,
    /// Its finished trials, also those of calls before.
    pub(super) finished: usize,
}

impl Ended<'_> {
    /// The error, and what becomes of the finished trials, after `conclude` has written its report, or shown what they say.
    pub(super) fn by(&self, error: LabError, conclude: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Error {
        if self.finished == 0 {
            return lab_error(error);
        }
        // What ended the run may keep its report from being written, too: the filesystem may be full.
        if let Err(unwritten) = conclude() {
            note(&format!("warning: {unwritten:#}"));
        }
        let message = match (&error, self.is_kept) {
            (LabError::Fatal { message, .. }, _) => message.clone(),
            // It says what is kept.
            (LabError::Results(ResultsError::NoSpace { .. }), true) => return lab_error(error),
            (LabError::Results(ResultsError::NoSpace { .. }), false) => {
                "no space left on the filesystem of temporary files".to_owned()
            }
            (error, _) => error.to_string(),
        };
        let trials = match self.is_kept {
            true => what_is_kept(self.command, self.finished, self.dir),
            false => {
                let trials = counted(self.finished, "finished trial");
                format!("; --no-save does not keep the {trials}")
            }
        };
        let ended = anyhow::anyhow!("{message}{trials}");
        match error.is_bad_input() {
            true => bad_input(ended),
            false => ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// What is said of an error of the second layer, after so many trials of the first.
    fn said(finished: usize, is_kept: bool) -> (String, bool) {
        let error = LabError::LayerFailed {
            layer: "kv".to_owned(),
            message: "the engine stopped working".to_owned(),
        };
        let ended = Ended {
            command: "outcrop ab",
            dir: Path::new("my runs/one"),
            is_kept,
            finished,
        };
        let is_concluded = Cell::new(false);
        let error = ended.by(error, || {
            is_concluded.set(true);
            Ok(())
        });
        (error.to_string(), is_concluded.get())
    }

    #[test]
    fn a_layer_that_fails_leaves_the_trials_of_others_with_how_to_read_and_to_resume_them() {
        let (kept, is_concluded) = said(4, true);
        assert!(is_concluded);
        assert!(
            kept.ends_with(
                "; the 4 finished trials are kept (`outcrop report 'my runs/one'` shows them); fix this, then run \
                 `outcrop ab --resume 'my runs/one'`"
            ),
            "{kept}"
        );
        let (lost, is_concluded) = said(4, false);
        assert!(
            is_concluded && lost.ends_with("; --no-save does not keep the 4 finished trials"),
            "{lost}"
        );
        let (none, is_concluded) = said(0, true);
        assert!(
            !is_concluded && none.ends_with("the engine stopped working"),
            "{none}"
        );
    }
}
