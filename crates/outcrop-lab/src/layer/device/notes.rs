//! Remarks on a job: traffic that was not ours, features that fell back, operations that failed.

use outcrop_device::{FeatureState, JobReport};
use outcrop_measure::units::format_bytes;

/// Above this share of foreign traffic a trial is called contaminated; the report's finding has the same limit.
const FOREIGN_SHARE: f64 = 0.02;

/// Every sentence that a reader of the numbers must see.
pub(super) fn notes(report: &JobReport) -> Vec<String> {
    let mut notes: Vec<String> = report
        .engine_features
        .iter()
        .filter(|feature| matches!(feature.state, FeatureState::Off(_)))
        .map(|feature| format!("engine: {feature}"))
        .collect();
    notes.extend(report.warnings.iter().cloned());
    notes.extend(report.failure());
    let total = report.total();
    if total.reads.operations + total.writes.operations == 0 {
        notes.push(
            "not one operation completed in the measured time: the device stalled, or the trial is too short"
                .to_owned(),
        );
    }
    notes.extend(traffic(report));
    notes
}

/// Compares our bytes with the kernel's counters of the device.
fn traffic(report: &JobReport) -> Option<String> {
    let kernel = report.device_counters.as_ref().ok()?;
    let ours = report.traffic.read_bytes + report.traffic.written_bytes;
    let theirs = kernel.read_bytes + kernel.written_bytes;
    let limit = ours as f64 * FOREIGN_SHARE;
    if theirs.saturating_sub(ours) as f64 > limit {
        let foreign = format_bytes(theirs - ours);
        return Some(format!(
            "contaminated: the device moved {} while we moved {}, so {foreign} were somebody else's or the filesystem's own",
            format_bytes(theirs),
            format_bytes(ours),
        ));
    }
    (ours.saturating_sub(theirs) as f64 > limit).then(|| {
        format!(
            "only {} of the {} that we moved reached the device: something above it answered the rest",
            format_bytes(theirs),
            format_bytes(ours),
        )
    })
}
