//! The whole column back to text or to values.

use std::io::Write;

use super::Column;
use super::segment::Segment;
use crate::encode::{EncodeOptions, Encoder};
use crate::error::{ColumnError, Result};
use crate::storage::ReadAt;

/// A value with its newline is copied as one cell of this size where it fits; the last byte is its length.
const CELL_BYTES: usize = 16;

/// In the last byte: the value is longer than a cell.
const LONG: u8 = u8::MAX;

/// Output is handed on when this much has gathered.
const BUFFER_BYTES: usize = 256 << 10;

impl Column {
    /// Writes each row's value and a newline, in order; a null becomes an empty line.
    ///
    /// # Errors
    /// [`ColumnError::NoCodes`] in a file with the index only; [`ColumnError::Corrupt`]; what source and `out` report.
    pub fn decode_text(&self, out: &mut dyn Write) -> Result<()> {
        for segment in &self.segments {
            let cells = TextCells::new(segment, &*self.source)?;
            let section = segment.codes()?;
            let mut ranks = Vec::new();
            let mut text = vec![0; BUFFER_BYTES + CELL_BYTES];
            let mut length = 0;
            for block in 0..section.entries().len() {
                section.decode(&*self.source, block, &mut ranks)?;
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
    /// *Cost*: that of encoding the column anew.
    ///
    /// # Errors
    /// As [`Column::decode_text`], without its output.
    pub fn compact(&self, options: EncodeOptions) -> Result<Encoder> {
        let mut encoder = Encoder::new(options);
        self.for_each_row(|value| match value {
            Some(value) => encoder.push(value),
            None => encoder.push_null(),
        })?;
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
            let (mut bytes, mut ends) = (Vec::new(), Vec::new());
            segment.dictionary.for_each(
                &*self.source,
                0..segment.dictionary.value_count() as u32,
                |_, value| {
                    bytes.extend_from_slice(value);
                    ends.push(bytes.len());
                    Ok(())
                },
            )?;
            let mut codes = Vec::new();
            for block in 0..segment.codes()?.entries().len() {
                segment.decode(&*self.source, block, &mut codes)?;
                for &code in &codes {
                    let code = code as usize;
                    let start = code.checked_sub(1).map_or(0, |before| ends[before]);
                    action(ends.get(code).map(|&end| &bytes[start..end]))?;
                }
            }
        }
        Ok(())
    }
}

/// The values of a segment in the order of their ranks, each ready to be copied with its newline.
struct TextCells {
    cells: Vec<[u8; CELL_BYTES]>,
    long: Vec<u8>,
}

impl TextCells {
    fn new(segment: &Segment, source: &dyn ReadAt) -> Result<Self> {
        let mut by_code = Vec::with_capacity(segment.entry.symbol_count() as usize);
        let mut long = Vec::new();
        segment
            .dictionary
            .for_each(source, 0..segment.dictionary.value_count() as u32, |_, value| {
                let mut cell = [0; CELL_BYTES];
                if value.len() < CELL_BYTES - 1 {
                    cell[..value.len()].copy_from_slice(value);
                    cell[value.len()] = b'\n';
                    cell[CELL_BYTES - 1] = value.len() as u8 + 1;
                } else {
                    // Offsets stay below 2^56 and lengths below 2^31 + 1: 8 and 7 bytes hold them.
                    cell[..8].copy_from_slice(&(long.len() as u64).to_le_bytes());
                    cell[8..12].copy_from_slice(&(value.len() as u32 + 1).to_le_bytes());
                    cell[CELL_BYTES - 1] = LONG;
                    long.extend_from_slice(value);
                    long.push(b'\n');
                }
                by_code.push(cell);
                Ok(())
            })?;
        if segment.null_code().is_some() {
            let mut cell = [0; CELL_BYTES];
            cell[0] = b'\n';
            cell[CELL_BYTES - 1] = 1;
            by_code.push(cell);
        }
        let cells = match segment.ranking(source)? {
            None => by_code,
            Some(ranking) => ranking
                .codes()
                .iter()
                .map(|&code| by_code[code as usize])
                .collect(),
        };
        Ok(Self { cells, long })
    }

    /// Appends the text of `ranks` to the first `length` bytes of `text`, handing it on as it fills; gives the new length.
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
        for &rank in ranks {
            let cell = &self.cells[rank as usize];
            let size = cell[CELL_BYTES - 1];
            if size == LONG {
                out.write_all(&text[..length])?;
                length = 0;
                out.write_all(self.long_value(cell))?;
                continue;
            }
            text[length..length + CELL_BYTES].copy_from_slice(cell);
            length += usize::from(size);
        }
        Ok(length)
    }

    fn long_value(&self, cell: &[u8; CELL_BYTES]) -> &[u8] {
        let (mut offset, mut size) = ([0; 8], [0; 4]);
        offset.copy_from_slice(&cell[..8]);
        size.copy_from_slice(&cell[8..12]);
        let start = u64::from_le_bytes(offset) as usize;
        &self.long[start..start + u32::from_le_bytes(size) as usize]
    }
}
