//! Published hardware under the load of a store, modelled from the store's figures without compression.

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_measure::units::format_bytes;
use outcrop_predict::{
    Application, CHECKED_ON, Case, Component, Coverage, Curve, ModelError, PUBLISHED, Place, Split, Study,
    components,
};
use outcrop_results::RunView;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO, LIBRARY_MARK};
use outcrop_schema::filesystem;
use outcrop_schema::kv::{Constraints, ENGINE, THROUGHPUT};
use outcrop_workload::store::StoreEngine;

use super::bounds::{Bounded, Figure, Kept, Verdict, judge};
use super::candidate::{Candidate, CompressedAt};
use super::limits::{Limits, asked};
use super::predictions::Predictions;
use super::{files, system};
use crate::cell::Cell;
use crate::change::percent as changed;
use crate::command::{Commands, to_fill_in};
use crate::layer::cells_of;
use crate::number::Number;
use crate::ties;

/// A drive that compresses does it page by page, whatever the blocks of the store are.
const DRIVE_PAGE_BYTES: f64 = 4096.0;

/// Where fewer of a store's blocks than this came from the device, a drive is hardly asked.
const FEW_READS: f64 = 0.01;

/// Said wherever a drive stands with a ratio.
pub(crate) const DRIVE_CAPACITY: &str =
    "the space that a drive saves is usable only if the drive exposes it as capacity";

/// Published hardware under the load of a store, with the error that the model has on this machine.
#[derive(Default)]
pub(super) struct Modelled {
    /// The fastest first.
    pub(super) candidates: Vec<Candidate>,
    /// What cannot be modelled, and why, as sentences.
    pub(super) unavailable: Vec<String>,
    pub(super) error: ModelError,
    /// The model's error on published hardware.
    published: ModelError,
    /// Whether memory answered the reads that a drive would have decompressed.
    is_read_from_memory: bool,
    /// How many measured values lie within the intervals that this error gives.
    pub(super) coverage: Option<Coverage>,
}

impl Modelled {
    /// The fastest that breaks no limit by the figures that are known of it.
    pub(super) fn fastest(&self, constraints: &Constraints) -> Option<&Candidate> {
        let mut candidates = self.candidates.iter();
        candidates.find(|candidate| judge(constraints, bounded(candidate)).kept != Kept::Breaks)
    }

    /// That there is no model, in a few words; none where there is one.
    pub(super) fn none_in_short(&self) -> Option<String> {
        let is_none = self.candidates.is_empty() && !self.unavailable.is_empty();
        is_none.then(|| "Hardware is not modelled (the report says why).".to_owned())
    }

    /// The fastest within the limits: what it would do, what limits it, and how far the model is to be trusted here. None where nothing is modelled.
    pub(super) fn sentence(&self, best: &Candidate, limits: &Limits, commands: &Commands) -> Option<String> {
        let unavailable = self.unavailable.iter().map(|sentence| format!(" {sentence}"));
        let unavailable = unavailable.collect::<String>();
        let Some(first) = self.candidates.first() else {
            return (!unavailable.is_empty()).then(|| unavailable.trim_start().to_owned());
        };
        let Some(fastest) = self.fastest(&limits.constraints) else {
            return Some(format!(
                "According to the model, none of the published hardware meets the limits; {} would be the fastest.{unavailable}",
                first.what
            ));
        };
        let ratio = fastest.ratio.as_ref().zip(fastest.ratio_of.as_ref());
        let ratio = ratio.map_or_else(String::new, |(ratio, codec)| {
            let capacity = match fastest.place {
                CompressedAt::Drive => format!("; {DRIVE_CAPACITY}"),
                _ => String::new(),
            };
            format!(" Its blocks would have ratio {ratio}, that of {codec} on these data{capacity}.")
        });
        let idle = match fastest.place {
            CompressedAt::Drive if self.is_read_from_memory => {
                " Reads came from memory here, so a drive had next to nothing to decompress: its throughput says little about the drive."
            }
            _ => "",
        };
        let others = self
            .candidates
            .iter()
            .filter(|other| !std::ptr::eq(*other, fastest));
        let ties = ties::among(&fastest.throughput, others.map(|other| Some(&other.throughput)));
        Some(format!(
            "Of the published hardware, {} would be the fastest: throughput {}{ties}, {}, limited by {}.{idle}{ratio}{} That is modelled; {}.{unavailable}",
            fastest.what,
            fastest.throughput.with_ends(),
            compared(fastest, best),
            fastest.limited_by.unwrap_or_default(),
            unknown(fastest, &limits.constraints),
            self.trust(commands)
        ))
    }

