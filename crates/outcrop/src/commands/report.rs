//! `outcrop report RUN`.

use super::gate::Gate;
use super::placement_flags::PlacementFlags;
use crate::exit::{Ending, bad_input};
use crate::output::{self, Format, note};
use crate::session::{Destination, Shown};
use outcrop_report::{Figure, cell_table};
use outcrop_results::{CellTable, FailIf, RunView, references, write_atomically};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What `--fail-if` is where there is no baseline.
const LIMIT_HELP: &str = "Exit with code 1 when a cell meets this condition with its whole interval, for example 'p99 > 1ms', 'iops < 5000' or 'bandwidth < 100MB/s'";

/// Print the summary of a run and write its report again
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("fail_if", |arg| arg.help(LIMIT_HELP)),
    after_help = "Examples:\n  outcrop report runs/20261121T020304Z-profile\n  outcrop report runs/… --format json | jq .findings\n  outcrop report runs/… --format markdown                   the tables of cells, for a README\n  outcrop report runs/… --beside toshiba-kxg60znv256g-fio   published figures in the charts\n  outcrop report runs/… --min-ratio 2.5 --p99 2ms           other limits; report.html is unchanged\n  outcrop report runs/… --one-page                          one or two sheets to print\n  outcrop report runs/… --fail-if 'p99 > 1ms'               exit code 1 when met\n  outcrop report /archive/runs/… --output mine              a run whose folder is read-only\n\nExit codes of --fail-if: 0 no cell meets a condition, 1 one does, 2 none does and one could not be checked: it failed, was cut short by the end of its run, completed too few operations for the figure, has no interval of it, or was imported without it. With --strict, also 2 if none does and a cell is undecided or was not checked."
)]
pub(crate) struct Args {
    /// The run folder
    run: PathBuf,
    /// Output format: the summary as text, everything as JSON, or the tables of cells as CSV or Markdown
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
    /// Also write one-page.html, for one or two sheets of paper: answers and the first figures
    #[arg(long)]
    one_page: bool,
    /// Write the report, its figures and the tables of cells to this folder instead of the run's
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    gate: Gate,
    #[command(flatten)]
    beside: Beside,
    #[command(flatten)]
    placement: PlacementFlags,
}

/// The form of what goes to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    /// The summary
    #[default]
    Text,
    /// One JSON document
    Json,
    /// RFC 4180 CSV with a header line: a row for each cell
    Csv,
    /// The tables of cells, for a README
    Markdown,
}

/// `--beside`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Beside {
    /// Add a published reference to the charts; `outcrop references` lists them
    #[arg(long = "beside", value_name = "NAME", value_delimiter = ',')]
    names: Vec<String>,
}

impl Beside {
    /// Says where the charts have nothing of these references.
    pub(crate) fn note_absence(&self, figures: &[&Figure], asked: Option<&Figure>) {
        note_absence(&self.names, figures, asked);
    }

    /// Whether any was named.
    pub(crate) const fn is_given(&self) -> bool {
        !self.names.is_empty()
    }

    /// The names, each of which is a reference that ships.
    pub(crate) fn checked(&self) -> anyhow::Result<&[String]> {
        let shipped = references::shipped()?;
        for name in &self.names {
            if !shipped.iter().any(|reference| reference.name == *name) {
                let names: Vec<&str> = shipped.iter().map(|reference| reference.name.as_str()).collect();
                return Err(bad_input(anyhow::anyhow!(
                    "--beside: there is no reference {name:?}; the shipped ones are {}",
                    names.join(", ")
                )));
            }
        }
        Ok(&self.names)
    }

