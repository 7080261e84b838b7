//! The packed form of small columns: when it is chosen, what it holds, how it grows, and what it refuses.

use outcrop_column::storage::FailingWriter;
use outcrop_column::{Column, ColumnError, EncodeOptions, Encoder, Index, PackedForm, Profile, is_column};
use proptest::prelude::*;

use crate::fixtures::{folder, packed_fixtures};
use crate::oracle::{Row, check_file, encode, encode_unpacked, push_all, values};
use crate::untrusted::ask_everything;

const SMALLEST: EncodeOptions = EncodeOptions {
    index: Index::None,
    profile: Profile::Smallest,
    threads: 1,
};

fn form_of(file: &[u8]) -> Option<PackedForm> {
    let report = Column::open_in(file.to_vec()).unwrap().report().unwrap();
    assert_eq!(report.file_bytes, file.len() as u64);
    report.packed.map(|packed| packed.form)
}

/// Rows whose text has `text_bytes` bytes, newlines counted.
fn words(text_bytes: usize) -> Vec<Row> {
    let word = |row: usize| format!("{:07}", row * row % 9973).into_bytes();
    let mut rows: Vec<Row> = (0..text_bytes / 8).map(|row| Some(word(row))).collect();
    rows.extend((0..text_bytes % 8).map(|_| Some(Vec::new())));
    rows
}

#[test]
fn a_column_is_packed_only_where_the_smallest_file_is_asked_for() {
    let rows = words(4000);
    for profile in [Profile::Smallest, Profile::Balanced, Profile::Fastest] {
        for index in [Index::None, Index::Postings, Index::Only] {
            let options = EncodeOptions {
                index,
                profile,
                threads: 1,
            };
            let file = encode(&rows, options);
            let packs = (profile, index) == (Profile::Smallest, Index::None);
            assert_eq!(form_of(&file).is_some(), packs, "{options:?}");
            assert!(is_column(&file[..8]));
            let unpacked = encode_unpacked(&rows, options);
            assert_eq!(file.len() < unpacked.len(), packs, "{options:?}");
            assert_eq!(form_of(&unpacked), None);
        }
    }
}

#[test]
fn a_column_of_more_text_than_the_limit_is_not_packed_and_one_at_the_limit_is() {
    // A distinct value, of which there are some thousands here, counts 24 bytes besides.
    let distinct = words(1 << 20)
        .into_iter()
        .collect::<std::collections::HashSet<_>>();
    let most = (1 << 21) / 8 * 8 - (24 * distinct.len()).next_multiple_of(8);
    for (text_bytes, packs) in [(most, true), (most + 8, false)] {
        let rows = words(text_bytes);
        let file = encode(&rows, SMALLEST);
        assert_eq!(form_of(&file).is_some(), packs, "{text_bytes} bytes of text");
        check_file(&file, &rows, 1);
    }
}

#[test]
fn a_packed_file_is_never_larger_than_its_text_under_zstd() {
    for text_bytes in [0, 1, 8, 100, 1000, 30_000] {
        let rows = words(text_bytes);
        let text: Vec<u8> = rows
            .iter()
            .flat_map(|row| row.iter().flatten().copied().chain([b'\n']))
            .collect();
        // The four bytes are the checksum that the command-line tool adds.
        let zstd = zstd::bulk::compress(&text, 19).unwrap().len() + 4;
        let file = encode(&rows, SMALLEST);
        assert!(
            file.len() <= zstd,
            "{text_bytes} bytes of text: {} against {zstd}",
            file.len()
        );
    }
    // 24 bytes under the command-line tool: magic number, form, rows, size, value, checksum here.
    let constant = encode(&vec![Some(b"US".to_vec()); 1795], SMALLEST);
    assert_eq!(constant.len(), 3 + 1 + 2 + 1 + 2 + 4);
}

#[test]
fn more_distinct_values_than_the_limit_are_not_packed_nor_read() {
    let rows: Vec<Row> = (0..65_537_u32)
        .map(|row| Some(row.to_le_bytes()[..3].to_vec()))
        .collect();
    assert_eq!(form_of(&encode(&rows, SMALLEST)), None);
    let text: Vec<u8> = (0..65_537_u32)
        .flat_map(|row| format!("{row}\n").into_bytes())
        .collect();
    let error = Column::open_in(file_of(b'T', &frame(&text))).unwrap_err();
    assert!(error.to_string().contains("65537 distinct values"), "{error}");
}

fn frame(content: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(content, 19).unwrap().split_off(4)
}

fn file_of(form: u8, body: &[u8]) -> Vec<u8> {
    let mut file = [&b"\x8aOC"[..], &[form], body].concat();
    file.extend(crc32c::crc32c(&file).to_le_bytes());
    file
}

