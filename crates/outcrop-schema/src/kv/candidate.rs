//! What a cell is as a candidate for where to compress: in what candidates differ, which figures count, and what they have to meet.
//!
//! The lab follows doubt by it while it measures, and the report answers by it.

use std::collections::BTreeMap;

use outcrop_measure::Metric;
use outcrop_measure::race::{Contender, Rules, Stop};
use outcrop_measure::units::{format_nanoseconds, format_ratio};
use outcrop_workload::Arrival;
use outcrop_workload::filesystem::FileCompression;
use outcrop_workload::store::{LevelCodecs, StoreCodec};
use serde::Serialize;

use super::{
    ARRIVAL, BOTTOMMOST, COMPRESSION, COMPRESSION_BLOCK_SIZE, CPU, FILESYSTEM, KERNEL_THREADS_CPU,
    LEVEL_CODECS, LOG_BYTES, READ_LATENCY, STORED_BYTES, THROUGHPUT,
};
use crate::factor::FactorRef;
use crate::settings::Settings;

/// A throughput lower by at most this share counts as the same.
pub const MARGIN: f64 = 0.05;
/// Space that differs by less counts as the same.
pub const SAME_SPACE: f64 = 0.02;
/// Where the store's log, which its codecs do not compress, is a larger share of the space, that share falls with more records and the ratio
/// rises.
pub const LOG_MATTERS: f64 = 0.10;

/// In what the candidates of one answer differ.
pub static IN_WHAT_CANDIDATES_DIFFER: [FactorRef; 3] = [&COMPRESSION, &COMPRESSION_BLOCK_SIZE, &FILESYSTEM];

/// What the answer has to meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Constraints {
    /// Least ratio of the space without compression to that with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ratio: Option<f64>,
    /// Highest 99th percentile of a read, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// Largest share of the machine's CPUs, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
}

impl Constraints {
    /// Their names in an expanded plan.
    pub const KEYS: [&'static str; 3] = ["min_ratio", "p99_ns", "cpu_share"];

    /// The constraints whose values a plan gives by name.
    pub fn named(value_of: impl Fn(&str) -> Option<f64>) -> Self {
        let [min_ratio, p99_ns, cpu_share] = Self::KEYS.map(value_of);
        Self {
            min_ratio,
            p99_ns,
            cpu_share,
        }
    }

    /// The values by name that are given.
    pub fn by_name(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let values = [self.min_ratio, self.p99_ns, self.cpu_share];
        let named = Self::KEYS.into_iter().zip(values);
        named.filter_map(|(key, value)| Some((key, value?)))
    }

    /// The rules of a race under these constraints.
    pub fn rules(&self) -> Rules {
        Rules {
            margin: MARGIN,
            same_saving: SAME_SPACE,
            least_saving: self.min_ratio,
            limits: [self.p99_ns, self.cpu_share].into_iter().flatten().collect(),
        }
    }

    /// Why a candidate gets no more trials, in words that follow its name and a colon.
    pub fn reason(&self, stop: &Stop, name_of: impl Fn(usize) -> String) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match *stop {
            Stop::NotMeasured => "could not be measured here".to_owned(),
            Stop::SavesTooLittle { saving } => format!("its ratio of {} is too low", format_ratio(saving)),
            Stop::BreaksLimit { limit: 0, at_least } if self.p99_ns.is_some() => {
                format!(
                    "breaks the limit on p99: at least {}",
                    format_nanoseconds(at_least)
                )
            }
            Stop::BreaksLimit { at_least, .. } => {
                format!(
                    "breaks the limit on the CPU share: at least {}",
                    percent(at_least)
                )
            }
            Stop::TooSlow { than, at_most } => format!(
                "cannot be best: throughput at most {} of that of {}",
                percent(at_most),
                name_of(than)
            ),
            Stop::SavesLess { than, at_most } if at_most > 1.0 => format!(
                "cannot be best: at most {} faster than {}, which takes less space",
                percent(at_most - 1.0),
                name_of(than)
            ),
            Stop::SavesLess { than, .. } => {
                format!(
                    "cannot be best: slower than {}, which takes less space",
                    name_of(than)
                )
            }
        }
    }
}

