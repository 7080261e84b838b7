//! The whole column back to text or to values.

use std::io::Write;

use super::Column;
use super::segment::Segment;
use crate::codes::Scratch;
use crate::encode::Encoder;
use crate::error::{ColumnError, Result};
use crate::format::BLOCK_ROWS;
use crate::huge::HugeArray;
use crate::kernels::prefetch;
use crate::progress::Step;
use crate::segment::{EncodeOptions, KnownCodes};
use crate::storage::ReadAt;

/// A value with its newline is copied as one cell of this size where it fits; the last byte is its length.
const CELL_BYTES: usize = 16;

/// Cells are asked for this many rows before they are copied: a miss takes about as long as that many copies.
const CELLS_AHEAD: usize = 64;

/// In the last byte: the value is longer than a cell.
const LONG: u8 = u8::MAX;

/// Appends what a value, or null, is in the output, without its newline.
type Render<'a> = dyn Fn(Option<&[u8]>, &mut Vec<u8>) + 'a;

/// Output is handed on when this much has gathered.
const BUFFER_BYTES: usize = 256 << 10;

impl Column {
    /// Writes each row's value and a newline, in order; a null becomes an empty line.
    ///
    /// # Errors
    /// [`ColumnError::NoCodes`] in a file with the index only;
    /// [`ColumnError::Corrupt`]; what source and `out` report.
    pub fn decode_text(&self, out: &mut dyn Write) -> Result<()> {
        self.decode_lines(out, &|value, line| {
            line.extend_from_slice(value.unwrap_or_default());
        })
    }

