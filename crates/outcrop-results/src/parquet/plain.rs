//! A table of typed columns that are known whole: few rows, many columns.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::table::{damage, options, write_error};
use crate::error::ResultsError;

/// A column; a row without a value has `None`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlainColumn {
    /// Words.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Any numbers.
    Real(Vec<Option<f64>>),
}

impl PlainColumn {
    /// Rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Real(values) => values.len(),
        }
    }

    /// A row's value as CSV has it; empty without one.
    pub(crate) fn spelled(&self, row: usize) -> String {
        let spelled = match self {
            Self::Text(values) => values.get(row).cloned().flatten(),
            Self::Whole(values) => values.get(row).copied().flatten().map(|value| value.to_string()),
            Self::Real(values) => values.get(row).copied().flatten().map(|value| value.to_string()),
        };
        spelled.unwrap_or_default()
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Text(_) => DataType::Utf8,
            Self::Whole(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Text(values) => Arc::new(values.iter().map(Option::as_deref).collect::<StringArray>()),
            Self::Whole(values) => Arc::new(values.iter().copied().collect::<Int64Array>()),
            Self::Real(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
        }
    }
}

/// Named columns of one length as a batch.
pub(super) fn batch_of_columns(columns: &[(String, PlainColumn)]) -> Result<RecordBatch, ArrowError> {
    let fields = columns
        .iter()
        .map(|(name, column)| Field::new(name, column.data_type(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, column)| column.array()).collect();
    RecordBatch::try_new(schema, arrays)
}

/// Writes named columns of one length as a Parquet file; `schema_name` goes into its footer.
pub(crate) fn write_columns(
    schema_name: &str,
    columns: &[(String, PlainColumn)],
    sink: impl Write + Send,
    path: &Path,
) -> Result<(), ResultsError> {
    let batch = batch_of_columns(columns).map_err(|error| damage(path, &error))?;
    let schema = batch.schema();
    let failed = |error| write_error(path, &error);
    let mut writer = ArrowWriter::try_new_with_options(sink, schema, options(schema_name)).map_err(failed)?;
    writer.write(&batch).map_err(failed)?;
    writer.close().map(|_| ()).map_err(failed)
}
