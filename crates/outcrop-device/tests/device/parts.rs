//! Submission and completion timed apart: both of every request, and together its time.

use outcrop_device::{EngineKind, JobSpec, LatencyParts, OperationReport, Target};

use crate::stage::{folder, refusal, run, scratch, short_spec};

/// The time of requests from when each was really made ready.
fn assert_parts_are_the_whole(of: &OperationReport, words: &str) {
    let whole = of.service.as_ref().unwrap_or(&of.latency);
    let parts = of.parts.as_ref().unwrap();
    let counts = [&parts.submission, &parts.completion].map(outcrop_measure::LatencyHistogram::count);
    assert_eq!(counts, [whole.count(); 2], "{words}");
    // Each of the two is rounded to a nanosecond.
    let sum = parts.submission.sum() + parts.completion.sum();
    let rounding = u128::from(2 * whole.count());
    assert!(
        sum.abs_diff(whole.sum()) <= rounding,
        "{words}: {sum} {}",
        whole.sum()
    );
}

#[test]
fn the_parts_of_every_request_add_up_to_its_time_with_every_engine_that_has_them() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    for engine in [EngineKind::IoUring, EngineKind::Libaio, EngineKind::Noop] {
        for (mix, arrival, sync) in [
            ("100:0", "closed", "none"),
            ("50:50", "closed", "every:2"),
            ("0:100", "closed", "each"),
            ("50:50", "poisson:2k", "none"),
        ] {
            let spec = JobSpec {
                engine,
                queue_depth: 9,
                jobs: 2,
                read_write_mix: mix.parse().unwrap(),
                arrival: arrival.parse().unwrap(),
                sync: sync.parse().unwrap(),
                latency_parts: LatencyParts::Apart,
                ..short_spec()
            };
            let report = run(&target, &spec);
            assert_eq!(report.failure(), None);
            let words = format!("{engine} {mix} {arrival} {sync}");
            let total = report.total();
            assert_parts_are_the_whole(&total.reads, &words);
            assert_parts_are_the_whole(&total.writes, &words);
        }
    }
}

#[test]
fn requests_are_timed_as_a_whole_unless_their_parts_are_asked_for() {
    let folder = folder();
    let target = Target::Scratch(scratch(folder.path(), 4 << 20));
    assert!(run(&target, &short_spec()).total().reads.parts.is_none());
    let psync = JobSpec {
        engine: EngineKind::Psync,
        queue_depth: 1,
        latency_parts: LatencyParts::Apart,
        ..short_spec()
    };
    let refused = refusal(&target, &psync);
    assert!(
        refused.contains("latency_parts is apart; expected together with the psync engine"),
        "{refused}"
    );
}
