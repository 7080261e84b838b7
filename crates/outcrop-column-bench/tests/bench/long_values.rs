//! Values of many megabytes, which a Parquet file of some kilobytes can hold.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use outcrop_column::arrow::MOST_COMPARED_BYTES;
use outcrop_column_bench::BenchError;
use outcrop_column_bench::tabular::Table;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

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

/// The varint of a signed number in Thrift's compact protocol, in `length` bytes.
fn varint(value: u64, length: usize) -> Vec<u8> {
    let zigzag = value << 1;
    let byte = |place: usize| {
        let more = if place + 1 < length { 0x80 } else { 0 };
        (zigzag >> (7 * place)) as u8 & 0x7f | more
    };
    (0..length).map(byte).collect()
}

#[test]
fn a_page_of_more_than_half_a_gibibyte_is_not_read_whatever_the_footer_says() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("bomb.parquet");
    let array: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(600 << 20)]));
    write(&path, &[("rock", array)], zstd());
    let refusal = || judged(&path, "rock", NO_LIMIT).unwrap_err().to_string();
    let (honest, expected) = (refusal(), "that becomes more than 512 MiB");
    assert!(
        honest.contains("column rock has a page of") && honest.contains(expected),
        "{honest}"
    );
    let footer = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let claimed = footer.metadata().row_group(0).column(0).uncompressed_size() as u64;
    let mut bytes = std::fs::read(&path).unwrap();
    let (true_size, small) = (varint(claimed, 5), varint(100_000, 5));
    let places: Vec<usize> = (0..bytes.len() - 5)
        .filter(|&at| bytes[at..at + 5] == true_size)
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 5].copy_from_slice(&small);
    }
    std::fs::write(&path, bytes).unwrap();
    let lies = refusal();
    assert!(lies.contains(expected), "{lies}");
}

#[test]
fn a_page_of_gzip_that_decompresses_to_more_than_its_header_says_is_not_read() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("gzip.parquet");
    let array: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(600 << 20)]));
    write(&path, &[("rock", array)], Compression::GZIP(GzipLevel::default()));
    // The header of the only page is the first thing in the file; its type is its first field.
    let mut bytes = std::fs::read(&path).unwrap();
    let header: [u8; 4] = bytes[4..8].try_into().unwrap();
    assert_eq!([header[0], header[2]], [0x15, 0x15], "{header:02x?}");
    bytes[7..12].copy_from_slice(&varint(100_000, 5));
    std::fs::write(&path, bytes).unwrap();
    let lies = judged(&path, "rock", NO_LIMIT).unwrap_err().to_string();
    assert!(lies.contains("that becomes more than 512 MiB"), "{lies}");
}

#[test]
fn the_levels_in_front_of_a_page_do_not_hide_what_it_decompresses_to() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("second.parquet");
    let array: ArrayRef = Arc::new(StringArray::from(vec![Some("x".repeat(600 << 20)), None]));
    let batch = RecordBatch::try_from_iter([("rock", array)]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .build();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[4..7], [0x15, 6, 0x15], "a data page of the second version");
    bytes[7..12].copy_from_slice(&varint(100_000, 5));
    std::fs::write(&path, bytes).unwrap();
    let lies = judged(&path, "rock", NO_LIMIT).unwrap_err().to_string();
    assert!(lies.contains("that becomes more than"), "{lies}");
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

#[test]
fn a_large_page_matters_only_to_who_reads_that_far_and_no_page_is_looked_at_after_a_stop() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("two.parquet");
    let groups = [vec!["x".repeat(1 << 20); 40], vec!["y".repeat(520 << 20)]];
    let batch = |group: &Vec<String>| {
        let array: ArrayRef = Arc::new(StringArray::from(group.clone()));
        RecordBatch::try_from_iter([("rock", array)]).unwrap()
    };
    let gzip = Compression::GZIP(GzipLevel::default());
    let properties = WriterProperties::builder().set_compression(gzip);
    let file = File::create(&path).unwrap();
    let schema = batch(&groups[0]).schema();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties.build())).unwrap();
    for group in &groups {
        writer.write(&batch(group)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    let report = judged(&path, "rock", 20 << 20).unwrap();
    assert_eq!(report.size.row_count, 40);
    let refused = judged(&path, "rock", NO_LIMIT).unwrap_err().to_string();
    assert!(refused.contains("that becomes more than 512 MiB"), "{refused}");
    let table = Table::describe(&path).unwrap();
    let column = table.column("rock").unwrap();
    let stopped = table.load(&path, column, 10, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(stopped, BenchError::Interrupted), "{stopped}");
}
