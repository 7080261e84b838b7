//! What the footer of a Parquet file claims, before the library takes memory for it: lists as long as they say, and types as deep.
//!
//! The library goes by the number of a field, and by its type only where it does not know the number. So each known field must have its
//! type here: else the two would read different footers.
//!
//! *Source*: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::io::{self, Cursor};

use parquet::file::reader::ChunkReader;

use super::parquet_input::MAGIC;
use super::parquet_pages::STATISTICS;
use super::thrift::Kind::{self, Bytes, Double, Flag, I8, I16, I32, I64, List, Struct, Unused};
use super::thrift::{Thrift, invalid};

/// Levels of a schema; each is a call on the stack of the library. Programs that write Parquet make some ten at most.
const MOST_LEVELS: usize = 200;
/// Structs in structs of what is not known.
const MOST_STRUCTS: usize = 16;

const EMPTY: Kind = Struct(&[]);
const KEY_VALUE: Kind = Struct(&[Bytes, Bytes]);
const PAGE_ENCODING: Kind = Struct(&[I32, I32, I32]);
const SIZE_STATISTICS: Kind = Struct(&[I64, List(&I64), List(&I64)]);
const BOX: Kind = Struct(&[Double, Double, Double, Double, Double, Double, Double, Double]);
const PLACES: Kind = Struct(&[BOX, List(&I32)]);
const COLUMN: Kind = Struct(&[
    I32,
    List(&I32),
    List(&Bytes),
    I32,
    I64,
    I64,
    I64,
    List(&KEY_VALUE),
    I64,
    I64,
    I64,
    Struct(STATISTICS),
    List(&PAGE_ENCODING),
    I64,
    I32,
    SIZE_STATISTICS,
    PLACES,
]);
const COLUMN_KEY: Kind = Struct(&[EMPTY, Struct(&[List(&Bytes), Bytes])]);
const CHUNK: Kind = Struct(&[Bytes, I64, COLUMN, I64, I32, I64, I32, COLUMN_KEY, Bytes]);
const SORTING: Kind = Struct(&[I32, Flag, Flag]);
const GROUP: Kind = Struct(&[List(&CHUNK), I64, I64, List(&SORTING), I64, I64, I16]);
const CIPHER: Kind = Struct(&[Bytes, Bytes, Flag]);
/// The fields of a footer; that of the types is looked at apart.
const FILE: &[Kind] = &[
    I32,
    Unused,
    I64,
    List(&GROUP),
    List(&KEY_VALUE),
    Bytes,
    List(&Struct(&[EMPTY, EMPTY])),
    Struct(&[CIPHER, CIPHER]),
    Bytes,
];
const TYPES: i64 = 2;

const UNIT: Kind = Struct(&[EMPTY, EMPTY, EMPTY]);
const TIME: Kind = Struct(&[Flag, UNIT]);
const LOGICAL: Kind = Struct(&[
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[I32, I32]),
    EMPTY,
    TIME,
    TIME,
    Unused,
    Struct(&[I8, Flag]),
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[I8]),
    Struct(&[Bytes]),
    Struct(&[Bytes, I32]),
]);
/// The fields of a type; how many of those behind it it contains is looked at apart.
const TYPE: &[Kind] = &[I32, I32, I32, Bytes, Unused, I32, I32, I32, I32, LOGICAL];
const CHILDREN: i64 = 5;

/// Refuses a footer with a list of more elements than it has bytes, with types of too many levels, or with a field of another type than the
/// format's. What is wrong in another way, the library says.
pub(super) fn check<R: ChunkReader>(input: &R) -> io::Result<()> {
    let Some(bytes) = footer_bytes(input) else {
        return Ok(());
    };
    let mut footer = Thrift::of(Cursor::new(bytes));
    let mut field = 0;
    while let Some((number, wire)) = footer.field(&mut field)? {
        match (number, wire) {
            (TYPES, LIST) => types(&mut footer)?,
            (TYPES, _) => return Err(of_another_type()),
            _ => footer.pass_field(FILE, number, wire)?,
        }
    }
    Ok(())
}

