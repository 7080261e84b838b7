//! The first screen: the stack as one table, a row for each layer.

use maud::{Markup, html};

use super::answer::prose;
use super::title_of;
use crate::answer::{Answer, Caution, Claim, Headline, Instruction, NO_ADVICE};
use crate::placement::Placement;
use crate::report::{LayerSection, Report};

/// Figures of a row; the section of the layer has the rest.
const MOST_FIGURES: usize = 2;

/// What each layer can do and what to do about it, from the device up; before them, where to compress, where the run can tell.
pub(super) fn table(layers: &[LayerSection], placement: Option<&Placement>) -> Markup {
    if layers.is_empty() {
        return html! {};
    }
    let where_to_compress = placement.and_then(|placement| placement.answer.first());
    html! {
        table.stack {
            caption {
                @match layers {
                    [only] => { "What the " (only.layer) " layer can do, and what to configure" }
                    _ => { "The stack: what each layer can do, and what to configure" }
                }
            }
            thead { tr { th scope="col" { "layer" } th scope="col" { "measured" } th scope="col" { "what to do" } } }
            tbody {
                @if let Some(answer) = where_to_compress {
                    tr {
                        th scope="row" { a href="#placement" { "Where to compress" } }
                        td colspan="2" {
                            strong { (prose(answer)) }
                            @if placement.is_some_and(Placement::is_left_open) { " This is not clear." }
                        }
                    }
                }
                @for layer in layers {
                    tr {
                        th scope="row" {
                            a href={ "#" (layer.layer) "-answer" } { (title_of(&layer.layer)) }
                            span { (layer.answer.subject) }
                        }
                        td { @for headline in layer.answer.headlines(MOST_FIGURES) { (figure(headline)) } }
                        td { (advice(&layer.answer)) }
                    }
                }
            }
        }
    }
}

/// How many figures of the answers decide nothing, by layer: nothing where all of them are known better.
pub(super) fn wide_figures(report: &Report) -> Markup {
    let Some(figures) = report.wide_figures() else {
        return html! {};
    };
    let of_layers = figures.of_layers.iter().filter(|(_, counts)| counts.count() > 0);
    let of_layers: Vec<String> = of_layers
        .map(|(layer, counts)| format!("{layer} {}", counts.in_numbers()))
        .collect();
    html! {
        p.soft {
            (figures.total.in_words("figures of the answers")) ": " (of_layers.join(", ")) ". " (narrowing(report))
        }
    }
}

/// What narrows the intervals that are too wide: repetitions on the same sample of the data leave that of the sample as it is.
fn narrowing(report: &Report) -> &'static str {
    let answers = report.layers.iter().map(|layer| &layer.answer);
    let (mut is_sampled, mut is_repeated) = (false, false);
    for number in answers.flat_map(Answer::doubtful_numbers) {
        is_sampled |= number.is_of_sample;
        is_repeated |= !number.is_of_sample;
    }
    match (is_sampled, is_repeated) {
        (false, _) => "More repetitions narrow them.",
        (true, false) => "A larger sample narrows them (--sample-size); repetitions do not.",
        (true, true) => {
            "More repetitions narrow them; ratios of a sample need a larger sample (--sample-size)."
        }
    }
}

fn figure(headline: Headline<'_>) -> Markup {
    let Headline {
        number, conditions, ..
    } = headline;
    let certainty = number.confidence();
    html! {
        p {
            (headline.name()) ": " strong { (number.with_ends()) }
            span { (conditions) @if !conditions.is_empty() { "; " } (certainty) }
        }
    }
}

/// What to do; before it, that the figures are not of the layer, or that something stood still, where that is so.
fn advice(answer: &Answer) -> Markup {
    html! {
        @for brief in answer.cautions.iter().filter_map(Caution::in_brief) {
            p.warning { strong { "Warning: " } (brief) "." }
        }
        @match answer.instruction() {
            Instruction::Do(action) => { (prose(action)) "." },
            Instruction::Undecided(Claim { topic, brief, .. }) => { b { (topic) ": " } (prose(brief)) },
            Instruction::None => (NO_ADVICE),
        }
    }
}
