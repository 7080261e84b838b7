//! Messages about plans, runs, their reports, figures and comparison.

use std::io;
use std::path::PathBuf;

use outcrop_lab::LabError;
use outcrop_report::{ExportError, ReportError};
use outcrop_results::ResultsError;
use outcrop_results::compare::{NotComparable, Side, Undecided, Whose};

use super::{denied, hold, text};

#[test]
fn of_plans_and_reports() {
    let run = || PathBuf::from("runs/20261121T020304Z-mine");
    hold(
        "lab",
        include_str!("../../../../../outcrop-lab/src/error.rs"),
        [
            LabError::BadPlan {
                at: text("mine.toml:6:1"),
                message: text("unknown key `queue_dpeth`; did you mean `queue_depth`?"),
            },
            LabError::NoPlan {
                name: text("ssd-queue-dept"),
            },
            LabError::ReadPlan {
                path: PathBuf::from("mine.toml"),
                source: denied(),
                meant: None,
            },
            LabError::OverBudget {
                budget: text("1ms"),
                trials: 40,
                shortest: text("6s"),
            },
            LabError::CannotResume {
                path: run(),
                reason: text("its plan was edited"),
            },
            LabError::OtherData {
                path: run(),
                subject: text("rocks.csv 667 kB"),
            },
            LabError::LayerFailed {
                layer: text("device"),
                message: text("a job thread failed"),
            },
            LabError::Fatal {
                message: text("the filesystem is full"),
                finished: 12,
                run: run(),
                is_bad_input: false,
            },
            LabError::StoppedInPreparation,
            LabError::NoTimeLeft { seconds: 90 },
        ],
    );
    hold(
        "report",
        include_str!("../../../../../outcrop-report/src/error.rs"),
        [
            ReportError::Write(ResultsError::Locked { path: run() }),
            ReportError::Io {
                action: "write",
                path: run(),
                source: denied(),
            },
            ReportError::Json(serde_json::from_str::<u8>("x").unwrap_err()),
        ],
    );
}

#[test]
fn of_figures() {
    hold(
        "figure",
        include_str!("../../../../../outcrop-report/src/chart/export.rs"),
        [
            ExportError::Width(5.0),
            ExportError::TooLarge,
            ExportError::Png(text("a dimension is 0")),
            ExportError::Font(ttf_parser::FaceParsingError::MalformedFont),
            ExportError::Csv(io::Error::from_raw_os_error(libc::EACCES).into()),
            ExportError::Io(denied()),
        ],
    );
}

#[test]
fn of_runs() {
    let run = || PathBuf::from("runs/20261121T020304Z-mine");
    hold(
        "results",
        include_str!("../../../../../outcrop-results/src/error.rs"),
        [
            ResultsError::Io {
                action: "read",
                path: run(),
                cause: denied(),
            },
            ResultsError::NoSpace {
                run: run(),
                finished: 12,
            },
            ResultsError::NotARun {
                path: run(),
                reason: text("it has no trials.ndjson"),
            },
            ResultsError::Locked { path: run() },
            ResultsError::DamagedJournal {
                path: run().join("trials.ndjson"),
                line: 3,
                reason: text("expected value"),
            },
            ResultsError::DamagedEnvironment {
                path: run().join("environment.json"),
                reason: text("expected value"),
            },
            ResultsError::AlreadyFinished {
                cell: text("d0c0ffee"),
                repetition: 2,
            },
            ResultsError::BadRunName { name: text("a/b") },
            ResultsError::Parquet {
                path: run().join("records.parquet"),
                reason: text("the footer is missing"),
            },
            ResultsError::DamagedHistogram {
                context: text("trial 7"),
                operation: text("read"),
                interval_index: 3,
                reason: text("it is not base64"),
            },
            ResultsError::BadReference {
                file: text("mine.csv"),
                line: 3,
                reason: text("unknown unit `IOPS`"),
            },
            ResultsError::UnknownReference {
                name: text("toshiba"),
                shipped: vec!["toshiba-kxg60znv256g-fio"],
            },
            ResultsError::Export { cause: denied() },
            ResultsError::BadAssumption {
                assumption: text("colour=blue"),
                reason: text("no publication states a colour"),
            },
            ResultsError::BadCondition {
                condition: text("p99 5%"),
                reason: text("expected < or >"),
            },
            ResultsError::UnknownMetric {
                metric: text("p98"),
                available: vec![text("iops"), text("latency_p99")],
            },
            ResultsError::NothingToCheck {
                metric: text("latency_p99"),
                reason: text("the data differ"),
            },
        ],
    );
}

#[test]
fn of_comparisons() {
    use outcrop_measure::metric::Unit;

    let (metric, side) = (|| text("latency_p99"), Side::Baseline);
    hold(
        "not-comparable",
        include_str!("../../../../../outcrop-results/src/compare/reason.rs"),
        [
            NotComparable::MetricMissing {
                side,
                metric: metric(),
            },
            NotComparable::UndefinedMetric { metric: metric() },
            NotComparable::Unavailable {
                side,
                reason: text("too few operations"),
            },
            NotComparable::UnitDiffers {
                baseline: Unit::Bytes,
                candidate: Unit::Ratio,
            },
            NotComparable::Modelled { side },
            NotComparable::DataDiffer {
                baseline: text("orders.csv 1 MiB"),
                candidate: text("plays.csv 1 MiB"),
            },
            NotComparable::SampleSizeDiffers {
                baseline: 1 << 20,
                candidate: 1 << 21,
            },
            NotComparable::ConditionDiffers {
                condition: text("span"),
                baseline: text("1GiB"),
                candidate: text("all"),
            },
            NotComparable::ConditionNotStated {
                condition: text("state"),
                side,
                whose: Whose::Publication,
            },
            NotComparable::TrialLengthDiffers {
                baseline_ns: 30_000_000,
                candidate_ns: 1_500_000_000,
            },
            NotComparable::SeveralSubjects {
                baseline: text("/mnt/a/f"),
                candidate: text("/srv/x/f"),
            },
            NotComparable::SetByFactor {
                factor: text("read write mix"),
                baseline: text("100:0"),
                candidate: text("70:30"),
            },
            NotComparable::Zero {
                side,
                is_always: false,
            },
        ],
    );
    hold(
        "undecided",
        include_str!("../../../../../outcrop-results/src/compare/verdict.rs"),
        [
            Undecided::FewRepetitions,
            Undecided::FewPairs,
            Undecided::FewBesidePublished,
            Undecided::BothPublished,
            Undecided::OncePerRun,
            Undecided::OtherSample,
            Undecided::NoRatio,
            Undecided::Wide,
            Undecided::Chance,
            Undecided::Drift,
            Undecided::Load,
            Undecided::Definition,
        ],
    );
}
