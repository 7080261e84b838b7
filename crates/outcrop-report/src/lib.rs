//! Records to findings, answer, tables, figures and HTML.
//!
//! [`Report::of`] reads a finished (or half-finished) run and works everything out once: the *answer*
//! (what the subject can do and what to configure), *findings* (sentences checked against records), figures
//! and matrices. The rest is spelling: [`Report::to_html`] for the page, [`Report::screen`] for a terminal,
//! [`Report::to_json`] for programs, [`write()`] for the run folder. [`comparison`] renders what `outcrop
//! compare` found.
//!
//! What this crate is not: it measures nothing, it never sees an engine, and it stores nothing that cannot be
//! worked out again from the records.
//!
//! # Example
//!
//! ```
//! use outcrop_report::Report;
//! use outcrop_results::RunView;
//!
//! let run = RunView {
//!     dir: "runs/2026-11-21T020000Z-example".into(),
//!     name: "2026-11-21T020000Z-example".into(),
//!     plan: String::new(),
//!     environment: serde_json::Value::Null,
//!     trials: Vec::new(),
//!     torn_bytes: 0,
//!     vocabulary: outcrop_schema::Vocabulary::default(),
//! };
//! let report = Report::of(&run);
//! assert!(report.screen(80, false).contains("no finished trial"));
//! assert!(report.to_html().starts_with("<!DOCTYPE html>"));
//! ```

mod alike;
pub mod answer;
pub mod cell;
pub mod cell_table;
mod change;
mod chart;
mod command;
pub mod comparison;
mod disturbed;
mod environment;
mod error;
pub mod finding;
mod html;
pub mod layer;
mod layers;
pub mod number;
pub mod placement;
pub mod report;
mod screen;
pub mod section;
mod ties;
mod wrap;
mod write;

pub use answer::Answer;
pub use cell::Cell;
pub use chart::{ExportError, Figure, FileFormat, Label};
pub use command::{command_in_pairs, quoted};
pub use error::ReportError;
pub use finding::{About, Finding, Verdict};
pub use layer::cache::{PolicyCurve, latency_figure, miss_ratio_figure};
pub use layer::column::{ColumnSizes, OcolIndex, SmallestForm, TotalSizes};
pub use number::Number;
pub use placement::{Constraints, MeasuredSystem, Placement, Prices};
pub use report::Report;
pub use write::{Paths, write};
