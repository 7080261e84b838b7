//! RESP 2. *Source*: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.

use crate::protocol::Verb;

use super::{NotAReply, Parsed, Reply, line, not_a_reply, size, write_decimal};

pub(super) fn write_get(key: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"*2\r\n$3\r\nGET\r\n");
    write_bulk(key, out);
}

pub(super) fn write_delete(key: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"*2\r\n$3\r\nDEL\r\n");
    write_bulk(key, out);
}

pub(super) fn begin_set(key: &[u8], size_bytes: usize, ttl_s: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(if ttl_s == 0 { b"*3\r\n" } else { b"*5\r\n" });
    out.extend_from_slice(b"$3\r\nSET\r\n");
    write_bulk(key, out);
    out.push(b'$');
    write_decimal(size_bytes, out);
    out.extend_from_slice(b"\r\n");
}

pub(super) fn end_set(ttl_s: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\r\n");
    if ttl_s > 0 {
        out.extend_from_slice(b"$2\r\nEX\r\n");
        write_bulk(ttl_s.to_string().as_bytes(), out);
    }
}

fn write_bulk(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'$');
    write_decimal(bytes.len(), out);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

#[inline]
pub(super) fn parse(kind: Verb, input: &[u8]) -> Result<Parsed<'_>, NotAReply> {
    let Some((first, used)) = line(input)? else {
        return Ok(Parsed::Incomplete {
            needed: input.len() + 1,
        });
    };
    let reply = match (kind, first) {
        (Verb::Get, b"$-1" | b"_") => Reply::Miss,
        (Verb::Get, [b'$', digits @ ..]) => return bulk(digits, used, input),
        (Verb::Set, b"+OK") => Reply::Stored,
        (Verb::Delete, b":0") => Reply::NotFound,
        (Verb::Delete, [b':', ..]) => Reply::Deleted,
        (_, [b'-', message @ ..]) => Reply::Refused(message),
        _ => return Err(not_a_reply(input, expected(kind))),
    };
    Ok(Parsed::Complete { reply, used })
}

#[inline]
fn bulk<'a>(digits: &[u8], header_bytes: usize, input: &'a [u8]) -> Result<Parsed<'a>, NotAReply> {
    let size_bytes = size(digits).ok_or_else(|| not_a_reply(input, expected(Verb::Get)))?;
    let end = header_bytes + size_bytes;
    let used = end + 2;
    if input.len() < used {
        return Ok(Parsed::Incomplete { needed: used });
    }
    if input[end..used] != *b"\r\n" {
        return Err(not_a_reply(&input[end..], "the end of the value"));
    }
    Ok(Parsed::Complete {
        reply: Reply::Value(&input[header_bytes..end]),
        used,
    })
}

const fn expected(kind: Verb) -> &'static str {
    match kind {
        Verb::Get => "a bulk string or null",
        Verb::Set => "+OK",
        Verb::Delete => "an integer",
    }
}
