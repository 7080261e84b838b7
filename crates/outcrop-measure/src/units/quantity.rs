//! Reads a printed quantity back into base units: `1.2 GB/s`, `352 k IOPS`, `62.8 µs`.

use super::decimal::Decimal;
use super::{byte_size, rate, time_span};
use crate::error::MeasureError;
use crate::metric::Unit;

impl Unit {
    /// Reads a value as [`Unit::format`] or a person writes it, and gives it in this unit.
    ///
    /// The unit in the text may be left out (`1.2G` for bytes per second) except for times, and `352 k IOPS` is
    /// events per second. Byte prefixes are those of [`ByteSize`](super::ByteSize): `GB` is 10⁹, `GiB` and `G` 2³⁰.
    ///
    /// # Errors
    /// When the text is empty, negative, too large, or has another unit.
    pub fn parse(self, text: &str) -> Result<f64, MeasureError> {
        let (quantity, examples) = self.expected();
        let error = |problem: String| MeasureError::quantity(text, quantity, problem, examples);
        let (number, rest) = Decimal::split(text.trim()).map_err(error)?;
        let value = self.scale(number, rest.trim()).map_err(error)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(error("it is too large".to_owned()))
        }
    }

    /// `number` in this unit when `suffix` follows it.
    fn scale(self, number: Decimal<'_>, suffix: &str) -> Result<f64, String> {
        let per_second = || suffix.strip_suffix("/s").unwrap_or(suffix).trim_end();
        match self {
            Self::Bytes => Ok(number.to_f64(0) * byte_size::multiplier(suffix)? as f64),
            Self::BytesPerSecond => Ok(number.to_f64(0) * byte_size::multiplier(per_second())? as f64),
            Self::PerSecond => {
                let prefix = suffix.strip_suffix("IOPS").map_or_else(per_second, str::trim_end);
                Ok(number.to_f64(rate::exponent(prefix)?))
            }
            Self::Nanoseconds => Ok(number.to_f64(0) * time_span::multiplier(suffix)? as f64),
            Self::NanosecondsPerOperation => {
                let unit = suffix.strip_suffix("/op").unwrap_or(suffix).trim_end();
                Ok(number.to_f64(0) * time_span::multiplier(unit)? as f64)
            }
            Self::NanosecondsPerByte => {
                let unit = suffix.strip_suffix("/B").unwrap_or(suffix).trim_end();
                Ok(number.to_f64(0) * time_span::multiplier(unit)? as f64)
            }
            Self::BitsPerByte if matches!(suffix, "" | "bit/B") => Ok(number.to_f64(0)),
            Self::BitsPerByte => Err(format!("its unit is `{suffix}`, not `bit/B`")),
            Self::Count => Ok(number.to_f64(rate::exponent(suffix)?)),
            Self::Ratio if suffix.is_empty() => Ok(number.to_f64(0)),
            Self::Ratio => Err(format!("a ratio has no unit, but `{suffix}` follows the number")),
            Self::Joules => Ok(number.to_f64(small_exponent(suffix, "J")?)),
            Self::Watts => Ok(number.to_f64(small_exponent(suffix, "W")?)),
        }
    }

    /// What the error calls this quantity, and how it is written.
    const fn expected(self) -> (&'static str, &'static str) {
        match self {
            Self::Bytes => ("a number of bytes", "`4 KiB` or `1.2 GB`"),
            Self::BytesPerSecond => ("a bandwidth", "`1.2 GB/s` or `500 MiB/s`"),
            Self::PerSecond => ("a rate", "`352 k IOPS`, `10k/s` or `1000`"),
            Self::Nanoseconds => ("a time", "`62.8 µs` or `10ms`"),
            Self::NanosecondsPerOperation => ("a time per operation", "`1.2 µs/op` or `800ns`"),
            Self::NanosecondsPerByte => ("a time per byte", "`1.2 ns/B` or `800ns`"),
            Self::BitsPerByte => ("an entropy", "`4.5 bit/B` or `7`"),
            Self::Ratio => ("a ratio", "`0.95`"),
            Self::Count => ("a count", "`1000` or `1.2 M`"),
            Self::Joules => ("an energy", "`1.5 J` or `20 kJ`"),
            Self::Watts => ("a power", "`3.2 W` or `500 mW`"),
        }
    }
}

/// The power of ten before `unit`, which may be left out together with the prefix.
fn small_exponent(suffix: &str, unit: &str) -> Result<i32, String> {
    if suffix.is_empty() {
        return Ok(0);
    }
    match suffix.strip_suffix(unit) {
        Some("m") => Ok(-3),
        Some("u" | "µ" | "μ") => Ok(-6),
        Some(prefix) => rate::exponent(prefix),
        None => Err(format!("its unit is `{suffix}`, not `{unit}`")),
    }
}
