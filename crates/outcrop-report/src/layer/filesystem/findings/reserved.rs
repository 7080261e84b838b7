//! Whether the space of files is their own: xfs sets more aside behind files that grow, and gives it back after a remount.

use outcrop_schema::filesystem::SPACE_RATIO;
use outcrop_workload::filesystem::{FileOperation, FilesystemKind};

use super::super::cell::{configuration, does, is_fresh, kind};
use super::Outside;
use crate::cell::Cell;
use crate::finding::Finding;

/// Metadata of files that are written once take less than this part of their bytes; what xfs sets aside is four fifths and more.
const METADATA: f64 = 0.15;

/// What xfs has in use for fresh files is their bytes and metadata; none where xfs was not measured.
pub(super) fn space_is_not_reserved(cells: &[Cell<'_>]) -> Option<Finding> {
    const ID: &str = "space-is-not-reserved";
    const SENTENCE: &str = "xfs has no space reserved beyond the ends of the files.";
    // Small files take whole blocks, and more inodes than bytes.
    let files = cells.iter().filter(|cell| {
        kind(cell) == Some(FilesystemKind::Xfs) && is_fresh(cell) && !does(cell, FileOperation::SmallFiles)
    });
    let outside = Outside::of(files, |cell| {
        let used = 1.0 / cell.value(&SPACE_RATIO)?;
        let is_off = used > 1.0 + METADATA;
        Some(is_off.then(|| {
            format!(
                "{}: {used:.2} bytes in use for each byte of data",
                configuration(cell)
            )
        }))
    });
    if outside.tested == 0 {
        return None;
    }
    let how = format!(
        "space in use by statfs after a remount over the bytes of the files, at most {:.2},",
        1.0 + METADATA
    );
    let finding = outside.finding(ID, SENTENCE, &how, "");
    Some(finding.otherwise(
        "xfs reserves space beyond the end of growing files (speculative preallocation), and returns it after the last close or a \
         remount. The files themselves take less.",
    ))
}
