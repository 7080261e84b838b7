//! Column runs for tests: cells put together by hand, each metric given. Nothing here was measured.

use std::collections::BTreeMap;

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_results::{Outcome, RunView, TrialEntry, Value};

/// Trials of each cell.
const REPETITIONS: u32 = 3;

/// Builds a run, cell by cell.
pub(crate) struct Builder {
    run: RunView,
}

/// Sizes of one string column of a file, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct FileColumn {
    pub(crate) name: &'static str,
    pub(crate) rows: f64,
    pub(crate) distinct: f64,
    pub(crate) text: f64,
    pub(crate) balanced: f64,
    pub(crate) smallest: f64,
    pub(crate) zstd: f64,
    /// Median lookup by scan and through postings, in nanoseconds.
    pub(crate) lookups: (f64, f64),
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            run: RunView {
                dir: "runs/20261121T020000Z-columns".into(),
                name: "20261121T020000Z-columns".into(),
                plan: "[run]\nseed = \"0x2a\"\neffort = \"quick\"\n".into(),
                environment: serde_json::Value::Null,
                trials: Vec::new(),
                torn_bytes: 0,
            },
        }
    }

    /// Everything that the plans for a table measure of one of its columns.
    pub(crate) fn of_file(mut self, column: FileColumn) -> Self {
        let counts = [
            ("rows", Unit::Count, column.rows),
            ("distinct_values", Unit::Count, column.distinct),
            ("text_bytes", Unit::Bytes, column.text),
        ];
        for (profile, bytes) in [("balanced", column.balanced), ("smallest", column.smallest)] {
            let factors = [
                ("operation", "encode"),
                ("format", "ocol"),
                ("index", "none"),
                ("profile", profile),
            ];
            let values = [&counts[..], &[("file_bytes", Unit::Bytes, bytes)]].concat();
            self = self.cell(
                "file rocks.csv",
                &[&[("column", column.name)], &factors[..]].concat(),
                &values,
            );
        }
        let text = [
            ("column", column.name),
            ("operation", "encode"),
            ("format", "zstd:19"),
        ];
        let values = [&counts[..], &[("file_bytes", Unit::Bytes, column.zstd)]].concat();
        self = self.cell("file rocks.csv", &text, &values);
        let (scan, postings) = column.lookups;
        for (index, mode, latency, bytes) in [
            ("none", "scan", scan, column.balanced),
            ("postings", "in-memory", postings, column.balanced * 1.5),
        ] {
            let factors = [
                ("column", column.name),
                ("operation", "equality"),
                ("format", "ocol"),
                ("profile", "balanced"),
                ("index", index),
                ("search_mode", mode),
            ];
            let values = [
                ("latency_p50", Unit::Nanoseconds, latency),
                ("file_bytes", Unit::Bytes, bytes),
            ];
            self = self.cell("file rocks.csv", &factors, &values);
        }
        self
    }

    /// A cell of a generated column of a million rows; `factors` and `values` are what is said of it beside.
    pub(crate) fn generated(self, factors: &[(&str, &str)], values: &[(&str, Unit, f64)]) -> Self {
        let column = [("rows", "1000000"), ("distinct", "10000"), ("format", "ocol")];
        let of_column = column
            .iter()
            .filter(|(name, _)| !factors.iter().any(|(given, _)| given == name));
        let all: Vec<_> = of_column.chain(factors).copied().collect();
        self.cell("generated column", &all, values)
    }

    fn cell(mut self, subject: &str, factors: &[(&str, &str)], values: &[(&str, Unit, f64)]) -> Self {
        let factors: BTreeMap<String, String> = factors
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        for repetition in 0..REPETITIONS {
            self.push(subject, &factors, repetition, values);
        }
        self
    }

    fn push(
        &mut self,
        subject: &str,
        factors: &BTreeMap<String, String>,
        repetition: u32,
        values: &[(&str, Unit, f64)],
    ) {
        let number = self.run.trials.len() as u32;
        // One part in a thousand between repetitions, so that every figure has an interval.
        let noise = 1.0 + f64::from(repetition) * 0.001;
        let value = |(metric, unit, value): &(&str, Unit, f64)| Value {
            metric: (*metric).to_owned(),
            unit: *unit,
            value: Some(if *unit == Unit::Nanoseconds {
                value * noise
            } else {
                *value
            }),
            provenance: Provenance::Measured,
            source: None,
        };
        self.run.trials.push(TrialEntry {
            trial: number,
            cell: format!("{subject} {factors:?}"),
            layer: "column".into(),
            subject: subject.to_owned(),
            plans: vec!["column-choice".into()],
            repetition,
            seed: u64::from(number),
            factors: factors.clone(),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: 0.5,
            outcome: Outcome::Completed,
            values: values.iter().map(value).collect(),
            histograms: Vec::new(),
            notes: Vec::new(),
        });
    }

    pub(crate) fn build(self) -> RunView {
        self.run
    }
}
