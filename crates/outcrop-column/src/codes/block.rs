//! Reading one code block: parse once (all lengths checked), then decode, search or get.

use std::borrow::Cow;

use super::classes::{ClassTable, Classes};
use super::tokens::{self, Tokens};
use super::{Scratch, encoding};
use crate::error::{Result, corrupt};
use crate::format::{Fields, bits_of, unzigzag};
use crate::planes::Planes;

const PART: &str = "code block";

/// A parsed block.
#[derive(Debug)]
pub(crate) enum Block<'a> {
    Constant { value: u32, count: usize },
    Runs { ends: Vec<u32>, values: Vec<u32> },
    Local { values: Vec<u32>, indexes: Planes<'a> },
    Planes { base: u32, planes: Planes<'a> },
    Classes(Box<Classes<'a>>),
    Deltas { first: u32, planes: Planes<'a> },
    Tokens(Tokens<'a>),
}

/// Bytes of a block without its zstd wrapping: the encoding and what follows it.
#[derive(Debug)]
pub(crate) struct Unwrapped<'a> {
    encoding: u8,
    body: Cow<'a, [u8]>,
    offset: u64,
}

/// Takes off the zstd wrapping, if there is one. `offset` is that of the block in the file, for messages.
pub(crate) fn unwrap(bytes: Cow<'_, [u8]>, offset: u64) -> Result<Unwrapped<'_>> {
    let &first = bytes
        .first()
        .ok_or_else(|| corrupt(PART, offset, "it is empty"))?;
    if first & encoding::ZSTD == 0 {
        // Each block of a group costs a look at all of it, as zstd's does.
        if encoding::is_group(first) && bytes.len() > encoding::RAW_BYTES_LIMIT + 1 {
            let why = format!(
                "a group of {} bytes, at most {} allowed",
                bytes.len(),
                encoding::RAW_BYTES_LIMIT
            );
            return Err(corrupt(PART, offset, why));
        }
        let body = match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[1..]),
            Cow::Owned(mut bytes) => {
                bytes.remove(0);
                Cow::Owned(bytes)
            }
        };
        return Ok(Unwrapped {
            encoding: first,
            body,
            offset,
        });
    }
    let mut fields = Fields::new(PART, offset, &bytes);
    fields.take(1)?;
    let raw_bytes = fields.u32()? as usize;
    if raw_bytes > encoding::RAW_BYTES_LIMIT {
        return Err(fields.wrong(format!(
            "raw length {raw_bytes}, at most {} allowed",
            encoding::RAW_BYTES_LIMIT
        )));
    }
    let body = inflate(PART, offset, fields.rest(), raw_bytes)?;
    Ok(Unwrapped {
        encoding: first & !encoding::ZSTD,
        body: Cow::Owned(body),
        offset,
    })
}

/// Decompresses a zstd frame of exactly `raw_bytes` bytes.
pub(crate) fn inflate(part: &'static str, offset: u64, frame: &[u8], raw_bytes: usize) -> Result<Vec<u8>> {
    let raw = zstd::bulk::decompress(frame, raw_bytes)
        .map_err(|error| corrupt(part, offset, format!("zstd: {error}")))?;
    if raw.len() != raw_bytes {
        return Err(corrupt(
            part,
            offset,
            format!("zstd frame of {} bytes, {raw_bytes} expected", raw.len()),
        ));
    }
    Ok(raw)
}

impl Unwrapped<'_> {
    /// Whether several blocks may share these bytes as a group.
    pub(crate) fn is_group(&self) -> bool {
        self.encoding == encoding::TOKENS
    }

    /// The same for longer than the source is borrowed, where that takes no copy.
    pub(crate) fn into_decompressed(self) -> Option<Unwrapped<'static>> {
        match self.body {
            Cow::Owned(body) => Some(Unwrapped {
                body: Cow::Owned(body),
                ..self
            }),
            Cow::Borrowed(_) => None,
        }
    }

    /// Parses a block of `count` integers, in a group the one in place `part`.
    pub(crate) fn parse(&self, count: usize, classes: &ClassTable, part: u32) -> Result<Block<'_>> {
        let mut fields = Fields::new(PART, self.offset, &self.body);
        let block = match self.encoding {
            encoding::CONSTANT => Block::Constant {
                value: fields.u32()?,
                count,
            },
            encoding::RUNS => parse_runs(&mut fields, count)?,
            encoding::LOCAL => parse_local(&mut fields, count)?,
            encoding::PLANES => {
                let (width, base) = (fields.u8()?, fields.u32()?);
                Block::Planes {
                    base,
                    planes: Planes::take(&mut fields, count, width)?,
                }
            }
            encoding::CLASSES => Block::Classes(Box::new(Classes::parse(&mut fields, count, classes)?)),
            encoding::DELTAS => {
                let (width, first) = (fields.u8()?, fields.u32()?);
                let rest = count
                    .checked_sub(1)
                    .ok_or_else(|| fields.wrong("deltas of no rows"))?;
                Block::Deltas {
                    first,
                    planes: Planes::take(&mut fields, rest, width)?,
                }
            }
            encoding::TOKENS => Block::Tokens(tokens::parse(&mut fields, count, part)?),
            other => return Err(fields.wrong(format!("unknown encoding {other}"))),
        };
        fields.end()?;
        Ok(block)
    }
}

fn unpacked(planes: Planes<'_>, base: u32) -> Vec<u32> {
    let mut values = vec![0; planes.count()];
    planes.unpack(base, &mut values);
    values
}

