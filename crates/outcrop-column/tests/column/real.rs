//! Real columns: a small cut that is always here, and the whole files where they are.

use std::path::{Path, PathBuf};

use outcrop_column::{Column, CsvOptions, EncodeOptions, Index, InputColumn, encode_csv};

use crate::oracle::{Row, check_file};

/// Path and content of each CSV file: the fixtures, and any beside the repository.
fn tables() -> Vec<(PathBuf, Vec<u8>)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        here.join("tests/fixtures/real"),
        here.join("../../../shared/data/columns"),
    ];
    let mut tables = Vec::new();
    for entry in folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
    {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => tables.push((path, bytes)),
            Some("zst") => tables.push((path, zstd::decode_all(&bytes[..]).unwrap())),
            _ => {}
        }
    }
    tables.sort();
    assert!(tables.len() >= 2, "the fixtures are in the repository");
    tables
}

/// The fields of one column, split naively: these files know no quotation marks.
fn naive(table: &[u8], column: usize) -> Vec<Row> {
    let lines = table.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| line.split(|&byte| byte == b'|').nth(column).unwrap())
        .map(|field| (field != b"null").then(|| field.to_vec()))
        .collect()
}

#[test]
fn real_columns_answer_as_their_rows_do() {
    for (number, (path, table)) in tables().into_iter().enumerate() {
        let line = table.split(|&byte| byte == b'\n').next().unwrap();
        let column_count = line.split(|&byte| byte == b'|').count();
        for column in [0, 1, column_count - 1] {
            let rows = naive(&table, column);
            let csv = CsvOptions {
                column: InputColumn::Numbered(column),
                delimiter: b'|',
                has_header: false,
                has_quotes: false,
                null: Some("null"),
                ..CsvOptions::default()
            };
            let options = EncodeOptions {
                index: [Index::None, Index::Postings, Index::Only][(number + column) % 3],
                ..Default::default()
            };
            let mut file = Vec::new();
            encode_csv(&table[..], &csv, options)
                .unwrap()
                .finish(&mut file)
                .unwrap();
            let column = Column::open_in(file.clone()).unwrap();
            assert_eq!(column.row_count(), rows.len() as u64, "{}", path.display());
            check_file(&file, &rows, 1);
        }
    }
}
