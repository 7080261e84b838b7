//! Text whose values are all numbers or dates, in the type that other formats give them.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, DictionaryArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};

use super::as_text::as_strings;
use super::parquet_sizes::{ParquetSizes, parquet_zstd_sizes};
use super::values::value_of;
use crate::Column;
use crate::error::Result;

/// Values that are looked at before all of them are: most columns of words are told by these.
const FIRST_VALUES: usize = 16;
/// Decimal digits that a 64-bit floating-point number keeps.
const FLOAT_DIGITS: usize = 15;

/// What all values of a column of text are, where they need not be kept as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextType {
    /// Integers of 64 bits.
    Integers,
    /// Days: `2026-11-22`.
    Dates,
    /// Moments: `2026-11-22 07:23:00`.
    Timestamps,
    /// Decimal numbers of at most 15 digits, which a 64-bit floating-point number holds.
    Floats,
}

impl TextType {
    /// In words that follow "as".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integers => "integers",
            Self::Dates => "dates",
            Self::Timestamps => "timestamps",
            Self::Floats => "floating-point numbers",
        }
    }
}

/// The types that are tried, in this order.
static TYPES: [(TextType, DataType); 5] = [
    (TextType::Integers, DataType::Int64),
    (TextType::Dates, DataType::Date32),
    (
        TextType::Timestamps,
        DataType::Timestamp(TimeUnit::Millisecond, None),
    ),
    (
        TextType::Timestamps,
        DataType::Timestamp(TimeUnit::Microsecond, None),
    ),
    (TextType::Floats, DataType::Float64),
];

