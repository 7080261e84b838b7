//! A range of numbers, for columns whose values are numbers written as text.

use std::cmp::Ordering;
use std::str::FromStr;

/// A number as text writes it: whole ones exactly, others to 53 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Numeral {
    Whole(i128),
    Float(f64),
}

impl Numeral {
    /// None where the text is not a finite number.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.trim();
        let float = || text.parse().ok().filter(|number: &f64| number.is_finite());
        text.parse()
            .map_or_else(|_| float().map(Self::Float), |whole| Some(Self::Whole(whole)))
    }

    const fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(&other),
            // Neither is NaN, and 0 is -0.
            (one, other) => one.float().partial_cmp(&other.float()).unwrap_or(Ordering::Equal),
        }
    }
}

/// Numbers from one, below another; either may be missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberRange {
    from: Option<Numeral>,
    below: Option<Numeral>,
}

impl NumberRange {
    /// Whether a value is a number, and in the range.
    pub(super) fn contains(&self, value: &[u8]) -> bool {
        Numeral::read(value).is_some_and(|number| {
            self.from
                .is_none_or(|from| number.compare(from) != Ordering::Less)
                && self
                    .below
                    .is_none_or(|below| number.compare(below) == Ordering::Less)
        })
    }
}

impl FromStr for NumberRange {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || {
            anyhow::anyhow!(
                "number range {text:?}: expected A..B, such as 10..20, 0.5.. or ..-3 (from A, below B)"
            )
        };
        let (from, below) = text.split_once("..").ok_or_else(bad)?;
        let bound = |text: &str| match text.trim() {
            "" => Ok(None),
            digits => Numeral::read(digits.as_bytes()).map(Some).ok_or_else(bad),
        };
        Ok(Self {
            from: bound(from)?,
            below: bound(below)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers_and_text_is_in_no_range() {
        let holds =
            |range: &str, value: &str| range.parse::<NumberRange>().unwrap().contains(value.as_bytes());
        assert!(holds("10..20", "10") && holds("10..20", "19.99") && !holds("10..20", "20"));
        assert!(!holds("10..20", "100") && !holds("10..20", "1") && holds("10..20", "1.5e1"));
        assert!(holds("..-3", "-4") && !holds("..-3", "-3") && holds("-1e3..", "-999"));
        assert!(
            holds("9007199254740993..", "9007199254740993")
                && !holds("9007199254740993..", "9007199254740992")
        );
        for zero in ["-0.0", "-0", "0", "0.00", "-0e3"] {
            assert!(holds("0..", zero) && !holds("..0", zero), "{zero}");
            assert!(holds("-0.0..", zero) && !holds("..-0.0", zero), "{zero}");
        }
        for text in ["", "x", "NaN", "inf", "1 2"] {
            assert!(!holds("..", text), "{text:?}");
        }
        for range in ["10-20", "a..b", "1..NaN"] {
            assert!(range.parse::<NumberRange>().is_err(), "{range}");
        }
    }
}
