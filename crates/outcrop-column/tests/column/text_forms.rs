//! Numbers, dates and booleans of Parquet and Arrow files as the text forms of their values.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::types::{
    ArrowTimestampType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Int64Array, PrimitiveArray,
    RecordBatch, Time64MicrosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray, UInt8Array,
};
use arrow_ipc::writer::IpcWriteOptions;
use outcrop_column::InputColumn;
use outcrop_column::arrow::{ArrowStrings, ParquetStrings};

use crate::arrow::{encoded, parquet_of, read_all, stream_of};
use crate::oracle::Row;

/// What each row of a column of a Parquet and of an Arrow file reads as.
fn texts_of(array: &ArrayRef) -> Vec<Vec<Row>> {
    let batch = RecordBatch::try_from_iter([("c", Arc::clone(array))]).unwrap();
    let stream = stream_of(&batch, IpcWriteOptions::default());
    vec![
        encoded(ParquetStrings::open(parquet_of(&batch), InputColumn::Only).unwrap()).unwrap(),
        encoded(ArrowStrings::open(&stream[..], InputColumn::Only).unwrap()).unwrap(),
    ]
}

#[test]
fn numbers_dates_and_booleans_are_read_as_their_text_forms() {
    let day = 20_779; // 2026-11-22
    let second = i64::from(day) * 86_400 + 7 * 3600 + 23 * 60;
    let decimal = Decimal128Array::from(vec![Some(12_345), None, Some(-5)]);
    let cases: Vec<(ArrayRef, [Option<&str>; 3])> = vec![
        (
            Arc::new(Int64Array::from(vec![Some(-7), None, Some(i64::MAX)])),
            [Some("-7"), None, Some("9223372036854775807")],
        ),
        (
            Arc::new(Date32Array::from(vec![Some(day), None, Some(0)])),
            [Some("2026-11-22"), None, Some("1970-01-01")],
        ),
        (
            Arc::new(
                TimestampMicrosecondArray::from(vec![Some(second * 1_000_000), None, Some(500_000)])
                    .with_timezone("UTC"),
            ),
            [
                Some("2026-11-22T07:23:00.000000Z"),
                None,
                Some("1970-01-01T00:00:00.500000Z"),
            ],
        ),
        (
            Arc::new(TimestampMillisecondArray::from(vec![
                Some(second * 1000),
                None,
                Some(0),
            ])),
            [Some("2026-11-22T07:23:00"), None, Some("1970-01-01T00:00:00")],
        ),
        (
            Arc::new(decimal.with_precision_and_scale(10, 2).unwrap()),
            [Some("123.45"), None, Some("-0.05")],
        ),
        (
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            [Some("true"), None, Some("false")],
        ),
    ];
    for (array, expected) in cases {
        let expected: Vec<Row> = expected
            .iter()
            .map(|row| row.map(|text| text.as_bytes().to_vec()))
            .collect();
        for rows in texts_of(&array) {
            assert_eq!(rows, expected, "{}", array.data_type());
        }
    }
}

#[test]
fn the_text_forms_of_moments_sort_as_the_moments_do() {
    fn moments<T: ArrowTimestampType>(steps: &[i64]) -> [ArrayRef; 2] {
        let array = PrimitiveArray::<T>::from_iter_values(steps.iter().copied());
        [Arc::new(array.clone()), Arc::new(array.with_timezone("UTC"))]
    }
    let of_year_800 = -36_889_862_400;
    let seconds = [of_year_800, -1, 0, 1, 1_795_332_180];
    // Just before a second, at it, and at two fractions of it.
    let of_unit = |per_second: i64| {
        let near = [-1, 0, 1, per_second / 2];
        let all = seconds
            .iter()
            .flat_map(|second| near.map(|step| second * per_second + step));
        all.collect::<BTreeSet<i64>>().into_iter().collect::<Vec<i64>>()
    };
    let mut columns = moments::<TimestampSecondType>(&seconds).to_vec();
    columns.extend(moments::<TimestampMillisecondType>(&of_unit(1000)));
    columns.extend(moments::<TimestampMicrosecondType>(&of_unit(1_000_000)));
    // Nanoseconds of 64 bits do not reach back to the year 800.
    let recent: Vec<i64> = of_unit(1000).into_iter().filter(|ms| *ms > -2000).collect();
    let nanoseconds: Vec<i64> = recent.iter().map(|ms| ms * 1_000_000).collect();
    columns.extend(moments::<TimestampNanosecondType>(&nanoseconds));
    let times: Vec<i64> = of_unit(1000)
        .into_iter()
        .filter(|ms| (0..86_400_000).contains(ms))
        .collect();
    columns.push(Arc::new(Time64MicrosecondArray::from(
        times.iter().map(|ms| ms * 1000).collect::<Vec<i64>>(),
    )));
    let keys = UInt8Array::from_iter_values(0..seconds.len() as u8);
    let values = TimestampMillisecondArray::from(of_unit(1000)[..seconds.len()].to_vec());
    columns.push(Arc::new(DictionaryArray::new(
        keys,
        Arc::new(values.with_timezone("Europe/Zurich")),
    )));
    for array in columns {
        let stream = stream_of(
            &RecordBatch::try_from_iter([("c", Arc::clone(&array))]).unwrap(),
            IpcWriteOptions::default(),
        );
        let texts = encoded(ArrowStrings::open(&stream[..], InputColumn::Only).unwrap()).unwrap();
        assert!(
            texts.is_sorted_by(|one, next| one < next),
            "{}: {texts:?}",
            array.data_type()
        );
    }
}

#[test]
fn a_value_without_a_text_form_is_an_error_and_no_null() {
    let beyond: ArrayRef = Arc::new(Date32Array::from(vec![Some(0), Some(i32::MAX)]));
    let batch = RecordBatch::try_from_iter([("c", beyond)]).unwrap();
    let stream = stream_of(&batch, IpcWriteOptions::default());
    assert!(read_all(ArrowStrings::open(&stream[..], InputColumn::Only)).is_err());
}
