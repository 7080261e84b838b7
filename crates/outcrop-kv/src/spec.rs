//! What a trial of an engine is asked to do.

use std::time::Duration;

use bytes::Bytes;
use outcrop_measure::Seed;
use outcrop_measure::units::format_bytes;
use outcrop_workload::keyed::{OperationKind, RequestDistribution, StoreWorkload, ValueSize};
use outcrop_workload::store::{Settling, StoreEngine};
use outcrop_workload::{Arrival, Content};
use serde::{Deserialize, Serialize};

use crate::engine;
use crate::error::KvError;
use crate::store::StoreOptions;

/// Where the bytes of values come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ValueSource {
    /// Generated.
    Content(Content),
    /// Cut from a user's bytes, which were read before.
    CutFrom(
        /// Too many for a message: the processes share a file in memory.
        #[serde(skip)]
        Bytes,
    ),
}

/// What happens to our files in the page cache before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageCache {
    /// They are written to the device and dropped.
    Dropped,
    /// They are written to the device and stay.
    Kept,
}

/// One trial: databases of one engine, loaded, settled and run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KvSpec {
    /// The engine and its options.
    pub options: StoreOptions,
    /// What is asked.
    pub workload: StoreWorkload,
    /// Of which keys.
    pub requests: RequestDistribution,
    /// Records that are loaded into each database.
    pub records: u64,
    /// How long values are.
    pub value_size: ValueSize,
    /// What they contain.
    pub values: ValueSource,
    /// Threads of each process.
    pub threads: u32,
    /// Processes, each with its own database.
    pub processes: u32,
    /// When operations are due; the rate is that of all processes together.
    pub arrival: Arrival,
    /// What happens between load and run.
    pub settling: Settling,
    /// And to the page cache.
    pub page_cache: PageCache,
    /// Most memory of a process, its page cache included.
    pub memory_limit_bytes: Option<u64>,
    /// Time under load before measuring.
    pub warm_up: Duration,
    /// Time measured.
    pub duration: Duration,
    /// Length of the windows that histograms are kept by.
    pub interval: Duration,
    /// Every random choice derives from it.
    pub seed: Seed,
}

/// More would exceed the descriptors and the memory of any machine that this is tried on.
pub(crate) const MOST_PROCESSES: u32 = 1024;
const MOST_THREADS: u32 = 1024;
const MOST_RECORDS: u64 = 1 << 40;
/// What a server keeps with a record: its key, pointers and lengths, and its share of the index.
const RECORD_OVERHEAD_BYTES: f64 = 120.0;
/// Sizes are rounded up to classes, and an index that grows is there twice for a while.
const MEMORY_MARGIN: f64 = 2.0;
/// What a server has for itself, and for the first record of each size.
const LEAST_SERVER_MEMORY_BYTES: u64 = 128 << 20;
/// An engine does not start with less.
const LEAST_MEMORY_BYTES: u64 = 16 << 20;

impl KvSpec {
    /// YCSB A on 100,000 records of 1000 B that are compressible by half: one thread, one process, closed loop, 5 s.
    pub fn of(engine: StoreEngine, seed: Seed) -> Self {
        let workload = StoreWorkload::Ycsb(outcrop_workload::keyed::YcsbCore::A);
        Self {
            options: StoreOptions::of(engine),
            workload,
            requests: workload.requests(),
            records: 100_000,
            value_size: workload.value_size(),
            values: ValueSource::Content(Content::Compressible { ratio: 2.0 }),
            threads: 1,
            processes: 1,
            arrival: Arrival::Closed,
            settling: Settling::Compacted,
            page_cache: PageCache::Dropped,
            memory_limit_bytes: None,
            warm_up: Duration::from_millis(500),
            duration: Duration::from_secs(5),
            interval: Duration::from_secs(1),
            seed,
        }
    }

    /// Checks what can be judged without the engine.
    ///
    /// # Errors
    /// [`KvError::Spec`] with the field, the value seen and what is accepted.
    pub fn validate(&self) -> Result<(), KvError> {
        for (field, seen, most) in [
            ("threads", u64::from(self.threads), u64::from(MOST_THREADS)),
            ("processes", u64::from(self.processes), u64::from(MOST_PROCESSES)),
            ("records", self.records, MOST_RECORDS),
        ] {
            if seen == 0 || seen > most {
                return Err(KvError::spec(field, seen, format!("1 to {most}")));
            }
        }
        for (field, span) in [("duration", self.duration), ("interval", self.interval)] {
            if span.is_zero() {
                return Err(KvError::spec(field, "0s", "more than zero"));
            }
        }
        if let Some(limit) = self
            .memory_limit_bytes
            .filter(|limit| *limit < LEAST_MEMORY_BYTES)
        {
            let seen = format_bytes(limit);
            return Err(KvError::spec("memory_limit", seen, "16 MiB or more"));
        }
        if self.workload.mix().has(OperationKind::Scan) {
            engine::check_scans(self.options.engine)?;
        }
        engine::check_value_size(self.options.engine, self.value_size.longest_bytes())?;
        engine::check(&self.options)
    }

