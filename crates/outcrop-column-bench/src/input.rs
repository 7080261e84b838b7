//! A column's rows in memory, as every operation of a trial finds them.

use std::ops::Range;

use md5::{Digest, Md5};
use outcrop_column::{EncodeOptions, Encoder, Result, encode_lines};
use outcrop_workload::column::ColumnSpec;

/// The rows of one string column: values, each followed by a newline, and their
/// places where that is ambiguous.
///
/// *Cost*: the text; 16 bytes a row more if a row is null or a value has a newline in it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ColumnInput {
    /// What its table calls it, which a column file keeps; empty where nothing does.
    name: String,
    text: Vec<u8>,
    /// End of each row's value and whether it is null; none where the newlines say it all.
    fields: Option<Vec<Field>>,
    row_count: u64,
    null_count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    end: usize,
    is_null: bool,
}

impl ColumnInput {
    /// The rows in order; `None` is null.
    pub fn from_values<V: AsRef<[u8]>>(values: impl IntoIterator<Item = Option<V>>) -> Self {
        let mut input = Self::default();
        for value in values {
            input.push(value.as_ref().map(AsRef::as_ref));
        }
        input
    }

    /// A column made to a specification. *Cost*: about 20 ns a row, and the words twice.
    pub fn generate(spec: &ColumnSpec) -> Self {
        let words = spec.words();
        let mut text = Vec::new();
        for row in spec.rows() {
            text.extend_from_slice(words[row as usize].as_bytes());
            text.push(b'\n');
        }
        let row_count = if spec.distinct == 0 { 0 } else { spec.row_count };
        Self {
            text,
            row_count,
            ..Self::default()
        }
    }

    /// An empty column that its table calls so.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Adds a row.
    pub fn push(&mut self, value: Option<&[u8]>) {
        let is_plain = value.is_some_and(|value| memchr::memchr(b'\n', value).is_none());
        if !is_plain && self.fields.is_none() {
            let ends = memchr::memchr_iter(b'\n', &self.text);
            self.fields = Some(ends.map(|end| Field { end, is_null: false }).collect());
        }
        self.text.extend_from_slice(value.unwrap_or_default());
        if let Some(fields) = &mut self.fields {
            let end = self.text.len();
            fields.push(Field {
                end,
                is_null: value.is_none(),
            });
        }
        self.text.push(b'\n');
        self.row_count += 1;
        self.null_count += u64::from(value.is_none());
    }

    /// Bytes that the rows take in memory.
    pub(crate) fn held_bytes(&self) -> usize {
        self.text.len()
            + self
                .fields
                .as_ref()
                .map_or(0, |fields| size_of_val(fields.as_slice()))
    }

    /// Rows, nulls included.
    pub const fn row_count(&self) -> u64 {
        self.row_count
    }

    /// Rows that are null.
    pub const fn null_count(&self) -> u64 {
        self.null_count
    }

    /// Whether the newlines alone tell rows apart: no row is null, and no value has a newline in it.
    pub(crate) const fn is_plain(&self) -> bool {
        self.fields.is_none()
    }

    /// The values with a newline behind each; a null is an empty line.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What tells these rows from others, by their content. *Cost*: an MD5 of the text.
    pub fn fingerprint(&self) -> String {
        let mut digest = Md5::new_with_prefix(&self.text);
        for field in self.fields.iter().flatten() {
            digest.update(field.end.to_le_bytes());
            digest.update([u8::from(field.is_null)]);
        }
        digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Every row in order.
    pub fn rows(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut fields = self.fields.as_ref().map(|fields| fields.iter());
        let mut newlines = memchr::memchr_iter(b'\n', &self.text);
        let mut start = 0;
        std::iter::from_fn(move || {
            let (end, is_null) = match &mut fields {
                Some(fields) => fields.next().map(|field| (field.end, field.is_null))?,
                None => (newlines.next()?, false),
            };
            let value: Range<usize> = start..end;
            start = end + 1;
            Some((!is_null).then(|| &self.text[value]))
        })
    }

    /// Rows read into an encoder: on the options' threads where newlines separate them, else on this one. The file is the one that
    /// `outcrop column encode` writes, with the name of the column.
    pub(crate) fn encoder(&self, options: EncodeOptions) -> Result<Encoder> {
        let mut encoder = self.rows_in_encoder(options)?;
        // One that is too long to be kept is left out there, too.
        encoder.set_name(&self.name).ok();
        Ok(encoder)
    }

    fn rows_in_encoder(&self, options: EncodeOptions) -> Result<Encoder> {
        if self.fields.is_none() {
            return encode_lines(&self.text, options);
        }
        let mut encoder = Encoder::new(options);
        for row in self.rows() {
            match row {
                Some(value) => encoder.push(value)?,
                None => encoder.push_null()?,
            }
        }
        Ok(encoder)
    }
}
