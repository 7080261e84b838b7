//! A run that an error ended before its trials were done.

use outcrop_lab::LabError;
use outcrop_report::number::counted;

use super::lab_error;
use crate::exit::bad_input;
use crate::output::note;

/// The error of a run, after `conclude` has shown what its finished trials say.
pub(super) fn ended(
    error: LabError,
    is_kept: bool,
    conclude: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Error {
    let LabError::Fatal {
        message,
        finished: finished @ 1..,
        is_bad_input,
        ..
    } = &error
    else {
        return lab_error(error);
    };
    // What ended the run may keep its report from being written, too: the filesystem may be full.
    if let Err(unwritten) = conclude() {
        note(&format!("warning: {unwritten:#}"));
    }
    if is_kept {
        return lab_error(error);
    }
    let trials = counted(*finished, "finished trial");
    let lost = anyhow::anyhow!("{message}; --no-save does not keep the {trials}");
    match is_bad_input {
        true => bad_input(lost),
        false => lost,
    }
}
