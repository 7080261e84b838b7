//! The rows of a small column to the smallest of their packed forms.

use super::list::{Layout, put_size};
use super::{MAGIC, PACKED_BYTES_LIMIT, PackedForm, SYMBOLS_LIMIT, TEXT_BYTES_LIMIT, frame};
use crate::codes::{BlockEncoder, Effort};
use crate::error::Result;
use crate::format::{BLOCK_ROWS, push_u32, put_varint};
use crate::progress::{Step, Watch};
use crate::segment::NumberedRows;

/// What a distinct value adds to its text's bytes when the limit is judged: unpacking keeps it in
/// tables. The format allows more.
const SYMBOL_COST_BYTES: u64 = 24;

/// Forms within 5 % of the smallest are compressed again, in search of better settings.
const WORTH_TUNING: (usize, usize) = (21, 20);

/// Whether a packed file may hold a column with these numbers of bytes of text, rows and distinct values (null is one).
pub(crate) fn is_packable(text_bytes: u64, row_count: u64, symbols: u64) -> bool {
    let cost = text_bytes
        .saturating_add(row_count)
        .saturating_add(SYMBOL_COST_BYTES.saturating_mul(symbols));
    cost <= TEXT_BYTES_LIMIT && symbols <= SYMBOLS_LIMIT
}

/// Rows that a packed file may hold, as positions in a list of their distinct values.
pub(crate) struct PackableRows {
    /// `None` is null.
    values: Vec<Option<Vec<u8>>>,
    codes: Vec<u32>,
}

impl PackableRows {
    /// Those of a column, with the values sorted and null behind them; `None` above
    /// the limits of the packed form.
    pub(crate) fn of(
        NumberedRows {
            rows, values: sorted, ..
        }: &NumberedRows,
    ) -> Option<Self> {
        let symbols = sorted.counts.len();
        if !is_packable(sorted.value_bytes().1, rows.row_count(), symbols as u64) {
            return None;
        }
        let (mut values, mut codes) = (Vec::with_capacity(symbols), vec![0; rows.row_count() as usize]);
        sorted.for_each_value(0..sorted.value_count(), |value| values.push(Some(value.to_vec())));
        values.resize(symbols, None);
        rows.mapped(0, &sorted.codes, &mut codes);
        Some(Self { values, codes })
    }

    /// The packed file of the rows, and its form; `None` where there is none of fewer than `below_bytes`.
    pub(crate) fn pack(&self, below_bytes: usize, watch: &Watch) -> Result<Option<(PackedForm, Vec<u8>)>> {
        let row_count = self.codes.len() as u64;
        watch.report(Step::Packing, 0, row_count);
        let mut drafts = match self.constant() {
            // A long value may take less room in a list, which is compressed.
            Some(constant) if self.values.is_empty() => vec![constant],
            Some(constant) => vec![constant, self.dictionary()?],
            None => vec![
                self.text(),
                self.dictionary()?,
                self.by_appearance().dictionary()?,
            ],
        };
        for draft in &mut drafts {
            draft.frame = draft.content.as_deref().map_or(Ok(Vec::new()), frame::compress)?;
        }
        let least = drafts.iter().map(Draft::bytes).min().unwrap_or(0);
        let (above, below) = WORTH_TUNING;
        drafts.retain(|draft| draft.bytes() * below <= least * above);
        let contents = drafts.iter().filter_map(|draft| draft.content.as_deref());
        let tries: u64 = contents
            .map(|content| frame::settings(content.len()).count() as u64)
            .sum();
        let mut tries_done = 0;
        for draft in &mut drafts {
            if let Some(content) = &draft.content {
                draft.frame = frame::compress_smallest(content, std::mem::take(&mut draft.frame), || {
                    tries_done += 1;
                    watch.report(Step::Packing, row_count * tries_done / tries, row_count);
                })?;
            }
        }
        let smallest = drafts.into_iter().min_by_key(Draft::bytes);
        Ok(smallest
            .map(|draft| (draft.form, draft.into_file()))
            .filter(|(_, file)| file.len() < below_bytes && file.len() as u64 <= PACKED_BYTES_LIMIT))
    }

    fn values(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.values.iter().map(Option::as_deref)
    }

    /// The form of at most one distinct value.
    fn constant(&self) -> Option<Draft> {
        if self.values.len() > 1 {
            return None;
        }
        let value = self.values().next().flatten();
        let mut draft = Draft::new(PackedForm::Constant);
        put_varint(&mut draft.before, self.codes.len() as u64);
        put_size(&mut draft.before, value);
        draft.before.extend_from_slice(value.unwrap_or_default());
        Some(draft)
    }

    /// The values of all rows, in order.
    fn text(&self) -> Draft {
        let layout = Layout::of(self.values());
        let mut draft = Draft::new(layout.of_rows());
        let rows = self
            .codes
            .iter()
            .map(|&code| self.values[code as usize].as_deref());
        draft.content = Some(layout.write(rows));
        draft
    }

    /// The list of values, then the codes.
    fn dictionary(&self) -> Result<Draft> {
        const EFFORT: Effort = Effort {
            zstd_level: Some(19),
            tries_deltas: true,
            joins_blocks: false,
            exhaustive: true,
        };
        let layout = Layout::of(self.values());
        let mut draft = Draft::new(layout.of_dictionary());
        put_varint(&mut draft.before, self.codes.len() as u64);
        draft.content = Some(layout.write(self.values()));
        let mut encoder = BlockEncoder::new(None, EFFORT)?;
        for codes in self.codes.chunks(BLOCK_ROWS) {
            let block = encoder.encode(codes)?;
            put_varint(&mut draft.after, block.len() as u64);
            draft.after.extend_from_slice(&block);
        }
        Ok(draft)
    }

    /// The same rows with the values in the order of their first rows: what comes together stays together.
    fn by_appearance(&self) -> Self {
        let mut places = vec![None; self.values.len()];
        let mut values = Vec::with_capacity(self.values.len());
        let place_of = |&code: &u32| {
            *places[code as usize].get_or_insert_with(|| {
                values.push(self.values[code as usize].clone());
                values.len() as u32 - 1
            })
        };
        let codes = self.codes.iter().map(place_of).collect();
        Self { values, codes }
    }
}

/// A packed file in parts: what stands before its frame, the frame and what it holds, and what follows.
struct Draft {
    form: PackedForm,
    before: Vec<u8>,
    content: Option<Vec<u8>>,
    frame: Vec<u8>,
    after: Vec<u8>,
}

impl Draft {
    fn new(form: PackedForm) -> Self {
        Self {
            form,
            before: Vec::new(),
            content: None,
            frame: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Bytes of the body.
    fn bytes(&self) -> usize {
        self.before.len() + self.frame.len() + self.after.len()
    }

    fn into_file(self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.push(self.form as u8);
        for part in [self.before, self.frame, self.after] {
            file.extend_from_slice(&part);
        }
        let crc = crc32c::crc32c(&file);
        push_u32(&mut file, crc);
        file
    }
}