    /// Refuses names whose figures are of no layer that is going to be measured: no chart could have them.
    pub(crate) fn check_for(&self, layers: &BTreeSet<&str>) -> anyhow::Result<()> {
        for name in self.checked()? {
            let reference = references::load(name).map_err(bad_input)?;
            let about: BTreeSet<&str> = reference.rows.iter().map(|row| row.layer.as_str()).collect();
            if about.is_disjoint(layers) {
                let listed = |layers: &BTreeSet<&str>| layers.iter().copied().collect::<Vec<_>>().join(", ");
                return Err(bad_input(anyhow::anyhow!(
                    "--beside: no chart of this run can have {name}: its figures are of the layer {}, and this run measures {}",
                    listed(&about),
                    listed(layers)
                )));
            }
        }
        Ok(())
    }
}

/// Says where charts have nothing of references that they were asked for, and which charts have: silence would look like agreement.
pub(crate) fn note_absence(references: &[String], figures: &[&Figure], asked: Option<&Figure>) {
    let drawn: Vec<&str> = figures
        .iter()
        .filter(|figure| figure.has_published())
        .map(|figure| figure.id.as_str())
        .collect();
    let is_missing = asked.map_or(drawn.is_empty(), |figure| !figure.has_published());
    if references.is_empty() || !is_missing {
        return;
    }
    let names = references.join(", ");
    let what = match asked {
        Some(figure) => format!("{names} has nothing that {} shows", figure.id),
        None => format!("{names} has nothing that a chart of this run shows"),
    };
    let elsewhere = match drawn.is_empty() {
        true => String::new(),
        false => format!("; it is in {}", drawn.join(", ")),
    };
    note(&format!("note: {what}{elsewhere}"));
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let conditions = limits(&args.gate)?;
    print(args)?;
    if conditions.is_empty() {
        return Ok(Ending::Done);
    }
    let view = RunView::load(&args.run).map_err(bad_input)?;
    args.gate.announce(FailIf::check_run_each(&conditions, &view))
}

/// The conditions, all of which have to be about figures: a report has no baseline.
fn limits(gate: &Gate) -> anyhow::Result<Vec<FailIf>> {
    let conditions = gate.conditions()?;
    let relative = conditions.iter().position(FailIf::is_relative);
    match relative.and_then(|index| gate.texts().get(index)) {
        None => Ok(conditions),
        Some(text) => Err(bad_input(anyhow::anyhow!(
            "--fail-if '{text}' needs a baseline, which a report does not have; `outcrop compare BASELINE RUN --fail-if '{text}'` checks it, and a report takes limits such as 'p99 > 1ms'"
        ))),
    }
}

/// Prints what is asked for, and writes the report.
fn print(args: &Args) -> anyhow::Result<()> {
    let (constraints, prices) = (args.placement.constraints(), args.placement.prices()?);
    let shown = Shown {
        references: args.beside.checked()?,
        constraints: &constraints,
        prices: prices.as_ref(),
    };
    let folder = args.output.as_deref();
    let destination = folder.map_or(Destination::RunIfWritable, Destination::Folder);
    let format = match args.format {
        ReportFormat::Text => Some(Format::Text),
        ReportFormat::Json => Some(Format::Json),
        ReportFormat::Csv => Some(Format::Csv),
        ReportFormat::Markdown => None,
    };
    match format {
        Some(format) => crate::session::conclude(&args.run, format, destination, &shown)?,
        None => {
            let run = RunView::load(&args.run).map_err(bad_input)?;
            crate::session::rewrite(&run, destination, &shown)?;
            let (tables, report) = (cell_table::markdown(&CellTable::of(&run)), shown.report(&run));
            args.beside.note_absence(&report.figures(), None);
            output::print(&format!("{tables}\n{}\n", report.origin()))?;
        }
    }
    if args.one_page {
        let view = RunView::load(&args.run).map_err(bad_input)?;
        let report = shown.report(&view);
        let path = folder.unwrap_or(&args.run).join(report.page_name("one-page"));
        write_atomically(&path, report.to_one_page_html().as_bytes())?;
        note(&format!("For print: {}", path.display()));
    }
    Ok(())
}
