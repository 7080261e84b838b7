//! Parsers that the factors of several layers share.

use std::str::FromStr;

use outcrop_measure::units::parse_count;

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

/// Reads a whole number from 1 to `MOST`, such as `1000` or `1M`.
///
/// # Errors
/// A sentence with the text seen and the range.
pub fn count<const MOST: u64>(text: &str) -> Result<u64, String> {
    match parse_count(text) {
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
    let count = parse_count(text).ok().and_then(|count| u32::try_from(count).ok());
    match count {
        Some(count) if (1..=MOST).contains(&count) => Ok(count),
        _ if MOST == u32::MAX => Err(format!("`{text}` is not a count; expected a whole number from 1")),
        _ => Err(format!(
            "`{text}` is not accepted; expected a whole number from 1 to {MOST}"
        )),
    }
}
