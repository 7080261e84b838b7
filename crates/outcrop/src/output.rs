//! One table, three forms: aligned text for people, CSV and JSON for programs.
//!
//! A number is stored in its base unit and shown with the prefix a person reads; programs get the base
//! unit, and its symbol is part of the column's name (`bandwidth_B/s`).

mod control;
mod fit;

use anyhow::Context as _;
use control::TerminalData;
pub(crate) use control::{harmless, harmless_line};
use outcrop_results::Envelope;
use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;

/// The command that was given, `cache load`: every JSON document names it.
static COMMAND: OnceLock<String> = OnceLock::new();

/// Says which command this is; the first call counts.
pub(crate) fn set_command(command: &str) {
    let _ = COMMAND.set(command.to_owned());
}

/// An empty JSON document of this command, in the shape that all commands share.
pub(crate) fn envelope() -> Envelope {
    Envelope::of(COMMAND.get().map_or("outcrop", String::as_str))
}

/// Columns of the terminal that stdout is; none where it is a file or a pipe.
pub(crate) fn terminal_width() -> Option<usize> {
    let term = console::Term::stdout();
    term.is_term().then(|| usize::from(term.size().1))
}

/// The form of what goes to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns
    #[default]
    Text,
    /// One JSON document
    Json,
    /// RFC 4180 CSV with a header line
    Csv,
}

/// One cell of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A value in the column's unit, and how people read it.
    Number { value: f64, shown: String },
    /// No value, and why.
    Absent(String),
}

impl Cell {
    pub(crate) fn text(words: impl Into<String>) -> Self {
        Self::Text(words.into())
    }

    pub(crate) fn number(value: f64, shown: impl Into<String>) -> Self {
        Self::Number {
            value,
            shown: shown.into(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number { shown, .. } => shown.clone(),
            Self::Absent(_) => "–".to_owned(),
        }
    }

    fn raw(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number { value, .. } => value.to_string(),
            Self::Absent(_) => String::new(),
        }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            Self::Absent(reason) => Some(reason),
            Self::Text(_) | Self::Number { .. } => None,
        }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.clone().into(),
            Self::Number { value, .. } => (*value).into(),
            Self::Absent(reason) => serde_json::json!({ "unavailable": reason }),
        }
    }
}

/// Rows under named columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
struct Column {
    /// Heading for people; none for what programs need alone, such as a unit that values print themselves.
    heading: String,
    /// Key for programs, unit included.
    key: String,
}

impl Table {
    /// Columns as (heading for people, key for programs).
    pub(crate) fn new<H: Into<String>, K: Into<String>>(columns: impl IntoIterator<Item = (H, K)>) -> Self {
        let columns = columns
            .into_iter()
            .map(|(heading, key)| Column {
                heading: heading.into(),
                key: key.into(),
            })
            .collect();
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row has one cell per column");
        self.rows.push(row);
    }

    /// Writes the table to stdout.
    ///
    /// # Errors
    /// When stdout does not take the bytes.
    pub(crate) fn print(&self, format: Format) -> anyhow::Result<()> {
        let text = match format {
            Format::Text => self.to_text(),
            Format::Json => pretty_json(&self.in_envelope())?,
            // Fields are data, which a file gets as they are.
            Format::Csv => return to_stdout(self.to_csv()?.as_bytes()),
        };
        print(&text)
    }

    /// Aligned columns.
    pub(crate) fn to_text(&self) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let is_shown: Vec<bool> = self
            .columns
            .iter()
            .map(|column| !column.heading.is_empty())
            .collect();
        let headings = self.columns.iter().map(|column| column.heading.as_str());
        table.set_header(headings.filter(|heading| !heading.is_empty()));
        for row in &self.rows {
            let shown = row.iter().zip(&is_shown).filter(|(_, is_shown)| **is_shown);
            table.add_row(shown.map(|(cell, _)| {
                let aligned = match cell {
                    Cell::Text(_) => comfy_table::CellAlignment::Left,
                    Cell::Number { .. } | Cell::Absent(_) => comfy_table::CellAlignment::Right,
                };
                comfy_table::Cell::new(cell.shown()).set_alignment(aligned)
            }));
        }
        let mut text = String::new();
        for line in table.to_string().lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A JSON document with these rows, for more to be said in it.
    pub(crate) fn in_envelope(&self) -> Envelope {
        envelope().with_rows(self.to_rows())
    }

