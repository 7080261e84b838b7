//! Files that were cut, changed or made up: an error or the right answer, never a panic and never wrong rows.

use std::sync::OnceLock;

use outcrop_column::storage::CountingReader;
use outcrop_column::{Column, EncodeOptions, Index, Profile};
use proptest::prelude::*;

use crate::oracle::{INDEXES, Row, encode};

fn small_rows() -> Vec<Row> {
    let mut rows: Vec<Row> = (0..300_u32)
        .map(|row| Some(format!("w{}", row * row % 97).into_bytes()))
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
        options.map(|options| encode(&small_rows(), options)).collect()
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
        column.get(299).ok()?;
    }
    let mut found = Vec::new();
    for value in 0..97 {
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

/// Makes all checksums of header, footer and section tables right again, so that damage reaches the code behind them.
fn reseal(file: &mut [u8]) {
    let footer = footer_offset(file);
    let Some(sections) = file.get(footer + 56..footer + 60) else {
        return;
    };
    let section_count = u32::from_le_bytes(sections.try_into().unwrap()) as usize;
    for section in 0..section_count.min(4) {
        let at = footer + 64 + 48 * section;
        let Some(entry) = file.get(at..at + 48) else {
            return;
        };
        let field = |start: usize| u64::from_le_bytes(entry[start..start + 8].try_into().unwrap());
        let (offset, table, length) = (field(8), field(24), field(32));
        let start = offset.wrapping_add(table) as usize;
        let Some(table) = file.get(start..start.saturating_add(length as usize)) else {
            continue;
        };
        let crc = crc32c::crc32c(table);
        file[at + 40..at + 44].copy_from_slice(&crc.to_le_bytes());
    }
    let crc = crc32c::crc32c(&file[footer..]);
    file[56..60].copy_from_slice(&crc.to_le_bytes());
    let crc = crc32c::crc32c(&file[..60]);
    file[60..64].copy_from_slice(&crc.to_le_bytes());
}

fn ask_everything(file: &[u8]) {
    for preload in [false, true] {
        let Ok(mut column) = Column::open_in(file.to_vec()) else {
            continue;
        };
        if preload && column.preload().is_err() {
            continue;
        }
        let _ = column.verify();
        let _ = column.report();
        let _ = column.decode_text(&mut std::io::sink());
        for value in [&b"w1"[..], b"", b"w99", b"zzz"] {
            let _ = column.find(value).and_then(|selection| selection.rows());
            let _ = column
                .find_prefix(value)
                .and_then(|selection| selection.rows_by_scan());
        }
        let _ = column
            .matching(|value| value.len() % 2 == 0)
            .and_then(|selection| selection.count());
        let _ = column.get(17);
        let _ = column.find_null().and_then(|selection| selection.rows());
    }
}

#[test]
fn tables_and_footers_changed_behind_a_right_checksum_never_panic() {
    for file in small_files() {
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
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn changed_bytes_behind_right_checksums_never_panic(
        which in 0_usize..6, changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut file = small_files().swap_remove(which);
        for (position, byte) in changes {
            let position = 64 + position.index(file.len() - 64);
            file[position] = byte;
        }
        reseal(&mut file);
        ask_everything(&file);
    }

    #[test]
    fn random_bytes_are_not_a_column(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(Column::open_in(bytes).is_err());
    }
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
