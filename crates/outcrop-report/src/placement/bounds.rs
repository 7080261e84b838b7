//! The limits of where to compress, for all who advise: what keeps them, what breaks them, and what leaves that open.

use outcrop_measure::Interval;
use outcrop_measure::units::{format_nanoseconds, format_ratio};
use outcrop_schema::kv::{Constraints, READ_LATENCY, SAME_SPACE, STORED_BYTES};

use super::Placement;
use super::candidate::{Candidate, cpu_share};
use super::limits::{Limit, asked_besides, percent, time_span};
use super::remedy::Remedy;
use crate::cell::Cell;
use crate::layer::kv::{measuring_plain, ratio_without_log};
use crate::number::Number;

/// What one limit bounds, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Figure {
    /// The limit is not about this.
    #[default]
    NotBounded,
    /// It is, but the figure was not measured.
    Unknown,
    /// It is a ratio to the store without compression, which was not measured: with what it is.
    Lacking(&'static str),
    Known {
        value: f64,
        interval: Option<Interval>,
    },
}

impl Figure {
    /// A figure that was measured, or was not.
    pub(crate) fn of(number: Option<&Number>) -> Self {
        number.map_or(Self::Unknown, |number| Self::Known {
            value: number.value,
            interval: number.interval,
        })
    }

    /// The same of a value whose interval is not known.
    pub(super) fn bare(value: Option<f64>) -> Self {
        Self::of_value(value, None)
    }

    /// The same of a value with its interval.
    pub(super) fn of_value(value: Option<f64>, interval: Option<Interval>) -> Self {
        value.map_or(Self::Unknown, |value| Self::Known { value, interval })
    }

    /// What is so by definition.
    pub(crate) const fn exact(value: f64) -> Self {
        let interval = Interval {
            estimate: value,
            low: value,
            high: value,
            confidence: 1.0,
            n: 1,
        };
        Self::Known {
            value,
            interval: Some(interval),
        }
    }
}

/// What limits bound, of one thing that may be advised.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounded {
    pub(crate) ratio: Figure,
    /// The ratio without the store's log, where that is much of the space: of more records it has less.
    pub(crate) ratio_without_log: Option<f64>,
    pub(crate) p99: Figure,
    pub(crate) cpu_share: Figure,
}

/// How something stands to the limits, the better the less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kept {
    /// It keeps all of them, intervals included.
    #[default]
    Keeps,
    /// Its figures keep them, but an interval reaches beyond one.
    MayBreak,
    /// It is open whether it keeps them: a figure is unknown or breaks one within its interval, or the store's log decides.
    Open,
    /// It breaks one.
    Breaks,
}

/// How something stands to the limits, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) kept: Kept,
    /// What follows its name: `breaks the limit on the ratio (1.31 of at least 1.50)`; empty where it keeps all limits.
    pub(crate) why: String,
    /// Whether more trials can change nothing: the figures are the same in each, or their intervals have enough confidence.
    pub(super) is_sure: bool,
    /// Whether it is open only because the interval of a figure reaches across the limit: more trials make it narrower.
    pub(crate) is_open_by_interval: bool,
    /// What would decide what is open; none where more trials would.
    pub(super) remedy: Option<Remedy>,
}

impl Verdict {
    /// Whether it may be advised: its figures keep the limits.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept <= Kept::MayBreak
    }
}

/// Intervals with less confidence than this are not sure: five trials a cell have 94 %, three have 75 %.
pub(crate) const SURE: f64 = 0.9;

/// One limit, and the figure that it bounds.
struct Check {
    name: &'static str,
    limit: Option<f64>,
    figure: Figure,
    without_log: Option<f64>,
    is_least: bool,
    spell: fn(f64) -> String,
    /// The limit as it was given.
    exact: fn(f64) -> String,
}

impl Check {
    fn all(constraints: &Constraints, bounded: Bounded) -> [Self; 3] {
        type Spell = fn(f64) -> String;
        let most = |name, limit, figure, (spell, exact): (Spell, Spell)| Self {
            name,
            limit,
            figure,
            without_log: None,
            is_least: false,
            spell,
            exact,
        };
        let of_ratio: (Spell, Spell) = (format_ratio, |ratio| ratio.to_string());
        let ratio = Self {
            is_least: true,
            without_log: bounded.ratio_without_log,
            ..most("ratio", constraints.min_ratio, bounded.ratio, of_ratio)
        };
        let of_p99: (Spell, Spell) = (format_nanoseconds, |ns| time_span(ns).to_string());
        let of_share: (Spell, Spell) = (
            |share| format!("{:.0} %", share * 100.0),
            |share| format!("{} %", percent(share)),
        );
        [
            ratio,
            most("p99", constraints.p99_ns, bounded.p99, of_p99),
            most("CPU share", constraints.cpu_share, bounded.cpu_share, of_share),
        ]
    }

