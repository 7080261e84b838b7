//! `outcrop predict`: what compressing at a place would do to an application, from figures of both.

mod input;
mod words;

use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table};
use outcrop_measure::Unit;
use outcrop_measure::units::format_with_range;
use outcrop_predict::{CHECKED_ON, Case, Energy, ModelError, PUBLISHED, Prediction, Study};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop predict --application store.toml            with the published components that ship
  outcrop predict --application store.csv --components mine.toml,more.csv
  outcrop predict --application store.toml --measured results.csv    with the model's error
  outcrop predict --application store.toml --clients 1,16,64 --format csv
  outcrop predict --run runs/…            stores of a run under its codecs, with the error
  outcrop predict --run runs/… --application store.toml --components mine.toml
                                          your figures, with the model's error in that run
  outcrop predict --print-components > mine.csv       the published components, to start from

store.toml:
  [[application]]
  name = \"store, read-mostly\"
  clients = 40                         # threads that each wait for their operation
  throughput = \"212k\"                  # operations/s without compression, with these clients
  block_size = \"16KiB\"
  decompressed_blocks = 0.62           # per operation, in the clients' path
  compressed_blocks_background = 0.05  # per operation, by flush and compaction
  unloaded_latency = \"180us\"           # of a lone operation; --clients needs this and the next two
  cpu = \"60us\"                         # its CPU time
  cores = 16                           # that all of this runs on

mine.toml:
  [[component]]
  name = \"card A\"
  place = \"accelerator\"                # or cpu, drive
  decompress_latency = \"14us@4KiB, 63us@64KiB\"
  compress_latency = \"20.6us + 2.1ns/B\"
  decompress_throughput = \"7.2GB/s@4KiB, 12.9GB/s@64KiB\"
  units = 30

results.csv:
  application,component,throughput
  \"store, read-mostly\",DPZip,205k
  \"store, read-mostly\",QAT 4XXX,198k

CSV files use the same names for their columns. docs/predict.md lists them all. Nothing is measured.

Predictions have no p99 and take no limits. Runs of `outcrop profile --data DATA` and `outcrop kv`
have both: `outcrop report RUN --min-ratio 2 --p99 2ms` says where to compress under limits, with
modelled hardware.";

/// Predict how compression in a given place affects an application
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Applications: TOML or CSV, or - for stdin
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present_any = ["print_components", "run"],
        value_delimiter = ','
    )]
    application: Vec<String>,
    /// Components: TOML or CSV files, or the shipped asic-components
    #[arg(long, value_name = "FILE", value_delimiter = ',', default_value = PUBLISHED[0].0)]
    components: Vec<String>,
    /// Measured throughputs, TOML or CSV: used for the model's error and for the intervals of other predictions
    #[arg(long, value_name = "FILE")]
    measured: Option<String>,
    /// A run of predict-software and predict-codecs: predict its stores under each codec, and show the error; with --application, predict the application with this error
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// Numbers of clients to predict for [default: predict_clients of the file, else the measured number]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    clients: Vec<u32>,
    /// Print the published components as CSV and exit
    #[arg(long, exclusive = true)]
    print_components: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if args.print_components {
        output::print(PUBLISHED[0].2)?;
        return Ok(Ending::Done);
    }
    let (system, of_run) = input::systems(args)?;
    let mut study = system.study().map_err(bad_input)?;
    if !args.application.is_empty() {
        input::refuse_twice(&study)?;
    }
    if let Some(of_run) = &of_run {
        study = study.joined(of_run.study().map_err(bad_input)?);
    }
    let libraries = &of_run.as_ref().unwrap_or(&system).libraries;
    let mut table = columns(&study);
    for case in &study.cases {
        table.push(row(case));
    }
    match args.format {
        Format::Text => {
            table.print(Format::Text)?;
            output::print(&words::below(&study, libraries))?;
            Ok(Ending::Done)
        }
        Format::Csv => {
            table.print(Format::Csv)?;
            Ok(Ending::Done)
        }
        Format::Json => {
            let envelope = table
                .in_envelope()
                .with_detail("model_error", error_json(&study))
                .with_detail(
                    "model_error_on_published_hardware",
                    published_json(&study.published),
                )
                .with_detail("libraries", serde_json::json!(libraries));
            output::print(&output::pretty_json(&envelope)?)?;
            Ok(Ending::Done)
        }
    }
}

