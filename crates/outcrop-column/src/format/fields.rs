//! Reading and writing little-endian fields; reading checks every bound.

use crate::error::{ColumnError, Result, corrupt};

/// A cursor over untrusted bytes. Every failure names the part and the offset in the file.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    position: usize,
    part: &'static str,
    file_offset: u64,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(part: &'static str, file_offset: u64, bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            position: 0,
            part,
            file_offset,
        }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.position..];
        let Some(taken) = rest.get(..length) else {
            return Err(self.wrong(format!("{length} bytes expected, {} left", rest.len())));
        };
        self.position += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..63).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.wrong("a varint of more than 63 bits"))
    }

    /// Where the next byte is in the file, or in what was decompressed there.
    pub(crate) fn offset(&self) -> u64 {
        self.file_offset + self.position as u64
    }

    /// Bytes taken so far.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Everything that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position..];
        self.position = self.bytes.len();
        rest
    }

    /// Fails if bytes are left over.
    pub(crate) fn end(&self) -> Result<()> {
        match self.bytes.len() - self.position {
            0 => Ok(()),
            left => Err(self.wrong(format!("{left} bytes left over, 0 expected"))),
        }
    }

    pub(crate) fn wrong(&self, detail: impl Into<String>) -> ColumnError {
        corrupt(self.part, self.file_offset + self.position as u64, detail)
    }
}

pub(crate) fn push_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn push_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
