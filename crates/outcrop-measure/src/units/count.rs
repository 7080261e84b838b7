//! Counts of keys, records and requests as people type them.

use super::decimal::{Decimal, NotWhole};
use super::rate;
use crate::error::MeasureError;

const QUANTITY: &str = "a count";
const EXAMPLES: &str = "`1000`, `10k` or `1.5M`";

/// Reads a whole number: `1000`, `10k`, `1.5M`. Prefixes are powers of 1000, as those of a [`super::Rate`].
///
/// # Errors
/// When the text is no number, has another prefix, or is no whole number below 2⁶⁴.
pub fn parse_count(text: &str) -> Result<u64, MeasureError> {
    let error = |problem: String| MeasureError::quantity(text, QUANTITY, problem, EXAMPLES);
    let (number, prefix) = Decimal::split(text.trim()).map_err(error)?;
    let prefix = prefix.trim();
    let exponent = rate::exponent(prefix).map_err(|_| error(format!("`{prefix}` is not known (k, M, G)")))?;
    let count = number.times(10u64.pow(exponent.unsigned_abs()));
    count.map_err(|problem| {
        error(match problem {
            NotWhole::TooLarge => "it is too large".to_owned(),
            NotWhole::Fraction => "it is not a whole number".to_owned(),
        })
    })
}