    /// The options with what an engine that keeps all records in memory gets of it.
    ///
    /// # Errors
    /// [`KvError::Condition`] where the machine does not have it.
    pub(crate) fn opened(&self) -> Result<StoreOptions, KvError> {
        let mut options = self.options.clone();
        let needed = self.records_in_memory_bytes();
        let Some(needed) = needed.filter(|_| options.memory_bytes.is_none()) else {
            return Ok(options);
        };
        let all = needed.saturating_mul(self.processes.into());
        if let Ok(available) = outcrop_probe::memory::available_bytes()
            && all > available
        {
            return Err(KvError::Condition {
                why: format!(
                    "{} keeps all records in memory and needs about {} for them, but {} are available; give fewer records",
                    options.engine,
                    format_bytes(all),
                    format_bytes(available)
                ),
            });
        }
        let likely = self.memory_of_records(MEMORY_MARGIN) + LEAST_SERVER_MEMORY_BYTES;
        options.memory_bytes = Some(likely.min(self.memory_limit_bytes.unwrap_or(u64::MAX)));
        Ok(options)
    }

    /// Memory that the records of one database need, where the engine keeps all of them there.
    pub fn records_in_memory_bytes(&self) -> Option<u64> {
        engine::keeps_records_in_memory(self.options.engine).then(|| self.memory_of_records(1.0))
    }

    /// Memory for the records of one database, those that may be inserted included, times a margin.
    fn memory_of_records(&self, margin: f64) -> u64 {
        const SAMPLES: u32 = 1000;
        let quantiles = (0..SAMPLES).map(|sample| (f64::from(sample) + 0.5) / f64::from(SAMPLES));
        let mean: f64 = quantiles.map(|at| self.value_size.quantile(at)).sum::<f64>() / f64::from(SAMPLES);
        // A round trip over a socket takes a thread more than ten microseconds.
        let operations = self.most_operations() / 4.0;
        let inserted = operations * self.workload.mix().share(OperationKind::Insert);
        ((self.records as f64 + inserted) * (mean + RECORD_OVERHEAD_BYTES) * margin) as u64
    }

    /// Operations for which a process leaves room among the keys that requests are drawn from, where it inserts.
    ///
    /// YCSB is told how many operations a run will do; a run that is bounded by time does not know. So it is what an engine in memory does, but
    /// no more than double the records: else hardly a key that is drawn is there, on a slow engine or in a long run.
    pub(crate) fn expected_operations(&self) -> u64 {
        let insert_share = self.workload.mix().share(OperationKind::Insert);
        let doubling = self.records as f64 / (insert_share * YCSB_ROOM);
        self.most_operations().min(doubling) as u64
    }

    /// Operations that a process can do in its run at the most.
    fn most_operations(&self) -> f64 {
        let mix = self.workload.mix();
        let kinds = OperationKind::ALL.into_iter();
        let operation_ns: f64 = kinds.map(|kind| mix.share(kind) * quick_ns(kind)).sum();
        let seconds = (self.warm_up + self.duration).as_secs_f64();
        let closed = seconds * 1e9 / operation_ns * f64::from(self.threads.min(8));
        let offered = self
            .arrival
            .per_second()
            .map(|rate| rate.per_second() * seconds / f64::from(self.processes));
        offered.unwrap_or(closed).min(closed) + 1.0
    }
}

/// What YCSB multiplies the expected inserts by.
const YCSB_ROOM: f64 = 2.0;

/// Time of an operation of an embedded engine whose records are all in memory.
const fn quick_ns(kind: OperationKind) -> f64 {
    match kind {
        OperationKind::Read | OperationKind::Update | OperationKind::Insert => 2_500.0,
        OperationKind::ReadModifyWrite => 5_000.0,
        // Fifty records in the mean.
        OperationKind::Scan => 50_000.0,
    }
}

#[cfg(test)]
mod tests {
    use outcrop_workload::keyed::ycsb::ScrambledZipfian;

    use super::*;

    #[test]
    fn of_the_keys_that_requests_are_drawn_from_at_least_half_are_there_from_the_start() {
        let records = 20_000;
        for workload in ["ycsb-e", "read:95,insert:5", "read:50,insert:50"] {
            let workload: StoreWorkload = workload.parse().unwrap();
            let spaces = [1, 10_000].map(|seconds| {
                let spec = KvSpec {
                    workload,
                    records,
                    threads: 8,
                    duration: Duration::from_secs(seconds),
                    ..KvSpec::of(StoreEngine::Fjall, Seed(1))
                };
                let share = workload.mix().share(OperationKind::Insert);
                ScrambledZipfian::key_count(records, spec.expected_operations(), share)
            });
            assert!(spaces[0] > records, "{workload}: {spaces:?}");
            assert!(spaces[0] <= spaces[1], "{workload}: {spaces:?}");
            assert!(spaces[1] <= 2 * records + 1, "{workload}: {spaces:?}");
        }
    }

    #[test]
    fn a_short_run_of_scans_leaves_room_for_twice_the_inserts_that_scans_leave_time_for() {
        let workload: StoreWorkload = "ycsb-e".parse().unwrap();
        let spec = KvSpec {
            workload,
            records: 20_000,
            warm_up: Duration::from_millis(200),
            duration: Duration::from_secs(1),
            ..KvSpec::of(StoreEngine::Fjall, Seed(1))
        };
        // 21,000 operations per second, of which 5 % insert.
        let share = workload.mix().share(OperationKind::Insert);
        let space = ScrambledZipfian::key_count(spec.records, spec.expected_operations(), share);
        assert!((22_400..22_600).contains(&space), "{space}");
    }
}
