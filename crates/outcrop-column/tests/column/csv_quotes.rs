//! Quotes of a delimited text that are never closed, and delimiters of values without any.

use outcrop_column::{Column, ColumnError, CsvOptions, EncodeOptions, InputColumn, encode_csv};
use proptest::prelude::*;

fn encoded(text: &str, has_header: bool) -> Result<Vec<Vec<u8>>, ColumnError> {
    let csv = CsvOptions {
        column: InputColumn::Numbered(1),
        has_header,
        ..CsvOptions::default()
    };
    let mut file = Vec::new();
    encode_csv(text.as_bytes(), &csv, EncodeOptions::default())?.finish(&mut file)?;
    let column = Column::open_in(file)?;
    let rows = 0..column.row_count();
    rows.map(|row| Ok(column.get(row)?.unwrap().to_vec())).collect()
}

#[test]
fn a_quote_that_is_never_closed_is_an_error_with_its_line() {
    for (text, line) in [
        ("a,b\n1,\"x\n2,y\n", 2),
        ("a,b\n1,x\n\n2,\"y", 4),
        ("a,b\r\n1,\"x\r\ny\"\r\n2,\"z\r\n", 4),
        ("a,b\n\"1\n1\",\"x\n2,y\n", 3),
        ("a,\"b\n1,x\n", 1),
    ] {
        for has_header in [true, false] {
            let error = encoded(text, has_header).unwrap_err();
            assert!(
                matches!(&error, ColumnError::Input { line: seen, detail } if *seen == line && detail.contains("not closed")),
                "{text:?}: {error}"
            );
        }
    }
}

#[test]
fn a_record_with_more_fields_than_the_first_is_an_error_with_its_line_and_none_is_cut() {
    for (text, line) in [
        ("id,name\n1,Smith, John\n", 2),
        ("id,name\r\n1,\"x\r\ny\"\r\n2,Smith, John\r\n", 4),
        ("id,name\n1,x\n\n2,Smith, John", 4),
        ("id,name\r\n1,x\r\n\r\n2,\"a\nb\", John,\r\n", 4),
        ("id,name\n1,x\n2,y,z", 3),
        ("id,name\r\n1,x\r\n1,x,3", 3),
        ("id,name\r\n1,x\n1,x,3\n", 3),
        ("id,name\n1,x\r\n1,x,3\r\n", 3),
    ] {
        for has_header in [true, false] {
            let error = encoded(text, has_header).unwrap_err();
            assert!(
                matches!(&error, ColumnError::Input { line: seen, detail } if *seen == line && detail.contains("fields and the first has 2")),
                "{text:?}: {error}"
            );
        }
    }
    let error = encoded("id,name\n1,x\n2,y,\n", true).unwrap_err().to_string();
    assert!(
        error.contains("line 3 of the input: the record has 3 fields, the last of them empty, and the first has 2; is there a delimiter too many"),
        "{error}"
    );
    let csv = CsvOptions::default();
    assert!(encode_csv(&b"name\nSmith, John\n"[..], &csv, EncodeOptions::default()).is_err());
    let whole = encoded("id,name\n1,\"Smith, John\"\n", true).unwrap();
    assert_eq!(whole, [&b"Smith, John"[..]]);
}

#[test]
fn the_end_of_a_text_is_found_however_it_ends() {
    for end in ["", "\n", "\r\n", "\n\n", "\r\n\r\n"] {
        let text = format!("a,b\n1,\"x\ny\"\n2,\u{1}\u{1}{end}");
        assert_eq!(
            encoded(&text, true).unwrap(),
            [&b"x\ny"[..], b"\x01\x01"],
            "{end:?}"
        );
    }
    assert_eq!(encoded("", false).unwrap(), [&b""[..]; 0]);
}

proptest! {
    #[test]
    fn every_table_that_is_written_is_read_whole(rows in prop::collection::vec("[a-c\"\r\n,\u{1}]{0,4}", 1..20)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for value in &rows {
            writer.write_record(["1", value]).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let expected: Vec<Vec<u8>> = rows.iter().map(|value| value.as_bytes().to_vec()).collect();
        prop_assert_eq!(encoded(&text, false).unwrap(), expected);
    }
}
