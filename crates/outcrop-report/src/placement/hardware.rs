//! Published hardware under the load of a store, modelled from the store's figures without compression.

use outcrop_measure::Interval;
use outcrop_measure::metric::{Provenance, Unit};
use outcrop_measure::units::format_bytes;
use outcrop_predict::{Application, Case, Component, Curve, ModelError, PUBLISHED, Place, Study, components};
use outcrop_results::RunView;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO};
use outcrop_schema::kv::{Constraints, THROUGHPUT};

use super::bounds::{Bounded, Figure, Kept, Verdict, judge};
use super::candidate::{Candidate, CompressedAt, place};
use super::system::{self, MeasuredSystem};
use crate::cell::Cell;
use crate::number::Number;

/// A drive that compresses does it page by page, whatever the blocks of the store are.
const DRIVE_PAGE_BYTES: f64 = 4096.0;

/// Said wherever a drive stands with a ratio.
pub(crate) const DRIVE_CAPACITY: &str =
    "the space that a drive saves is usable only if the drive exposes it as capacity";

/// Published hardware under the load of a store, with the error that the model has on this machine.
pub(super) struct Modelled {
    /// The fastest first.
    pub(super) candidates: Vec<Candidate>,
    pub(super) error: ModelError,
}

impl Modelled {
    /// The fastest that breaks no limit by the figures that are known of it.
    pub(super) fn fastest(&self, constraints: &Constraints) -> Option<&Candidate> {
        let mut candidates = self.candidates.iter();
        candidates.find(|candidate| judge(constraints, bounded(candidate)).kept != Kept::Breaks)
    }
}

/// What is known of a modelled candidate: nobody published a tail latency of this load.
pub(super) fn bounded(candidate: &Candidate) -> Bounded {
    Bounded {
        ratio: Figure::of(candidate.ratio.as_ref()),
        ratio_without_log: None,
        p99: Figure::Unknown,
        cpu_share: Figure::bare(candidate.cpu_share),
    }
}

/// What the store would do with published hardware on a machine with this many CPUs, from its figures without compression.
pub(super) fn modelled(
    run: &RunView,
    family: &[&Cell<'_>],
    constraints: &Constraints,
    cpus: Option<u64>,
) -> Modelled {
    let nothing = Modelled {
        candidates: Vec::new(),
        error: ModelError::default(),
    };
    let rate = |cell: &Cell<'_>| cell.value(&THROUGHPUT).unwrap_or(0.0);
    let plain = family.iter().filter(|cell| place(cell) == CompressedAt::Nowhere);
    let plain = plain.max_by(|one, other| rate(one).total_cmp(&rate(other)));
    let Some((plain, application)) = plain.and_then(|cell| Some((cell, system::application(cell, cpus)?)))
    else {
        return nothing;
    };
    let Ok((mut hardware, _)) = components(PUBLISHED[0].2) else {
        return nothing;
    };
    // Codecs on CPUs run here: they are measured, not modelled.
    hardware.retain(|component| component.place != Place::Cpu);
    let views = run.cells();
    let codecs = system::codecs_on_data_of(plain, &views);
    let ratios: Vec<Option<Ratio>> = hardware
        .iter()
        .map(|component| Ratio::of(component, &application, &codecs))
        .collect();
    for (component, known) in hardware.iter_mut().zip(&ratios) {
        component.ratio = known
            .as_ref()
            .and_then(|known| Curve::constant(known.ratio.value).ok());
    }
    // Where the run has codecs on the same data, predictions of them were checked.
    let checked = MeasuredSystem::of(run).ok();
    let checked = checked.as_ref().and_then(|system| system.study().ok());
    let error = checked.map(|study| study.error).unwrap_or_default();
    let applications = [application];
    let Ok(study) = Study::of(&applications, &hardware, &[]) else {
        return nothing;
    };
    let candidate = |case: &Case<'_>| {
        let component = case.component?;
        let index = hardware.iter().position(|own| own.name == component.name)?;
        candidate_of(case, component, ratios[index].as_ref(), &error, constraints)
    };
    let mut candidates: Vec<Candidate> = study.cases.iter().filter_map(candidate).collect();
    candidates.sort_by(|one, other| other.throughput.value.total_cmp(&one.throughput.value));
    Modelled { candidates, error }
}

/// The ratio of a codec that was measured on the same data, in blocks of the size that the hardware would compress at once.
struct Ratio {
    ratio: Number,
    /// `dpzip in blocks of 4 KiB`.
    of: String,
}

