//! The page: one self-contained HTML document that opens offline, on a phone and in print.
//!
//! No script, no font, no image and no style is fetched; the only thing that reacts is CSS.

mod answer;
mod findings;
mod matrix;
mod provenance;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::dark_mode_css;
use crate::report::{LayerSection, Report};
use crate::section::FigureSlot;

const STYLE: &str = include_str!("html/style.css");

/// Renders the whole page.
pub(crate) fn page(report: &Report) -> String {
    let title = format!("Outcrop report: {}", report.run.name);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "outcrop " (report.run.software) };
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(dark_mode_css())) }
            }
            body {
                (header(report, &title))
                main {
                    @for layer in &report.layers { (layer_sections(layer)) }
                    @if report.layers.is_empty() { (nothing_measured(report)) }
                    (provenance::section(report))
                }
                footer {
                    p { "Written by outcrop " (report.run.software) ". Numbers are measured in this run unless they say "
                        "published, derived or modelled. How each is obtained: docs/methodology.md." }
                }
            }
        }
    };
    markup.into_string()
}

fn header(report: &Report, title: &str) -> Markup {
    html! {
        header {
            h1 { (title) }
            @for layer in &report.layers { p.lede { (layer.answer.subject) } }
            p.lede { (report.run.one_line()) }
            nav aria-label="Contents" {
                ul {
                    @for (anchor, name) in contents(report) { li { a href={ "#" (anchor) } { (name) } } }
                }
            }
        }
    }
}

fn contents(report: &Report) -> Vec<(String, String)> {
    let several = report.layers.len() > 1;
    let mut entries = Vec::new();
    for layer in &report.layers {
        for (part, name) in PARTS.iter().filter(|(part, _)| has_part(layer, part)) {
            let name = if several {
                format!("{} ({})", name, layer.layer)
            } else {
                (*name).to_owned()
            };
            entries.push((format!("{}-{part}", layer.layer), name));
        }
    }
    entries.push(("environment".to_owned(), "Environment".to_owned()));
    entries.push(("run".to_owned(), "The run".to_owned()));
    entries
}

/// The parts of a layer, in reading order: anchor and heading.
const PARTS: &[(&str, &str)] = &[
    ("answer", "The answer"),
    ("figures", "Figures"),
    ("matrix", "Matrix"),
    ("findings", "Findings"),
    ("references", "References"),
    ("method", "How it was measured"),
];

/// Whether a layer has anything under that heading: not every layer has matrices and published figures.
fn has_part(layer: &LayerSection, part: &str) -> bool {
    match part {
        "matrix" => !layer.matrices.is_empty() || !layer.missing_matrices.is_empty(),
        "references" => !layer.references.is_empty(),
        _ => true,
    }
}

fn layer_sections(layer: &LayerSection) -> Markup {
    let bodies = [
        answer::body(&layer.answer),
        figures(&layer.figures),
        matrix::body(&layer.layer, &layer.matrices, &layer.missing_matrices),
        findings::body(&layer.findings),
        tables::references(&layer.references),
        method(layer),
    ];
    html! {
        @for ((part, name), body) in PARTS.iter().zip(bodies).filter(|((part, _), _)| has_part(layer, part)) {
            section id={ (layer.layer) "-" (part) } aria-labelledby={ (layer.layer) "-" (part) "-heading" } {
                h2 id={ (layer.layer) "-" (part) "-heading" } { (name) }
                (body)
            }
        }
    }
}

/// The figures that could be drawn, then what is missing for the others.
fn figures(slots: &[FigureSlot]) -> Markup {
    let drawn = slots.iter().filter_map(|slot| match slot {
        FigureSlot::Drawn(figure) => Some(figure),
        FigureSlot::Missing(_) => None,
    });
    let missing = slots.iter().filter_map(|slot| match slot {
        FigureSlot::Drawn(_) => None,
        FigureSlot::Missing(missing) => Some(missing),
    });
    html! {
        div.figures {
            @for figure in drawn {
                figure id={ "figure-" (figure.id) } {
                    h3 { (figure.title) }
                    div.wide { (PreEscaped(&figure.svg)) }
                    div.narrow { (PreEscaped(&figure.narrow_svg)) }
                    figcaption { (figure.caption) }
                }
            }
            @for entry in missing { (tables::missing(entry)) }
        }
    }
}

fn method(layer: &LayerSection) -> Markup {
    html! {
        dl.pairs {
            @for method in &layer.methods { dt { (method.quantity) } dd { (method.how) } }
        }
        @if !layer.notes.is_empty() {
            h3 { "What the engine reported" }
            ul { @for note in &layer.notes { li { (note.text) span.soft { " (" (note.trials) ")" } } } }
        }
    }
}

fn nothing_measured(report: &Report) -> Markup {
    html! {
        section id="answer" {
            h2 { "The answer" }
            p { "This run has no finished trial, so there is nothing to report yet. " (report.trials.sentence()) }
            p { "Resume it with " code { "outcrop run --resume " (report.run.folder) } "." }
        }
    }
}
