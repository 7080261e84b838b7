//! What a comparison leaves out, and why.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::words_of;
use outcrop_results::compare::{Comparison, ComparisonRow, FailedCell, NotComparable, Verdict};
use outcrop_results::{LAYOUT, OPTION_OF_FIO, Side};

use super::text::wrapped;
use crate::alike::{kind, ranged};
use crate::number::counted;

/// Values of a factor that are named.
const MOST_VALUES: usize = 4;

/// Reasons, each with the number of rows it stands for, and the cells that met no other. In short where other rows have the answer.
pub(super) fn not_compared(comparison: &Comparison, is_all: bool) -> String {
    let paragraphs = paragraphs(comparison, is_all).into_iter();
    let in_lines = paragraphs.map(|(head, words)| match head {
        NOT_COMPARABLE => format!("\n{}", wrapped(head, &words)),
        _ => wrapped(head, &words),
    });
    in_lines.collect()
}

/// The same as a list in Markdown.
pub(super) fn not_compared_in_markdown(comparison: &Comparison, is_all: bool) -> String {
    let paragraphs = paragraphs(comparison, is_all);
    let items = paragraphs.iter().map(|(head, words)| {
        let head = head.trim_start();
        format!("- {head}{words}\n")
    });
    match paragraphs.is_empty() {
        true => String::new(),
        false => format!("\n{}", items.collect::<String>()),
    }
}

/// What stands before the first of the reasons.
const NOT_COMPARABLE: &str = "not comparable: ";

/// What is left out, each with its head.
fn paragraphs(comparison: &Comparison, is_all: bool) -> Vec<(&'static str, String)> {
    let is_short = !is_all && comparison.comparable().next().is_some();
    let mut told = match is_short {
        true => kinds(comparison),
        false => every_reason(comparison),
    };
    for side in [Side::Baseline, Side::Candidate] {
        let count = comparison
            .unmatched
            .iter()
            .filter(|cell| cell.side == side)
            .count();
        if count > 0 {
            let is = if count == 1 { "is" } else { "are" };
            let cells = counted(count, "cell");
            told.push(("  ", format!("{cells} {is} only in the {}", side.name())));
        }
    }
    told.extend(unlike(comparison));
    told
}

/// The factors that keep all cells of a layer from meeting, and how an import states what it lacks.
fn unlike(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let mut told = Vec::new();
    let mut is_not_stated = false;
    for factor in &comparison.unlike {
        let values = |values: &BTreeSet<String>| -> String {
            let shown: Vec<&str> = values.iter().take(MOST_VALUES).map(String::as_str).collect();
            let more = if values.len() > MOST_VALUES { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        let (baseline, candidate) = (values(&factor.baseline), values(&factor.candidate));
        is_not_stated |= factor.is_unstated_by_import;
        let sentence = format!(
            "{}: {baseline} in the baseline, {candidate} in the candidate",
            words_of(&factor.factor)
        );
        told.push(("  no match in ", sentence));
        if factor.factor.strip_prefix(OPTION_OF_FIO) == Some(LAYOUT) {
            let how = "have fio write its file in full first, as Outcrop does: add overwrite=1 to the job";
            told.push(("  ", how.to_owned()));
        }
    }
    if is_not_stated {
        let how = "supply what a fio result does not state when you import it: outcrop import fio FILE --assume FACTOR=VALUE";
        told.push(("  ", how.to_owned()));
    }
    told
}

/// The rows without a ratio by the kind of their reasons, in a line each.
fn kinds(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let mut by_kind: BTreeMap<String, usize> = BTreeMap::new();
    let (mut count, mut of_all) = (0, 0);
    for row in comparison.rows.iter().filter(|row| !is_zero_on_both(row)) {
        of_all += 1;
        if let Verdict::NotComparable(reasons) = &row.verdict {
            count += 1;
            for kind in reasons
                .iter()
                .map(NotComparable::in_short)
                .collect::<BTreeSet<_>>()
            {
                *by_kind.entry(kind).or_default() += 1;
            }
        }
    }
    if count == 0 {
        return Vec::new();
    }
    let several = some_for_several(by_kind.values().sum(), count);
    let kinds = by_kind
        .into_iter()
        .map(|(kind, count)| format!("{count}: {kind}"));
    let kinds = kinds.collect::<Vec<_>>().join("; ");
    let rows = counted(of_all, "row");
    let sentences = format!("{count} of {rows}{several}. {kinds}. --all gives the reasons in full.");
    vec![(NOT_COMPARABLE, sentences)]
}

/// Neither side did any of it, such as writes where all requests are reads: nothing is left out.
fn is_zero_on_both(row: &ComparisonRow) -> bool {
    let figures = [&row.baseline, &row.candidate];
    figures
        .iter()
        .all(|figure| figure.as_ref().is_some_and(|figure| figure.median == 0.0))
}

/// What is to be said where there are more reasons than what they are of, so that their counts do not add up.
const fn some_for_several(reasons: usize, of: usize) -> &'static str {
    match reasons > of {
        true => ", some for several reasons",
        false => "",
    }
}

/// Every reason with its numbers, and how many figures it keeps from being compared.
fn every_reason(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let is_left_out =
        |row: &&ComparisonRow| matches!(row.verdict, Verdict::NotComparable(_)) && !is_zero_on_both(row);
    let left_out: Vec<&ComparisonRow> = comparison.rows.iter().filter(is_left_out).collect();
    let cells: BTreeSet<_> = left_out.iter().map(|row| (&row.layer, &row.factors)).collect();
    // Reasons that differ by their numbers alone are one: too few samples for this or that percentile.
    let all: Vec<BTreeSet<String>> = left_out
        .iter()
        .map(|row| row.why().into_iter().collect())
        .collect();
    let mut by_kind: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for reason in all.iter().flatten() {
        by_kind.entry(kind(reason)).or_default().push(reason);
    }
    if left_out.is_empty() {
        return Vec::new();
    }
    let several = some_for_several(by_kind.values().map(Vec::len).sum(), left_out.len());
    let of_all = format!(
        "{} of {}{several}",
        counted(left_out.len(), "figure"),
        counted(cells.len(), "cell")
    );
    let mut told = vec![(NOT_COMPARABLE, of_all)];
    for alike in by_kind.into_values() {
        let count = match alike.len() {
            count if count >= left_out.len() => "all".to_owned(),
            count => counted(count, "figure"),
        };
        told.push(("  ", format!("{count}: {}", ranged(&alike))));
    }
    told
}

/// Cells that were measured and never completed, with the first reason: without them the tables look whole.
pub(super) fn failed(comparison: &Comparison) -> String {
    let mut of_sides: BTreeMap<&BTreeSet<Side>, Vec<&FailedCell>> = BTreeMap::new();
    for cell in &comparison.failed {
        of_sides.entry(&cell.sides).or_default().push(cell);
    }
    let mut text = String::new();
    for (sides, cells) in of_sides {
        let names: Vec<&str> = sides.iter().map(|side| side.name()).collect();
        let (cells, message) = (counted(cells.len(), "cell"), &cells[0].message);
        let sentence = format!("{cells} failed in the {}: {message}", names.join(" and the "));
        text.push_str(&wrapped("failed: ", &sentence));
    }
    match text.is_empty() {
        true => text,
        false => format!("\n{text}"),
    }
}