/// The columns; people see those that some case has a figure for.
fn columns(study: &Study<'_>) -> Table {
    let found = || study.cases.iter().filter_map(|case| case.outcome.as_ref().ok());
    let shown = |heading: &'static str, is_any: bool| if is_any { heading } else { "" };
    let has_energy = found().any(|found| matches!(found.energy, Energy::PerOperation(_)));
    let has_ratio = study
        .cases
        .iter()
        .any(|case| case.component.is_some_and(|own| own.ratio.is_some()));
    let has_measured = study.cases.iter().any(|case| case.measured.is_some());
    Table::new([
        ("application", "application"),
        ("clients", "clients"),
        ("component", "component"),
        ("place", "place"),
        ("predicted", "predicted_throughput_1/s"),
        ("", "predicted_low_1/s"),
        ("", "predicted_high_1/s"),
        ("", "confidence"),
        ("of uncompressed", "of_uncompressed"),
        ("latency", "predicted_latency_ns"),
        ("limited by", "binding_station"),
        (
            shown("CPU", found().any(|found| found.cpu_share.is_some())),
            "cpu_share",
        ),
        (shown("ratio", has_ratio), "compression_ratio"),
        (shown("energy", has_energy), "energy_per_operation_J"),
        (shown("measured", has_measured), "measured_throughput_1/s"),
        (shown("error", has_measured), "prediction_error"),
        ("provenance", "provenance"),
        ("", "assumptions"),
        ("", "source"),
    ])
}

fn row(case: &Case<'_>) -> Vec<Cell> {
    let name = case.component.map_or("none", |component| &component.name);
    let place = case.component.map_or("", |component| component.place.name());
    let ratio = case
        .component
        .and_then(|component| component.ratio_at(case.application.block_size_bytes));
    let source = case
        .component
        .map_or(&case.application.source, |component| &component.source);
    let named = [
        Cell::text(&case.application.name),
        clients(case),
        Cell::text(name),
        Cell::text(place),
    ];
    let tail = [
        Cell::text(provenance(case)),
        Cell::text(
            case.outcome
                .as_ref()
                .map_or_else(ToString::to_string, |found| found.assumptions.join("; ")),
        ),
        Cell::text(source.as_deref().unwrap_or("")),
    ];
    let figures = match &case.outcome {
        Ok(found) => figures(case, found, ratio),
        Err(reason) => std::array::from_fn(|_| Cell::Absent(reason.to_string())),
    };
    named.into_iter().chain(figures).chain(tail).collect()
}

/// The number of clients, as far as anybody said it.
fn clients(case: &Case<'_>) -> Cell {
    case.load().map_or_else(
        || Cell::Absent("the file does not give it".to_owned()),
        |clients| Cell::number(clients, Unit::Count.format(clients)),
    )
}

