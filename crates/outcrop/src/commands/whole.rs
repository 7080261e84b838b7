//! Whole numbers on the command line, refused in words.

use std::str::FromStr;

/// Reads a whole number; which ones make sense, its command knows.
pub(crate) fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "expected a whole number, such as 4".to_owned())
}

/// Reads a number of things of which there must be one at least.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err("expected a whole number from 1".to_owned()),
    }
}
