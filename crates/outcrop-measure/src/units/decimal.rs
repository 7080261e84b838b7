//! Decimal numbers as people type them (`1.5`), kept exact until the unit is known.

/// A non-negative decimal number, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal<'a> {
    /// The digits before the point: at least one.
    whole: &'a str,
    /// The digits behind it, without trailing zeros.
    fraction: &'a str,
}

impl<'a> Decimal<'a> {
    /// Splits `text` into the number that it starts with and the rest.
    ///
    /// Digits with at most one point between digits; no sign, no exponent, no separators.
    pub(crate) fn split(text: &'a str) -> Result<(Self, &'a str), String> {
        let end = text
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        if digits.is_empty() {
            return Err(match text.chars().next() {
                None => "it is empty".to_owned(),
                Some('-') => "it is negative".to_owned(),
                Some(_) => "it does not start with a number".to_owned(),
            });
        }
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
            return Err(format!("`{digits}` is not a number"));
        }
        Ok((
            Self {
                whole,
                fraction: fraction.trim_end_matches('0'),
            },
            rest,
        ))
    }

    /// `self × multiplier` if that is a whole number below 2⁶⁴.
    pub(crate) fn times(self, multiplier: u64) -> Result<u64, NotWhole> {
        let digits = self.whole.bytes().chain(self.fraction.bytes());
        // More than 38 significant digits: either very large or finer than any unit divides.
        let overflow = if self.has_fraction() {
            NotWhole::Fraction
        } else {
            NotWhole::TooLarge
        };
        let mantissa = digits
            .map(|digit| u128::from(digit - b'0'))
            .try_fold(0u128, |sum, digit| sum.checked_mul(10)?.checked_add(digit))
            .ok_or(overflow)?;
        let product = mantissa.checked_mul(u128::from(multiplier)).ok_or(overflow)?;
        let divisor = u32::try_from(self.fraction.len())
            .ok()
            .and_then(|scale| 10u128.checked_pow(scale));
        let divisor = divisor.ok_or(NotWhole::Fraction)?;
        if product % divisor != 0 {
            return Err(NotWhole::Fraction);
        }
        u64::try_from(product / divisor).map_err(|_| NotWhole::TooLarge)
    }

    /// `self × 10^exponent` as the nearest float, rounded once; infinite when out of range.
    pub(crate) fn to_f64(self, exponent: i32) -> f64 {
        let text = format!("{}.{}e{exponent}", self.whole, self.fraction);
        text.parse().unwrap_or(f64::INFINITY)
    }

    /// Whether something other than zeros stands behind the point.
    pub(crate) fn has_fraction(self) -> bool {
        !self.fraction.is_empty()
    }
}

/// Why a product is not a whole 64-bit number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotWhole {
    /// Beyond 2⁶⁴ − 1.
    TooLarge,
    /// Something is left behind the decimal point.
    Fraction,
}

/// `numerator ÷ 10^scale` in the shortest exact spelling (`1500000000, 9` → `1.5`).
pub(crate) fn print_scaled(numerator: u64, scale: usize) -> String {
    let digits = format!("{numerator:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    match fraction.trim_end_matches('0') {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    }
}
