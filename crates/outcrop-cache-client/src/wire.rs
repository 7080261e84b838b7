//! Requests as bytes and bytes as replies, for each protocol; no stream.

mod http;
mod memcached;
mod redis;

use crate::protocol::{Protocol, Verb};

/// A longer reply is taken for a broken server rather than for a value.
pub const LARGEST_REPLY_BYTES: usize = 128 << 20;
/// So is a longer line or header.
const LARGEST_HEADER_BYTES: usize = 16 << 10;

/// What a server said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// A get's value.
    Value(&'a [u8]),
    /// A get found nothing.
    Miss,
    /// A set is done.
    Stored,
    /// A delete removed something.
    Deleted,
    /// A delete found nothing.
    NotFound,
    /// The server understood the request and refused it; the connection goes on.
    Refused(&'a [u8]),
}

/// A reply and the bytes that it took, or that more bytes are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// All of it is there.
    Complete {
        /// What it says.
        reply: Reply<'a>,
        /// Bytes that it took.
        used: usize,
    },
    /// More is needed.
    Incomplete {
        /// The reply takes at least this many bytes in all.
        needed: usize,
    },
}

/// Bytes that are no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAReply {
    /// Its start.
    pub seen: String,
    /// What the protocol has here.
    pub expected: &'static str,
    /// The protocol that has such a reply.
    pub speaks: Option<Protocol>,
}

impl NotAReply {
    /// What to do, where the reply is one of another protocol; begins with a semicolon.
    pub fn hint(&self) -> String {
        self.speaks.map_or_else(String::new, |speaks| {
            let (server, scheme) = match speaks {
                Protocol::Memcached => ("memcached", "memcached"),
                Protocol::Redis => ("a Redis server", "redis"),
                Protocol::Http => ("an HTTP server", "http"),
            };
            format!("; this looks like {server}: write {scheme}://HOST:PORT")
        })
    }
}

/// Writes requests to, and reads replies from, one kind of server.
#[derive(Clone, Debug)]
pub enum Wire {
    /// memcached's text protocol.
    Memcached,
    /// Redis's RESP, version 2.
    Redis,
    /// A cache's HTTP interface.
    Http {
        /// `host:port`, which every request has.
        authority: String,
    },
}

impl Wire {
    /// Of a protocol; `authority` is the `host:port` that HTTP has in its requests.
    pub fn of(protocol: Protocol, authority: impl FnOnce() -> String) -> Self {
        match protocol {
            Protocol::Memcached => Self::Memcached,
            Protocol::Redis => Self::Redis,
            Protocol::Http => Self::Http {
                authority: authority(),
            },
        }
    }

    const fn protocol(&self) -> Protocol {
        match self {
            Self::Memcached => Protocol::Memcached,
            Self::Redis => Protocol::Redis,
            Self::Http { .. } => Protocol::Http,
        }
    }

