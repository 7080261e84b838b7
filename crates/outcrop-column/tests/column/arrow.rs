//! Arrow arrays, Arrow IPC and Parquet in both directions, against the rows that went in.

use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, StringDictionaryBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeBinaryArray,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt32Array,
};
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use outcrop_column::arrow::{ArrowStrings, DictionaryOrder, ParquetStrings};
use outcrop_column::{ArrowForm, Column, ColumnError, EncodeOptions, Encoder, Index, InputColumn, Result};
use proptest::prelude::*;

use crate::oracle::{Row, encode, push_all};

fn rows_of(file: Vec<u8>) -> Vec<Row> {
    let mut rows = Vec::new();
    Column::open_in(file)
        .unwrap()
        .for_each_row(|value| {
            rows.push(value.map(<[u8]>::to_vec));
            Ok(())
        })
        .unwrap();
    rows
}

pub(crate) fn encoded(arrays: impl IntoIterator<Item = Result<ArrayRef>>) -> Result<Vec<Row>> {
    let mut encoder = Encoder::new(EncodeOptions::default());
    for array in arrays {
        encoder.push_array(&array?)?;
    }
    let mut file = Vec::new();
    encoder.finish(&mut file)?;
    Ok(rows_of(file))
}

/// Rows of a dictionary array of strings or bytes.
fn rows_of_array(array: &DictionaryArray<Int32Type>) -> Vec<Row> {
    let values = array.values();
    (0..array.len())
        .map(|row| {
            let key = array.key(row)?;
            Some(match values.as_string_opt::<i32>() {
                Some(strings) => strings.value(key).as_bytes().to_vec(),
                None => values.as_binary::<i32>().value(key).to_vec(),
            })
        })
        .collect()
}

fn texts() -> impl Strategy<Value = Vec<Option<String>>> {
    let text = prop_oneof![
        1 => Just(None),
        1 => Just(Some(String::new())),
        4 => "[ab]{1,2}".prop_map(Some),
        1 => "\\PC{0,20}".prop_map(Some),
    ];
    proptest::collection::vec(text, 0..200)
}

pub(crate) fn as_rows(texts: &[Option<String>]) -> Vec<Row> {
    texts
        .iter()
        .map(|text| text.as_ref().map(|text| text.clone().into_bytes()))
        .collect()
}