#[test]
fn what_would_unpack_to_more_than_the_limit_is_refused() {
    let mut too_long = frame(&vec![b'\n'; (1 << 22) + 1]);
    let lines = frame(&vec![b'\n'; (1 << 21) + 1]);
    let no_end = frame(b"no end");
    let short_list = frame(&[200, 200, 200, 1, 2, 3]);
    let one_value = frame(&[&[b'x'; 1000][..], b"\n"].concat());
    let many_rows = [&[0x80, 0x80, 0x80, 1][..], &one_value].concat();
    // 2^20 rows of a value of 1,000 bytes: blocks of one integer each.
    let constant_blocks = [5, 0, 0, 0, 0, 0].repeat(16);
    let long_rows = [&[0x80, 0x80, 0x40][..], &one_value, &constant_blocks].concat();
    for (form, body, expected) in [
        (b'T', &too_long.clone(), "content of 4194305 bytes"),
        (b'T', &lines, "2097153 bytes of text"),
        (b'T', &no_end, "no end"),
        (b'L', &short_list, "bytes expected"),
        (b'C', &vec![0x81, 0x80, 0x80, 1, 0], "2097153 bytes of text"),
        (
            b'C',
            &vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0],
            "bytes of text",
        ),
        (b'D', &many_rows, "bytes expected"),
        (b'D', &long_rows, "bytes of text"),
    ] {
        let error = Column::open_in(file_of(form, body)).unwrap_err().to_string();
        assert!(error.contains(expected), "{}: {error}", form as char);
    }
    // A frame that says less than it holds.
    too_long[1..5].copy_from_slice(&100_u32.to_le_bytes());
    let error = Column::open_in(file_of(b'T', &too_long)).unwrap_err();
    assert!(matches!(error, ColumnError::Corrupt { .. }), "{error}");
    let error = Column::open_in(file_of(b'Z', b"")).unwrap_err().to_string();
    assert!(
        error.contains("0x5a") && error.contains("newer release"),
        "{error}"
    );
    assert!(!is_column(b"\x8aOCZ") && !is_column(b"\x8aOC") && !is_column(b"text"));
}

#[test]
fn a_cut_or_a_flipped_bit_anywhere_in_a_packed_golden_file_is_an_error() {
    for (name, ..) in packed_fixtures() {
        let file = std::fs::read(folder().join(format!("{name}.ocol"))).unwrap();
        for length in 0..file.len() {
            assert!(
                Column::open_in(file[..length].to_vec()).is_err(),
                "{name} cut at {length}"
            );
        }
        for position in 0..file.len() {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[position] ^= 1 << bit;
                ask_everything(&damaged);
                assert!(
                    Column::open_in(damaged).is_err(),
                    "{name}: bit {bit} of byte {position}"
                );
            }
        }
    }
}

fn appended(file: &mut Vec<u8>, rows: &[Row], options: EncodeOptions) {
    let before = file.clone();
    let mut encoder = Encoder::new(options);
    push_all(&mut encoder, rows);
    let report = encoder.append(&before, file).unwrap();
    assert_eq!(report.file_bytes, file.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn packed_columns_answer_grow_and_are_packed_again(
        first in proptest::collection::vec(values(), 0..200), second in proptest::collection::vec(values(), 0..60),
    ) {
        let mut file = encode(&first, SMALLEST);
        prop_assert!(form_of(&file).is_some());
        check_file(&file, &first, 8);
        appended(&mut file, &second, SMALLEST);
        prop_assert!(form_of(&file).is_none());
        let rows: Vec<Row> = first.iter().chain(&second).cloned().collect();
        check_file(&file, &rows, 8);
        let mut again = Vec::new();
        Column::open_in(file).unwrap().compact(SMALLEST).unwrap().finish(&mut again).unwrap();
        prop_assert!(again == encode(&rows, SMALLEST));
    }
}

#[test]
fn an_append_to_a_packed_file_that_fails_at_any_call_leaves_the_old_rows() {
    // Shorter than a header and longer than one.
    for old in [vec![Some(b"old".to_vec()); 100], words(4000)] {
        let sound = encode(&old, SMALLEST);
        let new = words(1000);
        for calls in 0.. {
            let mut file = sound.clone();
            let mut failing = FailingWriter::after(calls, &mut file);
            let mut encoder = Encoder::new(SMALLEST);
            push_all(&mut encoder, &new);
            let is_done = encoder.append(&sound, &mut failing).is_ok();
            // A torn header is the one thing that a failing call may leave: a disk writes whole sectors.
            let is_header_write = !file.starts_with(&sound[..sound.len().min(64)]);
            if is_done || !is_header_write {
                let column = Column::open_in(file).unwrap();
                let expected = old.len() + if is_done { new.len() } else { 0 };
                assert_eq!(column.row_count(), expected as u64);
                assert!(column.verify().unwrap().damage.is_empty());
            }
            if is_done {
                assert!(calls >= 5, "{calls}");
                break;
            }
        }
    }
}

#[test]
fn packed_and_ordinary_files_are_appended_to_each_other() {
    let (packed, ordinary) = (
        encode(&words(800), SMALLEST),
        encode(&words(1600), EncodeOptions::default()),
    );
    let rows = |text_bytes| words(text_bytes).into_iter();
    for (first, second, expected) in [
        (
            &packed,
            &ordinary,
            rows(800).chain(rows(1600)).collect::<Vec<_>>(),
        ),
        (&ordinary, &packed, rows(1600).chain(rows(800)).collect()),
        (&packed, &packed, rows(800).chain(rows(800)).collect()),
    ] {
        let mut both = first.clone();
        let other = Column::open_in(second.clone()).unwrap();
        other.append_segments(first, &mut both).unwrap();
        check_file(&both, &expected, 5);
    }
}

#[test]
fn writers_that_append_to_a_packed_file_at_the_same_time_lose_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("column.ocol");
    let encoder = || {
        let mut encoder = Encoder::new(SMALLEST);
        push_all(&mut encoder, &words(4000));
        encoder
    };
    encoder().write(&path).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| encoder().append_to(&path).unwrap());
        }
    });
    let column = Column::open_on_disk(&path).unwrap();
    assert_eq!(column.row_count(), 5 * 500);
    assert!(column.verify().unwrap().damage.is_empty());
}
