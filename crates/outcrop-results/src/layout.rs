//! What a run folder holds, whether a folder is one, and how its plan and its environment are read: a run may be somebody else's.

use std::io::ErrorKind;
use std::path::Path;

use outcrop_probe::user_file;

use crate::error::ResultsError;

/// The expanded plan, defaults filled in.
pub const PLAN_FILE: &str = "plan.toml";
/// The machine as it was when the run began.
pub const ENVIRONMENT_FILE: &str = "environment.json";
/// Where the environment has how long the trials take, as the plan had it when the run began.
pub const TRIAL_LENGTHS: &str = "trial_lengths";
/// The journal of trials.
pub const JOURNAL_FILE: &str = "trials.ndjson";
/// The tidy records, derived from the journal.
pub const RECORDS_FILE: &str = "records.parquet";
/// The latency histograms, derived from the journal.
pub const HISTOGRAMS_FILE: &str = "histograms.parquet";
/// The table of cells for people and spreadsheets, derived from the journal.
pub const CELLS_CSV_FILE: &str = "cells.csv";
/// The same table with typed columns.
pub const CELLS_PARQUET_FILE: &str = "cells.parquet";

/// Every file that Outcrop writes into a run folder, but for its figures; the plan last, without which it is not a run.
pub const OURS: [&str; 8] = [
    "report.html",
    CELLS_CSV_FILE,
    CELLS_PARQUET_FILE,
    RECORDS_FILE,
    HISTOGRAMS_FILE,
    JOURNAL_FILE,
    ENVIRONMENT_FILE,
    PLAN_FILE,
];

/// No plan and no environment is longer: a longer file is damaged, and no more of it is read.
pub const MOST_TEXT_BYTES: u64 = 16 << 20;

/// The expanded plan of the run in `dir`, TOML.
pub(crate) fn read_plan(dir: &Path) -> Result<String, ResultsError> {
    let path = dir.join(PLAN_FILE);
    user_file::read_text(
        &path,
        MOST_TEXT_BYTES,
        "the plan of a run; restore it from a copy",
    )
    .map_err(ResultsError::io("read", path))
}

/// The environment of the run in `dir`, as the probe wrote it.
pub(crate) fn read_environment(dir: &Path) -> Result<serde_json::Value, ResultsError> {
    let path = dir.join(ENVIRONMENT_FILE);
    let damaged = |reason: String| ResultsError::DamagedEnvironment {
        path: path.clone(),
        reason,
    };
    let bytes = match user_file::read(&path, MOST_TEXT_BYTES, "the environment of a run") {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::InvalidInput => return Err(damaged(error.to_string())),
        Err(error) => return Err(ResultsError::io("read", path)(error)),
    };
    serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))
}

/// The name of the run in `dir`: the folder's own name, links and `.` resolved.
pub fn run_name(dir: &Path) -> String {
    let resolved = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    resolved
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Checks that `dir` holds the three files without which it is not a run.
///
/// # Errors
/// [`ResultsError::NotARun`] with what is missing.
pub fn check_is_run(dir: &Path) -> Result<(), ResultsError> {
    let refuse = |reason: String| {
        Err(ResultsError::NotARun {
            path: dir.to_owned(),
            reason,
        })
    };
    if !dir.exists() {
        return refuse("it does not exist".to_owned());
    }
    if !dir.is_dir() {
        return refuse("it is a file, but a run is a folder".to_owned());
    }
    let missing: Vec<&str> = [PLAN_FILE, ENVIRONMENT_FILE, JOURNAL_FILE]
        .into_iter()
        .filter(|file| !dir.join(file).is_file())
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        [_, _, _] => refuse(format!(
            "it has no {}; give the folder of one run, such as runs/20261121T020757Z-profile",
            missing.join(", ")
        )),
        some => refuse(format!("{} is missing", some.join(" and "))),
    }
}
