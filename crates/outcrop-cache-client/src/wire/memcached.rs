//! memcached's text protocol. *Source*: `doc/protocol.txt` of memcached.

use crate::protocol::Verb;

use super::{NotAReply, Parsed, Reply, line, not_a_reply, size, write_decimal};

pub(super) fn write_get(key: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"get ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\n");
}

pub(super) fn write_delete(key: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"delete ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\n");
}

/// From 30 days on, memcached takes an expiry for a date.
const LONGEST_RELATIVE_TTL_S: u32 = 30 * 24 * 60 * 60;

/// memcached reads the field as a signed number of 32 bits: a later date is negative, and has passed.
const LATEST_DATE_S: u64 = i32::MAX as u64;
/// An expiry that never comes.
const NEVER: u32 = 0;

/// What a set has for a time to live: seconds, or from 30 days on the second since 1970 in which it ends; 0 for never, where that is later than
/// any date that there is.
#[inline]
pub(super) fn expiry(ttl_s: u32, unix_s: impl FnOnce() -> u64) -> u32 {
    if ttl_s <= LONGEST_RELATIVE_TTL_S {
        return ttl_s;
    }
    let end_s = unix_s().saturating_add(ttl_s.into());
    let date = u32::try_from(end_s).ok().filter(|_| end_s <= LATEST_DATE_S);
    date.unwrap_or(NEVER)
}

pub(super) fn begin_set(key: &[u8], size_bytes: usize, expiry: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b"set ");
    out.extend_from_slice(key);
    out.extend_from_slice(b" 0 ");
    write_decimal(expiry as usize, out);
    out.push(b' ');
    write_decimal(size_bytes, out);
    out.extend_from_slice(b"\r\n");
}

const END: &[u8] = b"END\r\n";

#[inline]
pub(super) fn parse(kind: Verb, input: &[u8]) -> Result<Parsed<'_>, NotAReply> {
    if kind == Verb::Get && input.starts_with(END) {
        let used = END.len();
        return Ok(Parsed::Complete {
            reply: Reply::Miss,
            used,
        });
    }
    let Some((first, used)) = line(input)? else {
        return Ok(Parsed::Incomplete {
            needed: input.len() + 1,
        });
    };
    if kind == Verb::Get && first.starts_with(b"VALUE ") {
        return value(first, used, input);
    }
    let reply = match (kind, first) {
        (Verb::Get, b"END") => Reply::Miss,
        (Verb::Set, b"STORED") => Reply::Stored,
        (Verb::Set, b"NOT_STORED" | b"EXISTS" | b"NOT_FOUND") => Reply::Refused(first),
        (Verb::Delete, b"DELETED") => Reply::Deleted,
        (Verb::Delete, b"NOT_FOUND") => Reply::NotFound,
        _ if first.starts_with(b"SERVER_ERROR")
            || first.starts_with(b"CLIENT_ERROR")
            || first == b"ERROR" =>
        {
            Reply::Refused(first)
        }
        _ => return Err(not_a_reply(input, expected(kind))),
    };
    Ok(Parsed::Complete { reply, used })
}

/// `VALUE key flags bytes [cas]`, the bytes, and `END`.
#[inline]
fn value<'a>(first: &[u8], header_bytes: usize, input: &'a [u8]) -> Result<Parsed<'a>, NotAReply> {
    let refuse = || not_a_reply(input, "VALUE KEY FLAGS BYTES, the value and END");
    let size_bytes = first
        .split(|byte| *byte == b' ')
        .nth(3)
        .and_then(size)
        .ok_or_else(refuse)?;
    let end = header_bytes + size_bytes;
    let used = end + 2 + END.len();
    if input.len() < used {
        return Ok(Parsed::Incomplete { needed: used });
    }
    if input[end..end + 2] != *b"\r\n" || input[end + 2..used] != *END {
        return Err(not_a_reply(&input[end..], "the end of the value and END"));
    }
    Ok(Parsed::Complete {
        reply: Reply::Value(&input[header_bytes..end]),
        used,
    })
}

const fn expected(kind: Verb) -> &'static str {
    match kind {
        Verb::Get => "VALUE or END",
        Verb::Set => "STORED",
        Verb::Delete => "DELETED or NOT_FOUND",
    }
}
