//! Plain tables, references, and the box that says what is missing.

use maud::{Markup, html};

use crate::section::{Missing, ReferenceSection, Table};

use super::findings;

/// Rows that need no unfolding.
const SHORT_TABLE: usize = 20;

pub(super) fn references(sections: &[ReferenceSection]) -> Markup {
    html! {
        p { "Published figures, held to the checks that this run is held to. They are never mixed into the numbers above; "
            "where a publication does not state its conditions, a ratio to this run would mean nothing." }
        @for section in sections {
            h3 { span.published { "Published: " } (section.title) }
            (findings::list(&section.findings))
            @if !section.table.rows.is_empty() {
                details open[section.table.rows.len() <= SHORT_TABLE] {
                    summary { "All " (section.table.rows.len()) " rows" }
                    (plain(&section.table))
                }
            }
            @if !section.caveats.is_empty() {
                ul.caveats { @for caveat in &section.caveats { li { (caveat) } } }
            }
        }
    }
}

pub(super) fn plain(table: &Table) -> Markup {
    if table.rows.is_empty() {
        return html! {};
    }
    html! {
        div.scroll {
            table {
                caption { (table.caption) }
                thead { tr { @for head in &table.head { th scope="col" { (head) } } } }
                tbody { @for row in &table.rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

pub(super) fn missing(missing: &Missing) -> Markup {
    html! {
        div.missing {
            h3 { (missing.title) }
            p { "Not in this run: " (missing.reason) " Measure it with " code { "outcrop run plans/" (missing.plan) ".toml" } "." }
        }
    }
}