    fn to_rows(&self) -> Vec<serde_json::Value> {
        let rows = self.rows.iter().map(|row| {
            let fields = self
                .columns
                .iter()
                .zip(row)
                .map(|(column, cell)| (column.key.clone(), cell.json()));
            serde_json::Value::Object(fields.collect())
        });
        rows.collect()
    }

    pub(crate) fn to_csv(&self) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // A value that is missing is an empty field, so that its column stays numeric; the reason stands in a column behind.
        let is_absent = |index: &usize| self.rows.iter().any(|row| row[*index].reason().is_some());
        let with_reasons: Vec<usize> = (0..self.columns.len()).filter(is_absent).collect();
        let reasons = with_reasons
            .iter()
            .map(|index| format!("{}_unavailable", self.columns[*index].key));
        let keys = self.columns.iter().map(|column| column.key.clone());
        writer.write_record(keys.chain(reasons))?;
        for row in &self.rows {
            let reasons = with_reasons
                .iter()
                .map(|index| row[*index].reason().unwrap_or_default().to_owned());
            writer.write_record(row.iter().map(Cell::raw).chain(reasons))?;
        }
        let bytes = writer.into_inner().context("cannot end the CSV")?;
        String::from_utf8(bytes).context("the CSV is not UTF-8")
    }
}

/// A JSON document, indented, with a final newline.
pub(crate) fn pretty_json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    text.push('\n');
    Ok(control::escaped(text))
}

/// Writes to stdout what people read, without control characters of data.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    to_stdout(harmless(text).as_bytes())
}

/// Prints what a library's writer writes. It fills memory first: the library would wrap a closed pipe in its own
/// error, which could not be told from a failure.
pub(crate) fn print_with(
    write: impl FnOnce(&mut (dyn std::io::Write + Send)) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    to_stdout(&bytes)
}

/// Writes data to stdout, for programs: a file or a pipe gets them as they are. Where the reader has gone, as behind `| head`, the rest is dropped: what
/// the command found still decides how it ends.
pub(crate) fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = stdout();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Stdout for data. Its errors say that they are about it: a full disk behind `>` reads as any other. A terminal gets no control characters of
/// the data, a file or a pipe all bytes as they are.
pub(crate) struct Stdout {
    out: std::io::Stdout,
    to_terminal: Option<TerminalData>,
}

pub(crate) fn stdout() -> Stdout {
    let out = std::io::stdout();
    let to_terminal = out.is_terminal().then(TerminalData::default);
    Stdout { out, to_terminal }
}

impl Stdout {
    pub(crate) const fn is_terminal(&self) -> bool {
        self.to_terminal.is_some()
    }

    /// Of the same kind, which distinguishes a reader that went away from a failure.
    fn named(error: &std::io::Error) -> std::io::Error {
        std::io::Error::new(error.kind(), format!("cannot write to stdout: {error}"))
    }
}

impl std::io::Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = match &mut self.to_terminal {
            Some(data) => data.write(bytes, &mut self.out).map(|()| bytes.len()),
            None => self.out.write(bytes),
        };
        written.map_err(|error| Self::named(&error))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let ended = match &mut self.to_terminal {
            Some(data) => data.end(&mut self.out),
            None => Ok(()),
        };
        let flushed = ended.and_then(|()| self.out.flush());
        flushed.map_err(|error| Self::named(&error))
    }
}

/// Writes a line of diagnosis to stderr, without control characters of data.
pub(crate) fn note(text: &str) {
    // With stderr closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}", harmless(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([
            ("depth", "queue_depth"),
            ("IOPS", "iops_1/s"),
            ("energy", "energy_J"),
        ]);
        table.push(vec![
            Cell::text("32"),
            Cell::number(352_000.0, "352 k"),
            Cell::Absent("no RAPL in this machine".to_owned()),
        ]);
        table
    }

    #[test]
    fn people_read_prefixes_and_programs_read_base_units() {
        assert!(table().to_text().contains("352 k"));
        assert_eq!(
            table().to_csv().unwrap(),
            "queue_depth,iops_1/s,energy_J,energy_J_unavailable\n32,352000,,no RAPL in this machine\n"
        );
        assert_eq!(table().to_rows()[0]["iops_1/s"], 352_000.0);
    }

    #[test]
    fn an_absent_value_is_never_zero() {
        assert!(table().to_text().contains('–'));
        assert_eq!(
            table().to_rows()[0]["energy_J"]["unavailable"],
            "no RAPL in this machine"
        );
    }
}
