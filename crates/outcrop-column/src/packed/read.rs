//! Packed files to ordinary ones: lengths and the checksum are checked before anything is unpacked.

use std::borrow::Cow;

use super::frame::Frame;
use super::list::{Layout, take_value};
use super::{MAGIC, ORDINARY, PACKED_BYTES_LIMIT, PackedForm, SYMBOLS_LIMIT, TEXT_BYTES_LIMIT};
use crate::codes::{ClassTable, Scratch, unwrap};
use crate::error::{ColumnError, Result, corrupt};
use crate::format::{BLOCK_ROWS, Fields, Footer, HEADER_BYTES, Header};
use crate::name;
use crate::progress::Watch;
use crate::segment::{Collected, Collector, EncodeOptions, KnownCodes};
use crate::storage::{ReadAt, WriteAt, check_crc, read_range};

const PART: &str = "packed column";

/// Sections behind the packed bytes begin at a multiple of this.
const ALIGNMENT: u64 = 8;

/// A packed column, unpacked.
#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) form: PackedForm,
    /// The same column as an ordinary file.
    pub(crate) image: Vec<u8>,
}

/// What a packed file holds, with all lengths checked and nothing unpacked.
enum Body<'a> {
    Constant {
        row_count: u64,
        value: Option<&'a [u8]>,
    },
    Rows {
        layout: Layout,
        rows: Frame<'a>,
    },
    Dictionary {
        row_count: u64,
        layout: Layout,
        values: Frame<'a>,
        blocks: Vec<&'a [u8]>,
    },
}

/// The column in `source` as `options` encode it, without index; `None` if it is not packed.
///
/// *Cost*: all of the packed bytes, and their rows encoded again in memory.
pub(crate) fn unpack(source: &dyn ReadAt, options: EncodeOptions) -> Result<Option<Unpacked>> {
    let size = source.size_bytes();
    let start = read_range(source, PART, 0, size.min(MAGIC.len() as u64 + 1))?;
    let number = match start.strip_prefix(&MAGIC) {
        Some(&[number]) if number != ORDINARY => number,
        _ => return Ok(None),
    };
    let form = PackedForm::from_number(number).ok_or(ColumnError::UnknownForm { form: number })?;
    let packed = read_range(source, PART, 0, size.min(PACKED_BYTES_LIMIT))?;
    let mut fields = Fields::new(PART, 0, &packed);
    fields.take(MAGIC.len() + 1)?;
    let body = Body::take(form, &mut fields)?;
    let checked = &packed[..fields.position()];
    check_crc(PART, 0, checked, fields.u32()?)?;
    let name = name::of_packed(source, fields.position() as u64)?;
    let mut collected = Collected::default();
    collected.push(body.into_rows()?);
    // What follows takes the most memory.
    drop(packed);
    let mut rows = collected.numbered(options.threads)?;
    rows.name = name;
    let symbols = rows.values.counts.len() as u64;
    if symbols > SYMBOLS_LIMIT {
        return Err(too_large("distinct values", symbols, SYMBOLS_LIMIT));
    }
    let mut image = Vec::new();
    rows.write_file(&options, &Watch::default(), None, &mut image)?;
    image.shrink_to_fit();
    Ok(Some(Unpacked { form, image }))
}

impl<'a> Body<'a> {
    fn take(form: PackedForm, fields: &mut Fields<'a>) -> Result<Self> {
        Ok(match form {
            PackedForm::Constant => {
                let (row_count, size) = (fields.varint()?, fields.varint()?);
                let value = take_value(size, fields)?;
                Self::Constant { row_count, value }
            }
            PackedForm::Text => Self::rows(Layout::Lines, fields)?,
            PackedForm::Lengths => Self::rows(Layout::Lengths, fields)?,
            PackedForm::Dictionary => Self::dictionary(Layout::Lines, fields)?,
            PackedForm::DictionaryByLengths => Self::dictionary(Layout::Lengths, fields)?,
        })
    }

    fn rows(layout: Layout, fields: &mut Fields<'a>) -> Result<Self> {
        let rows = Frame::take(fields)?;
        Ok(Self::Rows { layout, rows })
    }

    fn dictionary(layout: Layout, fields: &mut Fields<'a>) -> Result<Self> {
        let row_count = fields.varint()?;
        if row_count > TEXT_BYTES_LIMIT {
            return Err(too_large("rows", row_count, TEXT_BYTES_LIMIT));
        }
        let values = Frame::take(fields)?;
        let mut blocks = Vec::new();
        for _ in 0..row_count.div_ceil(BLOCK_ROWS as u64) {
            let length = usize::try_from(fields.varint()?).unwrap_or(usize::MAX);
            blocks.push(fields.take(length)?);
        }
        Ok(Self::Dictionary {
            row_count,
            layout,
            values,
            blocks,
        })
    }

