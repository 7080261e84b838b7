//! Flags of the meta commands: one letter each, some with a token behind it.

use super::super::line::{BAD_FORMAT, natural, seconds};
use crate::protocol::base64;

const INVALID: &[u8] = b"CLIENT_ERROR invalid flag\r\n";
const DUPLICATE: &[u8] = b"CLIENT_ERROR duplicate flag\r\n";
pub(super) const INVALID_OR_DUPLICATE: &[u8] = b"CLIENT_ERROR invalid or duplicate flag\r\n";
const BAD_TOKEN: &[u8] = b"CLIENT_ERROR bad token in command line format\r\n";
const BAD_INITIAL: &[u8] = b"CLIENT_ERROR invalid numeric initial value\r\n";
const BAD_DELTA: &[u8] = b"CLIENT_ERROR invalid numeric delta value\r\n";
const BAD_KEY: &[u8] = b"CLIENT_ERROR error decoding key\r\n";
pub(super) const OPAQUE_TOO_LONG: &[u8] = b"CLIENT_ERROR opaque token too long\r\n";
/// Letters that some meta command knows; one that does not know a letter passes over it.
const LETTERS: &[u8] = b"bcfhklqstuvxCDEFIJLMNOPRT";
const MAX_OPAQUE_BYTES: usize = 31;
/// Bytes of a key before base64.
const MAX_BINARY_KEY_BYTES: usize = 250;

/// Whether a byte may begin a flag: a line with any other is not a meta command.
pub(super) const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'A'..=b'z')
}

/// How `ms` stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Set,
    Add,
    Append,
    Prepend,
    Replace,
}

/// A key as given, and as stored.
#[derive(Clone, Debug)]
pub(super) struct Key<'a> {
    given: &'a [u8],
    decoded: Option<Vec<u8>>,
}

impl<'a> Key<'a> {
    pub(super) fn of(given: &'a [u8], is_base64: bool) -> Option<Self> {
        let decoded = if is_base64 {
            let decoded = base64::decode(given)?;
            (decoded.len() <= MAX_BINARY_KEY_BYTES).then_some(())?;
            Some(decoded)
        } else {
            None
        };
        Some(Self { given, decoded })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.decoded.as_deref().unwrap_or(self.given)
    }

    pub(super) const fn is_base64(&self) -> bool {
        self.decoded.is_some()
    }
}

/// The flags of one command.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags<'a> {
    /// As given, in their order.
    pub(super) words: &'a [&'a [u8]],
    pub(super) is_base64: bool,
    pub(super) is_quiet: bool,
    pub(super) ttl: Option<i64>,
    pub(super) vivify: Option<i64>,
    pub(super) recache: Option<i64>,
    pub(super) client_flags: u32,
    pub(super) cas: Option<u64>,
    pub(super) new_cas: u64,
    pub(super) initial: Option<u64>,
    pub(super) delta: Option<u64>,
    pub(super) mode: Option<u8>,
    pub(super) invalidates: bool,
    /// Of an `md`: the item stays, its value goes.
    pub(super) empties: bool,
}

impl<'a> Flags<'a> {
    /// Reads the flags of a command about `key`.
    pub(super) fn of(words: &'a [&'a [u8]], key: &[u8]) -> Result<Self, &'static [u8]> {
        let mut flags = Self {
            words,
            ..Self::default()
        };
        let mut seen = 0_u128;
        // A letter that is wrong ends it at once; of tokens that are wrong the last is told.
        let (mut wrong, mut is_opaque_long) = (None, false);
        for word in words {
            let (&letter, token) = word.split_first().ok_or(BAD_FORMAT)?;
            if letter >= 127 || seen >> letter & 1 != 0 {
                return Err(DUPLICATE);
            }
            if !LETTERS.contains(&letter) {
                return Err(INVALID);
            }
            seen |= 1 << letter;
            if letter == b'b' && Key::of(key, true).is_none() {
                wrong = Some(BAD_KEY);
            }
            if let Err(sentence) = flags.set(letter, token) {
                match letter {
                    b'F' => wrong = wrong.or(Some(BAD_FORMAT)),
                    b'O' => is_opaque_long = true,
                    _ => wrong = Some(sentence),
                }
            }
        }
        // Of the opaque only where nothing else is wrong.
        let wrong = wrong.or(is_opaque_long.then_some(OPAQUE_TOO_LONG));
        wrong.map_or(Ok(flags), Err)
    }

    fn set(&mut self, letter: u8, token: &[u8]) -> Result<(), &'static [u8]> {
        let ttl = || seconds(token).ok_or(BAD_TOKEN);
        let natural = || natural(token).ok_or(BAD_TOKEN);
        match letter {
            b'b' => self.is_base64 = true,
            b'q' => self.is_quiet = true,
            b'I' => self.invalidates = true,
            b'T' => self.ttl = Some(ttl()?),
            b'N' => self.vivify = Some(ttl()?),
            b'R' => self.recache = Some(ttl()?),
            b'F' => self.client_flags = u32::try_from(natural()?).map_err(|_| BAD_TOKEN)?,
            b'C' => self.cas = Some(natural()?),
            b'E' => self.new_cas = natural()?,
            b'J' => self.initial = Some(natural().map_err(|_| BAD_INITIAL)?),
            b'D' => self.delta = Some(natural().map_err(|_| BAD_DELTA)?),
            // Its first byte decides; none at all is no mode that there is.
            b'M' => self.mode = Some(token.first().copied().unwrap_or(b' ')),
            b'x' => self.empties = true,
            b'O' if token.len() > MAX_OPAQUE_BYTES => return Err(OPAQUE_TOO_LONG),
            _ => {}
        }
        Ok(())
    }

    /// True when the reply has what this letter stands for.
    pub(super) fn shows(&self, letter: u8) -> bool {
        self.words.iter().any(|word| word.first() == Some(&letter))
    }
    /// True when `first` stands before `second`, or `second` is not there: flags act, and tell, in their order.
    pub(super) fn has_before(&self, first: u8, second: u8) -> bool {
        let place = |letter| self.words.iter().position(|word| word[0] == letter);
        place(first).is_some_and(|first| place(second).is_none_or(|second| first < second))
    }
}
