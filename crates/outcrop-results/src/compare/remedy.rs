//! What would decide rows that are not decided: repetitions, and about how many; a larger sample; or more results of another program.

use std::collections::BTreeSet;

use outcrop_measure::interval::Interval;
use outcrop_measure::metric::Unit;
use outcrop_measure::ratio::{
    least_p_value, least_p_value_of_pairs, samples_to_exclude, samples_to_stay_between,
};

use super::verdict::{LEAST_BESIDE_A_CONSTANT, LEAST_PAIRS, LEAST_REPETITIONS, LEVEL};
use super::{ComparisonRow, Figure, Side, Undecided, Verdict, load};

/// Nobody repeats a measurement more often for an answer: beyond it, an estimate says no more.
const MOST_REPETITIONS: usize = 1000;

impl ComparisonRow {
    /// Why it is not comparable or not decided, and what would decide it, as clauses; empty where it is decided.
    pub fn why(&self) -> Vec<String> {
        match &self.verdict {
            Verdict::NotComparable(reasons) => reasons.iter().map(ToString::to_string).collect(),
            Verdict::Undecided(reason) => vec![reason.with_remedy(&[self])],
            _ => Vec::new(),
        }
    }
}

impl Undecided {
    /// The reason, and what would decide rows that are undecided for it.
    pub fn with_remedy(self, rows: &[&ComparisonRow]) -> String {
        match self.remedy(rows) {
            Some(remedy) => format!("{self}; {remedy}"),
            None => self.to_string(),
        }
    }

    fn remedy(self, rows: &[&ComparisonRow]) -> Option<String> {
        match self {
            Self::FewRepetitions => Some(repeat(LEAST_REPETITIONS, &lacking(rows, LEAST_REPETITIONS))),
            Self::FewPairs => Some(repeat(LEAST_PAIRS, &[false].into())),
            Self::FewBesidePublished => {
                let of_run = rows.iter().map(|row| !row.imported.is_empty());
                Some(repeat(LEAST_BESIDE_A_CONSTANT, &of_run.collect()))
            }
            Self::Wide | Self::Chance => Some(more(rows)),
            // Repetitions decide those that are the same, or differ by more.
            Self::Drift if rows.iter().any(|row| row.repetitions_needed.is_some()) => Some(more(rows)),
            Self::Drift => idle(rows),
            Self::NoRatio => rows
                .iter()
                .any(|row| is_rate(row))
                .then(|| "a rate is 0 if the trial stalled: measure that cell again".to_owned()),
            Self::BothPublished | Self::OncePerRun | Self::OtherSample | Self::Load | Self::Definition => {
                None
            }
        }
    }
}

fn is_rate(row: &ComparisonRow) -> bool {
    let mut figures = [&row.baseline, &row.candidate].into_iter().flatten();
    figures.any(|figure| matches!(figure.unit, Unit::PerSecond | Unit::BytesPerSecond))
}

/// Of the sides that lack repetitions, whether they were imported.
fn lacking(rows: &[&ComparisonRow], least: usize) -> BTreeSet<bool> {
    let of_row = |row: &&ComparisonRow| {
        let figures = [(&row.baseline, Side::Baseline), (&row.candidate, Side::Candidate)];
        let is_few = |n: Option<usize>| n.is_none_or(|n| n < least);
        let lacking = figures.map(|(figure, side)| {
            let n = figure.as_ref().map(|figure| figure.n);
            is_few(n).then(|| row.imported.contains(&side))
        });
        lacking.into_iter().flatten()
    };
    rows.iter().flat_map(of_row).collect()
}

/// How to come to this many repetitions, by whether those that lack them were imported.
pub(crate) fn repeat(least: usize, are_imported: &BTreeSet<bool>) -> String {
    let own = format!("measure with --repetitions {least} or more");
    let imported = format!("run each job {least} times or more and import all of its result files together");
    match (are_imported.contains(&true), are_imported.contains(&false)) {
        (true, false) => imported,
        (true, true) => format!("{own}; for imported results, {imported}"),
        (false, _) => own,
    }
}

/// What would decide rows of which there was a test. A condition of `--fail-if` is another question about the same row, so this one is named.
fn more(rows: &[&ComparisonRow]) -> String {
    let is_of_sample = rows.iter().any(|row| row.is_of_sample);
    let repeated: Vec<_> = rows.iter().filter(|row| !row.is_of_sample).collect();
    let are_any_repeated = !repeated.is_empty();
    let needed: Vec<usize> = repeated.iter().filter_map(|row| row.repetitions_needed).collect();
    let is_within_drift = |row: &&&&ComparisonRow| row.drift > 0.0 && row.repetitions_needed.is_none();
    let within_drift = repeated.iter().filter(is_within_drift).count();
    let repetitions = are_any_repeated.then(|| match (needed.len(), within_drift) {
        (0, 1..) => "no number of repetitions would decide it: two separate runs may differ by as much as this ratio even if nothing changed".to_owned(),
        (_, 0) => format!("{} would decide between same and different", about_repetitions(&needed)),
        (some, 1..) => format!(
            "{} would decide between same and different in {some} of the {} rows",
            about_repetitions(&needed),
            repeated.len()
        ),
    });
    let sample = is_of_sample.then(|| "a larger --sample-size narrows the interval of a sample".to_owned());
    let parts: Vec<String> = [repetitions, idle(rows), sample].into_iter().flatten().collect();
    parts.join("; ")
}