    /// Writes the column as CSV (RFC 4180): a header line with `name`, then each row's value. A null
    /// is what `null` says, and a value that reads the same is quoted, so that the two stay apart;
    /// with an empty `null` both are `""`.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, Encoder};
    /// # let mut encoder = Encoder::new(EncodeOptions::default());
    /// # encoder.push(b"slate, grey")?;
    /// # encoder.push_null()?;
    /// # encoder.push(b"")?;
    /// # let mut file = Vec::new();
    /// # encoder.finish(&mut file)?;
    /// let mut csv = Vec::new();
    /// Column::open_in(file)?.decode_csv(&mut csv, "rock", "NA")?;
    /// assert_eq!(csv, b"rock\n\"slate, grey\"\nNA\n\"\"\n");
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Column::decode_text`].
    pub fn decode_csv(&self, out: &mut dyn Write, name: &str, null: &str) -> Result<()> {
        let mut header = Vec::new();
        push_csv_field(Some(name.as_bytes()), "", &mut header);
        header.push(b'\n');
        out.write_all(&header)?;
        // An empty line would be no row to most readers of CSV.
        let value_of_null = null.is_empty().then_some(&b""[..]);
        self.decode_lines(out, &|value, line| {
            push_csv_field(value.or(value_of_null), null, line);
        })
    }

    /// Writes a line for each row, as `render` makes it from the value once for each distinct one.
    fn decode_lines(&self, out: &mut dyn Write, render: &Render<'_>) -> Result<()> {
        for segment in &self.segments {
            let cells = TextCells::new(segment, &*self.source, render)?;
            let section = segment.codes()?;
            let (mut ranks, mut scratch) = (Vec::new(), Scratch::default());
            let mut text = vec![0; BUFFER_BYTES + CELL_BYTES];
            let mut length = 0;
            for block in 0..section.entries().len() {
                section.decode(&*self.source, block, &mut ranks, &mut scratch)?;
                let done = segment.first_row + (block * BLOCK_ROWS) as u64;
                self.watch.report(Step::Rows, done, self.row_count());
                for part in ranks.chunks(BUFFER_BYTES / CELL_BYTES) {
                    length = cells.append(part, &mut text, length, out)?;
                }
            }
            out.write_all(&text[..length])?;
        }
        Ok(())
    }

    /// An encoder that holds all rows: writing it merges the segments into one, with one dictionary.
    ///
    /// *Cost*: one lookup per distinct value of a segment, then the encoding of codes; no lookup per row.
    ///
    /// # Errors
    /// As [`Column::decode_text`], without its output.
    pub fn compact(&self, options: EncodeOptions) -> Result<Encoder> {
        let mut encoder = Encoder::new(options);
        if !self.has_codes() {
            return Err(ColumnError::NoCodes);
        }
        encoder.set_name(&self.name()?.unwrap_or_default())?;
        for segment in &self.segments {
            let values = Values::of(segment, &*self.source)?;
            let mut known = KnownCodes::default();
            self.for_each_code(segment, |code| match values.get(code) {
                Some(value) => encoder.push_entry(&mut known, code as usize, || value),
                None => encoder.push_null(),
            })?;
        }
        Ok(encoder)
    }

    /// Calls `action` with each row's value in order; `None` is null.
    ///
    /// # Errors
    /// Those of `action`, and as [`Column::decode_text`].
    pub fn for_each_row(&self, mut action: impl FnMut(Option<&[u8]>) -> Result<()>) -> Result<()> {
        if !self.has_codes() {
            return Err(ColumnError::NoCodes);
        }
        for segment in &self.segments {
            let values = Values::of(segment, &*self.source)?;
            self.for_each_code(segment, |code| action(values.get(code)))?;
        }
        Ok(())
    }

    fn for_each_code(&self, segment: &Segment, mut action: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let (mut codes, mut scratch) = (Vec::new(), Scratch::default());
        let mut done = segment.first_row;
        for block in 0..segment.codes()?.entries().len() {
            segment.decode(&*self.source, block, &mut codes, &mut scratch)?;
            codes.iter().try_for_each(|&code| action(code))?;
            done += codes.len() as u64;
            self.watch.report(Step::Rows, done, self.row_count());
        }
        Ok(())
    }
}

/// The values of a segment by code.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
}

impl Values {
    pub(super) fn of(segment: &Segment, source: &dyn ReadAt) -> Result<Self> {
        let mut values = Self::default();
        let all = 0..segment.dictionary.value_count() as u32;
        segment.dictionary.for_each(source, all, |_, value| {
            values.push(value);
            Ok(())
        })?;
        Ok(values)
    }

    pub(super) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
    }

    /// The value of `code`; `None` for the code of null.
    pub(super) fn get(&self, code: u32) -> Option<&[u8]> {
        let code = code as usize;
        let start = code
            .checked_sub(1)
            .map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.ends.get(code).map(|&end| &self.bytes[start..end])
    }
}

/// The values of a segment in the order of their ranks, each ready to be copied with its newline.
struct TextCells {
    cells: HugeArray<CELL_BYTES>,
    long: Vec<u8>,
}

impl TextCells {
    fn new(segment: &Segment, source: &dyn ReadAt, render: &Render<'_>) -> Result<Self> {
        let mut by_code = Vec::with_capacity(segment.entry.symbol_count() as usize);
        let (mut line, mut long) = (Vec::new(), Vec::new());
        let mut push = |value: Option<&[u8]>| {
            line.clear();
            render(value, &mut line);
            line.push(b'\n');
            let mut cell = [0; CELL_BYTES];
            if line.len() < CELL_BYTES {
                cell[..line.len()].copy_from_slice(&line);
                cell[CELL_BYTES - 1] = line.len() as u8;
            } else {
                // Offsets stay below 2^64; quoted, a value of 2^31 bytes stays below 2^32 + 3:
                // 8 and 7 bytes hold them.
                cell[..8].copy_from_slice(&(long.len() as u64).to_le_bytes());
                cell[8..CELL_BYTES - 1].copy_from_slice(&(line.len() as u64).to_le_bytes()[..7]);
                cell[CELL_BYTES - 1] = LONG;
                long.extend_from_slice(&line);
            }
            by_code.push(cell);
        };
        let all = 0..segment.dictionary.value_count() as u32;
        segment.dictionary.for_each(source, all, |_, value| {
            push(Some(value));
            Ok(())
        })?;
        if segment.null_code().is_some() {
            push(None);
        }
        let mut cells = HugeArray::zeroed(by_code.len());
        match segment.ranking(source)? {
            None => cells.get_mut().copy_from_slice(&by_code),
            Some(ranking) => {
                for (cell, code) in cells.get_mut().iter_mut().zip(ranking.codes().iter()) {
                    *cell = by_code[code as usize];
                }
            }
        }
        Ok(Self { cells, long })
    }

    /// Appends the text of `ranks` to the first `length` bytes of `text`, passing it on as it
    /// fills; returns the new length.
    fn append(
        &self,
        ranks: &[u32],
        text: &mut [u8],
        mut length: usize,
        out: &mut dyn Write,
    ) -> Result<usize> {
        if length + ranks.len() * (CELL_BYTES - 1) > BUFFER_BYTES {
            out.write_all(&text[..length])?;
            length = 0;
        }
        let cells = self.cells.get();
        let ahead = ranks.get(CELLS_AHEAD..).unwrap_or_default();
        let (first, last) = ranks.split_at(ahead.len());
        for (&rank, &later) in first.iter().zip(ahead) {
            prefetch(cells, later as usize);
            length = self.push(&cells[rank as usize], text, length, out)?;
        }
        for &rank in last {
            length = self.push(&cells[rank as usize], text, length, out)?;
        }
        Ok(length)
    }

    /// Puts the text of a cell behind the first `length` bytes of `text`; gives the new length.
    #[inline(always)]
    fn push(
        &self,
        cell: &[u8; CELL_BYTES],
        text: &mut [u8],
        length: usize,
        out: &mut dyn Write,
    ) -> Result<usize> {
        let size = cell[CELL_BYTES - 1];
        if size == LONG {
            out.write_all(&text[..length])?;
            out.write_all(self.long_value(cell))?;
            return Ok(0);
        }
        text[length..length + CELL_BYTES].copy_from_slice(cell);
        Ok(length + usize::from(size))
    }

    fn long_value(&self, cell: &[u8; CELL_BYTES]) -> &[u8] {
        let (mut offset, mut size) = ([0; 8], [0; 8]);
        offset.copy_from_slice(&cell[..8]);
        size[..7].copy_from_slice(&cell[8..CELL_BYTES - 1]);
        let start = u64::from_le_bytes(offset) as usize;
        &self.long[start..start + u64::from_le_bytes(size) as usize]
    }
}

/// Appends a value as a field of CSV, quoted where it must be; `None` as `null`.
pub fn push_csv_field(value: Option<&[u8]>, null: &str, line: &mut Vec<u8>) {
    let Some(value) = value else {
        line.extend_from_slice(null.as_bytes());
        return;
    };
    let is_plain = !value.is_empty()
        && value != null.as_bytes()
        && !value
            .iter()
            .any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'));
    if is_plain {
        line.extend_from_slice(value);
        return;
    }
    line.push(b'"');
    for &byte in value {
        line.extend_from_slice(if byte == b'"' {
            b"\"\""
        } else {
            std::slice::from_ref(&byte)
        });
    }
    line.push(b'"');
}
