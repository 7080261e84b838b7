//! What could compress the data of one store under one load, with what it gives and costs.

use std::cmp::Ordering;

use outcrop_measure::Interval;
use outcrop_measure::interval::{Summary, summarise};
use outcrop_measure::metric::{Metric, Unit};
use outcrop_results::TrialEntry;
use outcrop_schema::kv::{
    self, ARRIVAL, COMPRESSED_BELOW, COMPRESSION, COMPRESSION_BLOCK_SIZE, COMPRESSION_UNKNOWN, CPU,
    Constraints, ENERGY, FILESYSTEM, Figures, IN_WHAT_CANDIDATES_DIFFER, KERNEL_THREADS_CPU, PAGE_CACHE,
    PageCache, READ_LATENCY, STORED_BYTES, THROUGHPUT,
};
use outcrop_workload::Arrival;
use serde::Serialize;

use super::bounds::{Bounded, Figure, Kept, Verdict, judge};
use super::doubt;
use super::subject::engine;
use crate::cell::{Cell, families};
use crate::disturbed::others_share;
use crate::layer::kv::{
    codec, has_speed_and_space, is_compressed, is_on_compression, log_share, share, takes_of, without_log,
};
use crate::number::Number;

/// Where the data are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompressedAt {
    /// Nowhere.
    Nowhere,
    /// In the store's own blocks.
    Store,
    /// In the filesystem below the store.
    Filesystem,
    /// In an accelerator that the store hands its blocks to.
    Accelerator,
    /// In the drive.
    Drive,
}

impl CompressedAt {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "nowhere",
            Self::Store => "store",
            Self::Filesystem => outcrop_schema::filesystem::SCHEMA.name,
            Self::Accelerator => "accelerator",
            Self::Drive => "drive",
        }
    }
}

/// One way to compress, or not to.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// Where.
    pub place: CompressedAt,
    /// With what, in which blocks: `lz4, blocks of 16 KiB`.
    pub what: String,
    /// Operations per second.
    pub throughput: Number,
    /// 99th percentile of a read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Number>,
    /// Bytes on the filesystem once the load has settled, metadata and log included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Number>,
    /// The part of them that is the store's log, which the store does not compress; none where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_share: Option<f64>,
    /// Bytes on the filesystem of the candidate without compression over its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Number>,
    /// The same without the store's log, where that is much of the space: of more records it has less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_without_log: Option<f64>,
    /// Whose ratio stands for that of a modelled one: `dpzip in blocks of 4 KiB`. It is that of the blocks alone, without log, index and metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_of: Option<String>,
    /// CPU time of an operation, the kernel's threads included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Number>,
    /// The same without the kernel's threads, as the tables of the layer have it.
    #[serde(skip)]
    pub(crate) own_cpu: Option<Number>,
    /// Share of the machine's CPUs that it keeps busy, the kernel's threads included: records have another `cpu_share`, without them.
    #[serde(
        rename = "cpu_share_with_kernel_threads",
        skip_serializing_if = "Option::is_none"
    )]
    pub cpu_share: Option<f64>,
    /// The interval of that share over trials.
    #[serde(skip)]
    pub(crate) cpu_share_interval: Option<Interval>,
    /// Energy of an operation, where there is a counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<Number>,
    /// Whether no other candidate that was measured is at least as good in throughput and space, and better in one of them.
    pub on_front: bool,
    /// The same with CPU time and energy counted: none is at least as good in all that is known, and better in something.
    pub on_front_with_costs: bool,
    /// Which constraint it breaks, or what is not known about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Whether it may keep the constraints although it is left out: what would show that was not measured, or is not certain.
    pub may_keep: bool,
    /// How it stands to the constraints.
    #[serde(skip)]
    pub(crate) verdict: Verdict,
    /// The share of the CPUs that other programs used while it was measured; none where that is not recorded.
    #[serde(skip)]
    pub(crate) others_share: Option<f64>,
    /// Why it got no more trials, where effort followed doubt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Identifier of its cell; empty for a modelled one.
    #[serde(skip)]
    pub cell: String,
    /// What limits it, of a modelled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<String>,
    /// The same in words.
    #[serde(skip)]
    pub(crate) limited_by: Option<&'static str>,
}

