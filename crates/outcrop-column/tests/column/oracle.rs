//! Every way to ask a column against a plain map from values to rows.

use std::collections::BTreeMap;
use std::ops::Bound;

use outcrop_column::storage::CountingReader;
use outcrop_column::{
    BLOCK_ROWS, Column, EncodeOptions, Encoder, Index, Profile, Selection, encode_lines, encode_text,
};
use proptest::prelude::*;

pub(crate) type Row = Option<Vec<u8>>;

pub(crate) const INDEXES: [Index; 3] = [Index::None, Index::Postings, Index::Only];
pub(crate) const PROFILES: [Profile; 3] = [Profile::Smallest, Profile::Balanced, Profile::Fastest];

pub(crate) fn encode(rows: &[Row], options: EncodeOptions) -> Vec<u8> {
    let mut encoder = Encoder::new(options);
    push_all(&mut encoder, rows);
    let mut file = Vec::new();
    encoder.finish(&mut file).unwrap();
    file
}

/// The ordinary form, also where the options allow the packed one.
pub(crate) fn encode_unpacked(rows: &[Row], options: EncodeOptions) -> Vec<u8> {
    let mut encoder = Encoder::new(options);
    push_all(&mut encoder, rows);
    encoder.never_pack();
    let mut file = Vec::new();
    encoder.finish(&mut file).unwrap();
    file
}

pub(crate) fn push_all(encoder: &mut Encoder, rows: &[Row]) {
    for row in rows {
        match row {
            Some(value) => encoder.push(value).unwrap(),
            None => encoder.push_null().unwrap(),
        }
    }
}

/// The naive answer: rows by value.
type Oracle<'a> = BTreeMap<Option<&'a [u8]>, Vec<u64>>;

fn oracle_of(rows: &[Row]) -> Oracle<'_> {
    let mut oracle = Oracle::new();
    for (row, value) in (0..).zip(rows) {
        oracle.entry(value.as_deref()).or_default().push(row);
    }
    oracle
}

fn rows_where(oracle: &Oracle<'_>, wanted: impl Fn(&[u8]) -> bool) -> Vec<u64> {
    let mut rows: Vec<u64> = oracle
        .iter()
        .filter(|(value, _)| value.is_some_and(&wanted))
        .flat_map(|(_, rows)| rows.clone())
        .collect();
    rows.sort_unstable();
    rows
}

fn check_selection(selection: &Selection<'_>, expected: &[u64], has_codes: bool) {
    assert_eq!(selection.rows().unwrap(), expected);
    assert_eq!(selection.count().unwrap(), expected.len() as u64);
    assert!(selection.bitmap().unwrap().iter().eq(expected.iter().copied()));
    if has_codes {
        assert_eq!(selection.rows_by_scan().unwrap(), expected);
    }
    let mut counted = 0;
    selection
        .for_each_value(|_, count| {
            counted += count;
            Ok(())
        })
        .unwrap();
    assert_eq!(counted, expected.len() as u64);
}

fn check_searches(column: &Column, rows: &[Row], most_values: usize) {
    let oracle = oracle_of(rows);
    let has_codes = column.has_codes();
    assert_eq!(column.row_count(), rows.len() as u64);
    let step = oracle.len().div_ceil(most_values).max(1);
    for (value, expected) in oracle.iter().step_by(step) {
        match value {
            Some(value) => check_selection(&column.find(value).unwrap(), expected, has_codes),
            None => check_selection(&column.find_null().unwrap(), expected, has_codes),
        }
    }
    for value in oracle.keys().step_by(step).flatten() {
        let mut absent = value.to_vec();
        absent.push(0);
        let expected = oracle.get(&Some(&absent[..])).cloned().unwrap_or_default();
        assert_eq!(column.find(&absent).unwrap().rows().unwrap(), expected);
        let prefix = &value[..value.len().min(2)];
        let expected = rows_where(&oracle, |other| other.starts_with(prefix));
        check_selection(&column.find_prefix(prefix).unwrap(), &expected, has_codes);
        for range in [
            (Bound::Included(prefix), Bound::Excluded(*value)),
            (Bound::Excluded(prefix), Bound::Included(*value)),
            (Bound::Excluded(*value), Bound::Unbounded),
        ] {
            let expected = rows_where(&oracle, |other| {
                std::ops::RangeBounds::<&[u8]>::contains(&range, &other)
            });
            check_selection(&column.find_range(range).unwrap(), &expected, has_codes);
        }
    }
    let odd = |value: &[u8]| value.iter().map(|&byte| usize::from(byte)).sum::<usize>() % 2 == 1;
    check_selection(
        &column.matching(odd).unwrap(),
        &rows_where(&oracle, odd),
        has_codes,
    );
}

