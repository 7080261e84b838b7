//! Postings: for each value, the rows that hold it.
//!
//! Useful for: the rows of a few values, in microseconds, from memory or with two reads from a file. Not
//! useful for: the value of a row.

mod bits;
mod list;
mod memory;
mod reader;
mod writer;

pub(crate) use memory::MemoryPostings;
pub(crate) use reader::PostingsSection;
pub(crate) use writer::PostingsWriter;

/// Groups that one table page describes.
const PAGE_GROUPS: usize = 2040;

/// Bytes of a table page.
const PAGE_BYTES: usize = 8 + 2 * PAGE_GROUPS + 4;

/// Largest log2 of the codes of one group.
const GROUP_SHIFT_LIMIT: u32 = 6;

/// Bits of the offset that stands for a long list.
const LONG_OFFSET_BITS: u32 = 48;

/// Longest list, in bits, that stands within its group.
fn short_bits_limit(group_shift: u32) -> u64 {
    1 << (15 - group_shift)
}
