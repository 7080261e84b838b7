//! Storage devices: I/O engines times targets, the loop that keeps them busy, and the rules that keep data
//! safe.
//!
//! A [`JobSpec`] says what to ask for, a [`Target`] whom, an [`EngineKind`] how; [`run_job`] does it and
//! returns a [`JobReport`]. Only [`ScratchFile`]s, which this crate makes, marks and removes itself, and
//! [`WritableDevice`]s, which nobody uses and whose owner typed their name, are ever written to; anything else
//! is opened for reading only.
//!
//! It is not a planner and keeps no records: repetitions, order and statistics over trials are the lab's. It
//! knows no codec and no report format. Threads and descriptors end before a call returns, on error and
//! interruption too.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//!
//! use outcrop_device::{DeviceError, EngineKind, JobSpec, Target, run_job};
//! use outcrop_measure::seed::Seed;
//! use outcrop_probe::clock::Clock;
//!
//! // The overhead of the loop itself: for a device, `EngineKind::IoUring` and another target.
//! let spec = JobSpec {
//!     engine: EngineKind::Noop,
//!     queue_depth: 8,
//!     warm_up: Duration::ZERO,
//!     duration: Duration::from_millis(10),
//!     ..JobSpec::new(Seed(1))
//! };
//! let report = run_job(&Target::Null, &spec, &Clock::new(), &AtomicBool::new(false))?;
//! let reads = report.total().reads;
//! assert_eq!(reads.bytes, reads.operations * 4096);
//! # Ok::<(), DeviceError>(())
//! ```

mod error;
mod report;
mod spec;

mod direct;
mod fill;
mod marker;
mod scratch;
mod signature;
mod target;
mod writable;

mod engine;
mod job;
mod memory;
mod pause;
mod slots;
mod verify;

pub use error::DeviceError;
pub use job::{TogetherReport, run_job, run_together};
pub use outcrop_workload::filesystem::FileAccess;
pub use outcrop_workload::{
    Completions, Durability, EngineKind, LatencyParts, NumaPlace, Submission, SyncCall,
};
pub use report::{
    ArrivalReport, DiskBelow, DrainReport, Ended, ErrorReport, Feature, FeatureState, IntervalReport,
    JobReport, MAX_INTERVALS, OperationReport, PartsReport, Traffic,
};
pub use scratch::{AbandonedScratch, ScratchFile};
pub use spec::JobSpec;
pub use target::{ReadOnlyTarget, Target};
pub use verify::{Fault, FaultyBlock, VerifyReport, VerifySpec, check_verified, write_verified};
pub use writable::{Candidate, WritableDevice};
