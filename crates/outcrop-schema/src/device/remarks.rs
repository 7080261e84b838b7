//! What trials of the device layer may remark.

use std::collections::BTreeSet;

use super::{LATENCY, SERVICE_LATENCY};
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
/// The measured time is shorter than what requests take.
pub const TOO_SHORT: RemarkKind = RemarkKind::new(
    "too-short",
    "fewer operations completed in the measured time than were in flight at its end, so there are no rates and latencies",
    "",
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
    "the device, or the disk below it, moved fewer bytes than the trial requested",
    "something above it answered",
);

/// Memory may have answered: of this machine, or of the one that stores the files.
pub const PAGE_CACHE: RemarkKind = RemarkKind::new(
    "page-cache-below",
    "a page cache answered: buffered I/O, or a loop device without direct I/O, or one of which that is not known, or a filesystem over a network",
    "",
);
/// Something about an imported result that its figures do not show.
pub const IMPORTED: RemarkKind = RemarkKind::new(
    "imported",
    "an imported result has a circumstance that its figures do not show",
    "",
);
/// The latencies of an imported result begin where the submission ends.
pub const FROM_SUBMISSION_END: RemarkKind = RemarkKind::new(
    "from-submission-end",
    "the latencies of an imported result begin where the submission ends, and Outcrop's begin before it",
    "",
);
/// Its percentiles do, and its mean and maximum do not.
pub const PERCENTILES_FROM_SUBMISSION_END: RemarkKind = RemarkKind::new(
    "percentiles-from-submission-end",
    "the percentiles of an imported latency begin where the submission ends, its mean and maximum do not",
    "",
);

/// The latencies that begin where the submission ends, by what the trials of a cell remark: they lack the submission, which others of the same
/// name include.
pub fn from_submission_end(has_remark: impl Fn(&RemarkKind) -> bool) -> BTreeSet<&'static str> {
    let is_all = has_remark(&FROM_SUBMISSION_END);
    let is_any = is_all || has_remark(&PERCENTILES_FROM_SUBMISSION_END);
    let families = [LATENCY.all(), SERVICE_LATENCY.all()].concat();
    let concerned = families.iter().filter(|_| is_any).flat_map(|family| {
        let percentiles = family.percentiles().map(|(_, metric)| metric);
        let rest = [family.mean, family.max].into_iter().filter(|_| is_all);
        percentiles.chain(rest).collect::<Vec<_>>()
    });
    concerned.map(|metric| metric.name).collect()
}
