//! The pages of a column of a Parquet file, by their headers. What a footer says of sizes is not used by readers, and may be anything: they
//! decompress a page as a whole, to the size that its header claims.
//!
//! The library keeps its headers to itself, hence this reader of three of their numbers. They are Thrift structs in compact protocol:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>,
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;

use parquet::arrow::ProjectionMask;
use parquet::basic::Compression;
use parquet::file::reader::ChunkReader;

use super::guarded;
use super::parquet_input::{FORMAT, footer, of_parquet};
use crate::error::{ColumnError, Result};

/// A page as its header describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPage {
    /// Where its compressed values begin in the file: in pages of the second version behind their levels.
    pub offset: u64,
    /// Bytes of those values.
    pub bytes: u64,
    /// Bytes that all of the page decompresses to, as claimed.
    pub uncompressed_bytes: u64,
    /// Whether the reader ends at that size; with gzip and LZ4 frames it goes on to the end of the data.
    pub is_bounded: bool,
}

/// Shows each page of the column at a position to `visit`, in the order of the file, until that breaks; only headers are read.
///
/// *Cost*: a read of some kilobytes a page.
///
/// # Errors
/// [`ColumnError::Foreign`] for bytes that are not Parquet, and for headers that cannot be those of a page; what `input` and `visit` report.
pub fn for_each_page<R: ChunkReader>(
    input: &R,
    column: usize,
    mut visit: impl FnMut(StoredPage) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let footer = guarded(FORMAT, || footer(input))?;
    let metadata = footer.metadata();
    let mask = ProjectionMask::roots(metadata.file_metadata().schema_descr(), [column]);
    for group in metadata.row_groups() {
        let leaves = (0..group.num_columns()).filter(|&leaf| mask.leaf_included(leaf));
        for chunk in leaves.map(|leaf| group.column(leaf)) {
            let is_unbounded = matches!(chunk.compression(), Compression::GZIP(_) | Compression::LZ4);
            // A negative number of a damaged footer is a panic of the library.
            let (mut offset, mut left) = guarded(FORMAT, || Ok(chunk.byte_range()))?;
            while left > 0 {
                let reader = input.get_read(offset).map_err(of_parquet)?;
                let page = Header::read(reader.take(left)).map_err(of_header)?;
                let used = page.header_bytes + page.bytes;
                left = left.checked_sub(used).ok_or_else(|| of_header(too_long()))?;
                let shown = visit(StoredPage {
                    offset: offset + page.header_bytes + page.level_bytes,
                    bytes: page.bytes - page.level_bytes,
                    uncompressed_bytes: page.uncompressed_bytes,
                    is_bounded: !(is_unbounded && page.is_compressed),
                })?;
                if shown.is_break() {
                    return Ok(());
                }
                offset += used;
            }
        }
    }
    Ok(())
}

