//! The pages of a column of a Parquet file, by their headers. A footer may say anything of sizes: readers decompress a page as a whole, to the
//! size that its header claims.
//!
//! The library keeps its headers to itself, hence this reader of some of their numbers.
//!
//! *Source*: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::io::{self, Read, Take};

use parquet::arrow::ProjectionMask;
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::parquet_errors::{foreign, of_header, of_parquet};
use super::thrift::{Fields, Kind, Thrift, invalid};
use crate::error::Result;

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
    /// Values in it, nulls among them, as claimed; those of the dictionary in the page of one.
    pub values: u64,
    /// What it holds.
    pub kind: PageKind,
    /// Bytes of each value in memory, at most; none of strings, which are of any length.
    pub value_bytes: Option<u64>,
    /// How its values are encoded, as far as that matters to what a reader holds.
    pub encoding: PageEncoding,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// The dictionary of the pages behind it.
    Dictionary,
    /// Rows.
    Data,
    /// What readers pass over.
    Index,
}

/// An encoding, by what its reader keeps beyond the bytes of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageEncoding {
    /// One whose reader keeps nothing else.
    Plain,
    /// `PLAIN_DICTIONARY` and `RLE_DICTIONARY`: the dictionary of the pages.
    Dictionary,
    /// `DELTA_LENGTH_BYTE_ARRAY`: the length of each value.
    Lengths,
    /// `DELTA_BYTE_ARRAY`: two lengths; a value begins with as much of the one before it as the page says.
    Prefixes,
}

impl PageEncoding {
    /// *Source*: parquet.thrift, `Encoding`.
    const fn of(number: Option<i64>) -> Self {
        match number {
            Some(2 | 8) => Self::Dictionary,
            Some(6) => Self::Lengths,
            Some(7) => Self::Prefixes,
            _ => Self::Plain,
        }
    }

    pub(super) const fn has_lengths(self) -> bool {
        matches!(self, Self::Lengths | Self::Prefixes)
    }
}

impl StoredPage {
    /// Bytes that a reader holds of it at once: what it decompresses to, and the lengths of its values where they are encoded.
    pub fn held_bytes(&self) -> u64 {
        const LENGTH_BYTES: u64 = size_of::<i32>() as u64;
        let lengths = match self.encoding {
            PageEncoding::Plain | PageEncoding::Dictionary => 0,
            PageEncoding::Lengths => self.values,
            PageEncoding::Prefixes => self.values.saturating_mul(2),
        };
        lengths
            .saturating_mul(LENGTH_BYTES)
            .saturating_add(self.uncompressed_bytes)
    }
}

/// Shows each page that a row group has of some columns to `visit`, in the order of the file; only headers are read.
///
/// *Cost*: a read of some kilobytes a page.
pub(super) fn for_each_page<R: ChunkReader>(
    input: &R,
    group: &RowGroupMetaData,
    columns: &ProjectionMask,
    mut visit: impl FnMut(&StoredPage) -> Result<()>,
) -> Result<()> {
    let leaves = (0..group.num_columns()).filter(|&leaf| columns.leaf_included(leaf));
    for chunk in leaves.map(|leaf| group.column(leaf)) {
        check_readable(chunk)?;
        let is_unbounded = matches!(chunk.compression(), Compression::GZIP(_) | Compression::LZ4);
        let (mut offset, mut left) = chunk.byte_range();
        let mut has_begun = false;
        while left > 0 {
            let reader = input.get_read(offset).map_err(of_parquet)?;
            let mut page = Header::read(reader.take(left)).map_err(of_header)?;
            // Of what is not compressed, the library takes the bytes, and the header may say anything.
            if !page.is_compressed || chunk.compression() == Compression::UNCOMPRESSED {
                page.uncompressed_bytes = page.bytes;
            }
            // The library would take another one, and replace the codes of rows that it has read by their values.
            if page.kind == PageKind::Dictionary && has_begun {
                return Err(of_header(invalid("a dictionary is not in front of its column")));
            }
            has_begun |= page.kind != PageKind::Index;
            let used = page.header_bytes + page.bytes;
            left = left.checked_sub(used).ok_or_else(|| of_header(too_long()))?;
            // The library takes memory for them at once.
            let least_bytes = page.values.saturating_mul(least_plain_bytes(chunk));
            if page.kind == PageKind::Dictionary && least_bytes > page.uncompressed_bytes {
                return Err(of_header(invalid(
                    "a dictionary claims more values than it has bytes for",
                )));
            }
            visit(&StoredPage {
                offset: offset + page.header_bytes + page.level_bytes,
                bytes: page.bytes - page.level_bytes,
                uncompressed_bytes: page.uncompressed_bytes,
                is_bounded: !(is_unbounded && page.is_compressed),
                values: page.values,
                kind: page.kind,
                value_bytes: value_bytes(chunk),
                encoding: page.encoding,
            })?;
            offset += used;
        }
    }
    Ok(())
}

