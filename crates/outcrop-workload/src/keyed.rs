//! Requests by key, as caches and stores get them: popularity, key and value sizes, request mix, traces.
//!
//! [`KeyedWorkload`] is the description, [`KeySpace`] the keys and their sizes, [`Values`] the bytes, [`Requests`] the
//! stream. A key has one length and one value whatever the seed of a run, so that any reader can verify what any
//! writer stored.
//!
//! Loads of key-value stores, with versions and scans, are in [`store`].
//!
//! ```
//! use outcrop_measure::Seed;
//! use outcrop_workload::keyed::{KeySpace, KeyedWorkload, Preset, RequestKind};
//!
//! let workload = KeyedWorkload::of(Preset::Etc);
//! let space = KeySpace::new(10_000, workload.key_size, workload.value_size)?;
//! let mut requests = workload.requests(&space, Seed(7));
//! let request = requests.next_request();
//! let mut key = Vec::new();
//! space.write_key(request.key_id, &mut key);
//! assert_eq!(key.len(), space.key_size_bytes(request.key_id));
//! assert!(matches!(request.kind, RequestKind::Get | RequestKind::Set));
//! # Ok::<(), outcrop_workload::WorkloadError>(())
//! ```

pub mod distribution;
pub mod mixgraph;
mod objective;
mod popularity;
mod request_mix;
mod requests;
mod sizes;
mod space;
pub mod store;
mod trace;
mod values;
pub mod ycsb;

use outcrop_measure::Seed;

pub use objective::Objective;
pub use popularity::{KeyDraws, KeyPopularity};
pub use request_mix::{RequestKind, RequestMix};
pub use requests::{Request, Requests};
pub use sizes::{KeySize, MAX_KEY_BYTES, ValueSize};
pub use space::{KEY_PREFIX, KeySpace};
pub use store::{
    AcknowledgedKeys, KeyNames, Mismatch, Operation, OperationKind, OperationMix, Operations, RecordValues,
    RequestDistribution, StoreLoad, StoreLoadSpec, StoreWorkload, YcsbCore,
};
pub use trace::{Trace, TraceEntry};
pub use values::{VALUES_DIFFERED, Values};

crate::words! {
    /// A workload with a name.
    pub enum Preset: "workload" {
        /// The general-purpose pool of Facebook's memcached. *Source*: Atikoglu et al., SIGMETRICS 2012.
        Etc = "etc",
        /// A coarse recipe of it, by which an earlier study of caches was made.
        EtcLite = "etc-lite",
    }
}

/// What is asked of a cache: which keys, how large, and what is done with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyedWorkload {
    /// Which keys are asked for how often.
    pub popularity: KeyPopularity,
    /// How long keys are.
    pub key_size: KeySize,
    /// How long values are.
    pub value_size: ValueSize,
    /// Gets, sets and deletes.
    pub mix: RequestMix,
}

impl KeyedWorkload {
    /// The workload of a name.
    pub const fn of(preset: Preset) -> Self {
        match preset {
            Preset::Etc => Self {
                popularity: KeyPopularity::Etc,
                key_size: KeySize::Etc,
                value_size: ValueSize::Etc,
                mix: RequestMix::ETC,
            },
            Preset::EtcLite => Self {
                popularity: KeyPopularity::EtcLite,
                key_size: KeySize::EtcLite,
                value_size: ValueSize::EtcLite,
                mix: RequestMix::ETC,
            },
        }
    }

    /// The stream of requests of one seed over a space of keys.
    pub fn requests(&self, space: &KeySpace, seed: Seed) -> Requests {
        Requests::new(self.popularity.draws(space.key_count()), self.mix, seed)
    }
}