/// The same rows in every kind of array that is accepted.
fn arrays_of(texts: &[Option<String>]) -> Vec<ArrayRef> {
    let strings = || texts.iter().map(Option::as_deref);
    let bytes = || strings().map(|text| text.map(str::as_bytes));
    let mut dictionary = StringDictionaryBuilder::<UInt64Type>::new();
    strings().for_each(|text| dictionary.append_option(text));
    let mut views = BinaryViewBuilder::new();
    bytes().for_each(|value| views.append_option(value));
    vec![
        Arc::new(StringArray::from_iter(strings())),
        Arc::new(LargeStringArray::from_iter(strings())),
        Arc::new(StringViewArray::from_iter(strings())),
        Arc::new(BinaryArray::from_iter(bytes())),
        Arc::new(LargeBinaryArray::from_iter(bytes())),
        Arc::new(views.finish()),
        Arc::new(dictionary.finish()),
        Arc::new(DictionaryArray::<Int32Type>::from_iter(strings())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn every_kind_of_array_becomes_the_file_that_its_rows_become(texts in texts()) {
        let expected = encode(&as_rows(&texts), EncodeOptions::default());
        for array in arrays_of(&texts) {
            // In two parts, so that a dictionary is met twice.
            let (first, second) = (array.slice(0, texts.len() / 2), array.slice(texts.len() / 2, texts.len() - texts.len() / 2));
            let mut encoder = Encoder::new(EncodeOptions::default());
            encoder.push_array(&first).unwrap();
            encoder.push_array(&second).unwrap();
            let mut file = Vec::new();
            encoder.finish(&mut file).unwrap();
            prop_assert!(file == expected, "{}", array.data_type());
        }
    }

    #[test]
    fn columns_return_from_arrow_and_parquet_with_the_same_rows(
        first in proptest::collection::vec(proptest::option::of(proptest::collection::vec(97_u8..100, 0..3)), 0..150),
        second in proptest::collection::vec(proptest::option::of(proptest::collection::vec(any::<u8>(), 0..3)), 0..150),
    ) {
        let mut file = encode(&first, EncodeOptions::default());
        let before = file.clone();
        let mut encoder = Encoder::new(EncodeOptions::default());
        push_all(&mut encoder, &second);
        encoder.append(&before, &mut file).unwrap();
        let rows: Vec<Row> = first.into_iter().chain(second).collect();
        let column = Column::open_in(file).unwrap();
        let scanned: Vec<Row> = column.scan().unwrap().flat_map(|array| rows_of_array(&array.unwrap())).collect();
        prop_assert_eq!(&scanned, &rows);
        let joined: Vec<_> = column.scan().unwrap().with_batch_rows(usize::MAX).map(Result::unwrap).collect();
        prop_assert_eq!(joined.len(), usize::from(!rows.is_empty()), "one array, over the ends of segments");
        prop_assert_eq!(joined.iter().flat_map(rows_of_array).collect::<Vec<Row>>(), rows.clone());
        for form in [ArrowForm::File, ArrowForm::Stream] {
            let mut ipc = Vec::new();
            column.write_arrow(&mut ipc, "rock", form).unwrap();
            let back = encoded(ArrowStrings::open(&ipc[..], InputColumn::Only).unwrap()).unwrap();
            prop_assert_eq!(&back, &rows);
        }
        let mut parquet = Vec::new();
        column.write_parquet(&mut parquet, "rock").unwrap();
        let back = ParquetStrings::open(bytes::Bytes::from(parquet), InputColumn::Named("rock")).unwrap();
        prop_assert_eq!(back.row_count(), rows.len() as u64);
        prop_assert_eq!(&encoded(back).unwrap(), &rows);
    }
}

#[test]
fn a_scan_in_the_stored_order_gives_the_same_rows_whatever_that_order_is() {
    // Frequent values first, unlike byte order: the encoder numbers them by frequency.
    let skewed = |row: u64| {
        let noise = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        let rarity = u64::from((noise | 1 << 12).trailing_zeros());
        (rarity < 12)
            .then(|| format!("{:04}", 9999 - (noise >> 20) % (1 << rarity) - (1 << rarity)).into_bytes())
    };
    let with_nulls: Vec<Row> = (0..70_000).map(skewed).collect();
    let without: Vec<Row> = with_nulls.iter().filter(|row| row.is_some()).cloned().collect();
    let plain: Vec<Row> = (0..1000_u32)
        .map(|row| Some(format!("{}", row % 7).into_bytes()))
        .collect();
    for (rows, is_ranked) in [
        (with_nulls, true),
        (without, true),
        (plain, false),
        (Vec::new(), false),
    ] {
        let column = Column::open_in(encode(&rows, EncodeOptions::default())).unwrap();
        let [stored, by_bytes] = [DictionaryOrder::Stored, DictionaryOrder::Bytes].map(|order| {
            let arrays: Vec<_> = column
                .scan_in(order)
                .unwrap()
                .map(|array| array.unwrap())
                .collect();
            let scanned: Vec<Row> = arrays.iter().flat_map(rows_of_array).collect();
            assert!(scanned == rows, "{order:?}");
            arrays
        });
        let differs = stored
            .iter()
            .zip(&by_bytes)
            .any(|(stored, by_bytes)| stored.keys() != by_bytes.keys());
        assert_eq!(differs, is_ranked);
    }
}

#[test]
fn larger_arrays_of_a_scan_have_the_same_rows_with_nulls_and_over_segments() {
    let row = |row: u32| (row % 17_000 != 16_999).then(|| format!("{}", row % 11).into_bytes());
    let (first, second): (Vec<Row>, Vec<Row>) =
        ((0..150_000).map(row).collect(), (7..70_000).map(row).collect());
    let before = encode(&first, EncodeOptions::default());
    let mut encoder = Encoder::new(EncodeOptions::default());
    push_all(&mut encoder, &second);
    let mut file = before.clone();
    encoder.append(&before, &mut file).unwrap();
    let rows: Vec<Row> = first.into_iter().chain(second).collect();
    let column = Column::open_in(file).unwrap();
    for (batch_rows, lengths) in [
        (1, vec![65_536, 65_536, 18_928, 65_536, 4_457]),
        (65_537, vec![65_536, 65_536, 18_928, 65_536, 4_457]),
        (149_999, vec![131_072, 88_921]),
        (150_000, vec![150_000, 69_993]),
        (200_000, vec![150_000, 69_993]),
        (usize::MAX, vec![219_993]),
    ] {
        let scan = column.scan().unwrap().with_batch_rows(batch_rows);
        let arrays: Vec<_> = scan.map(|array| array.unwrap()).collect();
        let seen: Vec<usize> = arrays.iter().map(Array::len).collect();
        assert_eq!(seen, lengths, "at most {batch_rows} rows");
        let scanned: Vec<Row> = arrays.iter().flat_map(rows_of_array).collect();
        assert!(scanned == rows, "at most {batch_rows} rows");
    }
}

/// A table with two columns of strings and one of numbers.
pub(crate) fn table() -> RecordBatch {
    let names = ["basalt", "gabbro", "basalt"];
    let schema = Schema::new(vec![
        Field::new("id", arrow_schema::DataType::Int64, false),
        Field::new("rock", arrow_schema::DataType::Utf8View, true),
        Field::new("age", arrow_schema::DataType::LargeUtf8, true),
        Field::new("mass", arrow_schema::DataType::Float64, true),
    ]);
    RecordBatch::try_new(
        Arc::new(schema),
        vec![
            Arc::new(Int64Array::from(vec![1, 2, 3])),
            Arc::new(StringViewArray::from(names.to_vec())),
            Arc::new(LargeStringArray::from(vec![Some("old"), None, Some("new")])),
            Arc::new(Float64Array::from(vec![2.5, 2.6, 2.7])),
        ],
    )
    .unwrap()
}

pub(crate) fn stream_of(batch: &RecordBatch, options: IpcWriteOptions) -> Vec<u8> {
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn parquet_of(batch: &RecordBatch) -> bytes::Bytes {
    let mut out = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut out, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    out.into()
}

#[test]
fn a_column_of_a_table_is_found_by_name_and_number_and_others_are_refused_by_name() {
    let table = table();
    let ipc = stream_of(&table, IpcWriteOptions::default());
    let parquet = parquet_of(&table);
    let text =
        |words: &[&str]| -> Vec<Row> { words.iter().map(|word| Some(word.as_bytes().to_vec())).collect() };
    for column in [InputColumn::Named("rock"), InputColumn::Numbered(1)] {
        let from_ipc = encoded(ArrowStrings::open(&ipc[..], column).unwrap()).unwrap();
        let from_parquet = encoded(ParquetStrings::open(parquet.clone(), column).unwrap()).unwrap();
        assert_eq!(from_ipc, text(&["basalt", "gabbro", "basalt"]));
        assert_eq!(from_parquet, from_ipc);
    }
    let errors = |column| {
        [
            ArrowStrings::open(&ipc[..], column).unwrap_err(),
            ParquetStrings::open(parquet.clone(), column).unwrap_err(),
        ]
    };
    for error in errors(InputColumn::Named("rok")) {
        assert_eq!(
            error.to_string(),
            "the input has no column \"rok\"; it has id, rock, age, mass"
        );
    }
    for error in errors(InputColumn::Only) {
        assert_eq!(
            error.to_string(),
            "the input has 3 columns; name one of id, rock, age"
        );
    }
    for error in errors(InputColumn::Named("mass")) {
        assert!(
            error.to_string().contains("columns that can: id, rock, age"),
            "{error}"
        );
    }
}

#[test]
fn a_compressed_buffer_that_claims_to_become_far_more_than_it_is_is_refused() {
    use arrow_ipc::CompressionType;
    let rocks =
        RecordBatch::try_from_iter([("rock", Arc::new(StringArray::from(vec!["granite"; 1000])) as _)]);
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default()
            .try_with_compression(Some(compression))
            .unwrap();
        // What the buffer of 7,000 letters says that it becomes stands before its compressed bytes.
        let claiming = |claim: i64| {
            let mut ipc = stream_of(rocks.as_ref().unwrap(), options.clone());
            let position = ipc
                .windows(8)
                .rposition(|bytes| bytes == 7000_i64.to_le_bytes())
                .unwrap();
            ipc[position..position + 8].copy_from_slice(&claim.to_le_bytes());
            let read = ArrowStrings::open(&ipc[..], InputColumn::Only).and_then(encoded);
            read.unwrap_err().to_string()
        };
        for refused in [i64::MAX / 2, 2 << 30] {
            let error = claiming(refused);
            assert!(
                error.contains("at most 1073741824 are read; write it with fewer rows"),
                "{error}"
            );
        }
        // What may be, and is not so.
        let error = claiming(7001);
        assert!(!error.contains("are read"), "{error}");
    }
}

#[test]
fn compressed_messages_and_batches_with_growing_dictionaries_are_read() {
    use arrow_ipc::CompressionType;
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default()
            .try_with_compression(Some(compression))
            .unwrap();
        let ipc = stream_of(&table(), options);
        let rows = encoded(ArrowStrings::open(&ipc[..], InputColumn::Named("age")).unwrap()).unwrap();
        assert_eq!(rows, [Some(b"old".to_vec()), None, Some(b"new".to_vec())]);
    }
    // Dictionaries that are replaced from batch to batch; entries that are null.
    let batch = |keys: [i8; 3], values: [Option<&str>; 2]| {
        let array = DictionaryArray::<Int8Type>::try_new(
            arrow_array::Int8Array::from(keys.to_vec()),
            Arc::new(StringArray::from(values.to_vec())),
        )
        .unwrap();
        let field = Field::new("v", array.data_type().clone(), true);
        RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(array)]).unwrap()
    };
    let batches = [
        batch([0, 1, 0], [Some("a"), None]),
        batch([1, 1, 0], [Some("c"), Some("a")]),
    ];
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    let ipc = writer.into_inner().unwrap();
    let rows = encoded(ArrowStrings::open(&ipc[..], InputColumn::Only).unwrap()).unwrap();
    let text = |word: &str| Some(word.as_bytes().to_vec());
    assert_eq!(
        rows,
        [text("a"), None, text("a"), text("a"), text("a"), text("c")]
    );
}

