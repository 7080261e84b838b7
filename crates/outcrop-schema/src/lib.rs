//! The vocabulary of every layer: its factors, metrics and remarks, each defined once.
//!
//! A layer is a [`LayerSchema`]: the [`Factor`]s of its subject and its workload, the [`Metric`](outcrop_measure::Metric)s
//! that its trials yield, the [`RemarkKind`]s that they may make, and which of the metrics stand for it. Plans, flags, the
//! reference tables, the progress line, comparison and the report all read this; none of them spells a name. A value is read
//! once, by its factor, and stays typed from there ([`Settings`]).
//!
//! What it is not: it does no I/O and runs nothing. It knows no engine and no record; how a quantity is obtained, what it costs and
//! what it means for a reader are the business of the lab and of the report. Factors that depend on each other are checked by the
//! lab, where the engine is known.
//!
//! ```
//! use outcrop_schema::{Settings, device};
//!
//! let mut factors = Settings::default();
//! factors.read(&device::QUEUE_DEPTH, "32")?;
//! factors.read(&device::IO_BLOCK_SIZE, "4k")?;
//! assert_eq!(factors.get(&device::QUEUE_DEPTH), Some(&32));
//! assert_eq!(factors.spelling(&device::IO_BLOCK_SIZE), Some("4KiB"));
//! assert_eq!(device::SCHEMA.label(&factors), "4KiB QD 32");
//! # Ok::<(), String>(())
//! ```

pub mod cache;
pub mod column;
pub mod compression;
pub mod device;
pub mod factor;
pub mod filesystem;
pub mod kv;
pub mod lateness;
pub mod layer;
pub mod metrics;
pub mod parse;
pub mod remark;
pub mod sampling;
pub mod settings;
pub mod tables;
pub mod value;
pub mod vocabulary;

pub use factor::{About, Factor, FactorRef, Label, Role};
pub use layer::{LayerSchema, Pooled, TableColumn};
pub use metrics::Latencies;
pub use remark::{Remark, RemarkKind};
pub use sampling::{Bounded, Sampling};
pub use settings::{Setting, Settings};
pub use value::{Column, Value};
pub use vocabulary::Vocabulary;
