//! Whole columns against the files that they come from: real Parquet, text and Arrow IPC.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use outcrop_column::arrow::parquet_zstd_sizes;
use outcrop_column::{EncodeOptions, Encoder};
use outcrop_column_bench::tabular::Table;
use outcrop_column_bench::{BenchError, BenchSpec, ColumnInput, WholeReport, whole_column, whole_input};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use proptest::prelude::*;

const GROUP_ROWS: usize = 4096;
pub(crate) const NO_LIMIT: u64 = u64::MAX;

/// Orders as a benchmark of databases has them: of each kind of column one.
fn orders(rows: i64) -> Vec<(&'static str, ArrayRef)> {
    let words = [
        "carefully",
        "final",
        "deposits",
        "sleep",
        "quickly",
        "above",
        "the",
    ];
    let word = |row: i64, place: i64| words[((row * 31 + place * place * 17 + row / 7) % 7) as usize];
    let comments = (0..rows).map(|row| {
        let length = 4 + row % 5;
        let text: Vec<&str> = (0..length).map(|place| word(row, place)).collect();
        (row % 100 != 7).then(|| format!("{} {row}", text.join(" ")))
    });
    let decimals = Decimal128Array::from_iter_values((0..rows).map(|row| i128::from(row * 7919 % 99_991)));
    vec![
        ("key", Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef),
        (
            "status",
            Arc::new(StringArray::from_iter_values(
                (0..rows).map(|row| ["O", "F", "P"][(row % 3) as usize]),
            )),
        ),
        ("comment", Arc::new(StringArray::from_iter(comments))),
        (
            "day",
            Arc::new(Date32Array::from_iter_values(
                (0..rows).map(|row| 9000 + (row * 13 % 2400) as i32),
            )),
        ),
        (
            "when",
            Arc::new(TimestampMillisecondArray::from_iter_values(
                (0..rows).map(|row| row * 86_400_000),
            )),
        ),
        (
            "price",
            Arc::new(decimals.with_precision_and_scale(12, 2).expect("it fits")),
        ),
        (
            "open",
            Arc::new(BooleanArray::from_iter((0..rows).map(|row| Some(row % 2 == 0)))),
        ),
        (
            "weight",
            Arc::new(Float64Array::from_iter_values(
                (0..rows).map(|row| row as f64 / 3.0),
            )),
        ),
    ]
}

pub(crate) fn write(path: &Path, columns: &[(&str, ArrayRef)], compression: Compression) {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).expect("columns of one length");
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_dictionary_page_size_limit(16 << 10)
        .build();
    let file = File::create(path).expect("the folder can be written");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a schema");
    writer.write(&batch).expect("a batch");
    writer.close().expect("a footer");
}

fn parquet_file(rows: i64) -> (tempfile::TempDir, PathBuf) {
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("orders.parquet");
    write(&path, &orders(rows), Compression::SNAPPY);
    (here, path)
}

pub(crate) fn judged(path: &Path, column: &str, text_limit: u64) -> Result<WholeReport, BenchError> {
    let table = Table::describe(path)?;
    let found = table.column(column).expect("the column is there");
    whole_column(
        (&table, path, found),
        &BenchSpec::default(),
        text_limit,
        &AtomicBool::new(false),
    )
}

/// Bytes of a column's chunks by the library's own reader of footers.
fn chunk_bytes(path: &Path, number: usize, groups: usize) -> u64 {
    let file = File::open(path).expect("the file is there");
    let reader = SerializedFileReader::new(file).expect("it is Parquet");
    let groups = reader.metadata().row_groups().iter().take(groups);
    groups
        .map(|group| group.column(number).compressed_size() as u64)
        .sum()
}

