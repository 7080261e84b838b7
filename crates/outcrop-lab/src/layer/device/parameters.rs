//! What plans say about devices, in the engine's terms, and the checks between factors.

use std::time::Duration;

use outcrop_device::{DeviceError, JobSpec};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, COMPLETIONS, CONTENT, ENGINE, IO_BLOCK_SIZE, JOBS, LATENCY_PARTS,
    NUMA_NODE, QUEUE_DEPTH, READ_WRITE_MIX, SCHEMA, SPAN, SUBMISSION, SYNC,
};
use outcrop_schema::{FactorRef, Settings};
use outcrop_workload::{AccessPattern, Arrivals, Content, EngineKind, Submission};

use super::replay;
use crate::cell::TrialOptions;
use crate::layer::{Origin, Refusal, dropped};

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

/// Gives factors their default where another value would have no effect: what is only read always holds random bytes, and only a closed loop of
/// an engine with a queue submits in batches. The closed loop that a share is of does so too.
pub(super) fn leave_out(factors: &mut Settings) {
    if !factors.value(&READ_WRITE_MIX).has_writes() && !replay::is_asked(factors) {
        factors.set(&CONTENT, Content::Random);
    }
    let is_open = match factors.value(&ARRIVAL) {
        Arrivals::Given(arrival) => arrival.is_open_loop(),
        Arrivals::Share(..) => false,
    };
    if is_open || *factors.value(&ENGINE) == EngineKind::Psync {
        factors.set(&SUBMISSION, Submission::Refill);
    }
}

/// Refuses a flag that has no effect on any cell.
pub(super) fn check_flags(
    is_read_only: bool,
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
) -> Result<(), (usize, Refusal)> {
    let completed = |combination: &Settings| {
        let mut factors = combination.clone();
        leave_out(&mut factors);
        Some(factors)
    };
    let why = |factor: FactorRef| match factor.name == CONTENT.name {
        true if is_read_only => "on reads; leave it out",
        true => "on reads; leave it out, or add writes, as in --read-write-mix 50:50",
        false => "in an open loop, and with the engine psync, which waits for each request; leave it out",
    };
    let why = |factor: FactorRef| why(factor).to_owned();
    dropped::check_flags(&[&CONTENT, &SUBMISSION], combinations, origin, completed, why)
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
