//! Columns that both tables have, and typed access to the columns of a batch that was read.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, MapArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, TimeUnit};
use chrono::{DateTime, SecondsFormat};

pub(super) fn text_field(name: &str) -> Field {
    Field::new(name, DataType::Utf8, false)
}

pub(super) fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

/// Names inside a map, as the Parquet format has them.
const MAP_NAMES: [&str; 3] = ["key_value", "key", "value"];

/// `MAP<utf8, utf8>`.
pub(super) fn factors_field() -> Field {
    let [entry, key, value] = MAP_NAMES;
    let key = Field::new(key, DataType::Utf8, false);
    let value = Field::new(value, DataType::Utf8, true);
    Field::new_map("factors", entry, key, value, false, false)
}

pub(super) fn timestamp_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

pub(super) fn text<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

pub(super) fn numbers<T: ArrowPrimitiveType>(values: impl Iterator<Item = T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(values))
}

pub(super) fn factors<'a>(
    rows: impl Iterator<Item = &'a BTreeMap<String, String>>,
) -> Result<ArrayRef, String> {
    let [entry, key, value] = MAP_NAMES.map(str::to_owned);
    let names = MapFieldNames { entry, key, value };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    for row in rows {
        for (name, value) in row {
            builder.keys().append_value(name);
            builder.values().append_value(value);
        }
        builder.append(true).map_err(|error| error.to_string())?;
    }
    Ok(Arc::new(builder.finish()))
}

/// RFC 3339 text as timestamps.
pub(super) fn timestamps<'a>(values: impl Iterator<Item = &'a str>) -> Result<ArrayRef, String> {
    let micros = values
        .map(|text| {
            DateTime::parse_from_rfc3339(text)
                .map(|time| time.timestamp_micros())
                .map_err(|error| format!("started_at {text:?} is not an RFC 3339 time ({error})"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(
        PrimitiveArray::<TimestampMicrosecondType>::from_iter_values(micros).with_timezone("UTC"),
    ))
}

/// A batch that was read, with access that checks name, type and nulls.
pub(super) struct Batch<'a>(pub(super) &'a RecordBatch);

impl<'a> Batch<'a> {
    pub(super) fn row_count(&self) -> usize {
        self.0.num_rows()
    }

    fn column<A: Array + 'static>(&self, name: &str, is_nullable: bool) -> Result<&'a A, String> {
        let column = self
            .0
            .column_by_name(name)
            .ok_or_else(|| format!("the column {name} is missing"))?;
        if !is_nullable && column.null_count() > 0 {
            return Err(format!("the column {name} has nulls"));
        }
        let typed = column.as_any().downcast_ref::<A>();
        typed.ok_or_else(|| format!("the column {name} has the type {}", column.data_type()))
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a StringArray, String> {
        self.column(name, false)
    }

    /// A column that earlier versions of the schema do not have.
    pub(super) fn text_if_there(&self, name: &str) -> Result<Option<&'a StringArray>, String> {
        let is_there = self.0.column_by_name(name).is_some();
        is_there.then(|| self.text(name)).transpose()
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<&'a StringArray, String> {
        self.column(name, true)
    }

    pub(super) fn u32(&self, name: &str) -> Result<&'a PrimitiveArray<UInt32Type>, String> {
        self.column(name, false)
    }

    pub(super) fn u64(&self, name: &str) -> Result<&'a PrimitiveArray<UInt64Type>, String> {
        self.column(name, false)
    }

    pub(super) fn f64(&self, name: &str) -> Result<&'a PrimitiveArray<Float64Type>, String> {
        self.column(name, false)
    }

    pub(super) fn optional_f64(&self, name: &str) -> Result<&'a PrimitiveArray<Float64Type>, String> {
        self.column(name, true)
    }

    /// The times of a column as RFC 3339 in UTC.
    pub(super) fn times(&self, name: &str) -> Result<Vec<String>, String> {
        let column: &PrimitiveArray<TimestampMicrosecondType> = self.column(name, false)?;
        let text = |micros: &i64| {
            DateTime::from_timestamp_micros(*micros)
                .map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
                .ok_or_else(|| format!("the column {name} has a time out of range: {micros} µs"))
        };
        column.values().iter().map(text).collect()
    }

    pub(super) fn factors(&self) -> Result<Vec<BTreeMap<String, String>>, String> {
        let maps: &MapArray = self.column("factors", false)?;
        let keys = maps.keys().as_any().downcast_ref::<StringArray>();
        let values = maps.values().as_any().downcast_ref::<StringArray>();
        let (Some(keys), Some(values)) = (keys, values) else {
            return Err(format!("the column factors has the type {}", maps.data_type()));
        };
        let row = |bounds: &[i32]| {
            let bound = |index: usize| usize::try_from(bounds[index]).map_err(|error| error.to_string());
            let entries = bound(0)?..bound(1)?;
            Ok(entries
                .map(|i| (keys.value(i).to_owned(), values.value(i).to_owned()))
                .collect())
        };
        maps.value_offsets().windows(2).map(row).collect()
    }
}

/// A value of a column that serde spells (unit, provenance, kind), from its text.
pub(super) fn spelled<T: serde::de::DeserializeOwned>(column: &str, text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error| format!("the column {column} has {text:?}: {error}"))
}
