//! What plans say about compression, in the engine's terms: what data decide, and the checks between factors.

use std::collections::BTreeSet;
use std::path::Path;

use outcrop_codec::{CodecSpec, ContextUse, Setting};
use outcrop_compress::{CompressError, JobSpec, Source, StagesSpec, allowed_cpus};
use outcrop_measure::units::{ByteSize, format_bytes, format_data};
use outcrop_schema::compression::{
    CACHES, CODEC, COMPRESSION_BLOCK_SIZE, CONTENT, CONTEXT, CodecName, Context, DATA, Data, MEASUREMENT,
    Measurement, SAMPLE_SIZE, SCHEMA, THREADS, Threads,
};
use outcrop_schema::{About, Settings};
use outcrop_workload::{BlockContent, Content};

use crate::cell::{Subject, TrialOptions};
use crate::layer::Refusal;

/// Largest block that has stages: one block of zstd's own.
const LARGEST_STAGED: ByteSize = ByteSize(128 << 10);
/// What is compressed at once where nobody says otherwise.
const DEFAULT_BLOCK: ByteSize = ByteSize(64 << 10);
/// Below this, a block is a slip: `--block-size 4` for `4k`. All of smaller data is a block nevertheless.
const SMALLEST_BLOCK: ByteSize = ByteSize(64);
/// What generated data contain when a plan says nothing.
const DEFAULT_RATIO: f64 = 2.0;

/// Fills in what depends on the subject and checks what does not go together.
pub(super) fn complete(
    subject: &Subject,
    factors: &mut Settings,
    trial: &TrialOptions,
) -> Result<(), Refusal> {
    let is_generated = *subject.settings.value(&DATA) == Data::Generated;
    factors.set_default(
        &CONTENT,
        if is_generated {
            BlockContent::Generated(Content::Compressible { ratio: DEFAULT_RATIO })
        } else {
            BlockContent::Natural
        },
    );
    let content = factors.value(&CONTENT);
    if is_generated && !matches!(content, BlockContent::Generated(_)) {
        let content = content.to_string();
        let message = format!(
            "generated data cannot have the content {content:?}; use entropy:4, compressible:2, zeros or random"
        );
        return Err(Refusal::of(&CONTENT, message));
    }
    if let Threads::AllOver(parts) = *factors.value(&THREADS) {
        let cpus = allowed_cpus().map_err(|error| Refusal::of(&THREADS, error.to_string()))?;
        let count = (u32::try_from(cpus.len()).unwrap_or(u32::MAX) / parts).max(1);
        factors.set(&THREADS, Threads::Count(count));
    }
    default_block(subject, factors);
    check_block(subject, factors)?;
    if *factors.value(&MEASUREMENT) == Measurement::Stages {
        check_stages(factors)?;
    }
    job_spec(factors, trial, 0).validate().map_err(|error| {
        let factor = match error {
            CompressError::Spec { field, .. } => SCHEMA.factor(field),
            _ => None,
        };
        Refusal::of(factor.unwrap_or(&THREADS).about(), error.to_string())
    })
}

/// Refuses data of the user's that no combination would compress.
pub(super) fn check_use_of_data(
    subject: &Subject,
    combinations: &[Settings],
) -> Result<(), (usize, Refusal)> {
    let data = match subject.settings.value(&DATA) {
        Data::Sample | Data::Generated => return Ok(()),
        Data::Stdin => "stdin",
        Data::Path(path) => path,
    };
    let is_generated = |factors: &Settings| matches!(factors.get(&CONTENT), Some(BlockContent::Generated(_)));
    if !combinations.iter().all(is_generated) {
        return Ok(());
    }
    let message = format!(
        "bytes of this content are generated, so nothing of {data} would be measured; leave out the data or the content, or add \
         natural or natural:4, whose bytes are taken from the data"
    );
    Err((0, Refusal::of(&CONTENT, message)))
}

