//! How much one number differs from another: by one rule, so that no two places of a report judge the same figures differently.
//!
//! Two numbers are the same where they differ by at most 5 %, or by at most 10 % with intervals that overlap. Beyond that they differ; where
//! the intervals overlap all the same, that is said. Of a number that is known too badly to decide anything, or by one trial, nothing is called
//! the same.

use outcrop_schema::kv::MARGIN;

use crate::layer::undecided::FEW;
use crate::number::{Number, counted, enumerated};

/// What still counts as the same where intervals overlap; without the limit, the less is known the more would.
pub(crate) const UNCERTAIN_MARGIN: f64 = 0.10;

/// How one number differs from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// They count as the same.
    None,
    /// They differ, and their intervals do not overlap.
    Clear,
    /// They differ by more than what counts as the same, but the intervals overlap or are not known.
    Unclear,
    /// One of them rests on one trial, which has no interval: whether they differ is not known.
    OfOneTrial,
}

impl Difference {
    pub(crate) fn of(one: &Number, other: &Number) -> Self {
        // What is computed from figures of one trial, such as CPU time per operation, has no interval either.
        let is_of_one =
            |number: &Number| number.rests_on_one_trial() || (number.n == 1 && number.interval.is_none());
        if is_of_one(one) || is_of_one(other) {
            return Self::OfOneTrial;
        }
        match (are_apart(one, other), ties(one, other) && ties(other, one)) {
            (false, true) if one.is_too_wide() || other.is_too_wide() => Self::Unclear,
            (_, true) => Self::None,
            (true, false) => Self::Clear,
            (false, false) => Self::Unclear,
        }
    }

    /// What follows a change that is not certain.
    pub(crate) const fn caveat(self) -> &'static str {
        match self {
            Self::None | Self::Clear => "",
            Self::Unclear => " (not certain: the intervals overlap)",
            Self::OfOneTrial => " (not certain: one trial)",
        }
    }
}

/// Changes of several quantities in one sentence, which says once which of them are not certain.
#[derive(Default)]
pub(crate) struct Changes {
    changed: Vec<String>,
    same: Vec<String>,
    uncertain: Vec<String>,
    /// Those of [`Self::changed`] that are not certain.
    unclear: Vec<String>,
    /// Quantities of one trial.
    of_one: Vec<String>,
    /// Quantities whose change a few trials show, and how few: more may show otherwise.
    of_few: Vec<String>,
    fewest: Option<usize>,
}

impl Changes {
    /// Adds what becomes of a quantity.
    pub(crate) fn add(&mut self, quantity: &str, one: &Number, other: &Number) {
        self.push(quantity, one, other, [String::new(), String::new()]);
    }

    /// The same with the number itself.
    pub(crate) fn add_shown(&mut self, quantity: &str, one: &Number, other: &Number) {
        let shown = [format!(": {}", one.with_ends()), format!(" ({one})")];
        self.push(quantity, one, other, shown);
    }

    /// `shown` follows a change, or a quantity that has none.
    fn push(&mut self, quantity: &str, one: &Number, other: &Number, shown: [String; 2]) {
        let [of_change, of_same] = shown;
        let difference = Difference::of(one, other);
        match difference {
            Difference::None => self.same.push(format!("{quantity}{of_same}")),
            _ => {
                let change = percent(one.value, other.value);
                self.changed.push(format!("{quantity} {change}{of_change}"));
            }
        }
        let trials = one.n.min(other.n);
        let uncertain = match difference {
            Difference::Unclear => &mut self.uncertain,
            Difference::OfOneTrial => &mut self.of_one,
            Difference::Clear if trials < FEW => {
                self.fewest = Some(self.fewest.unwrap_or(trials).min(trials));
                &mut self.of_few
            }
            Difference::None | Difference::Clear => return,
        };
        uncertain.push(quantity.to_owned());
        self.unclear.extend(self.changed.last().cloned());
    }

