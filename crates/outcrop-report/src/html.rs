//! The page: one self-contained HTML document that opens offline, on a phone and in print.
//!
//! No script, no font, no image and no style is fetched, and a policy in the page forbids it. Each figure is in it twice: as its
//! specification, which the page's own script draws and answers questions from, and as a drawing for print and for readers
//! without scripts.

mod answer;
mod cells;
mod data;
mod findings;
mod matrix;
mod placement;
mod provenance;
mod stack;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::css;
use crate::command::quoted;
use crate::report::{LayerSection, Report};
use crate::section::FigureSlot;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/figures.js");
/// Figures of the page for print, over all layers.
const FIGURES_ON_A_SHEET: usize = 8;
/// Of one layer.
const FIGURES_OF_A_LAYER: usize = 2;
/// Nothing but what is in the page: no request, no evaluation of text as code.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

/// Renders the whole page.
pub(crate) fn page(report: &Report) -> String {
    let body = html! {
        (header(report, &contents(report)))
        main {
            @for layer in &report.layers { (layer_sections(layer, report)) }
            @if report.layers.is_empty() { (nothing_measured(report)) }
            (provenance::section(report))
        }
        (footer(report))
        script type="application/json" id="figure-data" { (PreEscaped(data::json(report))) }
        script { (PreEscaped(packed(SCRIPT))) }
    };
    document(report, "whole", &body)
}

/// Renders what fits one or two sheets of paper: of each layer the answer and its first figures.
pub(crate) fn one_page(report: &Report) -> String {
    let most = (FIGURES_ON_A_SHEET / report.layers.len().max(1)).clamp(1, FIGURES_OF_A_LAYER);
    let first_figures = |layer: &LayerSection| -> Vec<FigureSlot> {
        let drawn = layer
            .figures
            .iter()
            .filter(|slot| matches!(slot, FigureSlot::Drawn(_)));
        drawn.take(most).cloned().collect()
    };
    let body = html! {
        header {
            h1 { (title(report)) }
            p.lede { (report.run.one_line()) }
        }
        main {
            @if let Some(answer) = &report.placement { (placement::brief(answer)) }
            @for layer in &report.layers {
                section {
                    h2 { (title_of(&layer.layer)) }
                    p.soft { (layer.answer.subject) }
                    (answer::brief(&layer.answer))
                    (figures(&first_figures(layer), report, &layer.layer))
                }
            }
            @if report.layers.is_empty() { (nothing_measured(report)) }
        }
        (footer(report))
    };
    document(report, "brief", &body)
}

/// A script without its comments and its indentation, which readers of the page do not need. No text in it spans lines.
fn packed(script: &str) -> String {
    let lines = script.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The frame around a body. Its class says which rules apply in print.
fn document(report: &Report, class: &str, body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "outcrop " (report.run.software) };
                title { (title(report)) }
                style { (PreEscaped(css())) (PreEscaped(STYLE)) }
            }
            body class=(class) { (body) }
        }
    };
    markup.into_string()
}

fn title(report: &Report) -> String {
    format!("Outcrop report: {}", report.run.name)
}

fn footer(report: &Report) -> Markup {
    html! {
        footer {
            p { "Written by outcrop " (report.run.software) ". Numbers are measured in this run unless they say "
                "published, derived or modelled. How each is obtained: docs/methodology.md." }
        }
    }
}

fn header(report: &Report, contents: &Markup) -> Markup {
    html! {
        header {
            h1 { (title(report)) }
            @if let Some(answer) = &report.placement { (placement::section(answer)) }
            (stack::table(&report.layers))
            (stack::wide_figures(report))
            p.lede { (report.run.one_line()) }
            (contents)
        }
    }
}

/// A line of links for each layer.
fn contents(report: &Report) -> Markup {
    html! {
        nav aria-label="Contents" {
            @for layer in &report.layers {
                p {
                    b { (title_of(&layer.layer)) ":" }
                    @for (part, name) in PARTS.iter().filter(|(part, _)| has_part(layer, part)) {
                        " " a href={ "#" (layer.layer) "-" (part) } { (name) }
                    }
                }
            }
            p { b { "Run:" } " " a href="#environment" { "environment" } " " a href="#run" { "trials and plan" } }
        }
    }
}

/// The name of a layer as the first word of a heading.
fn title_of(layer: &str) -> String {
    if layer == outcrop_schema::kv::SCHEMA.name {
        return "Key-value engine".to_owned();
    }
    let mut letters = layer.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The parts of a layer, in reading order: anchor and heading.
const PARTS: &[(&str, &str)] = &[
    ("answer", "the answer"),
    ("cells", "every cell"),
    ("figures", "figures"),
    ("matrix", "matrix"),
    ("findings", "findings"),
    ("references", "published figures"),
    ("method", "how it was measured"),
];

/// Whether a layer has anything under that heading: not every layer has matrices and published figures.
fn has_part(layer: &LayerSection, part: &str) -> bool {
    match part {
        "cells" => !layer.cells.is_empty(),
        "matrix" => !layer.matrices.is_empty() || !layer.missing_matrices.is_empty(),
        "references" => !layer.references.is_empty(),
        _ => true,
    }
}

fn layer_sections(layer: &LayerSection, report: &Report) -> Markup {
    let bodies = [
        answer::body(&layer.answer),
        cells::body(&layer.cells),
        figures(&layer.figures, report, &layer.layer),
        matrix::body(&layer.layer, &layer.matrices, &layer.missing_matrices, report),
        findings::body(&layer.findings),
        tables::references(&layer.references, report),
        method(layer),
    ];
    html! {
        @for ((part, name), body) in PARTS.iter().zip(bodies).filter(|((part, _), _)| has_part(layer, part)) {
            section id={ (layer.layer) "-" (part) } aria-labelledby={ (layer.layer) "-" (part) "-heading" } {
                h2 id={ (layer.layer) "-" (part) "-heading" } { (title_of(&layer.layer)) ": " (name) }
                (body)
            }
        }
    }
}

/// The figures that could be drawn, then what is missing for the others.
fn figures(slots: &[FigureSlot], report: &Report, layer: &str) -> Markup {
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
                    div.drawing { (PreEscaped(figure.to_page_svg())) }
                    figcaption { (figure.caption) }
                }
            }
            @for entry in missing { (tables::missing(entry, report, layer)) }
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
            p { "Resume it with " code { "outcrop run --resume " (quoted(&report.run.folder)) } "." }
        }
    }
}