/// What is to be known of blocks that no file of the data fills; none where the largest fills all.
pub(super) fn unfilled_blocks(subject: &Subject, combinations: &[Settings]) -> Option<String> {
    let Data::Path(path) = subject.settings.value(&DATA) else {
        return None;
    };
    let largest = Source::open(Path::new(path)).ok()?.largest_file_bytes()?;
    let by_default = DEFAULT_BLOCK.min(*subject.settings.value(&SAMPLE_SIZE));
    let is_natural = |factors: &&Settings| !matches!(factors.get(&CONTENT), Some(BlockContent::Generated(_)));
    let blocks = combinations
        .iter()
        .filter(is_natural)
        .map(|factors| factors.get(&COMPRESSION_BLOCK_SIZE).unwrap_or(&by_default).0);
    let unfilled: BTreeSet<u64> = blocks.filter(|block| *block > largest).collect();
    let sizes: Vec<String> = unfilled.into_iter().map(format_bytes).collect();
    let shown = sizes.join(", ");
    (!sizes.is_empty()).then(|| {
        format!(
            "no file in {path} fills a block of {shown}: the largest has {}, and blocks do not span files",
            format_data(largest as f64)
        )
    })
}

/// A block is 64 KiB where nobody says otherwise, or all of smaller data.
fn default_block(subject: &Subject, factors: &mut Settings) {
    let settings = &subject.settings;
    let sample = match settings.value(&DATA) {
        Data::Stdin => DEFAULT_BLOCK,
        _ => *settings.value(&SAMPLE_SIZE),
    };
    factors.set_default(&COMPRESSION_BLOCK_SIZE, sample.min(DEFAULT_BLOCK));
}

fn check_block(subject: &Subject, factors: &Settings) -> Result<(), Refusal> {
    let block = *factors.value(&COMPRESSION_BLOCK_SIZE);
    let settings = &subject.settings;
    let sample = *settings.value(&SAMPLE_SIZE);
    if block > sample && *settings.value(&DATA) != Data::Stdin {
        let message = format!(
            "a block of {block} is larger than the sample ({}); give blocks of at most {}, a larger sample, or more data",
            subject.label,
            format_bytes(sample.0)
        );
        return Err(Refusal::of(&COMPRESSION_BLOCK_SIZE, message));
    }
    if block < SMALLEST_BLOCK && block < sample {
        let [block, least] = [block, SMALLEST_BLOCK].map(|size| format_bytes(size.0));
        let message =
            format!("blocks of {block} are too small to compress; expected {least} or more, such as 4k");
        return Err(Refusal::of(&COMPRESSION_BLOCK_SIZE, message));
    }
    Ok(())
}

fn check_stages(factors: &Settings) -> Result<(), Refusal> {
    let refuse = |factor: &About, expected: &str| {
        let seen = factors.spelling(factor).unwrap_or_default();
        let message = format!("stages with {} {seen}; expected {expected}", factor.name);
        Err(Refusal::of(factor, message))
    };
    if factors.value(&CODEC).family() != "zstd" {
        return refuse(&CODEC, "a level of zstd, such as zstd:3: only zstd has stages");
    }
    if *factors.value(&THREADS) != Threads::Count(1) {
        return refuse(&THREADS, "1: stages are timed block by block");
    }
    if *factors.value(&CONTEXT) != Context::Reused {
        return refuse(&CONTEXT, "reused: the stages have separate contexts");
    }
    if *factors.value(&COMPRESSION_BLOCK_SIZE) > LARGEST_STAGED {
        return refuse(
            &COMPRESSION_BLOCK_SIZE,
            "at most 128KiB: zstd splits larger ones into several blocks",
        );
    }
    Ok(())
}

/// The codec of a name that the layer read.
pub(super) fn codec_of(name: &CodecName) -> CodecSpec {
    match name.to_string().parse() {
        Ok(codec) => codec,
        Err(_) => unreachable!("{name} was read as a codec when the plan was"),
    }
}

/// The job of a trial.
pub(super) fn job_spec(factors: &Settings, trial: &TrialOptions, selection: u64) -> JobSpec {
    JobSpec {
        codec: codec_of(factors.value(&CODEC)),
        threads: factors.value(&THREADS).count().map_or(1, |count| count as usize),
        context: match factors.value(&CONTEXT) {
            Context::Reused => ContextUse::Reused,
            Context::Fresh => ContextUse::Fresh,
        },
        caches: *factors.value(&CACHES),
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