impl Candidate {
    /// Takes down how it stands to the constraints.
    pub(super) fn judge(&mut self, constraints: &Constraints) {
        let ratio = match self.place {
            CompressedAt::Nowhere => Figure::exact(1.0),
            _ => Figure::of(self.ratio.as_ref()),
        };
        let bounded = Bounded {
            ratio,
            ratio_without_log: self.ratio_without_log,
            p99: Figure::of(self.p99.as_ref()),
            cpu_share: Figure::of_value(self.cpu_share, self.cpu_share_interval),
        };
        self.verdict = judge(constraints, bounded);
        self.may_keep = self.verdict.kept == Kept::Open;
        self.left_out = (!self.verdict.is_kept()).then(|| self.verdict.why.clone());
    }

    /// Whether it compresses nothing.
    pub(super) fn is_plain(&self) -> bool {
        self.place == CompressedAt::Nowhere
    }

    /// CPU time of an operation as sentences have it, with what it is called. Where a filesystem compresses, here or in what it is compared with,
    /// that is work of the kernel's threads, which count then; else it is that of the tables.
    pub(super) fn told_cpu(&self, beside: Option<&Self>) -> (&'static str, Option<&Number>) {
        let is_of_kernel = |one: &Self| one.place == CompressedAt::Filesystem;
        match is_of_kernel(self) || beside.is_some_and(is_of_kernel) {
            true => ("CPU time per operation with kernel threads", self.cpu.as_ref()),
            false => ("CPU time per operation", self.own_cpu.as_ref()),
        }
    }

    /// Its share of the space without compression: `54 %`; none where it is not known.
    pub(crate) fn space(&self) -> Option<String> {
        self.ratio.as_ref().map(|ratio| share(ratio.value))
    }

    /// `takes 36 % of the space`, and where the log is much of it: `(20 % without the store's log)`.
    pub(super) fn takes(&self) -> String {
        self.takes_of("the space")
    }

    /// The same of the space without compression.
    pub(super) fn takes_of_plain(&self) -> String {
        self.takes_of("the space without compression")
    }

    fn takes_of(&self, what: &str) -> String {
        takes_of(
            what,
            self.ratio.as_ref().map_or(1.0, |ratio| ratio.value),
            self.ratio_without_log,
        )
    }

    /// Where and with what: `store: lz4, blocks of 16 KiB`.
    pub fn name(&self) -> String {
        match self.place {
            CompressedAt::Nowhere => "no compression".to_owned(),
            place => format!("{}: {}", place.name(), self.what),
        }
    }
}

/// The cells of one store under one load that differ in nothing but how they compress: of several stores, of the one that says most.
pub(super) fn family<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<Vec<&'c Cell<'a>>> {
    let stores = of_each_store(cells).into_iter();
    // The first of equals.
    stores.reduce(|most, next| match Weight::of(&next).exceeds(&Weight::of(&most)) {
        Some(_) => next,
        None => most,
    })
}

/// What one store exceeds another one in, in words that follow its name: the first of these that differs decides.
pub(super) const MORE_CANDIDATES: &str = "has more candidates";
pub(super) const MORE_TRIALS: &str = "has more trials";
pub(super) const FASTER: &str = "has the higher median throughput";

/// How much the cells of a store say: what decides which store an answer is about, where a run has several.
pub(super) struct Weight {
    candidates: usize,
    trials: usize,
    throughput: f64,
}

impl Weight {
    pub(super) fn of(family: &[&Cell<'_>]) -> Self {
        let throughput = family.iter().filter_map(|cell| cell.value(&THROUGHPUT));
        Self {
            candidates: family.len(),
            trials: family.iter().map(|cell| cell.trials().len()).sum(),
            throughput: throughput.fold(0.0, f64::max),
        }
    }

    /// In what a store exceeds another one, in words that follow its name; none where it does not.
    pub(super) fn exceeds(&self, other: &Self) -> Option<&'static str> {
        let by_throughput = self.throughput.total_cmp(&other.throughput);
        match (
            self.candidates.cmp(&other.candidates),
            self.trials.cmp(&other.trials),
        ) {
            (Ordering::Greater, _) => Some(MORE_CANDIDATES),
            (Ordering::Equal, Ordering::Greater) => Some(MORE_TRIALS),
            (Ordering::Equal, Ordering::Equal) if by_throughput.is_gt() => Some(FASTER),
            _ => None,
        }
    }
}

