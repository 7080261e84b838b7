//! Whole numbers on the command line, refused in words. All read prefixes for powers of 1000: `10k`, `1.5M`.

use outcrop_measure::units::parse_count;
use std::num::NonZeroU64;

const FROM_ONE: &str = "expected a whole number from 1";

/// Reads a whole number; which ones make sense, its command knows.
pub(crate) fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = parse_count(text).ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| "expected a whole number, such as 4".to_owned())
}

/// The same from 1.
pub(crate) fn from_one(text: &str) -> Result<NonZeroU64, String> {
    let number = parse_count(text).ok().and_then(NonZeroU64::new);
    number.ok_or_else(|| FROM_ONE.to_owned())
}

/// Reads a number of things of which there must be one at least.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match whole(text) {
        Ok(count @ 1..) => Ok(count),
        _ => Err(FROM_ONE.to_owned()),
    }
}
