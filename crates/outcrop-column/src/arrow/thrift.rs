//! Structs in Thrift's compact protocol, as Parquet has them: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

use std::io::{self, ErrorKind, Read};

pub(super) fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
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

/// The numbers and flags of a struct by the numbers of their fields, and the last struct in it.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) numbers: [Option<i64>; 9],
    pub(super) inner: Option<(usize, Box<Self>)>,
}

impl Fields {
    /// A required number, which must not be negative.
    pub(super) fn size(&self, field: usize) -> io::Result<u64> {
        let number = self.numbers[field].ok_or_else(|| invalid("a page header lacks a number"))?;
        u64::try_from(number).map_err(|_| invalid("a page has a size below zero"))
    }
}

/// Reads structs in compact protocol. It is strict: whatever it let pass in another way than the library reads it, could have two meanings.
pub(super) struct Thrift<R> {
    pub(super) input: R,
    /// Bytes that were read.
    pub(super) read: u64,
}

impl<R: Read> Thrift<R> {
    /// Reads fields in ascending order, each at most once. Integers, flags and bytes of later versions of the format may follow; nothing else may.
    pub(super) fn structure(&mut self, shape: &'static [Kind]) -> io::Result<Fields> {
        let mut fields = Fields::default();
        let mut last = 0;
        while let Some((number, kind)) = self.field(&mut last)? {
            let place = number as usize;
            match (shape.get(place - 1), kind) {
                (Some(Kind::I32), 5) => fields.numbers[place] = Some(i64::from(self.signed()? as i32)),
                // The type of a field says which of the two it is.
                (Some(Kind::Flag), 1 | 2) => fields.numbers[place] = Some(i64::from(kind == 1)),
                (Some(Kind::Struct(_)), 12) if fields.inner.is_some() => {
                    return Err(invalid("a page header is that of two kinds of page"));
                }
                (Some(Kind::Struct(inner)), 12) => {
                    fields.inner = Some((place, Box::new(self.structure(inner)?)));
                }
                (None, 1 | 2) => {}
                (None, 3) => self.byte().map(drop)?,
                (Some(Kind::I64), 6) | (None, 4..=6) => self.varint().map(drop)?,
                (Some(Kind::Bytes) | None, 8) => self.pass_bytes()?,
                _ => return Err(invalid("a page header is not one of Parquet")),
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

    pub(super) fn byte(&mut self) -> io::Result<u8> {
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

    pub(super) fn varint(&mut self) -> io::Result<u64> {
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

    pub(super) const fn of(input: R) -> Self {
        Self { input, read: 0 }
    }
}
