//! [`TimeSpan`]: lengths of warm-ups, trials and intervals.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::decimal::{Decimal, print_scaled};
use super::text_serde;
use crate::error::MeasureError;

/// A length of time, exact to the nanosecond.
///
/// Reads `30s`, `250ms`, `10us` or `10µs`, `2min` or `2m`, `1.5s`, `1h30m`: units descend, and only the last
/// part may have a fraction. A number without a unit is refused (except `0`).
///
/// Prints hours, minutes and seconds without a space (`1h30m`, `1m30.5s`) and shorter times in one unit
/// (`250ms`, `62.8us`), which reads back as the same value. Nothing longer than [`TimeSpan::MAX`] can be read; a longer
/// duration put in prints as that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimeSpan(pub Duration);

const QUANTITY: &str = "a time span";
const EXAMPLES: &str = "`30s`, `250ms`, `10us`, `2min`, `1.5s` or `1h30m`";

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const NANOS_PER_MINUTE: u64 = 60 * NANOS_PER_SECOND;
const NANOS_PER_HOUR: u64 = 60 * NANOS_PER_MINUTE;
const NANOS_PER_DAY: u64 = 24 * NANOS_PER_HOUR;

impl TimeSpan {
    /// The longest span: 2⁶⁴ − 1 ns, 584 years.
    pub const MAX: Self = Self(Duration::from_nanos(u64::MAX));

    /// The span as a standard duration.
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// `seconds` whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// `milliseconds` whole milliseconds.
    pub const fn milliseconds(milliseconds: u64) -> Self {
        Self(Duration::from_millis(milliseconds))
    }

    /// The span in seconds, rounded to a float.
    pub fn as_seconds(self) -> f64 {
        self.0.as_secs_f64()
    }

    /// The span in nanoseconds; more than 584 years count as that.
    pub fn as_nanoseconds(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Nanoseconds in one `unit`.
pub(crate) fn multiplier(unit: &str) -> Result<u64, String> {
    match unit {
        "ns" => Ok(1),
        // U+00B5 (micro sign) and U+03BC (Greek mu) look the same and are both typed.
        "us" | "µs" | "μs" => Ok(1_000),
        "ms" => Ok(1_000_000),
        "s" | "sec" => Ok(NANOS_PER_SECOND),
        "m" | "min" => Ok(NANOS_PER_MINUTE),
        "h" => Ok(NANOS_PER_HOUR),
        "d" => Ok(NANOS_PER_DAY),
        "" => Err("it has no unit".to_owned()),
        _ => Err(format!(
            "the unit `{unit}` is not known (ns, us, ms, s, min, h, d)"
        )),
    }
}

/// Sums the parts of `text`, in nanoseconds.
fn parse_nanoseconds(text: &str) -> Result<u64, String> {
    let mut rest = text.trim();
    if rest == "0" {
        return Ok(0);
    }
    let mut total: u64 = 0;
    let mut previous_unit_ns = u64::MAX;
    loop {
        let (number, tail) = Decimal::split(rest)?;
        let tail = tail.trim_start();
        let unit_end = tail
            .find(|character: char| !character.is_alphabetic())
            .unwrap_or(tail.len());
        let (unit, next) = tail.split_at(unit_end);
        let unit_ns = multiplier(unit)?;
        if unit_ns >= previous_unit_ns {
            return Err("its units do not descend".to_owned());
        }
        rest = next.trim_start();
        if number.has_fraction() && !rest.is_empty() {
            return Err("only the last part may have a fraction".to_owned());
        }
        let part = number.times(unit_ns).map_err(|reason| match reason {
            super::decimal::NotWhole::TooLarge => "it is longer than 584 years".to_owned(),
            super::decimal::NotWhole::Fraction => "it is finer than a nanosecond".to_owned(),
        })?;
        total = total
            .checked_add(part)
            .ok_or_else(|| "it is longer than 584 years".to_owned())?;
        previous_unit_ns = unit_ns;
        if rest.is_empty() {
            return Ok(total);
        }
    }
}

impl FromStr for TimeSpan {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        parse_nanoseconds(text)
            .map(|nanoseconds| Self(Duration::from_nanos(nanoseconds)))
            .map_err(|problem| MeasureError::quantity(text, QUANTITY, problem, EXAMPLES))
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.as_nanoseconds();
        let printed = match nanoseconds {
            0 => "0s".to_owned(),
            1..1_000 => format!("{nanoseconds}ns"),
            1_000..1_000_000 => print_scaled(nanoseconds, 3) + "us",
            1_000_000..NANOS_PER_SECOND => print_scaled(nanoseconds, 6) + "ms",
            _ => print_clock(nanoseconds),
        };
        formatter.pad(&printed)
    }
}

/// Hours, minutes and seconds, leaving out those that are zero.
fn print_clock(nanoseconds: u64) -> String {
    let hours = nanoseconds / NANOS_PER_HOUR;
    let minutes = nanoseconds % NANOS_PER_HOUR / NANOS_PER_MINUTE;
    let seconds_ns = nanoseconds % NANOS_PER_MINUTE;
    let mut printed = String::new();
    if hours > 0 {
        printed += &format!("{hours}h");
    }
    if minutes > 0 {
        printed += &format!("{minutes}m");
    }
    if seconds_ns > 0 {
        printed += &print_scaled(seconds_ns, 9);
        printed.push('s');
    }
    printed
}

impl Serialize for TimeSpan {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    /// Takes the printed form only: a bare number has no unit.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_serde::from_text(deserializer, "a time span such as \"30s\" or \"250ms\"")
    }
}
