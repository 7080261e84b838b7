//! The name of a column: kept in both forms, never in the way of the rows, and refused or ignored where it is damaged.

use outcrop_column::{Column, ColumnError, EncodeOptions, Encoder, Index, NAME_BYTES_LIMIT, Profile};
use proptest::prelude::*;

use crate::oracle::{INDEXES, PROFILES, Row, check_file, push_all};
use crate::untrusted::{ask_everything, reseal};

const NAME: &str = "Höhe (m)";
const SMALLEST: EncodeOptions = EncodeOptions {
    index: Index::None,
    profile: Profile::Smallest,
    threads: 1,
};

pub(crate) fn some_rows() -> Vec<Row> {
    let row = |row: u32| (row % 13 != 5).then(|| format!("word {}", row * row % 17).into_bytes());
    (0..90).map(row).collect()
}

fn encoder(name: &str, options: EncodeOptions) -> Encoder {
    let mut encoder = Encoder::new(options);
    push_all(&mut encoder, &some_rows());
    encoder.set_name(name).unwrap();
    encoder
}

pub(crate) fn named(name: &str, options: EncodeOptions) -> Vec<u8> {
    let mut file = Vec::new();
    let report = encoder(name, options).finish(&mut file).unwrap();
    assert_eq!(report.file_bytes, file.len() as u64);
    file
}

fn name_of(file: &[u8]) -> Option<String> {
    Column::open_in(file.to_vec()).unwrap().name().unwrap()
}

fn u64_at(file: &[u8], at: usize) -> usize {
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize
}

/// Where the footer describes the section of the name, in a file of one segment in the ordinary form.
fn name_entry(file: &[u8]) -> usize {
    let first = u64_at(file, 40) + 64;
    let mut entries = (first..file.len()).step_by(48);
    entries.find(|&at| file[at] == 6).unwrap()
}

#[test]
fn a_name_is_kept_in_every_form_and_changes_no_row() {
    for index in INDEXES {
        for profile in PROFILES {
            let options = EncodeOptions {
                index,
                profile,
                threads: 1,
            };
            let (file, unnamed) = (named(NAME, options), named("", options));
            assert_eq!(name_of(&file).as_deref(), Some(NAME), "{options:?}");
            assert_eq!(name_of(&unnamed), None, "{options:?}");
            check_file(&file, &some_rows(), 3);
            let more = file.len() - unnamed.len();
            assert!(
                (1..=48 + NAME.len() + 16).contains(&more),
                "{options:?}: {more} bytes more"
            );
        }
    }
    let plain = Encoder::new(SMALLEST);
    let mut file = Vec::new();
    plain.finish(&mut file).unwrap();
    assert_eq!(name_of(&file), None);
}

#[test]
fn a_name_outlives_appends_and_compaction_and_the_first_one_counts() {
    let postings = EncodeOptions {
        index: Index::Postings,
        ..Default::default()
    };
    let rows: Vec<Row> = some_rows().into_iter().chain(some_rows()).collect();
    for options in [SMALLEST, postings] {
        let file = named(NAME, options);
        let mut by_rows = file.clone();
        encoder("another", options).append(&file, &mut by_rows).unwrap();
        let mut by_segments = file.clone();
        let other = Column::open_in(named("another", options)).unwrap();
        other.append_segments(&file, &mut by_segments).unwrap();
        let mut compact = Vec::new();
        let column = Column::open_in(by_rows.clone()).unwrap();
        column.compact(options).unwrap().finish(&mut compact).unwrap();
        // Whatever the first segment lacks, a later one may have.
        let unnamed = named("", options);
        let mut later = unnamed.clone();
        other.append_segments(&unnamed, &mut later).unwrap();
        for (file, name) in [
            (by_rows, NAME),
            (by_segments, NAME),
            (compact, NAME),
            (later, "another"),
        ] {
            assert_eq!(name_of(&file).as_deref(), Some(name), "{options:?}");
            check_file(&file, &rows, 3);
        }
    }
}

#[test]
fn a_name_at_the_limit_is_kept_and_a_longer_one_is_refused_with_both_lengths() {
    let longest = "n".repeat(NAME_BYTES_LIMIT);
    for options in [SMALLEST, EncodeOptions::default()] {
        assert_eq!(name_of(&named(&longest, options)).as_deref(), Some(&*longest));
        let refused = Encoder::new(options)
            .set_name(&format!("{longest}n"))
            .unwrap_err();
        assert!(matches!(refused, ColumnError::Limit { .. }), "{refused}");
        assert!(
            refused.to_string().contains("4097 exceeds the limit of 4096"),
            "{refused}"
        );
    }
}

