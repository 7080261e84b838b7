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
use outcrop_measure::harmless::harmless;
use outcrop_results::name_element;

use crate::chart::{Figure, Wait, css};
use crate::command::{Commands, quoted};
use crate::report::{LayerSection, Report};
use crate::section::FigureSlot;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/figures.js");
/// Figures of the page for print: of one layer, and of several.
const FIGURES_OF_ONE_LAYER: usize = 2;
const FIGURES_OF_SEVERAL: usize = 3;
/// Rows of figures and pieces of advice of a layer, on a page for print of several: six layers fit two sheets.
const MOST_ON_A_SHEET: usize = 4;
/// Nothing but what is in the page: no request, no evaluation of text as code.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

/// What the page of a quick run may have, in bytes: it is sent by mail and opened on phones.
const MOST_BYTES: usize = 400_000;

/// How much of a run is on its page; the files of the run have all of it.
#[derive(Clone, Copy)]
struct Detail {
    /// Whether the text of the plan is.
    plan: bool,
    /// Rows of the cells of a layer.
    rows: usize,
    /// Whether published figures are.
    references: bool,
    /// Whether matrices are: they show cells of the tables in another way.
    matrices: bool,
    figures: WhichFigures,
}

/// Which figures are on the page; the folder of figures has all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhichFigures {
    All,
    /// Those that do not wait first.
    Most,
    /// Those that cannot wait.
    Foremost,
}

impl WhichFigures {
    fn has(self, figure: &Figure) -> bool {
        match self {
            Self::All => true,
            Self::Most => figure.wait < Wait::Early,
            Self::Foremost => figure.wait == Wait::Never,
        }
    }
}

impl Detail {
    const ALL: Self = Self {
        plan: true,
        rows: usize::MAX,
        references: true,
        matrices: true,
        figures: WhichFigures::All,
    };
    /// What is left out of a page that would be too long, the least missed first.
    const LESS: [Self; 7] = [
        Self {
            plan: false,
            ..Self::ALL
        },
        Self {
            figures: WhichFigures::Most,
            ..Self::FOREMOST
        },
        Self::FOREMOST,
        Self {
            rows: 60,
            ..Self::FOREMOST
        },
        Self {
            rows: 40,
            references: false,
            ..Self::FOREMOST
        },
        Self {
            rows: 30,
            references: false,
            matrices: false,
            ..Self::FOREMOST
        },
        Self {
            rows: 12,
            references: false,
            matrices: false,
            ..Self::FOREMOST
        },
    ];
    const FOREMOST: Self = Self {
        plan: false,
        figures: WhichFigures::Foremost,
        ..Self::ALL
    };
}

/// Renders the whole page. That of a quick run has a bound: what does not fit is left to the files of the run, and the page says so.
pub(crate) fn page(report: &Report) -> String {
    let mut page = page_of(report, Detail::ALL);
    let is_quick = report.run.effort.as_deref() == Some("quick");
    let mut less = Detail::LESS.into_iter();
    while is_quick
        && page.len() > MOST_BYTES
        && let Some(detail) = less.next()
    {
        page = page_of(report, detail);
    }
    page
}

fn page_of(report: &Report, detail: Detail) -> String {
    let content = html! {
        (header(report, &contents(report)))
        main {
            @if let Some(verdicts) = report.verdicts() {
                section id="variants" { h2 { "The two variants compared" } pre { (verdicts) } }
            }
            @for layer in &report.layers { (layer_sections(layer, report, detail)) }
            @if report.layers.is_empty() { (nothing_measured(report)) }
            (provenance::section(report, detail.plan))
        }
        (footer(report))
    };
    let body = html! {
        (PreEscaped(with_plain_quotes(&without_implied_ends(&content.into_string()))))
        script type="application/json" id="figure-data" { (PreEscaped(data::json(report, detail.figures))) }
        script { (PreEscaped(packed(SCRIPT))) }
    };
    document(report, ("whole", "report"), &body)
}

/// Renders what fits one or two sheets of paper: of each layer the answer, then the first figures.
pub(crate) fn one_page(report: &Report) -> String {
    let is_alone = report.layers.len() <= 1;
    let (class, most) = if is_alone {
        ("brief", usize::MAX)
    } else {
        ("brief several", MOST_ON_A_SHEET)
    };
    let body = html! {
        header {
            h1 { (title(report)) }
            p.lede { (report.run.one_line()) }
            (answer::doubts_of_run(report))
        }
        main {
            @if let Some(answer) = &report.placement { (placement::brief(answer)) }
            @for layer in &report.layers {
                section {
                    h2 { (title_of(&layer.layer)) }
                    p.soft { (layer.answer.subject) }
                    (answer::brief(&layer.answer, most))
                    @if is_alone { (figures(&first_figures(layer, FIGURES_OF_ONE_LAYER), report, &layer.layer, WhichFigures::All)) }
                }
            }
            @if !is_alone { (figures_of_several(report)) }
            @if report.layers.is_empty() { (nothing_measured(report)) }
        }
        (footer(report))
    };
    document(report, (class, "one-page"), &body)
}

fn first_figures(layer: &LayerSection, most: usize) -> Vec<FigureSlot> {
    let drawn = layer
        .figures
        .iter()
        .filter(|slot| matches!(slot, FigureSlot::Drawn(_)));
    drawn.take(most).cloned().collect()
}