/// What may decide rows whose drift a load widened; none where it widened none.
fn idle(rows: &[&ComparisonRow]) -> Option<String> {
    let crowded = rows.iter().filter(|row| row.crowding.is_some()).count();
    let of_all = match crowded {
        0 => return None,
        _ if crowded == rows.len() => String::new(),
        _ => format!(" in {crowded} of the {} rows", rows.len()),
    };
    Some(format!(
        "other processes used more than 10 % of the CPUs{of_all}: an idle machine may decide more"
    ))
}

/// `about 40 repetitions`, `about 12 to 40 repetitions`, by the estimates of several rows or cells; `more repetitions` without an estimate.
pub fn about_repetitions(needed: &[usize]) -> String {
    match range(needed) {
        None => "more repetitions".to_owned(),
        Some(count) => format!("{count} repetitions"),
    }
}

/// `about 40`, `about 12 to 40`, `about 60 to more than 1000`; none of nothing.
fn range(counts: &[usize]) -> Option<String> {
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    Some(match (*least > MOST_REPETITIONS, *most > MOST_REPETITIONS) {
        (true, _) => format!("more than {MOST_REPETITIONS}"),
        (false, true) => format!("about {least} to more than {MOST_REPETITIONS}"),
        (false, false) if least == most => format!("about {least}"),
        (false, false) => format!("about {least} to {most}"),
    })
}

/// About how many repetitions decide a row that is undecided by its test, among this many tests that are judged together.
pub(super) fn needed(row: &ComparisonRow, margin: f64, tests: usize, is_paired: bool) -> Option<usize> {
    let is_open = matches!(
        row.verdict,
        Verdict::Undecided(Undecided::Wide | Undecided::Chance | Undecided::Drift)
    );
    let interval = row.interval.filter(|_| is_open && !row.is_of_sample)?;
    let differs = to_be_beyond(&interval, (1.0, row.drift), interval.estimate > 1.0, tests);
    // A change that the load of the machine may hide, more repetitions do not show.
    let is_same = (!load::may_hide(row))
        .then(|| samples_to_stay_between(&interval, 1.0 / (1.0 + margin), 1.0 + margin));
    let estimate = [differs, is_same.flatten()]
        .into_iter()
        .flatten()
        .reduce(f64::min)?;
    let figures = [&row.baseline, &row.candidate].into_iter().flatten();
    // Beside one published value, signs count as those of pairs do.
    let is_beside_one = is_paired || figures.map(|figure| figure.n).min() == Some(1);
    let least = enough_for(tests, is_beside_one).filter(|_| !suffices(row, tests, is_paired));
    Some(enough(estimate, interval.n, least))
}

/// About how many samples a side bring all of an interval beyond a threshold and the drift that is allowed for there, or else to the other side
/// of the threshold. None where the ratio lies in between: there, no number does.
pub(crate) fn to_be_beyond(
    interval: &Interval,
    (threshold, drift): (f64, f64),
    is_above: bool,
    tests: usize,
) -> Option<f64> {
    let allowed = with_drift(threshold, drift, is_above);
    let is_beyond = |value: f64| match is_above {
        true => interval.estimate > value,
        false => interval.estimate < value,
    };
    match (is_beyond(threshold), is_beyond(allowed)) {
        (_, true) => samples_to_exclude(interval, allowed, tests),
        (false, false) => samples_to_exclude(interval, threshold, tests),
        (true, false) => None,
    }
}

/// A threshold, farther from no change by the drift that is allowed for.
pub(crate) fn with_drift(threshold: f64, drift: f64, is_above: bool) -> f64 {
    match is_above {
        true => threshold * (1.0 + drift),
        false => threshold / (1.0 + drift),
    }
}

/// A whole number of repetitions, with two digits that say something: more than there are, and no fewer than a test needs.
pub(crate) fn enough(estimate: f64, have: usize, least: Option<usize>) -> usize {
    let step = 10_f64.powf((estimate.max(1.0).log10().floor() - 1.0).max(0.0));
    let rounded = ((estimate / step).ceil() * step) as usize;
    rounded.max(have + 1).max(least.unwrap_or(0))
}

/// The fewest repetitions of each side with which one of so many tests can find anything; none where none of a usual number do.
pub(crate) fn enough_for(tests: usize, is_paired: bool) -> Option<usize> {
    let least = |n: usize| match is_paired {
        true => least_p_value_of_pairs(n),
        false => least_p_value(n, n),
    };
    (2..50).find(|n| least(*n) * tests as f64 <= LEVEL)
}

/// Whether the repetitions that a row has can find something among so many tests; the sides may have unlike numbers of them.
pub(crate) fn suffices(row: &ComparisonRow, tests: usize, is_paired: bool) -> bool {
    let n = |figure: &Option<Figure>| figure.as_ref().map_or(0, |figure| figure.n);
    let (a, b) = (n(&row.baseline), n(&row.candidate));
    let least = match (is_paired, a.min(b)) {
        (true, _) => least_p_value_of_pairs(row.interval.map_or(0, |interval| interval.n)),
        (false, 1) => least_p_value_of_pairs(a.max(b)),
        (false, _) => least_p_value(a, b),
    };
    least * tests as f64 <= LEVEL
}

#[cfg(test)]
mod tests {
    use super::about_repetitions;

    #[test]
    fn repetitions_are_counted_from_the_fewest_to_the_most_that_any_row_needs() {
        assert_eq!(about_repetitions(&[]), "more repetitions");
        let cases = [
            (&[7][..], "about 7"),
            (&[40, 12], "about 12 to 40"),
            (&[12, 760, 45, 60], "about 12 to 760"),
            (&[12, 5000], "about 12 to more than 1000"),
            (&[5000], "more than 1000"),
        ];
        for (needed, count) in cases {
            assert_eq!(about_repetitions(needed), format!("{count} repetitions"));
        }
    }
}
