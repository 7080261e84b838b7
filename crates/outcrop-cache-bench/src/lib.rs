//! The cache layer's engine: a server is started, one load driven at it, and its policy simulated beside it.
//!
//! A [`BenchSpec`] names a server ([`ServerSpec`]: ours in this process, another program on the loopback interface, or
//! one that runs already) and a load of [`outcrop_cache_load`]; [`run`] gives a [`BenchReport`] in plain numbers.
//! Programs are found in `PATH`, listen on the loopback interface only, and have ended when [`run`] returns. It must
//! not know plans, records or reports. It is a crate of its own because server and driver must not know each other.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//! use outcrop_cache_bench::{BenchSpec, ServerSpec, run};
//! use outcrop_measure::Seed;
//!
//! let mut spec = BenchSpec::new(ServerSpec::default(), Seed(1));
//! spec.load.duration = Duration::from_millis(50);
//! let report = run(&spec, &outcrop_probe::Clock::new(), &AtomicBool::new(false))?;
//! assert!(report.load.throughput_per_second() > 0.0);
//! # Ok::<(), outcrop_cache_bench::CacheBenchError>(())
//! ```

mod error;

pub mod simulator;

mod server;

mod bench;
mod curve;
mod curve_advice;
mod curve_fall;
mod oracle;

pub use bench::{BenchReport, BenchSpec, CLOSED_LOOP, Offered, run};
pub use curve::{CurvePoint, CurveSpec, MemorySizes, Policies, TraceFacts, miss_ratio_curve};
pub use curve_advice::{CurveAdvice, NEARLY};
pub use curve_fall::{Beyond, CurveFall, FallShape};
pub use error::CacheBenchError;
pub use server::{Held, Program, Running, ServerKind, ServerSpec};
