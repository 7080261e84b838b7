//! What trials of the device layer may remark.

use crate::remark::RemarkKind;

/// An engine's feature fell back.
pub const ENGINE_FEATURE: RemarkKind = RemarkKind::new(
    "engine-feature-off",
    "a feature of the engine was not available",
    "",
);
/// The engine warned.
pub const ENGINE_WARNING: RemarkKind =
    RemarkKind::new("engine-warning", "the engine warned of something", "");
/// Requests failed.
pub const OPERATIONS_FAILED: RemarkKind = RemarkKind::new("operations-failed", "operations failed", "");
/// Nothing completed.
pub const NOTHING_COMPLETED: RemarkKind = RemarkKind::new(
    "nothing-completed",
    "no operation completed in the measured time",
    "no operation completed",
);
/// Others used the device.
pub const CONTAMINATED: RemarkKind = RemarkKind::new(
    "contaminated",
    "the device moved more bytes than the trial requested",
    "contaminated:",
);
/// Something above the device answered.
pub const ANSWERED_ABOVE: RemarkKind = RemarkKind::new(
    "answered-above-device",
    "the device moved fewer bytes than the trial requested",
    "something above it answered",
);

/// A loop device answered from memory.
pub const PAGE_CACHE: RemarkKind = RemarkKind::new(
    "page-cache-below",
    "the page cache answered: buffered I/O, or a loop device without direct I/O, or one of which that is not known",
    "",
);
/// Something about an imported result that its figures do not show.
pub const IMPORTED: RemarkKind = RemarkKind::new(
    "imported",
    "an imported result has a circumstance that its figures do not show",
    "",
);
