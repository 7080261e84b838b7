//! Trials that end before the requests that are in flight have completed.

use outcrop_results::{NONE_COMPLETED, TrialEntry};
use outcrop_schema::device::{NOTHING_COMPLETED, TOO_SHORT};

use super::scene::{assert_complete, directory, plan_set, run_to_the_end, start};

/// 256 MiB are in flight: no device moves them in 10 ms, the shortest trial that a plan may have.
const PLAN: &str = r#"
name = "short"
question = "Is it measured at all?"
layer = "device"

[subject]
size = "64MiB"

[workload]
io_block_size = "8MiB"
access_pattern = "sequential"
queue_depth = 32

[factors]
read_write_mix = ["100:0", "0:100", "50:50"]

[trial]
repetitions = 2
warm_up = "0s"
duration = "10ms"
"#;

fn why_not(entry: &TrialEntry, metric: &str) -> String {
    let value = entry.values.iter().find(|value| value.metric == metric).unwrap();
    assert_eq!(value.value, None, "{value:?}");
    value.source.clone().unwrap()
}

#[test]
fn a_trial_in_which_fewer_requests_complete_than_are_in_flight_has_no_rates_and_no_latencies() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(PLAN, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        for metric in [
            "iops",
            "bandwidth",
            "latency_mean",
            "latency_p50",
            "cpu_per_operation",
            "iops_at_end",
        ] {
            let reason = why_not(&entry, metric);
            let is_short =
                reason.starts_with("too short: ") && reason.ends_with(" completed, 32 were in flight");
            let is_empty = entry.notes.iter().any(|note| NOTHING_COMPLETED.is_kind_of(note));
            assert!(
                if is_empty {
                    reason == NONE_COMPLETED
                } else {
                    is_short
                },
                "{metric}: {reason}"
            );
        }
        let mut notes = entry.notes.iter();
        assert!(
            notes.any(|note| TOO_SHORT.is_kind_of(note) || NOTHING_COMPLETED.is_kind_of(note)),
            "{:?}",
            entry.notes
        );
    }
}

#[test]
fn a_closed_loop_that_is_too_short_gives_no_rate_of_which_a_share_is_offered() {
    let (runs, data) = (directory(), directory());
    let plan = PLAN.replace("queue_depth = 32", "queue_depth = 32\narrival = \"constant:50%\"");
    let set = plan_set(&plan, data.path());
    let mut folder = start(&set, runs.path());
    let error = run_to_the_end(&set, &mut folder).unwrap_err().to_string();
    let is_short = error.contains("the closed loop, of which 50 % are to be offered, was too short: ")
        && error.contains(" completed, 32 were in flight; measure longer");
    let is_empty = error
        .contains("nothing completed in the closed loop, of which 50 % are to be offered; measure longer");
    assert!(is_short || is_empty, "{error}");
}
