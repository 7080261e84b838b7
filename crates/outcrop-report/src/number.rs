//! A number as the report shows it: never without its unit, its sample count and where it came from.

use std::fmt;

use outcrop_measure::Interval;
use outcrop_measure::metric::{Provenance, Unit};
use outcrop_measure::units::{format_iops, format_with_range};
use serde::Serialize;

/// One value with what is needed to judge it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    /// What it is, in words (`read IOPS`, `predicted knee`).
    pub name: String,
    /// The value in `unit`; the median where there are several trials.
    pub value: f64,
    /// Unit of the value and of the interval.
    pub unit: Unit,
    /// Confidence interval: of the median over trials, or of the figure of all the data where a sample was taken. `None`
    /// with fewer than two trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Why a sample of the data supports no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// Trials (or published rows, or cells, or draws of a sample) that the value rests on.
    pub n: usize,
    /// Measured, modelled, published or derived.
    pub provenance: Provenance,
}

impl Number {
    /// A number computed from others of this report.
    pub fn derived(name: impl Into<String>, value: f64, unit: Unit, n: usize) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            interval: None,
            no_interval: None,
            n,
            provenance: Provenance::Derived,
        }
    }

    /// The same value under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The ends of its interval, where it has one.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.interval.map(|interval| (interval.low, interval.high))
    }

    /// Whether the interval is wider than 10 % of the value, as [`Interval::is_wide`] has it. A number without
    /// an interval is not marked: its `n` of 1 says what there is to say.
    pub fn is_wide(&self) -> bool {
        self.interval.is_some_and(|interval| interval.is_wide())
    }

    /// Half the width of the interval as a percentage of the value: the `±` of a table.
    pub fn plus_minus_percent(&self) -> Option<f64> {
        self.interval.map(|interval| interval.relative_width() * 50.0)
    }

    /// The value with the ends of its interval: `97.9 k IOPS (97.6–110)`.
    pub fn with_ends(&self) -> String {
        let value = self.to_string();
        match (self.interval, &self.no_interval) {
            (Some(interval), _) => {
                format_with_range(&value, &self.spell(interval.low), &self.spell(interval.high))
            }
            (None, Some(_)) => format!("{value} (no interval)"),
            (None, None) => value,
        }
    }

    /// Any value in this number's unit, as people read it.
    pub fn spell(&self, value: f64) -> String {
        match self.unit {
            Unit::PerSecond if self.name.contains("IOPS") => format_iops(value),
            unit => unit.format(value),
        }
    }

    /// How sure the ends of its interval are, and the count, for where [`Number::with_ends`] stands: `75 % interval, n = 3`.
    pub fn confidence(&self) -> String {
        match self.interval {
            Some(interval) => format!("{:.0} % interval, {}", interval.confidence * 100.0, self.count()),
            None => self.certainty(),
        }
    }

    /// On how much it rests, and what kind of number it is where it was not measured.
    fn count(&self) -> String {
        match self.provenance {
            Provenance::Published => "published".to_owned(),
            Provenance::Derived => format!("derived, n = {}", self.n),
            Provenance::Modelled => format!("modelled, n = {}", self.n),
            Provenance::Measured => format!("n = {}", self.n),
        }
    }

    /// The interval and the count: `94 % interval 341 k IOPS to 360 k IOPS, n = 5`.
    pub fn certainty(&self) -> String {
        let count = self.count();
        match self.interval {
            Some(Interval {
                low,
                high,
                confidence,
                ..
            }) => {
                let percent = confidence * 100.0;
                format!(
                    "{percent:.0} % interval {} to {}, {count}",
                    self.spell(low),
                    self.spell(high)
                )
            }
            None => match &self.no_interval {
                Some(reason) => format!("no interval: {reason}; {count}"),
                None => count,
            },
        }
    }
}

/// The value with its unit.
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.spell(self.value))
    }
}

/// `1 cell`, `84 cells`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
