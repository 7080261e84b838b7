//! The pages of a column of a Parquet file, by their headers. What a footer says of sizes is not used by readers, and may be anything: they
//! decompress a page as a whole, to the size that its header claims.
//!
//! The library keeps its headers to itself, hence this reader of three of their numbers. They are Thrift structs in compact protocol:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>,
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::io::{self, Read};

use parquet::arrow::ProjectionMask;
use parquet::basic::Compression;
use parquet::file::reader::ChunkReader;

use super::guarded;
use super::parquet_input::{FORMAT, footer, of_parquet};
use crate::error::{ColumnError, Result};

/// A page as its header describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPage {
    /// Where its compressed bytes begin in the file.
    pub offset: u64,
    /// Compressed bytes, without the header.
    pub bytes: u64,
    /// Bytes that it decompresses to, as claimed.
    pub uncompressed_bytes: u64,
    /// Whether the reader ends at that size; with gzip and LZ4 frames it goes on to the end of the data.
    pub is_bounded: bool,
}

/// Shows each page of the column at a position to `visit`, in the order of the file; only headers are read.
///
/// *Cost*: a read of some kilobytes a page.
///
/// # Errors
/// [`ColumnError::Foreign`] for bytes that are not Parquet, and for headers that cannot be those of a page; what `input` and `visit` report.
pub fn for_each_page<R: ChunkReader>(
    input: &R,
    column: usize,
    mut visit: impl FnMut(StoredPage) -> Result<()>,
) -> Result<()> {
    let footer = guarded(FORMAT, || footer(input))?;
    let metadata = footer.metadata();
    let mask = ProjectionMask::roots(metadata.file_metadata().schema_descr(), [column]);
    for group in metadata.row_groups() {
        let leaves = (0..group.num_columns()).filter(|&leaf| mask.leaf_included(leaf));
        for chunk in leaves.map(|leaf| group.column(leaf)) {
            let is_bounded = !matches!(chunk.compression(), Compression::GZIP(_) | Compression::LZ4);
            // A negative number of a damaged footer is a panic of the library.
            let (mut offset, mut left) = guarded(FORMAT, || Ok(chunk.byte_range()))?;
            while left > 0 {
                let reader = input.get_read(offset).map_err(of_parquet)?;
                let page = Header::read(reader.take(left)).map_err(|error| damaged(&error))?;
                let used = page.header_bytes + page.bytes;
                left = left.checked_sub(used).ok_or_else(|| damaged(&too_long()))?;
                visit(StoredPage {
                    offset: offset + page.header_bytes,
                    bytes: page.bytes,
                    uncompressed_bytes: page.uncompressed_bytes,
                    is_bounded,
                })?;
                offset += used;
            }
        }
    }
    Ok(())
}

fn damaged(error: &io::Error) -> ColumnError {
    ColumnError::Foreign {
        format: FORMAT,
        detail: format!("the file is damaged: {error}; write the file again"),
    }
}

fn too_long() -> io::Error {
    io::Error::other("a page does not end where its column does")
}

/// What is needed of a page header.
struct Header {
    header_bytes: u64,
    bytes: u64,
    uncompressed_bytes: u64,
}

/// Numbers of the fields of a page header.
const UNCOMPRESSED: i64 = 2;
const COMPRESSED: i64 = 3;

/// Types of the compact protocol.
const I32: u8 = 5;
const STRUCT: u8 = 12;

/// Deeper than the struct of statistics in a header, by far.
const DEEPEST: usize = 8;

impl Header {
    fn read(input: impl Read) -> io::Result<Self> {
        let mut thrift = Thrift { input, read: 0 };
        let (mut field, mut bytes, mut uncompressed) = (0, None, None);
        while let Some((number, kind)) = thrift.field(field)? {
            field = number;
            // Where a type is not that of the format, this reader and the library's would see different headers.
            let expected = if number <= 4 { I32 } else { STRUCT };
            if (1..=8).contains(&number) && kind != expected {
                return Err(io::Error::other("a page header is not one of Parquet"));
            }
            match number {
                UNCOMPRESSED => uncompressed = Some(thrift.size()?),
                COMPRESSED => bytes = Some(thrift.size()?),
                _ => thrift.skip(kind, DEEPEST)?,
            }
        }
        match (bytes, uncompressed) {
            (Some(bytes), Some(uncompressed_bytes)) => Ok(Self {
                header_bytes: thrift.read,
                bytes,
                uncompressed_bytes,
            }),
            _ => Err(io::Error::other("a page header lacks its sizes")),
        }
    }
}

/// Reads what a struct in compact protocol is made of; each step takes at least a byte, so that it ends with its input.
struct Thrift<R> {
    input: R,
    /// Bytes that were read.
    read: u64,
}

impl<R: Read> Thrift<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input
            .read_exact(&mut byte)
            .map_err(|_| io::Error::other("a page header is truncated"))?;
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
        Err(io::Error::other("a page header has a number without end"))
    }

    fn signed(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The size of something.
    fn size(&mut self) -> io::Result<u64> {
        // The library takes the lower half of a longer number.
        u64::try_from(self.signed()? as i32).map_err(|_| io::Error::other("a page has a size below zero"))
    }

    /// Number and type of the next field of a struct, after that with the number `last`; `None` at its end.
    fn field(&mut self, last: i64) -> io::Result<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let number = match head >> 4 {
            0 => self.signed()?,
            step => last + i64::from(step),
        };
        Ok(Some((number, head & 0x0f)))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        let deeper = depth
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("a page header is nested too deeply"))?;
        match kind {
            // The type of a field says which of the two booleans it is.
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => u64::from(count),
                };
                (0..count).try_for_each(|_| self.element(head & 0x0f, deeper))
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.element(kinds >> 4, deeper)?;
                    self.element(kinds & 0x0f, deeper)
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((number, kind)) = self.field(last)? {
                    self.skip(kind, deeper)?;
                    last = number;
                }
                Ok(())
            }
            _ => Err(io::Error::other("a page header has a field of an unknown type")),
        }
    }

    /// Skips an element of a list or a map, in which a boolean takes a byte.
    fn element(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        match kind {
            1 | 2 => self.byte().map(drop),
            _ => self.skip(kind, depth),
        }
    }

    fn pass(&mut self, length: u64) -> io::Result<()> {
        let passed = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
        self.read += passed;
        match passed == length {
            true => Ok(()),
            false => Err(io::Error::other("a page header is truncated")),
        }
    }
}
