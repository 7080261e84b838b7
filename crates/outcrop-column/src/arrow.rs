//! Columns to and from Arrow arrays, Arrow IPC and Parquet (features `arrow` and
//! `parquet`, both on by default).
//!
//! Towards a column: [`Encoder::push_array`](crate::Encoder::push_array), fed by hand, by
//! [`ArrowStrings`] or by `ParquetStrings`. From a column: [`Scan`] gives dictionary arrays,
//! `Column::write_arrow` and `Column::write_parquet` files. A foreign dictionary is looked up once for
//! each of its entries that occurs, not once a row. Columns of numbers, dates and booleans come as their text forms.

mod answers;
mod as_text;
mod batch_input;
mod ipc_input;
mod ipc_output;
#[cfg(feature = "parquet")]
mod parquet_counts;
#[cfg(feature = "parquet")]
mod parquet_errors;
#[cfg(feature = "parquet")]
mod parquet_footer;
#[cfg(feature = "parquet")]
mod parquet_input;
#[cfg(feature = "parquet")]
mod parquet_output;
#[cfg(feature = "parquet")]
mod parquet_pages;
#[cfg(feature = "parquet")]
mod parquet_sizes;
#[cfg(feature = "parquet")]
mod parts;
mod push;
mod scan;
#[cfg(feature = "parquet")]
mod text_type;
#[cfg(feature = "parquet")]
mod thrift;
mod values;

pub use answers::{batch_of_rows, batch_of_values, write_batch};
pub use as_text::ValueKind;
pub use batch_input::{BatchStrings, strings_of};
pub use ipc_input::{ArrowStrings, arrow_fields};
pub use ipc_output::ArrowForm;
#[cfg(feature = "parquet")]
pub use parquet_input::{ParquetStrings, parquet_fields};
#[cfg(feature = "parquet")]
pub use parquet_pages::{PageEncoding, PageKind, StoredPage};
#[cfg(feature = "parquet")]
pub use parquet_sizes::{
    MOST_COMPARED_BYTES, ParquetSizes, StoredColumn, parquet_stored, parquet_zstd_sizes,
};
#[cfg(feature = "parquet")]
pub use parts::{array_parts, refuse_longer_values};
pub use push::ForeignDictionary;
pub(crate) use scan::ArrowValues;
pub use scan::{DictionaryOrder, Scan};
#[cfg(feature = "parquet")]
pub use text_type::TextType;
pub use values::for_each_value;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_schema::{ArrowError, Schema};

use crate::encode::InputColumn;
use crate::error::{ColumnError, Result};

const FORMAT: &str = "Arrow";

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Has the process say nothing of panics while foreign decoders read untrusted bytes, which become errors here: else the message and stack of each
/// go to stderr before. All other panics are said as before.
pub fn silence_decoders() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !IS_GUARDED.get() {
            before(panic);
        }
    }));
}

/// Runs a foreign decoder over untrusted bytes. These decoders are meant not to panic, and sometimes do.
fn guarded<T>(format: &'static str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = IS_GUARDED.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(outer);
    decoded.unwrap_or_else(|_| Err(damaged(format, "its decoder gave up")))
}

/// What is wrong with a file that nobody wrote so, as an error.
fn damaged(format: &'static str, why: &str) -> ColumnError {
    ColumnError::Foreign {
        format,
        detail: format!("the file is damaged: {why}; write the file again"),
    }
}

impl From<ArrowError> for ColumnError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, source) => Self::Io(source),
            other => Self::Foreign {
                format: FORMAT,
                detail: other.to_string(),
            },
        }
    }
}

/// A column of a foreign file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignField {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ValueKind,
    /// Its type, as Arrow calls it: `Int64`.
    pub type_name: String,
}

fn fields_of(schema: &Schema) -> Vec<ForeignField> {
    let fields = schema.fields().iter().map(|field| ForeignField {
        name: field.name().clone(),
        kind: ValueKind::of(field.data_type()),
        type_name: field.data_type().to_string(),
    });
    fields.collect()
}

/// Position of the column asked for, which has a text form.
fn find_column(schema: &Schema, column: InputColumn<'_>) -> Result<usize> {
    let fields = schema.fields();
    let names = |wanted: &dyn Fn(ValueKind) -> bool| -> Vec<String> {
        fields
            .iter()
            .filter(|field| wanted(ValueKind::of(field.data_type())))
            .map(|field| field.name().clone())
            .collect()
    };
    // Where none is named, the only column of strings is meant; else the only one of any kind.
    let only = |wanted: &dyn Fn(ValueKind) -> bool| {
        let mut found = (0..)
            .zip(fields)
            .filter(|(_, field)| wanted(ValueKind::of(field.data_type())));
        found
            .next()
            .filter(|_| found.next().is_none())
            .map(|(index, _)| index)
    };
    let found = match column {
        InputColumn::Named(name) => fields.iter().position(|field| field.name() == name),
        InputColumn::Numbered(number) => (number < fields.len()).then_some(number),
        InputColumn::Only => {
            only(&|kind| kind == ValueKind::Strings).or_else(|| only(&ValueKind::has_text_form))
        }
    };
    let index = found.ok_or_else(|| ColumnError::NoSuchColumn {
        wanted: column.wanted(),
        existing: match column {
            InputColumn::Only => names(&ValueKind::has_text_form),
            _ => names(&|_| true),
        },
        delimiter: None,
    })?;
    let field = &fields[index];
    if ValueKind::of(field.data_type()).has_text_form() {
        return Ok(index);
    }
    Err(ColumnError::NotStrings {
        name: field.name().clone(),
        seen: field.data_type().to_string(),
        strings: names(&ValueKind::has_text_form),
    })
}
