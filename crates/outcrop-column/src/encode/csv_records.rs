//! Records of a delimited text, with an error where a quote is never closed.

use std::io::{self, Read};

use crate::error::{ColumnError, Result};

/// Records of a delimited text (RFC 4180), read one after the other.
///
/// The parser of `csv` takes the end of the input for the end of a quoted field, so a quote that is never closed makes all that follows one
/// value. Here the input is followed by a record that no text has at its end: where it does not come back as a record, it is within quotes.
pub struct CsvRecords<R> {
    reader: csv::Reader<Marked<R>>,
}

impl<R: Read> CsvRecords<R> {
    /// Reads `input` with this byte between fields; `has_quotes`: a field may stand in quotation marks.
    pub fn new(input: R, delimiter: u8, has_quotes: bool) -> Self {
        let byte = if delimiter == 1 { 2 } else { 1 };
        let input = Marked {
            input,
            read_bytes: 0,
            ended_at: None,
            mark: [b'\n', byte, byte, b'\n'],
            given: 0,
        };
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .quoting(has_quotes)
            .from_reader(input);
        Self { reader }
    }

    /// Reads the next record; false at the end of the input.
    ///
    /// # Errors
    /// [`ColumnError::Io`] of the input, [`ColumnError::Input`] with the line of a quote that is never closed.
    pub fn read(&mut self, record: &mut csv::ByteRecord) -> Result<bool> {
        if !self.reader.read_byte_record(record).map_err(of_csv)? {
            return Ok(false);
        }
        let input = self.reader.get_ref();
        let Some(input_bytes) = input.ended_at else {
            return Ok(true);
        };
        // The newline of the mark ends a last line that has none; beyond it, the record has the mark in it.
        let after = self.reader.position();
        if after.byte() > input_bytes + 1 {
            if record.len() == 1 && record[0] == input.mark[1..3] {
                record.clear();
                return Ok(false);
            }
            let last = record.iter().next_back().unwrap_or_default();
            let lines = memchr::memchr_iter(b'\n', last).count() as u64;
            return Err(ColumnError::Input {
                line: after.line().saturating_sub(lines),
                detail: "a quote is not closed; the end of the input was reached within it".to_owned(),
            });
        }
        Ok(true)
    }

    /// Bytes of the input up to the end of the last record.
    pub fn read_bytes(&self) -> u64 {
        self.reader.position().byte()
    }
}

/// An input with a mark behind its end, if it has any bytes.
struct Marked<R> {
    input: R,
    read_bytes: u64,
    ended_at: Option<u64>,
    mark: [u8; 4],
    given: usize,
}

impl<R: Read> Read for Marked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended_at.is_none() {
            let read = self.input.read(buffer)?;
            self.read_bytes += read as u64;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.ended_at = Some(self.read_bytes);
        }
        if self.read_bytes == 0 {
            return Ok(0);
        }
        let read = (&self.mark[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

fn of_csv(error: csv::Error) -> ColumnError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => ColumnError::Io(source),
        kind => ColumnError::Input {
            line,
            detail: format!("{kind:?}"),
        },
    }
}
