//! Exceptions: one per kind of mistake, each with the sentence of the crate that made it.

use std::io;
use std::path::Path;

use outcrop_cache::CacheError as ServerError;
use outcrop_cache_load::CacheLoadError;
use outcrop_column::ColumnError as Codec;
use outcrop_column_bench::BenchError;
use outcrop_lab::LabError;
use outcrop_results::ResultsError;
use pyo3::PyTypeInfo;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyFileNotFoundError, PyIndexError, PyPermissionError};
use pyo3::prelude::*;

create_exception!(
    outcrop,
    OutcropError,
    PyException,
    "Every error of Outcrop but those that Python has a type for."
);
create_exception!(
    outcrop,
    ColumnError,
    OutcropError,
    "A column cannot be written, opened or read."
);
create_exception!(
    outcrop,
    DamagedError,
    ColumnError,
    "The bytes of a column file contradict its format or its checksums."
);
create_exception!(
    outcrop,
    PlanError,
    OutcropError,
    "A plan, or an argument that stands for a part of one, is wrong."
);
create_exception!(
    outcrop,
    RunError,
    OutcropError,
    "A run could not be measured, read or written."
);
create_exception!(
    outcrop,
    CacheError,
    OutcropError,
    "A cache cannot be started, reached or used."
);
create_exception!(
    outcrop,
    ConditionMet,
    OutcropError,
    "A comparison meets a condition of `fail_if`."
);

/// Python's own exception where the system's answer has one, else `ours`.
fn of_io(error: &io::Error, path: Option<&Path>, sentence: String, ours: fn(String) -> PyErr) -> PyErr {
    match error.kind() {
        io::ErrorKind::NotFound => of_system::<PyFileNotFoundError>(error, path, sentence),
        io::ErrorKind::PermissionDenied => of_system::<PyPermissionError>(error, path, sentence),
        _ => ours(sentence),
    }
}

/// A kind of `OSError`. Where path and number are known it has `errno`, `strerror` and `filename`, of which Python makes its usual
/// sentence.
fn of_system<E: PyTypeInfo>(error: &io::Error, path: Option<&Path>, sentence: String) -> PyErr {
    let Some((path, number)) = path.zip(error.raw_os_error()) else {
        return PyErr::new::<E, _>(sentence);
    };
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    PyErr::new::<E, _>((number, text.to_owned(), path.as_os_str().to_owned()))
}

fn column_error(sentence: String) -> PyErr {
    ColumnError::new_err(sentence)
}

fn plan_error(sentence: String) -> PyErr {
    PlanError::new_err(sentence)
}

fn run_error(sentence: String) -> PyErr {
    RunError::new_err(sentence)
}

/// The sentence of the codec. It reads longer lines for a command that asks for them; none of our functions does.
fn sentence_of(error: &Codec) -> String {
    match error {
        Codec::TooLong { .. } => format!("{error} `outcrop column encode --longest-value` reads longer ones"),
        other => other.to_string(),
    }
}

/// Of the column codec. An exception that Python raised while the codec wrote comes back as itself.
pub(crate) fn of_column(error: Codec) -> PyErr {
    let sentence = sentence_of(&error);
    match error {
        Codec::Io(error) => match error.downcast::<PyErr>() {
            Ok(raised) => raised,
            Err(error) => of_io(&error, None, sentence, column_error),
        },
        Codec::Path { path, source } => of_io(&source, Some(&path), sentence, column_error),
        Codec::NoSuchRow { .. } => PyIndexError::new_err(sentence),
        Codec::Corrupt { .. }
        | Codec::Truncated { .. }
        | Codec::NotAColumn { .. }
        | Codec::UnknownForm { .. } => DamagedError::new_err(sentence),
        _ => column_error(sentence),
    }
}

/// Of reading a user's table.
pub(crate) fn of_table(error: BenchError) -> PyErr {
    let sentence = error.to_string();
    match error {
        BenchError::Column(error) => of_column(error),
        BenchError::Path { path, source } => of_io(&source, Some(&path), sentence, column_error),
        _ => column_error(sentence),
    }
}

/// Of reading and comparing runs.
pub(crate) fn of_results(error: &ResultsError) -> PyErr {
    let sentence = error.to_string();
    match error {
        ResultsError::Io { path, cause, .. } => of_io(cause, Some(path), sentence, run_error),
        ResultsError::NotARun { path, .. } if !path.exists() => PyFileNotFoundError::new_err(sentence),
        ResultsError::BadAssumption { .. }
        | ResultsError::BadCondition { .. }
        | ResultsError::UnknownMetric { .. } => PlanError::new_err(sentence),
        _ => run_error(sentence),
    }
}

/// A sentence that names flags of the command line, with the keywords of the functions instead. Whole commands stay what they are.
fn with_keywords(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate().map(|(number, part)| {
        let is_command = number % 2 == 1 && part.starts_with("outcrop ");
        if is_command {
            return part.to_owned();
        }
        let mut text = String::new();
        for (number, piece) in part.split("--").enumerate() {
            let is_name = |character: char| character.is_ascii_lowercase() || character == '-';
            let length = piece.find(|character| !is_name(character)).unwrap_or(piece.len());
            match number {
                0 => text.push_str(piece),
                _ => text.extend([&piece[..length].replace('-', "_"), &piece[length..]]),
            }
        }
        text
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Of the lab.
pub(crate) fn of_lab(error: &LabError) -> PyErr {
    let sentence = with_keywords(&error.to_string());
    match error {
        LabError::Results(error) => of_results(error),
        LabError::ReadPlan { path, source, .. } => of_io(source, Some(path), sentence, plan_error),
        error if error.is_bad_input() => PlanError::new_err(sentence),
        _ => run_error(sentence),
    }
}

/// Of the cache server.
pub(crate) fn of_server(error: &ServerError) -> PyErr {
    CacheError::new_err(error.to_string())
}

/// Of the cache's client.
pub(crate) fn of_client(error: &CacheLoadError) -> PyErr {
    CacheError::new_err(error.to_string())
}
