//! What the footer of a Parquet file claims, before the library takes memory for it: how long its lists and how deep its types claim to be.
//!
//! *Source*: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::io::{self, Read as _};

use bytes::Buf as _;
use parquet::file::reader::ChunkReader;

use super::parquet_input::MAGIC;
use super::parquet_pages::STATISTICS;
use super::thrift::Kind::{self, Bytes, Double, Flag, I8, I16, I32, I64, List, Struct, Unused};
use super::thrift::{BINARY, INT, LIST, STRUCT, Thrift, invalid, of_another_type};

/// Levels of a schema; each is a call on the stack of the library. Programs that write Parquet make some ten at most.
const MOST_LEVELS: usize = 200;
/// Bytes of the paths of all columns, each of which the library keeps with the names of all levels above the column: one long name above many
/// columns is gigabytes.
const MOST_PATH_BYTES: u64 = 64 << 20;
/// Bytes of a name in a path beside its letters.
const NAME_BYTES: u64 = 32;

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
const NAME: i64 = 4;
const CHILDREN: i64 = 5;

/// Refuses a footer with a list of more elements than it has bytes, with types of too many levels or overlong paths, or with a field of another
/// type than the format's. What is wrong in another way, the library says.
pub(super) fn check<R: ChunkReader>(input: &R) -> io::Result<()> {
    let Some(bytes) = footer_bytes(input) else {
        return Ok(());
    };
    let length = bytes.len() as u64;
    let mut footer = Thrift::of(bytes.reader().take(length));
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

fn footer_bytes<R: ChunkReader>(input: &R) -> Option<bytes::Bytes> {
    let tail_bytes = 4 + MAGIC.len() as u64;
    let at = input.len().checked_sub(tail_bytes)?;
    let tail = input.get_bytes(at, tail_bytes as usize).ok()?;
    let (length, magic) = tail.split_at_checked(4)?;
    let length = u64::from(u32::from_le_bytes(length.try_into().ok()?));
    let start = at.checked_sub(length).filter(|_| magic == MAGIC)?;
    input.get_bytes(start, length as usize).ok()
}

/// The types in order, each in front of those that it contains.
fn types<R: io::Read>(footer: &mut Thrift<R>) -> io::Result<()> {
    let (count, wire) = footer.list()?;
    if count > 0 && wire != STRUCT {
        return Err(of_another_type());
    }
    // How many types each of the levels above still has, and the bytes of the path to it.
    let mut levels: Vec<(i64, u64)> = Vec::new();
    let mut all_paths: u64 = 0;
    for _ in 0..count {
        while levels.pop_if(|(left, _)| *left <= 0).is_some() {}
        let mut path = NAME_BYTES;
        if let Some((left, above)) = levels.last_mut() {
            *left -= 1;
            path += *above;
        }
        let (mut field, mut children) = (0, 0);
        while let Some((number, wire)) = footer.field(&mut field)? {
            match (number, wire) {
                (CHILDREN, INT) => children = i64::from(footer.signed()? as i32),
                (NAME, BINARY) => {
                    let before = footer.read;
                    footer.pass_bytes()?;
                    path += footer.read - before;
                }
                (CHILDREN | NAME, _) => return Err(of_another_type()),
                _ => footer.pass_field(TYPE, number, wire)?,
            }
        }
        if u64::try_from(children).is_ok_and(|children| children > count) {
            return Err(invalid("a type in its footer contains more types than there are"));
        }
        if children <= 0 {
            all_paths += path;
        }
        if all_paths > MOST_PATH_BYTES {
            return Err(invalid("the paths of its columns take more than 64 MiB"));
        }
        levels.push((children, path));
        if levels.len() > MOST_LEVELS {
            return Err(invalid("its types are nested in more than 200 levels"));
        }
    }
    Ok(())
}
