//! What a file with an index would take without it, held against the file that is written without it.

use outcrop_column::{Column, ColumnError, EncodeOptions, EncodeReport, Encoder, Index, Profile};
use proptest::prelude::*;

use crate::oracle::{PROFILES, Row, encode, push_all, values};

/// What is said of the file with the index, and what an encode without one reports.
fn said_and_written(rows: &[Row], name: &str, options: EncodeOptions) -> (EncodeReport, EncodeReport) {
    let encode = |index| {
        let mut encoder = Encoder::new(EncodeOptions { index, ..options });
        push_all(&mut encoder, rows);
        encoder.set_name(name).unwrap();
        let mut file = Vec::new();
        let report = encoder.finish(&mut file).unwrap();
        (file, report)
    };
    let (file, _) = encode(Index::Postings);
    let said = Column::open_in(file).unwrap().without_index(options).unwrap();
    (said.expect("a file with an index"), encode(Index::None).1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_a_file_would_take_without_its_index_is_what_it_takes_without_one(
        rows in proptest::collection::vec(values(), 0..300), profile in 0_usize..3, is_named: bool,
    ) {
        let options = EncodeOptions { profile: PROFILES[profile], ..EncodeOptions::default() };
        let (said, written) = said_and_written(&rows, if is_named { "rock" } else { "" }, options);
        prop_assert_eq!(said, written);
    }
}

#[test]
fn an_index_is_more_than_its_postings_where_the_dictionary_is_in_smaller_blocks_for_it() {
    // More values than one thread writes, and gaps between sections.
    let rows: Vec<Row> = (0..150_000_u64)
        .map(|row| (row % 101 > 0).then(|| format!("customer number {}", row * row % 40_009).into_bytes()))
        .collect();
    for profile in PROFILES {
        let options = EncodeOptions {
            profile,
            threads: 2,
            ..EncodeOptions::default()
        };
        let (said, written) = said_and_written(&rows, "customer", options);
        assert_eq!(said, written, "{profile:?}");
        let index = Index::Postings;
        let with = Column::open_in(encode(&rows, EncodeOptions { index, ..options })).unwrap();
        let dictionary_bytes = with.report().unwrap().segments[0].section_bytes["dictionary"];
        assert_eq!(
            dictionary_bytes > said.dictionary_bytes,
            profile == Profile::Balanced,
            "{profile:?}: {dictionary_bytes}, {said:?}"
        );
    }
}

#[test]
fn nothing_is_said_of_files_without_an_index_or_without_codes_and_too_long_values_are_refused() {
    let rows: Vec<Row> = vec![Some(vec![b'r'; 5000]), None];
    let options = EncodeOptions::default();
    let open = |index| Column::open_in(encode(&rows, EncodeOptions { index, ..options })).unwrap();
    for index in [Index::None, Index::Only] {
        assert_eq!(open(index).without_index(options).unwrap(), None, "{index:?}");
    }
    let mut column = open(Index::Postings);
    column.limit_blocks(4999);
    let refused = column.without_index(options).unwrap_err();
    assert!(
        matches!(refused, ColumnError::LongBlock { bytes: 5000, .. }),
        "{refused}"
    );
}
