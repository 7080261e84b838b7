//! Files that were cut, changed or made up: an error or the right answer, never a panic and never wrong rows.

use std::sync::OnceLock;

use outcrop_column::storage::CountingReader;
use outcrop_column::{Column, EncodeOptions, Index, Profile};
use proptest::prelude::*;

use crate::oracle::{INDEXES, Row, encode, encode_unpacked};
use crate::tokens::{SMALLEST, phrases};
use crate::untrusted::{ask_everything, edited, made_up, misplaced, reseal};

/// Few rows: each byte of each file is flipped, and everything asked of the result.
const ROW_COUNT: u32 = 120;
const WORD_COUNT: u32 = 29;

fn small_rows() -> Vec<Row> {
    let mut rows: Vec<Row> = (0..ROW_COUNT)
        .map(|row| Some(format!("w{}", row * row % WORD_COUNT).into_bytes()))
        .collect();
    rows[13] = None;
    rows[14] = Some(Vec::new());
    rows[15] = Some(b"a longer value, past one cell of text".to_vec());
    rows
}

fn small_files() -> Vec<Vec<u8>> {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let encode_all = || {
        let profiles = [Profile::Balanced, Profile::Smallest];
        let options = INDEXES.into_iter().flat_map(|index| {
            profiles.map(|profile| EncodeOptions {
                index,
                profile,
                threads: 1,
            })
        });
        let files = options.flat_map(|options| {
            [
                encode(&small_rows(), options),
                encode_unpacked(&small_rows(), options),
            ]
        });
        let mut files: Vec<Vec<u8>> = files.collect();
        // Tokens need phrases, and more words than one byte tells apart.
        let of_tokens = encode_unpacked(&phrases(8000, 16), SMALLEST);
        assert_eq!(of_tokens[32], 1, "tokens do not pay here");
        files.push(of_tokens);
        files.dedup();
        files
    };
    FILES.get_or_init(encode_all).clone()
}

/// Everything that a reader may be asked; `None` if any answer is an error.
type Answers = (Vec<Row>, Vec<Vec<u64>>, Vec<u64>);

fn answers(file: Vec<u8>) -> Option<Answers> {
    let column = Column::open_in(CountingReader::new(file)).ok()?;
    let mut rows = Vec::new();
    if column.has_codes() {
        column
            .for_each_row(|value| {
                rows.push(value.map(<[u8]>::to_vec));
                Ok(())
            })
            .ok()?;
        column.get(u64::from(ROW_COUNT) - 1).ok()?;
    }
    let mut found = Vec::new();
    for value in 0..WORD_COUNT {
        found.push(column.find(format!("w{value}").as_bytes()).ok()?.rows().ok()?);
    }
    found.push(column.find_null().ok()?.rows().ok()?);
    found.push(column.find(b"").ok()?.rows().ok()?);
    Some((rows, found, column.find_prefix(b"w1").ok()?.rows().ok()?))
}

#[test]
fn a_file_cut_at_any_byte_is_an_error() {
    for file in small_files() {
        for length in 0..file.len() {
            assert!(
                answers(file[..length].to_vec()).is_none(),
                "cut at {length} of {}",
                file.len()
            );
        }
    }
}

#[test]
fn a_bit_flipped_in_any_byte_gives_an_error_or_the_right_rows() {
    for file in small_files() {
        let sound = answers(file.clone()).unwrap();
        for position in 0..file.len() {
            let mut damaged = file.clone();
            damaged[position] ^= 1 << (position % 8);
            let verified = Column::open_in(damaged.clone()).and_then(|column| column.verify());
            if let Some(seen) = answers(damaged) {
                assert!(
                    seen == sound,
                    "bit {} of byte {position} changed the rows",
                    position % 8
                );
            } else {
                let is_reported = verified.map_or(true, |report| !report.damage.is_empty());
                assert!(is_reported, "verify does not see byte {position}");
            }
        }
    }
}

/// Offset of the footer, from the header.
fn footer_offset(file: &[u8]) -> usize {
    u64::from_le_bytes(file[40..48].try_into().unwrap()) as usize
}

#[test]
fn tables_and_footers_changed_behind_a_right_checksum_never_panic() {
    for file in small_files().into_iter().filter(|file| file[3] == b'O') {
        let footer = footer_offset(&file);
        let tables = (footer - 300.min(footer - 64))..file.len();
        for position in tables {
            for change in [1_u8, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[position] ^= change;
                reseal(&mut damaged);
                ask_everything(&damaged);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn changed_bytes_behind_right_checksums_never_panic(edits in proptest::collection::vec(any::<u8>(), 4..20)) {
        let mut file = edited(&edits);
        reseal(&mut file);
        ask_everything(&file);
    }

    #[test]
    fn made_up_packed_files_behind_a_right_checksum_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        ask_everything(&made_up(&bytes));
    }

    #[test]
    fn made_up_lists_of_small_numbers_never_panic(bytes in proptest::collection::vec(0_u8..12, 0..60)) {
        ask_everything(&made_up(&bytes));
    }

    #[test]
    fn random_bytes_are_not_a_column(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(Column::open_in(bytes).is_err());
    }
}

#[test]
fn the_files_that_are_edited_have_tokens_among_them() {
    assert!(
        crate::untrusted::small_files()
            .iter()
            .any(|file| file[3] == b'O' && file[32] == 1)
    );
}

#[test]
fn unknown_features_are_refused_or_ignored_as_their_kind_says() {
    let file = encode(
        &small_rows(),
        EncodeOptions {
            index: Index::None,
            ..Default::default()
        },
    );
    for (offset, opens) in [(16, true), (24, true), (32, false)] {
        let mut other = file.clone();
        other[offset] |= 4;
        let crc = crc32c::crc32c(&other[..60]);
        other[60..64].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(
            Column::open_in(other.clone()).is_ok(),
            opens,
            "feature bit at {offset}"
        );
        if offset == 24 {
            let encoder = outcrop_column::Encoder::new(EncodeOptions::default());
            assert!(encoder.append(&other.clone(), &mut other).is_err());
        }
    }
}

#[test]
fn blocks_that_lie_beyond_the_section_are_errors_and_no_panics() {
    let mut tried = 0;
    for (number, file) in crate::untrusted::small_files().iter().enumerate() {
        for offset in [u64::MAX, u64::MAX - 64, 1 << 63, file.len() as u64] {
            let Some(damaged) = misplaced(file, offset) else {
                continue;
            };
            ask_everything(&damaged);
            let column = Column::open_in(damaged).unwrap();
            let is_sound = column.verify().is_ok_and(|report| report.damage.is_empty());
            assert!(!is_sound, "file {number}, {offset}");
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried}");
}
