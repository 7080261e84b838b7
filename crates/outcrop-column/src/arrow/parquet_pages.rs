//! What the pages of a Parquet column become, by their headers, before any is decompressed: a file of some kilobytes can hold gigabytes.

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

use super::parquet_input::{FORMAT, of_parquet};
use crate::error::{ColumnError, Result};
use crate::memory::{Allowance, BLOCK_COPIES};

/// Bytes that are read of a header at first; one with long statistics has more.
const HEADER_BYTES: u64 = 256;

/// A data page, without compression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// Values and nulls.
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// The data pages of a chunk.
///
/// # Errors
/// [`ColumnError::NeedsMemory`] for a page that becomes too large, a dictionary among them.
pub(super) fn pages<R: ChunkReader>(
    input: &R,
    chunk: &ColumnChunkMetaData,
    allowance: &Allowance,
) -> Result<Vec<Page>> {
    let (mut offset, mut left) = chunk.byte_range();
    let (mut pages, mut seen) = (Vec::<Page>::new(), 0_u64);
    while left > 0 {
        let Some((header, header_bytes)) = header_at(input, offset, left)? else {
            // Some writers pad their chunks.
            if seen >= u64::try_from(chunk.num_values()).unwrap_or(0) {
                break;
            }
            return Err(damaged(offset));
        };
        let (Ok(bytes), Ok(compressed)) = (u64::try_from(header.bytes), u64::try_from(header.compressed))
        else {
            return Err(damaged(offset));
        };
        allowance.clone().take(bytes.saturating_mul(BLOCK_COPIES))?;
        if let Some(rows) = header.rows {
            let rows = u64::try_from(rows).map_err(|_| damaged(offset))?;
            seen = seen.saturating_add(rows);
            pages.push(Page { rows, bytes });
        }
        let taken = header_bytes as u64 + compressed;
        left = left.checked_sub(taken).ok_or_else(|| damaged(offset))?;
        offset += taken;
    }
    Ok(pages)
}

/// The header at an offset, and its length; `None` where there is none.
fn header_at<R: ChunkReader>(input: &R, offset: u64, left: u64) -> Result<Option<(Header, usize)>> {
    let mut length = HEADER_BYTES.min(left);
    loop {
        let bytes = input.get_bytes(offset, length as usize).map_err(of_parquet)?;
        let header = Header::read(&bytes);
        if header.is_some() || length == left {
            return Ok(header);
        }
        length = left.min(length * 4);
    }
}

/// The most rows, at most `rows`, of which no run that many long touches pages of more than `bytes` bytes together.
pub(super) fn rows_within(pages: &[Page], rows: u64, bytes: u64) -> u64 {
    let mut rows = rows.max(1);
    while rows > 1 && largest_run(pages, rows) > bytes {
        rows /= 2;
    }
    rows
}

/// Bytes of the pages that a run of rows touches at most: it begins with the last row of one of them.
fn largest_run(pages: &[Page], rows: u64) -> u64 {
    let (mut end, mut rows_between, mut bytes, mut largest) = (0, 0, 0, 0);
    for (start, page) in pages.iter().enumerate() {
        if end <= start {
            (end, rows_between, bytes) = (start + 1, 0, page.bytes);
        }
        while end < pages.len() && rows_between + 1 < rows {
            rows_between += pages[end].rows;
            bytes += pages[end].bytes;
            end += 1;
        }
        largest = largest.max(bytes);
        bytes -= page.bytes;
        // The next page begins the run: its rows, but for the last, are no longer in it.
        rows_between -= pages
            .get(start + 1)
            .filter(|_| end > start + 1)
            .map_or(0, |next| next.rows);
    }
    largest
}

fn damaged(offset: u64) -> ColumnError {
    ColumnError::Foreign {
        format: FORMAT,
        detail: format!("the page header at offset {offset} is damaged"),
    }
}

/// What a page header says of sizes.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    bytes: i64,
    compressed: i64,
    /// Of a data page.
    rows: Option<i64>,
}

impl Header {
    /// A header and its length; `None` if it is not whole.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut thrift = Thrift { bytes, at: 0 };
        let (mut header, mut id) = (Self::default(), 0);
        while let Some(kind) = thrift.field(&mut id)? {
            match (id, kind) {
                (2, 4..=6) => header.bytes = thrift.integer()?,
                (3, 4..=6) => header.compressed = thrift.integer()?,
                // A data page of either version: its first field is how many values it has.
                (5 | 8, STRUCT) => {
                    let mut inner = 0;
                    while let Some(kind) = thrift.field(&mut inner)? {
                        match (inner, kind) {
                            (1, 4..=6) => header.rows = Some(thrift.integer()?),
                            _ => thrift.skip(kind, 0)?,
                        }
                    }
                }
                _ => thrift.skip(kind, 0)?,
            }
        }
        Some((header, thrift.at))
    }
}

/// Thrift's number of a structure.
const STRUCT: u8 = 12;
/// Structures within structures.
const DEPTH_LIMIT: usize = 16;

/// Thrift's compact protocol; `None` is the end of the bytes, or what is not Thrift.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// The kind of the next field, whose number goes into `id`; `Some(None)` at the end of a structure.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.integer()?,
            more => id.checked_add(i64::from(more))?,
        };
        Some(Some(byte & 0xf))
    }

    fn advance(&mut self, bytes: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(bytes).ok()?)?;
        (self.at <= self.bytes.len()).then_some(())
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            // A boolean is its kind.
            1 | 2 => Some(()),
            3 => self.advance(1),
            4..=6 => self.unsigned().map(drop),
            7 => self.advance(8),
            8 => {
                let length = self.unsigned()?;
                self.advance(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = match byte >> 4 {
                    15 => self.unsigned()?,
                    count => u64::from(count),
                };
                (0..count).try_for_each(|_| match byte & 0xf {
                    1 | 2 => self.advance(1),
                    kind => self.skip(kind, depth + 1),
                })
            }
            STRUCT if depth < DEPTH_LIMIT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_rows_is_as_large_as_all_pages_that_it_touches() {
        let pages: Vec<Page> = [(10, 100), (1, 5000), (1, 6000), (20, 50)]
            .map(|(rows, bytes)| Page { rows, bytes })
            .to_vec();
        let cases = [(1, 6000), (2, 11_000), (3, 11_100), (4, 11_150), (40, 11_150)];
        for (rows, expected) in cases {
            assert_eq!(largest_run(&pages, rows), expected, "{rows}");
        }
        assert_eq!(rows_within(&pages, 1024, 11_000), 2);
        assert_eq!(rows_within(&pages, 1024, 1), 1);
        assert_eq!(rows_within(&pages, 1024, 1 << 20), 1024);
    }
}
