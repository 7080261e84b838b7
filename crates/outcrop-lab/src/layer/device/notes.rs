//! Remarks on a job: traffic that was not ours, features that fell back, operations that failed.

use outcrop_device::{Ended, FeatureState, JobReport};
use outcrop_measure::units::format_bytes;
use outcrop_schema::Remark;
use outcrop_schema::device::{
    ANSWERED_ABOVE, CONTAMINATED, CONTAMINATION, ENGINE_FEATURE, ENGINE_WARNING, NOTHING_COMPLETED,
    OPERATIONS_FAILED, PAGE_CACHE, TOO_SHORT,
};
use outcrop_schema::remark::WRITE_LIMIT;

use super::values::{Stray, too_short};

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
    } else {
        notes.extend(too_short(report).map(|reason| TOO_SHORT.remark(reason)));
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
    let [missing, ours] = [stray.missing, stray.ours].map(format_bytes);
    // Below a loop device without direct I/O, it is the disk that holds the file.
    let device = report.counted_device.as_deref().unwrap_or("the device");
    let disk = report.disk_below.as_ref().and_then(|disk| disk.as_ref().ok());
    let busy = match disk.map(|disk| &disk.name) {
        Some(disk) if is_much(stray.by_device) && is_much(stray.by_disk_below) => {
            format!("{device} and {disk} together")
        }
        Some(disk) if stray.by_disk_below > stray.by_device => disk.clone(),
        _ => device.to_owned(),
    };
    let mut notes = Vec::new();
    // What the device counted is more than ours, whatever the disk below did.
    let (at_least, foreign) = match stray.foreign {
        Ok(foreign) => ("", foreign),
        Err(_) => ("at least ", stray.by_device),
    };
    if is_much(foreign) {
        let foreign = format_bytes(foreign);
        notes.push(CONTAMINATED.remark(format!(
            "contaminated: this trial moved {ours}, and {busy} moved {at_least}{foreign} more, for another process or for the filesystem itself"
        )));
    }
    if is_much(stray.missing) {
        let place = match &stray.missing_at {
            Some(disk) => format!("{disk}, the disk below {device}"),
            None => device.to_owned(),
        };
        let is_of_loop = stray.missing_at.is_some() && device.starts_with("loop");
        let such_as = if is_of_loop {
            ", such as a hole in the file of a loop device"
        } else {
            ""
        };
        notes.push(ANSWERED_ABOVE.remark(format!(
            "{missing} of the {ours} of this trial did not reach {place}: something above it answered{such_as}"
        )));
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use outcrop_device::{DiskBelow, JobSpec, Target, run_job};
    use outcrop_measure::Seed;
    use outcrop_measure::metric::Unavailable;
    use outcrop_probe::{Clock, Counters};
    use outcrop_workload::EngineKind;

    use super::super::values::without_figures;
    use super::*;

    const MB: u64 = 1_000_000;

    /// A job of ours that moved so many bytes, beside what the kernel counted of its device; reads, then writes.
    fn job(ours: [u64; 2], kernel: [u64; 2]) -> JobReport {
        let spec = JobSpec {
            engine: EngineKind::Noop,
            warm_up: Duration::ZERO,
            duration: Duration::from_millis(1),
            ..JobSpec::new(Seed(1))
        };
        // A thread may get no CPU for all of a millisecond.
        let run = || run_job(&Target::Null, &spec, &Clock::new(), &AtomicBool::new(false)).unwrap();
        let has_some = |report: &JobReport| {
            report
                .intervals
                .iter()
                .any(|interval| interval.reads.operations > 0)
        };
        let mut report = std::iter::repeat_with(run).take(1000).find(has_some).unwrap();
        [report.traffic.read_bytes, report.traffic.written_bytes] = ours;
        report.device_counters = Ok(Counters {
            read_bytes: kernel[0],
            written_bytes: kernel[1],
            ..Counters::default()
        });
        report
    }

    fn stray(report: &JobReport) -> [u64; 3] {
        let stray = Stray::of(report).unwrap();
        [stray.foreign.unwrap(), stray.missing, stray.ours]
    }

    /// The kinds of what is said of the bytes of a job.
    fn told(report: &JobReport) -> Vec<&'static str> {
        let kinds = [&CONTAMINATED, &ANSWERED_ABOVE];
        let said = traffic(report);
        let kind_of = |remark: &Remark| kinds.into_iter().find(|kind| kind.is_kind_of(remark)).unwrap();
        said.iter().map(|remark| kind_of(remark).code).collect()
    }

    #[test]
    fn reads_that_are_missing_and_writes_of_others_do_not_cancel() {
        // The sums are equal: 100 MB each.
        let report = job([100 * MB, 0], [0, 100 * MB]);
        assert_eq!(stray(&report), [100 * MB, 100 * MB, 100 * MB]);
        assert_eq!(told(&report), [CONTAMINATED.code, ANSWERED_ABOVE.code]);
    }

    #[test]
    fn the_bytes_of_reads_and_of_writes_add_up_on_each_side() {
        let more = job([60 * MB, 40 * MB], [80 * MB, 70 * MB]);
        assert_eq!(stray(&more), [50 * MB, 0, 100 * MB]);
        assert_eq!(told(&more), [CONTAMINATED.code]);
        let less = job([60 * MB, 40 * MB], [10 * MB, 20 * MB]);
        assert_eq!(stray(&less), [0, 70 * MB, 100 * MB]);
        assert_eq!(told(&less), [ANSWERED_ABOVE.code]);
        let equal = job([60 * MB, 40 * MB], [60 * MB, 40 * MB]);
        assert_eq!(stray(&equal), [0, 0, 100 * MB]);
        assert_eq!(told(&equal), [""; 0]);
    }

    #[test]
    fn bytes_that_are_more_or_fewer_name_the_device_that_was_counted() {
        for kernel in [[0, 0], [100 * MB, 270 * MB]] {
            let mut report = job([0, 90 * MB], kernel);
            report.counted_device = Some("vda".to_owned());
            let said = traffic(&report);
            assert!(
                said.iter().all(|remark| remark.text.contains(" vda")) && !said.is_empty(),
                "{said:?}"
            );
        }
    }

    /// The disk below a loop device; reads, then writes, of which the last may be those of the journal.
    fn with_disk(mut report: JobReport, kernel: [u64; 2], journal_bytes: u64) -> JobReport {
        report.counted_device = Some("loop0".to_owned());
        report.disk_below = Some(Ok(DiskBelow {
            name: "vda".to_owned(),
            counters: Counters {
                read_bytes: kernel[0],
                written_bytes: kernel[1],
                ..Counters::default()
            },
            journal_bytes,
        }));
        report
    }

    #[test]
    fn what_the_disk_below_a_loop_device_moves_beyond_ours_is_that_of_others() {
        let report = with_disk(job([0, 90 * MB], [0, 90 * MB]), [20 * MB, 100 * MB], 0);
        assert_eq!(stray(&report), [30 * MB, 0, 90 * MB]);
        let said = traffic(&report);
        assert!(said[0].text.contains(", and vda moved 30.0 MB more"), "{said:?}");
        // Others may read from the one and write to the other.
        let report = with_disk(job([MB, 90 * MB], [9 * MB, 90 * MB]), [MB, 100 * MB], 0);
        assert_eq!(stray(&report), [18 * MB, 0, 91 * MB]);
        let said = traffic(&report);
        assert!(
            said[0]
                .text
                .contains(", and loop0 and vda together moved 18.0 MB more"),
            "{said:?}"
        );
        // Others that use the loop device itself are seen there.
        let report = with_disk(job([MB, 0], [9 * MB, 0]), [MB, 0], 0);
        assert_eq!(stray(&report), [8 * MB, 0, MB]);
        let said = traffic(&report);
        assert!(
            said[0].text.contains(", and loop0 moved 8.00 MB more"),
            "{said:?}"
        );
    }

    /// Figures of a file of holes were those of the device, and two checks held.
    #[test]
    fn what_a_loop_device_does_not_ask_its_disk_for_is_missing_there() {
        let holes = with_disk(job([90 * MB, 0], [90 * MB, 0]), [0, 0], 0);
        assert_eq!(stray(&holes), [0, 90 * MB, 90 * MB]);
        assert_eq!(told(&holes), [ANSWERED_ABOVE.code]);
        let said = traffic(&holes);
        assert!(
            said[0].text.contains(
                "did not reach vda, the disk below loop0: something above it answered, such as a hole"
            ),
            "{said:?}"
        );
        let written = with_disk(job([90 * MB, 0], [90 * MB, 0]), [90 * MB, 0], 0);
        assert_eq!(stray(&written), [0, 0, 90 * MB]);
        // What the device itself did not move, its disk cannot have moved for us.
        let cached = with_disk(job([90 * MB, 0], [10 * MB, 0]), [30 * MB, 0], 0);
        assert_eq!(stray(&cached)[1], 80 * MB);
        // Most of it was answered above the device.
        let above = with_disk(job([90 * MB, 0], [10 * MB, 0]), [9 * MB, 0], 0);
        assert_eq!(stray(&above)[1], 81 * MB);
        assert!(
            traffic(&above)[0].text.contains("did not reach loop0: "),
            "{above:?}"
        );
    }

    #[test]
    fn the_journal_of_the_filesystem_of_a_loop_devices_file_is_not_that_of_others() {
        let quiet = with_disk(job([0, MB], [0, MB]), [0, 4 * MB], 4 * MB);
        assert_eq!(stray(&quiet), [0, 0, MB]);
        assert_eq!(told(&quiet), [""; 0]);
        let busy = with_disk(job([0, MB], [0, MB]), [0, 40 * MB], 4 * MB);
        assert_eq!(stray(&busy), [35 * MB, 0, MB]);
    }

    #[test]
    fn a_disk_below_that_is_not_known_leaves_open_what_others_moved_and_not_what_is_missing() {
        let mut report = job([MB, 0], [0, 0]);
        report.disk_below = Some(Err(Unavailable::because("it is on two disks")));
        let stray = Stray::of(&report).unwrap();
        assert_eq!(stray.foreign.unwrap_err().reason, "it is on two disks");
        assert_eq!(told(&report), [ANSWERED_ABOVE.code]);
        // What others ask of the device itself is in its own counters.
        let mut report = job([MB, 0], [9 * MB, 0]);
        report.disk_below = Some(Err(Unavailable::because("it is on two disks")));
        let stray = Stray::of(&report).unwrap();
        assert!(stray.foreign.is_err() && stray.by_device == 8 * MB);
        assert_eq!(told(&report), [CONTAMINATED.code]);
    }

    #[test]
    fn a_trial_in_which_nothing_completed_is_not_said_to_be_too_short() {
        let mut report = job([0, 0], [0, 0]);
        let some = report
            .intervals
            .iter()
            .find(|interval| interval.reads.operations > 0)
            .cloned()
            .unwrap();
        for interval in &mut report.intervals {
            (interval.reads, interval.writes) = Default::default();
        }
        report.drained.operations = u64::MAX;
        let said = notes(&report);
        assert!(
            said.iter().any(|remark| NOTHING_COMPLETED.is_kind_of(remark)),
            "{said:?}"
        );
        assert_eq!(too_short(&report), None);
        assert_eq!(
            without_figures(&report).as_deref(),
            Some(outcrop_results::NONE_COMPLETED)
        );

        report.intervals = vec![some];
        let said = notes(&report);
        assert!(said.iter().any(|remark| TOO_SHORT.is_kind_of(remark)), "{said:?}");
        assert_eq!(without_figures(&report), too_short(&report));
        assert!(too_short(&report).is_some());
    }

    #[test]
    fn what_the_kernel_does_not_count_is_not_called_missing() {
        let mut report = job([MB, MB], [0, 0]);
        report.device_counters = Err(Unavailable::because("no block device"));
        assert!(Stray::of(&report).is_err());
        assert_eq!(told(&report), [""; 0]);
    }
}
