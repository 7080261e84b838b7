//! What trials of the key-value layer may remark.

use crate::remark::RemarkKind;

/// Which engine it was.
pub const OPENED: RemarkKind =
    RemarkKind::new("engine-version", "the engine with its version and library", "");
/// It is not on this machine, or lacks what the plan asks for.
pub const ABSENT: RemarkKind = RemarkKind::new(
    "not-measured",
    "the engine is not installed, lacks a codec, or a condition cannot be set",
    "",
);
/// Compaction was running when the run began.
pub const NOT_SETTLED: RemarkKind = RemarkKind::new(
    "not-settled",
    "compaction was pending or running when the run began",
    "",
);
/// The run stood still.
pub const STALLED: RemarkKind = RemarkKind::new(
    "stalled",
    "windows of the run had less than a tenth of the median throughput",
    "",
);
/// Work was put off.
pub const DEBT_LEFT: RemarkKind = RemarkKind::new(
    "debt-left",
    "the run left compaction with more to do than it found",
    "",
);
/// The schedule was too fast.
pub const BACKLOG: RemarkKind = RemarkKind::new(
    "backlog",
    "operations of an open loop were due but never begun",
    "",
);
/// The user's own directory compresses.
pub const COMPRESSED_BELOW: RemarkKind = RemarkKind::new(
    "compressed-below",
    "the directory's own filesystem compresses what the engine writes",
    "",
);
/// The user's own directory may compress.
pub const COMPRESSION_UNKNOWN: RemarkKind = RemarkKind::new(
    "compression-unknown",
    "it is not known whether the directory's own filesystem compresses what the engine writes",
    "",
);