impl Column {
    /// What all rows take in a Parquet file whose writer gives text its type, as readers of CSV do: integers, dates, timestamps or
    /// floating-point numbers where all values are that, and strings otherwise; and which it is. Empty values are nulls then.
    ///
    /// A type is taken only where it keeps every value: `007` stays text.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// use outcrop_column::arrow::TextType;
    /// # let mut file = Vec::new();
    /// # encode_text("41\n7\n-3\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// let (_, found) = Column::open_in(file)?.parquet_zstd_sizes_of_text()?;
    /// assert_eq!(found, Some(TextType::Integers));
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Column::parquet_zstd_sizes`].
    pub fn parquet_zstd_sizes_of_text(&self) -> Result<(ParquetSizes, Option<TextType>)> {
        let mut scan = self.scan()?;
        let Some(first) = scan.next().transpose()? else {
            return Ok((ParquetSizes::default(), None));
        };
        let found = typed_values(first.values(), self.null_count() > 0)?;
        let arrays = std::iter::once(Ok(first)).chain(scan).map(|array| {
            let array = array?;
            match &found {
                Some((_, values)) => rows_of(&array, values),
                None => Ok(Arc::new(array) as ArrayRef),
            }
        });
        let sizes = parquet_zstd_sizes(arrays, u64::MAX)?;
        Ok((sizes, found.map(|(text_type, _)| text_type)))
    }
}

/// The values of a dictionary in the first type that keeps all of them.
fn typed_values(values: &ArrayRef, has_nulls: bool) -> Result<Option<(TextType, ArrayRef)>> {
    if !matches!(values.data_type(), DataType::Utf8 | DataType::LargeUtf8) {
        return Ok(None);
    }
    let first = values.slice(0, values.len().min(FIRST_VALUES));
    for (text_type, data_type) in &TYPES {
        let wanted = (*text_type, data_type);
        if of_type(&first, wanted, has_nulls)?.is_some()
            && let Some(typed) = of_type(values, wanted, has_nulls)?
        {
            return Ok(Some((*text_type, typed)));
        }
    }
    Ok(None)
}

/// Values in this type, if it keeps all of them. An empty one is a null, which a column with nulls of its own would confuse with them.
fn of_type(
    values: &ArrayRef,
    (text_type, data_type): (TextType, &DataType),
    has_nulls: bool,
) -> Result<Option<ArrayRef>> {
    let unreadable_is_null = CastOptions {
        safe: true,
        ..CastOptions::default()
    };
    let typed = cast_with_options(values, data_type, &unreadable_is_null)?;
    let back = as_strings(ArrayRef::clone(&typed))?;
    let (text, read_back) = (value_of(&**values)?, value_of(&*back)?);
    let mut lengths = (0..values.len())
        .map(|index| text(index).len())
        .filter(|length| *length > 0);
    let first = lengths.next();
    // A fixed number of digits is a format of the column, as a type has it.
    let is_fixed = text_type == TextType::Timestamps && lengths.all(|length| Some(length) == first);
    let is_kept = |index: usize| match (text(index), typed.is_valid(index)) {
        (b"", _) => !has_nulls,
        (_, false) => false,
        (text, true) if text_type == TextType::Floats => is_short_decimal(text),
        (text, true) => is_same(text, read_back(index)) || is_fixed && is_padded(text, read_back(index)),
    };
    let is_any = typed.null_count() < values.len();
    let are_kept = is_any && (0..values.len()).all(is_kept);
    Ok(are_kept.then(|| ArrayRef::clone(&typed)))
}

/// Whether a value reads back; a blank may stand before a time where the text form has a T.
fn is_same(text: &[u8], read_back: &[u8]) -> bool {
    let is_alike = |(&one, &other): (&u8, &u8)| one == other || (one == b' ' && other == b'T');
    text.len() == read_back.len() && text.iter().zip(read_back).all(is_alike)
}

/// Whether a moment reads back but for zeros at the end of its fraction.
fn is_padded(text: &[u8], read_back: &[u8]) -> bool {
    let Some((moment, rest)) = text.split_at_checked(read_back.len()) else {
        return false;
    };
    let zeros = match read_back.contains(&b'.') {
        true => Some(rest),
        false => rest.strip_prefix(b"."),
    };
    is_same(moment, read_back) && zeros.is_some_and(|zeros| zeros.iter().all(|digit| *digit == b'0'))
}

/// Whether text is a decimal number without an exponent or leading zeros, with few enough digits.
fn is_short_decimal(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, fraction) = match memchr::memchr(b'.', unsigned) {
        Some(point) => (&unsigned[..point], Some(&unsigned[point + 1..])),
        None => (unsigned, None),
    };
    let are_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let fraction_digits = fraction.map_or(0, <[u8]>::len);
    are_digits(whole)
        && (whole == b"0" || whole[0] != b'0')
        && fraction.is_none_or(are_digits)
        && whole.len() + fraction_digits <= FLOAT_DIGITS
}

/// The rows of a dictionary array with the values in another type.
fn rows_of(array: &DictionaryArray<Int32Type>, values: &ArrayRef) -> Result<ArrayRef> {
    let typed = DictionaryArray::<Int32Type>::try_new(array.keys().clone(), ArrayRef::clone(values))?;
    Ok(cast_with_options(
        &typed,
        values.data_type(),
        &CastOptions::default(),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EncodeOptions, encode_text};

    fn found(text: &str) -> Option<TextType> {
        let mut file = Vec::new();
        let encoder = encode_text(text.as_bytes(), EncodeOptions::default()).expect("text");
        encoder.finish(&mut file).expect("memory is enough");
        let column = Column::open_in(file).expect("it was just written");
        column.parquet_zstd_sizes_of_text().expect("it has codes").1
    }

    #[test]
    fn text_has_a_type_only_where_that_keeps_each_of_its_values() {
        let cases = [
            ("1\n-20\n9223372036854775807\n", Some(TextType::Integers)),
            ("1\n\n3\n", Some(TextType::Integers)),
            ("007\n8\n", None),
            ("+7\n8\n", None),
            ("9223372036854775808\n", None),
            ("1\ntuff\n", None),
            ("\n\n", None),
            ("2026-11-22\n1970-01-01\n", Some(TextType::Dates)),
            ("2026-11-22\n2026-1-2\n", None),
            (
                "2026-11-22 07:23:00\n1970-01-01T00:00:00\n",
                Some(TextType::Timestamps),
            ),
            ("2026-11-22T07:23:00.000125\n", Some(TextType::Timestamps)),
            (
                "2026-11-22 07:23:00.120\n2026-11-22 07:23:00.000\n",
                Some(TextType::Timestamps),
            ),
            (
                "2026-11-22 07:23:00.000000\n2026-11-22 07:23:00.120000\n2026-11-22 07:23:00.000125\n",
                Some(TextType::Timestamps),
            ),
            ("2026-11-22 07:23:00.120\n2026-11-22 07:23:00.00\n", None),
            ("-97.53\n35.50\n4\n", Some(TextType::Floats)),
            ("0.1234567890123456\n", None),
            ("1e5\n2.5\n", None),
            (".5\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), expected, "{text:?}");
        }
    }
}
