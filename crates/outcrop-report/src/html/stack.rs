//! The first screen: the stack as one table, a row for each layer.

use maud::{Markup, html};

use super::answer::prose;
use super::title_of;
use crate::answer::{Answer, Capability, Claim, ReadingOutcome};
use crate::number::Number;
use crate::report::LayerSection;

/// Figures of a row; the section of the layer has the rest.
const MOST_FIGURES: usize = 2;

/// What each layer can do and what to do about it, from the device up.
pub(super) fn table(layers: &[LayerSection]) -> Markup {
    if layers.is_empty() {
        return html! {};
    }
    html! {
        table.stack {
            caption { "The stack: what each layer can do, and what to configure" }
            thead { tr { th scope="col" { "layer" } th scope="col" { "it can do" } th scope="col" { "advice" } } }
            tbody {
                @for layer in layers {
                    tr {
                        th scope="row" {
                            a href={ "#" (layer.layer) "-answer" } { (title_of(&layer.layer)) }
                            span { (layer.answer.subject) }
                        }
                        td { @for figure in figures(&layer.answer) { (figure) } }
                        td { (advice(&layer.answer)) }
                    }
                }
            }
        }
    }
}

/// A row, its column, the number, and where it was reached.
type Measured<'a> = (&'a Capability, &'a str, &'a Number, &'a str);

/// The first figures of the answer that were measured.
fn figures(answer: &Answer) -> Vec<Markup> {
    let readings = answer
        .capabilities
        .iter()
        .flat_map(|row| row.readings.iter().map(move |one| (row, one)));
    let measured = readings.filter_map(|(row, reading)| match &reading.outcome {
        ReadingOutcome::Measured { number, conditions } => {
            Some((row, reading.column.as_str(), number, conditions.as_str()))
        }
        ReadingOutcome::Missing { .. } => None,
    });
    let mut seen = Vec::new();
    // Two wishes may have one answer, which is said once.
    let new = measured.filter(|(row, _, number, conditions)| {
        let words = (row.label.as_str(), number.to_string(), *conditions);
        let is_new = !seen.contains(&words);
        seen.push(words);
        is_new
    });
    new.take(MOST_FIGURES).map(figure).collect()
}

fn figure((row, column, number, conditions): Measured<'_>) -> Markup {
    let certainty = number.confidence();
    html! {
        p {
            (row.label) ", " (column) ": " strong { (number.with_ends()) }
            span { (conditions) @if !conditions.is_empty() { "; " } (certainty) }
        }
    }
}

/// The first advice that is decided, else the first, or that there is none.
fn advice(answer: &Answer) -> Markup {
    let decided = answer.advice.iter().find(|claim| claim.is_decided());
    html! {
        @match decided.or(answer.advice.first()) {
            Some(Claim { topic, brief, .. }) => { b { (topic) ": " } (prose(brief)) },
            None => "none: the cells of this run do not decide a setting",
        }
    }
}