    /// The limit in words. Where a figure's few digits are not all of it, as it was given: a slip is seen, and which side a figure is on.
    fn bound(&self, limit: f64) -> String {
        let (shown, exact) = ((self.spell)(limit), (self.exact)(limit));
        let number = |text: &str| {
            let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
            text[..end.unwrap_or(text.len())].parse::<f64>().ok()
        };
        if number(&shown) == number(&exact) {
            shown
        } else {
            exact
        }
    }

    fn keeps(&self, figure: f64, limit: f64) -> bool {
        match self.is_least {
            true => figure >= limit,
            false => figure <= limit,
        }
    }

    /// How the figure stands to the limit; none where there is no limit on it.
    fn judge(&self) -> Option<Verdict> {
        let limit = self.limit?;
        let (value, interval) = match self.figure {
            Figure::NotBounded => return None,
            Figure::Unknown => return Some(self.unknown(None)),
            Figure::Lacking(with) => return Some(self.unknown(Some(with))),
            Figure::Known { value, interval } => (value, interval),
        };
        if let Some(verdict) = self.by_log(value, limit) {
            return Some(verdict);
        }
        let (low, high) = interval.map_or((value, value), |interval| (interval.low, interval.high));
        // Space that differs by less counts as the same.
        let slack = if self.is_least { SAME_SPACE } else { 0.0 };
        let worst = if self.is_least { low } else { high };
        let best = if self.is_least { high } else { low };
        let kept = match (self.keeps(value, limit), self.keeps(best, limit)) {
            (true, _) if self.keeps(worst, limit * (1.0 - slack)) => Kept::Keeps,
            (true, _) => Kept::MayBreak,
            (false, true) => Kept::Open,
            (false, false) => Kept::Breaks,
        };
        Some(Verdict {
            kept,
            why: self.why(kept, value, (low, high), limit),
            is_sure: interval.is_some_and(|interval| low == high || interval.confidence >= SURE),
            is_open_by_interval: kept == Kept::Open,
            remedy: None,
        })
    }

    fn unknown(&self, lacking: Option<&str>) -> Verdict {
        let is_percentile = self.name == "p99";
        let lacking = lacking.map_or_else(String::new, |with| {
            format!(
                " (it is against the store without compression, which is measured with {with}, or the same in the plan)"
            )
        });
        Verdict {
            kept: Kept::Open,
            why: format!(
                "may break the limit on the {}, which is not known{lacking}",
                self.name
            ),
            is_sure: false,
            is_open_by_interval: false,
            remedy: is_percentile.then_some(Remedy::LongerTrials),
        }
    }

    /// What the store's log decides: with it the limit is broken, without it not.
    fn by_log(&self, value: f64, limit: f64) -> Option<Verdict> {
        let without_log = self.without_log?;
        let is_by_log = !self.keeps(value, limit) && self.keeps(without_log, limit);
        let [value, without_log] = [value, without_log].map(self.spell);
        let limit = self.bound(limit);
        is_by_log.then(|| Verdict {
            kept: Kept::Open,
            why: format!(
                "may meet the limit on the {} ({value} with the store's log and {without_log} without it, of at least {limit})",
                self.name
            ),
            is_sure: false,
            is_open_by_interval: false,
            remedy: Some(Remedy::MoreRecords),
        })
    }

    /// `breaks the limit on the ratio (1.31 of at least 1.50)`, `may break the limit on the p99 (4.00 ms, 1.97 ms to 8.32 ms, of at most 5.00 ms)`.
    fn why(&self, kept: Kept, value: f64, (low, high): (f64, f64), limit: f64) -> String {
        let side = if self.is_least { "at least" } else { "at most" };
        let [shown, low, high] = [value, low, high].map(self.spell);
        let bound = self.bound(limit);
        let how = match kept {
            Kept::Keeps => return String::new(),
            Kept::MayBreak => "may break",
            Kept::Open => "may meet",
            Kept::Breaks => "breaks",
        };
        let figures = match kept {
            Kept::Breaks if shown == bound => "narrowly".to_owned(),
            Kept::Breaks => format!("{shown} of {side} {bound}"),
            _ => format!("{shown}, {low} to {high}, of {side} {bound}"),
        };
        format!("{how} the limit on the {} ({figures})", self.name)
    }
}

