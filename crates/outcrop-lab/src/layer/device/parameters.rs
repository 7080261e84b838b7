//! What plans may say about a device: names, defaults, spellings, and the checks between them.

use std::time::Duration;

use outcrop_device::{DeviceError, EngineKind, JobSpec, Submission};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_workload::{AccessPattern, Arrival, Content, ReadWriteMix};

use super::{READ_ONLY, SCRATCH_FILE, parsed};
use crate::parameter::{Parameter, Refusal, Settings, hint, one_of, spelling};
use crate::plan::TrialOptions;

/// The value of `span` that stands for the whole subject.
pub(super) const WHOLE_SPAN: &str = "all";

pub(super) static SUBJECT: &[Parameter] = &[
    Parameter {
        name: "kind",
        default: Some(SCRATCH_FILE),
        canonical: |text| {
            one_of(text, "kind", &[(SCRATCH_FILE, ()), (READ_ONLY, ())]).map(|(name, ())| name.to_owned())
        },
    },
    Parameter {
        name: "path",
        default: None,
        canonical: |path| Ok(path.to_owned()),
    },
    Parameter {
        name: "size",
        default: None,
        canonical: subject_size,
    },
];

pub(super) static WORKLOAD: &[Parameter] = &[
    Parameter {
        name: "engine",
        default: Some("io_uring"),
        canonical: spelling::<EngineKind>,
    },
    Parameter {
        name: "access_pattern",
        default: Some("random"),
        canonical: spelling::<AccessPattern>,
    },
    Parameter {
        name: "read_write_mix",
        default: Some("100:0"),
        canonical: spelling::<ReadWriteMix>,
    },
    Parameter {
        name: "io_block_size",
        default: Some("4KiB"),
        canonical: block_size,
    },
    Parameter {
        name: "queue_depth",
        default: Some("32"),
        canonical: count,
    },
    Parameter {
        name: "jobs",
        default: Some("1"),
        canonical: count,
    },
    Parameter {
        name: "arrival",
        default: Some("closed"),
        canonical: spelling::<Arrival>,
    },
    Parameter {
        name: "content",
        default: Some("random"),
        canonical: spelling::<Content>,
    },
    Parameter {
        name: "span",
        default: Some(WHOLE_SPAN),
        canonical: span,
    },
    Parameter {
        name: "submission",
        default: Some("refill"),
        canonical: |text| Ok(submission(text)?.1.to_owned()),
    },
];

/// Smallest unit of direct I/O on any device.
const SECTOR_BYTES: u64 = 512;

fn count(text: &str) -> Result<String, String> {
    match text.parse::<u32>() {
        Ok(count) if count > 0 => Ok(count.to_string()),
        _ => Err(format!("`{text}` is not a count; expected a whole number from 1")),
    }
}

fn size(text: &str) -> Result<ByteSize, String> {
    text.parse()
        .map_err(|error: outcrop_measure::MeasureError| error.to_string())
}

fn block_size(text: &str) -> Result<String, String> {
    let size = size(text)?;
    if size.0 == 0 || !size.0.is_multiple_of(SECTOR_BYTES) {
        return Err(format!(
            "{size} is no size of a direct access; expected a multiple of 512 B, such as 4KiB"
        ));
    }
    Ok(size.to_string())
}

fn subject_size(text: &str) -> Result<String, String> {
    let size = size(text)?;
    if size.0 == 0 || !size.0.is_multiple_of(SECTOR_BYTES) {
        return Err(format!(
            "{size} is no size of a subject; expected a multiple of 512 B, such as 1GiB"
        ));
    }
    Ok(size.to_string())
}

fn span(text: &str) -> Result<String, String> {
    if text == WHOLE_SPAN {
        return Ok(text.to_owned());
    }
    match size(text) {
        Ok(size) if size.0 > 0 => Ok(size.to_string()),
        _ => Err(format!(
            "`{text}` is not a span; expected \"all\" or a size such as 1GiB"
        )),
    }
}

/// The value and its spelling.
fn submission(text: &str) -> Result<(Submission, &'static str), String> {
    match text {
        "refill" => Ok((Submission::Refill, "refill")),
        "batch" => Ok((Submission::Batch, "batch")),
        _ => Err(format!(
            "unknown submission {text:?}; {}",
            hint(text, &["refill", "batch"])
        )),
    }
}

/// Checks that accesses fit their span, and the span its subject.
pub(super) fn check_sizes(factors: &Settings, subject: ByteSize) -> Result<(), Refusal> {
    let (block, span) = (
        parsed::<ByteSize>(&factors["io_block_size"]),
        parsed::<ByteSize>(&factors["span"]),
    );
    if span > subject {
        let message =
            format!("span is {span}, larger than the subject of {subject}; give at most that, or \"all\"");
        return Err(Refusal::of("span", message));
    }
    if block > span {
        let message = format!(
            "io_block_size is {block}, larger than the span of {span}; make the subject larger or the accesses smaller"
        );
        return Err(Refusal::of("io_block_size", message));
    }
    if let AccessPattern::Strided { stride } = parsed(&factors["access_pattern"])
        && !stride.0.is_multiple_of(block.0)
    {
        let message =
            format!("a stride of {stride} is not a multiple of io_block_size, {block}; choose one that is");
        return Err(Refusal::of("access_pattern", message));
    }
    Ok(())
}

/// Lets the engine judge the job, as it will when the trial starts.
pub(super) fn check_job(factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    match job_spec(factors, trial, Seed(0)).validate() {
        Ok(()) => Ok(()),
        Err(error) => {
            let parameter = match &error {
                DeviceError::Spec { field, .. } => WORKLOAD
                    .iter()
                    .map(|parameter| parameter.name)
                    .find(|name| name == field),
                _ => None,
            };
            Err(Refusal::of(parameter.unwrap_or("engine"), error.to_string()))
        }
    }
}

/// The job of a trial, from checked factors.
pub(super) fn job_spec(factors: &Settings, trial: &TrialOptions, seed: Seed) -> JobSpec {
    let (submission, _) = submission(&factors["submission"]).unwrap_or_default();
    JobSpec {
        engine: parsed(&factors["engine"]),
        io_block_size_bytes: parsed::<ByteSize>(&factors["io_block_size"]).0,
        queue_depth: parsed(&factors["queue_depth"]),
        jobs: parsed(&factors["jobs"]),
        access_pattern: parsed(&factors["access_pattern"]),
        read_write_mix: parsed(&factors["read_write_mix"]),
        arrival: parsed(&factors["arrival"]),
        content: parsed(&factors["content"]),
        span_bytes: Some(parsed::<ByteSize>(&factors["span"]).0),
        warm_up: trial.warm_up.0,
        duration: trial.duration.0,
        interval: trial.interval.0.max(Duration::from_millis(1)),
        seed,
        submission,
    }
}