#[test]
fn a_column_takes_in_its_file_what_the_footer_says_and_as_ocol_what_encoding_all_rows_gives() {
    let (_here, path) = parquet_file(10_000);
    for (number, name, form) in [
        (1, "status", "dictionary, Snappy"),
        (2, "comment", "dictionary→plain, Snappy"),
    ] {
        let report = judged(&path, name, NO_LIMIT).unwrap();
        assert_eq!(report.stored.bytes, Ok(chunk_bytes(&path, number, 3)), "{name}");
        assert_eq!(report.stored.form.as_deref(), Some(form));
        assert_eq!((report.table_rows, report.size.row_count), (Ok(10_000), 10_000));
        let table = Table::describe(&path).unwrap();
        let input = table
            .load(
                &path,
                table.column(name).unwrap(),
                u64::MAX,
                &AtomicBool::new(false),
            )
            .unwrap();
        let mut encoder = Encoder::new(EncodeOptions::default());
        encoder.set_name(name).unwrap();
        for row in input.rows() {
            match row {
                Some(value) => encoder.push(value).unwrap(),
                None => encoder.push_null().unwrap(),
            }
        }
        let mut file = Vec::new();
        encoder.finish(&mut file).unwrap();
        assert_eq!(report.size.file_bytes, file.len() as u64, "{name}");
        assert_eq!(report.size.text_bytes, input.text().len() as u64);
        assert_eq!(report.size.null_count, input.null_count());
    }
}

#[test]
fn the_parquet_that_is_compared_is_one_that_its_writer_would_write() {
    let (here, path) = parquet_file(10_000);
    let again = here.path().join("again.parquet");
    for (name, array) in orders(10_000).into_iter().filter(|(name, _)| *name != "weight") {
        let zstd = Compression::ZSTD(ZstdLevel::try_new(3).unwrap());
        let batch = RecordBatch::try_from_iter([(name, array)]).unwrap();
        let usual = || WriterProperties::builder().set_compression(zstd);
        let plain = || usual().set_dictionary_enabled(false);
        let encodings = match name {
            "status" | "comment" => vec![Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY],
            "open" => vec![Encoding::RLE],
            _ => vec![Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT],
        };
        let only = encodings
            .into_iter()
            .map(|encoding| plain().set_encoding(encoding).build());
        let forms = [usual().build(), plain().build()].into_iter().chain(only);
        let written = forms.map(|properties| {
            let file = File::create(&again).unwrap();
            let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            chunk_bytes(&again, 0, 1) as f64
        });
        let written: Vec<f64> = written.collect();
        let least = written.iter().copied().fold(f64::INFINITY, f64::min);
        let report = judged(&path, name, NO_LIMIT).unwrap();
        let smaller = report.parquet_zstd_bytes.unwrap() as f64;
        let by_default = report.parquet_default_bytes.unwrap() as f64;
        for (ours, theirs) in [(smaller, least), (by_default, written[0])] {
            // Batches end pages at other places.
            assert!(
                (ours - theirs).abs() < 32.0 + theirs * 0.03,
                "{name}: {ours} and {theirs}"
            );
        }
    }
}

#[test]
fn the_size_with_zstd_3_is_what_that_level_reaches_where_the_users_own_chunks_are_smaller() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("orders.parquet");
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ["granite", "basalt", "gabbro", "marl", "tuff", "slate"][(state >> 33) as usize % 6]
    };
    let rows = (0..GROUP_ROWS).map(|_| (0..9).map(|_| draw()).collect::<Vec<_>>().join(" "));
    let rows: ArrayRef = Arc::new(StringArray::from_iter_values(rows));
    let best = Compression::ZSTD(ZstdLevel::try_new(22).unwrap());
    write(&path, &[("rocks", Arc::clone(&rows))], best);
    let report = judged(&path, "rocks", NO_LIMIT).unwrap();
    let own = chunk_bytes(&path, 0, 1);
    assert_eq!(report.stored.bytes, Ok(own));
    let written = parquet_zstd_sizes([Ok(rows)], u64::MAX).unwrap();
    assert!(own < written.smallest_bytes, "{own} and {written:?}");
    assert_eq!(report.parquet_zstd_bytes, Ok(written.smallest_bytes));
    assert_eq!(report.parquet_encoding, written.smallest_encoding);
}

