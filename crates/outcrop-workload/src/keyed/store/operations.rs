//! The streams of operations of a load's workers.

use std::ops::Range;

use outcrop_measure::seed::{Generator, Seed};
use rand::Rng;

use super::acknowledged::AcknowledgedKeys;
use super::distribution::{RequestDistribution, RequestDraws};
use super::key_names::KeyNames;
use super::operation::{Operation, OperationKind, OperationMix};
use super::workload::StoreWorkload;
use crate::error::WorkloadError;
use crate::keyed::{mixgraph, ycsb};
use crate::uniform::{uniform_below, uniform_unit};

/// A load of one store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoreLoadSpec {
    /// Operations, keys and scans.
    pub workload: StoreWorkload,
    /// Which keys are asked for; [`StoreWorkload::requests`] is what the workload says itself.
    pub requests: RequestDistribution,
    /// Records that are loaded before: keys `0..records`.
    pub records: u64,
    /// Operations that are expected of all workers together.
    ///
    /// It matters with inserts and `zipfian` alone: keys that are inserted later than was expected are never asked for. Far too
    /// high a number costs draws, since keys that are not there yet are drawn again.
    pub operations: u64,
    /// All streams descend from it.
    pub seed: Seed,
}

/// What the workers of a load share.
#[derive(Debug)]
pub struct StoreLoad {
    mix: OperationMix,
    draws: RequestDraws,
    scans: Scans,
    key_names: KeyNames,
    records: u64,
    acknowledged: AcknowledgedKeys,
    seed: Seed,
}

#[derive(Clone, Copy, Debug)]
enum Scans {
    Uniform,
    Mixgraph,
}

impl StoreLoad {
    /// A load over records that are there. *Cost*: 4 MiB where it inserts.
    ///
    /// # Errors
    /// No record, or too few for mixgraph.
    pub fn new(spec: StoreLoadSpec) -> Result<Self, WorkloadError> {
        if spec.records == 0 {
            return Err(WorkloadError::OutOfRange {
                what: "number of records",
                seen: spec.records.to_string(),
                why: "a store needs at least one record before it is queried".to_owned(),
            });
        }
        let mix = spec.workload.mix();
        let acknowledged = if mix.has(OperationKind::Insert) {
            AcknowledgedKeys::new(spec.records)
        } else {
            AcknowledgedKeys::fixed(spec.records)
        };
        let insert_share = mix.share(OperationKind::Insert);
        Ok(Self {
            mix,
            draws: spec.requests.draws(spec.records, spec.operations, insert_share)?,
            scans: match spec.workload {
                StoreWorkload::Mixgraph => Scans::Mixgraph,
                StoreWorkload::Ycsb(_) | StoreWorkload::Mix(_) => Scans::Uniform,
            },
            key_names: spec.workload.key_names(),
            records: spec.records,
            acknowledged,
            seed: spec.seed,
        })
    }

    /// The keys that a worker loads: together the workers load each once. A `workers` of 0 counts as 1.
    pub fn loaded(&self, worker: u32, workers: u32) -> Range<u64> {
        let bound = |worker: u32| {
            let share = u128::from(self.records) * u128::from(worker) / u128::from(workers.max(1));
            (share as u64).min(self.records)
        };
        bound(worker)..bound(worker.saturating_add(1))
    }

    /// The stream of a worker; two workers have nothing in common but the keys that are inserted.
    pub fn operations(&self, worker: u32) -> Operations<'_> {
        let seed = self.seed.derive("worker").derive_index(u64::from(worker));
        Operations {
            load: self,
            draws: self.draws.clone(),
            kind_draws: seed.derive("operations").rng(),
            key_draws: seed.derive("keys").rng(),
            scan_draws: seed.derive("scan lengths").rng(),
            version: (u64::from(worker) + 1) << VERSION_BITS,
        }
    }

    /// The insert of this key is stored: from now on it may be read. Nothing changes for keys that are acknowledged.
    pub fn acknowledge(&self, key_id: u64) {
        self.acknowledged.acknowledge(key_id);
    }

    /// All keys below this one may be read.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.count()
    }

    /// Appends a key.
    #[inline]
    pub fn write_key(&self, key_id: u64, out: &mut Vec<u8>) {
        self.key_names.write_key(key_id, out);
    }

    /// The number of a key that a scan read; `None` where the bytes of keys are hashes, as in YCSB.
    pub fn key_id(&self, key: &[u8]) -> Option<u64> {
        self.key_names.key_id(key)
    }

    /// No key is longer.
    pub const fn longest_key_bytes(&self) -> usize {
        self.key_names.longest_bytes()
    }
}

/// A worker's operations are numbered below this many bits of the version, which its own number is above.
const VERSION_BITS: u32 = 40;

/// The operations of one worker, without end.
#[derive(Clone, Debug)]
pub struct Operations<'load> {
    load: &'load StoreLoad,
    draws: RequestDraws,
    kind_draws: Generator,
    key_draws: Generator,
    scan_draws: Generator,
    version: u64,
}

impl Operations<'_> {
    /// The next operation. Kind, key and scan length are drawn independently.
    ///
    /// Without inserts by others it is a function of the seed and of the calls. *Cost*: no allocation; 25 to 75 ns by the distribution.
    ///
    /// # Errors
    /// [`WorkloadError::TooManyUnacknowledged`], where an insert never was.
    #[inline]
    pub fn next_operation(&mut self) -> Result<Operation, WorkloadError> {
        let kind = self.load.mix.kind_of(self.kind_draws.next_u64());
        let key_id = match kind {
            OperationKind::Insert => self.load.acknowledged.next()?,
            _ => self
                .draws
                .next_key(&mut self.key_draws, || self.load.acknowledged.count()),
        };
        let scan_length = match kind {
            OperationKind::Scan => self.load.scans.length(self.scan_draws.next_u64()),
            _ => 0,
        };
        self.version += 1;
        Ok(Operation {
            kind,
            key_id,
            version: self.version,
            scan_length,
        })
    }
}

impl Operations<'_> {
    /// The kind of the next operation, which is then never done: no key is drawn, and none is given out for an insert.
    pub fn next_kind(&mut self) -> OperationKind {
        self.load.mix.kind_of(self.kind_draws.next_u64())
    }
}

impl Scans {
    fn length(self, draw: u64) -> u32 {
        match self {
            Self::Uniform => 1 + uniform_below(draw, u64::from(ycsb::LONGEST_SCAN)) as u32,
            Self::Mixgraph => mixgraph::scan_length(uniform_unit(draw)),
        }
    }
}
