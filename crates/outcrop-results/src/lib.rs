//! The record schema and the run folder: write, resume, load, query, compare, references.
//!
//! A *trial* is one line of a journal ([`TrialEntry`]), a *record* is one metric of one trial
//! ([`Record`]), a *run* is a folder ([`RunFolder`] to write it, [`RunView`] to read it), and a
//! *reference* is somebody else's figures in the same tidy form ([`Reference`]). [`compare()`] holds two
//! of them side by side and answers *not comparable*, with the reason, instead of a ratio that means
//! nothing.
//!
//! What this crate is not: it does not measure, and it does not know how a number was measured; it
//! renders nothing. Summaries (median, interval, n) are computed on reading and never stored.
//!
//! Names of factors and metrics are those of `outcrop-schema`, which says what they are to a comparison: this crate spells
//! none of them. A published mean latency whose definition is not known is `latency_mean_as_published` and is never compared
//! with `latency_mean`.
//!
//! # Example
//!
//! ```
//! use outcrop_results::{FailIf, references};
//!
//! let shipped = references::shipped()?;
//! let matrix = shipped.iter().find(|reference| reference.name == "toshiba-kxg60znv256g-fio").expect("shipped");
//! let row = matrix.rows.iter().find(|row| row.metric == "bandwidth").expect("the matrix has bandwidths");
//! assert_eq!(row.unit.symbol(), "B/s");
//! assert_eq!(row.factors["state"], references::NOT_STATED);
//!
//! let condition: FailIf = "p99 > +5%".parse()?;
//! assert_eq!(condition.metric, "latency_p99");
//! # Ok::<(), outcrop_results::ResultsError>(())
//! ```

pub mod atomic_file;
pub mod cells;
pub mod compare;
pub mod envelope;
pub mod error;
pub mod export;
pub mod factors;
pub mod fail_if;
pub mod journal;
pub mod layout;
pub mod ours;
pub mod parquet;
pub mod record;
pub mod references;
pub mod run_folder;
pub mod run_list;
pub mod trial;
pub mod view;

pub use atomic_file::write_atomically;
pub use cells::{CellGroup, CellJson, CellRow, CellTable, Estimate, Figure, FigureJson};
pub use compare::{
    BesidePublished, Comparand, CompareOptions, Comparison, ComparisonRow, LatencyDifference, LoadDifference,
    LoadMeasure, NotComparable, Side, SideCell, Undecided, UnlikeFactor, Verdict, beside_published, compare,
    compare_with,
};
pub use envelope::Envelope;
pub use error::ResultsError;
pub use fail_if::{CellBeyond, FailIf, FailIfReport, Limit, WithinDrift};
pub use journal::Journal;
pub use ours::{is_our_figure, name_element};
pub use record::{Record, records_of};
pub use references::{Reference, ReferenceKind, ReferenceRow};
pub use run_folder::RunFolder;
pub use trial::{
    DataIdentity, HistogramEntry, HistogramKind, LAYOUT, OPTION_OF_FIO, Outcome, SHARED_WITH, TrialEntry,
    Value, Variant,
};
pub use view::{
    CellView, NONE_COMPLETED, RunView, Samples, SeriesPoint, Uncertainty, is_of_some_trials,
    lacks_operations, says_what_gives_more, too_short,
};
