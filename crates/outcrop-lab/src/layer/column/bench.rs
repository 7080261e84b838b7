//! Columns made or read when a trial first asks for them, and one trial after the other on them.

use std::collections::btree_map::{BTreeMap, Entry};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use outcrop_column_bench::tabular::{Given, Table, TableColumn};
use outcrop_column_bench::{
    BenchError, ColumnInput, Operation, Site, WholeReport, run, whole_column, whole_input,
};
use outcrop_measure::metric::Unavailable;
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_results::{DataIdentity, Value};
use outcrop_schema::FactorRef;
use outcrop_schema::column::{
    COLUMN, DISTINCT, OPERATION, ORDER, PATH, ROWS, Rows, SKEW, TABLE_ROWS, TEXT_LIMIT,
};

use super::{parameters, values};
use crate::cell::Cell;
use crate::layer::kept::Kept;
use crate::layer::{Bench, Preparation, TrialFailure, TrialReport};
use crate::order::Trial;

/// Tables by where they are and by what is said of how they are read.
type Tables = BTreeMap<(PathBuf, Given), Table>;

/// The columns of a run.
#[derive(Debug)]
pub(super) struct ColumnBench<'r> {
    directory: &'r Path,
    clock: Clock,
    stop: &'r AtomicBool,
    seed: Seed,
    columns: Kept<ColumnInput>,
    /// The user's files and folders as they were when first asked for.
    tables: Tables,
    /// The data of each cell that was measured.
    data: BTreeMap<String, DataIdentity>,
}

impl<'r> ColumnBench<'r> {
    pub(super) fn new(preparation: &Preparation<'r, '_>) -> Self {
        Self {
            directory: preparation.directory,
            clock: Clock::new(),
            stop: preparation.stop,
            seed: preparation.seed.derive("column"),
            columns: Kept::new(|column| column.text().len()),
            tables: BTreeMap::new(),
            data: BTreeMap::new(),
        }
    }

    /// Notes which rows a cell works on, the first time it is asked.
    fn note_data(&mut self, cell: &Cell, input: &ColumnInput) {
        if self.data.contains_key(&cell.id) {
            return;
        }
        let taken = input.fingerprint();
        let is_made = parameters::column_spec(&cell.factors, self.seed).is_some();
        let identity = DataIdentity {
            // Factors say all that there is to say of a column that was made.
            whole: if is_made {
                "generated".to_owned()
            } else {
                taken.clone()
            },
            taken,
            taken_bytes: input.text().len() as u64,
        };
        self.data.insert(cell.id.clone(), identity);
    }

    /// Sizes of the cell's whole column.
    fn whole(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, BenchError> {
        let start = self.clock.ticks();
        let report = self.measure_whole(cell, trial.seed)?;
        let elapsed_s = self.clock.nanos(self.clock.ticks() - start) as f64 / 1e9;
        let settings = &cell.subject.settings;
        let path = settings.get(&PATH).map(PathBuf::from);
        let table = path.and_then(|path| self.tables.get(&(path, parameters::given(settings))));
        Ok(values::whole_report(&report, table, elapsed_s))
    }

    /// Reads it once, and notes which rows those are.
    fn measure_whole(&mut self, cell: &Cell, seed: Seed) -> Result<WholeReport, BenchError> {
        let spec = parameters::bench_spec(&cell.factors, &cell.trial, seed);
        let is_made = parameters::column_spec(&cell.factors, self.seed).is_some();
        let report = if is_made {
            whole_input(&*self.input(cell)?, &spec, self.stop)?
        } else {
            let limit = cell.factors.value(&TEXT_LIMIT).0;
            whole_column(table_and_column(&mut self.tables, cell)?, &spec, limit, self.stop)?
        };
        // Each time: it may be another file by now.
        let identity = DataIdentity {
            whole: if is_made {
                "generated".to_owned()
            } else {
                report.fingerprint.clone()
            },
            taken: report.fingerprint.clone(),
            taken_bytes: report.size.text_bytes,
        };
        self.data.insert(cell.id.clone(), identity);
        Ok(report)
    }

    /// How many rows the user's table has, of which these are the first; none for columns that were made.
    fn table_rows(&mut self, cell: &Cell, input: &ColumnInput) -> Option<Value> {
        cell.factors.get(&COLUMN)?;
        let (table, _, column) = table_and_column(&mut self.tables, cell).ok()?;
        let is_whole = match cell.factors.value(&ROWS) {
            Rows::All => true,
            Rows::Count(rows) => input.row_count() < *rows,
        };
        let rows = table
            .row_count(column)
            .or(is_whole.then(|| input.row_count()))
            .map(|rows| rows as f64);
        let rows = rows.ok_or_else(|| {
            Unavailable::because("the file does not say how many rows it has, and was not read to its end")
        });
        Some(Value::known(TABLE_ROWS, rows))
    }

    fn input(&mut self, cell: &Cell) -> Result<Rc<ColumnInput>, BenchError> {
        let (tables, seed, stop) = (&mut self.tables, self.seed, self.stop);
        self.columns
            .get_or_make(&key_of(cell), || make(tables, seed, cell, stop))
    }
}

/// The user's table as it was when first asked for, with the column of a cell.
fn table_and_column<'t>(
    tables: &'t mut Tables,
    cell: &'t Cell,
) -> Result<(&'t Table, &'t Path, &'t TableColumn), BenchError> {
    let path = Path::new(cell.subject.settings.value(&PATH));
    let given = parameters::given(&cell.subject.settings);
    let table: &'t Table = match tables.entry((path.to_owned(), given)) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let table = Table::describe_as(path, &place.key().1)?;
            place.insert(table)
        }
    };
    let name = cell.factors.value(&COLUMN);
    let column = table.column(name).ok_or_else(|| BenchError::Table {
        path: path.to_owned(),
        detail: format!("the column {name:?} is missing: the file has changed since the run began"),
    })?;
    Ok((table, path, column))
}