/// Whether the pages of a chunk are in another file, as in a summary of several; the library would read them from this one.
pub(super) fn is_elsewhere(chunk: &ColumnChunkMetaData) -> bool {
    chunk.file_path().is_some_and(|place| !place.is_empty())
}

/// Bytes of a value in memory, where all have the same or fewer.
fn value_bytes(chunk: &ColumnChunkMetaData) -> Option<u64> {
    match chunk.column_type() {
        Type::BYTE_ARRAY => None,
        Type::FIXED_LEN_BYTE_ARRAY => Some(u64::try_from(chunk.column_descr().type_length()).unwrap_or(0)),
        _ => Some(16),
    }
}

/// Bytes of a value in a dictionary, at least.
fn least_plain_bytes(chunk: &ColumnChunkMetaData) -> u64 {
    match chunk.column_type() {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(chunk.column_descr().type_length())
            .unwrap_or(0)
            .max(1),
    }
}

/// What the rows of a row group take at most, by its pages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowBytes {
    all: u64,
    /// Data pages alone.
    values: u64,
    /// A value: of the page whose values are the longest by their mean.
    longest: u64,
    has_codes: bool,
    has_others: bool,
}

impl RowBytes {
    pub(super) fn count(&mut self, page: &StoredPage) {
        self.all = self.all.saturating_add(page.uncompressed_bytes);
        if page.kind != PageKind::Data {
            return;
        }
        self.values = self.values.saturating_add(page.values);
        self.has_codes |= page.encoding == PageEncoding::Dictionary;
        self.has_others |= page.encoding != PageEncoding::Dictionary;
        let longest = match (page.value_bytes, page.encoding) {
            (Some(bytes), _) => bytes,
            // Any value may be as long as all that the page has, and nothing but that.
            (None, PageEncoding::Prefixes) => page.uncompressed_bytes,
            (None, _) => page.uncompressed_bytes.div_ceil(page.values.max(1)),
        };
        self.longest = self.longest.max(longest);
    }

    /// Whether each row gets its value from a dictionary: where the type of the file is kept, and where pages without codes follow, at
    /// which the library replaces the codes before them.
    pub(super) const fn is_expanded(&self, keeps_types: bool) -> bool {
        self.has_codes && (keeps_types || self.has_others)
    }

    /// Takes note of the longest value of a dictionary whose values are expanded.
    pub(super) fn expand(&mut self, longest: u64) {
        self.longest = self.longest.max(longest);
    }

    /// Bytes of a row; where values are in lists, it has several.
    pub(super) fn of_row(&self, rows: u64) -> u64 {
        let rows = rows.max(1);
        let values = self.values.div_ceil(rows).max(1);
        self.longest.saturating_mul(values).max(self.all / rows)
    }
}

/// Refuses a chunk whose pages are not here, or in a codec that is not.
fn check_readable(chunk: &ColumnChunkMetaData) -> Result<()> {
    if is_elsewhere(chunk) {
        let place = chunk.file_path().unwrap_or_default();
        return Err(foreign(format!(
            "the values of the column are in another file: {place}; give that file"
        )));
    }
    let codec = match chunk.compression() {
        Compression::BROTLI(_) => "Brotli",
        Compression::LZO => "LZO",
        _ => return Ok(()),
    };
    Err(foreign(format!(
        "the column is compressed with {codec}, which Outcrop does not read; write the file with another codec, such as Zstandard"
    )))
}

fn too_long() -> io::Error {
    invalid("a page does not end where its column does")
}