/// How figures stand to limits: by the limit that they keep least.
pub(super) fn judge(constraints: &Constraints, bounded: Bounded) -> Verdict {
    let verdicts: Vec<Verdict> = Check::all(constraints, bounded)
        .iter()
        .filter_map(Check::judge)
        .collect();
    let is_sure = verdicts.iter().all(|verdict| verdict.is_sure);
    // The first of those that are as bad.
    let worst = verdicts.into_iter().rev().max_by_key(|verdict| verdict.kept);
    match worst {
        Some(worst) if worst.kept == Kept::Breaks => worst,
        Some(worst) => Verdict { is_sure, ..worst },
        None => Verdict {
            is_sure: true,
            ..Verdict::default()
        },
    }
}

/// What the advice of every layer has to keep, or to say that it does not.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'b> {
    constraints: &'b Constraints,
    placement: Option<&'b Placement>,
    /// CPUs that the processes may use; none where that is not recorded.
    cpus: Option<u64>,
    /// Whether prices were given.
    has_prices: bool,
    /// The flags of limits that the plan of the run does not have.
    flags: &'b str,
}

impl<'b> Bounds<'b> {
    /// The limits of a run or of its report, and how the candidates of where to compress were judged by them.
    pub(crate) const fn new(
        constraints: &'b Constraints,
        placement: Option<&'b Placement>,
        cpus: Option<u64>,
    ) -> Self {
        Self {
            constraints,
            placement,
            cpus,
            has_prices: false,
            flags: "",
        }
    }

    /// The same with prices, where they were given.
    pub(crate) const fn with_prices(self, has_prices: bool) -> Self {
        Self { has_prices, ..self }
    }

    /// The same with the flags of limits that the plan of the run does not have, for commands that measure it again.
    pub(crate) const fn with_flags(self, flags: &'b str) -> Self {
        Self { flags, ..self }
    }

    /// The flags of limits that the plan of the run does not have.
    pub(crate) const fn flags(&self) -> &'b str {
        self.flags
    }

    /// The flag of prices that nothing is worked out at.
    pub(crate) fn unused_prices(&self) -> Option<String> {
        let is_used = self.placement.is_some_and(|placement| placement.prices.is_some());
        (self.has_prices && !is_used).then(|| "--prices".to_owned())
    }

    /// Those that are given besides these, as the flags read them.
    pub(crate) fn besides(&self, limits: &[Limit]) -> Vec<String> {
        asked_besides(self.constraints, limits)
    }

    /// How these figures stand to them.
    pub(crate) fn judge(&self, bounded: Bounded) -> Verdict {
        judge(self.constraints, bounded)
    }

    /// What a cell is to where to compress; none where it is not compared there.
    fn candidate(&self, cell: &Cell<'_>) -> Option<&'b Candidate> {
        let id = cell.view().map(|view| view.id).filter(|id| !id.is_empty())?;
        let mut candidates = self.placement?.candidates.iter();
        candidates.find(|candidate| candidate.cell == id)
    }

    /// Whether where to compress compares a cell.
    pub(crate) fn is_candidate(&self, cell: &Cell<'_>) -> bool {
        self.candidate(cell).is_some()
    }

    /// Whether a cell is the store without compression that where to compress compares everything with.
    pub(crate) fn is_base(&self, cell: &Cell<'_>) -> bool {
        self.candidate(cell).is_some_and(Candidate::is_plain)
    }

    /// How a store stands to them: what the answer above the layers says of it, so that the two never differ. `plain` is the same store
    /// without compression, where a run has it.
    pub(crate) fn judge_store(&self, cell: &Cell<'_>, plain: Option<&Cell<'_>>) -> Verdict {
        if let Some(candidate) = self.candidate(cell) {
            return candidate.verdict.clone();
        }
        let stored = plain.and_then(|plain| plain.value(&STORED_BYTES).zip(cell.value(&STORED_BYTES)));
        let ratio = match (plain, stored) {
            (None, _) => Figure::Lacking(measuring_plain(cell)),
            (Some(_), stored) => Figure::bare(stored.map(|(plain, own)| plain / own)),
        };
        let share = cpu_share(cell, self.cpus);
        self.judge(Bounded {
            ratio,
            ratio_without_log: plain.and_then(|plain| ratio_without_log(cell, plain)),
            p99: Figure::of(cell.number(&READ_LATENCY.p99)),
            cpu_share: Figure::of_value(
                share.as_ref().map(|share| share.median),
                share.and_then(|share| share.interval),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounded, Constraints, Figure, judge};

    #[test]
    fn a_share_of_less_than_a_percent_is_no_limit_of_nothing() {
        let limit = Constraints {
            cpu_share: Some(0.005),
            ..Constraints::default()
        };
        let busy = Bounded {
            cpu_share: Figure::exact(0.37),
            ..Bounded::default()
        };
        assert_eq!(
            judge(&limit, busy).why,
            "breaks the limit on the CPU share (37 % of at most 0.5 %)"
        );
    }
}