    /// The same in the fewest words, what is certain first: `read p99 +33 %; no measurable change in load; not certain: throughput −17 %`. Where
    /// there is one trial, `not certain, one trial: throughput −17 %`.
    pub(crate) fn in_brief(&self) -> String {
        let is_certain = |change: &&String| !self.unclear.contains(change);
        let certain = Self {
            changed: self.changed.iter().filter(is_certain).cloned().collect(),
            same: self.same.clone(),
            ..Self::default()
        };
        let of_one = if self.of_one.is_empty() { "" } else { ", one trial" };
        let unclear = match self.unclear.as_slice() {
            [] => String::new(),
            changes => format!("not certain{of_one}: {}", changes.join(", ")),
        };
        let parts = [certain.listed(), unclear].into_iter();
        parts
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// `throughput −17 %, read p99 +33 %; no measurable change in load and CPU`.
    pub(crate) fn listed(&self) -> String {
        let same =
            (!self.same.is_empty()).then(|| format!("no measurable change in {}", enumerated(&self.same)));
        let changed = (!self.changed.is_empty()).then(|| self.changed.join(", "));
        changed.into_iter().chain(same).collect::<Vec<_>>().join("; ")
    }

    /// A sentence with a blank before it; empty where all changes are certain.
    pub(crate) fn caveat(&self) -> String {
        let overlap = (!self.uncertain.is_empty()).then(|| self.uncertain.join(", "));
        let overlap =
            overlap.map(|quantities| format!(" Not certain, as the intervals overlap: {quantities}."));
        let few = self.fewest.map(|trials| {
            let quantities = self.of_few.join(", ");
            format!(" Not certain with {}: {quantities}.", counted(trials, "trial"))
        });
        let of_one = match self.of_one.as_slice() {
            [] => None,
            quantities => Some(format!(" Not certain with 1 trial: {}.", quantities.join(", "))),
        };
        overlap.into_iter().chain(few).chain(of_one).collect()
    }
}

/// Whether one number counts as the same as another, or as higher.
pub(crate) fn ties(one: &Number, top: &Number) -> bool {
    let overlap = match (one.interval, top.interval) {
        (Some(one), Some(top)) => one.overlaps(&top),
        _ => false,
    };
    let margin = if overlap { UNCERTAIN_MARGIN } else { MARGIN };
    one.value >= top.value * (1.0 - margin)
}

/// Whether the intervals of two numbers have nothing in common; not known without intervals.
pub(crate) fn are_apart(one: &Number, other: &Number) -> bool {
    let intervals = one.interval.zip(other.interval);
    intervals.is_some_and(|(one, other)| !one.overlaps(&other))
}

/// By how much one value is another, as `+12 %` or `−8 %`.
pub(crate) fn percent(one: f64, other: f64) -> String {
    format!("{:+.0} %", (one / other - 1.0) * 100.0).replace('-', "−")
}

/// What becomes of a quantity: `throughput −25 %`, `no measurable change in throughput`.
pub(crate) fn words(quantity: &str, one: &Number, other: &Number) -> String {
    match Difference::of(one, other) {
        Difference::None => format!("no measurable change in {quantity}"),
        known => format!("{quantity} {}{}", percent(one.value, other.value), known.caveat()),
    }
}

#[cfg(test)]
mod tests {
    use outcrop_measure::Interval;
    use outcrop_measure::metric::{Provenance, Unit};
    use proptest::prelude::*;

    use super::*;

    fn number(value: f64, half_width: f64) -> Number {
        Number {
            interval: Some(Interval {
                estimate: value,
                low: value * (1.0 - half_width),
                high: value * (1.0 + half_width),
                confidence: 0.75,
                n: 3,
            }),
            ..Number::derived("throughput", value, Unit::PerSecond, 3)
        }
    }

