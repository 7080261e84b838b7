//! The byte layout of `docs/format/ocol.md`: header, footer, section table and bounded field access.

mod fields;
mod footer;
mod header;

pub(crate) use fields::{Fields, push_u32, push_u64, put_varint};
pub(crate) use footer::{Footer, Section, SectionKind, SegmentEntry};
pub(crate) use header::{HEADER_BYTES, Header};

/// Rows of one code block.
pub const BLOCK_ROWS: usize = 65_536;

/// A segment has fewer rows than this; row numbers within one fit `u32`.
pub(crate) const SEGMENT_ROWS_LIMIT: u64 = u32::MAX as u64;

/// Longest value, in bytes.
pub const VALUE_BYTES_LIMIT: usize = i32::MAX as usize;