fn parse_runs<'a>(fields: &mut Fields<'a>, count: usize) -> Result<Block<'a>> {
    let (width, base, run_count) = (fields.u8()?, fields.u32()?, fields.u32()? as usize);
    if run_count > count {
        return Err(fields.wrong(format!("{run_count} runs in {count} rows")));
    }
    let mut ends = unpacked(Planes::take(fields, run_count, 16)?, 1);
    let mut end = 0_u32;
    for length in &mut ends {
        // At most 65,536 runs of at most 65,536 rows: 2^32, which the last addition may reach.
        end = end
            .checked_add(*length)
            .ok_or_else(|| fields.wrong("run lengths overflow"))?;
        *length = end;
    }
    if end as usize != count {
        return Err(fields.wrong(format!("runs of {end} rows, {count} expected")));
    }
    Ok(Block::Runs {
        ends,
        values: unpacked(Planes::take(fields, run_count, width)?, base),
    })
}

fn parse_local<'a>(fields: &mut Fields<'a>, count: usize) -> Result<Block<'a>> {
    let (width, base, size) = (fields.u8()?, fields.u32()?, fields.u32()? as usize);
    if size == 0 || size > count {
        return Err(fields.wrong(format!("a local dictionary of {size} values for {count} rows")));
    }
    let values = unpacked(Planes::take(fields, size, width)?, base);
    if !values.is_sorted() {
        return Err(fields.wrong("the local dictionary is not ascending"));
    }
    let indexes = Planes::take(fields, count, bits_of(size as u32 - 1))?;
    Ok(Block::Local { values, indexes })
}

impl Block<'_> {
    /// All integers, into `out`, which has the block's length.
    pub(crate) fn decode(&self, out: &mut [u32], scratch: &mut Scratch) -> Result<()> {
        match self {
            Self::Constant { value, .. } => out.fill(*value),
            Self::Runs { ends, values } => {
                let mut start = 0;
                for (&end, &value) in ends.iter().zip(values) {
                    out[start..end as usize].fill(value);
                    start = end as usize;
                }
            }
            Self::Local { values, indexes } => {
                indexes.unpack(0, out);
                for slot in out {
                    *slot = *values
                        .get(*slot as usize)
                        .ok_or_else(|| bad_index(*slot, values.len()))?;
                }
            }
            Self::Planes { base, planes } => planes.unpack(*base, out),
            Self::Classes(classes) => classes.decode(out, scratch)?,
            Self::Deltas { first, planes } => {
                out[0] = *first;
                planes.unpack(0, &mut out[1..]);
                let mut value = *first;
                for slot in &mut out[1..] {
                    value = value.wrapping_add(unzigzag(*slot));
                    *slot = value;
                }
            }
            Self::Tokens(tokens) => tokens.decode(out)?,
        }
        Ok(())
    }

    /// Appends the positions, ascending, of the integers in `least ..= greatest`.
    pub(crate) fn find_within(&self, least: u32, greatest: u32, found: &mut Vec<u32>) -> Result<()> {
        let inside = |value: &u32| least <= *value && *value <= greatest;
        match self {
            Self::Constant { value, count } => {
                if inside(value) {
                    found.extend(0..*count as u32);
                }
            }
            Self::Runs { ends, values } => {
                let mut start = 0;
                for (&end, value) in ends.iter().zip(values) {
                    if inside(value) {
                        found.extend(start..end);
                    }
                    start = end;
                }
            }
            Self::Local { values, indexes } => {
                let from = values.partition_point(|&value| value < least) as u32;
                let to = values.partition_point(|&value| value <= greatest) as u32;
                if from < to {
                    indexes.find_within(from, to - 1, found);
                }
            }
            Self::Planes { base, planes } => {
                if greatest >= *base {
                    planes.find_within(least.saturating_sub(*base), greatest - base, found);
                }
            }
            Self::Classes(classes) => classes.find_within(least, greatest, found)?,
            Self::Deltas { planes, .. } => {
                let mut values = vec![0; planes.count() + 1];
                self.decode(&mut values, &mut Scratch::default())?;
                found.extend(places_where(&values, inside));
            }
            Self::Tokens(tokens) => tokens.find(|value| inside(&value), found)?,
        }
        Ok(())
    }

    /// Integer `index`, which must be less than the block's length.
    pub(crate) fn get(&self, index: usize) -> Result<u32> {
        Ok(match self {
            Self::Constant { value, .. } => *value,
            Self::Runs { ends, values } => values[ends.partition_point(|&end| end as usize <= index)],
            Self::Local { values, indexes } => {
                let local = indexes.get(index);
                *values
                    .get(local as usize)
                    .ok_or_else(|| bad_index(local, values.len()))?
            }
            Self::Planes { base, planes } => planes.get(index).wrapping_add(*base),
            Self::Classes(classes) => classes.get(index)?,
            Self::Deltas { planes, .. } => {
                let mut values = vec![0; planes.count() + 1];
                self.decode(&mut values, &mut Scratch::default())?;
                values[index]
            }
            Self::Tokens(tokens) => tokens.get(index)?,
        })
    }
}

/// The positions of the integers for which `holds` is true.
fn places_where(values: &[u32], holds: impl Fn(&u32) -> bool) -> impl Iterator<Item = u32> {
    (0_u32..)
        .zip(values)
        .filter(move |(_, value)| holds(value))
        .map(|(index, _)| index)
}

fn bad_index(index: u32, size: usize) -> crate::ColumnError {
    corrupt(
        PART,
        0,
        format!("index {index} into a local dictionary of {size} values"),
    )
}
