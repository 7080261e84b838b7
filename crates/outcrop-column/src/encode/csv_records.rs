//! Records of a delimited text, with an error where a quote is never closed, a record has no end in sight, or more fields than the first.

use std::io::{self, Read};

use crate::error::{ColumnError, Result};
use crate::format::LINE_BYTES_LIMIT;

/// Delimiters that a long record may have: the place of each field's end is kept.
const MOST_DELIMITERS: usize = 1 << 26;
/// Bytes from which on a record is long, so that its delimiters are counted.
const LONG_RECORD_BYTES: u64 = 1 << 20;

/// Records of a delimited text (RFC 4180), read one after the other.
///
/// The parser of `csv` takes the end of the input for the end of a quoted field, so a quote that is never closed makes all that follows one
/// value. Here the input is followed by a record that no text has at its end: where it does not come back as a record, it is within quotes.
pub struct CsvRecords<R> {
    reader: csv::Reader<Marked<R>>,
    /// Fields of the first record: a later one with more has a delimiter within a value, of which a part would be lost.
    field_count: Option<usize>,
}

impl<R: Read> CsvRecords<R> {
    /// Reads `input` with this byte between fields; `has_quotes`: a field may stand in quotation marks. A record has at most
    /// [`LINE_BYTES_LIMIT`] bytes.
    pub fn new(input: R, delimiter: u8, has_quotes: bool) -> Self {
        Self::within(input, delimiter, has_quotes, LINE_BYTES_LIMIT)
    }

    /// The same with a separate limit for the bytes of a record: its fields and the delimiters between them.
    pub fn within(input: R, delimiter: u8, has_quotes: bool, longest_record: usize) -> Self {
        let byte = if delimiter == 1 { 2 } else { 1 };
        let input = Marked {
            input,
            read_bytes: 0,
            ended_at: None,
            mark: [b'\n', byte, byte, b'\n'],
            given: 0,
            delimiter,
            longest_record: longest_record as u64,
            record_start: 0,
            delimiters: 0,
            is_too_long: false,
            last: Vec::new(),
            last_start: 0,
        };
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .quoting(has_quotes)
            .from_reader(input);
        Self {
            reader,
            field_count: None,
        }
    }

    /// Reads the next record; false at the end of the input.
    ///
    /// # Errors
    /// [`ColumnError::Io`] of the input, [`ColumnError::Input`] with the line of a quote that is never closed or of a record with more fields than
    /// the first, [`ColumnError::TooLong`] for a record that is too long, of which only the limit and the read-ahead are read.
    pub fn read(&mut self, record: &mut csv::ByteRecord) -> Result<bool> {
        let is_record = self.read_to_its_end(record)?;
        // What was read ahead had the end of it.
        let bytes = record.as_slice().len() + record.len().saturating_sub(1);
        let input = self.reader.get_ref();
        if is_record && bytes as u64 > input.longest_record {
            return Err(input.too_long(self.line_of(record)));
        }
        if is_record {
            self.check_fields(record)?;
        }
        Ok(is_record)
    }

    fn check_fields(&mut self, record: &csv::ByteRecord) -> Result<()> {
        let (seen, expected) = (record.len(), *self.field_count.get_or_insert(record.len()));
        if seen <= expected {
            return Ok(());
        }
        let (also, question) = match record.iter().skip(expected).all(<[u8]>::is_empty) {
            // An empty field more may be the delimiter of a value that ends in it.
            true => (
                ", the last of them empty,",
                "is there a delimiter too many at its end, or in a value without quotes?",
            ),
            false => (
                "",
                "is the delimiter right, and are values that contain it quoted?",
            ),
        };
        Err(ColumnError::Input {
            line: self.line_of(record),
            detail: format!("the record has {seen} fields{also} and the first has {expected}; {question}"),
        })
    }

