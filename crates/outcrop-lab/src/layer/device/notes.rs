//! Remarks on a job: traffic that was not ours, features that fell back, operations that failed.

use outcrop_device::{Ended, FeatureState, JobReport};
use outcrop_measure::units::format_bytes;
use outcrop_schema::Remark;
use outcrop_schema::device::{
    ANSWERED_ABOVE, CONTAMINATED, CONTAMINATION, ENGINE_FEATURE, ENGINE_WARNING, NOTHING_COMPLETED,
    OPERATIONS_FAILED, PAGE_CACHE,
};
use outcrop_schema::remark::WRITE_LIMIT;

use super::values::Stray;

/// Every sentence that a reader of the numbers must see.
pub(super) fn notes(report: &JobReport) -> Vec<Remark> {
    let mut notes: Vec<Remark> = report
        .engine_features
        .iter()
        .filter(|feature| matches!(feature.state, FeatureState::Off(_)))
        .map(|feature| ENGINE_FEATURE.remark(format!("engine: {feature}")))
        .collect();
    notes.extend(
        report
            .warnings
            .iter()
            .map(|warning| ENGINE_WARNING.remark(warning)),
    );
    notes.extend(report.failure().map(|failure| OPERATIONS_FAILED.remark(failure)));
    let total = report.total();
    if total.reads.operations + total.writes.operations == 0 {
        notes.push(NOTHING_COMPLETED.remark(
            "no operation completed in the measured time: the device stalled, or the trial is too short",
        ));
    }
    if report.ended == Ended::WriteLimit {
        notes.push(
            WRITE_LIMIT
                .remark("the next write would have exceeded the bytes that may be written (--max-written)"),
        );
    }
    notes.extend(report.page_cache.as_ref().map(|told| PAGE_CACHE.remark(told)));
    notes.extend(traffic(report));
    notes
}

/// Compares our bytes with the kernel's counters of the device, reads and writes apart.
fn traffic(report: &JobReport) -> Vec<Remark> {
    let Ok(stray) = Stray::of(report) else {
        return Vec::new();
    };
    let is_much = |bytes: u64| bytes as f64 > stray.ours as f64 * CONTAMINATION;
    let [foreign, missing, ours] = [stray.foreign, stray.missing, stray.ours].map(format_bytes);
    let mut notes = Vec::new();
    if is_much(stray.foreign) {
        notes.push(CONTAMINATED.remark(format!(
            "contaminated: this trial moved {ours}, and the device moved {foreign} more, for another process or for the filesystem itself"
        )));
    }
    if is_much(stray.missing) {
        notes.push(ANSWERED_ABOVE.remark(format!(
            "{missing} of the {ours} of this trial did not reach the device: something above it answered"
        )));
    }
    notes
}