/// What one trial says of a candidate; `None` where it did not give the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Operations per second.
    pub throughput: Option<f64>,
    /// Bytes on the filesystem once the load has settled: at the end there is also what the run wrote, which is more the faster it was.
    pub stored: Option<f64>,
    /// The same without the store's log, where that is much of it.
    pub stored_without_log: Option<f64>,
    /// 99th percentile of a read, in nanoseconds.
    pub p99_ns: Option<f64>,
    /// Share of the machine's CPUs that were busy.
    pub cpu_share: Option<f64>,
}

impl Figures {
    /// The figures of a trial whose metrics `value` gives, on so many CPUs.
    pub fn of(factors: &Settings, value: impl Fn(&Metric) -> Option<f64>, cpus: Option<u64>) -> Self {
        let throughput = value(&THROUGHPUT);
        let own = value(&CPU);
        let cpu = match value(&KERNEL_THREADS_CPU) {
            None if is_compressed_by_filesystem(factors) => None,
            None => own,
            // The kernel's threads are those of the whole machine: where they outweigh the processes, something else ran.
            Some(kernel) => own.filter(|own| kernel <= *own).map(|own| own + kernel),
        };
        let share = |cpu: f64| Some(cpu * throughput? / 1e9 / cpus? as f64);
        let stored = value(&STORED_BYTES);
        // Below a filesystem that compresses, the log takes less than the sizes of its files say.
        let log = value(&LOG_BYTES).filter(|_| !is_compressed_by_filesystem(factors));
        let without_log = stored
            .zip(log)
            .filter(|(stored, log)| *log > LOG_MATTERS * stored);
        Self {
            throughput,
            stored,
            stored_without_log: without_log.map(|(stored, log)| stored - log),
            p99_ns: value(&READ_LATENCY.p99),
            cpu_share: cpu.and_then(share),
        }
    }
}

/// Whether a cell of these factors can be a candidate at all: one in a closed loop whose codec is known.
pub fn is_candidate(factors: &Settings) -> bool {
    factors.get(&ARRIVAL) == Some(&Arrival::Closed) && factors.get(&COMPRESSION).is_some()
}

/// Whether neither the store nor a filesystem that was made for it compresses.
pub fn is_plain(factors: &Settings) -> bool {
    is_stored_plain(factors) && !is_compressed_by_filesystem(factors)
}

/// Whether a store that could compress its blocks does so in none of its levels.
pub fn is_stored_plain(factors: &Settings) -> bool {
    let levels = factors.get(&LEVEL_CODECS).map_or(&[][..], LevelCodecs::codecs);
    let own = factors.get(&COMPRESSION).map(|compression| compression.codec);
    let bottommost = factors.get(&BOTTOMMOST).map(|compression| compression.codec);
    // Where levels have codecs, they are used in the place of the one for all.
    let all = levels.iter().copied().chain(own.filter(|_| levels.is_empty()));
    own.is_some() && all.chain(bottommost).all(|codec| codec == StoreCodec::None)
}

fn is_compressed_by_filesystem(factors: &Settings) -> bool {
    let filesystem = factors.get(&FILESYSTEM).and_then(|filesystem| filesystem.0);
    let compression = filesystem.and_then(|filesystem| filesystem.compression);
    compression.is_some_and(FileCompression::is_on)
}

/// A candidate in a race, from the figures of its trials by repetition.
pub fn contender(is_plain: bool, constraints: &Constraints, trials: &BTreeMap<u32, Figures>) -> Contender {
    let rounds = trials.last_key_value().map_or(0, |(last, _)| last + 1);
    let by_round = |figure: &dyn Fn(&Figures) -> Option<f64>| {
        let of_round = |round| trials.get(&round).and_then(figure);
        (0..rounds).map(of_round).collect::<Vec<_>>()
    };
    let limited = [
        constraints.p99_ns.map(|_| by_round(&|trial| trial.p99_ns)),
        constraints.cpu_share.map(|_| by_round(&|trial| trial.cpu_share)),
    ];
    Contender {
        throughput: by_round(&|trial| trial.throughput),
        stored: by_round(&|trial| trial.stored),
        least_stored: by_round(&|trial| trial.stored_without_log.or(trial.stored)),
        limited: limited.into_iter().flatten().collect(),
        is_plain,
    }
}
