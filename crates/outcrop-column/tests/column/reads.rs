//! How much a query reads: the promise of the on-disk mode, counted at the storage seam.

use std::sync::Arc;

use outcrop_column::storage::CountingReader;
use outcrop_column::{Column, EncodeOptions, Index, encode_text};

#[test]
fn a_cold_lookup_takes_at_most_three_reads_of_a_page_beyond_opening() {
    let word = |number: u64| format!("w{:06}", number * 7919 % 1_000_003);
    // Lists of ten rows, and of 143, as the column of 140 million rows has them.
    for (row_count, word_count) in [(200_000_u64, 20_000), (715_000, 5_000)] {
        let text: String = (0..row_count)
            .map(|row| word(row * 48_271 % word_count) + "\n")
            .collect();
        for index in [Index::Postings, Index::Only] {
            let mut file = Vec::new();
            let options = EncodeOptions {
                index,
                ..Default::default()
            };
            encode_text(text.as_bytes(), options)
                .unwrap()
                .finish(&mut file)
                .unwrap();
            let reader = Arc::new(CountingReader::new(file));
            let column = Column::open_in(Arc::clone(&reader)).unwrap();
            for number in (0..word_count).step_by(97) {
                reader.take_counts();
                let rows = column.find(word(number).as_bytes()).unwrap().rows().unwrap();
                assert_eq!(rows.len() as u64, row_count / word_count);
                let counts = reader.take_counts();
                assert!(counts.read_count <= 3, "{counts:?}");
                assert!(counts.largest_read_bytes <= 4096, "{counts:?}");
            }
        }
    }
}

#[test]
fn opening_reads_tables_but_no_blocks() {
    let text: String = (0..300_000_u64)
        .map(|row| format!("{}\n", row * 48_271 % 100_003))
        .collect();
    let mut file = Vec::new();
    let report = encode_text(
        text.as_bytes(),
        EncodeOptions {
            index: Index::Postings,
            ..Default::default()
        },
    )
    .unwrap()
    .finish(&mut file)
    .unwrap();
    let reader = Arc::new(CountingReader::new(file));
    Column::open_in(Arc::clone(&reader)).unwrap();
    let counts = reader.take_counts();
    assert!(
        counts.read_bytes * 50 < report.file_bytes,
        "{counts:?} of {} bytes",
        report.file_bytes
    );
}
