//! The compression profiler: data is sampled, cut into independent blocks, and put through a codec by threads
//! with a common start; ratio, speed, latency and CPU time come back.
//!
//! It knows no plans, records or reports: a job is described and answered in plain structs. What it is given is
//! only ever read. Every output is decompressed and compared with its input.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use outcrop_compress::{Blocks, JobSpec, Source, run_job};
//! use outcrop_measure::seed::Seed;
//! use outcrop_probe::Clock;
//!
//! let stop = AtomicBool::new(false);
//! let sample = Source::embedded()?.draw(256 << 10, 16 << 10, Seed(1), &stop)?;
//! let blocks = Blocks::cut(&sample, 16 << 10);
//! let spec = JobSpec::new("lz4".parse()?, std::time::Duration::from_millis(20));
//! let report = run_job(&blocks, &spec, None, &Clock::new(), &stop)?;
//! println!("ratio {:.2}, {:.0} MB/s", report.size.ratio(), report.compress.bytes_per_second() / 1e6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod caches;
mod confidence;
mod cpus;
mod embedded;
mod entropy;
mod error;
mod groups;
mod hardware;
mod identity;
mod job;
mod phase;
mod sample;
mod size;
mod source;
mod speed;
mod stages;
mod stream;
mod worker;

pub use blocks::{Block, Blocks};
pub use confidence::{NoInterval, RatioInterval};
pub use cpus::allowed_cpus;
pub use entropy::bits_per_byte;
pub use error::CompressError;
pub use groups::{GROUPS, Groups};
pub use hardware::{HardwareReport, run_hardware};
pub use job::{JobReport, JobSpec, run_job, run_metered_job};
pub use outcrop_workload::Caches;
pub use phase::PhaseReport;
pub use sample::{CLUSTER_BYTES, Piece, Sample};
pub use size::SizeReport;
pub use source::Source;
pub use speed::slow_compress_mb_per_second;
pub use stages::{StagesReport, StagesSpec, run_stages};
