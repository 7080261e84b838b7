//! The flags of a meta reply, in the order in which they were asked for.

use super::flags::{Flags, Key};
use crate::protocol::base64;
use crate::store::Item;

/// What a reply may tell; what is `None` is left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown<'a> {
    pub(super) key: Option<&'a Key<'a>>,
    pub(super) size: Option<usize>,
    pub(super) client_flags: Option<u32>,
    pub(super) fetched: Option<bool>,
    pub(super) idle_s: Option<u32>,
    pub(super) ttl_s: Option<i64>,
    pub(super) cas: Option<u64>,
    /// The key is shown as the item has it, not as the client gave it.
    pub(super) has_binary_key: Option<bool>,
    /// Another client was told to refresh the item.
    pub(super) was_won: bool,
    pub(super) is_stale: bool,
    /// This client is to refresh it.
    pub(super) is_won: bool,
}

impl<'a> Shown<'a> {
    /// Nothing but what the client said itself.
    pub(super) fn of_key(key: &'a Key<'a>) -> Self {
        Self {
            key: Some(key),
            ..Self::default()
        }
    }

    /// What `mg` tells of an item.
    pub(super) fn of_item(key: &'a Key<'a>, item: &Item<'_>) -> Self {
        Self {
            key: Some(key),
            size: Some(item.value.len()),
            client_flags: Some(item.flags),
            fetched: Some(item.fetched),
            idle_s: Some(item.idle_s),
            cas: Some(item.cas),
            has_binary_key: Some(item.has_binary_key),
            was_won: item.won,
            is_stale: item.stale,
            ..Self::default()
        }
    }
}

fn write_key(out: &mut Vec<u8>, key: &Key<'_>, stored: Option<bool>) {
    out.extend_from_slice(b" k");
    let is_base64 = stored.unwrap_or_else(|| key.is_base64());
    if is_base64 {
        base64::write(key.bytes(), out);
        out.extend_from_slice(b" b");
    } else {
        out.extend_from_slice(key.bytes());
    }
}

/// Writes ` f0 s5 …` for the flags that ask for something, then who is to refresh the item.
pub(super) fn write_flags(out: &mut Vec<u8>, flags: &Flags<'_>, shown: &Shown<'_>) {
    for word in flags.words {
        let letter = word[0];
        let number = match letter {
            b's' => shown.size.map(|size| size as i64),
            b'f' => shown.client_flags.map(i64::from),
            b'h' => shown.fetched.map(i64::from),
            b'l' => shown.idle_s.map(i64::from),
            b't' => shown.ttl_s,
            _ => None,
        };
        if let Some(number) = number {
            out.extend_from_slice(&[b' ', letter]);
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        match (letter, shown.key, shown.cas) {
            (b'c', _, Some(cas)) => {
                out.extend_from_slice(b" c");
                out.extend_from_slice(itoa::Buffer::new().format(cas).as_bytes());
            }
            (b'k', Some(key), _) => write_key(out, key, shown.has_binary_key),
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
