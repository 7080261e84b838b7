//! What `outcrop column encode` says of a column's size, and that the profile of the file says the same.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::Value;

use crate::column::words_of;
use crate::harness::{only_run, outcrop, workplace};

const ROWS: i64 = 80_000;

fn orders(path: &Path) {
    let comment = |row: i64| format!("order {} is {} by {}", row * 7919 % 50_021, row % 11, row % 13);
    let columns: [(&str, ArrayRef); 3] = [
        ("key", Arc::new(Int64Array::from_iter_values(0..ROWS))),
        (
            "status",
            Arc::new(StringArray::from_iter_values(
                (0..ROWS).map(|row| ["O", "F", "P"][(row % 3) as usize]),
            )),
        ),
        (
            "comment",
            Arc::new(StringArray::from_iter_values((0..ROWS).map(comment))),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn a_shipped_plan_holds_a_column_against_its_text_under_a_general_compressor() {
    let dir = workplace();
    let rocks = ["granite", "basalt", "gabbro", "marl", "tuff"];
    let rows: String = (0..3000_usize)
        .map(|row| format!("{}\n", rocks[row * row * 31 % 97 % 5]))
        .collect();
    std::fs::write(dir.path().join("rocks.txt"), rows).unwrap();
    let args = [
        "run",
        "column-codecs",
        "--data",
        "rocks.txt",
        "--effort",
        "quick",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let run: Value = serde_json::from_str(&seen.stdout).unwrap();
    let cells = run["cells"].as_array().unwrap();
    let bytes = |format: &str, profile: Option<&str>| {
        let cell = cells.iter().find(|cell| {
            let factors = &cell["factors"];
            factors["format"] == format && profile.is_none_or(|profile| factors["profile"] == profile)
        });
        let cell = cell.unwrap_or_else(|| panic!("no {format} {profile:?}: {run}"));
        cell["metrics"]["file_bytes"]["value"].as_f64().unwrap()
    };
    let (ours, theirs) = (bytes("ocol", Some("smallest")), bytes("zstd:19", None));
    assert!(ours > 0.0 && theirs > 0.0);
    let shown = outcrop(dir.path(), &["report", only_run(dir.path()).to_str().unwrap()]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let page = std::fs::read_to_string(only_run(dir.path()).join("report.html")).unwrap();
    let finding = page.split("general compressor").nth(1).unwrap();
    assert!(!finding[..400].contains("not testable"), "{}", &finding[..400]);
    assert!(shown.stdout.contains("× zstd:19"), "{}", shown.stdout);
}

/// The value of a row of the table that `column encode` prints.
fn row<'v>(document: &'v Value, what: &str) -> &'v Value {
    let rows = document["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| row["what"] == what);
    &found.unwrap_or_else(|| panic!("no row {what}: {document}"))["value"]
}

#[test]
fn the_size_that_a_profile_gives_of_a_whole_column_is_that_of_the_encoded_file_to_the_byte() {
    let dir = workplace();
    let dir = dir.path();
    let path = dir.join("orders.parquet");
    orders(&path);
    let run = [
        "run",
        "column-choice",
        "--data",
        "orders.parquet",
        "--effort",
        "quick",
        "--format",
        "json",
        "--no-save",
    ];
    let seen = outcrop(dir, &run);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let profile: Value = serde_json::from_str(&seen.stdout).unwrap();
    let cells = profile["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 3, "a cell a column: {}", seen.stdout);
    for (number, column) in ["key", "status", "comment"].into_iter().enumerate() {
        let file = format!("{column}.ocol");
        let args = [
            "column",
            "encode",
            "orders.parquet",
            "--column",
            column,
            "-o",
            &file,
            "--format",
            "json",
        ];
        let seen = outcrop(dir, &args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let encoded: Value = serde_json::from_str(&seen.stdout).unwrap();
        let cell = cells
            .iter()
            .find(|cell| cell["factors"]["column"] == column)
            .unwrap();
        let metric = |name: &str| cell["metrics"][name]["value"].as_f64().unwrap();
        let written = dir.join(&file).metadata().unwrap().len() as f64;
        assert_eq!(metric("file_bytes"), written, "{column}");
        assert_eq!(
            row(&encoded, "in the input").as_f64().unwrap(),
            metric("stored_bytes"),
            "{column}"
        );
        assert_eq!(
            row(&encoded, "as Parquet, zstd:3").as_f64().unwrap(),
            metric("parquet_zstd_bytes"),
            "{column}"
        );
        let footer = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let chunk = footer.metadata().row_group(0).column(number).compressed_size();
        assert_eq!(metric("stored_bytes"), chunk as f64, "{column}");
        let no_interval = &cell["metrics"]["file_bytes"];
        assert!(no_interval.get("low").is_none_or(Value::is_null), "{no_interval}");
    }
}

#[test]
fn of_a_small_text_the_footer_of_parquet_is_said_and_a_file_of_it_is_no_larger_than_that() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("i.txt"), "red\ngreen\nblue\n".repeat(30)).unwrap();
    let encode = ["column", "encode", "i.txt", "-o", "i.ocol"];
    let seen = outcrop(dir, &encode);
    assert!(seen.stdout.contains(" and a footer of about 0.5 kB"), "{seen:?}");
    let json = outcrop(dir, &[&encode[..], &["--force", "--format", "json"]].concat());
    let encoded: Value = serde_json::from_str(&json.stdout).unwrap();
    let chunks = row(&encoded, "as Parquet, zstd:3").as_f64().unwrap();
    let seen = outcrop(dir, &["column", "decode", "i.ocol", "-o", "i.parquet"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let file = dir.join("i.parquet").metadata().unwrap().len() as f64;
    assert!(
        (chunks + 100.0..chunks + 1024.0).contains(&file),
        "{chunks}, {file}"
    );
}

#[test]
fn encoding_says_which_form_of_the_column_is_smaller() {
    let dir = workplace();
    let dir = dir.path();
    orders(&dir.join("orders.parquet"));
    let encode = |args: &[&str]| {
        let seen = outcrop(
            dir,
            &[
                &["column", "encode", "orders.parquet", "--force", "-o", "out/"],
                args,
            ]
            .concat(),
        );
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen
    };
    let seen = encode(&["--column", "comment"]);
    let words = words_of(&seen.stdout);
    assert!(
        words.contains(" comment: ") && words.contains(" in this file (dictionary→plain, Snappy): "),
        "{words}"
    );
    assert!(words.contains("; Parquet with zstd:3 would take "), "{words}");
    let seen = encode(&["--all-columns"]);
    assert!(
        seen.stdout.contains("status: ") && seen.stdout.contains("(dictionary, Snappy)"),
        "{seen:?}"
    );
    let seen = encode(&["--column", "status", "--no-compare"]);
    assert!(
        !seen.stdout.contains("Parquet") && !seen.stderr.contains("Parquet"),
        "{seen:?}"
    );
}

/// Delta encoding makes sorted distinct text small, which no writer uses unasked, and `decode` does.
#[test]
fn the_encoding_that_the_advice_is_about_is_the_one_that_decode_writes() {
    let dir = workplace();
    let dir = dir.path();
    let names: String = (1..=50_000).map(|row| format!("customer {row}\n")).collect();
    std::fs::write(dir.join("names.txt"), names).unwrap();
    let seen = outcrop(dir, &["column", "encode", "names.txt", "-o", "n.ocol"]);
    let words = words_of(&seen.stdout);
    assert!(
        words.contains(" with DELTA_BYTE_ARRAY encoding in pages of 1 MiB without a row limit (")
            && words.contains(" as Arrow writes by default) and a footer of about "),
        "{words}"
    );
    let promised = outcrop(
        dir,
        &[
            "column",
            "encode",
            "names.txt",
            "-o",
            "m.ocol",
            "--format",
            "json",
        ],
    );
    let promised: Value = serde_json::from_str(&promised.stdout).unwrap();
    let promised = row(&promised, "as Parquet, zstd:3").as_f64().unwrap();
    let seen = outcrop(dir, &["column", "decode", "n.ocol", "-o", "n.parquet"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let written = std::fs::metadata(dir.join("n.parquet")).unwrap().len() as f64;
    assert!(
        (promised..promised + 2048.0).contains(&written),
        "{written} B, promised {promised}"
    );
    let back = outcrop(dir, &["column", "encode", "n.parquet", "-o", "back.ocol"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    let decoded = |file: &str| outcrop(dir, &["column", "decode", file]).stdout;
    assert_eq!(decoded("back.ocol"), decoded("n.ocol"));
}

#[test]
fn a_text_is_compared_as_it_is_and_postings_alone_with_nothing() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("rocks.txt"), "slate\nchalk\n".repeat(500)).unwrap();
    let seen = outcrop(dir, &["column", "encode", "rocks.txt", "-o", "r.ocol"]);
    assert!(
        words_of(&seen.stdout).contains("6.00 kB in this file (text): "),
        "{seen:?}"
    );
    let only = [
        "column",
        "encode",
        "rocks.txt",
        "-o",
        "r.ocol",
        "--force",
        "--index",
        "only",
        "--format",
        "json",
    ];
    let seen = outcrop(dir, &only);
    assert!(seen.stdout.contains("has no codes"), "{seen:?}");
}

/// Numbers that no column file holds, and others that one does.
fn write_places(path: &Path) {
    let degrees = (0..20_000).map(|row| f64::from(row * 7919 % 36_000) / 100.0);
    let columns: [(&str, ArrayRef); 2] = [
        ("lon", Arc::new(Float64Array::from_iter_values(degrees))),
        ("id", Arc::new(Int64Array::from_iter_values(0..20_000))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn a_column_that_is_only_named_and_cannot_be_read_keeps_no_other_from_being_encoded() {
    let dir = workplace();
    let dir = dir.path();
    let path = dir.join("places.parquet");
    write_places(&path);
    let file = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let (start, length) = file.metadata().row_group(0).column(0).byte_range();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[start as usize..][..length as usize].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let encode = ["column", "encode", "places.parquet", "--all-columns", "-o", "of/"];
    let seen = outcrop(dir, &encode);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stderr.contains("lon: its size is not known: "), "{seen:?}");
    assert!(dir.join("of/id.ocol").is_file());
}

#[test]
fn of_a_column_that_no_column_file_can_hold_the_sizes_in_its_file_and_in_parquet_are_said() {
    let dir = workplace();
    let dir = dir.path();
    write_places(&dir.join("places.parquet"));
    let encode = |args: &[&str]| {
        let encode = ["column", "encode", "places.parquet", "-o", "of/", "--force"];
        outcrop(dir, &[&encode[..], args].concat())
    };
    let sizes = "lon: ";
    let all = encode(&["--all-columns"]);
    assert_eq!(all.code, Some(0), "{all:?}");
    let line = all.stderr.lines().find(|line| line.starts_with(sizes));
    let line = line.unwrap_or_else(|| panic!("{all:?}"));
    assert!(
        line.contains(" in this file (dictionary, uncompressed); Parquet with zstd:3 would take "),
        "{line}"
    );
    let refused = encode(&["--column", "lon"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains(line) && refused.stderr.contains("holds Float64"),
        "{refused:?}"
    );
    let left_out = "left out, as they cannot be compared as text: lon (Float64), which take ";
    let run = [
        "run",
        "column-choice",
        "--data",
        "places.parquet",
        "--effort",
        "quick",
        "--format",
        "json",
        "--no-save",
    ];
    let seen = outcrop(dir, &run);
    assert!(
        seen.stdout.contains(left_out) && seen.stdout.contains(" % of what all columns take in the file"),
        "{seen:?}"
    );
    let command = "(`outcrop column encode FILE --all-columns -o DIRECTORY/` gives what each takes in Parquet with zstd:3)";
    let document: Value = serde_json::from_str(&seen.stdout).unwrap();
    let advice = words_of(&document["advice"].to_string());
    assert!(
        advice.contains("\"Other columns\"") && advice.contains(command),
        "{document}"
    );
    assert!(seen.stderr.contains(command), "{seen:?}");
}

/// The verdict would turn with the form of the file, which says nothing about the data.
#[test]
fn integers_of_a_csv_file_are_compared_with_the_integers_of_parquet() {
    let dir = workplace();
    let dir = dir.path();
    let keys: Vec<i64> = (0..30_000)
        .map(|row| 1_420_070_400 + row * 7919 % 90_001)
        .collect();
    let batch =
        RecordBatch::try_from_iter([("key", Arc::new(Int64Array::from(keys.clone())) as ArrayRef)]).unwrap();
    let file = std::fs::File::create(dir.join("keys.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let rows: String = keys.iter().map(|key| format!("{key},tuff\n")).collect();
    std::fs::write(dir.join("keys.csv"), format!("key,rock\n{rows}")).unwrap();
    let parquet_bytes = |input: &str| {
        let output = format!("{input}.ocol");
        let args = [
            "column", "encode", input, "--column", "key", "-o", &output, "--format", "json",
        ];
        let seen = outcrop(dir, &args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let document: Value = serde_json::from_str(&seen.stdout).unwrap();
        let verdict = row(&document, "verdict").as_str().unwrap().to_owned();
        (row(&document, "as Parquet, zstd:3").as_f64().unwrap(), verdict)
    };
    let ((of_csv, verdict), (of_parquet, _)) = (parquet_bytes("keys.csv"), parquet_bytes("keys.parquet"));
    assert!(
        (of_csv - of_parquet).abs() < of_parquet * 0.03,
        "{of_csv} and {of_parquet}"
    );
    assert!(verdict.contains(" as integers"), "{verdict}");
}

#[test]
fn several_columns_have_a_total_that_says_over_which_of_them() {
    let dir = workplace();
    let dir = dir.path();
    orders(&dir.join("orders.parquet"));
    let encode = |output: &str, format: &str| {
        let args = [
            "column",
            "encode",
            "orders.parquet",
            "--all-columns",
            "-o",
            output,
            "--format",
            format,
        ];
        let seen = outcrop(dir, &args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen
    };
    let seen = encode("json/", "json");
    let document: Value = serde_json::from_str(&seen.stdout).unwrap();
    let total = &document["details"]["total"];
    let rows = document["rows"].as_array().unwrap();
    let sum = |key: &str| rows.iter().filter_map(|row| row[key].as_f64()).sum::<f64>();
    for key in [
        "stored_bytes",
        "parquet_zstd_bytes",
        "parquet_default_bytes",
        "file_bytes",
    ] {
        assert_eq!(total[key].as_f64(), Some(sum(key)), "{key}: {document}");
        assert!(
            total["smallest_form_bytes"].as_f64() <= total[key].as_f64(),
            "{total}"
        );
    }
    assert_eq!(total["columns"], serde_json::json!(["key", "status", "comment"]));
    let text = encode("text/", "text");
    assert!(
        text.stdout.contains("all 3 columns (key, status, comment): "),
        "{}",
        text.stdout
    );
    let args = [
        "run",
        "column-choice",
        "--data",
        "orders.parquet",
        "--effort",
        "quick",
        "--quiet",
    ];
    let profile = outcrop(dir, &args);
    assert!(profile.stdout.contains("all 3 columns"), "{}", profile.stdout);
}