/// What a header does not have is damage; what could not be read says so itself.
fn of_header(error: io::Error) -> ColumnError {
    match error.kind() {
        ErrorKind::InvalidData => ColumnError::Foreign {
            format: FORMAT,
            detail: format!("the file is damaged: {error}; write the file again"),
        },
        _ => ColumnError::Io(error),
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

fn too_long() -> io::Error {
    invalid("a page does not end where its column does")
}

/// The type of a field.
#[derive(Clone, Copy)]
enum Kind {
    I32,
    I64,
    Flag,
    Bytes,
    Struct(&'static [Self]),
}

/// The structs of a page header: the types of their fields, of which the first has the number 1.
const STATISTICS: &[Kind] = {
    use Kind::{Bytes, Flag, I64};
    &[Bytes, Bytes, I64, I64, Bytes, Bytes, Flag, Flag]
};
const DATA: &[Kind] = {
    use Kind::I32;
    &[I32, I32, I32, I32, Kind::Struct(STATISTICS)]
};
const DICTIONARY: &[Kind] = &[Kind::I32, Kind::I32, Kind::Flag];
const DATA_V2: &[Kind] = {
    use Kind::I32;
    &[I32, I32, I32, I32, I32, I32, Kind::Flag, Kind::Struct(STATISTICS)]
};
const PAGE: &[Kind] = {
    use Kind::{I32, Struct};
    &[
        I32,
        I32,
        I32,
        I32,
        Struct(DATA),
        Struct(&[]),
        Struct(DICTIONARY),
        Struct(DATA_V2),
    ]
};

/// Numbers of fields: of a page, and of a data page of the second version.
const PAGE_TYPE: usize = 1;
const UNCOMPRESSED: usize = 2;
const COMPRESSED: usize = 3;
const V2: usize = 8;
const DEFINITION_LEVELS: usize = 5;
const REPETITION_LEVELS: usize = 6;
const IS_COMPRESSED: usize = 7;

/// What is needed of a page header.
struct Header {
    header_bytes: u64,
    bytes: u64,
    uncompressed_bytes: u64,
    /// Of the bytes, those in front of what is compressed.
    level_bytes: u64,
    is_compressed: bool,
}

impl Header {
    fn read(input: impl Read) -> io::Result<Self> {
        let mut thrift = Thrift { input, read: 0 };
        let page = thrift.structure(PAGE)?;
        page.size(PAGE_TYPE)?;
        let bytes = page.size(COMPRESSED)?;
        let (mut level_bytes, mut is_compressed) = (0, true);
        if let Some((V2, data)) = &page.inner {
            level_bytes = data.size(DEFINITION_LEVELS)? + data.size(REPETITION_LEVELS)?;
            is_compressed = data.numbers[IS_COMPRESSED] != Some(0);
        }
        match level_bytes <= bytes {
            true => Ok(Self {
                header_bytes: thrift.read,
                bytes,
                uncompressed_bytes: page.size(UNCOMPRESSED)?,
                level_bytes,
                is_compressed,
            }),
            false => Err(invalid("a page is shorter than its levels")),
        }
    }
}

/// The numbers and flags of a struct by the numbers of their fields, and the last struct in it.
#[derive(Default)]
struct Fields {
    numbers: [Option<i64>; 9],
    inner: Option<(usize, Box<Self>)>,
}

impl Fields {
    /// A required number, which must not be negative.
    fn size(&self, field: usize) -> io::Result<u64> {
        let number = self.numbers[field].ok_or_else(|| invalid("a page header lacks a number"))?;
        u64::try_from(number).map_err(|_| invalid("a page has a size below zero"))
    }
}

/// Reads structs in compact protocol. It is strict: whatever it let pass in another way than the library reads it, could have two meanings.
struct Thrift<R> {
    input: R,
    /// Bytes that were read.
    read: u64,
}

impl<R: Read> Thrift<R> {
    /// Reads fields in ascending order, each at most once. Scalar fields of later versions of the format may follow; collections may not.
    fn structure(&mut self, shape: &'static [Kind]) -> io::Result<Fields> {
        let mut fields = Fields::default();
        let mut last = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(fields);
            }
            let number = match head >> 4 {
                0 => self.signed()?,
                step => last + i64::from(step),
            };
            if !(last + 1..=i64::from(i16::MAX)).contains(&number) {
                return Err(invalid("the fields of a page header are not in order"));
            }
            last = number;
            let (place, kind) = (number as usize, head & 0x0f);
            match (shape.get(place - 1), kind) {
                (Some(Kind::I32), 5) => fields.numbers[place] = Some(i64::from(self.signed()? as i32)),
                // The type of a field says which of the two it is.
                (Some(Kind::Flag), 1 | 2) => fields.numbers[place] = Some(i64::from(kind == 1)),
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
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input
            .read_exact(&mut byte)
            .map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => invalid("a page header is truncated"),
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
        Err(invalid("a page header has a number without end"))
    }

    fn signed(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn pass_bytes(&mut self) -> io::Result<()> {
        let length = self.varint()?;
        let passed = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
        self.read += passed;
        match passed == length {
            true => Ok(()),
            false => Err(invalid("a page header is truncated")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page of the first version: 1,000 bytes that become 5,000.
    const PLAIN: &[u8] = &[
        0x15, 0, 0x15, 0x90, 0x4e, 0x15, 0xd0, 0x0f, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0,
    ];

    fn read(bytes: &[u8]) -> io::Result<(u64, u64, u64)> {
        let header = Header::read(bytes)?;
        Ok((header.header_bytes, header.bytes, header.uncompressed_bytes))
    }

    #[test]
    fn a_header_has_the_sizes_of_its_page() {
        assert_eq!(read(PLAIN).unwrap(), (PLAIN.len() as u64, 1000, 5000));
        // Of the second version: 30 bytes of levels in front of 970 that are compressed.
        let second = [
            &[0x15, 6][..],
            &PLAIN[2..8],
            &[
                0x5c, 0x15, 2, 0x15, 0, 0x15, 2, 0x15, 0, 0x15, 20, 0x15, 40, 0x11, 0, 0,
            ],
        ]
        .concat();
        let header = Header::read(&second[..]).unwrap();
        assert_eq!((header.bytes, header.level_bytes), (1000, 30));
        assert!(header.is_compressed);
        let uncompressed = [&second[..second.len() - 3], &[0x12, 0, 0]].concat();
        assert!(!Header::read(&uncompressed[..]).unwrap().is_compressed);
    }

    #[test]
    fn a_header_that_has_two_meanings_is_refused() {
        let stop = PLAIN.len() - 1;
        let with = |more: &[u8]| [&PLAIN[..stop], more, &[0]].concat();
        // A field of a later version may follow: of 4 bytes, and a flag.
        assert!(read(&with(&[0xc8, 4, 1, 2, 3, 4, 0x11])).is_ok());
        for (what, header) in [
            ("a size again", with(&[0x05, 4, 2])),
            (
                "a size by a number of which 16 bits are 2",
                with(&[0x05, 0x84, 0x80, 0x08, 2]),
            ),
            (
                "a number near the end of all",
                with(&[
                    0x05, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 0x15, 2,
                ]),
            ),
            ("a list of flags", with(&[0xc9, 0x21, 1, 1])),
            ("a struct of a later version", with(&[0xcc, 0])),
            ("an end with a number", with(&[0x10])),
            ("a number of values that is text", {
                let mut bytes = PLAIN.to_vec();
                bytes[9] = 0x18;
                bytes
            }),
            ("no type", PLAIN[2..].to_vec()),
            ("a size below zero", {
                let mut bytes = PLAIN.to_vec();
                bytes[3] |= 1;
                bytes
            }),
        ] {
            let refused = read(&header).expect_err(what);
            assert_eq!(refused.kind(), ErrorKind::InvalidData, "{what}: {refused}");
        }
        for length in 0..PLAIN.len() {
            assert!(read(&PLAIN[..length]).is_err(), "{length}");
        }
    }
}
