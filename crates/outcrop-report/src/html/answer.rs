//! The answer, as the first thing on the page.

use maud::{Markup, html};

use crate::answer::{Answer, Capability, Caution, Claim, Reading, ReadingOutcome};
use crate::finding::failed_checks;
use crate::number::{Number, counted};
use crate::report::Report;

pub(super) fn body(answer: &Answer) -> Markup {
    html! {
        (capabilities(&answer.capabilities, Marks::OfWide, cell))
        @if !answer.advice.is_empty() {
            h3 { "What to configure" }
            ul.advice { @for claim in &answer.advice { (advice(claim)) } }
        }
        @if !answer.cautions.is_empty() {
            h3 { "How sure this is" }
            ul.cautions {
                @for caution in &answer.cautions {
                    // Without a class of no name: a page has many, and room for so many bytes.
                    @if caution.is_warning() {
                        li.warning { strong { "Warning: " } (prose(&caution.text)) }
                    } @else {
                        li { (prose(&caution.text)) }
                    }
                }
            }
        }
    }
}

/// What a reader of one sheet must know of the whole run: how busy the machine was with other work, and which checks of the run failed.
pub(super) fn doubts_of_run(report: &Report) -> Markup {
    let (checks, ways) = failed_checks(report.layers.iter().flat_map(|layer| &layer.findings));
    html! {
        @if let Some(load) = &report.other_load { p { "There was other work on the machine when the run began: " (load) "." } }
        @if checks > 0 { p { (counted(checks, "quality check")) " failed: " (prose(&ways.join("; "))) "." } }
    }
}

/// The gravest warnings, notes for print, the first figures, and a line for each of the first pieces of advice: at most `most` of each, and
/// half as many warnings. How many more the report has is said.
pub(super) fn brief(answer: &Answer, most: usize) -> Markup {
    let (warnings, notes): (Vec<&Caution>, Vec<&Caution>) =
        answer.cautions.iter().partition(|caution| caution.is_warning());
    let (printed, notes): (Vec<&Caution>, Vec<&Caution>) =
        notes.into_iter().partition(|note| note.is_in_print);
    let (rows, advice) = (&answer.capabilities, &answer.advice);
    let left = [
        ("more warning", warnings.len().saturating_sub(most / 2)),
        ("more note", notes.len()),
        ("more row", rows.len().saturating_sub(most)),
        ("more recommendation", advice.len().saturating_sub(most)),
    ];
    let left = left.into_iter().filter(|(_, count)| *count > 0);
    let left: Vec<String> = left.map(|(what, count)| counted(count, what)).collect();
    html! {
        @for caution in warnings.iter().take(most / 2) {
            p.warning { strong { "Warning: " } (prose(&shortened(&caution.text))) }
        }
        @for note in printed { p { (prose(&note.text)) } }
        (capabilities(&rows[..rows.len().min(most)], Marks::None, brief_cell))
        @if !advice.is_empty() {
            ul.advice { @for claim in advice.iter().take(most) { li { strong { (claim.topic) ": " } (prose(&claim.brief)) } } }
        }
        @if !left.is_empty() { p.soft { "In report.html: " (left.join(", ")) "." } }
    }
}

/// The first sentence, cut at a word where it is a long one.
fn shortened(text: &str) -> String {
    /// Letters of two lines on paper.
    const MOST_LETTERS: usize = 220;
    let first = text
        .split_once(". ")
        .map_or(text.to_owned(), |(first, _)| format!("{first}."));
    if first.chars().count() <= MOST_LETTERS {
        return first;
    }
    let kept: String = first.chars().take(MOST_LETTERS).collect();
    let whole_words = kept.rsplit_once(' ').map_or(kept.as_str(), |(words, _)| words);
    // A code that is cut in two would make the rest of the line one.
    let is_open = whole_words.matches('`').count() % 2 == 1;
    format!("{whole_words}{} …", if is_open { "`" } else { "" })
}

/// Whether the cells of a table mark wide intervals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    OfWide,
    None,
}

fn capabilities(rows: &[Capability], marks: Marks, cell: fn(&Reading) -> Markup) -> Markup {
    let Some(first) = rows.first() else {
        return html! {};
    };
    let is_wide = |reading: &Reading| match &reading.outcome {
        ReadingOutcome::Measured { number, .. } => number.is_wide(),
        ReadingOutcome::Missing(_) => false,
    };
    let is_marked = marks == Marks::OfWide && rows.iter().flat_map(|row| &row.readings).any(is_wide);
    html! {
        table.capabilities {
            caption {
                "What it can do: medians over trials, with where each was reached."
                @if is_marked { " Marked as wide: an interval of more than ± " (Number::WIDE_PERCENT) " %" }
            }
            thead {
                tr {
                    td {}
                    @for reading in &first.readings { th scope="col" { (reading.column) } }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { (row.label) }
                        @for reading in &row.readings { td { (cell(reading)) } }
                    }
                }
            }
        }
    }
}

fn cell(reading: &Reading) -> Markup {
    html! {
        @match &reading.outcome {
            ReadingOutcome::Measured { number, conditions } => {
                strong { (number) }
                span { (conditions) }
                small { (number.certainty()) }
                @if number.is_wide() { (wide_mark(number)) }
            }
            ReadingOutcome::Missing(absence) => span { @if absence.is_of_nothing() { "not measured: " } (prose(&absence.reason)) },
        }
    }
}

/// A reading in a line of print.
fn brief_cell(reading: &Reading) -> Markup {
    html! {
        @match &reading.outcome {
            ReadingOutcome::Measured { number, conditions } => {
                strong { (number.with_ends()) } " "
                small { (conditions) @if !conditions.is_empty() { "; " } (number.confidence()) }
            }
            ReadingOutcome::Missing(absence) => small { (absence.in_short()) },
        }
    }
}

fn wide_mark(number: &Number) -> Markup {
    html! {
        @if let Some(width) = number.plus_minus_percent() {
            small { span.wide-mark {
                // Beyond that, a percentage of the middle says nothing: the interval is far from symmetric.
                @match number.ends() {
                    Some((low, high)) if width > 100.0 && low > 0.0 => {
                        "wide interval: its ends differ by a factor of " (format!("{:.0}", high / low))
                    }
                    // Rounded up: one that is marked is never said to be as wide as one that is not.
                    _ if width < 10.0 => { "wide interval: ± " (format!("{:.1}", (width * 10.0).ceil() / 10.0)) " %" }
                    _ => { "wide interval: ± " (format!("{width:.0}")) " %" }
                }
            } }
        }
    }
}

fn advice(claim: &Claim) -> Markup {
    html! { li { strong { (claim.topic) ": " } (prose(&claim.text)) } }
}

/// A sentence, with what stands between grave accents as code.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