fn check_order(column: &Column, rows: &[Row]) {
    let mut all = Vec::new();
    column
        .for_each_row(|value| {
            all.push(value.map(<[u8]>::to_vec));
            Ok(())
        })
        .unwrap();
    assert_eq!(all, rows);
    let mut text = Vec::new();
    column.decode_text(&mut text).unwrap();
    let expected: Vec<u8> = rows
        .iter()
        .flat_map(|row| row.iter().flatten().copied().chain([b'\n']))
        .collect();
    assert_eq!(text, expected);
    let step = rows.len().div_ceil(50).max(1);
    for (row, value) in rows.iter().enumerate().step_by(step) {
        assert_eq!(column.get(row as u64).unwrap(), *value);
    }
    assert!(column.get(rows.len() as u64).is_err());
    let mut values = BTreeMap::new();
    column
        .for_each_value(|segment, code, value| {
            values.insert((segment, code), value.to_vec());
            Ok(())
        })
        .unwrap();
    let batches = column.scan_codes().unwrap().map(Result::unwrap);
    let scanned: Vec<Row> = batches
        .flat_map(|batch| {
            batch
                .codes
                .iter()
                .map(|&code| values.get(&(batch.segment, code)).cloned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(scanned, rows);
}

/// Asks the file in every mode: from memory and through reads, preloaded and not
/// (large files: two of the four).
pub(crate) fn check_file(file: &[u8], rows: &[Row], most_values: usize) {
    let is_large = rows.len() > 10_000;
    for (preload, on_disk) in [(false, false), (true, true), (false, true), (true, false)]
        .into_iter()
        .take(if is_large { 2 } else { 4 })
    {
        let opened = if on_disk {
            Column::open_in(CountingReader::new(file.to_vec()))
        } else {
            Column::open_in(file.to_vec())
        };
        let mut column = opened.unwrap();
        if preload {
            column.preload().unwrap();
        }
        check_searches(&column, rows, most_values);
        if column.has_codes() {
            check_order(&column, rows);
        }
        let report = column.verify().unwrap();
        assert!(report.damage.is_empty(), "{:?}", report.damage);
        column.report().unwrap();
    }
}

pub(crate) fn values() -> impl Strategy<Value = Row> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(Vec::new())),
        4 => proptest::collection::vec(0_u8..3, 0..4).prop_map(Some),
        2 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Some),
        1 => (0_usize..600).prop_map(|length| Some(vec![b'x'; length])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_search_equals_the_plain_map(rows in proptest::collection::vec(values(), 0..400), index in 0_usize..3, profile in 0_usize..3) {
        let options = EncodeOptions { index: INDEXES[index], profile: PROFILES[profile], threads: 1 };
        check_file(&encode(&rows, options), &rows, 12);
    }

    #[test]
    fn appended_segments_answer_as_one_column(
        first in proptest::collection::vec(values(), 0..120), second in proptest::collection::vec(values(), 0..120), index in 0_usize..3,
    ) {
        let options = EncodeOptions { index: INDEXES[index], ..Default::default() };
        let mut file = encode(&first, options);
        let before = file.clone();
        let mut encoder = Encoder::new(options);
        push_all(&mut encoder, &second);
        encoder.append(&before, &mut file).unwrap();
        let rows: Vec<Row> = first.into_iter().chain(second).collect();
        check_file(&file, &rows, 8);
        if index != 2 {
            let compacted = Column::open_in(file).unwrap().compact(options).unwrap();
            let mut merged = Vec::new();
            compacted.finish(&mut merged).unwrap();
            prop_assert!(merged == encode(&rows, options), "compacting gives what encoding all rows at once gives");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn rows_at_the_edges_of_a_block_answer_whatever_their_values(
        palette in proptest::collection::vec(values(), 1..40), seed in any::<u64>(), edge in 0_usize..5, index in 0_usize..3, profile in 0_usize..3,
    ) {
        let row_count = [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1][edge];
        let rows: Vec<Row> = (0..row_count as u64)
            .map(|row| {
                let draw = (row ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                palette[(draw % (1 + draw % palette.len() as u64)) as usize].clone()
            })
            .collect();
        let options = EncodeOptions { index: INDEXES[index], profile: PROFILES[profile], threads: 1 };
        check_file(&encode(&rows, options), &rows, 2);
    }
}

/// A deterministic mixture of shapes that reaches each encoding of blocks.
pub(crate) fn shaped(shape: &str, row_count: usize) -> Vec<Row> {
    let mut state = 0x9e37_79b9_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let name = |number: u64| Some(format!("value {number:07}").into_bytes());
    (0..row_count as u64)
        .map(|row| match shape {
            "equal" => name(7),
            "distinct" => name(row.wrapping_mul(48_271) % 1_000_003),
            "ascending" => name(row),
            "runs" => name(row / 999),
            "few" => name(random() % 5),
            "skewed" => name(random() % (1 + random() % 5000)),
            "local" => name((row / 65_536) * 10_000 + random() % 40 * 251),
            "repeating" => name(row % 1000 * 7919 % 997),
            "nulls" => {
                if random().is_multiple_of(3) {
                    None
                } else {
                    name(random() % 300)
                }
            }
            other => panic!("unknown shape {other}"),
        })
        .collect()
}

const SHAPES: [&str; 9] = [
    "equal",
    "distinct",
    "ascending",
    "runs",
    "few",
    "skewed",
    "local",
    "repeating",
    "nulls",
];

#[test]
fn every_shape_answers_at_the_edges_of_a_block() {
    for (index, row_count) in [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1]
        .into_iter()
        .enumerate()
    {
        for (number, shape) in SHAPES.into_iter().enumerate() {
            let rows = shaped(shape, row_count);
            let profile = [Profile::Balanced, Profile::Fastest][(index + number) % 2];
            let options = EncodeOptions {
                index: INDEXES[(index + number) % 3],
                profile,
                threads: 1,
            };
            check_file(&encode(&rows, options), &rows, 2);
        }
    }
}

#[test]
fn the_bytes_written_do_not_depend_on_the_number_of_threads() {
    for shape in SHAPES {
        let rows = shaped(shape, 300_000);
        let text: Vec<u8> = rows
            .iter()
            .flat_map(|row| row.iter().flatten().copied().chain([b'\n']))
            .collect();
        let files: Vec<Vec<u8>> = [1, 2, 3]
            .into_iter()
            .map(|threads| {
                let options = EncodeOptions {
                    index: Index::Postings,
                    threads,
                    ..Default::default()
                };
                let mut file = Vec::new();
                encode_text(&text[..], options)
                    .unwrap()
                    .finish(&mut file)
                    .unwrap();
                let mut of_lines = Vec::new();
                encode_lines(&text, options)
                    .unwrap()
                    .finish(&mut of_lines)
                    .unwrap();
                assert!(of_lines == file, "{shape} in memory, {threads} threads");
                file
            })
            .collect();
        assert!(files[0] == files[1] && files[1] == files[2], "{shape}");
        let mut decoded = Vec::new();
        Column::open_in(files[0].clone())
            .unwrap()
            .decode_text(&mut decoded)
            .unwrap();
        assert!(decoded == text, "{shape}");
    }
}

#[test]
fn text_keeps_empty_lines_and_needs_no_last_newline() {
    let read = |text: &str| {
        let mut file = Vec::new();
        encode_text(text.as_bytes(), EncodeOptions::default())
            .unwrap()
            .finish(&mut file)
            .unwrap();
        let mut of_lines = Vec::new();
        encode_lines(text.as_bytes(), EncodeOptions::default())
            .unwrap()
            .finish(&mut of_lines)
            .unwrap();
        assert_eq!(of_lines, file);
        let mut rows = Vec::new();
        let column = Column::open_in(file).unwrap();
        column
            .for_each_row(|value| {
                rows.push(String::from_utf8(value.unwrap().to_vec()).unwrap());
                Ok(())
            })
            .unwrap();
        rows
    };
    assert!(read("").is_empty());
    assert_eq!(read("\n"), [""]);
    assert_eq!(read("a\n\nb"), ["a", "", "b"]);
    assert_eq!(read("a\r\nb\r\n"), ["a\r", "b\r"]);
}

#[test]
fn lines_longer_than_a_chunk_of_input_arrive_whole() {
    let long = "x".repeat(3 << 20);
    let text = format!("{long}\nshort\n{long}y\n{long}");
    for threads in [1, 2] {
        let options = EncodeOptions {
            threads,
            ..Default::default()
        };
        let mut file = Vec::new();
        encode_text(text.as_bytes(), options)
            .unwrap()
            .finish(&mut file)
            .unwrap();
        let mut of_lines = Vec::new();
        encode_lines(text.as_bytes(), options)
            .unwrap()
            .finish(&mut of_lines)
            .unwrap();
        assert!(of_lines == file);
        let column = Column::open_in(file).unwrap();
        assert_eq!(column.find(long.as_bytes()).unwrap().rows().unwrap(), [0, 3]);
        assert_eq!(column.find(b"short").unwrap().rows().unwrap(), [1]);
    }
}
