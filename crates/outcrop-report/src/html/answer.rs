//! The answer, as the first thing on the page.

use maud::{Markup, html};

use crate::answer::{Answer, Capability, Claim, Reading, ReadingOutcome, Severity};
use crate::number::Number;

pub(super) fn body(answer: &Answer) -> Markup {
    html! {
        (capabilities(&answer.capabilities, cell))
        @if !answer.advice.is_empty() {
            h3 { "What to configure" }
            ul.advice { @for claim in &answer.advice { (advice(claim)) } }
        }
        @if !answer.cautions.is_empty() {
            h3 { "How sure this is" }
            ul.cautions {
                @for caution in &answer.cautions {
                    @let warning = caution.severity == Severity::Warning;
                    li.warning[warning] { @if warning { strong { "Warning: " } } (prose(&caution.text)) }
                }
            }
        }
    }
}

/// The figures, and a line for each piece of advice.
pub(super) fn brief(answer: &Answer) -> Markup {
    html! {
        (capabilities(&answer.capabilities, brief_cell))
        @if !answer.advice.is_empty() {
            ul.advice { @for claim in &answer.advice { li { strong { (claim.topic) ": " } (prose(&claim.brief)) } } }
        }
    }
}

fn capabilities(rows: &[Capability], cell: fn(&Reading) -> Markup) -> Markup {
    let Some(first) = rows.first() else {
        return html! {};
    };
    html! {
        table.capabilities {
            caption { "What it can do: medians over trials, with where each was reached" }
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
            ReadingOutcome::Missing { reason } => span { "not measured: " (reason) },
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
            ReadingOutcome::Missing { .. } => small { "not measured" },
        }
    }
}

fn wide_mark(number: &Number) -> Markup {
    html! {
        @if let Some(width) = number.plus_minus_percent() {
            small { span.wide-mark { "wide interval: ± " (format!("{width:.0}")) " %" } }
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
