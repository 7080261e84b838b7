//! fio's files: results become a run of ours, a run becomes a result of fio's form, and a job file becomes what a plan says.
//!
//! [`import`] reads the JSON of versions 2 and 3, [`export()`] writes that of version 3, and [`job_file::read`] reads job files. What
//! has no counterpart is named, never dropped; what fio did not report is unavailable with the reason. Every file is untrusted input
//! of bounded size.
//!
//! It must not measure, know an engine, or print. What fio's options mean stands once, in `words.rs`; for people it is
//! `docs/from-fio.md`.
//!
//! # Example
//!
//! ```no_run
//! use outcrop_fio::{ImportOptions, import};
//!
//! let imported = import(&["results-of-fio".into()], &ImportOptions::default())?;
//! println!("{} trials of {}", imported.trials.len(), imported.version_words());
//! # Ok::<(), outcrop_fio::FioError>(())
//! ```

pub mod error;
pub mod export;
pub mod job_file;
mod options;
mod quantity;
mod results;
mod words;

pub use error::FioError;
pub use export::{Exported, ExportedJobs, export, export_jobs};
pub use job_file::{Job, JobFile};
pub use results::{ImportOptions, Imported, import};
