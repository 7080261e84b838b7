//! The first screen: the stack as one table, a row for each layer.

use maud::{Markup, html};

use super::title_of;
use crate::answer::{Answer, ReadingOutcome};
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

/// The first figures of the answer that were measured.
fn figures(answer: &Answer) -> Vec<Markup> {
    let readings = answer
        .capabilities
        .iter()
        .flat_map(|row| row.readings.iter().map(move |one| (row, one)));
    let measured = readings.filter_map(|(row, reading)| match &reading.outcome {
        ReadingOutcome::Measured { number, conditions } => {
            Some(figure(&row.label, &reading.column, number, conditions))
        }
        ReadingOutcome::Missing { .. } => None,
    });
    measured.take(MOST_FIGURES).collect()
}

fn figure(label: &str, column: &str, number: &Number, conditions: &str) -> Markup {
    html! {
        p {
            strong { (number) } " " (label) ", " (column)
            span { (conditions) "; " (number.certainty()) }
        }
    }
}

/// The first line of advice, or that there is none.
fn advice(answer: &Answer) -> Markup {
    html! {
        @match answer.advice.first() {
            Some(claim) => { b { (claim.topic) ": " } (claim.brief) },
            None => "none: the cells of this run do not decide a setting",
        }
    }
}
