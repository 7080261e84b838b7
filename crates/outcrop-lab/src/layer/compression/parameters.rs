//! What plans may say about compression: names, defaults, spellings, and the checks between them.

use outcrop_codec::{CodecErrorKind, CodecSpec, ContextUse, Setting, families};
use outcrop_compress::{Caches, JobSpec, StagesSpec, allowed_cpus};
use outcrop_measure::units::ByteSize;

use super::content::BlockContent;
use super::{GENERATED, STDIN};
use crate::layer::parsed;
use crate::parameter::{Parameter, Refusal, Settings, hint, one_of, spelling};
use crate::plan::{Subject, TrialOptions};

pub(super) static SUBJECT: &[Parameter] = &[
    Parameter {
        name: "data",
        default: Some(super::SAMPLE),
        canonical: |path| match path {
            "" => Err("no data was named; expected a path, \"sample\", \"generated\" or \"-\"".to_owned()),
            path => Ok(path.to_owned()),
        },
    },
    Parameter {
        name: "sample_size",
        default: Some("16MiB"),
        canonical: size,
    },
];

pub(super) static WORKLOAD: &[Parameter] = &[
    Parameter {
        name: "codec",
        default: Some("zstd:3"),
        canonical: codec,
    },
    Parameter {
        name: "compression_block_size",
        default: Some("64KiB"),
        canonical: block_size,
    },
    Parameter {
        name: "threads",
        default: Some("1"),
        canonical: |text| Ok(threads(text)?.0),
    },
    Parameter {
        name: "context",
        default: Some("reused"),
        canonical: |text| one_of(text, "context", &CONTEXTS).map(|(name, _)| name.to_owned()),
    },
    Parameter {
        name: "caches",
        default: Some("warm"),
        canonical: spelling::<Caches>,
    },
    Parameter {
        name: "content",
        default: None,
        canonical: spelling::<BlockContent>,
    },
    Parameter {
        name: "measurement",
        default: Some("speed"),
        canonical: |text| one_of(text, "measurement", &MEASUREMENTS).map(|(name, _)| name.to_owned()),
    },
];

/// Blocks are held in memory three times: as they are, compressed, and decompressed.
const LARGEST_BLOCK: ByteSize = ByteSize(1 << 30);
/// Largest block that has stages: one block of zstd's own.
const LARGEST_STAGED: ByteSize = ByteSize(128 << 10);

const CONTEXTS: [(&str, ContextUse); 2] = [("reused", ContextUse::Reused), ("fresh", ContextUse::Fresh)];

/// What a trial yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measurement {
    Speed,
    Stages,
}

const MEASUREMENTS: [(&str, Measurement); 2] =
    [("speed", Measurement::Speed), ("stages", Measurement::Stages)];

fn codec(text: &str) -> Result<String, String> {
    match text.parse::<CodecSpec>() {
        Ok(spec) => Ok(spec.to_string()),
        Err(error) => Err(match error.kind() {
            CodecErrorKind::UnknownCodec { seen, .. } => {
                let names: Vec<_> = families().iter().map(|family| family.name).collect();
                format!("there is no codec `{seen}`; {}", hint(seen, &names))
            }
            _ => error.to_string(),
        }),
    }
}