impl Ratio {
    /// Of several codecs with the algorithm, the one of the lowest level stands for it: hardware looks for matches no harder.
    fn of(component: &Component, application: &Application, codecs: &[Cell<'_>]) -> Option<Self> {
        let algorithm = component.algorithm.as_deref()?;
        let block_bytes = match component.place {
            Place::Drive => DRIVE_PAGE_BYTES,
            Place::Cpu | Place::Accelerator => application.block_size_bytes?,
        };
        let of_size = codecs.iter().filter(|cell| {
            let size = cell.get(&COMPRESSION_BLOCK_SIZE);
            size.is_some_and(|size| size.0 as f64 == block_bytes) && cell.number(&COMPRESSION_RATIO).is_some()
        });
        let known = of_size.filter_map(|cell| Some((level(cell.spelling(&CODEC), algorithm)?, cell)));
        let (_, cell) = known.min_by_key(|(level, cell)| (*level, cell.spelling(&CODEC).to_owned()))?;
        let ratio = cell.number(&COMPRESSION_RATIO)?.clone();
        Some(Self {
            ratio: Number {
                provenance: Provenance::Modelled,
                ..ratio.named("ratio of the blocks")
            },
            of: format!(
                "{} in blocks of {}",
                cell.spelling(&CODEC),
                format_bytes(block_bytes as u64)
            ),
        })
    }
}

/// The level of a codec, as it is spelled, if it has this algorithm: `deflate-libdeflate:1` is `deflate`. Options of another kind than a level
/// make another algorithm of it.
fn level(codec: &str, algorithm: &str) -> Option<i32> {
    let (name, level) = match codec.split_once(':') {
        // Level 0 of Deflate stores, and what is below trades the ratio away: no hardware does that.
        Some((name, level)) => (name, level.parse().ok().filter(|level| *level >= 1)?),
        None => (codec, 0),
    };
    let is_of = name == algorithm || name.strip_prefix(algorithm)?.starts_with('-');
    is_of.then_some(level)
}

fn candidate_of(
    case: &Case<'_>,
    component: &Component,
    known: Option<&Ratio>,
    error: &ModelError,
    constraints: &Constraints,
) -> Option<Candidate> {
    let found = case.outcome.as_ref().ok()?;
    let interval = error.interval(found.throughput, found.from_figures);
    let pairs = error.checked().len();
    let mut candidate = Candidate {
        place: match component.place {
            Place::Drive => CompressedAt::Drive,
            Place::Cpu | Place::Accelerator => CompressedAt::Accelerator,
        },
        what: component.name.clone(),
        throughput: Number {
            name: THROUGHPUT.words(),
            value: found.throughput,
            unit: Unit::PerSecond,
            interval: interval.map(|(low, high)| Interval {
                estimate: found.throughput,
                low,
                high,
                // The conformal rule promises no more with few pairs.
                confidence: (pairs as f64 / (pairs + 1) as f64).min(0.9),
                n: pairs,
            }),
            no_interval: None,
            n: pairs,
            provenance: Provenance::Modelled,
        },
        p99: None,
        stored: None,
        log_share: None,
        ratio: known.map(|known| known.ratio.clone()),
        ratio_without_log: None,
        ratio_of: known.map(|known| known.of.clone()),
        cpu: None,
        energy: None,
        cpu_share: found.cpu_share,
        on_front: false,
        on_front_with_costs: false,
        stopped: None,
        cell: String::new(),
        may_keep: false,
        verdict: Verdict::default(),
        left_out: None,
        bound_by: Some(found.binding.to_string()),
        limited_by: Some(found.binding.in_words()),
    };
    candidate.left_out = Some(why_not(&candidate, constraints));
    Some(candidate)
}

/// What is modelled is never the answer: why, and which limits it would break.
fn why_not(candidate: &Candidate, constraints: &Constraints) -> String {
    let ratio = match &candidate.ratio_of {
        Some(codec) => format!("; ratio of {codec}"),
        None => String::new(),
    };
    let verdict = judge(constraints, bounded(candidate));
    let broken = match verdict.kept {
        Kept::Breaks => format!("; {}", verdict.why),
        Kept::Keeps | Kept::MayBreak | Kept::Open => String::new(),
    };
    format!("modelled from published figures{ratio}{broken}")
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn a_codec_stands_for_the_algorithm_that_it_has() {
        assert_eq!(level("deflate-libdeflate:6", "deflate"), Some(6));
        assert_eq!(level("dpzip", "dpzip"), Some(0));
        assert_eq!(level("dpzip:512x4+longest+lazy", "dpzip"), None);
        assert_eq!(level("zstd:-5", "zstd"), None);
        assert_eq!(level("deflate-zlib:0", "deflate"), None);
        assert_eq!(level("lz4hc:9", "lz4"), None);
    }
}
