//! Column runs for tests: cells put together by hand, each metric given. Nothing here was measured.

use outcrop_measure::metric::{Metric, Unit};
use outcrop_results::{Outcome, RunView, TrialEntry, Value};
use outcrop_schema::column::{
    COLUMN, DISTINCT, DISTINCT_VALUES, FILE_BYTES, FORMAT, Format, INDEX, Index, LATENCY, OPERATION, ORDER,
    PARQUET_ZSTD_BYTES, PROFILE, Profile, ROW_COUNT, ROWS, Rows, SCHEMA, SEARCH_MODE, SKEW, STORED_BYTES,
    STORED_FORM, TABLE_ROWS, TEXT_BYTES, THREADS,
};
use outcrop_schema::{FactorRef, Settings, Vocabulary};
use outcrop_workload::column::{Operation, RowOrder, SearchMode};

/// Trials of each cell.
const REPETITIONS: u32 = 3;
/// The table of most tests.
const TABLE: &str = "file rocks.csv";

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
    /// Median lookup on disk without and through postings, in nanoseconds.
    pub(crate) lookups: (f64, f64),
}

/// Sizes of a whole column, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct WholeColumn {
    pub(crate) name: &'static str,
    pub(crate) rows: f64,
    pub(crate) table_rows: f64,
    pub(crate) text: f64,
    pub(crate) ocol: f64,
    pub(crate) stored: f64,
    pub(crate) parquet: f64,
}

/// A column file without an index, as plans have it by default.
pub(crate) fn encoded() -> Settings {
    let mut factors = Settings::defaults(SCHEMA.workload);
    factors.set(&OPERATION, Operation::Encode);
    factors.remove(&SEARCH_MODE);
    factors
}

/// Lookups of a value in a column file.
pub(crate) fn looked_up(index: Index, mode: SearchMode) -> Settings {
    let mut factors = Settings::defaults(SCHEMA.workload);
    factors.set(&OPERATION, Operation::Equality);
    factors.set(&INDEX, index);
    factors.set(&SEARCH_MODE, mode);
    factors.remove(&THREADS);
    factors
}

/// The rows as text under a codec.
fn text_under(codec: &str) -> Settings {
    let mut factors = encoded();
    factors.set(&FORMAT, Format::Text(codec.parse().expect("a codec")));
    let without: [FactorRef; 3] = [&INDEX, &PROFILE, &THREADS];
    without.iter().for_each(|factor| factors.remove(factor.about()));
    factors
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
                vocabulary: Vocabulary::default(),
            },
        }
    }

    /// Everything that the plans for a table measure of one of its columns.
    pub(crate) fn of_file(self, column: FileColumn) -> Self {
        self.of_table(TABLE, column)
    }

    /// The same of a certain table.
    pub(crate) fn of_table(mut self, table: &str, column: FileColumn) -> Self {
        let of_column = |mut factors: Settings| {
            factors.set(&COLUMN, column.name.to_owned());
            factors.set(&ROWS, Rows::All);
            factors
        };
        let sizes = |bytes| {
            [
                (ROW_COUNT, column.rows),
                (DISTINCT_VALUES, column.distinct),
                (TEXT_BYTES, column.text),
                (FILE_BYTES, bytes),
            ]
        };
        for (profile, bytes) in [
            (Profile::Balanced, column.balanced),
            (Profile::Smallest, column.smallest),
        ] {
            let mut factors = of_column(encoded());
            factors.set(&PROFILE, profile);
            self = self.cell(table, &factors, &sizes(bytes));
        }
        self = self.cell(table, &of_column(text_under("zstd:19")), &sizes(column.zstd));
        let (scan, postings) = column.lookups;
        for (index, mode, latency, bytes) in [
            (Index::None, SearchMode::OnDisk, scan, column.balanced),
            (
                Index::Postings,
                SearchMode::OnDisk,
                postings,
                column.balanced * 1.5,
            ),
        ] {
            let values = [(LATENCY.p50, latency), (FILE_BYTES, bytes)];
            self = self.cell(table, &of_column(looked_up(index, mode)), &values);
        }
        self
    }

    /// What the plan about whole columns measures of one, in a file in which it is dictionary-encoded.
    pub(crate) fn of_whole(mut self, column: WholeColumn) -> Self {
        let mut factors = Settings::defaults(SCHEMA.workload);
        factors.set(&OPERATION, Operation::Size);
        factors.set(&COLUMN, column.name.to_owned());
        factors.set(&ROWS, Rows::All);
        let without: [FactorRef; 3] = [&INDEX, &THREADS, &SEARCH_MODE];
        without.iter().for_each(|factor| factors.remove(factor.about()));
        let values = [
            (ROW_COUNT, column.rows),
            (TABLE_ROWS, column.table_rows),
            (TEXT_BYTES, column.text),
            (FILE_BYTES, column.ocol),
            (STORED_BYTES, column.stored),
            (PARQUET_ZSTD_BYTES, column.parquet),
        ];
        let before = self.run.trials.len();
        self = self.cell("file orders.parquet", &factors, &values);
        for trial in &mut self.run.trials[before..] {
            let form = "in this file (dictionary→plain, Snappy)";
            trial.notes.push(STORED_FORM.remark(form));
        }
        self
    }

    /// A cell of a generated column of a million rows in random order; `factors` say what is done with it, and may say more of it.
    pub(crate) fn generated(self, mut factors: Settings, values: &[(Metric, f64)]) -> Self {
        factors.set_default(&ROWS, Rows::Count(1_000_000));
        factors.set_default(&DISTINCT, 10_000);
        factors.set_default(&SKEW, 0.0);
        factors.set_default(&ORDER, RowOrder::default());
        self.cell("generated column", &factors, values)
    }

    fn cell(mut self, subject: &str, factors: &Settings, values: &[(Metric, f64)]) -> Self {
        for repetition in 0..REPETITIONS {
            self.push(subject, factors, repetition, values);
        }
        self
    }

    fn push(&mut self, subject: &str, factors: &Settings, repetition: u32, values: &[(Metric, f64)]) {
        let number = self.run.trials.len() as u32;
        // One part in a thousand between repetitions, so that every time has an interval.
        let noise = 1.0 + f64::from(repetition) * 0.001;
        let value = |(metric, value): &(Metric, f64)| match metric.unit {
            Unit::Nanoseconds => Value::measured(*metric, value * noise),
            _ => Value::measured(*metric, *value),
        };
        self.run.trials.push(TrialEntry {
            trial: number,
            cell: format!("{subject} {factors:?}"),
            layer: SCHEMA.name.into(),
            subject: subject.to_owned(),
            plans: vec!["column-choice".into()],
            repetition,
            seed: u64::from(number),
            factors: factors.spellings(),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: 0.5,
            data: None,
            variant: None,
            took_s: None,
            others_cpu_share: None,
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
