//! The values of Arrow arrays of strings or bytes, whatever their kind.

use arrow_array::cast::AsArray;
use arrow_array::{Array, downcast_dictionary_array};
use arrow_schema::DataType;

use crate::error::{ColumnError, Result};

/// Calls `visit` with each element of an array of strings or bytes in order, `None` for null: plain, large,
/// view, or dictionary-encoded ones.
///
/// ```
/// use arrow_array::StringArray;
/// let mut bytes = 0;
/// outcrop_column::arrow::for_each_value(&StringArray::from(vec![Some("marl"), None]), |value| {
///     bytes += value.map_or(0, <[u8]>::len);
///     Ok(())
/// })?;
/// assert_eq!(bytes, 4);
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
///
/// # Errors
/// [`ColumnError::NotStrings`] for an array of another type, and what `visit` returns.
pub fn for_each_value(array: &dyn Array, mut visit: impl FnMut(Option<&[u8]>) -> Result<()>) -> Result<()> {
    if let DataType::Dictionary(_, _) = array.data_type() {
        return downcast_dictionary_array!(
            array => {
                let values = array.values();
                let value = value_of(values)?;
                (0..array.len()).try_for_each(|row| {
                    visit(array.key(row).filter(|&key| values.is_valid(key)).map(&value))
                })
            },
            other => Err(not_strings(other))
        );
    }
    let value = value_of(array)?;
    (0..array.len()).try_for_each(|row| visit(array.is_valid(row).then(|| value(row))))
}

/// What reads one element of an array that is not dictionary-encoded.
pub(super) fn value_of<'a>(array: &'a dyn Array) -> Result<Box<dyn Fn(usize) -> &'a [u8] + 'a>> {
    Ok(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(|index| array.value(index).as_bytes())
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(|index| array.value(index).as_bytes())
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(|index| array.value(index).as_bytes())
        }
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            Box::new(|index| array.value(index))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            Box::new(|index| array.value(index))
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            Box::new(|index| array.value(index))
        }
        other => return Err(not_strings(other)),
    })
}

pub(super) fn not_strings(data_type: &DataType) -> ColumnError {
    ColumnError::NotStrings {
        name: "of this array".to_owned(),
        seen: data_type.to_string(),
        strings: Vec::new(),
    }
}
