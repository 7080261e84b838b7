//! `outcrop results export|compact RUN`.

use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Table, note};
use crate::output_file::{Force, is_stdout, refuse_input, refuse_system_folder};
use outcrop_results::{Record, RunFolder, RunView, cells, export, parquet};
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};

/// Export or compact the records of a run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop results export runs/… -o records.parquet\n  outcrop results export runs/… --format json | jq .rows\n  outcrop results compact runs/…       write Parquet and cells.csv again from trials.ndjson"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Write every record: one row per metric and trial
    Export(Export),
    /// Write the Parquet files and cells.csv again from the journal
    Compact {
        /// The run folder
        run: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop results export runs/… > records.csv
  outcrop results export runs/… -o records.parquet
  outcrop results export runs/… --format json | jq .rows
  outcrop results export runs/… --format fio-json > result.json   a report in fio's format
  outcrop results export runs/… --format fio-json -o plots/       one per trial, for fio-plot
  outcrop results export runs/… --format fio-job > run.fio        the workload as a fio job file

What the columns mean: docs/records.md.")]
struct Export {
    /// The run folder
    run: PathBuf,
    /// The file to write, or - for stdout [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Format to write [default: by the ending of the output (.csv, .json, .parquet, .txt); CSV on stdout]
    #[arg(long, value_enum)]
    format: Option<ExportFormat>,
}

/// Forms of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// RFC 4180 CSV with a header line
    Csv,
    /// One JSON document
    Json,
    /// Apache Parquet, typed columns
    Parquet,
    /// Aligned columns
    Text,
    /// fio 3 JSON (device layer): one report, or one per trial with -o FOLDER/
    FioJson,
    /// A fio job file (device layer): one section per cell
    FioJob,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Export(args) => export(args)?,
        Action::Compact { run } => {
            let folder = RunFolder::open(run).map_err(bad_input)?;
            folder.finish()?;
            cells::write_files(&RunView::load(run).map_err(bad_input)?, run)?;
            output::to_stdout(format!("{}\n", folder.dir().join("records.parquet").display()).as_bytes())?;
        }
    }
    Ok(Ending::Done)
}

fn export(args: &Export) -> anyhow::Result<()> {
    if args.format == Some(ExportFormat::FioJson) {
        return export_fio(args);
    }
    if args.format == Some(ExportFormat::FioJob) {
        return export_jobs(args);
    }
    let file = args.output.as_deref().filter(|path| !is_stdout(path));
    let format = match (args.format, file) {
        (Some(format), Some(path)) => agreed(format, path)?,
        (Some(format), None) => format,
        (None, Some(path)) => format_of(path)?,
        (None, None) => ExportFormat::Csv,
    };
    match file {
        Some(path) => {
            refuse_input(&args.run, path)?;
            args.force.check(path)?;
            args.force
                .write(path, |mut out| write(&args.run, format, &mut out))
        }
        None if format == ExportFormat::Parquet && std::io::stdout().is_terminal() => {
            Err(bad_input(anyhow::anyhow!(
                "stdout is a terminal and Parquet is binary: name a file with -o, or redirect stdout"
            )))
        }
        None => output::print_with(|sink| write(&args.run, format, sink)),
    }
}

/// fio's form: a file or stdout gets one report, a folder one for each trial.
fn export_fio(args: &Export) -> anyhow::Result<()> {
    let view = RunView::load(&args.run).map_err(bad_input)?;
    let exported = outcrop_fio::export(&view).map_err(bad_input)?;
    for why in &exported.left_out {
        note(&format!("note: left out: {why}"));
    }
    let is_folder = |path: &Path| path.is_dir() || path.to_string_lossy().ends_with('/');
    match args.output.as_deref().filter(|path| !is_stdout(path)) {
        Some(path) if is_folder(path) => {
            refuse_system_folder("-o", path)?;
            // All of them before the first is written.
            for file in exported.paths_in(path) {
                args.force.check(&file)?;
            }
            let written = exported.write_folder(path)?;
            note(&format!("{} files in {}", written.len(), path.display()));
            Ok(())
        }
        Some(path) => {
            agreed(ExportFormat::FioJson, path)?;
            refuse_input(&args.run, path)?;
            args.force.check(path)?;
            args.force
                .write(path, |out| Ok(writeln!(out, "{:#}", exported.document())?))
        }
        None => output::print_with(|out| Ok(writeln!(out, "{:#}", exported.document())?)),
    }
}

/// A job file of fio.
fn export_jobs(args: &Export) -> anyhow::Result<()> {
    let view = RunView::load(&args.run).map_err(bad_input)?;
    let exported = outcrop_fio::export_jobs(&view).map_err(bad_input)?;
    for why in &exported.left_out {
        note(&format!("note: left out: {why}"));
    }
    match args.output.as_deref().filter(|path| !is_stdout(path)) {
        Some(path) => {
            agreed(ExportFormat::FioJob, path)?;
            refuse_input(&args.run, path)?;
            args.force.check(path)?;
            args.force
                .write(path, |out| Ok(out.write_all(exported.text.as_bytes())?))
        }
        None => output::to_stdout(exported.text.as_bytes()),
    }
}

fn write(run: &Path, format: ExportFormat, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    if format == ExportFormat::Parquet {
        return parquet::write_records(run, out).map_err(bad_input);
    }
    let view = RunView::load(run).map_err(bad_input)?;
    let records: Vec<Record> = view.records().collect();
    match format {
        ExportFormat::Csv => export::write_csv(&records, out)?,
        ExportFormat::Json => {
            let rows = records.iter().map(row).collect::<anyhow::Result<_>>()?;
            let envelope = output::envelope().on(view.environment.clone()).with_rows(rows);
            out.write_all(output::pretty_json(&envelope)?.as_bytes())?;
        }
        ExportFormat::Text | ExportFormat::Parquet | ExportFormat::FioJson | ExportFormat::FioJob => {
            out.write_all(table(&records).to_text().as_bytes())?;
        }
    }
    Ok(())
}

/// The form that a file's name asks for.
fn format_of(path: &Path) -> anyhow::Result<ExportFormat> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("csv") => Ok(ExportFormat::Csv),
        Some("json") => Ok(ExportFormat::Json),
        Some("parquet") => Ok(ExportFormat::Parquet),
        Some("txt" | "text") => Ok(ExportFormat::Text),
        _ => Err(bad_input(anyhow::anyhow!(
            "{}: the file name's ending does not say which format; expected .csv, .json, .parquet or .txt, or --format FORMAT",
            path.display()
        ))),
    }
}

/// The form that is asked for, where the file's name does not ask for another one.
fn agreed(format: ExportFormat, path: &Path) -> anyhow::Result<ExportFormat> {
    let form = match format {
        ExportFormat::FioJson => ExportFormat::Json,
        other => other,
    };
    match format_of(path) {
        // Any text may be in a file of that ending.
        Ok(ExportFormat::Text) if format != ExportFormat::Parquet => Ok(format),
        Ok(named) if named != form => Err(bad_input(anyhow::anyhow!(
            "{}: the file name's ending and --format say two formats; leave --format out, or make them agree",
            path.display()
        ))),
        _ => Ok(format),
    }
}

/// A record as a row of JSON: its seed as a string, which JavaScript reads exactly.
fn row(record: &Record) -> anyhow::Result<serde_json::Value> {
    let mut row = serde_json::to_value(record)?;
    row["seed"] = record.seed.to_string().into();
    row["unit"] = record.unit.symbol().into();
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