#[test]
fn a_reader_that_knows_no_names_reads_the_rows() {
    // To this reader, kind 7 is what 6 is to an older one.
    let mut file = named(NAME, EncodeOptions::default());
    let entry = name_entry(&file);
    file[entry] = 7;
    reseal(&mut file);
    assert_eq!(name_of(&file), None);
    check_file(&file, &some_rows(), 3);
    // Without the flag it could not be ignored.
    file[entry + 4] = 0;
    reseal(&mut file);
    assert!(Column::open_in(file).is_err());
}

/// A file whose name has a length and bytes of somebody else's choice, all checksums right.
fn with_name_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut file = named(&"x".repeat(bytes.len().max(1)), EncodeOptions::default());
    let entry = name_entry(&file);
    let at = u64_at(&file, entry + 8);
    file[at..at + bytes.len()].copy_from_slice(bytes);
    reseal(&mut file);
    file
}

proptest! {
    #[test]
    fn a_name_is_utf8_or_an_error_and_the_rows_are_there(bytes in proptest::collection::vec(any::<u8>(), 1..40)) {
        let column = Column::open_in(with_name_bytes(&bytes)).unwrap();
        match std::str::from_utf8(&bytes) {
            Ok(name) => prop_assert_eq!(column.name().unwrap(), Some(name.to_owned())),
            Err(_) => {
                let said = column.name().unwrap_err().to_string();
                prop_assert!(said.contains("damaged column file: column name"), "{}", said);
                prop_assert_eq!(column.verify().unwrap().damage.len(), 1);
            }
        }
        prop_assert_eq!(column.get(1).unwrap(), some_rows()[1].clone());
    }

    #[test]
    fn a_section_of_a_name_with_any_place_and_length_is_an_error_or_a_short_name(field in 1_usize..6, value in any::<u64>(), small in any::<bool>()) {
        let mut file = named(&"n".repeat(NAME_BYTES_LIMIT), EncodeOptions::default());
        let entry = name_entry(&file);
        let value = if small { value % 10_000 } else { value };
        file[entry + 8 * field..entry + 8 * field + 8].copy_from_slice(&value.to_le_bytes());
        reseal(&mut file);
        if let Ok(Ok(Some(name))) = Column::open_in(file.clone()).map(|column| column.name()) {
            prop_assert!(name.len() <= NAME_BYTES_LIMIT);
        }
        ask_everything(&file);
    }

    #[test]
    fn whatever_follows_a_packed_column_is_its_name_or_ignored(
        cut in 0_usize..30, flips in proptest::collection::vec((0_usize..30, 1_u8..), 0..3), more in proptest::collection::vec(any::<u8>(), 0..20)
    ) {
        let unnamed = named("", SMALLEST).len();
        let mut file = named(NAME, SMALLEST);
        let whole = file[unnamed..].to_vec();
        file.truncate((unnamed + cut).min(file.len()));
        for (at, flip) in flips {
            if let Some(byte) = file.get_mut(unnamed + at) {
                *byte ^= flip;
            }
        }
        file.extend(more);
        let is_whole = file[unnamed..].starts_with(&whole);
        prop_assert_eq!(name_of(&file), is_whole.then(|| NAME.to_owned()));
        check_file(&file, &some_rows(), 3);
    }
}

#[test]
fn a_longer_name_than_the_limit_is_refused_before_it_is_read() {
    // A section of 2^40 bytes would end behind the file; one within the file that is longer than a name may be is refused for that.
    let mut file = named("n", EncodeOptions::default());
    let padding = vec![b'p'; 2 * NAME_BYTES_LIMIT];
    let footer = u64_at(&file, 40);
    let entry = name_entry(&file);
    let place = footer - footer % 8;
    let tail = file.split_off(place);
    file.extend(&padding);
    file.extend(tail);
    let (entry, footer) = (entry + padding.len(), footer + padding.len());
    let length = (padding.len() as u64).to_le_bytes();
    file[40..48].copy_from_slice(&(footer as u64).to_le_bytes());
    file[entry + 8..entry + 16].copy_from_slice(&(place as u64).to_le_bytes());
    file[entry + 16..entry + 24].copy_from_slice(&length);
    file[entry + 32..entry + 40].copy_from_slice(&length);
    reseal(&mut file);
    let error = Column::open_in(file).unwrap().name().unwrap_err().to_string();
    assert!(error.contains("at most 4096 bytes"), "{error}");
}
