//! One list of ascending rows: its length in bits follows from the number of its rows and of all
//! rows, so nothing else is stored.
//!
//! Source: P. Elias, "Efficient storage and retrieval by content and address of static files", 1974; R. Fano,
//! 1971. Unlike there, no parameters and no skip pointers are stored: a list is short, or it is wanted whole.

use super::bits::{BitWriter, bits_at, word_at};
use crate::error::{Result, corrupt};
use crate::format::bits_of;
use crate::kernels::{CACHE_LINE_BYTES, prefetch};

const PART: &str = "posting list";

/// Bytes of a list that are asked for before the first is read; the processor follows longer ones by itself.
const FETCHED_BYTES: u64 = 1024;

/// How a list is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Empty,
    Single { bits: u32 },
    Bitmap,
    EliasFano { low_bits: u32 },
}

impl Form {
    fn of(count: u32, row_count: u32) -> Self {
        match count {
            0 => Self::Empty,
            1 => Self::Single {
                bits: u32::from(bits_of(row_count - 1)),
            },
            _ if u64::from(count) * 4 >= u64::from(row_count) => Self::Bitmap,
            // log2 of row_count / count, rounded down, without the division: a group's
            // lists are skipped by length.
            _ => {
                let bits = row_count.ilog2() - count.ilog2();
                Self::EliasFano {
                    low_bits: bits - u32::from(count << bits > row_count),
                }
            }
        }
    }
}

/// Bits of a list of `count` rows out of `row_count` (`count` ≤ `row_count`).
#[inline]
pub(super) fn list_bits(count: u32, row_count: u32) -> u64 {
    match Form::of(count, row_count) {
        Form::Empty => 0,
        Form::Single { bits } => u64::from(bits),
        Form::Bitmap => u64::from(row_count),
        Form::EliasFano { low_bits } => {
            u64::from(count) * u64::from(low_bits + 1) + u64::from((row_count - 1) >> low_bits)
        }
    }
}

/// Appends a list.
pub(super) fn push_list(rows: &[u32], row_count: u32, out: &mut BitWriter) {
    match Form::of(rows.len() as u32, row_count) {
        Form::Empty => {}
        Form::Single { bits } => out.push(u64::from(rows[0]), bits),
        Form::Bitmap => {
            let mut next = 0;
            for &row in rows {
                out.push_zeros(u64::from(row - next));
                out.push(1, 1);
                next = row + 1;
            }
            out.push_zeros(u64::from(row_count - next));
        }
        Form::EliasFano { low_bits } => {
            for &row in rows {
                out.push(u64::from(row) & ((1 << low_bits) - 1), low_bits);
            }
            let mut high = 0;
            for &row in rows {
                out.push_zeros(u64::from((row >> low_bits) - high));
                out.push(1, 1);
                high = row >> low_bits;
            }
            out.push_zeros(u64::from(((row_count - 1) >> low_bits) - high));
        }
    }
}

/// Appends the rows of the list that begins at bit `start` of `bytes`, each plus `first_row`.
pub(super) fn read_list(
    bytes: &[u8],
    start: u64,
    count: u32,
    row_count: u32,
    first_row: u64,
    rows: &mut Vec<u64>,
) -> Result<()> {
    match Form::of(count, row_count) {
        Form::Empty => {}
        Form::Single { bits } => {
            let row = bits_at(bytes, start, bits);
            if row >= u64::from(row_count) {
                return Err(corrupt(PART, 0, format!("row {row} of {row_count}")));
            }
            rows.push(first_row + row);
        }
        Form::Bitmap => read_bitmap(bytes, start, count, row_count, first_row, rows)?,
        Form::EliasFano { low_bits } => {
            read_elias_fano(bytes, start, count, (row_count, low_bits), first_row, rows)?;
        }
    }
    Ok(())
}

fn read_bitmap(
    bytes: &[u8],
    start: u64,
    count: u32,
    row_count: u32,
    first_row: u64,
    rows: &mut Vec<u64>,
) -> Result<()> {
    let before = rows.len();
    let mut position = 0;
    while position < u64::from(row_count) {
        let step = (u64::from(row_count) - position).min(56);
        let mut word = bits_at(bytes, start + position, step as u32);
        while word != 0 {
            rows.push(first_row + position + u64::from(word.trailing_zeros()));
            word &= word - 1;
        }
        position += step;
    }
    if rows.len() - before == count as usize {
        return Ok(());
    }
    Err(corrupt(
        PART,
        0,
        format!("a bitmap of {} rows, {count} expected", rows.len() - before),
    ))
}

