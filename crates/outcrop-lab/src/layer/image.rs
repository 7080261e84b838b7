//! The file that a layer makes filesystems in: one for a run.

use outcrop_filesystem::{FilesystemError, Image, privilege};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::format_bytes;

use super::{Preparation, PreparationStep};
use crate::error::LabError;

/// Makes the file; where it cannot be made, the reason, which its cells say.
///
/// # Errors
/// The user stopped it, or it would exceed what may be written: `instead` is what to do about that.
pub(super) fn make(
    bytes: u64,
    instead: &str,
    seed: Seed,
    preparation: &mut Preparation<'_, '_>,
) -> Result<Result<Image, String>, LabError> {
    if let Err(why) = privilege() {
        (preparation.report)(PreparationStep::Note(&why.reason));
        return Ok(Err(why.reason));
    }
    if let Some(limit) = preparation.write_limit_bytes.filter(|limit| *limit < bytes) {
        return Err(LabError::preparing(&format!(
            "making the image for filesystems writes {}, but only {} may be written; {instead} or a larger limit",
            format_bytes(bytes),
            format_bytes(limit)
        )));
    }
    let report = &mut *preparation.report;
    let mut progress = |bytes_done, bytes_total| {
        report(PreparationStep::Written {
            bytes_done,
            bytes_total,
        });
    };
    match Image::create(
        preparation.directory,
        bytes,
        seed,
        preparation.stop,
        &mut progress,
    ) {
        Ok(image) => Ok(Ok(image)),
        Err(FilesystemError::Interrupted) => Err(LabError::StoppedInPreparation),
        Err(FilesystemError::Unavailable(why)) => {
            (preparation.report)(PreparationStep::Note(&why));
            Ok(Err(why))
        }
        Err(error) => Err(LabError::preparing(&error)),
    }
}
