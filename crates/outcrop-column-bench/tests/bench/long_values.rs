//! Values of many megabytes, which a Parquet file of some kilobytes can hold.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use outcrop_column::arrow::MOST_COMPARED_BYTES;
use outcrop_column_bench::BenchError;
use parquet::basic::{Compression, ZstdLevel};

use crate::whole::{NO_LIMIT, judged, write};

fn zstd() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(3).expect("3 is a level"))
}

#[test]
fn sizes_in_parquet_are_those_of_values_that_its_writers_can_hold() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("long.parquet");
    for (bytes, is_compared) in [(MOST_COMPARED_BYTES, true), (MOST_COMPARED_BYTES + 1, false)] {
        let array: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(bytes as usize), String::new()]));
        write(&path, &[("rock", array)], zstd());
        assert!(path.metadata().unwrap().len() < 20_000);
        let report = judged(&path, "rock", NO_LIMIT).unwrap();
        assert_eq!(report.parquet_zstd_bytes.is_ok(), is_compared, "{report:?}");
        assert_eq!(report.parquet_default_bytes.is_ok(), is_compared);
        assert_eq!((report.size.row_count, report.size.text_bytes), (2, bytes + 2));
    }
}

#[test]
fn a_value_longer_than_a_line_of_text_may_be_is_refused() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("longer.parquet");
    let array: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat((256 << 20) + 1)]));
    write(&path, &[("rock", array)], zstd());
    let refused = judged(&path, "rock", NO_LIMIT);
    let Err(BenchError::Table { path: named, detail }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(named, path);
    assert_eq!(
        detail,
        "a value has 268435457 bytes, more than the 268435456 allowed"
    );
}

#[test]
fn a_part_of_a_column_that_decompresses_to_a_thousand_times_its_size_is_not_read() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("bomb.parquet");
    let array: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(600 << 20)]));
    write(&path, &[("rock", array)], zstd());
    let refused = judged(&path, "rock", NO_LIMIT).unwrap_err().to_string();
    assert!(
        refused.contains("column rock has a part of") && refused.contains("that decompresses to"),
        "{refused}"
    );
}

#[test]
fn rows_that_repeat_one_long_value_are_left_at_twice_the_limit() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("dictionary.parquet");
    let values = StringArray::from(vec!["x".repeat(1 << 20)]);
    let rows = DictionaryArray::<Int32Type>::try_new(Int32Array::from(vec![0; 400]), Arc::new(values));
    write(&path, &[("rock", Arc::new(rows.unwrap()))], zstd());
    let report = judged(&path, "rock", 20 << 20).unwrap();
    assert_eq!(report.table_rows, Ok(400));
    assert!(
        (40..=40 + 16).contains(&report.size.row_count),
        "{} rows of 1 MiB",
        report.size.row_count
    );
}
