//! The column layer's engine: a column is made or read, then encoded, decoded and searched against the clock.
//!
//! A [`BenchSpec`] says what to measure on a [`ColumnInput`]; [`run`] gives a [`BenchReport`] in plain
//! numbers; [`whole_column`] compares a column's size with that in its file. It knows the column codec ([`outcrop_column`]) and, to compare with, newline text compressed by a
//! codec of [`outcrop_codec`]. It must not know plans, records or reports. Everything it writes to a disk is
//! a file without a name, which goes when the process does.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use outcrop_column_bench::{BenchSpec, ColumnInput, Operation, Site, run};
//!
//! let input = ColumnInput::from_values([Some(&b"granite"[..]), None, Some(b"basalt")]);
//! let clock = outcrop_probe::Clock::new();
//! let site = Site { directory: &std::env::temp_dir(), clock: &clock, stop: &AtomicBool::new(false) };
//! let report = run(&input, &BenchSpec { operation: Operation::Encode, ..BenchSpec::default() }, &site)?;
//! assert_eq!(report.size.row_count, 3);
//! # Ok::<(), outcrop_column_bench::BenchError>(())
//! ```

mod error;
mod input;
mod measure;
mod operations;
mod peak_memory;
mod report;
mod source;
mod spec;
pub mod tabular;
mod targets;
mod text_codec;
mod text_search;
mod whole;

pub use error::BenchError;
pub use input::ColumnInput;
pub use measure::Site;
pub use operations::run;
pub use outcrop_workload::column::{Operation, SearchMode};
pub use report::{BenchReport, ColdReads, EncodingShare, SizeReport};
pub use spec::{BenchSpec, Format};
pub use whole::{READ_LIMIT, Stored, WholeReport, whole_column, whole_input};