    /// How wrong the model was where it was checked, or what would check it.
    fn trust(&self, commands: &Commands) -> String {
        let here = match (self.error.mean(), self.error.worst()) {
            (Some(mean), Some(worst)) => {
                let coverage = self
                    .coverage
                    .map_or_else(String::new, |known| format!(", and {known}"));
                format!(
                    "the model was {:.0} % off on average and {:.0} % at worst in {} checks here{coverage}",
                    mean * 100.0,
                    worst * 100.0,
                    self.error.checked().len()
                )
            }
            _ => {
                let command = system::checking(commands);
                format!(
                    "unvalidated in this run: `{command}` measures stores and codecs on the same data, which checks the model{}",
                    to_fill_in(&command)
                )
            }
        };
        let (Some(mean), Some(worst)) = (self.published.mean(), self.published.worst()) else {
            return here;
        };
        format!(
            "{here}; on published hardware it was {:.0} % off on average and {:.0} % at worst in {} checks of {CHECKED_ON}, and the larger error \
             sets the interval",
            mean * 100.0,
            worst * 100.0,
            self.published.checked().len()
        )
    }
}

/// `−12 % compared with the answer`.
fn compared(candidate: &Candidate, best: &Candidate) -> String {
    let (own, other) = (candidate.throughput.value, best.throughput.value);
    let is_tie = ties::are_tied(&candidate.throughput, &best.throughput)
        || candidate
            .throughput
            .interval
            .is_some_and(|interval| interval.contains(other));
    // What would be printed as 0 % has no sign.
    match (own / other - 1.0).abs() < 0.005 {
        true => "the same as the answer".to_owned(),
        false if is_tie => format!("a tie with the answer ({})", changed(own, other)),
        false => format!("{} compared with the answer", changed(own, other)),
    }
}

