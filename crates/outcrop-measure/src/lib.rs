//! The floor of Outcrop: quantities, latency histograms, statistics and the vocabulary of metrics.
//!
//! *What it is*: pure computation that every layer shares, so that a latency, an interval or a knee means the same
//! everywhere. The same input and [`Seed`] give the same output, now and later.
//!
//! *What it is not*: it reads no clock, no file and no global state, starts no thread, and does not know where
//! numbers came from. It is not a general statistics library: each method is here because a report prints it, with
//! its source named.
//!
//! ```
//! use outcrop_measure::{ByteSize, LatencyHistogram, Seed, interval, littles_law, units};
//!
//! let block_size: ByteSize = "4KiB".parse()?;
//! assert_eq!(block_size.bytes(), 4096);
//!
//! let mut latencies = LatencyHistogram::new();
//! for operation in 0..1000 {
//!     latencies.record(60_000 + operation * 10);
//! }
//! let p99_ns = latencies.percentile(0.99).expect("ten of a thousand lie above it");
//! assert_eq!(units::format_nanoseconds(p99_ns as f64), "70.0 µs");
//! assert_eq!(latencies.percentile(0.999), None); // one sample above is no figure
//!
//! let iops = interval::summarise(&[352e3, 349e3, 355e3]).expect("three finite samples");
//! assert_eq!(units::format_iops(iops.median), "352 k IOPS");
//!
//! let mean_s = latencies.mean().expect("not empty") / 1e9;
//! assert!(littles_law::check(23.0, iops.median, mean_s, littles_law::TOLERANCE).holds);
//! # Ok::<(), outcrop_measure::MeasureError>(())
//! ```

pub mod harmless;
pub mod metric;
pub mod units;

pub mod seed;

pub mod histogram;
pub mod percentile;

pub mod interval;
pub mod ratio;
pub mod steady_state;
pub mod student;
mod tail;

pub mod race;

pub mod change_point;
pub mod knee;
pub mod littles_law;

pub mod error;

pub use error::MeasureError;
pub use histogram::LatencyHistogram;
pub use interval::{Interval, Summary};
pub use metric::{Metric, Provenance, Scope, Unavailable, Unit};
pub use seed::Seed;
pub use units::{ByteSize, Rate, TimeSpan};
