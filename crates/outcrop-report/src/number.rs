//! A number as the report shows it: never without its unit, its sample count and where it came from.

use std::fmt;

use outcrop_measure::Interval;
use outcrop_measure::interval::WIDE;
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
    /// Whether it was computed from a number that rests on one trial.
    #[serde(skip)]
    pub is_of_one_trial: bool,
    /// Whether its interval is that of a sample of the data: repetitions on the same sample do not narrow it.
    #[serde(skip)]
    pub is_of_sample: bool,
}

/// A share that somebody gave, in per cent and as short as it was given: `5 %`, `0.04 %`.
pub fn given_percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// An interval that reaches further than this to one side, in per cent of the value, stands behind a figure of an advice.
const TOLD_PERCENT: f64 = 10.0;
/// One that reaches further than this decides nothing.
pub(crate) const WIDEST_PERCENT: f64 = 30.0;

/// What nobody knows of a number that was read once.
pub(crate) const ONE_TRIAL: &str = "one trial: its repeatability is unknown";

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
            is_of_one_trial: false,
            is_of_sample: false,
        }
    }

    /// A number computed from others by a rule that rises or falls with each of them, with the interval that theirs give it: from the
    /// least to the greatest value while each input lies within its own, with the confidence that all of them do, at least. Where an
    /// input has no interval, or the rule no finite value at an end of one, as a quotient at zero, it has none.
    ///
    /// *Source* for the confidence: Bonferroni's inequality.
    pub fn computed(
        name: impl Into<String>,
        unit: Unit,
        inputs: &[&Self],
        rule: impl Fn(&[f64]) -> f64,
    ) -> Self {
        let values: Vec<f64> = inputs.iter().map(|input| input.value).collect();
        let n = inputs.iter().map(|input| input.n).min().unwrap_or(0);
        let value = rule(&values);
        let intervals: Option<Vec<Interval>> = inputs.iter().map(|input| input.interval).collect();
        let interval = intervals.filter(|intervals| !intervals.is_empty());
        let interval = interval.and_then(|intervals| {
            let corner = |corner: usize| {
                let end = |(index, interval): (usize, &Interval)| match corner >> index & 1 {
                    0 => interval.low,
                    _ => interval.high,
                };
                rule(&intervals.iter().enumerate().map(end).collect::<Vec<_>>())
            };
            let corners: Vec<f64> = (0..1 << intervals.len()).map(corner).collect();
            let missed: f64 = intervals.iter().map(|interval| 1.0 - interval.confidence).sum();
            corners.iter().all(|corner| corner.is_finite()).then(|| Interval {
                estimate: value,
                low: corners.iter().copied().fold(value, f64::min),
                high: corners.iter().copied().fold(value, f64::max),
                confidence: (1.0 - missed).max(0.0),
                n,
            })
        });
        Self {
            interval,
            is_of_one_trial: inputs.iter().any(|input| input.rests_on_one_trial()),
            is_of_sample: inputs.iter().any(|input| input.is_of_sample),
            ..Self::derived(name, value, unit, n)
        }
    }

    /// Whether it was read off a clock in a single trial, or computed from such a number: how well it repeats is not known. Bytes and
    /// ratios of bytes are the same in every trial; the hit ratio of a cache is that of its requests, which differ.
    pub(crate) fn rests_on_one_trial(&self) -> bool {
        let is_of_clock = matches!(
            self.unit,
            Unit::Nanoseconds | Unit::PerSecond | Unit::BytesPerSecond
        );
        let varies = is_of_clock || self.name.starts_with(SHARE_OF_GETS);
        let is_own = matches!(self.provenance, Provenance::Measured | Provenance::Imported);
        let has_none = self.interval.is_none() && self.no_interval.is_none();
        self.is_of_one_trial || (varies && is_own && self.n <= 1 && has_none)
    }

    /// The same value under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whether the trials do not distinguish it from another: the intervals of both overlap.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let both = self.interval.zip(other.interval);
        both.is_some_and(|(one, other)| one.overlaps(&other))
    }

    /// The ends of its interval, where it has one.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.interval.map(|interval| (interval.low, interval.high))
    }

    /// How far an interval may reach to one side before it is marked as wide, as a percentage of the value: the one threshold of every page.
    pub const WIDE_PERCENT: f64 = WIDE * 100.0;

    /// Whether the interval reaches further than [`Number::WIDE_PERCENT`] to one side. A number without an interval is not marked: its `n`
    /// of 1 says what there is to say.
    pub fn is_wide(&self) -> bool {
        self.interval.is_some_and(|interval| interval.is_wide())
    }

    /// How far the interval reaches to its longer side as a percentage of the value: the `±` of a table.
    pub fn plus_minus_percent(&self) -> Option<f64> {
        Some(self.interval?.relative_reach() * 100.0)
    }

    /// Whether its interval is so wide that the number decides nothing.
    pub(crate) fn is_too_wide(&self) -> bool {
        self.plus_minus_percent()
            .is_some_and(|percent| percent > WIDEST_PERCENT)
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

    /// The value as advice has it: with the ends of its interval where that reaches further than a reader would expect.
    pub(crate) fn told(&self) -> String {
        match self
            .plus_minus_percent()
            .is_some_and(|percent| percent > TOLD_PERCENT)
        {
            true => self.with_ends(),
            false => self.to_string(),
        }
    }

    /// The same of a figure that stands beside those that decide; none where it is known too badly for advice.
    pub(crate) fn told_beside(&self) -> Option<String> {
        (!self.is_too_wide() && !self.rests_on_one_trial()).then(|| self.told())
    }

    /// How well it is known: `p99 at QD 32 is known only to ± 18 %`.
    pub fn doubt(&self) -> Option<String> {
        let percent = self.plus_minus_percent()?;
        Some(format!("{} is known only to ± {percent:.0} %", self.name))
    }

    /// The ends of its interval as the tables have them: `(97.6–110)`.
    pub fn ends_in_parentheses(&self) -> Option<String> {
        self.interval?;
        let value = self.to_string();
        Some(self.with_ends().strip_prefix(&value)?.trim_start().to_owned())
    }

    /// Any value in this number's unit, as people read it.
    pub fn spell(&self, value: f64) -> String {
        match self.unit {
            Unit::PerSecond if self.name.contains("IOPS") => format_iops(value),
            // As tables and sentences have it.
            Unit::Ratio if self.name.starts_with(SHARE_OF_GETS) => format!("{:.1} %", value * 100.0),
            unit => unit.format(value),
        }
    }

    /// How sure the ends of its interval are, and the count, for where [`Number::with_ends`] stands: `75 % interval, n = 3`.
    pub fn confidence(&self) -> String {
        match self.interval {
            Some(interval) => format!("{}, {}", kind_of(interval), self.count()),
            None => self.certainty(),
        }
    }

    /// On how much it rests, and what kind of number it is where it was not measured.
    fn count(&self) -> String {
        match self.provenance {
            Provenance::Published => "published".to_owned(),
            Provenance::Derived => format!("derived, n = {}", self.n),
            Provenance::Modelled => format!("modelled, n = {}", self.n),
            Provenance::Imported => format!("imported, n = {}", self.n),
            Provenance::Measured => format!("n = {}", self.n),
        }
    }

    /// The interval and the count: `94 % interval 341 k IOPS to 360 k IOPS, n = 5`.
    pub fn certainty(&self) -> String {
        let count = self.count();
        match self.interval {
            Some(interval) => format!(
                "{} {} to {}, {count}",
                kind_of(interval),
                self.spell(interval.low),
                self.spell(interval.high)
            ),
            None => match &self.no_interval {
                Some(reason) => format!("no interval: {reason}; {count}"),
                None => count,
            },
        }
    }
}

