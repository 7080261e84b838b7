//! What plans say about devices, in the engine's terms, and the checks between factors.

use std::time::Duration;

use outcrop_device::{DeviceError, JobSpec};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_schema::Settings;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, COMPLETIONS, CONTENT, ENGINE, IO_BLOCK_SIZE, JOBS, LATENCY_PARTS,
    NUMA_NODE, QUEUE_DEPTH, READ_WRITE_MIX, SCHEMA, SPAN, SUBMISSION, SYNC,
};
use outcrop_workload::{AccessPattern, Arrivals};

use crate::cell::TrialOptions;
use crate::layer::Refusal;

/// Checks that accesses fit their span, and the span its subject.
pub(super) fn check_sizes(factors: &Settings, subject: ByteSize) -> Result<(), Refusal> {
    let block = *factors.value(&IO_BLOCK_SIZE);
    let span = factors.value(&SPAN).bytes().unwrap_or(subject);
    if span > subject {
        let message =
            format!("span is {span}, larger than the subject of {subject}; give at most that, or \"all\"");
        return Err(Refusal::of(&SPAN, message));
    }
    if block > span {
        let message = format!(
            "io_block_size is {block}, larger than the span of {span}; make the subject larger or the accesses smaller"
        );
        return Err(Refusal::of(&IO_BLOCK_SIZE, message));
    }
    if let AccessPattern::Strided { stride } = factors.value(&ACCESS_PATTERN)
        && !stride.0.is_multiple_of(block.0)
    {
        let message =
            format!("a stride of {stride} is not a multiple of io_block_size, {block}; choose a multiple");
        return Err(Refusal::of(&ACCESS_PATTERN, message));
    }
    Ok(())
}

/// Lets the engine judge the job, as it will when the trial starts.
pub(super) fn check_job(factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    job_spec(factors, trial, Seed(0)).validate().map_err(|error| {
        let factor = match &error {
            DeviceError::Spec { field, .. } => SCHEMA.factor(field),
            _ => None,
        };
        Refusal::of(factor.unwrap_or(&ENGINE), error.to_string())
    })
}

/// The job of a trial.
pub(super) fn job_spec(factors: &Settings, trial: &TrialOptions, seed: Seed) -> JobSpec {
    JobSpec {
        engine: *factors.value(&ENGINE),
        io_block_size_bytes: factors.value(&IO_BLOCK_SIZE).0,
        queue_depth: *factors.value(&QUEUE_DEPTH),
        jobs: *factors.value(&JOBS),
        access_pattern: *factors.value(&ACCESS_PATTERN),
        read_write_mix: *factors.value(&READ_WRITE_MIX),
        // Of a closed loop that has not run yet, a share is one request per second.
        arrival: match *factors.value(&ARRIVAL) {
            Arrivals::Given(arrival) | Arrivals::Share(arrival, _) => arrival,
        },
        content: *factors.value(&CONTENT),
        span_bytes: factors.value(&SPAN).bytes().map(|span| span.0),
        warm_up: trial.warm_up.0,
        duration: trial.duration.0,
        interval: trial.interval.0.max(Duration::from_millis(1)),
        seed,
        submission: *factors.value(&SUBMISSION),
        completions: *factors.value(&COMPLETIONS),
        latency_parts: *factors.value(&LATENCY_PARTS),
        sync: *factors.value(&SYNC),
        access: *factors.value(&ACCESS),
        numa: *factors.value(&NUMA_NODE),
        repeat_after: Vec::new(),
        write_limit_bytes: None,
    }
}