#[test]
fn the_batches_of_a_parquet_row_group_share_its_dictionary_page() {
    let rows: Vec<String> = (0..3000).map(|row| format!("value {:03}", row % 700)).collect();
    let array: ArrayRef = Arc::new(StringArray::from(rows));
    let batch = RecordBatch::try_from_iter([("v", array)]).unwrap();
    let mut arrays = ParquetStrings::open(parquet_of(&batch), InputColumn::Only).unwrap();
    let array = arrays.next().unwrap().unwrap();
    let dictionary = array.as_dictionary::<Int32Type>();
    assert_eq!((array.len(), dictionary.values().len()), (3000, 700));
    assert!(arrays.next().is_none());
}

#[test]
fn other_arrays_are_refused_with_their_type() {
    let mut encoder = Encoder::new(EncodeOptions::default());
    let numbers: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
    let error = encoder.push_array(&numbers).unwrap_err();
    assert!(
        matches!(&error, ColumnError::NotStrings { seen, .. } if seen == "UInt32"),
        "{error}"
    );
}

/// Reads to the end; the error, if there is one.
pub(crate) fn read_all(arrays: Result<impl Iterator<Item = Result<ArrayRef>>>) -> Result<()> {
    let mut encoder = Encoder::new(EncodeOptions::default());
    for array in arrays? {
        encoder.push_array(&array?)?;
    }
    Ok(())
}

#[test]
fn answers_come_as_batches() {
    let rows: Vec<Row> = vec![
        Some(b"b".to_vec()),
        None,
        Some(b"a".to_vec()),
        Some(b"b".to_vec()),
    ];
    let options = EncodeOptions {
        index: Index::Postings,
        ..Default::default()
    };
    let column = Column::open_in(encode(&rows, options)).unwrap();
    let found = column.find(b"b").unwrap().rows_batch().unwrap();
    assert_eq!(found["row"].as_primitive::<UInt64Type>().values(), &[0, 3]);
    let nulls = column.find_null().unwrap().values_batch().unwrap();
    assert!(nulls["value"].is_null(0));
    let got = column.get_batch(&[2, 1]).unwrap();
    assert_eq!(got["value"].as_string::<i32>().value(0), "a");
    assert!(got["value"].is_null(1));
}