fn figures(case: &Case<'_>, found: &Prediction, ratio: Option<f64>) -> [Cell; 12] {
    let rate = |value: f64| Unit::PerSecond.format(value);
    let no_interval = "unvalidated: no measured pair of another component";
    let absent = |reason: &str| Cell::Absent(reason.to_owned());
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let (predicted, [low, high, confidence]) = match case.interval {
        Some(interval) => (
            format_with_range(&rate(found.throughput), &rate(interval.low), &rate(interval.high)),
            [
                Cell::number(interval.low, rate(interval.low)),
                Cell::number(interval.high, rate(interval.high)),
                Cell::number(interval.confidence, percent(interval.confidence)),
            ],
        ),
        None => {
            // A bare number beside others with intervals would look like the most certain.
            let bare = if case.component.is_some() {
                ", no interval"
            } else {
                ""
            };
            (
                format!("{}{bare}", rate(found.throughput)),
                std::array::from_fn(|_| absent(no_interval)),
            )
        }
    };
    let of_uncompressed = found.throughput / found.uncompressed;
    [
        Cell::number(found.throughput, predicted),
        low,
        high,
        confidence,
        Cell::number(of_uncompressed, percent(of_uncompressed)),
        Cell::number(found.latency_ns, Unit::Nanoseconds.format(found.latency_ns)),
        Cell::text(found.binding.to_string()),
        found.cpu_share.map_or_else(
            || match found.least_cpu_share {
                Some(_) => absent("the component's cpu_per_block is not given"),
                None => absent("cpu and cores are not given"),
            },
            |share| Cell::number(share, percent(share)),
        ),
        ratio.map_or_else(
            || absent("no ratio is given"),
            |ratio| Cell::number(ratio, Unit::Ratio.format(ratio)),
        ),
        match &found.energy {
            Energy::PerOperation(joules) => Cell::number(*joules, Unit::Joules.format(*joules)),
            Energy::NotPredictable(reason) => absent(reason),
            Energy::NotAsked => absent("no power is given"),
        },
        case.measured.map_or_else(
            || absent("not measured"),
            |value| Cell::number(value, rate(value)),
        ),
        case.measured.map_or_else(
            || absent("not measured"),
            |value| {
                let error = found.throughput / value - 1.0;
                Cell::number(error, format!("{:+.0} %", error * 100.0))
            },
        ),
    ]
}

/// A prediction is never more than modelled, and says whether anybody checked the model.
fn provenance(case: &Case<'_>) -> &'static str {
    match (&case.outcome, case.component) {
        (Err(_), _) => "not predictable",
        (Ok(found), None) if is_given(case, found) => "as given",
        (Ok(_), _) if case.is_validated => "modelled",
        (Ok(_), _) => "modelled, unvalidated",
    }
}

/// Whether the figures without compression are those that were given, and neither of another load nor within what the other figures allow.
fn is_given(case: &Case<'_>, found: &Prediction) -> bool {
    let is_same = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-6;
    let given = case.application;
    match (given.throughput, given.latency_ns) {
        (Some(throughput), _) => is_same(found.throughput, throughput),
        (None, Some(latency_ns)) => is_same(found.latency_ns, latency_ns),
        (None, None) => false,
    }
}

fn error_json(study: &Study<'_>) -> serde_json::Value {
    let error = &study.error;
    let Some((mean, worst)) = error.mean().zip(error.worst()) else {
        return serde_json::json!({ "unavailable": "unvalidated: no measured pair" });
    };
    let ranking = error.ranking();
    serde_json::json!({
        "pairs": error.checked().len(),
        "mean": mean,
        "worst": worst,
        "coverage": study.coverage().map(outcrop_predict::Coverage::share),
        "measured_within_intervals": study.coverage().map(|coverage| coverage.within),
        "least_confidence": study.coverage().map(|coverage| coverage.least_confidence),
        "measured_with_intervals": study.coverage().map(|coverage| coverage.of),
        "ordered_pairs": ranking.pairs,
        "ordered_right": ranking.right,
        "regret": ranking.regret,
        "worst_regret": ranking.worst_regret,
    })
}

/// The error that intervals of hardware contain at least.
fn published_json(error: &ModelError) -> serde_json::Value {
    let Some((mean, worst)) = error.mean().zip(error.worst()) else {
        return serde_json::json!({ "unavailable": "no hardware is predicted" });
    };
    serde_json::json!({
        "pairs": error.checked().len(),
        "mean": mean,
        "worst": worst,
        "of": CHECKED_ON,
    })
}