/// The structs of a page header: the types of their fields, of which the first has the number 1.
pub(super) const STATISTICS: &[Kind] = {
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

/// Numbers of fields: of a page …
const PAGE_TYPE: usize = 1;
const UNCOMPRESSED: usize = 2;
const COMPRESSED: usize = 3;
const V1: usize = 5;
const INDEX: usize = 6;
const WITH_DICTIONARY: usize = 7;
const V2: usize = 8;
/// … of what each kind of page has, and of a data page of the second version.
const VALUES: usize = 1;
const ENCODING: usize = 2;
const ENCODING_V2: usize = 4;
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
    values: u64,
    kind: PageKind,
    encoding: PageEncoding,
}

/// A required number, which must not be negative.
fn size(fields: &Fields, field: usize) -> io::Result<u64> {
    let number = fields.numbers[field].ok_or_else(|| invalid("a page header lacks a number"))?;
    u64::try_from(number).map_err(|_| invalid("a page has a size below zero"))
}

impl Header {
    fn read(input: Take<impl Read>) -> io::Result<Self> {
        let mut thrift = Thrift::of(input);
        let page = thrift.structure(PAGE)?;
        // The library goes by the type.
        let (expected, kind) = match size(&page, PAGE_TYPE)? {
            0 => (V1, PageKind::Data),
            1 => (INDEX, PageKind::Index),
            2 => (WITH_DICTIONARY, PageKind::Dictionary),
            3 => (V2, PageKind::Data),
            _ => return Err(invalid("a page is of no known kind")),
        };
        if page.inner.as_ref().map(|(number, _)| *number) != Some(expected) {
            return Err(invalid("a page header is that of another kind of page"));
        }
        let bytes = size(&page, COMPRESSED)?;
        let (mut level_bytes, mut is_compressed) = (0, true);
        if let Some((V2, data)) = &page.inner {
            level_bytes = size(data, DEFINITION_LEVELS)? + size(data, REPETITION_LEVELS)?;
            is_compressed = data.numbers[IS_COMPRESSED] != Some(0);
        }
        let number = |field: usize| page.inner.as_ref().and_then(|(_, inner)| inner.numbers[field]);
        let values = number(VALUES);
        let encoding = match page.inner {
            Some((V1, _)) => number(ENCODING),
            Some((V2, _)) => number(ENCODING_V2),
            _ => None,
        };
        match level_bytes <= bytes {
            true => Ok(Self {
                values: values.and_then(|values| u64::try_from(values).ok()).unwrap_or(0),
                kind,
                encoding: PageEncoding::of(encoding),
                header_bytes: thrift.read,
                bytes,
                uncompressed_bytes: size(&page, UNCOMPRESSED)?,
                level_bytes,
                is_compressed,
            }),
            false => Err(invalid("a page is shorter than its levels")),
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
        let header = Header::read(bytes.take(bytes.len() as u64))?;
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
        let header = Header::read((&second[..]).take(second.len() as u64)).unwrap();
        assert_eq!((header.bytes, header.level_bytes), (1000, 30));
        assert!(header.is_compressed);
        let uncompressed = [&second[..second.len() - 3], &[0x12, 0, 0]].concat();
        let length = uncompressed.len() as u64;
        assert!(
            !Header::read((&uncompressed[..]).take(length))
                .unwrap()
                .is_compressed
        );
    }

    #[test]
    fn a_header_that_has_two_meanings_is_refused() {
        let stop = PLAIN.len() - 1;
        let with = |more: &[u8]| [&PLAIN[..stop], more, &[0]].concat();
        // Fields of a later version may follow: of 4 bytes, and a flag; a struct; a list of numbers; a double.
        for more in [
            &[0xc8, 4, 1, 2, 3, 4, 0x11][..],
            &[0xcc, 0],
            &[0xc9, 0x25, 2, 4],
            &[0xc7, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert!(read(&with(more)).is_ok(), "{more:?}");
        }
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
            ("a map of flags", with(&[0xcb, 1, 0x11, 1, 1])),
            ("a list without end", with(&[0xc9, 0xf5, 0xff, 0xff, 0x03])),
            ("two kinds of page", with(&[0x3c, 0x15, 2, 0])),
            ("the type of another kind", {
                let mut bytes = PLAIN.to_vec();
                bytes[1] = 6;
                bytes
            }),
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
            assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{what}: {refused}");
        }
        for length in 0..PLAIN.len() {
            assert!(read(&PLAIN[..length]).is_err(), "{length}");
        }
    }
}
