//! `outcrop results export|compact RUN`.

use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table};
use outcrop_results::{Record, RunFolder, RunView, cells, export};
use std::path::PathBuf;

/// Export or compact the records of a run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop results export runs/… --format csv > records.csv\n  outcrop results compact runs/…       write Parquet and cells.csv again from trials.ndjson"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print every record: one metric of one trial a row
    Export {
        /// The run folder
        run: PathBuf,
        /// csv, json or text (aligned columns)
        #[arg(long, value_enum, default_value = "csv")]
        format: Format,
    },
    /// Write the Parquet files and cells.csv again from the journal
    Compact {
        /// The run folder
        run: PathBuf,
    },
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Export { run, format } => {
            let view = RunView::load(run).map_err(bad_input)?;
            let records: Vec<Record> = view.records().collect();
            match format {
                Format::Csv => output::print_with(|sink| Ok(export::write_csv(&records, sink)?))?,
                Format::Json => {
                    let rows = records.iter().map(row).collect::<anyhow::Result<_>>()?;
                    let envelope = output::envelope().on(view.environment.clone()).with_rows(rows);
                    output::print(&output::pretty_json(&envelope)?)?;
                }
                Format::Text => table(&records).print(Format::Text)?,
            }
        }
        Action::Compact { run } => {
            let folder = RunFolder::open(run).map_err(bad_input)?;
            folder.finish()?;
            cells::write_files(&RunView::load(run).map_err(bad_input)?)?;
            output::print(&format!("{}\n", folder.dir().join("records.parquet").display()))?;
        }
    }
    Ok(Ending::Done)
}

/// A record as a row of JSON: its seed as a string, which JavaScript reads exactly.
fn row(record: &Record) -> anyhow::Result<serde_json::Value> {
    let mut row = serde_json::to_value(record)?;
    row["seed"] = record.seed.to_string().into();
    row["provenance"] = record.provenance_name().into();
    Ok(row)
}

fn table(records: &[Record]) -> Table {
    let names = [
        "trial",
        "repetition",
        "subject",
        "factors",
        "metric",
        "value",
        "provenance",
        "source",
    ];
    let mut table = Table::new(names.map(|name| (name, name)));
    for record in records {
        let factors: Vec<String> = record
            .factors
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let value = record.value.map_or_else(
            || Cell::Absent(record.source.clone().unwrap_or_default()),
            |value| Cell::number(value, record.unit.format(value)),
        );
        table.push(vec![
            Cell::number(f64::from(record.trial), record.trial.to_string()),
            Cell::number(f64::from(record.repetition), record.repetition.to_string()),
            Cell::text(&record.subject),
            Cell::text(factors.join(" ")),
            Cell::text(&record.metric),
            value,
            Cell::text(record.provenance_name()),
            Cell::text(record.source.clone().unwrap_or_default()),
        ]);
    }
    table
}
