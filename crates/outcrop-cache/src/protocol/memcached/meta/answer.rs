//! The flags of a meta reply, in the order in which they were asked for.

use super::flags::{Flags, Key};
use crate::protocol::base64;
use crate::store::Item;

/// What a reply may tell.
#[derive(Clone, Debug)]
pub(super) struct Shown<'a> {
    pub(super) key: &'a Key<'a>,
    pub(super) item: Option<Item<'a>>,
    pub(super) ttl_s: i64,
    /// This client is to refresh the item.
    pub(super) is_won: bool,
    /// Another client was told to.
    pub(super) was_won: bool,
    pub(super) is_stale: bool,
    /// The key is shown as the item has it, not as the client gave it.
    pub(super) shows_stored_key: bool,
}

impl<'a> Shown<'a> {
    pub(super) const fn default_for(key: &'a Key<'a>) -> Self {
        Self {
            key,
            item: None,
            ttl_s: -1,
            is_won: false,
            was_won: false,
            is_stale: false,
            shows_stored_key: false,
        }
    }
}

/// The key as given; `mg` shows that of its item as it was stored.
fn write_key(out: &mut Vec<u8>, shown: &Shown<'_>) {
    out.extend_from_slice(b" k");
    let is_base64 = match shown.item {
        Some(item) if shown.shows_stored_key => {
            if item.has_binary_key {
                base64::write(shown.key.bytes(), out);
            } else {
                out.extend_from_slice(shown.key.bytes());
            }
            item.has_binary_key
        }
        _ => {
            out.extend_from_slice(shown.key.given());
            shown.key.is_base64()
        }
    };
    if is_base64 {
        out.extend_from_slice(b" b");
    }
}

/// Writes ` f0 s5 …` for the letters of `told`, then who is to refresh the item.
pub(super) fn write_flags(out: &mut Vec<u8>, flags: &Flags<'_>, told: &[u8], shown: &Shown<'_>) {
    let mut digits = itoa::Buffer::new();
    for word in flags.words.iter().filter(|word| told.contains(&word[0])) {
        let letter = word[0];
        let number = shown.item.and_then(|item| match letter {
            b's' => Some(item.value.len() as i64),
            b'f' => Some(i64::from(item.flags)),
            b'h' => Some(i64::from(item.fetched)),
            b'l' => Some(i64::from(item.idle_s)),
            b't' => Some(shown.ttl_s),
            _ => None,
        });
        match (letter, number, shown.item) {
            (_, Some(number), _) => {
                out.extend_from_slice(&[b' ', letter]);
                out.extend_from_slice(digits.format(number).as_bytes());
            }
            (b'c', _, Some(item)) => {
                out.extend_from_slice(b" c");
                out.extend_from_slice(digits.format(item.cas).as_bytes());
            }
            (b'k', ..) => write_key(out, shown),
            (b'O', ..) => {
                out.push(b' ');
                out.extend_from_slice(word);
            }
            _ => {}
        }
    }
    for (is_so, mark) in [
        (shown.was_won, b" Z"),
        (shown.is_stale, b" X"),
        (shown.is_won, b" W"),
    ] {
        if is_so {
            out.extend_from_slice(mark);
        }
    }
}
