//! Units, latency histograms, intervals, steady state, knees and the metric vocabulary of Outcrop.
//!
//! Rank 0: pure computation. Reads no clock, no file and no global state; the same input and seed give
//! the same output. It does not know where numbers came from.

pub mod metric;
pub mod units;

pub mod seed;

pub mod histogram;
pub mod percentile;

pub mod interval;
pub mod steady_state;

pub mod change_point;
pub mod knee;
pub mod littles_law;

pub mod error;

pub use error::MeasureError;
pub use histogram::LatencyHistogram;
pub use interval::{Interval, Summary};
pub use metric::{Measurement, Metric, Provenance, Unavailable, Unit};
pub use seed::Seed;
pub use units::{ByteSize, Rate, TimeSpan};
