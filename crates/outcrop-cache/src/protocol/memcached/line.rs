//! Words and numbers of a command line, as memcached reads them, and its replies to wrong ones.

use crate::store::MAX_KEY_BYTES;

pub(super) const ERROR: &[u8] = b"ERROR\r\n";
pub(super) const BAD_FORMAT: &[u8] = b"CLIENT_ERROR bad command line format\r\n";
pub(super) const BAD_CHUNK: &[u8] = b"CLIENT_ERROR bad data chunk\r\n";
pub(super) const BAD_EXPTIME: &[u8] = b"CLIENT_ERROR invalid exptime argument\r\n";
/// More words than any command but a `get` has.
const MOST: usize = 24;

/// The words of a line, split at spaces; those beyond the twenty-fourth are only counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    words: [&'a [u8]; MOST],
    len: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(line: &'a [u8]) -> Self {
        let mut tokens = Self {
            words: [&[]; MOST],
            len: 0,
        };
        for word in line.split(|&byte| byte == b' ').filter(|word| !word.is_empty()) {
            if tokens.len < MOST {
                tokens.words[tokens.len] = word;
            }
            tokens.len += 1;
        }
        tokens
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The word with this number, empty if there is none.
    pub(super) fn get(&self, number: usize) -> &'a [u8] {
        self.words.get(number).copied().unwrap_or_default()
    }

    /// The words from this number on.
    pub(super) fn from(&self, number: usize) -> &[&'a [u8]] {
        self.words[..self.len.min(MOST)].get(number..).unwrap_or_default()
    }
}

/// True when the last word asks for silence.
pub(super) fn is_noreply(tokens: &Tokens<'_>) -> bool {
    tokens.len() > 1 && tokens.get(tokens.len() - 1) == b"noreply"
}

/// Appends a reply unless none is wanted.
pub(super) fn reply(out: &mut Vec<u8>, is_quiet: bool, text: &[u8]) {
    if !is_quiet {
        out.extend_from_slice(text);
    }
}

pub(super) fn is_key(key: &[u8]) -> bool {
    !key.is_empty() && key.len() <= MAX_KEY_BYTES
}

/// True for a line of an HTTP request. A page in somebody's browser can send one to a port on loopback, with commands in
/// its body: the connection has to end before they are read.
pub(crate) fn is_http(line: &[u8]) -> bool {
    const METHODS: [&[u8]; 9] = [
        b"GET ",
        b"POST ",
        b"PUT ",
        b"HEAD ",
        b"DELETE ",
        b"OPTIONS ",
        b"PATCH ",
        b"CONNECT ",
        b"TRACE ",
    ];
    // memcached's own commands are lower case: one look tells.
    line.first()
        .is_some_and(|&first| first.is_ascii_uppercase() || first == b'h')
        && (METHODS.iter().any(|method| line.starts_with(method))
            || line
                .get(..5)
                .is_some_and(|start| start.eq_ignore_ascii_case(b"host:"))
            || has_http_version(line))
}

/// Whether a line ends as the first one of an HTTP request does.
pub(super) fn has_http_version(line: &[u8]) -> bool {
    let mut words = line.rsplit(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let last = words.next();
    // A request has a method in front of it.
    words.next().is_some() && last.is_some_and(|last| last.starts_with(b"HTTP/"))
}

/// A decimal number, perhaps with a sign.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A number of 32 bits, perhaps with a minus sign: a time of any command but those that store, or a length.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    number(text).filter(|&given| i32::try_from(given).is_ok() && !text.starts_with(b"+"))
}

/// Client flags, of which 32 bits are kept. A storage command takes a sign, but no number below 0.
pub(super) fn client_flags(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    let is_zero = text.parse() == Ok(0_i64);
    let given: Option<u64> = text.parse().ok();
    given.or(is_zero.then_some(0)).map(|flags| flags as u32)
}

/// A decimal number without a sign.
pub(super) fn natural(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    text.iter().try_fold(0_u64, |sum, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
