//! The HTTP interface of a cache: HTTP/1.1 with lengths, connections kept. *Source*: RFC 9112.

use crate::protocol::Verb;

use super::{LARGEST_HEADER_BYTES, NotAReply, Parsed, Reply, not_a_reply, size, write_decimal};

pub(super) fn write_request(
    method: &str,
    authority: &str,
    key: &[u8],
    body_bytes: Option<usize>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(b" /");
    write_path(key, out);
    finish_head(authority, body_bytes, out);
}

pub(super) fn write_reset(authority: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"POST /reset");
    finish_head(authority, Some(0), out);
}

fn finish_head(authority: &str, body_bytes: Option<usize>, out: &mut Vec<u8>) {
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(authority.as_bytes());
    if let Some(body_bytes) = body_bytes {
        out.extend_from_slice(b"\r\nContent-Length: ");
        write_decimal(body_bytes, out);
    }
    out.extend_from_slice(b"\r\n\r\n");
}

/// Percent-encodes what a path segment cannot have.
fn write_path(key: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in key {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

pub(super) fn parse(kind: Verb, input: &[u8]) -> Result<Parsed<'_>, NotAReply> {
    let Some(head_end) = memchr::memmem::find(input, b"\r\n\r\n") else {
        if input.len() > LARGEST_HEADER_BYTES {
            return Err(not_a_reply(input, "a header of at most 16 KiB"));
        }
        return Ok(Parsed::Incomplete {
            needed: input.len() + 1,
        });
    };
    let refuse = || not_a_reply(input, "HTTP/1.1, a status and a Content-Length");
    let mut lines = input[..head_end].split(|byte| *byte == b'\n');
    let status_line = lines.next().unwrap_or_default();
    let status = match status_line.strip_prefix(b"HTTP/1.") {
        Some([_, b' ', status @ ..]) if status.len() >= 3 => size(&status[..3]).ok_or_else(refuse)?,
        _ => return Err(refuse()),
    };
    let mut body_bytes = (status == 204 || status == 304).then_some(0);
    for header in lines {
        let Some(colon) = memchr::memchr(b':', header) else {
            return Err(refuse());
        };
        if header[..colon].eq_ignore_ascii_case(b"content-length") {
            body_bytes = Some(size(header[colon + 1..].trim_ascii()).ok_or_else(refuse)?);
        }
    }
    let start = head_end + 4;
    let used = start + body_bytes.ok_or_else(refuse)?;
    if input.len() < used {
        return Ok(Parsed::Incomplete { needed: used });
    }
    let body = &input[start..used];
    let reply = match (kind, status) {
        (Verb::Get, 200) => Reply::Value(body),
        (Verb::Get, 404) => Reply::Miss,
        (Verb::Set, 200..=299) => Reply::Stored,
        (Verb::Delete, 200..=299) => Reply::Deleted,
        (Verb::Delete, 404) => Reply::NotFound,
        (_, 400..=599) => Reply::Refused(status_line.trim_ascii_end()),
        _ => return Err(refuse()),
    };
    Ok(Parsed::Complete { reply, used })
}