fn of_another_type() -> io::Error {
    invalid("its footer has a field of another type than Parquet's")
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
fn types(footer: &mut Thrift<Cursor<bytes::Bytes>>) -> io::Result<()> {
    let (count, wire) = footer.list()?;
    if count > 0 && wire != STRUCT {
        return Err(of_another_type());
    }
    // How many types each of the levels above still has.
    let mut levels: Vec<i64> = Vec::new();
    for _ in 0..count {
        while levels.pop_if(|left| *left <= 0).is_some() {}
        if let Some(left) = levels.last_mut() {
            *left -= 1;
        }
        let (mut field, mut children) = (0, 0);
        while let Some((number, wire)) = footer.field(&mut field)? {
            match (number, wire) {
                (CHILDREN, 5) => children = i64::from(footer.signed()? as i32),
                (CHILDREN, _) => return Err(of_another_type()),
                _ => footer.pass_field(TYPE, number, wire)?,
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

impl Kind {
    /// Its type in the protocol; of a flag in a list.
    const fn wire(self) -> Option<u8> {
        Some(match self {
            Self::Flag => 2,
            Self::I8 => 3,
            Self::I16 => 4,
            Self::I32 => 5,
            Self::I64 => 6,
            Self::Double => DOUBLE,
            Self::Bytes => BINARY,
            Self::List(_) => LIST,
            Self::Struct(_) => STRUCT,
            Self::Unused => return None,
        })
    }
}

impl Thrift<Cursor<bytes::Bytes>> {
    /// Passes over a field of a struct of this shape.
    fn pass_field(&mut self, shape: &'static [Kind], number: i64, wire: u8) -> io::Result<()> {
        match shape.get(number as usize - 1).copied() {
            None | Some(Unused) => self.pass(wire, 1),
            Some(Flag) if matches!(wire, 1 | 2) => Ok(()),
            Some(kind) if kind.wire() == Some(wire) && !matches!(kind, Flag) => self.pass_kind(kind),
            Some(_) => Err(of_another_type()),
        }
    }

    /// Passes over a value of the format.
    fn pass_kind(&mut self, kind: Kind) -> io::Result<()> {
        match kind {
            Struct(shape) => {
                let mut field = 0;
                while let Some((number, wire)) = self.field(&mut field)? {
                    self.pass_field(shape, number, wire)?;
                }
                Ok(())
            }
            List(of) => {
                let (count, wire) = self.list()?;
                if count > 0 && of.wire() != Some(wire) {
                    return Err(of_another_type());
                }
                (0..count).try_for_each(|_| self.pass_kind(*of))
            }
            _ => self.pass_element(kind.wire().unwrap_or_default(), 1),
        }
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

    /// Passes over a field that is not known.
    fn pass(&mut self, wire: u8, depth: usize) -> io::Result<()> {
        match wire {
            1 | 2 => Ok(()),
            _ => self.pass_element(wire, depth),
        }
    }

    /// The same in a list, where flags have a byte.
    fn pass_element(&mut self, wire: u8, depth: usize) -> io::Result<()> {
        if depth > MOST_STRUCTS {
            return Err(invalid("its footer has structs in structs without end"));
        }
        match wire {
            1..=3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            DOUBLE => (0..8).try_for_each(|_| self.byte().map(drop)),
            BINARY => self.pass_bytes(),
            LIST | SET => {
                let (count, wire) = self.list()?;
                (0..count).try_for_each(|_| self.pass_element(wire, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                let count = self.within(count)?;
                if count == 0 {
                    return Ok(());
                }
                let wires = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.pass_element(wires >> 4, depth + 1)?;
                    self.pass_element(wires & 0x0f, depth + 1)
                })
            }
            STRUCT => {
                let mut field = 0;
                while let Some((_, wire)) = self.field(&mut field)? {
                    self.pass(wire, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(invalid("its footer has a value of an unknown type")),
        }
    }
}