/// Of each store the largest set of cells under one load that differ in nothing but how they compress, unless none of them or all do.
pub(super) fn of_each_store<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<Vec<&'c Cell<'a>>> {
    let is_made = |cell: &Cell<'_>| {
        let filesystem = cell.get(&FILESYSTEM);
        filesystem.is_some_and(|filesystem| filesystem.0.is_some())
    };
    // The space of files and the space in use on a filesystem are not the same quantity.
    let made_only = cells.iter().any(is_made);
    let known = cells.iter().filter(|cell| {
        let is_closed = cell.is(&ARRIVAL, &Arrival::Closed) && cell.get(&COMPRESSION).is_some();
        is_closed && has_speed_and_space(cell) && is_made(cell) == made_only
    });
    let mut families = families(known, &IN_WHAT_CANDIDATES_DIFFER);
    families.retain(|family| {
        // What the directory's own filesystem compresses was meant to be plain; it is said where the answer would be.
        let is_plain = |cell: &&Cell<'_>| kv::is_plain(cell.factors());
        family.iter().any(is_plain) && !family.iter().all(is_plain)
    });
    let mut stores: Vec<Vec<&Cell<'_>>> = Vec::new();
    for family in families {
        match stores.iter_mut().find(|known| engine(known) == engine(&family)) {
            Some(known) if family.len() > known.len() => *known = family,
            Some(_) => {}
            None => stores.push(family),
        }
    }
    stores
}

