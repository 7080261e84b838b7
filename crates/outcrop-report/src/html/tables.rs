//! Plain tables, references, and the box that says what is missing.

use maud::{Markup, html};
use outcrop_schema::Vocabulary;

use crate::command::{Commands, to_fill_in};
use crate::number::counted;
use crate::report::Report;
use crate::section::{Missing, ReferenceSection, Table};

use super::answer::prose;
use super::findings;

/// Rows of a publication's table that the page shows: shapes are compared in charts, and the rest would be most of the page.
const MOST_PUBLISHED_ROWS: usize = 6;

pub(super) fn references(sections: &[ReferenceSection], report: &Report) -> Markup {
    let commands = Commands::of_summary(&report.run);
    html! {
        p { "Figures that others published about other hardware and data. None of them is mixed into the numbers above, and none is in "
            "a chart unless you ask for it: " code { (commands.report("--beside NAME")) } ". The checks below are about the "
            "publications, not about this run." }
        @for section in sections {
            details {
                summary { span.published { "Published: " } (section.title) " (" code { (section.name) } ")" }
                (findings::folded(&section.findings))
                @if section.tables.is_empty() {
                    (published(&section.table, &commands))
                }
                @for table in &section.tables { (rows(table, &table.rows)) }
                @if !section.caveats.is_empty() {
                    ul.caveats { @for caveat in &section.caveats { li { (prose(caveat)) } } }
                }
            }
        }
    }
}

/// The first rows of a publication's table, and where the others are.
fn published(table: &Table, commands: &Commands) -> Markup {
    let more = table.rows.len().saturating_sub(MOST_PUBLISHED_ROWS);
    html! {
        (rows(table, &table.rows[..table.rows.len() - more]))
        @if more > 0 {
            p.soft { "The other " (counted(more, "row")) ": " code { (commands.report("--format json")) } "." }
        }
    }
}

fn rows(table: &Table, rows: &[Vec<String>]) -> Markup {
    if rows.is_empty() {
        return html! {};
    }
    html! {
        div.scroll {
            table {
                caption { (table.caption) }
                thead { tr { @for head in &table.head { th scope="col" { (head) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// What this run cannot show, with the command that would measure it on the same data.
pub(super) fn missing(missing: &Missing, report: &Report, layer: &str) -> Markup {
    let schema = Vocabulary::default().layer(layer);
    let commands = Commands::of_summary(&report.run);
    let command = commands.filling(missing, schema.as_slice());
    let after = commands.after_filling(schema.as_slice()).unwrap_or_default();
    html! {
        div.missing {
            h3 { (missing.title) }
            p {
                "Not in this run: " (prose(&missing.reason))
                @if let Some(command) = command { " Measure it with " code { (command) } (prose(to_fill_in(&command))) (prose(&after)) "." }
            }
        }
    }
}
