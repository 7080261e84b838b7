//! Columns made or read when a trial first asks for them, and one trial after the other on them.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use outcrop_column_bench::tabular::Table;
use outcrop_column_bench::{BenchError, ColumnInput, Site, run};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;

use super::{ALL_ROWS, GENERATED, parameters, values};
use crate::cell::Cell;
use crate::layer::{Bench, Preparation, TrialFailure, TrialReport, parsed};
use crate::order::Trial;

/// Text of columns that is kept for later trials; a column that has gone is made anew, the same.
const KEPT_BYTES: usize = 512 << 20;

/// The columns of a run.
#[derive(Debug)]
pub(super) struct ColumnBench<'r> {
    directory: &'r Path,
    clock: Clock,
    stop: &'r AtomicBool,
    seed: Seed,
    /// Which column, and its rows; the newest first.
    kept: VecDeque<(String, Rc<ColumnInput>)>,
    /// The user's files and folders as they were when first asked for.
    tables: BTreeMap<PathBuf, Table>,
}

impl<'r> ColumnBench<'r> {
    pub(super) fn new(preparation: &Preparation<'r, '_>) -> Self {
        Self {
            directory: preparation.directory,
            clock: Clock::new(),
            stop: preparation.stop,
            seed: preparation.seed.derive("column"),
            kept: VecDeque::new(),
            tables: BTreeMap::new(),
        }
    }

    fn input(&mut self, cell: &Cell) -> Result<Rc<ColumnInput>, BenchError> {
        let key = key_of(cell);
        if let Some(position) = self.kept.iter().position(|(known, _)| *known == key) {
            let found = self.kept.remove(position).expect("it was just found");
            let input = Rc::clone(&found.1);
            self.kept.push_front(found);
            return Ok(input);
        }
        let input = Rc::new(self.make(cell)?);
        self.kept.push_front((key, Rc::clone(&input)));
        while self.kept.len() > 1
            && self.kept.iter().map(|(_, kept)| kept.text().len()).sum::<usize>() > KEPT_BYTES
        {
            self.kept.pop_back();
        }
        Ok(input)
    }

    fn make(&mut self, cell: &Cell) -> Result<ColumnInput, BenchError> {
        if cell.subject.settings["kind"] == GENERATED {
            return Ok(ColumnInput::generate(&parameters::column_spec(
                &cell.factors,
                self.seed,
            )));
        }
        let path = Path::new(&cell.subject.settings["path"]);
        let table = match self.tables.entry(path.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Table::describe(path)?),
        };
        let name = cell.factor("column");
        let column = table.column(name).ok_or_else(|| BenchError::Table {
            path: path.to_owned(),
            detail: format!("no column {name:?} any more; the file has changed since the run began"),
        })?;
        let rows = cell.factor("rows");
        let limit = if rows == ALL_ROWS { u64::MAX } else { parsed(rows) };
        table.load(path, column, limit)
    }
}

/// What makes the cell's column the one it is.
fn key_of(cell: &Cell) -> String {
    let factors = ["column", "rows", "distinct", "skew", "order"];
    let factors = factors.iter().filter_map(|name| cell.factors.get(*name));
    let settings = cell.subject.settings.values();
    settings
        .chain(factors)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\0")
}

impl Bench for ColumnBench<'_> {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        let input = self.input(cell).map_err(|error| failure(&error))?;
        let spec = parameters::bench_spec(&cell.factors, &cell.trial, trial.seed);
        let site = Site {
            directory: self.directory,
            clock: &self.clock,
            stop: self.stop,
        };
        match run(&input, &spec, &site) {
            Ok(report) => Ok(values::trial_report(&report, spec.operation)),
            Err(BenchError::Interrupted) => Ok(TrialReport::interrupted()),
            Err(error) => Err(failure(&error)),
        }
    }
}

fn failure(error: &BenchError) -> TrialFailure {
    TrialFailure {
        message: error.to_string(),
        is_fatal: matches!(error, BenchError::Path { .. } | BenchError::Scratch { .. }),
    }
}
