//! Published figures in the tidy form of records: what ships in the binary, and a user's own files.
//!
//! A reference is a CSV file with a header. `subject`, `metric`, `unit`, `value` and `source` are required,
//! `layer` is optional (`device` when absent), `provenance` is `published` where it stands, and every other column is a factor by its name. Figures are
//! converted to base units (MB/s to B/s, µs to ns), `io_block_size_kib` becomes `io_block_size` in the
//! plan's spelling, and a condition that the publication does not give (span, state of the device, queue
//! depth, block size) stands there as [`NOT_STATED`], so that nobody can overlook it.

mod csv_rows;
mod shipped;
mod unit_scale;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_probe::user_file;
use outcrop_schema::Vocabulary;
use serde::Serialize;

use crate::error::ResultsError;
pub use crate::factors::NOT_STATED;
use shipped::{SHIPPED, Shipped};

/// No table of published figures is larger; what is has to be something else.
const MOST_BYTES: u64 = 64 << 20;

/// What kind of publication the figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferenceKind {
    /// Somebody measured it and published the figures.
    Measurement,
    /// A vendor claims it.
    Datasheet,
}

/// One published figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceRow {
    /// Line in the file, from 1.
    pub line: u64,
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// Workload and conditions; what is not known is [`NOT_STATED`].
    pub factors: BTreeMap<String, String>,
    /// Metric name, as in records.
    pub metric: String,
    /// Base unit of the value.
    pub unit: Unit,
    /// The figure in that unit.
    pub value: f64,
    /// Always `published`.
    pub provenance: Provenance,
    /// Where it was published.
    pub source: String,
}

/// Published figures under one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    /// Short name for the command line: the file's name without `.csv`.
    pub name: String,
    /// What it is, for a person.
    pub title: String,
    /// Measured by somebody, or claimed by a vendor.
    pub kind: ReferenceKind,
    /// What a reader must know before relying on the figures; of a user's own file, which columns its layer has no factor for.
    pub caveats: Vec<String>,
    /// The figures.
    pub rows: Vec<ReferenceRow>,
}

/// The references that ship in the binary.
///
/// # Errors
/// [`ResultsError::BadReference`] would be a fault of the shipped files; a test reads them all.
pub fn shipped() -> Result<Vec<Reference>, ResultsError> {
    SHIPPED.iter().map(read).collect()
}

/// Loads a reference by name (one that ships) or by path (a user's CSV file).
///
/// # Errors
/// [`ResultsError::BadReference`] with file and line, [`ResultsError::UnknownReference`] with the names that
/// ship, [`ResultsError::Io`].
pub fn load(name_or_path: &str) -> Result<Reference, ResultsError> {
    if let Some(entry) = SHIPPED.iter().find(|entry| entry.name == name_or_path) {
        return read(entry);
    }
    let path = Path::new(name_or_path);
    if !path.exists() {
        let shipped = SHIPPED.iter().map(|entry| entry.name).collect();
        return Err(ResultsError::UnknownReference {
            name: name_or_path.to_owned(),
            shipped,
        });
    }
    let bytes = user_file::read(path, MOST_BYTES, "a table of published figures");
    let bytes = bytes.map_err(ResultsError::io("read", path))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let read = parse(&name, &format!("{name} ({})", path.display()), &[], &bytes);
    let read = read.map(|reference| Reference {
        caveats: unknown_factors(&reference.rows),
        ..reference
    });
    // A name is the file's without its ending; an error has to lead to the file.
    read.map_err(|error| match error {
        ResultsError::BadReference { line, reason, .. } => ResultsError::BadReference {
            file: path.display().to_string(),
            line,
            reason,
        },
        other => other,
    })
}

/// A sentence for each factor that the layer of its row does not have. It may be one of another program, or a slip.
fn unknown_factors(rows: &[ReferenceRow]) -> Vec<String> {
    let unknown = rows.iter().flat_map(|row| {
        let layer = Vocabulary::default().layer(&row.layer);
        let names = row.factors.keys();
        names.filter_map(move |name| layer?.factor(name).is_none().then_some((name, &row.layer)))
    });
    let unknown: BTreeSet<(&String, &String)> = unknown.collect();
    let sentence =
        |(name, layer)| format!("The layer {layer} has no factor {name}. Is the column spelled right?");
    unknown.into_iter().map(sentence).collect()
}

fn read(entry: &Shipped) -> Result<Reference, ResultsError> {
    let conditions = entry
        .conditions
        .iter()
        .map(|(factor, value)| (factor.name, *value));
    let conditions: Vec<(&str, &str)> = conditions.collect();
    let reference = parse(entry.name, entry.title, &conditions, entry.csv.as_bytes())?;
    let caveats = entry.caveats.iter().map(|text| (*text).to_owned()).collect();
    Ok(Reference { caveats, ..reference })
}

/// Parses the CSV text of a reference; `conditions` hold for every row that does not state its own.
///
/// # Errors
/// [`ResultsError::BadReference`] with the line, the value seen and the value expected.
pub fn parse(
    name: &str,
    title: &str,
    conditions: &[(&str, &str)],
    csv: &[u8],
) -> Result<Reference, ResultsError> {
    let (kind, rows) = csv_rows::read(name, conditions, csv)?;
    Ok(Reference {
        name: name.to_owned(),
        title: title.to_owned(),
        kind,
        caveats: Vec::new(),
        rows,
    })
}