/// What the directory's own filesystem does with what was meant to be plain, as a clause: it compresses, or does not say whether it does.
pub(crate) fn compressed_below(family: &[&Cell<'_>]) -> Option<String> {
    let state = family.iter().find_map(|cell| cell.remark(&COMPRESSED_BELOW));
    let unknown = || family.iter().find_map(|cell| cell.remark(&COMPRESSION_UNKNOWN));
    let state = state.map(|state| format!("the directory's own filesystem compresses already ({state})"));
    state.or_else(|| unknown().map(str::to_owned))
}

/// What the load leaves out of the comparison, as a sentence with a blank before it.
pub(super) fn condition(family: &[&Cell<'_>]) -> &'static str {
    let is_cached = family.iter().any(|cell| cell.is(&PAGE_CACHE, &PageCache::Kept));
    let has_filesystem = family.iter().any(|cell| place(cell) == CompressedAt::Filesystem);
    if is_cached && has_filesystem {
        " Reads came from memory, where a filesystem keeps its files decompressed: these figures include little of its decompression."
    } else {
        ""
    }
}

pub(super) fn place(cell: &Cell<'_>) -> CompressedAt {
    match is_compressed(cell) {
        true => CompressedAt::Store,
        _ if is_on_compression(cell) => CompressedAt::Filesystem,
        _ => CompressedAt::Nowhere,
    }
}

/// What was measured, the fastest first. Which of them the others are compared with is not chosen yet: [`relate`] gives them their ratios.
pub(super) fn measured(family: &[&Cell<'_>], cpus: Option<u64>) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = family.iter().filter_map(|cell| of(cell, cpus)).collect();
    candidates.sort_by(|one, other| other.throughput.value.total_cmp(&one.throughput.value));
    candidates
}

/// Gives each its ratio to the only one without compression: what one has otherwise. Sentences, table and pictures all take it from here.
pub(super) fn relate(candidates: &mut [Candidate]) {
    let plain = candidates.iter().find(|one| one.is_plain());
    let Some((plain, of_plain)) = plain.and_then(|one| Some((one.stored.clone()?, one.log_share))) else {
        return;
    };
    for candidate in candidates {
        let Some(stored) = &candidate.stored else {
            continue;
        };
        let name = "space without compression ÷ with it";
        if candidate.is_plain() {
            candidate.ratio = Some(Number::derived(name, 1.0, Unit::Ratio, stored.n));
            continue;
        }
        let databases = [(plain.value, of_plain), (stored.value, candidate.log_share)];
        candidate.ratio_without_log = without_log(databases).map(|[plain, own]| plain / own);
        let both = [&plain, stored];
        candidate.ratio = Some(Number::computed(name, Unit::Ratio, &both, |bytes| {
            bytes[0] / bytes[1]
        }));
    }
}

fn of(cell: &Cell<'_>, cpus: Option<u64>) -> Option<Candidate> {
    let throughput = cell.number(&THROUGHPUT)?.clone();
    let place = place(cell);
    let block = cell.shown(&COMPRESSION_BLOCK_SIZE);
    let what = match place {
        CompressedAt::Store => format!("{}, blocks of {block}", codec(cell)),
        CompressedAt::Filesystem => match cell.remark(&COMPRESSED_BELOW) {
            Some(state) => state.to_owned(),
            None => cell.spelling(&FILESYSTEM).to_owned(),
        },
        _ => {
            let is_made = cell.get(&FILESYSTEM).is_some_and(|choice| choice.0.is_some());
            let on = if is_made { cell.spelling(&FILESYSTEM) } else { "" };
            format!("blocks of {block}, {on}")
                .trim_end_matches(", ")
                .to_owned()
        }
    };
    let cpu_share = cpu_share(cell, cpus);
    Some(Candidate {
        log_share: log_share(cell),
        place,
        what,
        p99: cell.number(&READ_LATENCY.p99).cloned(),
        stored: cell.number(&STORED_BYTES).cloned(),
        ratio: None,
        ratio_without_log: None,
        ratio_of: None,
        cpu_share: cpu_share.as_ref().map(|share| share.median),
        cpu_share_interval: cpu_share.and_then(|share| share.interval),
        cpu: cpu(cell, place),
        own_cpu: cell.number(&CPU).cloned(),
        energy: cell.number(&ENERGY).cloned(),
        throughput,
        on_front: false,
        on_front_with_costs: false,
        left_out: None,
        may_keep: false,
        verdict: Verdict::default(),
        others_share: others_share(cell),
        stopped: None,
        cell: doubt::identifier(cell),
        bound_by: None,
        limited_by: None,
    })
}

/// Share of the machine's CPUs that a cell and the kernel's threads keep busy, over its trials; none where CPU time or CPUs are not known.
pub(super) fn cpu_share(cell: &Cell<'_>, cpus: Option<u64>) -> Option<Summary> {
    cpu(cell, place(cell))?;
    // Of each trial: CPU time and throughput of one go together, and their medians may come from two.
    let of_trial = |trial: &&TrialEntry| {
        let own = trial.number(&CPU);
        // Where the kernel's threads outweigh the processes in one trial of many, no more of them counts: something else ran.
        let value = |metric: &Metric| match trial.number(metric).zip(own) {
            Some((kernel, own)) if metric.name == KERNEL_THREADS_CPU.name => Some(kernel.min(own)),
            _ => trial.number(metric),
        };
        Figures::of(cell.factors(), value, cpus).cpu_share
    };
    let shares: Option<Vec<f64>> = cell.trials().iter().map(of_trial).collect();
    summarise(&shares?)
}

/// Why none of the cells has its energy; `None` where one has.
pub(super) fn no_energy(family: &[&Cell<'_>]) -> Option<String> {
    let is_metered = family.iter().any(|cell| cell.number(&ENERGY).is_some());
    let mut reasons = family.iter().filter_map(|cell| cell.unavailable(&ENERGY));
    (!is_metered).then(|| reasons.next().map(str::to_owned)).flatten()
}

/// CPU time of an operation: of the processes and of the kernel's threads, which do the work of a filesystem that compresses.
///
/// Those are of the whole machine: where they outweigh the processes it was something else that ran, and nothing is known.
fn cpu(cell: &Cell<'_>, place: CompressedAt) -> Option<Number> {
    let own = cell.number(&CPU)?;
    match (place, cell.number(&KERNEL_THREADS_CPU)) {
        (CompressedAt::Filesystem, None) => None,
        (_, Some(kernel)) if kernel.value > own.value => None,
        (_, Some(kernel)) => {
            let name = "CPU per operation, with the kernel's threads";
            let sum = |values: &[f64]| values.iter().sum();
            Some(Number::computed(name, own.unit, &[own, kernel], sum))
        }
        (_, None) => Some(own.clone()),
    }
}
