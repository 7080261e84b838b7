//! What the fuzz targets and their tests throw at the protocols: whatever a client says, however it is split, the server
//! answers the same, holds no more than a request may take, and goes on. Included by `fuzz/fuzz_targets/cache_*.rs`.

use outcrop_cache::dialogue::Dialogue;
use outcrop_cache::server::Protocol;
use outcrop_cache::store::StoreOptions;

/// A line that is longer ends the connection if its end has not yet come: how it was split matters.
const LONG_LINE_BYTES: usize = 2000;
/// The largest item, and so what may be kept of a request.
const MAX_ITEM_BYTES: usize = 1 << 16;

fn dialogue(protocol: Protocol) -> Dialogue {
    let options = StoreOptions {
        memory_bytes: 1 << 20,
        max_item_bytes: MAX_ITEM_BYTES as u64,
        shards: 1,
        ..StoreOptions::default()
    };
    Dialogue::new(protocol, &options).expect("a mebibyte of address space is to be had")
}

/// Says `input` at once, and in pieces as long as the bytes of `splits` say; the answers have to be the same.
fn said_twice(protocol: Protocol, input: &[u8], splits: &[u8]) -> Dialogue {
    let mut whole = dialogue(protocol);
    whole.say(input);
    assert!(whole.kept_bytes() <= MAX_ITEM_BYTES.max(input.len()));
    let is_long = input
        .split(|&byte| byte == b'\n')
        .any(|line| line.len() > LONG_LINE_BYTES);
    if !is_long {
        let mut pieces = dialogue(protocol);
        let (mut at, mut number) = (0, 0);
        while at < input.len() {
            let len = splits
                .get(number % splits.len().max(1))
                .map_or(1, |&byte| usize::from(byte) + 1);
            let end = input.len().min(at + len);
            pieces.say(&input[at..end]);
            (at, number) = (end, number + 1);
        }
        assert_eq!(
            String::from_utf8_lossy(pieces.replies()),
            String::from_utf8_lossy(whole.replies()),
        );
        assert_eq!(pieces.is_over(), whole.is_over());
    }
    whole
}

/// The first byte says how many of those behind it are lengths of pieces.
fn parts(input: &[u8]) -> (&[u8], &[u8]) {
    let Some((&first, rest)) = input.split_first() else {
        return (&[], &[]);
    };
    rest.split_at(rest.len().min(usize::from(first % 16)))
}

/// Any bytes as memcached's protocol.
pub(crate) fn memcached(input: &[u8]) {
    let (splits, said) = parts(input);
    // What has the process's own numbers in it cannot be compared.
    let said: Vec<u8> = without(said, b"stats");
    said_twice(Protocol::Memcached, &said, splits);
}

/// Any bytes as HTTP.
pub(crate) fn http(input: &[u8]) {
    let (splits, said) = parts(input);
    let said = without(said, b"metrics");
    let over = said_twice(Protocol::Http, &said, splits);
    let is_http = over.replies().is_empty() || over.replies().starts_with(b"HTTP/1.1 ");
    assert!(is_http, "{:?}", String::from_utf8_lossy(over.replies()));
}

/// Any bytes as Redis's protocol.
pub(crate) fn redis(input: &[u8]) {
    let (splits, said) = parts(input);
    // The process's own numbers and those of the connection cannot be compared.
    let said = without(said, b"info");
    let mut whole = dialogue(Protocol::Redis);
    whole.say(&said);
    assert!(whole.kept_bytes() <= MAX_ITEM_BYTES + (64 << 10) + said.len());
    let (mut pieces, mut rest, mut number) = (dialogue(Protocol::Redis), &said[..], 0);
    while !rest.is_empty() {
        let len = splits
            .get(number % splits.len().max(1))
            .map_or(1, |&byte| usize::from(byte) + 1);
        let (first, behind) = rest.split_at(len.min(rest.len()));
        pieces.say(first);
        (rest, number) = (behind, number + 1);
    }
    // What is wrong with an argument is seen when the least that must follow has come: here it comes.
    if pieces.replies() != whole.replies() || pieces.is_over() != whole.is_over() {
        let more = b"\r\n".repeat(150_000);
        whole.say(&more);
        pieces.say(&more);
    }
    assert_eq!(
        String::from_utf8_lossy(pieces.replies()),
        String::from_utf8_lossy(whole.replies()),
    );
    assert_eq!(pieces.is_over(), whole.is_over());
    is_of_replies(whole.replies());
}

