//! The one JSON shape of every command, `outcrop/1`; its JSON Schema is `docs/format/outcrop-1.schema.json`.
//!
//! What a command measured is in `cells`; what it says about it is in `findings` and `advice`; a plain list (plans, codecs, rows of
//! a comparison) is in `rows`; and what only one command has is in `details`. Lists that have nothing are empty, never absent.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cells::CellJson;

/// Name and version of the shape; a change that a reader would notice gets another number.
pub const SHAPE: &str = "outcrop/1";

/// One answer of one command, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Envelope {
    /// [`SHAPE`].
    pub schema: &'static str,
    /// The command, as it was typed: `device`, `cache load`.
    pub command: String,
    /// Version of outcrop.
    pub version: &'static str,
    /// The machine, as the probe wrote it at the start of the run; null where nothing was measured.
    pub environment: Value,
    /// What was measured, each once.
    pub subjects: Vec<String>,
    /// What it gave: a cell per combination of factors.
    pub cells: Vec<CellJson>,
    /// Sentences checked against the records, each with its verdict.
    pub findings: Vec<Value>,
    /// What to configure, and why.
    pub advice: Vec<Value>,
    /// Rows of a plain list.
    pub rows: Vec<Value>,
    /// What only this command has.
    pub details: Map<String, Value>,
}

impl Envelope {
    /// An answer of a command that says nothing yet.
    pub fn of(command: impl Into<String>) -> Self {
        Self {
            schema: SHAPE,
            command: command.into(),
            version: env!("CARGO_PKG_VERSION"),
            environment: Value::Null,
            subjects: Vec::new(),
            cells: Vec::new(),
            findings: Vec::new(),
            advice: Vec::new(),
            rows: Vec::new(),
            details: Map::new(),
        }
    }

    /// The same with these cells and their subjects.
    #[must_use]
    pub fn with_cells(mut self, cells: Vec<CellJson>) -> Self {
        let subjects: BTreeSet<String> = cells.iter().map(|cell| cell.subject.clone()).collect();
        self.subjects = subjects.into_iter().collect();
        self.cells = cells;
        self
    }

    /// The same with the machine that it holds for.
    #[must_use]
    pub fn on(mut self, environment: Value) -> Self {
        self.environment = environment;
        self
    }

    /// The same with these rows of a plain list.
    #[must_use]
    pub fn with_rows(mut self, rows: Vec<Value>) -> Self {
        self.rows = rows;
        self
    }

    /// The same with one more thing that only this command has. A seed must be given as a string: JavaScript holds no 64 bits.
    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}
