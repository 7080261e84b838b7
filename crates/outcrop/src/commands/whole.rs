//! Whole numbers on the command line, refused in words.

use std::num::NonZeroU64;
use std::str::FromStr;

const FROM_ONE: &str = "expected a whole number from 1";

/// Reads a whole number; which ones make sense, its command knows.
pub(crate) fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "expected a whole number, such as 4".to_owned())
}

/// The same from 1.
pub(crate) fn from_one(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| FROM_ONE.to_owned())
}

/// Reads a number of things of which there must be one at least.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err(FROM_ONE.to_owned()),
    }
}
