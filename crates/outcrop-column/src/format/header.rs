//! The 64 bytes at the start of the file.

use super::fields::{Fields, push_u32, push_u64};
use crate::error::{ColumnError, Result};
use crate::storage::{ReadAt, check_crc, read_range};

pub(crate) const HEADER_BYTES: usize = 64;
const MAGIC: [u8; 8] = *b"\x8aOCOL\r\n\x1a";
const MAJOR: u16 = 1;
const MINOR: u16 = 0;
const PART: &str = "header";

/// Incompatible feature: blocks of codes may be tokens, and share bytes as a group.
pub(crate) const TOKENS: u64 = 1;

/// Incompatible features that this reader knows.
const KNOWN: u64 = TOKENS;

/// Where the footer is and what a reader must know to use the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Header {
    pub(crate) read_only_compatible: u64,
    pub(crate) incompatible: u64,
    pub(crate) footer_offset: u64,
    pub(crate) footer_bytes: u64,
    pub(crate) footer_crc: u32,
}

impl Header {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&MAJOR.to_le_bytes());
        out.extend_from_slice(&MINOR.to_le_bytes());
        push_u32(&mut out, 0);
        push_u64(&mut out, 0);
        push_u64(&mut out, self.read_only_compatible);
        push_u64(&mut out, self.incompatible);
        push_u64(&mut out, self.footer_offset);
        push_u64(&mut out, self.footer_bytes);
        push_u32(&mut out, self.footer_crc);
        let crc = crc32c::crc32c(&out);
        push_u32(&mut out, crc);
        out
    }

    /// Where the footer ends, and the file with it.
    pub(crate) const fn end(&self) -> u64 {
        self.footer_offset.saturating_add(self.footer_bytes)
    }

    /// As [`Header::read`], and refuses a file whose features allow reading only.
    pub(crate) fn read_to_append(source: &dyn ReadAt) -> Result<Self> {
        let header = Self::read(source)?;
        if header.read_only_compatible == 0 {
            return Ok(header);
        }
        Err(ColumnError::ReadOnly {
            features: header.read_only_compatible,
        })
    }

    pub(crate) fn read(source: &dyn ReadAt) -> Result<Self> {
        let size = source.size_bytes();
        let start = read_range(source, PART, 0, size.min(MAGIC.len() as u64))?;
        if start[..] != MAGIC {
            return Err(ColumnError::NotAColumn {
                found: start.to_vec(),
                expected: MAGIC,
            });
        }
        let bytes = read_range(source, PART, 0, HEADER_BYTES as u64)?;
        let mut fields = Fields::new(PART, 0, &bytes);
        fields.take(MAGIC.len())?;
        let (major, minor) = (fields.u16()?, fields.u16()?);
        let _reserved = fields.u32()?;
        let _compatible = fields.u64()?;
        let read_only_compatible = fields.u64()?;
        let incompatible = fields.u64()?;
        let (footer_offset, footer_bytes, footer_crc) = (fields.u64()?, fields.u64()?, fields.u32()?);
        // A newer major version may have moved the checksum, so the version speaks first.
        if major != MAJOR {
            return Err(ColumnError::Unsupported {
                major,
                minor,
                incompatible,
                known_major: MAJOR,
                known_features: KNOWN,
            });
        }
        check_crc(PART, 0, &bytes[..HEADER_BYTES - 4], fields.u32()?)?;
        if incompatible & !KNOWN != 0 {
            return Err(ColumnError::Unsupported {
                major,
                minor,
                incompatible,
                known_major: MAJOR,
                known_features: KNOWN,
            });
        }
        Ok(Self {
            read_only_compatible,
            incompatible,
            footer_offset,
            footer_bytes,
            footer_crc,
        })
    }
}
