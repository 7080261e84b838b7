//! `outcrop references [NAME]`: the published figures that ship.

use crate::exit::Ending;
use crate::output::{self, Cell, Format, Table};
use outcrop_results::references::{self, Reference};
use std::collections::BTreeSet;

/// List the shipped references (published figures), or print one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop references\n  outcrop references datasheets --format csv\n  outcrop compare runs/… toshiba-kxg60znv256g-fio"
)]
pub(crate) struct Args {
    /// The name of a shipped reference, or the path of a CSV file in the same format
    name: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.name {
        None => list(args.format)?,
        Some(name) => {
            let reference = references::load(name).map_err(crate::exit::bad_input)?;
            rows(&reference, args.format)?;
            note_caveats(&reference);
            if args.format == Format::Csv && !reference.caveats.is_empty() {
                output::note("note: a table read back from this CSV is without these notes");
            }
        }
    }
    Ok(Ending::Done)
}

/// Says what a reader must know before relying on the figures.
pub(crate) fn note_caveats(reference: &Reference) {
    for caveat in &reference.caveats {
        output::note(&format!("note: {caveat}"));
    }
}

fn list(format: Format) -> anyhow::Result<()> {
    let mut table = Table::new([
        ("reference", "name"),
        ("kind", "kind"),
        ("rows", "rows_count"),
        ("what it is", "title"),
    ]);
    for reference in references::shipped()? {
        let rows = reference.rows.len();
        let kind = format!("{:?}", reference.kind).to_lowercase();
        table.push(vec![
            Cell::text(reference.name),
            Cell::text(kind),
            Cell::number(rows as f64, rows.to_string()),
            Cell::text(reference.title),
        ]);
    }
    table.print(format)
}

fn rows(reference: &Reference, format: Format) -> anyhow::Result<()> {
    if format == Format::Csv {
        return as_file(reference).print(format);
    }
    let mut table = Table::new([
        ("subject", "subject"),
        ("factors", "factors"),
        ("metric", "metric"),
        ("value", "value"),
        ("unit", "unit"),
        ("provenance", "provenance"),
        ("source", "source"),
    ]);
    for row in &reference.rows {
        let factors: Vec<String> = row
            .factors
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        table.push(vec![
            Cell::text(&row.subject),
            Cell::text(factors.join(" ")),
            Cell::text(&row.metric),
            Cell::number(row.value, row.unit.format(row.value)),
            Cell::text(row.unit.symbol()),
            Cell::text("published"),
            Cell::text(&row.source),
        ]);
    }
    table.print(format)
}

/// With a column for each factor, as the command reads it back.
fn as_file(reference: &Reference) -> Table {
    let rows = &reference.rows;
    let names: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.factors.keys().map(String::as_str))
        .collect();
    let columns = ["layer", "subject"].into_iter().chain(names.iter().copied());
    let columns = columns.chain(["metric", "unit", "value", "provenance", "source"]);
    let mut table = Table::new(columns.map(|name| (name, name)));
    for row in rows {
        let factors = names
            .iter()
            .map(|name| row.factors.get(*name).map_or("", String::as_str));
        let before = [&*row.layer, &*row.subject].into_iter().chain(factors);
        let mut cells: Vec<Cell> = before
            .chain([&*row.metric, row.unit.symbol()])
            .map(Cell::text)
            .collect();
        cells.push(Cell::number(row.value, row.value.to_string()));
        cells.extend(["published", &*row.source].map(Cell::text));
        table.push(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_reference_prints_as_a_file_that_reads_back() {
        for reference in references::shipped().unwrap() {
            let printed = as_file(&reference).to_csv().unwrap();
            let mut read =
                references::parse(&reference.name, &reference.title, &[], printed.as_bytes()).unwrap();
            assert_eq!(
                (read.kind, read.rows.len()),
                (reference.kind, reference.rows.len())
            );
            for (own, row) in read.rows.iter_mut().zip(&reference.rows) {
                own.line = row.line;
                assert_eq!(own, row, "{}", reference.name);
            }
        }
    }
}