/// How numbers are named that are hit ratios.
pub(crate) const SHARE_OF_GETS: &str = "share of gets that hit";

/// Below this nobody would bet on an interval, and its confidence is not worth a number.
pub(crate) const LEAST_CONFIDENCE: f64 = 0.5;

/// `94 % interval`. Of a number computed from several others, whose intervals together have next to no confidence, it is a range.
fn kind_of(interval: Interval) -> String {
    match interval.confidence {
        low if low < LEAST_CONFIDENCE => "range within the intervals of its parts".to_owned(),
        confidence => format!("{:.0} % interval", confidence * 100.0),
    }
}

/// The value with its unit.
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.spell(self.value))
    }
}

/// `1 cell`, `84 cells`.
pub fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// `fifo, lru and sieve`.
pub fn enumerated(names: &[String]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        names => names.concat(),
    }
}

/// The verb of so many: `1 of 4 figures is`, `2 of 4 are`.
pub(crate) fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_number_of_many_parts_never_claims_no_confidence() {
        let part = Number {
            interval: Some(Interval {
                estimate: 1.0,
                low: 0.9,
                high: 1.1,
                confidence: 0.75,
                n: 3,
            }),
            ..Number::derived("part", 1.0, Unit::Ratio, 3)
        };
        let of = |count: usize| {
            let parts = vec![&part; count];
            Number::computed("whole", Unit::Ratio, &parts, |values| values.iter().sum())
        };
        assert_eq!(of(2).certainty(), "50 % interval 1.80 to 2.20, derived, n = 3");
        assert_eq!(
            of(4).certainty(),
            "range within the intervals of its parts 3.60 to 4.40, derived, n = 3"
        );
        assert_eq!(
            of(4).confidence(),
            "range within the intervals of its parts, derived, n = 3"
        );
    }

    #[test]
    fn a_quotient_by_what_may_be_zero_has_no_interval() {
        let of = |low: f64| Number {
            interval: Some(Interval {
                estimate: 2.0,
                low,
                high: 3.0,
                confidence: 0.75,
                n: 3,
            }),
            ..Number::derived("rate", 2.0, Unit::PerSecond, 3)
        };
        let inverse =
            |low: f64| Number::computed("latency", Unit::Ratio, &[&of(low)], |values| 1.0 / values[0]);
        assert_eq!(inverse(1.0).ends(), Some((1.0 / 3.0, 1.0)));
        assert_eq!(inverse(0.0).interval, None);
        assert_eq!(inverse(0.0).value, 0.5);
    }
}
