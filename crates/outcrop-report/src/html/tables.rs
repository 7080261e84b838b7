//! Plain tables, references, and the box that says what is missing.

use maud::{Markup, html};

use crate::section::{Missing, ReferenceSection, Table};

use super::findings;

pub(super) fn references(sections: &[ReferenceSection]) -> Markup {
    html! {
        p { "Figures that others published about other hardware and data. None of them is mixed into the numbers above, and none is in "
            "a chart unless you ask for it: " code { "outcrop report RUN --beside NAME" } ". The checks below are about the "
            "publications, not about this run." }
        @for section in sections {
            details {
                summary { span.published { "Published: " } (section.title) " (" code { (section.name) } ")" }
                (findings::list(&section.findings))
                (plain(&section.table))
                @if !section.caveats.is_empty() {
                    ul.caveats { @for caveat in &section.caveats { li { (caveat) } } }
                }
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
