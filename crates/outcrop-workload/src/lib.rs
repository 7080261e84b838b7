//! Seeded, pure workload generators: what is asked of a subject, and with which bytes.
//!
//! Four descriptions, each with one spelling that plans, flags and records share:
//! [`AccessPattern`] (`zipfian:0.99`), [`ReadWriteMix`] (`70:30`), [`Arrival`] (`poisson:1000`) and
//! [`Content`] (`compressible:2`). Each yields a generator: [`BlockIndexes`], [`Operations`],
//! [`Schedule`], [`Filler`]. Requests by key, as caches get them, are in [`keyed`].
//!
//! It is not a load driver. Rank 1: no file, socket, clock, thread or global state; the same description
//! and seed give the same stream on every machine.
//!
//! ```
//! use outcrop_measure::seed::{Generator, Seed};
//! use outcrop_workload::{AccessPattern, BlockSpace};
//!
//! let pattern: AccessPattern = "zipfian:0.99".parse()?;
//! let space = BlockSpace { block_count: 1 << 20, block_size_bytes: 4096 };
//! let mut blocks = pattern.blocks(space, 0, 1, Seed(7))?;
//! assert!(blocks.next_block() < space.block_count);
//! # Ok::<(), outcrop_workload::WorkloadError>(())
//! ```

pub mod access_pattern;
pub mod arrival;
pub mod block;
pub mod block_indexes;
mod byte_distribution;
pub mod column;
pub mod content;
pub mod description;
pub mod device;
pub mod durability;
mod error;
pub mod filesystem;
mod filler;
mod granule;
pub mod keyed;
pub mod mix;
pub mod numa;
mod permutation;
pub mod share;
mod spelling;
pub mod store;
mod uniform;
pub mod word;
mod zipfian;

pub use access_pattern::AccessPattern;
pub use arrival::{Arrival, Schedule};
pub use block::{BlockContent, Caches};
pub use block_indexes::{BlockIndexes, BlockSpace};
pub use content::Content;
pub use description::{Description, Workload};
pub use device::{Completions, EngineKind, LatencyParts, Replay, Submission};
pub use durability::{Durability, SyncCall};
pub use error::WorkloadError;
pub use filler::Filler;
pub use mix::{Operations, ReadWriteMix};
pub use numa::NumaPlace;
pub use share::Arrivals;