    /// The same, where only a record whose end is not read ahead is too long.
    fn read_to_its_end(&mut self, record: &mut csv::ByteRecord) -> Result<bool> {
        let (start, line) = (self.reader.position().byte(), self.next_line());
        let input = self.reader.get_mut();
        (input.record_start, input.delimiters) = (start, 0);
        let read = self.reader.read_byte_record(record);
        if self.reader.get_ref().is_too_long {
            return Err(self.reader.get_ref().too_long(line));
        }
        if !read.map_err(of_csv)? {
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

    /// The line in which the record begins that was read last.
    pub fn line_of(&self, record: &csv::ByteRecord) -> u64 {
        let within = memchr::memchr_iter(b'\n', record.as_slice()).count() as u64;
        self.next_line().saturating_sub(within + 1).max(1)
    }

    /// The line that follows the last record.
    fn next_line(&self) -> u64 {
        let after = self.reader.position();
        // The reader stops behind the carriage return that ends a record, and counts the line feed later.
        let is_behind_return = self.reader.get_ref().byte_before(after.byte()) == Some(b'\r');
        after.line() + u64::from(is_behind_return)
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
    delimiter: u8,
    longest_record: u64,
    /// Where the record begins that is being read.
    record_start: u64,
    /// Delimiters in it, once it is long.
    delimiters: usize,
    is_too_long: bool,
    /// What was given last, …
    last: Vec<u8>,
    /// … and where it begins.
    last_start: u64,
}

impl<R> Marked<R> {
    /// Keeps what the parser is given.
    fn keep(&mut self, bytes: &[u8]) {
        self.last_start += self.last.len() as u64;
        self.last.clear();
        self.last.extend_from_slice(bytes);
    }

    /// The byte before this place, which is among those that were given last.
    fn byte_before(&self, place: u64) -> Option<u8> {
        let index = place.checked_sub(self.last_start + 1)?;
        self.last.get(index as usize).copied()
    }

    /// Bytes of the record that has not ended yet.
    const fn record_bytes(&self) -> u64 {
        self.read_bytes.saturating_sub(self.record_start)
    }

    fn too_long(&self, line: u64) -> ColumnError {
        const WHAT: &str = "the record that begins here";
        const QUESTION: &str = "is a quotation mark not closed, or the delimiter another one?";
        match self.delimiters > MOST_DELIMITERS {
            true => ColumnError::Input {
                line,
                detail: format!("{WHAT} has more than {MOST_DELIMITERS} delimiters; {QUESTION}"),
            },
            false => ColumnError::TooLong {
                what: format!("line {line} of the input: {WHAT}"),
                limit: self.longest_record,
                question: QUESTION,
            },
        }
    }
}

impl<R: Read> Read for Marked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended_at.is_none() {
            // The parser asks for more only where the record has not ended in what it has.
            if self.record_bytes() > self.longest_record || self.delimiters > MOST_DELIMITERS {
                self.is_too_long = true;
                return Err(io::Error::other("a record is too long"));
            }
            let read = self.input.read(buffer)?;
            self.keep(&buffer[..read]);
            self.read_bytes += read as u64;
            if self.record_bytes() > LONG_RECORD_BYTES {
                self.delimiters += memchr::memchr_iter(self.delimiter, &buffer[..read]).count();
            }
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.ended_at = Some(self.read_bytes);
        }
        if self.read_bytes == 0 {
            return Ok(0);
        }
        let read = (&self.mark[self.given..]).read(buffer)?;
        self.keep(&buffer[..read]);
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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::CsvRecords;
    use crate::error::ColumnError;

    /// Repeats a byte for ever, and counts what is read.
    struct Endless(u8, usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(self.0);
            self.1 += buffer.len();
            Ok(buffer.len())
        }
    }

    #[test]
    fn a_record_without_end_is_refused_with_its_line_once_it_is_longer_than_one_may_be() {
        const LIMIT: usize = 3 << 20;
        for (start, byte) in [
            ("a,b\n\"", b'x'),
            ("a,b\n", b'x'),
            ("a,b\n", b','),
            ("a,b\n\"", b'\n'),
        ] {
            let mut endless = Endless(byte, 0);
            let mut records = CsvRecords::within(start.as_bytes().chain(&mut endless), b',', true, LIMIT);
            let mut record = csv::ByteRecord::new();
            assert!(records.read(&mut record).unwrap());
            let refused = records.read(&mut record);
            assert!(
                matches!(&refused, Err(ColumnError::TooLong { limit, .. }) if *limit == LIMIT as u64),
                "{refused:?}"
            );
            assert_eq!(
                refused.unwrap_err().to_string(),
                "line 2 of the input: the record that begins here has more than 3145728 bytes; is a quotation mark not closed, or the delimiter \
                 another one?"
            );
            assert!(endless.1 < LIMIT + (64 << 10), "{} bytes were read", endless.1);
        }
    }

    #[test]
    fn a_short_record_is_refused_where_its_fields_and_delimiters_have_more_bytes_than_it_may_have() {
        for (text, limit, good, line) in [
            ("a\n1234\n12345\n1\n", 4, 2, 3),
            ("a\n1234\n12345", 4, 2, 3),
            ("a,b\n1,23\n1,234\n", 4, 2, 3),
            // Quotation marks and the ends of lines do not count.
            ("a\r\n\"1234\"\r\n\"12\"\"\"\r\n\n1234\n", 4, 4, 0),
            ("name\n", 3, 0, 1),
        ] {
            let mut records = CsvRecords::within(text.as_bytes(), b',', true, limit);
            let mut record = csv::ByteRecord::new();
            for _ in 0..good {
                assert!(records.read(&mut record).unwrap(), "{text}");
            }
            match records.read(&mut record) {
                Ok(is_record) => assert!(!is_record && line == 0, "{text}"),
                Err(error) => assert!(
                    error
                        .to_string()
                        .starts_with(&format!("line {line} of the input: ")),
                    "{text}: {error}"
                ),
            }
        }
    }

    #[test]
    fn a_record_has_the_whole_limit_for_itself_whatever_came_before_it() {
        const LIMIT: usize = 2 << 20;
        let field = "x".repeat(LIMIT - 1);
        let text = format!("{field}\n\"{}\"\n{field}", &field[..LIMIT - 3]);
        let mut records = CsvRecords::within(text.as_bytes(), b',', true, LIMIT);
        let mut record = csv::ByteRecord::new();
        for length in [LIMIT - 1, LIMIT - 3, LIMIT - 1] {
            assert!(records.read(&mut record).unwrap());
            assert_eq!(record[0].len(), length);
        }
        assert!(!records.read(&mut record).unwrap());
    }
}