/// Where to compress as a figure, and the first of each layer as far as there is room, side by side.
fn figures_of_several(report: &Report) -> Markup {
    let placement = report
        .placement
        .iter()
        .filter_map(|placement| placement.figure.as_ref());
    let placement = placement.map(|figure| (None, figure));
    let of_layers = report.layers.iter().filter_map(|layer| {
        layer.figures.iter().find_map(|slot| match slot {
            FigureSlot::Drawn(figure) => Some((Some(title_of(&layer.layer)), figure)),
            FigureSlot::Missing(_) => None,
        })
    });
    let shown = placement.chain(of_layers).take(FIGURES_OF_SEVERAL);
    html! {
        section {
            div.figures {
                @for (layer, figure) in shown {
                    figure id={ "figure-" (figure.id) } {
                        h3 { @if let Some(layer) = layer { (layer) ": " } (figure.title) }
                        div.drawing { (PreEscaped(figure.to_page_svg())) }
                        figcaption { (answer::prose(&figure.caption_on_page())) }
                    }
                }
            }
        }
    }
}

/// End tags that HTML implies: with some two thousand cells of tables they are a thirtieth of the page. No text has one, since its `<` is a
/// reference.
const IMPLIED_ENDS: [&str; 8] = [
    "</td>", "</th>", "</tr>", "</thead>", "</tbody>", "</li>", "</dt>", "</dd>",
];

/// Markup without the end tags that the next tag implies.
fn without_implied_ends(markup: &str) -> String {
    IMPLIED_ENDS
        .iter()
        .fold(markup.to_owned(), |markup, end| markup.replace(end, ""))
}

/// Markup whose text has quotes as they are: only in the values of attributes need they be references.
fn with_plain_quotes(markup: &str) -> String {
    let parts = markup
        .split_inclusive('>')
        .map(|part| match part.split_once('<') {
            Some((text, tag)) => format!("{}<{tag}", text.replace("&quot;", "\"")),
            None => part.replace("&quot;", "\""),
        });
    parts.collect()
}

/// A script without its comments and its indentation, which readers of the page do not need. No text in it spans lines.
fn packed(script: &str) -> String {
    let lines = script.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The frame around a body. Its class says which rules apply in print; its stem names the file.
fn document(report: &Report, (class, stem): (&str, &str), body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "outcrop " (report.run.software) };
                (PreEscaped(name_element(&report.page_name(stem))))
                title { (title(report)) }
                style { (PreEscaped(css())) (PreEscaped(STYLE)) }
            }
            body class=(class) { (body) }
        }
    };
    // Names come from files of others; a page that is shown by `cat` does not steer the terminal.
    harmless(&markup.into_string()).into_owned()
}

fn title(report: &Report) -> String {
    format!("Outcrop report: {}", report.run.name)
}

fn footer(report: &Report) -> Markup {
    let commands = Commands::of_summary(&report.run);
    let (whose, from_fio) = match commands.is_imported() {
        true => {
            let program = commands.imported_from().unwrap_or("another program");
            (
                format!("imported from the results of {program}"),
                "docs/from-fio.md and ",
            )
        }
        false => ("measured in this run".to_owned(), ""),
    };
    html! {
        footer {
            p { "Written by outcrop " (report.run.software) ". Numbers are " (whose) " unless they say "
                "published, derived or modelled. How each is obtained, and how to cite it: " (from_fio) "docs/methodology.md in "
                "the source of this version." }
        }
    }
}

fn header(report: &Report, contents: &Markup) -> Markup {
    html! {
        header {
            h1 { (title(report)) }
            (stack::table(&report.layers, report.placement.as_ref()))
            (contents)
            (stack::wide_figures(report))
            p.lede { (report.run.one_line()) }
            @if let Some(answer) = &report.placement { (placement::section(answer)) }
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

fn layer_sections(layer: &LayerSection, report: &Report, detail: Detail) -> Markup {
    let left_out = |what: &str| html! { p.soft { (what) " would make this page too long; " code { "outcrop report --format json" } " has them." } };
    let matrices = match detail.matrices {
        true => matrix::body(&layer.layer, &layer.matrices, &layer.missing_matrices, report),
        false => left_out("The matrices"),
    };
    let references = match detail.references {
        true => tables::references(&layer.references, report),
        false => left_out("Published figures"),
    };
    let bodies = [
        answer::body(&layer.answer),
        cells::body(&layer.cells, detail.rows),
        figures(&layer.figures, report, &layer.layer, detail.figures),
        matrices,
        findings::body(&layer.findings),
        references,
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

/// The figures that could be drawn, which of them wait elsewhere, then what is missing for the others.
fn figures(slots: &[FigureSlot], report: &Report, layer: &str, which: WhichFigures) -> Markup {
    let drawn = slots.iter().filter_map(|slot| match slot {
        FigureSlot::Drawn(figure) => Some(figure),
        FigureSlot::Missing(_) => None,
    });
    let (shown, waiting): (Vec<&Figure>, Vec<&Figure>) = drawn.partition(|figure| which.has(figure));
    let missing = slots.iter().filter_map(|slot| match slot {
        FigureSlot::Drawn(_) => None,
        FigureSlot::Missing(missing) => Some(missing),
    });
    html! {
        div.figures {
            @for figure in shown {
                figure id={ "figure-" (figure.id) } {
                    h3 { (figure.title) }
                    div.drawing { (PreEscaped(figure.to_page_svg())) }
                    figcaption { (answer::prose(&figure.caption_on_page())) }
                }
            }
            @for figure in waiting {
                p.soft { (figure.title) ": drawn in " code { "figures/" (figure.id) ".svg" } ", because it would make this page too long." }
            }
            @for entry in missing { (tables::missing(entry, report, layer)) }
        }
    }
}

fn method(layer: &LayerSection) -> Markup {
    html! {
        dl.pairs {
            @for method in &layer.methods { dt { (method.quantity) } dd { (answer::prose(&method.how)) } }
        }
        @if !layer.notes.is_empty() {
            h3 { "What the engine reported" }
            ul { @for note in &layer.notes { li { (answer::prose(&note.text)) span.soft { " (" (note.trials) ")" } } } }
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
