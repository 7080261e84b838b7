//! A table in a notebook: its first rows.

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, SchemaRef};
use maud::html;

use super::values::printable;

/// Rows that are shown.
const ROWS_SHOWN: usize = 20;

pub(super) fn table(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    row_count: usize,
) -> Result<String, ArrowError> {
    let options = FormatOptions::default();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for batch in batches {
        let shown = batch.columns().iter().map(printable);
        let shown = shown.collect::<Result<Vec<_>, _>>()?;
        let columns = shown
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows().min(ROWS_SHOWN - rows.len()) {
            let cells = columns.iter().map(|column| column.value(row).try_to_string());
            rows.push(cells.collect::<Result<_, _>>()?);
        }
    }
    let markup = html! {
        table {
            thead { tr { @for field in schema.fields() { th { (field.name()) } } } }
            tbody { @for row in &rows { tr { @for cell in row { td { (cell) } } } } }
        }
        @if row_count > rows.len() { p { (rows.len()) " of " (row_count) " rows" } }
    };
    Ok(markup.into_string())
}
