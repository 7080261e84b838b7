//! The byte layout of `docs/format/ocol.md`: header, footer, sections, small
//! integers, and bounded field access.

mod fields;
mod footer;
mod header;
mod integers;
mod sections;

pub(crate) use fields::{Fields, push_u32, push_u64, put_varint};
pub(crate) use footer::{Footer, Section, SectionKind, SegmentEntry};
pub(crate) use header::{HEADER_BYTES, Header, TOKENS};
pub(crate) use integers::{bits_of, packed_bytes, plane_bytes, plane_widths, unzigzag, zigzag};
pub(crate) use sections::SectionWriter;

/// Rows of one code block.
pub const BLOCK_ROWS: usize = 65_536;

/// Most classes of a segment: they fit four bits.
pub(crate) const CLASS_LIMIT: usize = 16;

/// A segment has fewer rows than this; row numbers within one fit `u32`.
pub(crate) const SEGMENT_ROWS_LIMIT: u64 = u32::MAX as u64;

/// Longest value, in bytes.
pub const VALUE_BYTES_LIMIT: usize = i32::MAX as usize;

/// Longest line or CSV record, in bytes, that is read where nobody says otherwise: what goes on for longer is hardly one of many values.
pub const LINE_BYTES_LIMIT: usize = 256 << 20;
