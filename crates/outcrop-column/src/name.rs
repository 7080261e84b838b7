//! The name that a column has in the table that it comes from: an optional section of a segment, or what follows a
//! packed column. Nothing that is searched depends on it.

use crate::error::{ColumnError, Result, corrupt};
use crate::format::{Section, push_u32};
use crate::storage::{ReadAt, check_crc, read_range};

/// Longest name of a column, in bytes.
pub const NAME_BYTES_LIMIT: usize = 4096;

const PART: &str = "column name";

/// Begins the name behind a packed column.
const MARK: u8 = b'N';

/// Mark and length before the name behind a packed column, and the checksum after it.
const HEAD_BYTES: usize = 3;
const CRC_BYTES: usize = 4;

/// The name to be written; `None` where it is empty, which is as good as none.
pub(crate) fn to_write(name: &str) -> Result<Option<String>> {
    if name.len() > NAME_BYTES_LIMIT {
        return Err(ColumnError::Limit {
            what: "bytes of the column's name",
            seen: name.len() as u64,
            limit: NAME_BYTES_LIMIT as u64,
            hint: "the file keeps no name",
        });
    }
    Ok((!name.is_empty()).then(|| name.to_owned()))
}

/// The name in a section of it.
pub(crate) fn of_section(source: &dyn ReadAt, section: &Section) -> Result<String> {
    let at = section.offset;
    if section.length > NAME_BYTES_LIMIT as u64 || section.table_offset != 0 {
        return Err(corrupt(
            PART,
            at,
            format!(
                "{} bytes with a table at {}; at most {NAME_BYTES_LIMIT} bytes, all of them the table, are allowed",
                section.length, section.table_offset
            ),
        ));
    }
    let bytes = read_range(source, PART, at, section.length)?;
    check_crc(PART, at, &bytes, section.table_crc)?;
    match std::str::from_utf8(&bytes) {
        Ok(name) => Ok(name.to_owned()),
        Err(error) => Err(corrupt(PART, at, error.to_string())),
    }
}

/// What is written behind a packed column of that name.
pub(crate) fn behind_packed(name: &str) -> Vec<u8> {
    let mut bytes = vec![MARK];
    bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    let crc = crc32c::crc32c(&bytes);
    push_u32(&mut bytes, crc);
    bytes
}

/// The name behind a packed column that ends at `end`. Anything may stand there, since readers of packed columns ignore it:
/// anything but a complete name counts as no name.
pub(crate) fn of_packed(source: &dyn ReadAt, end: u64) -> Result<Option<String>> {
    let longest = (HEAD_BYTES + NAME_BYTES_LIMIT + CRC_BYTES) as u64;
    let length = source.size_bytes().saturating_sub(end).min(longest);
    if length == 0 {
        return Ok(None);
    }
    let bytes = read_range(source, PART, end, length)?;
    Ok(whole(&bytes))
}

fn whole(bytes: &[u8]) -> Option<String> {
    let &[mark, low, high] = bytes.first_chunk::<HEAD_BYTES>()?;
    let length = usize::from(u16::from_le_bytes([low, high]));
    let (named, rest) = bytes.split_at_checked(HEAD_BYTES + length)?;
    let crc = u32::from_le_bytes(*rest.first_chunk()?);
    let is_whole = mark == MARK && (1..=NAME_BYTES_LIMIT).contains(&length) && crc32c::crc32c(named) == crc;
    let name = is_whole.then(|| std::str::from_utf8(&named[HEAD_BYTES..]))?;
    name.ok().map(str::to_owned)
}