fn read_elias_fano(
    bytes: &[u8],
    start: u64,
    count: u32,
    (row_count, low_bits): (u32, u32),
    first_row: u64,
    rows: &mut Vec<u64>,
) -> Result<()> {
    let before = rows.len();
    rows.resize(before + count as usize, 0);
    let found = &mut rows[before..];
    let highs = start + u64::from(count) * u64::from(low_bits);
    let high_bits = u64::from(count) + u64::from((row_count - 1) >> low_bits);
    fetch_ahead(bytes, start, highs + high_bits);
    let (mut low_at, mut position, mut index) = (start, 0, 0);
    'all: while position < high_bits {
        let step = (high_bits - position).min(56);
        let mut word = word_at(bytes, highs + position) & ((1 << step) - 1);
        while word != 0 {
            let Some(place) = found.get_mut(index) else {
                break 'all;
            };
            // Bit number p holds the index-th one: p − index zeros stand before it.
            let high = position + u64::from(word.trailing_zeros()) - index as u64;
            *place = first_row + (high << low_bits | bits_at(bytes, low_at, low_bits));
            low_at += u64::from(low_bits);
            word &= word - 1;
            index += 1;
        }
        position += step;
    }
    let is_within = found
        .last()
        .is_none_or(|last| last - first_row < u64::from(row_count));
    // In order and the last of them within the rows: so are all.
    if index == count as usize && is_within && found.is_sorted() {
        return Ok(());
    }
    Err(corrupt(
        PART,
        0,
        format!("{count} ascending rows below {row_count} expected"),
    ))
}

/// Asks for the cache lines of bits `[start, end)`, so that one wait is that of all.
fn fetch_ahead(bytes: &[u8], start: u64, end: u64) {
    let most = end.min(start + 8 * FETCHED_BYTES);
    for bit in (start..most).step_by(8 * CACHE_LINE_BYTES) {
        prefetch(bytes, (bit / 8) as usize);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{BitWriter, Form, list_bits, push_list, read_list};

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_ROWS: u32 = if cfg!(miri) { 6000 } else { 100_000 };

    proptest! {
        #[test]
        fn low_bits_are_the_logarithm_of_the_quotient(row_count in 9_u32.., count in 2_u32..) {
            for count in [2, row_count / 4, count % (row_count / 4)].into_iter().filter(|&count| count > 1 && count < row_count.div_ceil(4)) {
                let low_bits = (row_count / count).ilog2();
                prop_assert_eq!(Form::of(count, row_count), Form::EliasFano { low_bits });
            }
        }

        #[test]
        fn a_list_comes_back_from_any_bit_and_takes_the_bits_it_says(
            row_count in 1..MOST_ROWS, rows in proptest::collection::vec(any::<u32>(), 0..MOST_ROWS as usize / 300), start in 0_u32..50,
        ) {
            let rows: Vec<u32> = rows.iter().map(|row| row % row_count).collect::<BTreeSet<_>>().into_iter().collect();
            let bits = list_bits(rows.len() as u32, row_count);
            let mut out = BitWriter::default();
            out.push_zeros(u64::from(start));
            push_list(&rows, row_count, &mut out);
            out.push(1, 1);
            let bytes = out.take();
            prop_assert_eq!(bytes.len() as u64, (u64::from(start) + bits + 1).div_ceil(8));
            let mut back = Vec::new();
            read_list(&bytes, u64::from(start), rows.len() as u32, row_count, 7, &mut back).expect("it was just written");
            prop_assert_eq!(back, rows.iter().map(|&row| u64::from(row) + 7).collect::<Vec<_>>());
        }

        #[test]
        fn arbitrary_bits_are_rows_in_range_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), count in 0_u32..200, row_count in 1_u32..5000) {
            let mut rows = Vec::new();
            if count <= row_count && read_list(&bytes, 3, count, row_count, 0, &mut rows).is_ok() {
                prop_assert_eq!(rows.len(), count as usize);
                prop_assert!(rows.iter().all(|&row| row < u64::from(row_count)) && rows.is_sorted());
            }
        }
    }
}