    /// All rows, collected.
    fn into_rows(self) -> Result<Collector> {
        match self {
            Self::Constant { row_count, value } => {
                let mut rows = Rows::new(1);
                let row_bytes = value.map_or(0, <[u8]>::len) as u64 + 1;
                let text_bytes = row_count.saturating_mul(row_bytes);
                if text_bytes > TEXT_BYTES_LIMIT {
                    return Err(too_large("bytes of text", text_bytes, TEXT_BYTES_LIMIT));
                }
                for _ in 0..row_count {
                    rows.push(value)?;
                }
                Ok(rows.collector)
            }
            Self::Rows { layout, rows: frame } => {
                // A new value takes at least a byte of the frame; a table that grows after
                // all only costs memory.
                let mut rows = Rows::new(frame.bytes().min(SYMBOLS_LIMIT as usize));
                layout.for_each(&frame.content()?, |value| rows.push(value))?;
                Ok(rows.collector)
            }
            Self::Dictionary {
                row_count,
                layout,
                values,
                blocks,
            } => {
                let content = values.content()?;
                let mut values = Vec::new();
                layout.for_each(&content, |value| {
                    if values.len() as u64 == SYMBOLS_LIMIT {
                        return Err(too_large("distinct values", SYMBOLS_LIMIT + 1, SYMBOLS_LIMIT));
                    }
                    values.push(value);
                    Ok(())
                })?;
                let mut rows = Rows::new(values.len());
                rows.push_coded(row_count, &values, &blocks)?;
                Ok(rows.collector)
            }
        }
    }
}

/// Rows on their way into a collector, as long as their text stays within the limit.
struct Rows {
    collector: Collector,
    text_bytes: u64,
}

impl Rows {
    /// Room for this many distinct values.
    fn new(values: usize) -> Self {
        Self {
            collector: Collector::with_room(values),
            text_bytes: 0,
        }
    }

    fn count(&mut self, value: Option<&[u8]>) -> Result<()> {
        self.text_bytes += value.map_or(0, <[u8]>::len) as u64 + 1;
        if self.text_bytes > TEXT_BYTES_LIMIT {
            return Err(too_large("bytes of text", self.text_bytes, TEXT_BYTES_LIMIT));
        }
        Ok(())
    }

    fn push(&mut self, value: Option<&[u8]>) -> Result<()> {
        self.count(value)?;
        self.collector.push(value).map(drop)
    }

    /// The rows of code blocks whose integers are positions in `values`.
    fn push_coded(&mut self, row_count: u64, values: &[Option<&[u8]>], blocks: &[&[u8]]) -> Result<()> {
        let (mut known, mut scratch) = (KnownCodes::default(), Scratch::default());
        let mut left = row_count as usize;
        for &block in blocks {
            let mut codes = vec![0; left.min(BLOCK_ROWS)];
            left -= codes.len();
            let unwrapped = unwrap(Cow::Borrowed(block), 0)?;
            if unwrapped.is_group() {
                return Err(corrupt(PART, 0, "its codes are tokens, which it cannot have"));
            }
            unwrapped
                .parse(codes.len(), &ClassTable::default(), 0)?
                .decode(&mut codes, &mut scratch)?;
            for code in codes {
                let index = code as usize;
                let Some(&value) = values.get(index) else {
                    return Err(corrupt(
                        PART,
                        0,
                        format!("code {code} of {} values", values.len()),
                    ));
                };
                self.count(value)?;
                match value {
                    Some(value) => self.collector.push_entry(&mut known, index, || value)?,
                    None => drop(self.collector.push(None)?),
                }
            }
        }
        Ok(())
    }
}

fn too_large(what: &str, seen: u64, limit: u64) -> ColumnError {
    corrupt(PART, 0, format!("{seen} {what}, at most {limit} allowed"))
}

/// Writes the sections of `image`, an ordinary file, behind the packed one of `size` bytes that it
/// replaces; returns the footer that names their new places, and where they end. The packed file stays
/// valid until the header overwrites its start.
pub(crate) fn write_unpacked_behind(
    image: &dyn ReadAt,
    size: u64,
    out: &mut dyn WriteAt,
) -> Result<(Footer, u64)> {
    let header = Header::read(image)?;
    let mut footer = Footer::read(image, &header)?;
    let first = HEADER_BYTES as u64;
    let start = size.max(first).next_multiple_of(ALIGNMENT);
    let sections = read_range(image, PART, first, header.footer_offset - first)?;
    out.write_all_at(&sections, start)?;
    for segment in &mut footer.segments {
        for section in &mut segment.sections {
            section.offset += start - first;
        }
    }
    Ok((footer, start + sections.len() as u64))
}