#[test]
fn integers_dates_timestamps_decimals_and_booleans_are_judged_and_floats_are_named_with_the_reason() {
    let (_here, path) = parquet_file(5000);
    let table = Table::describe(&path).unwrap();
    let names: Vec<&str> = table
        .judged_columns()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["key", "status", "comment", "day", "when", "price", "open"]
    );
    assert_eq!(table.other_columns(), ["weight (Float64)"]);
    let (weight, all) = (
        chunk_bytes(&path, 7, 2),
        (0..8).map(|number| chunk_bytes(&path, number, 2)).sum::<u64>(),
    );
    assert_eq!(table.others_extent(), Some((weight, weight as f64 / all as f64)));
    for name in names {
        let report = judged(&path, name, NO_LIMIT).unwrap();
        assert!(
            report.stored.bytes.is_ok() && report.parquet_zstd_bytes.is_ok(),
            "{name}"
        );
        assert!(
            report.size.file_bytes > 0 && report.size.row_count == 5000,
            "{name}"
        );
        // Strings stay what they are; everything else becomes text, which the report says with its type.
        let is_text = ["status", "comment"].contains(&name);
        assert_eq!(report.text_of.is_none(), is_text, "{name}: {:?}", report.text_of);
    }
}

#[test]
fn beyond_the_limit_a_column_ends_with_its_row_group_and_its_size_there_is_that_of_those_groups() {
    let (_here, path) = parquet_file(20_000);
    let report = judged(&path, "comment", 100_000).unwrap();
    assert_eq!(
        report.size.row_count, GROUP_ROWS as u64,
        "one row group has more text than the limit"
    );
    assert_eq!(report.table_rows, Ok(20_000));
    assert_eq!(report.stored.bytes, Ok(chunk_bytes(&path, 2, 1)));

    // Of a table of many columns, not all is read for one that takes little of it.
    let wide = path.with_extension("wide.csv");
    let row = format!("a,{}\n", "b".repeat(97));
    std::fs::write(&wide, format!("id,rock\n{}", row.repeat(1000))).unwrap();
    let report = judged(&wide, "id", 1000).unwrap();
    assert_eq!(
        report.size.row_count, 80,
        "eight times the limit, a hundred bytes a row"
    );

    let csv = path.with_extension("csv");
    std::fs::write(&csv, format!("id,rock\n{}", "1,slate\n".repeat(1000))).unwrap();
    let report = judged(&csv, "rock", 60).unwrap();
    assert_eq!(report.size.row_count, 10, "six bytes each with their newlines");
    assert_eq!(report.stored.bytes, Ok(60));
    assert!(
        report
            .table_rows
            .unwrap_err()
            .reason
            .contains("more rows than were read")
    );
}

#[test]
fn the_column_of_a_text_file_takes_its_text_unless_the_file_is_compressed_as_a_whole() {
    let here = tempfile::tempdir().unwrap();
    let csv = here.path().join("rocks.csv");
    let text = format!("id,rock\n{}", "1,slate\n2,chalk\n".repeat(500));
    std::fs::write(&csv, &text).unwrap();
    let report = judged(&csv, "rock", NO_LIMIT).unwrap();
    assert_eq!(
        (
            report.stored.bytes,
            report.stored.form.as_deref(),
            report.table_rows
        ),
        (Ok(6000), Some("text"), Ok(1000))
    );
    let packed = here.path().join("rocks.csv.zst");
    std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    let packed = judged(&packed, "rock", NO_LIMIT).unwrap();
    assert!(
        packed
            .stored
            .bytes
            .unwrap_err()
            .reason
            .contains("compressed as a whole (zstd)")
    );
    assert_eq!(
        (packed.size.file_bytes, packed.fingerprint),
        (report.size.file_bytes, report.fingerprint)
    );
}