fn size(text: &str) -> Result<String, String> {
    match text.parse::<ByteSize>() {
        Ok(ByteSize(0)) => Err("nothing is no sample; expected a size such as 16MiB".to_owned()),
        Ok(size) => Ok(size.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn block_size(text: &str) -> Result<String, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size.0 > 0 && size <= LARGEST_BLOCK => Ok(size.to_string()),
        Ok(size) => Err(format!(
            "{size} is no size of a block; expected 1B to {LARGEST_BLOCK}, such as 4KiB"
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// The canonical spelling, and the number on this machine.
fn threads(text: &str) -> Result<(String, usize), String> {
    let cpus = || {
        allowed_cpus()
            .map(|cpus| cpus.len())
            .map_err(|error| error.to_string())
    };
    let refuse = || {
        Err(format!(
            "`{text}` is no number of threads; expected 1, 2, …, `all`, `all/2` or `all/4`"
        ))
    };
    match text {
        "all" => Ok((text.to_owned(), cpus()?)),
        "all/2" => Ok((text.to_owned(), (cpus()? / 2).max(1))),
        "all/4" => Ok((text.to_owned(), (cpus()? / 4).max(1))),
        _ => match text.parse() {
            Ok(0) | Err(_) => refuse(),
            Ok(count) => Ok((count.to_string(), count)),
        },
    }
}

/// Fills in what depends on the subject and checks what does not go together.
pub(super) fn complete(
    subject: &Subject,
    factors: &mut Settings,
    trial: &TrialOptions,
) -> Result<(), Refusal> {
    let is_generated = subject.settings["data"] == GENERATED;
    let default = if is_generated { "compressible:2" } else { "natural" };
    let content = factors
        .entry("content".to_owned())
        .or_insert_with(|| default.to_owned());
    if is_generated && !matches!(parsed(content), BlockContent::Generated(_)) {
        let message = format!(
            "generated data have no content {content:?}; take entropy:4, compressible:2, zeros or random"
        );
        return Err(Refusal::of("content", message));
    }
    let (_, threads) = threads(&factors["threads"]).map_err(|message| Refusal::of("threads", message))?;
    factors.insert("threads".to_owned(), threads.to_string());
    check_block(subject, factors)?;
    if measurement(factors) == Measurement::Stages {
        check_stages(factors)?;
    }
    job_spec(factors, trial, 0).validate().map_err(|error| {
        let parameter = match error {
            outcrop_compress::CompressError::Spec { field, .. } => field,
            _ => "threads",
        };
        Refusal::of(parameter, error.to_string())
    })
}

fn check_block(subject: &Subject, factors: &Settings) -> Result<(), Refusal> {
    let block = parsed::<ByteSize>(&factors["compression_block_size"]);
    let taken = parsed::<ByteSize>(&subject.settings["sample_size"]);
    if block > taken && subject.settings["data"] != STDIN {
        let message = format!(
            "a block of {block} is larger than the data ({}); give blocks of at most that, or more data",
            subject.label
        );
        return Err(Refusal::of("compression_block_size", message));
    }
    Ok(())
}

fn check_stages(factors: &Settings) -> Result<(), Refusal> {
    let refuse = |parameter: &'static str, expected: &str| {
        let message = format!(
            "stages with {parameter} {}; expected {expected}",
            factors[parameter]
        );
        Err(Refusal::of(parameter, message))
    };
    if parsed::<CodecSpec>(&factors["codec"]).family().name != "zstd" {
        return refuse(
            "codec",
            "a level of zstd, such as zstd:3: only zstd is taken apart",
        );
    }
    if factors["threads"] != "1" {
        return refuse("threads", "1: stages are timed block by block");
    }
    if factors["context"] != "reused" {
        return refuse("context", "reused: the stages have contexts of their own");
    }
    if parsed::<ByteSize>(&factors["compression_block_size"]) > LARGEST_STAGED {
        return refuse(
            "compression_block_size",
            "at most 128KiB: larger ones are several blocks of zstd's own",
        );
    }
    Ok(())
}

pub(super) fn measurement(factors: &Settings) -> Measurement {
    let Ok((_, measurement)) = one_of(&factors["measurement"], "measurement", &MEASUREMENTS) else {
        unreachable!("it was checked when the plan was");
    };
    measurement
}

/// The job of a trial, from checked factors.
pub(super) fn job_spec(factors: &Settings, trial: &TrialOptions, selection: u64) -> JobSpec {
    let Ok((_, context)) = one_of(&factors["context"], "context", &CONTEXTS) else {
        unreachable!("it was checked when the plan was");
    };
    JobSpec {
        codec: parsed(&factors["codec"]),
        threads: parsed(&factors["threads"]),
        context,
        caches: parsed(&factors["caches"]),
        warm_up: trial.warm_up.0,
        duration: trial.duration.0,
        selection,
    }
}

/// The same for zstd's stages.
pub(super) fn stages_spec(job: &JobSpec) -> StagesSpec {
    let Setting::Level(level) = job.codec.setting() else {
        unreachable!("only levels of zstd pass the check");
    };
    StagesSpec {
        level,
        caches: job.caches,
        duration: job.duration,
        selection: job.selection,
    }
}
