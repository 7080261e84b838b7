//! Structs in Thrift's compact protocol, as Parquet has them: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.
//!
//! The library that reads Parquet goes by the number of a field, and by its type only where it does not know the number. So each known field must
//! have its type here, and what is passed over must be passed over as the library does: else the two would read different structs.

use std::io::{self, ErrorKind, Read, Take};

use Kind::{Bytes, Double, Flag, I8, I16, I32, I64, List, Struct, Unused};

/// Structs, lists and maps in each other, of what is not known.
const MOST_NESTED: usize = 16;
/// Fields of a struct whose numbers are kept, at most.
const MOST_KEPT: usize = 8;

/// Types of the protocol. A flag has two, one for each value.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const SHORT: u8 = 4;
pub(super) const INT: u8 = 5;
const LONG: u8 = 6;
const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;
const UUID: u8 = 13;

pub(super) fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

pub(super) fn of_another_type() -> io::Error {
    invalid("a field has another type than Parquet's")
}

/// The type of a field.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    I8,
    I16,
    I32,
    I64,
    Double,
    Flag,
    Bytes,
    Struct(&'static [Self]),
    List(&'static Self),
    /// A number that the format does not use.
    Unused,
}

impl Kind {
    /// Its types in the protocol.
    const fn wires(self) -> &'static [u8] {
        match self {
            Flag => &[TRUE, FALSE],
            I8 => &[BYTE],
            I16 => &[SHORT],
            I32 => &[INT],
            I64 => &[LONG],
            Double => &[DOUBLE],
            Bytes => &[BINARY],
            List(_) => &[LIST],
            Struct(_) => &[STRUCT],
            Unused => &[],
        }
    }
}

/// The numbers and flags of a struct by the numbers of their fields, which begin with 1, and the last struct in it.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) numbers: [Option<i64>; MOST_KEPT + 1],
    pub(super) inner: Option<(usize, Box<Self>)>,
}

/// Reads structs in compact protocol. It is strict: anything that it read differently from the library would have two meanings.
pub(super) struct Thrift<R> {
    /// Limited to the bytes that there are.
    input: Take<R>,
    /// Bytes that were read.
    pub(super) read: u64,
}

impl<R: Read> Thrift<R> {
    /// A reader of the structs in an input, which is limited to their bytes.
    pub(super) const fn of(input: Take<R>) -> Self {
        Self { input, read: 0 }
    }

    /// Reads fields in ascending order, each at most once: the 32-bit numbers and flags of a shape are kept, and what is in one of its structs. Any
    /// other field is passed over.
    pub(super) fn structure(&mut self, shape: &'static [Kind]) -> io::Result<Fields> {
        let mut fields = Fields::default();
        let mut last = 0;
        while let Some((number, wire)) = self.field(&mut last)? {
            let place = number as usize;
            let kind = shape.get(place - 1).copied();
            let kept = match (kind, wire) {
                (Some(I32), INT) => i64::from(self.signed()? as i32),
                // The type of a field says which of the two it is.
                (Some(Flag), TRUE | FALSE) => i64::from(wire == TRUE),
                (Some(Struct(_)), STRUCT) if fields.inner.is_some() => {
                    return Err(invalid("a page header describes two kinds of page"));
                }
                (Some(Struct(inner)), STRUCT) => {
                    fields.inner = Some((place, Box::new(self.structure(inner)?)));
                    continue;
                }
                _ => {
                    self.pass_field(shape, number, wire)?;
                    continue;
                }
            };
            if let Some(number) = fields.numbers.get_mut(place) {
                *number = Some(kept);
            }
        }
        Ok(fields)
    }

    /// Number and type of the next field of a struct; none at its end.
    pub(super) fn field(&mut self, last: &mut i64) -> io::Result<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let number = match head >> 4 {
            0 => self.signed()?,
            step => *last + i64::from(step),
        };
        if !(*last + 1..=i64::from(i16::MAX)).contains(&number) {
            return Err(invalid("the fields of a struct are not in order"));
        }
        *last = number;
        Ok(Some((number, head & 0x0f)))
    }

    /// Passes over a field of a struct of this shape.
    pub(super) fn pass_field(&mut self, shape: &'static [Kind], number: i64, wire: u8) -> io::Result<()> {
        match shape.get(number as usize - 1).copied() {
            None | Some(Unused) => self.pass(wire, 1),
            Some(kind) if kind.wires().contains(&wire) => self.pass_kind(kind),
            Some(_) => Err(of_another_type()),
        }
    }

    /// Passes over the value of a field of the format; a flag is in its type.
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
                if count > 0 && !of.wires().contains(&wire) {
                    return Err(of_another_type());
                }
                (0..count).try_for_each(|_| self.pass_kind(*of))
            }
            _ => kind.wires().first().map_or(Ok(()), |wire| self.pass(*wire, 1)),
        }
    }

    /// Passes over the value of a field that is not known.
    fn pass(&mut self, wire: u8, depth: usize) -> io::Result<()> {
        match wire {
            TRUE | FALSE => Ok(()),
            _ => self.pass_element(wire, depth),
        }
    }

    /// The same in a list, set or map. Flags have a byte there, of which the library knows nothing where it passes over them.
    fn pass_element(&mut self, wire: u8, depth: usize) -> io::Result<()> {
        if depth > MOST_NESTED {
            return Err(invalid("an unknown field is nested more than 16 deep"));
        }
        match wire {
            TRUE | FALSE => Err(invalid("an unknown field holds flags in a list, set or map")),
            BYTE => self.byte().map(drop),
            SHORT | INT | LONG => self.varint().map(drop),
            DOUBLE => (0..8).try_for_each(|_| self.byte().map(drop)),
            UUID => (0..16).try_for_each(|_| self.byte().map(drop)),
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
            _ => Err(invalid("a value has an unknown type")),
        }
    }

    /// How many elements a list has, and their type. Each has a byte at least.
    pub(super) fn list(&mut self) -> io::Result<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        Ok((self.within(count)?, head & 0x0f))
    }

    fn within(&self, count: u64) -> io::Result<u64> {
        match count <= self.input.limit() {
            true => Ok(count),
            false => Err(invalid("a list has more elements than there are bytes")),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input
            .read_exact(&mut byte)
            .map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => invalid("a struct is truncated"),
                _ => error,
            })?;
        self.read += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(invalid("a number does not end"))
    }

    pub(super) fn signed(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(super) fn pass_bytes(&mut self) -> io::Result<()> {
        let length = self.varint()?;
        let passed = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
        self.read += passed;
        match passed == length {
            true => Ok(()),
            false => Err(invalid("a struct is truncated")),
        }
    }
}
