//! Answers on stdout, line by line: a search may find millions of rows.

use super::flags::AnswerFormat;
use crate::exit::bad_input;
use crate::output::{Cell, Stdout, envelope, pretty_json, stdout};
use anyhow::Context as _;
use outcrop_column::push_csv_field;
use outcrop_measure::units::format_data;
use std::io::{BufWriter, IsTerminal as _, Write};

/// What the codes would take at least if the rows came in random order. A file whose rows are sorted or clustered takes less.
pub(super) const SHUFFLED: &str = "codes if rows were shuffled, at least";

/// A figure with its unit, in a cell each.
pub(super) type Figure = [Cell; 2];

pub(super) fn bytes_with_unit(value: u64) -> Figure {
    [bytes(value), Cell::text("B")]
}

pub(super) fn count_with_unit(value: u64) -> Figure {
    [count(value), Cell::text("count")]
}

pub(super) fn word(text: &str) -> Figure {
    [Cell::text(text), Cell::text("")]
}

pub(super) fn bytes(value: u64) -> Cell {
    Cell::number(value as f64, format_data(value as f64))
}

pub(super) fn count(value: u64) -> Cell {
    Cell::number(value as f64, value.to_string())
}

/// Binary data is useless on a terminal.
pub(super) fn refuse_terminal(is_binary: bool) -> anyhow::Result<()> {
    if is_binary && std::io::stdout().is_terminal() {
        return Err(bad_input(anyhow::anyhow!(
            "stdout is a terminal and this format is binary: name a file with -o, or redirect stdout"
        )));
    }
    Ok(())
}

/// One field of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'a> {
    Number(u64),
    /// A value; `None` is null.
    Value(Option<&'a [u8]>),
}

/// Writes lines of fields in the form asked for.
pub(super) struct Answers<const N: usize> {
    out: BufWriter<Stdout>,
    format: AnswerFormat,
    names: [&'static str; N],
    line: Vec<u8>,
    lines: usize,
    limit: usize,
}

impl<const N: usize> Answers<N> {
    /// Begins an answer of at most `limit` lines.
    pub(super) fn begin(
        format: AnswerFormat,
        names: [&'static str; N],
        limit: Option<usize>,
    ) -> anyhow::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 16, stdout());
        match format {
            AnswerFormat::Csv => writeln!(out, "{}", names.join(","))?,
            AnswerFormat::Json => {
                let (head, _) = document(serde_json::Map::new())?;
                write!(out, "{head}{ROWS}")?;
            }
            AnswerFormat::Text | AnswerFormat::Arrow => {}
        }
        Ok(Self {
            out,
            format,
            names,
            line: Vec::new(),
            lines: 0,
            limit: limit.unwrap_or(usize::MAX),
        })
    }

    /// Whether further lines would be dropped.
    pub(super) fn is_full(&self) -> bool {
        self.lines >= self.limit
    }

    pub(super) fn push(&mut self, fields: [Field<'_>; N]) -> std::io::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        self.line.clear();
        match self.format {
            AnswerFormat::Json => {
                let start: &[u8] = if self.lines == 0 { b"\n    {" } else { b",\n    {" };
                self.line.extend_from_slice(start);
                for (index, (name, field)) in self.names.iter().zip(fields).enumerate() {
                    if index > 0 {
                        self.line.extend_from_slice(b", ");
                    }
                    write!(self.line, "\"{name}\": {}", json(field))?;
                }
                self.line.push(b'}');
            }
            format => {
                for (index, field) in fields.into_iter().enumerate() {
                    match (format, index) {
                        (_, 0) => {}
                        (AnswerFormat::Csv, _) => self.line.push(b','),
                        _ => self.line.extend_from_slice(b"  "),
                    }
                    push_plain(format, field, N > 1, &mut self.line);
                }
                self.line.push(b'\n');
            }
        }
        self.lines += 1;
        self.out.write_all(&self.line)
    }

    /// Ends the answer. `details` is what JSON says in addition to the rows.
    pub(super) fn finish(
        mut self,
        details: serde_json::Map<String, serde_json::Value>,
    ) -> anyhow::Result<()> {
        if self.format == AnswerFormat::Json {
            let (_, tail) = document(details)?;
            let end = if self.lines == 0 { "]" } else { "\n  ]" };
            write!(self.out, "{end}{tail}")?;
        }
        self.out.flush()?;
        Ok(())
    }
}

/// Values with the number of their rows, a line each.
pub(super) struct CountedValues {
    answers: Answers<2>,
    is_text: bool,
}

impl CountedValues {
    /// Begins an answer of at most `limit` values. `rows` is what programs call the number of rows.
    pub(super) fn begin(
        format: AnswerFormat,
        rows: &'static str,
        limit: Option<usize>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            answers: Answers::begin(format, ["value", rows], limit)?,
            is_text: format == AnswerFormat::Text,
        })
    }

    /// See [`Answers::is_full`].
    pub(super) fn is_full(&self) -> bool {
        self.answers.is_full()
    }

    /// A value with its rows; `None` is null.
    pub(super) fn push(&mut self, value: Option<&[u8]>, rows: u64) -> std::io::Result<()> {
        let (value, rows) = (Field::Value(value), Field::Number(rows));
        // People read the count first, as `uniq -c` has it; programs go by the names.
        self.answers.push(match self.is_text {
            true => [rows, value],
            false => [value, rows],
        })
    }

    /// See [`Answers::finish`].
    pub(super) fn finish(self, details: serde_json::Map<String, serde_json::Value>) -> anyhow::Result<()> {
        self.answers.finish(details)
    }
}

/// How the list of rows begins in a JSON document.
const ROWS: &str = "\"rows\": [";

/// The JSON document that all commands share, before and after its rows: a search may find more than fit into memory.
fn document(details: serde_json::Map<String, serde_json::Value>) -> anyhow::Result<(String, String)> {
    let mut envelope = envelope();
    envelope.details = details;
    let text = pretty_json(&envelope)?;
    // The first such list is that of the document: nothing before it has names of its own.
    let (head, tail) = text
        .split_once(&format!("{ROWS}]"))
        .context("the JSON document has no list of rows")?;
    Ok((head.to_owned(), tail.to_owned()))
}

fn push_plain(format: AnswerFormat, field: Field<'_>, is_aligned: bool, line: &mut Vec<u8>) {
    match (format, field) {
        (AnswerFormat::Csv, Field::Value(value)) => push_csv_field(value, "", line),
        (_, Field::Value(value)) => line.extend_from_slice(value.unwrap_or("–".as_bytes())),
        (AnswerFormat::Text, Field::Number(number)) if is_aligned => {
            line.extend_from_slice(format!("{number:>10}").as_bytes());
        }
        (_, Field::Number(number)) => line.extend_from_slice(number.to_string().as_bytes()),
    }
}

/// JSON knows text only: other bytes are written in hexadecimal, and marked.
fn json(field: Field<'_>) -> serde_json::Value {
    match field {
        Field::Number(number) => number.into(),
        Field::Value(None) => serde_json::Value::Null,
        Field::Value(Some(value)) => match std::str::from_utf8(value) {
            Ok(text) => text.into(),
            Err(_) => {
                let digits = value.iter().map(|byte| format!("{byte:02x}"));
                serde_json::json!({ "hex": digits.collect::<String>() })
            }
        },
    }
}
