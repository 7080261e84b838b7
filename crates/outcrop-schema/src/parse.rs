//! Parsers that the factors of several layers share.

use std::str::FromStr;

/// Reads a value by its type's own parser.
///
/// # Errors
/// What that parser says.
pub fn spelled<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse::<T>().map_err(|error| error.to_string())
}

/// Takes any text.
///
/// # Errors
/// None.
pub fn any(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Reads a whole number from 1 to `MOST`.
///
/// # Errors
/// A sentence with the text seen and the range.
pub fn count<const MOST: u64>(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(count) if (1..=MOST).contains(&count) => Ok(count),
        _ => Err(format!(
            "`{text}` is not accepted; expected a whole number from 1 to {MOST}"
        )),
    }
}

/// The same, of what fits 32 bits.
///
/// # Errors
/// A sentence with the text seen and the range.
pub fn small_count<const MOST: u32>(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(count) if (1..=MOST).contains(&count) => Ok(count),
        _ if MOST == u32::MAX => Err(format!("`{text}` is not a count; expected a whole number from 1")),
        _ => Err(format!(
            "`{text}` is not accepted; expected a whole number from 1 to {MOST}"
        )),
    }
}
