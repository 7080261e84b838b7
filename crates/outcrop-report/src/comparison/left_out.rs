//! What a comparison leaves out, and why.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::words_of;
use outcrop_results::Side;
use outcrop_results::compare::{Comparison, FailedCell, NotComparable, Verdict};
use outcrop_results::factors::NOT_STATED;

use super::reasons;
use super::text::wrapped;
use crate::number::counted;

/// Values of a factor that are named.
const MOST_VALUES: usize = 4;

/// Reasons, each with the number of rows it stands for, and the cells that met no other. In short where other rows have the answer.
pub(super) fn not_compared(comparison: &Comparison, is_all: bool) -> String {
    let is_short = !is_all && comparison.comparable().next().is_some();
    let mut text = if is_short {
        kinds(comparison)
    } else {
        every_reason(comparison)
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
            text.push_str(&format!("  {cells} {is} only in the {}\n", side.name()));
        }
    }
    text.push_str(&unlike(comparison));
    text
}

/// The factors that keep all cells of a layer from meeting, and how an import states what it lacks.
fn unlike(comparison: &Comparison) -> String {
    let mut text = String::new();
    let mut is_not_stated = false;
    for factor in &comparison.unlike {
        let values = |values: &BTreeSet<String>| -> String {
            let shown: Vec<&str> = values.iter().take(MOST_VALUES).map(String::as_str).collect();
            let more = if values.len() > MOST_VALUES { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        let (baseline, candidate) = (values(&factor.baseline), values(&factor.candidate));
        is_not_stated |= baseline == NOT_STATED || candidate == NOT_STATED;
        let sentence = format!(
            "{}: {baseline} in the baseline, {candidate} in the candidate",
            words_of(&factor.factor)
        );
        text.push_str(&wrapped("  no match in ", &sentence));
    }
    if is_not_stated {
        let how = "supply what a fio result does not state when you import it: outcrop import fio FILE --assume FACTOR=VALUE";
        text.push_str(&wrapped("  ", how));
    }
    text
}

/// The rows without a ratio by the kind of their reasons, in a line each.
fn kinds(comparison: &Comparison) -> String {
    let mut by_kind: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = 0;
    for row in &comparison.rows {
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
        return String::new();
    }
    let kinds = by_kind
        .into_iter()
        .map(|(kind, count)| format!("{count}: {kind}"));
    let kinds = kinds.collect::<Vec<_>>().join("; ");
    let rows = counted(comparison.rows.len(), "row");
    let sentences = format!("{count} of {rows}. {kinds}. --all gives the reasons in full.");
    format!("\n{}", wrapped("not comparable: ", &sentences))
}

/// Every reason with its numbers.
fn every_reason(comparison: &Comparison) -> String {
    // Reasons that differ by their numbers alone are one: too few samples for this or that percentile.
    let mut by_reason: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for row in &comparison.rows {
        if !matches!(row.verdict, Verdict::NotComparable(_)) {
            continue;
        }
        for reason in reasons(&row.verdict).into_iter().collect::<BTreeSet<_>>() {
            let entry = by_reason.entry(without_numbers(&reason)).or_insert((0, reason));
            entry.0 += 1;
        }
    }
    let mut text = String::new();
    if !by_reason.is_empty() {
        text.push_str("\nnot comparable:\n");
        for (count, reason) in by_reason.into_values() {
            let plural = if count == 1 { "" } else { "s" };
            text.push_str(&wrapped("  ", &format!("{count} row{plural}: {reason}")));
        }
    }
    text
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

/// Text with every number as `#`.
fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    for character in text.chars() {
        match character {
            '0'..='9' | '.' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            other => plain.push(other),
        }
    }
    plain
}
