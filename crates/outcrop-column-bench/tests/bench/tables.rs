//! Files of the user's: delimiters, names, kinds of columns, and what is no table.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use outcrop_column::{ArrowForm, Column, EncodeOptions, Encoder};
use outcrop_column_bench::tabular::{FileKind, Given, Table, TableFormat, ValueKind, is_table};

fn file(name: &str, content: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("the temporary folder can be written");
    let path = directory.path().join(name);
    std::fs::write(&path, content).expect("the file can be written");
    (directory, path)
}

#[test]
fn delimiter_and_names_are_found_in_the_file() {
    let cases = [
        ("a.csv", "id,rock\n1,slate\n2,\"chalk, soft\"\n", b',', true),
        ("b.csv", "1|data\n4|c#\n4|linq\n", b'|', false),
        ("c.csv", "rock;grain\nslate;fine\nchalk;fine\n", b';', true),
        ("d.tsv", "x\ty\nx\tz\n", b'\t', false),
        ("e.csv", "one\ntwo\nthree\n", b',', true),
    ];
    for (name, content, delimiter, has_header) in cases {
        let (_kept, path) = file(name, content);
        let table = Table::describe(&path).unwrap();
        assert_eq!(
            table.format,
            TableFormat::Delimited {
                delimiter,
                has_header,
                has_quotes: true
            },
            "{name}"
        );
    }
}

#[test]
fn columns_of_numbers_and_dates_are_told_from_columns_of_text() {
    let text = "id,rock,mass,none,day,when\n1,slate,2.5,,2026-11-22,2026-11-22 07:23:00\n2,7,-1e3,,2026-01-01,2026-11-22T07:23:00.5Z\n";
    let (_kept, path) = file("a.csv", text);
    let table = Table::describe(&path).unwrap();
    let strings: Vec<&str> = table
        .judged_columns()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(strings, ["rock", "none", "day", "when"]);
    assert_eq!(table.column("day").unwrap().kind, ValueKind::Dates);
    assert_eq!(table.column("when").unwrap().kind, ValueKind::Dates);
    assert_eq!(table.other_columns(), ["id (numbers)", "mass (numbers)"]);
    assert_eq!(table.assumed().unwrap(), "delimiter ',', a header, 6 columns");
    assert_eq!(table.column("mass").unwrap().number, 2);
    assert_eq!(table.column("1").unwrap().name, "rock");
    assert_eq!(table.column("lava"), None);
    let input = table
        .load(
            &path,
            table.column("rock").unwrap(),
            u64::MAX,
            &AtomicBool::new(false),
        )
        .unwrap();
    assert_eq!(input.text(), b"slate\n7\n");
    let first = table
        .load(&path, table.column("rock").unwrap(), 1, &AtomicBool::new(false))
        .unwrap();
    assert_eq!(first.row_count(), 1);
}

#[test]
fn newlines_within_quotes_stay_within_their_row() {
    let (_kept, path) = file("a.csv", "rock,note\nslate,\"two\nlines\"\nchalk,one\n");
    let table = Table::describe(&path).unwrap();
    let input = table
        .load(
            &path,
            table.column("note").unwrap(),
            u64::MAX,
            &AtomicBool::new(false),
        )
        .unwrap();
    let rows: Vec<_> = input.rows().map(|row| row.unwrap().to_vec()).collect();
    assert_eq!(rows, [b"two\nlines".to_vec(), b"one".to_vec()]);
}

#[test]
fn lines_are_one_column_whether_or_not_the_last_one_ends() {
    let (_kept, path) = file("a.txt", "x\n\ny");
    let table = Table::describe(&path).unwrap();
    let input = table
        .load(&path, &table.columns[0], u64::MAX, &AtomicBool::new(false))
        .unwrap();
    assert_eq!(input.text(), b"x\n\ny\n");
}

#[test]
fn parquet_and_arrow_columns_have_the_same_rows_as_their_text() {
    let here = tempfile::tempdir().unwrap();
    let rows = [Some("slate"), None, Some(""), Some("chalk"), Some("slate")];
    let mut encoder = Encoder::new(EncodeOptions::default());
    for row in rows {
        match row {
            Some(value) => encoder.push(value.as_bytes()).unwrap(),
            None => encoder.push_null().unwrap(),
        }
    }
    let mut file = Vec::new();
    encoder.finish(&mut file).unwrap();
    let column = Column::open_in(file).unwrap();
    let [parquet, arrow] = ["a.parquet", "a.arrow"].map(|name| here.path().join(name));
    column
        .write_parquet(std::fs::File::create(&parquet).unwrap(), "rock")
        .unwrap();
    column
        .write_arrow(std::fs::File::create(&arrow).unwrap(), "rock", ArrowForm::File)
        .unwrap();
    for path in [parquet, arrow] {
        let table = Table::describe(&path).unwrap();
        let rock = table.column("rock").unwrap();
        assert!(
            rock.kind == ValueKind::Strings && table.columns.len() == 1,
            "{table:?}"
        );
        let input = table
            .load(&path, rock, u64::MAX, &AtomicBool::new(false))
            .unwrap();
        let expected = rows.map(|row| row.map(str::as_bytes));
        assert!(input.rows().eq(expected), "{}", path.display());
        assert_eq!(
            table
                .load(&path, rock, 2, &AtomicBool::new(false))
                .unwrap()
                .row_count(),
            2
        );
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 3]).unwrap();
        let read = Table::describe(&path)
            .and_then(|table| table.load(&path, rock, u64::MAX, &AtomicBool::new(false)));
        let message = read.unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
    }
}

