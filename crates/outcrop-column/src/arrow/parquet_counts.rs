//! What the bytes of pages claim: how many values those in a delta encoding have, for which the library takes memory before it looks whether
//! they are there, and how long the values of a dictionary are.

use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader as _};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::parquet_errors::{damaged, of_parquet};
use crate::error::Result;

type Pages<R> = SerializedPageReader<R>;

/// The pages of a chunk, decompressed one after the other.
pub(super) fn pages<R: ChunkReader>(input: R, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Pages<R>> {
    SerializedPageReader::new(Arc::new(input), chunk, rows, None).map_err(of_parquet)
}

/// Bytes of the longest value of the dictionary in front of the pages, where it has strings.
///
/// *Cost*: decompresses the dictionary.
pub(super) fn longest_in_dictionary<R: ChunkReader>(mut pages: Pages<R>) -> Result<u64> {
    let mut longest = 0;
    if let Some(Page::DictionaryPage { buf, .. }) = pages.get_next_page().map_err(of_parquet)? {
        let mut values = &buf[..];
        while let Some((length, rest)) = values.split_at_checked(4) {
            let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
            longest = longest.max(u64::from(length).min(rest.len() as u64));
            values = rest.get(length as usize..).unwrap_or_default();
        }
    }
    Ok(longest)
}

/// Refuses a chunk with a page that claims more values in its encoding than in its header, or lengths that cannot be followed.
///
/// *Cost*: decompresses the pages of the chunk.
pub(super) fn check<R: ChunkReader>(mut pages: Pages<R>, chunk: &ColumnChunkMetaData) -> Result<()> {
    let levels = {
        let column = chunk.column_descr();
        [column.max_rep_level(), column.max_def_level()]
    };
    while let Some(page) = pages.get_next_page().map_err(of_parquet)? {
        let lie = match &page {
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                ..
            } => {
                let encodings = [*rep_level_encoding, *def_level_encoding];
                let mut values = Some(&buf[..]);
                for (most, level) in levels.into_iter().zip(encodings) {
                    values = values.and_then(|bytes| behind_levels(bytes, most, level, *num_values));
                }
                values.and_then(|values| claimed(values, *encoding, *num_values))
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let start = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                let values = buf.get(start..);
                values.and_then(|values| claimed(values, *encoding, *num_values))
            }
            Page::DictionaryPage { .. } => None,
        };
        if let Some(lie) = lie {
            return Err(damaged(&format!("a page of {} values {lie}", page.num_values())));
        }
    }
    Ok(())
}

/// What follows levels of a page of the first version; none where they are cut.
fn behind_levels(bytes: &[u8], most: i16, encoding: Encoding, values: u32) -> Option<&[u8]> {
    if most == 0 {
        return Some(bytes);
    }
    let bits = u64::from(u16::BITS - most.unsigned_abs().leading_zeros());
    match encoding {
        Encoding::RLE => {
            let (length, rest) = bytes.split_at_checked(4)?;
            rest.get(u32::from_le_bytes(length.try_into().ok()?) as usize..)
        }
        _ => bytes.get((u64::from(values) * bits).div_ceil(8) as usize..),
    }
}

/// What the encoding claims that cannot be: more values than `most`, or lengths that cannot be followed.
fn claimed(values: &[u8], encoding: Encoding, most: u32) -> Option<String> {
    let too_many = |delta: &Delta<'_>| {
        let is_more = delta.count > u64::from(most);
        is_more.then(|| format!("claims {} in its encoding", delta.count))
    };
    let first = Delta::of(values)?;
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => too_many(&first),
        Encoding::DELTA_BYTE_ARRAY => too_many(&first).or_else(|| match first.rest() {
            Some(rest) => too_many(&Delta::of(rest)?),
            // Without values there may be nothing to follow.
            None if first.count == 0 && first.has_usual_blocks() => None,
            None => Some("has lengths that cannot be followed".to_owned()),
        }),
        _ => None,
    }
}

/// The beginning of numbers in `DELTA_BINARY_PACKED`.
///
/// *Source*: <https://github.com/apache/parquet-format/blob/master/Encodings.md>.
struct Delta<'b> {
    block_values: u64,
    miniblocks: u64,
    count: u64,
    /// From the first value on.
    bytes: &'b [u8],
}

impl<'b> Delta<'b> {
    fn of(mut bytes: &'b [u8]) -> Option<Self> {
        let [block_values, miniblocks, count] = [(); 3].map(|()| varint(&mut bytes));
        Some(Self {
            block_values: block_values?,
            miniblocks: miniblocks?,
            count: count?,
            bytes,
        })
    }

    /// Blocks of a size that a program writes: a product of others may wrap where the library computes it.
    const fn has_usual_blocks(&self) -> bool {
        const MOST_VALUES: u64 = 1 << 20;
        self.block_values <= MOST_VALUES && self.miniblocks > 0 && self.miniblocks <= self.block_values
    }

    /// What follows the last block; none where it is not there.
    fn rest(&self) -> Option<&'b [u8]> {
        if !self.has_usual_blocks() {
            return None;
        }
        let mut bytes = self.bytes;
        varint(&mut bytes)?;
        let values_each = self.block_values / self.miniblocks;
        let mut left = self.count.saturating_sub(1);
        while left > 0 {
            // The least difference of the block, and the width of each miniblock; those behind the last value have no bytes.
            varint(&mut bytes)?;
            let (widths, rest) = bytes.split_at_checked(usize::try_from(self.miniblocks).ok()?)?;
            bytes = rest;
            for width in widths {
                if left == 0 {
                    break;
                }
                let length = u64::from(*width) * values_each / 8;
                bytes = bytes.get(length as usize..)?;
                left = left.saturating_sub(values_each);
            }
        }
        Some(bytes)
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}
