//! Bytes into requests: untrusted, and read again from their start when more of them have come.

use crate::protocol::memcached::is_http;

/// The longest line without an end: of an inline command, as Redis has it.
const MOST_LINE_BYTES: usize = 64 << 10;
/// The longest `*…` or `$…`, with a number in it.
const MOST_HEAD_BYTES: usize = 32;
/// The shortest argument: `$0`, two line ends.
const LEAST_ARGUMENT_BYTES: usize = 6;
/// The most arguments of which what is not kept is still read; Redis takes as many.
const MOST_THROWN_AWAY: usize = 1 << 20;
const TOO_LARGE: &str = "ERR the request is larger than an item may be; see --max-item";
const TOO_MANY: &str = "ERR a request has at most 16384 words; send several";
const BAD_COUNT: &str = "ERR Protocol error: invalid multibulk length";
const BAD_LENGTH: &str = "ERR Protocol error: invalid bulk length";
const NO_DOLLAR: &str = "ERR Protocol error: expected '$'";
const NO_END: &str = "ERR Protocol error: expected the end of an argument";

/// The words of a command.
#[derive(Debug)]
pub(super) struct Request<'a> {
    words: Vec<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// How many, the command's name among them.
    pub(super) const fn len(&self) -> usize {
        self.words.len()
    }

    /// The word with this number; empty if there is none.
    pub(super) fn get(&self, number: usize) -> &'a [u8] {
        self.words.get(number).copied().unwrap_or_default()
    }

    /// The words from this number on.
    pub(super) fn from(&self, number: usize) -> &[&'a [u8]] {
        self.words.get(number..).unwrap_or_default()
    }
}

/// What the bytes are.
#[derive(Debug)]
pub(super) enum Parsed<'a> {
    /// A request, and how many bytes it takes.
    Complete(Request<'a>, usize),
    /// Nothing can be said until this many bytes are there.
    More(usize),
    /// So many bytes that ask for nothing: an empty line, an array of nothing.
    Nothing(usize),
    /// A request that must not be kept: before byte `start` there is nothing of interest, then `bytes` of an argument follow,
    /// with its end, and `arguments` more.
    TooLarge {
        start: usize,
        bytes: u64,
        arguments: usize,
        why: &'static str,
    },
    /// No protocol: the connection has to end.
    Wrong(&'static str),
    /// A request of HTTP.
    Http,
}

/// Reads the request at the start of `input`.
pub(super) fn parse(input: &[u8], most_arguments: usize, most_bytes: usize) -> Parsed<'_> {
    if input.first() != Some(&b'*') {
        return inline(input, most_bytes);
    }
    let count = match head(input) {
        Some(Ok((at, count))) => (at, count),
        Some(Err(())) => return Parsed::Wrong(BAD_COUNT),
        None => return Parsed::More(input.len() + 1),
    };
    let (mut at, count) = match count {
        (at, ..=0) => return Parsed::Nothing(at),
        (at, count) => match usize::try_from(count) {
            Ok(count) if count <= most_arguments => (at, count),
            Ok(arguments @ ..=MOST_THROWN_AWAY) => {
                return Parsed::TooLarge {
                    start: at,
                    bytes: 0,
                    arguments,
                    why: TOO_MANY,
                };
            }
            _ => return Parsed::Wrong(BAD_COUNT),
        },
    };
    let mut words = Vec::with_capacity(count.min(64));
    for number in 0..count {
        let left = count - number - 1;
        let rest = &input[at..];
        let (head_bytes, length) = match argument_length(rest) {
            Some(Ok(head)) => head,
            Some(Err(sentence)) => return Parsed::Wrong(sentence),
            None => return Parsed::More(input.len() + 1 + left * LEAST_ARGUMENT_BYTES),
        };
        let start = at + head_bytes;
        if length > most_bytes as u64 || start + length as usize > most_bytes {
            return Parsed::TooLarge {
                start,
                bytes: length + 2,
                arguments: left,
                why: TOO_LARGE,
            };
        }
        let end = start + length as usize;
        match input.get(start..end + 2) {
            None => return Parsed::More(end + 2 + left * LEAST_ARGUMENT_BYTES),
            Some(argument) => match argument.strip_suffix(b"\r\n") {
                Some(word) => words.push(word),
                None => return Parsed::Wrong(NO_END),
            },
        }
        at = end + 2;
    }
    Parsed::Complete(Request { words }, at)
}

/// `$5` and its line end: how many bytes that takes, and the number. `None` while it is not complete.
pub(super) fn argument_length(input: &[u8]) -> Option<Result<(usize, u64), &'static str>> {
    if input.first().is_some_and(|&first| first != b'$') {
        return Some(Err(NO_DOLLAR));
    }
    let Ok((bytes, length)) = head(input)? else {
        return Some(Err(BAD_LENGTH));
    };
    // Redis takes no more than this either.
    let length = u64::try_from(length).ok().filter(|&length| length <= 512 << 20);
    Some(length.map(|length| (bytes, length)).ok_or(BAD_LENGTH))
}

/// A sign, a number, a line end.
fn head(input: &[u8]) -> Option<Result<(usize, i64), ()>> {
    let shown = &input[..input.len().min(MOST_HEAD_BYTES)];
    let Some(end) = memchr::memchr(b'\n', shown) else {
        return (shown.len() == MOST_HEAD_BYTES).then_some(Err(()));
    };
    let number = shown[1..end.max(1)].strip_suffix(b"\r");
    let number = number.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    Some(number.map(|number| (end + 1, number)).ok_or(()))
}

/// A command as people type it.
fn inline(input: &[u8], most_bytes: usize) -> Parsed<'_> {
    let Some(end) = memchr::memchr(b'\n', input) else {
        if input.len() >= MOST_LINE_BYTES.min(most_bytes) {
            return Parsed::Wrong("ERR Protocol error: too big inline request");
        }
        return Parsed::More(input.len() + 1);
    };
    let line = &input[..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // `GET key` is a command here; with a version of HTTP behind it, it is none.
    let version = line.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
    if is_http(line) && (!line.starts_with(b"GET ") || version.starts_with(b"HTTP/")) {
        return Parsed::Http;
    }
    if line.len() >= MOST_LINE_BYTES.min(most_bytes) {
        return Parsed::Wrong("ERR Protocol error: too big inline request");
    }
    let words: Vec<&[u8]> = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return Parsed::Nothing(end + 1);
    }
    Parsed::Complete(Request { words }, end + 1)
}
