//! Loads of key-value stores: YCSB's core workloads, mixgraph, and mixes of one's own.
//!
//! [`StoreWorkload`] is the description, [`StoreLoad`] what the workers of one process share, [`Operations`] the stream
//! of one worker, and [`RecordValues`] the bytes, each a function of key and version, so that they are verified on read.
//!
//! ```
//! use outcrop_measure::Seed;
//! use outcrop_workload::Content;
//! use outcrop_workload::keyed::{OperationKind, RecordValues, StoreLoad, StoreLoadSpec, StoreWorkload};
//!
//! let workload: StoreWorkload = "ycsb-d".parse()?;
//! let load = StoreLoad::new(StoreLoadSpec {
//!     workload,
//!     requests: workload.requests(),
//!     records: 1000,
//!     operations: 10_000,
//!     seed: Seed(7),
//! })?;
//! let values = RecordValues::of_content(Content::Random, workload.value_size(), Seed(7));
//! let mut operations = load.operations(0);
//! let (mut key, mut value) = (Vec::new(), Vec::new());
//! for _ in 0..100 {
//!     let operation = operations.next_operation()?;
//!     key.clear();
//!     load.write_key(operation.key_id, &mut key);
//!     if operation.kind == OperationKind::Insert {
//!         value.clear();
//!         values.write(operation.key_id, operation.version, &mut value);
//!         // The store takes key and value, and only then:
//!         load.acknowledge(operation.key_id);
//!         assert_eq!(values.verify(operation.key_id, &value), Ok(Some(operation.version)));
//!     }
//! }
//! # Ok::<(), outcrop_workload::WorkloadError>(())
//! ```

mod acknowledged;
mod distribution;
mod key_names;
mod operation;
mod operations;
mod values;
mod workload;

pub use acknowledged::AcknowledgedKeys;
pub use distribution::RequestDistribution;
pub use key_names::KeyNames;
pub use operation::{Operation, OperationKind, OperationMix};
pub use operations::{Operations, StoreLoad, StoreLoadSpec};
pub use values::{Mismatch, RecordValues};
pub use workload::{StoreWorkload, YcsbCore};
