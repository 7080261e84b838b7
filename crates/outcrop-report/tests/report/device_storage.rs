//! Reads that memory answered are not called those of the device.

use outcrop_report::{Report, Verdict};
use outcrop_results::{RunView, Value};
use outcrop_schema::device::{
    ACCESS, DEVICE_BYTES_RATIO, FOREIGN_BYTES_RATIO, LATENCY, MISSING_BYTES_RATIO, PAGE_CACHE,
};

use crate::device_limits::{finding, run_of, set, warnings};

#[test]
fn reads_that_did_not_reach_storage_fail_a_finding() {
    let seen = |run: &RunView| finding(&Report::of(run), "latency-is-storage");
    assert_eq!(seen(&run_of(100)).verdict, Verdict::Holds);
    let mut soon = run_of(100);
    for trial in &mut soon.trials {
        for metric in [LATENCY.both.p50, LATENCY.read.p50] {
            set(trial, metric, 4_900.0);
        }
    }
    let warned = warnings(&Report::of(&soon))
        .iter()
        .any(|text| text.contains("Memory answered"));
    assert!(warned, "{:?}", warnings(&Report::of(&soon)));
    let mut unknown = run_of(100);
    let note = "loop0 is a loop device, and /sys does not say whether it was attached with direct I/O";
    unknown
        .trials
        .iter_mut()
        .for_each(|trial| trial.notes.push(PAGE_CACHE.remark(note)));
    let mut elsewhere = run_of(100);
    elsewhere
        .trials
        .iter_mut()
        .for_each(|trial| set(trial, MISSING_BYTES_RATIO, 0.97));
    for (run, why) in [
        (&soon, "complete in a median of 4.90 µs"),
        (&unknown, note),
        (&elsewhere, "97 % of the bytes"),
    ] {
        let found = seen(run);
        assert_eq!(found.verdict, Verdict::DoesNotHold, "{why}");
        assert!(found.meaning.contains(why), "{}", found.meaning);
    }
    // Who asks for the page cache is told so elsewhere.
    for trial in &mut soon.trials {
        trial
            .factors
            .insert(ACCESS.name.to_owned(), "buffered".to_owned());
    }
    assert!(matches!(seen(&soon).verdict, Verdict::NotTestable(_)));
    assert!(matches!(seen(&run_of(0)).verdict, Verdict::NotTestable(_)));
}

#[test]
fn what_others_ask_of_the_disk_below_a_loop_device_is_said_to_be_that_disks() {
    for (of_device, foreign, mover) in [
        (1.0, 1.3, "the disk below the device"),
        (1.0, 0.03, "the disk below the device"),
        (1.3, 0.3, "the device"),
        (1.03, 0.04, "the device"),
    ] {
        let mut run = run_of(100);
        for trial in &mut run.trials {
            // With 1, the loop device itself moved what was requested.
            set(trial, DEVICE_BYTES_RATIO, of_device);
            set(trial, FOREIGN_BYTES_RATIO, foreign);
            set(trial, MISSING_BYTES_RATIO, 0.0);
        }
        let report = Report::of(&run);
        assert_eq!(
            finding(&report, "bytes-are-the-kernels").verdict,
            Verdict::DoesNotHold
        );
        let told = warnings(&report).join(" ");
        let says = format!("In 9 of 9 trials {mover} moved over");
        assert!(told.contains(&says), "{of_device} {foreign}: {told}");
    }
}

#[test]
fn a_disk_below_that_could_not_be_counted_is_not_said_to_have_moved_nothing_for_others() {
    let of = |missing: f64| {
        let mut run = run_of(100);
        for trial in &mut run.trials {
            set(trial, DEVICE_BYTES_RATIO, 1.0 - missing);
            set(trial, MISSING_BYTES_RATIO, missing);
            let reason = "the disk below the loop device's file cannot be found: it is on two disks";
            trial.values.push(Value::unavailable(FOREIGN_BYTES_RATIO, reason));
        }
        finding(&Report::of(&run), "bytes-are-the-kernels").verdict
    };
    let unknown = of(0.0);
    assert!(
        matches!(&unknown, Verdict::NotTestable(why) if why.contains("it is on two disks")),
        "{unknown:?}"
    );
    assert_eq!(of(0.5), Verdict::DoesNotHold);
}
