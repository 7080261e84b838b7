//! Remarks on a job: traffic that was not ours, features that fell back, operations that failed.

use outcrop_device::{FeatureState, JobReport};
use outcrop_measure::units::format_bytes;
use outcrop_schema::Remark;
use outcrop_schema::device::{
    ANSWERED_ABOVE, CONTAMINATED, CONTAMINATION, ENGINE_FEATURE, ENGINE_WARNING, NOTHING_COMPLETED,
    OPERATIONS_FAILED,
};

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
            "not one operation completed in the measured time: the device stalled, or the trial is too short",
        ));
    }
    notes.extend(traffic(report));
    notes
}

/// Compares our bytes with the kernel's counters of the device.
fn traffic(report: &JobReport) -> Option<Remark> {
    let kernel = report.device_counters.as_ref().ok()?;
    let ours = report.traffic.read_bytes + report.traffic.written_bytes;
    let theirs = kernel.read_bytes + kernel.written_bytes;
    let limit = ours as f64 * CONTAMINATION;
    if theirs.saturating_sub(ours) as f64 > limit {
        let foreign = format_bytes(theirs - ours);
        return Some(CONTAMINATED.remark(format!(
            "contaminated: the device moved {} while we moved {}, so {foreign} were somebody else's or the filesystem's own",
            format_bytes(theirs),
            format_bytes(ours),
        )));
    }
    (ours.saturating_sub(theirs) as f64 > limit).then(|| {
        ANSWERED_ABOVE.remark(format!(
            "only {} of the {} that we moved reached the device: something above it answered the rest",
            format_bytes(theirs),
            format_bytes(ours),
        ))
    })
}