    /// Appends a get.
    #[inline]
    pub fn write_get(&self, key: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Memcached => memcached::write_get(key, out),
            Self::Redis => redis::write_get(key, out),
            Self::Http { authority } => http::write_request("GET", authority, key, None, out),
        }
    }

    /// Appends a delete.
    pub fn write_delete(&self, key: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Memcached => memcached::write_delete(key, out),
            Self::Redis => redis::write_delete(key, out),
            Self::Http { authority } => http::write_request("DELETE", authority, key, None, out),
        }
    }

    /// The expiry field of a set for a time to live in seconds, 0 for never. `unix_s` returns the current Unix time, to which memcached adds
    /// a long time to live.
    #[inline]
    pub fn expiry(&self, ttl_s: u32, unix_s: impl FnOnce() -> u64) -> u32 {
        match self {
            Self::Memcached => memcached::expiry(ttl_s, unix_s),
            Self::Redis | Self::Http { .. } => ttl_s,
        }
    }

    /// Appends a set that expires as [`Self::expiry`] says, 0 for never; `value` appends exactly `size_bytes`. HTTP has no time to live.
    pub fn write_set(
        &self,
        key: &[u8],
        size_bytes: usize,
        expiry: u32,
        out: &mut Vec<u8>,
        value: impl FnOnce(&mut Vec<u8>),
    ) {
        match self {
            Self::Memcached => memcached::begin_set(key, size_bytes, expiry, out),
            Self::Redis => redis::begin_set(key, size_bytes, expiry, out),
            Self::Http { authority } => http::write_request("PUT", authority, key, Some(size_bytes), out),
        }
        let start = out.len();
        value(out);
        debug_assert_eq!(out.len() - start, size_bytes);
        match self {
            Self::Memcached => out.extend_from_slice(b"\r\n"),
            Self::Redis => redis::end_set(expiry, out),
            Self::Http { .. } => {}
        }
    }

    /// Appends what empties the whole server.
    pub fn write_flush(&self, out: &mut Vec<u8>) {
        match self {
            Self::Memcached => out.extend_from_slice(b"flush_all\r\n"),
            Self::Redis => out.extend_from_slice(b"*1\r\n$8\r\nFLUSHALL\r\n"),
            Self::Http { authority } => http::write_reset(authority, out),
        }
    }

    /// Whether these bytes, the reply to a flush, say that it is done; `None` when more are needed.
    ///
    /// # Errors
    /// The bytes are not a valid reply in this protocol.
    pub fn flushed(&self, input: &[u8]) -> Result<Option<bool>, NotAReply> {
        let done = match self {
            Self::Memcached => line(input)?.map(|(line, _)| line == b"OK"),
            Self::Redis => line(input)?.map(|(line, _)| line == b"+OK"),
            Self::Http { .. } => match http::parse(Verb::Set, input)? {
                Parsed::Complete { reply, .. } => Some(reply == Reply::Stored),
                Parsed::Incomplete { .. } => None,
            },
        };
        Ok(done)
    }

    /// Reads the reply to a request of this kind from the front of `input`.
    ///
    /// # Errors
    /// The bytes are not a valid reply in this protocol.
    #[inline]
    pub fn parse<'a>(&self, kind: Verb, input: &'a [u8]) -> Result<Parsed<'a>, NotAReply> {
        let parsed = match self {
            Self::Memcached => memcached::parse(kind, input),
            Self::Redis => redis::parse(kind, input),
            Self::Http { .. } => http::parse(kind, input),
        };
        parsed.map_err(|not| NotAReply {
            speaks: spoken(input).filter(|spoken| *spoken != self.protocol()),
            ..not
        })
    }
}

/// The protocol that a reply is of, by its first words.
#[cold]
fn spoken(input: &[u8]) -> Option<Protocol> {
    let begins_as = |openings: &[&str]| {
        openings
            .iter()
            .any(|opening| input.starts_with(opening.as_bytes()))
    };
    if begins_as(&["HTTP/"]) {
        Some(Protocol::Http)
    } else if begins_as(&["-", "+", "$", ":", "*"]) {
        Some(Protocol::Redis)
    } else if begins_as(&[
        "ERROR\r\n",
        "CLIENT_ERROR",
        "SERVER_ERROR",
        "VALUE ",
        "STORED\r\n",
        "END\r\n",
    ]) {
        Some(Protocol::Memcached)
    } else {
        None
    }
}

/// The first line without its end, and the bytes that it takes with it.
#[inline]
fn line(input: &[u8]) -> Result<Option<(&[u8], usize)>, NotAReply> {
    match memchr::memchr(b'\n', input) {
        Some(end) => {
            let line = input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]);
            Ok(Some((line, end + 1)))
        }
        None if input.len() > LARGEST_HEADER_BYTES => Err(not_a_reply(input, "a line of at most 16 KiB")),
        None => Ok(None),
    }
}

/// A decimal number of bytes, at most [`LARGEST_REPLY_BYTES`].
#[inline]
fn size(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let mut size = 0_usize;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        size = size * 10 + usize::from(digit - b'0');
    }
    (size <= LARGEST_REPLY_BYTES).then_some(size)
}

#[cold]
fn not_a_reply(input: &[u8], expected: &'static str) -> NotAReply {
    let shown = input.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let shown = shown.strip_suffix(b"\r").unwrap_or(shown);
    NotAReply {
        seen: shown[..shown.len().min(80)].escape_ascii().to_string(),
        expected,
        speaks: None,
    }
}

/// Appends a number in decimal digits.
#[inline]
fn write_decimal(mut number: usize, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests;