    #[test]
    fn a_quarter_less_is_said_even_where_the_intervals_overlap() {
        let says = |one: f64, half_width: f64| {
            words("throughput", &number(one, half_width), &number(100.0, half_width))
        };
        assert_eq!(says(75.0, 0.01), "throughput −25 %");
        assert_eq!(
            says(75.0, 0.3),
            "throughput −25 % (not certain: the intervals overlap)"
        );
        assert_eq!(says(92.0, 0.1), "no measurable change in throughput");
        assert_eq!(says(92.0, 0.01), "throughput −8 %");
        assert_eq!(says(97.0, 0.001), "no measurable change in throughput");
    }

    #[test]
    fn of_figures_that_are_known_only_within_a_factor_nothing_is_called_the_same() {
        assert_eq!(
            words("CPU", &number(101.0, 0.8), &number(100.0, 0.01)),
            "CPU +1 % (not certain: the intervals overlap)"
        );
    }

    #[test]
    fn of_one_trial_no_change_is_certain_and_nothing_is_called_the_same_or_said_to_overlap() {
        let once = |name: &str, value: f64| Number {
            provenance: Provenance::Measured,
            ..Number::derived(name, value, Unit::PerSecond, 1)
        };
        let base = once("throughput", 150.0);
        let says = words("throughput", &once("throughput", 146.0), &base);
        assert_eq!(says, "throughput −3 % (not certain: one trial)");
        let mut changes = Changes::default();
        changes.add("throughput", &once("throughput", 146.0), &base);
        changes.add("load", &once("load", 75.0), &number(150.0, 0.01));
        changes.add("CPU", &number(101.0, 0.01), &number(100.0, 0.01));
        assert_eq!(
            changes.listed() + &changes.caveat(),
            "throughput −3 %, load −50 %; no measurable change in CPU Not certain with 1 trial: throughput, load."
        );
        assert_eq!(
            changes.in_brief(),
            "no measurable change in CPU; not certain, one trial: throughput −3 %, load −50 %"
        );
    }

    #[test]
    fn in_brief_everything_is_uncertain_that_the_sentence_calls_uncertain() {
        let of_trials = |value: f64, half_width: f64, n: usize| Number {
            n,
            ..number(value, half_width)
        };
        for (n, brief) in [
            (FEW - 1, "not certain: throughput −25 %, load −50 %"),
            (FEW, "load −50 %; not certain: throughput −25 %"),
        ] {
            let mut changes = Changes::default();
            changes.add("throughput", &of_trials(75.0, 0.3, n), &of_trials(100.0, 0.3, n));
            changes.add("load", &of_trials(50.0, 0.01, n), &of_trials(100.0, 0.01, n));
            assert_eq!(changes.in_brief(), brief);
            assert_eq!(changes.caveat().contains("load"), n < FEW, "{}", changes.caveat());
        }
    }

    #[test]
    fn a_sentence_of_several_changes_says_once_which_are_not_certain() {
        let mut changes = Changes::default();
        changes.add_shown("throughput", &number(75.0, 0.3), &number(100.0, 0.3));
        changes.add("load", &number(50.0, 0.01), &number(100.0, 0.01));
        changes.add("CPU", &number(101.0, 0.01), &number(100.0, 0.01));
        assert_eq!(
            changes.listed(),
            "throughput −25 %: 75.0 /s (52.5–97.5), load −50 %; no measurable change in CPU"
        );
        assert_eq!(
            changes.caveat(),
            " Not certain, as the intervals overlap: throughput. Not certain with 3 trials: load."
        );
        let mut same = Changes::default();
        for quantity in ["throughput", "load", "CPU"] {
            same.add_shown(quantity, &number(101.0, 0.01), &number(100.0, 0.01));
        }
        assert_eq!(
            same.listed(),
            "no measurable change in throughput (101 /s), load (101 /s) and CPU (101 /s)"
        );
        assert_eq!(Changes::default().caveat(), "");
    }

    proptest! {
        #[test]
        fn what_differs_one_way_differs_the_other_way(
            one in 1.0..1000.0_f64, other in 1.0..1000.0_f64, width in 0.0..0.5_f64,
        ) {
            let (one, other) = (number(one, width), number(other, width));
            prop_assert_eq!(Difference::of(&one, &other), Difference::of(&other, &one));
        }
    }
}