#[test]
fn numbers_of_a_text_file_are_compared_with_the_numbers_that_parquet_has() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("numbers.parquet");
    let moments = |row: i64| 1_420_070_400 + row * 37 % 100_000;
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..10_000).map(moments)));
    let batch = RecordBatch::try_from_iter([("ts", numbers)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let typed = judged(&path, "ts", NO_LIMIT).unwrap();
    let theirs = typed.parquet_zstd_bytes.unwrap() as f64;
    let lines: String = (0..10_000).map(|row| format!("{}\n", moments(row))).collect();
    let rows: String = (0..10_000)
        .map(|row| format!("{},tuff\n", moments(row)))
        .collect();
    for (name, text, column) in [
        ("numbers.txt", lines, "lines"),
        ("numbers.csv", format!("ts,rock\n{rows}"), "ts"),
    ] {
        let path = here.path().join(name);
        std::fs::write(&path, text).unwrap();
        let report = judged(&path, column, NO_LIMIT).unwrap();
        assert_eq!(report.parquet_as, Some("integers"), "{name}");
        let ours = report.parquet_zstd_bytes.unwrap() as f64;
        // Batches end pages at other places.
        assert!(
            (ours - theirs).abs() < 32.0 + theirs * 0.03,
            "{name}: {ours} and {theirs}"
        );
    }
    let words = judged(&here.path().join("numbers.csv"), "rock", NO_LIMIT).unwrap();
    assert_eq!((words.parquet_as, typed.parquet_as), (None, None));
    // Post codes are no numbers: as such they would lose their zeros.
    let codes = here.path().join("codes.csv");
    std::fs::write(&codes, "code,rock\n01067,a\n10115,b\n").unwrap();
    assert_eq!(judged(&codes, "code", NO_LIMIT).unwrap().parquet_as, Some("text"));
}

#[test]
fn a_column_of_a_folder_is_that_of_its_table_and_a_made_one_is_in_no_file() {
    let (here, path) = parquet_file(3000);
    let of_file = judged(&path, "comment", NO_LIMIT).unwrap();
    let of_folder = judged(here.path(), "orders.parquet/comment", NO_LIMIT).unwrap();
    assert_eq!(of_file.stored, of_folder.stored);
    assert_eq!(of_file.fingerprint, of_folder.fingerprint);
    let input = ColumnInput::from_values([Some("tuff"), None, Some("marl")]);
    let made = whole_input(&input, &BenchSpec::default(), &AtomicBool::new(false)).unwrap();
    assert!(made.stored.bytes.is_err() && made.parquet_zstd_bytes.is_ok());
    assert_eq!((made.size.row_count, made.size.null_count), (3, 1));
}

#[test]
fn a_user_who_wants_to_stop_is_heard_and_a_damaged_file_is_an_error() {
    let (_here, path) = parquet_file(3000);
    let table = Table::describe(&path).unwrap();
    let price = table.column("price").unwrap();
    let stop = AtomicBool::new(true);
    let stopped = whole_column((&table, &path, price), &BenchSpec::default(), NO_LIMIT, &stop);
    assert!(matches!(stopped, Err(BenchError::Interrupted)), "{stopped:?}");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 4;
    bytes[middle..middle + 2000].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let seen: Vec<bool> = table
        .judged_columns()
        .map(|column| {
            let go = AtomicBool::new(false);
            whole_column((&table, &path, column), &BenchSpec::default(), NO_LIMIT, &go).is_ok()
        })
        .collect();
    assert!(seen.contains(&false), "{seen:?}");
}

proptest! {
    #[test]
    fn any_column_takes_as_many_bytes_as_its_encoder_writes_and_reads_back(
        rows in proptest::collection::vec(proptest::option::of("[a-c\n]{0,6}"), 1..400)
    ) {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("any.parquet");
        let array: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().cloned()));
        write(&path, &[("any", array)], Compression::UNCOMPRESSED);
        let report = judged(&path, "any", NO_LIMIT).unwrap();
        let mut encoder = Encoder::new(EncodeOptions::default());
        encoder.set_name("any").unwrap();
        for row in &rows {
            match row {
                Some(value) => encoder.push(value.as_bytes()).unwrap(),
                None => encoder.push_null().unwrap(),
            }
        }
        let mut file = Vec::new();
        encoder.finish(&mut file).unwrap();
        prop_assert_eq!(report.size.file_bytes, file.len() as u64);
        prop_assert_eq!(report.stored.bytes, Ok(chunk_bytes(&path, 0, 1)));
    }
}
