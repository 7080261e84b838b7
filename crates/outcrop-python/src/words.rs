//! Words and quantities of Python's arguments, as the crates below read them: `"64MiB"`, `"500ms"`, `"postings"`.

use std::fmt::Display;
use std::str::FromStr;

use outcrop_column::{Index, Profile};
use outcrop_lab::Effort;
use outcrop_measure::units::{ByteSize, TimeSpan};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// One of a few words.
fn one_of<T: Copy>(argument: &str, seen: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(word, _)| *word == seen);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        PyValueError::new_err(format!(
            "{argument} is {seen:?}; expected one of {}",
            words.join(", ")
        ))
    })
}

pub(crate) fn index(word: &str) -> PyResult<Index> {
    one_of(
        "index",
        word,
        &[
            ("none", Index::None),
            ("postings", Index::Postings),
            ("only", Index::Only),
        ],
    )
}

pub(crate) fn profile(word: &str) -> PyResult<Profile> {
    let known = [
        ("smallest", Profile::Smallest),
        ("balanced", Profile::Balanced),
        ("fastest", Profile::Fastest),
    ];
    one_of("profile", word, &known)
}

/// How a column file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// What a search needs, when it needs it.
    OnDisk,
    /// Through a memory map.
    InMemory,
}

impl Memory {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::OnDisk => "on-disk",
            Self::InMemory => "in-memory",
        }
    }
}

pub(crate) fn memory(word: &str) -> PyResult<Memory> {
    let known = [Memory::OnDisk, Memory::InMemory].map(|memory| (memory.word(), memory));
    one_of("memory", word, &known)
}

/// Whether the low and the high end of a range belong to it.
pub(crate) fn closed(word: &str) -> PyResult<(bool, bool)> {
    let known = [
        ("left", (true, false)),
        ("right", (false, true)),
        ("both", (true, true)),
        ("neither", (false, false)),
    ];
    one_of("closed", word, &known)
}

pub(crate) fn effort(word: &str) -> PyResult<Effort> {
    one_of("effort", word, &Effort::ALL.map(|effort| (effort.name(), effort)))
}

/// A value in the spelling that flags and plans have.
pub(crate) fn parsed<T: FromStr>(argument: &str, text: &str) -> PyResult<T>
where
    T::Err: Display,
{
    text.parse()
        .map_err(|error| PyValueError::new_err(format!("{argument}: {error}")))
}

/// Bytes: a number of them, or text such as `"64MiB"`.
pub(crate) fn bytes(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<ByteSize> {
    if let Ok(text) = value.extract::<String>() {
        return parsed(argument, &text);
    }
    let number = value.extract::<u64>();
    number.map(ByteSize).map_err(|_| {
        PyTypeError::new_err(format!(
            "{argument}: expected a number of bytes, or text such as \"64MiB\""
        ))
    })
}

/// A time: seconds as a number, or text such as `"500ms"`.
pub(crate) fn time(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<TimeSpan> {
    if let Ok(text) = value.extract::<String>() {
        return parsed(argument, &text);
    }
    let seconds = value.extract::<f64>().ok();
    let time = seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());
    time.map(TimeSpan).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "{argument}: expected seconds as a number, or text such as \"500ms\""
        ))
    })
}

/// One value or several, as text: `"zstd:3"`, `4096`, `["lz4", "zstd:3"]`.
pub(crate) fn several(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(values) = value.extract::<Vec<Bound<'_, PyAny>>>() {
        return values.iter().map(as_text).collect();
    }
    Ok(vec![as_text(value)?])
}

fn as_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.str()?.to_string_lossy().into_owned())
}
