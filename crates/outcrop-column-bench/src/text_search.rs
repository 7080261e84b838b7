//! Rows by value in newline text, without a dictionary and without an index: what both are measured against.
//!
//! Whole lines are found by a vectorised search for the value between two newlines (the `memchr` crate), and newlines are counted
//! up to each, since a search answers with row numbers. Both passes are over a part of the text at a time, so that the second finds
//! it in the cache: together they take about as long as memory takes to deliver the text.

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter};
use outcrop_column::{Column, EncodeOptions};

use crate::error::BenchError;
use crate::input::ColumnInput;
use crate::operations::check_rows;
use crate::spec::BenchSpec;
use crate::targets::{Target, Targets};

/// Text that is searched, then counted: a fraction of a second-level cache.
const PART_BYTES: usize = 128 << 10;

/// Targets whose rows are compared with those of a column file before anything is measured.
const COMPARED: u64 = 8;

/// Targets as for a column file of the same rows, each checked in two ways: the first against a pass over the rows, several
/// against the column file.
pub(crate) fn checked_targets(input: &ColumnInput, spec: &BenchSpec) -> Result<Targets, BenchError> {
    if !input.is_plain() {
        return Err(BenchError::Unavailable(
            "newline text does not distinguish a null from an empty value, or a newline in a value from its end, so a scan of \
             it cannot search this column"
                .to_owned(),
        ));
    }
    let mut file = Vec::new();
    input.encoder(EncodeOptions::default())?.finish(&mut file)?;
    let column = Column::open_in(file)?;
    let targets = Targets::draw(&column, spec.operation, spec.seed)?;
    check_rows(input, targets.at(0), &rows_in_text(input.text(), targets.at(0)))?;
    for number in 0..COMPARED {
        let target = targets.at(number);
        let of_column = match target {
            Target::Value(value) => column.find(value)?,
            Target::Prefix(prefix) => column.find_prefix(prefix)?,
            Target::Range(first, last) => column.find_range(&**first..=&**last)?,
            Target::Row(_) => continue,
        };
        let (in_text, of_column) = (rows_in_text(input.text(), target), of_column.rows()?);
        if in_text != of_column {
            return Err(BenchError::Wrong {
                operation: "search",
                detail: format!(
                    "{} rows found in the text, {} in the column file",
                    in_text.len(),
                    of_column.len()
                ),
            });
        }
    }
    Ok(targets)
}

/// The rows of a target, ascending. `text` is values without newlines, each followed by one.
pub(crate) fn rows_in_text(text: &[u8], target: &Target) -> Vec<u64> {
    match target {
        Target::Value(value) => lines_like(text, &[b"\n", &**value, b"\n"].concat()),
        Target::Prefix(prefix) => lines_like(text, &[b"\n", prefix.as_slice()].concat()),
        Target::Range(first, last) => lines_between(text, first, last),
        Target::Row(row) => {
            std::hint::black_box(line_at(text, *row));
            vec![*row]
        }
    }
}

/// Lines that `needle` stands before, whose first byte is the newline of the line before.
fn lines_like(text: &[u8], needle: &[u8]) -> Vec<u64> {
    let finder = Finder::new(needle);
    let mut rows = Vec::new();
    let mut row = 0;
    for part in parts(text) {
        // Nothing stands before the first line of a part.
        if part.starts_with(&needle[1..]) {
            rows.push(row);
        }
        let mut counted = 0;
        while let Some(found) = finder.find(&part[counted..]) {
            let line = counted + found + 1;
            // The newline behind one line is that before the next: the search goes on where this one ends.
            row += newlines(&part[counted..line]);
            counted = line;
            if counted < part.len() {
                rows.push(row);
            }
        }
        row += newlines(&part[counted..]);
    }
    rows
}

fn lines_between(text: &[u8], first: &[u8], last: &[u8]) -> Vec<u64> {
    let mut start = 0;
    let lines = memchr_iter(b'\n', text).map(|end| {
        let line = &text[start..end];
        start = end + 1;
        line
    });
    let is_wanted = |line: &[u8]| first <= line && line <= last;
    (0..)
        .zip(lines)
        .filter(|(_, line)| is_wanted(line))
        .map(|(row, _)| row)
        .collect()
}

fn line_at(text: &[u8], row: u64) -> Option<&[u8]> {
    let mut before = 0;
    for part in parts(text) {
        let lines = newlines(part);
        if before + lines > row {
            return part.split(|&byte| byte == b'\n').nth((row - before) as usize);
        }
        before += lines;
    }
    None
}

fn newlines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// The text in parts of whole lines.
fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let from = PART_BYTES.min(rest.len()) - 1;
        let end = memchr(b'\n', &rest[from..]).map_or(rest.len(), |newline| from + newline + 1);
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PART_BYTES, rows_in_text};
    use crate::input::ColumnInput;
    use crate::targets::Target;

    fn check(values: &[Vec<u8>], targets: &[Target]) {
        let input = ColumnInput::from_values(values.iter().map(Some));
        for target in targets {
            let expected: Vec<u64> = (0..)
                .zip(values)
                .filter(|(row, value)| target.selects(*row, Some(value)))
                .map(|(row, _)| row)
                .collect();
            assert_eq!(rows_in_text(input.text(), target), expected, "{target:?}");
        }
    }

    proptest! {
        #[test]
        fn a_scan_of_the_text_finds_the_rows_that_a_look_at_each_finds(
            values in proptest::collection::vec(proptest::collection::vec(b'a'..b'c', 0..4), 1..60), number: usize,
        ) {
            let of = |number: usize| values[number % values.len()].clone();
            let (one, other) = (of(number), of(number / 61));
            let (first, last) = (one.clone().min(other.clone()), one.clone().max(other));
            let prefix = one[..one.len() / 2].to_vec();
            check(&values, &[
                Target::Value(one.into()), Target::Prefix(prefix), Target::Range(first.into(), last.into()), Target::Row((number % values.len()) as u64),
                Target::Value([].into()), Target::Prefix(Vec::new()), Target::Value(b"d"[..].into()),
            ]);
        }
    }

    #[test]
    fn lines_on_both_sides_of_a_part_are_found_and_counted() {
        let value = |row: usize| vec![b'a' + (row % 7) as u8; 1 + row % 40];
        let values: Vec<Vec<u8>> = (0..PART_BYTES / 5).map(value).collect();
        let of = |row: usize| Target::Value(value(row).into());
        check(
            &values,
            &[
                of(0),
                of(39),
                of(13),
                Target::Prefix(vec![b'b'; 9]),
                Target::Prefix(vec![b'a']),
            ],
        );
        let long = vec![
            vec![b'x'; 3 * PART_BYTES],
            b"y".to_vec(),
            vec![b'x'; PART_BYTES],
            b"y".to_vec(),
        ];
        check(
            &long,
            &[
                Target::Value(b"y"[..].into()),
                Target::Value(long[2].as_slice().into()),
                Target::Prefix(b"x".to_vec()),
            ],
        );
    }
}