#[test]
fn what_is_no_table_is_refused_with_what_was_seen() {
    assert!(is_table(std::path::Path::new("a.CSV")) && !is_table(std::path::Path::new("a.jpg")));
    let (_kept, path) = file("a.jpg", "x\0");
    assert!(
        Table::describe(&path)
            .unwrap_err()
            .to_string()
            .contains("binary data in a file whose name does not end in .csv")
    );
    let (_kept, path) = file("a.csv", "");
    assert!(Table::describe(&path).unwrap_err().to_string().contains("empty"));
    let (_kept, path) = file("a.parquet", "id|rock\n1|slate\n2|chalk\n");
    let message = Table::describe(&path).unwrap_err().to_string();
    assert!(
        message.contains("is not Parquet: it neither begins nor ends with PAR1"),
        "{message}"
    );
    let (_kept, path) = file("a.ocol", "\u{fffd}");
    std::fs::write(&path, b"\x8aOCOL\r\n\x1a\x01\0").unwrap();
    let message = Table::describe(&path).unwrap_err().to_string();
    assert!(message.contains("already a column file"), "{message}");
    let (_kept, path) = file("ragged.csv", "a,b\n1,2\n3\n");
    let table = Table::describe(&path).unwrap();
    let message = table
        .load(&path, &table.columns[1], u64::MAX, &AtomicBool::new(false))
        .unwrap_err()
        .to_string();
    assert!(message.contains("line 3 has 1 fields"), "{message}");
    let (_kept, path) = file("shifted.csv", "id,name,n\n1,Bern,10\n2,New, York,20\n");
    let table = Table::describe(&path).unwrap();
    let message = table
        .load(&path, &table.columns[1], u64::MAX, &AtomicBool::new(false))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("line 3 of the input: the record has 4 fields and the first has 3"),
        "{message}"
    );
}

#[test]
fn a_compressed_table_is_read_as_what_is_inside_whatever_its_name_says() {
    let text = "id|rock\n1|slate\n2|chalk\n";
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let here = tempfile::tempdir().unwrap();
    for name in ["plays.csv.zst", "plays.csv", "plays.CSV.gz", "plays.psv.zst"] {
        let path = here.path().join(name);
        std::fs::write(&path, &packed).unwrap();
        assert!(is_table(&path), "{name}");
        let table = Table::describe(&path).unwrap();
        assert_eq!(
            table.assumed().unwrap(),
            "delimiter '|', a header, 2 columns",
            "{name}"
        );
        let input = table
            .load(&path, &table.columns[1], u64::MAX, &AtomicBool::new(false))
            .unwrap();
        assert_eq!(input.text(), b"slate\nchalk\n");
    }
    let cut = here.path().join("cut.csv.zst");
    std::fs::write(&cut, &packed[..packed.len() - 3]).unwrap();
    let message = Table::describe(&cut).unwrap_err().to_string();
    assert!(message.contains("cut.csv.zst is truncated"), "{message}");
    assert!(!is_table(std::path::Path::new("plays.zst")));
}

#[test]
fn what_is_given_is_not_guessed() {
    let sample = b"a,b|c\nd,e|f\n";
    let describe = |given| Table::describe_text(FileKind::Delimited, sample, given).unwrap();
    let bars = Given {
        delimiter: Some(b'|'),
        has_header: Some(false),
        ..Given::default()
    };
    assert_eq!(
        describe(bars).assumed().unwrap(),
        "delimiter '|', no header, 2 columns"
    );
    assert_eq!(
        describe(Given::default()).assumed().unwrap(),
        "delimiter ',', a header, 2 columns"
    );
}

#[test]
fn a_file_is_looked_at_once_and_again_when_it_has_changed() {
    let (_kept, path) = file("a.csv", "rock,note\nbasalt,1\n");
    let first = Table::describe(&path).unwrap();
    assert_eq!(Table::describe(&path).unwrap(), first);
    std::fs::write(&path, "rock,remark,more\nbasalt,1,2\n").unwrap();
    let names: Vec<String> = Table::describe(&path)
        .unwrap()
        .columns
        .into_iter()
        .map(|column| column.name)
        .collect();
    assert_eq!(names, ["rock", "remark", "more"]);
}

#[test]
fn a_load_that_is_stopped_reads_no_further() {
    let (_kept, path) = file("a.csv", "rock,note\nbasalt,1\ngranite,2\n");
    let table = Table::describe(&path).unwrap();
    let stopped = table.load(&path, &table.columns[0], u64::MAX, &AtomicBool::new(true));
    assert!(matches!(
        stopped,
        Err(outcrop_column_bench::BenchError::Interrupted)
    ));
}

#[test]
fn binary_data_under_the_name_of_text_are_refused_and_an_archive_is_named() {
    let mut tar = vec![b'a'; 512];
    tar[256] = 0;
    tar[257..262].copy_from_slice(b"ustar");
    for (name, content, said) in [
        (
            "z.csv",
            &b"PK\x03\x04\0\0rest"[..],
            "it is a ZIP archive: unpack it first",
        ),
        ("t.txt", &tar, "it is a tar archive: unpack it first"),
        ("r.tsv", b"\x17\0\x99", "it has zero bytes"),
        ("r.csv.gz", b"\x17\0\x99", "a file whose name ends in .csv"),
    ] {
        let refused = FileKind::of(Some(std::path::Path::new(name)), content).unwrap_err();
        assert!(refused.contains(said), "{name}: {refused}");
    }
}
