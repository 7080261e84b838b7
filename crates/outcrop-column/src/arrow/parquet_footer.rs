//! What the footer of a Parquet file claims, before the library takes memory for it: lists as long as they say, and types as deep.

use std::io::{self, Cursor};

use parquet::file::reader::ChunkReader;

use super::parquet_input::MAGIC;
use super::thrift::{Thrift, invalid};

/// Levels of a schema; each is a call on the stack of the library. Programs that write Parquet make some ten at most.
const MOST_LEVELS: usize = 200;
/// Structs in structs of a footer, where the format has six.
const MOST_STRUCTS: usize = 16;
/// The list of types, and how many of those behind it a type contains.
const SCHEMA: i64 = 2;
const CHILDREN: i64 = 5;

/// Refuses a footer with a list of more elements than it has bytes, or with types of too many levels. What is wrong in another way, the
/// library says.
pub(super) fn check<R: ChunkReader>(input: &R) -> io::Result<()> {
    let Some(bytes) = footer_bytes(input) else {
        return Ok(());
    };
    let mut footer = Thrift::of(Cursor::new(bytes));
    let mut field = 0;
    while let Some((number, kind)) = footer.field(&mut field)? {
        match (number, kind) {
            (SCHEMA, LIST) => schema(&mut footer)?,
            _ => footer.pass(kind, 1)?,
        }
    }
    Ok(())
}

fn footer_bytes<R: ChunkReader>(input: &R) -> Option<bytes::Bytes> {
    let tail_bytes = 4 + MAGIC.len() as u64;
    let at = input.len().checked_sub(tail_bytes)?;
    let tail = input.get_bytes(at, tail_bytes as usize).ok()?;
    let (length, magic) = tail.split_at_checked(4)?;
    let length = u64::from(u32::from_le_bytes(length.try_into().ok()?));
    let start = at.checked_sub(length).filter(|_| magic == MAGIC)?;
    input.get_bytes(start, length as usize).ok()
}

/// Types of the protocol.
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// The types in order, each in front of those that it contains.
fn schema(footer: &mut Thrift<Cursor<bytes::Bytes>>) -> io::Result<()> {
    let (count, kind) = footer.list()?;
    // How many types each of the levels above still has.
    let mut levels: Vec<i64> = Vec::new();
    for _ in 0..count {
        while levels.pop_if(|left| *left <= 0).is_some() {}
        if let Some(left) = levels.last_mut() {
            *left -= 1;
        }
        if kind != STRUCT {
            footer.pass(kind, 1)?;
            continue;
        }
        let (mut field, mut children) = (0, 0);
        while let Some((number, kind)) = footer.field(&mut field)? {
            match (number, kind) {
                (CHILDREN, 4..=6) => children = footer.signed()?,
                _ => footer.pass(kind, 2)?,
            }
        }
        if u64::try_from(children).is_ok_and(|children| children > count) {
            return Err(invalid("a type in its footer contains more types than there are"));
        }
        levels.push(children);
        if levels.len() > MOST_LEVELS {
            return Err(invalid("its types are nested in more than 200 levels"));
        }
    }
    Ok(())
}

impl Thrift<Cursor<bytes::Bytes>> {
    /// Number and type of the next field of a struct; none at its end.
    fn field(&mut self, last: &mut i64) -> io::Result<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        *last = match head >> 4 {
            0 => self.signed()?,
            step => last.saturating_add(i64::from(step)),
        };
        Ok(Some((*last, head & 0x0f)))
    }

    /// How many elements a list has, and their type. Each has a byte at least.
    fn list(&mut self) -> io::Result<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        Ok((self.within(count)?, head & 0x0f))
    }

    fn within(&self, count: u64) -> io::Result<u64> {
        let left = (self.input.get_ref().len() as u64).saturating_sub(self.input.position());
        match count <= left {
            true => Ok(count),
            false => Err(invalid(
                "a list in its footer has more elements than the footer has bytes",
            )),
        }
    }

    /// Passes over a value, whatever it is.
    fn pass(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        match kind {
            1 | 2 => Ok(()),
            _ => self.pass_element(kind, depth),
        }
    }

    /// The same in a list, where flags have a byte.
    fn pass_element(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        if depth > MOST_STRUCTS {
            return Err(invalid("its footer has structs in structs without end"));
        }
        match kind {
            1..=3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            DOUBLE => (0..8).try_for_each(|_| self.byte().map(drop)),
            BINARY => self.pass_bytes(),
            LIST | SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.pass_element(kind, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                let count = self.within(count)?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.pass_element(kinds >> 4, depth + 1)?;
                    self.pass_element(kinds & 0x0f, depth + 1)
                })
            }
            STRUCT => {
                let mut field = 0;
                while let Some((_, kind)) = self.field(&mut field)? {
                    self.pass(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(invalid("its footer has a value of an unknown type")),
        }
    }
}