/// Which limits it cannot be said to keep, as a sentence with a blank before it; empty where all that they bound is known.
fn unknown(candidate: &Candidate, constraints: &Constraints) -> String {
    let limits = not_known(constraints, bounded(candidate));
    let names = [
        ("ratio", limits.min_ratio),
        ("p99", limits.p99_ns),
        ("CPU share", limits.cpu_share),
    ];
    let names = names.into_iter().filter(|(_, limit)| limit.is_some());
    let names: Vec<&str> = names.map(|(name, _)| name).collect();
    let (verb, flags) = match names.len() {
        0 => return String::new(),
        1 => ("is", asked(&limits).concat()),
        _ => ("are", asked(&limits).join(" and ")),
    };
    format!(
        " Its {} {verb} unknown, so it may or may not meet {flags}.",
        names.join(" and ")
    )
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

/// The limits on what is not known of something: none of them can be said to be kept.
pub(super) fn not_known(constraints: &Constraints, bounded: Bounded) -> Constraints {
    let on_unknown = |limit: Option<f64>, figure: Figure| limit.filter(|_| figure == Figure::Unknown);
    Constraints {
        min_ratio: on_unknown(constraints.min_ratio, bounded.ratio),
        p99_ns: on_unknown(constraints.p99_ns, bounded.p99),
        cpu_share: on_unknown(constraints.cpu_share, bounded.cpu_share),
    }
}

/// What the store would do with published hardware on a machine with this many CPUs, from the figures of the cell that everything is compared
/// with; with the error that the run's predictions have.
pub(super) fn modelled(
    run: &RunView,
    base: Option<&Cell<'_>>,
    constraints: &Constraints,
    cpus: Option<u64>,
    predictions: Option<&Predictions<'_>>,
) -> Modelled {
    let Some(plain) = base else {
        return Modelled::default();
    };
    let views = run.cells();
    let wake_ns = files::wake_time(&cells_of(&filesystem::SCHEMA, &views));
    let Some(application) = system::application(plain, cpus, wake_ns) else {
        let engine = plain.label(&[&ENGINE]);
        let other = match plain.is(&ENGINE, &StoreEngine::RocksDb) {
            true => "",
            false => {
                "; RocksDB does: use `outcrop kv` with `--engine rocksdb`, or set `engine` in a plan of your own (`outcrop plans`)"
            }
        };
        return Modelled {
            unavailable: vec![format!(
                "Hardware is not modelled: {engine} does not count all blocks that it reads and writes per operation, which a prediction needs{other}."
            )],
            ..Modelled::default()
        };
    };
    let Ok((mut hardware, _)) = components(PUBLISHED[0].2) else {
        return Modelled::default();
    };
    // Codecs on CPUs run here: they are measured, not modelled.
    hardware.retain(|component| component.place != Place::Cpu);
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
    let checked = predictions.map(|predictions| &predictions.all);
    let error = checked.map(|study| study.error.clone()).unwrap_or_default();
    let coverage = checked.and_then(Study::coverage);
    let is_read_from_memory = is_read_from_memory(&application);
    let applications = [application];
    let Ok(study) = Study::of(&applications, &hardware, &[]) else {
        return Modelled::default();
    };
    let candidate = |case: &Case<'_>| {
        let component = case.component?;
        let index = hardware.iter().position(|own| own.name == component.name)?;
        let published = study.published.without(component.left_out_with());
        let error = error.clone().or_larger(published);
        candidate_of(case, component, ratios[index].as_ref(), &error, constraints)
    };
    let mut candidates: Vec<Candidate> = study.cases.iter().filter_map(candidate).collect();
    candidates.sort_by(|one, other| other.throughput.value.total_cmp(&one.throughput.value));
    let missing = |case: &Case<'_>| {
        let missing = case.outcome.as_ref().err()?.missing.join("; ");
        Some(format!(
            "{} cannot be modelled; missing: {missing}.",
            case.component?.name
        ))
    };
    Modelled {
        unavailable: study.cases.iter().filter_map(missing).collect(),
        candidates,
        error,
        published: study.published.clone(),
        is_read_from_memory,
        coverage,
    }
}

/// Whether next to none of the blocks that a store read came from the device.
fn is_read_from_memory(application: &Application) -> bool {
    let blocks = application.decompressed.map_or(0.0, Split::total);
    let reads = application.device_reads.map(|device| device.requests.total());
    blocks > 0.0 && reads.is_some_and(|reads| reads < FEW_READS * blocks)
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
    let is_of = name == algorithm || name.strip_prefix(algorithm)?.starts_with(['-', LIBRARY_MARK]);
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
            interval,
            no_interval: None,
            n: pairs,
            provenance: Provenance::Modelled,
            is_of_one_trial: false,
            is_of_sample: false,
        },
        p99: None,
        stored: None,
        log_share: None,
        ratio: known.map(|known| known.ratio.clone()),
        ratio_without_log: None,
        ratio_of: known.map(|known| known.of.clone()),
        cpu: None,
        own_cpu: None,
        energy: None,
        // What is known of it may be too much already.
        cpu_share: found.cpu_share.or_else(|| {
            let least = found.least_cpu_share?;
            constraints
                .cpu_share
                .is_some_and(|most| least > most)
                .then_some(least)
        }),
        cpu_share_interval: None,
        on_front: false,
        on_front_with_costs: false,
        others_share: None,
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
        Kept::Keeps => String::new(),
        Kept::MayBreak | Kept::Open | Kept::Breaks => format!("; {}", verdict.why),
    };
    format!("modelled from published figures{ratio}{broken}")
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn a_codec_stands_for_the_algorithm_that_it_has() {
        assert_eq!(level("deflate-libdeflate:6", "deflate"), Some(6));
        assert_eq!(level("deflate-zlib@system:6", "deflate"), Some(6));
        assert_eq!(level("zstd@system:1", "zstd"), Some(1));
        assert_eq!(level("dpzip", "dpzip"), Some(0));
        assert_eq!(level("dpzip:512x4+longest+lazy", "dpzip"), None);
        assert_eq!(level("zstd:-5", "zstd"), None);
        assert_eq!(level("deflate-zlib:0", "deflate"), None);
        assert_eq!(level("lz4hc:9", "lz4"), None);
    }
}
