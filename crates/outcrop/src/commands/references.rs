//! `outcrop references [NAME]`: the published figures that ship.

use crate::exit::Ending;
use crate::output::{self, Cell, Format, Table};
use outcrop_results::references::{self, Reference};

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
            for caveat in &reference.caveats {
                output::note(&format!("note: {caveat}"));
            }
        }
    }
    Ok(Ending::Done)
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