fn make(tables: &mut Tables, seed: Seed, cell: &Cell, stop: &AtomicBool) -> Result<ColumnInput, BenchError> {
    if let Some(spec) = parameters::column_spec(&cell.factors, seed) {
        return Ok(ColumnInput::generate(&spec));
    }
    let (table, path, column) = table_and_column(tables, cell)?;
    let limit = match cell.factors.value(&ROWS) {
        Rows::All => u64::MAX,
        Rows::Count(rows) => *rows,
    };
    table.load(path, column, limit, stop)
}

/// What makes the cell's column the one it is.
fn key_of(cell: &Cell) -> String {
    let factors: [FactorRef; 5] = [&COLUMN, &ROWS, &DISTINCT, &SKEW, &ORDER];
    let factors = factors
        .iter()
        .filter_map(|factor| cell.factors.spelling(factor.about()));
    let settings = cell.subject.settings.iter();
    settings
        .map(|(name, setting)| format!("{name}={}", setting.spelling()))
        .chain(factors.map(str::to_owned))
        .collect::<Vec<_>>()
        .join("\0")
}

impl Bench for ColumnBench<'_> {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        if *cell.factors.value(&OPERATION) == Operation::Size {
            return match self.whole(cell, trial) {
                Err(BenchError::Interrupted) => Ok(TrialReport::interrupted()),
                whole => whole.map_err(|error| failure(&error)),
            };
        }
        let input = match self.input(cell) {
            Err(BenchError::Interrupted) => return Ok(TrialReport::interrupted()),
            input => input.map_err(|error| failure(&error))?,
        };
        self.note_data(cell, &input);
        let spec = parameters::bench_spec(&cell.factors, &cell.trial, trial.seed);
        let site = Site {
            directory: self.directory,
            clock: &self.clock,
            stop: self.stop,
        };
        match run(&input, &spec, &site) {
            Ok(report) => {
                let mut report = values::trial_report(&report, spec.operation);
                report.values.extend(self.table_rows(cell, &input));
                Ok(report)
            }
            Err(BenchError::Interrupted) => Ok(TrialReport::interrupted()),
            Err(BenchError::Unavailable(why)) => Ok(values::absent(spec.operation, &why)),
            Err(error) => Err(failure(&error)),
        }
    }

    fn data(&self, cell: &Cell) -> Option<DataIdentity> {
        self.data.get(&cell.id).cloned()
    }

    fn identify(&mut self, cell: &Cell) -> Result<Option<DataIdentity>, TrialFailure> {
        // A whole column, which need not fit in memory, is read as its sizes are measured.
        let known = match *cell.factors.value(&OPERATION) {
            Operation::Size => self.measure_whole(cell, self.seed).map(|_| ()),
            _ => self.input(cell).map(|input| self.note_data(cell, &input)),
        };
        match known {
            Ok(()) | Err(BenchError::Interrupted) => {}
            Err(error) => return Err(failure(&error)),
        }
        Ok(self.data(cell))
    }
}

fn failure(error: &BenchError) -> TrialFailure {
    TrialFailure {
        is_fatal: matches!(error, BenchError::Path { .. } | BenchError::Scratch { .. }),
        ..TrialFailure::of(error)
    }
}
