//! Columns of other types as the text forms of their values.

use arrow_array::{Array as _, ArrayRef, make_array};
use arrow_cast::display::FormatOptions;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};

use crate::error::Result;

/// What the values of a column of a foreign file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Strings or bytes.
    Strings,
    /// Dates, times of day, or moments: `2026-11-22`, `2026-11-22T07:23:00.000Z`.
    Dates,
    /// Integers or decimals.
    Numbers,
    /// `true` or `false`.
    Booleans,
    /// What has no text form that reads back the same, or none that people agree on: floats, lists, structures.
    Other,
}

impl ValueKind {
    /// Of values of this type.
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView => Self::Strings,
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::Date32
            | DataType::Date64
            | DataType::Time32(_)
            | DataType::Time64(_)
            | DataType::Timestamp(_, _) => Self::Dates,
            DataType::Decimal32(_, _)
            | DataType::Decimal64(_, _)
            | DataType::Decimal128(_, _)
            | DataType::Decimal256(_, _) => Self::Numbers,
            integer if integer.is_integer() => Self::Numbers,
            DataType::Boolean => Self::Booleans,
            _ => Self::Other,
        }
    }

    /// Whether the column can be encoded: as it is, or as the text forms of its values.
    pub const fn has_text_form(self) -> bool {
        !matches!(self, Self::Other)
    }

    /// In words, for a list of columns.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strings => "text",
            Self::Dates => "dates",
            Self::Numbers => "numbers",
            Self::Booleans => "booleans",
            Self::Other => "no text form",
        }
    }
}

/// The array itself if it has strings or bytes, else the text forms of its values.
///
/// Text forms of moments sort as the moments do. Those in UTC end in `Z`, behind which a fraction of a second would sort: each has all digits of the
/// column's unit. Without a zone, a fraction stands at the end, and only where there is one.
///
/// A value without a text form, such as a date beyond the calendar, is an error: as a null it would be lost.
pub(super) fn as_strings(array: ArrayRef) -> Result<ArrayRef> {
    if ValueKind::of(array.data_type()) == ValueKind::Strings {
        return Ok(array);
    }
    let mut in_utc_format = FormatOptions::default();
    let array = match array.data_type() {
        DataType::Dictionary(_, values) => {
            return as_strings(cast_with_options(
                &array,
                values,
                &strictly(FormatOptions::default()),
            )?);
        }
        // The same moments in UTC: names of time zones need a database of them.
        DataType::Timestamp(unit, Some(_)) => {
            in_utc_format = in_utc_format.with_timestamp_tz_format(Some(of_unit(*unit)));
            let in_utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            make_array(array.to_data().into_builder().data_type(in_utc).build()?)
        }
        _ => array,
    };
    Ok(cast_with_options(
        &array,
        &DataType::Utf8,
        &strictly(in_utc_format),
    )?)
}

const fn strictly(format_options: FormatOptions<'_>) -> CastOptions<'_> {
    CastOptions {
        safe: false,
        format_options,
    }
}

/// How a moment in UTC is written.
const fn of_unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "%Y-%m-%dT%H:%M:%SZ",
        TimeUnit::Millisecond => "%Y-%m-%dT%H:%M:%S%.3fZ",
        TimeUnit::Microsecond => "%Y-%m-%dT%H:%M:%S%.6fZ",
        TimeUnit::Nanosecond => "%Y-%m-%dT%H:%M:%S%.9fZ",
    }
}
