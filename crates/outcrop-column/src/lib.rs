//! The dictionary column codec: one string column in one small file, with lookups in
//! microseconds and scans at memory speed.
//!
//! What it is: a writer ([`Encoder`], [`encode_text`], [`encode_lines`]) and a reader ([`Column`]) of `.ocol` files, specified
//! in `docs/format/ocol.md`. A column is any sequence of byte strings and nulls; it pays where values repeat.
//! What it is not: a table format, a database, a general compressor, or part of the lab: it knows nothing of
//! plans, records and reports, reads no clock, and touches storage only through [`storage::ReadAt`] and
//! [`storage::WriteAt`].
//!
//! ```
//! use outcrop_column::{Column, EncodeOptions, Index, encode_text};
//!
//! let text = "granite\nbasalt\ngranite\ngabbro\n";
//! let encoder = encode_text(text.as_bytes(), EncodeOptions { index: Index::Postings, ..Default::default() })?;
//! let mut file = Vec::new();
//! encoder.finish(&mut file)?;
//!
//! let column = Column::open_in(file)?;
//! assert_eq!(column.find(b"granite")?.rows()?, [0, 2]);
//! assert_eq!(column.find_prefix(b"ga")?.rows()?, [3]);
//! assert_eq!(column.get(1)?.as_deref(), Some(&b"basalt"[..]));
//! # Ok::<(), outcrop_column::ColumnError>(())
//! ```

#[cfg(feature = "arrow")]
pub mod arrow;
mod codes;
mod column;
mod dictionary;
mod encode;
mod error;
mod format;
mod huge;
mod kernels;
mod name;
mod packed;
mod planes;
mod postings;
mod progress;
mod ranking;
mod segment;
pub mod storage;
mod touched;

#[cfg(feature = "arrow")]
pub use arrow::ArrowForm;
pub use column::{
    Batch, Batches, Column, ColumnReport, EncodingReport, SegmentReport, SelectedCodes, Selection,
    VerifyReport, push_csv_field,
};
pub use encode::{
    CsvOptions, CsvRecords, EncodeReport, Encoder, InputColumn, encode_csv, encode_lines, encode_text,
    encode_text_within,
};
pub use error::{ColumnError, Result};
pub use format::{BLOCK_ROWS, LINE_BYTES_LIMIT, VALUE_BYTES_LIMIT};
pub use kernels::{KernelLimit, Kernels};
pub use name::NAME_BYTES_LIMIT;
pub use packed::{PackedForm, PackedReport, is_column};
pub use progress::{Progress, Step};
pub use segment::{EncodeOptions, Index, Profile, Technique};
