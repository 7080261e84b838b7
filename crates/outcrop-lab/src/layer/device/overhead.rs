//! What measuring itself costs: the job loop, with the arrival process of the trial, and an engine that completes every request at once.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_device::{EngineKind, JobSpec, Target, run_job};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_results::Value;
use outcrop_schema::device::OVERHEAD_PER_OPERATION;

/// Long enough for millions of operations, short beside any run.
const DURATION: Duration = Duration::from_millis(100);
/// Bytes that the requests pretend to reach.
const SPAN_BYTES: u64 = 1 << 30;

/// CPU time of our own per operation: what a closed loop costs, or an open one, which also waits and polls for the next due time.
pub(super) fn measure(of: &JobSpec, clock: &Clock, stop: &AtomicBool, seed: Seed) -> Value {
    let spec = JobSpec {
        engine: EngineKind::Noop,
        arrival: of.arrival,
        jobs: of.jobs,
        latency_parts: of.latency_parts,
        span_bytes: Some(SPAN_BYTES),
        warm_up: Duration::from_millis(10),
        duration: DURATION,
        interval: DURATION,
        ..JobSpec::new(seed)
    };
    let report = match run_job(&Target::Null, &spec, clock, stop) {
        Ok(report) => report,
        Err(error) => {
            return Value::unavailable(
                OVERHEAD_PER_OPERATION,
                format!("the noop engine did not run: {error}"),
            );
        }
    };
    let total = report.total();
    match total.reads.operations + total.writes.operations {
        0 => Value::unavailable(
            OVERHEAD_PER_OPERATION,
            "the noop engine was stopped before its first operation",
        ),
        operations => {
            let cpu_ns = report.cpu.total_ns() as f64;
            Value::measured(OVERHEAD_PER_OPERATION, cpu_ns / operations as f64)
        }
    }
}
