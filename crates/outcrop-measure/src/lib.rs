//! Units, latency histograms, intervals, steady state, knees and the metric vocabulary of Outcrop.
//!
//! Rank 0: pure computation. Reads no clock, no file and no global state; the same input and seed give
//! the same output. It does not know where numbers came from.

pub mod error;
pub mod histogram;
pub mod metric;
pub mod percentile;
pub mod seed;
pub mod units;

pub use error::MeasureError;
pub use histogram::LatencyHistogram;
pub use metric::Unit;
pub use seed::Seed;
pub use units::{ByteSize, Rate, TimeSpan};