/// What came back is whole replies of Redis's protocol, one behind the other.
fn is_of_replies(mut replies: &[u8]) {
    // Replies still to come at each depth of arrays.
    let mut open: Vec<u64> = Vec::new();
    while let Some(end) = memchr_of(replies, b'\n') {
        let line = &replies[..end];
        let line = line.strip_suffix(b"\r").expect("lines end with both");
        replies = &replies[end + 1..];
        let (&kind, rest) = line.split_first().expect("a reply has a kind");
        let number = || {
            std::str::from_utf8(rest)
                .ok()
                .and_then(|text| text.parse::<i64>().ok())
        };
        let mut inside = 0;
        match kind {
            b'+' | b'-' | b'_' | b',' | b'#' => {}
            b':' => assert!(number().is_some()),
            b'$' | b'=' => {
                let len = number().expect("a length");
                if len >= 0 {
                    let (_, behind) = replies.split_at(len as usize);
                    replies = behind.strip_prefix(b"\r\n").expect("the end of a string");
                }
            }
            b'*' | b'~' => inside = number().expect("a count").max(0) as u64,
            b'%' => inside = 2 * number().expect("a count").max(0) as u64,
            other => panic!("a reply of kind {other}"),
        }
        open.push(inside);
        while open.last() == Some(&0) {
            open.pop();
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
        }
    }
    assert!(
        replies.is_empty() && open.is_empty(),
        "the last reply is not whole"
    );
}

fn memchr_of(bytes: &[u8], wanted: u8) -> Option<usize> {
    bytes.iter().position(|&byte| byte == wanted)
}

fn without(said: &[u8], word: &[u8]) -> Vec<u8> {
    let mut left = said.to_vec();
    while let Some(at) = left
        .windows(word.len())
        .position(|window| window.eq_ignore_ascii_case(word))
    {
        left[at] = b'x';
    }
    left
}

const KEYS: [&str; 6] = ["a", "b", "key", "Zm9v", "bmFt", "!"];
const VERBS: [&str; 6] = ["mg", "ms", "md", "ma", "me", "mn"];
const CLASSIC: [&str; 12] = [
    "get", "gets", "set", "add", "replace", "append", "prepend", "cas", "incr", "decr", "delete", "touch",
];
const FLAGS: [&str; 36] = [
    "b", "c", "f", "h", "k", "l", "q", "s", "t", "v", "I", "O1", "Oabc", "T0", "T-1", "T30", "Tx", "N0",
    "N30", "R30", "F5", "F-1", "C1", "C0", "E9", "J10", "D2", "MS", "ME", "MA", "MP", "MR", "MI", "MD", "MX",
    "Z",
];
const NUMBERS: [&str; 10] = [
    "0",
    "1",
    "2",
    "5",
    "-1",
    "abc",
    "2147483648",
    "18446744073709551616",
    "",
    "noreply",
];

/// Reads choices from bytes.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(first)
    }

    fn of(&mut self, from: &[&'static str]) -> &'static str {
        from[self.next() % from.len()]
    }
}

/// Lines that are nearly commands: choices are read from `input`.
pub(crate) fn written(input: &[u8]) -> String {
    let mut choices = Choices(input);
    let mut said = String::new();
    while !choices.0.is_empty() {
        let verb = if choices.next() % 3 == 0 {
            choices.of(&CLASSIC)
        } else {
            choices.of(&VERBS)
        };
        said += verb;
        if choices.next() % 16 != 0 {
            said += " ";
            said += choices.of(&KEYS);
        }
        let is_meta = VERBS.contains(&verb);
        let stores = CLASSIC[2..8].contains(&verb);
        if stores {
            said += [" 0 0", " 5 0", " 0 -1", " 0 x", " 0"][choices.next() % 5];
        }
        let len = choices.next() % 9;
        if stores || verb == "ms" {
            said += &format!(
                " {}",
                [len.to_string(), "-1".to_owned(), "x".to_owned()][choices.next() % 24 / 22]
            );
        } else if !is_meta && choices.next() % 2 == 0 {
            said += " ";
            said += choices.of(&NUMBERS);
        }
        for _ in 0..choices.next() % 5 {
            said += " ";
            said += if is_meta {
                choices.of(&FLAGS)
            } else {
                choices.of(&NUMBERS)
            };
        }
        said += "\r\n";
        if stores || verb == "ms" {
            let wrong = usize::from(choices.next() % 16 == 0);
            said += &format!("{}\r\n", "12345678901"[..len + wrong].to_owned());
        }
    }
    said
}

/// Commands of the meta protocol, and the classic ones between them, with what can be wrong with each.
pub(crate) fn meta(input: &[u8]) {
    let (splits, rest) = parts(input);
    let said = written(rest);
    let mut over = said_twice(Protocol::Memcached, said.as_bytes(), splits);
    if over.is_over() {
        return;
    }
    // Whatever it was, the next command works, unless its line is taken for the rest of a value.
    over.say(&[b'x'; 16]);
    over.say(b"\r\n\r\nmn\r\n");
    assert!(over.replies().ends_with(b"MN\r\n"), "{said:?}");
}
