//! Reads that memory answered are not called those of the device.

use outcrop_report::{Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::device::{ACCESS, LATENCY, MISSING_BYTES_RATIO, PAGE_CACHE};

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
