//! `incr` and `decr`.

use super::line::{BAD_FORMAT, Tokens, is_key, is_noreply, natural, reply};
use crate::protocol::Context;
use crate::store::{Refusal, Slot};

/// What became of a number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    To(u64),
    Missing,
    NotANumber,
    Refused(Refusal),
}

/// Adds to the number that a slot holds, or subtracts down to zero. A shorter number is padded with spaces, as memcached does.
pub(super) fn add(slot: &mut Slot<'_>, delta: u64, is_up: bool) -> Changed {
    let Some(item) = slot.peek() else {
        return Changed::Missing;
    };
    let len = item.value.len();
    let Some(old) = leading_number(item.value) else {
        return Changed::NotANumber;
    };
    let new = if is_up {
        old.wrapping_add(delta)
    } else {
        old.saturating_sub(delta)
    };
    let mut digits = itoa::Buffer::new();
    let mut text = digits.format(new).as_bytes().to_vec();
    text.resize(text.len().max(len), b' ');
    match slot.replace_value(&text) {
        Ok(true) => Changed::To(new),
        Ok(false) => Changed::Missing,
        Err(refusal) => Changed::Refused(refusal),
    }
}

/// The number at the start of a value: digits up to the end or a blank.
fn leading_number(value: &[u8]) -> Option<u64> {
    let value = value.trim_ascii_start();
    let len = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends = value.get(len).is_none_or(u8::is_ascii_whitespace);
    let significant = &value[..len];
    let zeros = significant.iter().take_while(|&&byte| byte == b'0').count();
    if len == 0 || !ends {
        return None;
    }
    if zeros == len {
        Some(0)
    } else {
        natural(&significant[zeros..])
    }
}

pub(super) fn change(tokens: &Tokens<'_>, out: &mut Vec<u8>, context: &Context<'_>, is_up: bool) {
    if tokens.len() < 3 {
        return out.extend_from_slice(BAD_FORMAT);
    }
    let is_quiet = is_noreply(tokens);
    if !is_key(tokens.get(1)) {
        return reply(out, is_quiet, BAD_FORMAT);
    }
    let Some(delta) = natural(tokens.get(2)) else {
        return reply(out, is_quiet, b"CLIENT_ERROR invalid numeric delta argument\r\n");
    };
    let counters = context.counters;
    let (hits, misses) = if is_up {
        (&counters.incr_hits, &counters.incr_misses)
    } else {
        (&counters.decr_hits, &counters.decr_misses)
    };
    match add(
        &mut context.store.slot(tokens.get(1), context.now.second),
        delta,
        is_up,
    ) {
        Changed::To(new) => {
            hits.add(1);
            reply(out, is_quiet, itoa::Buffer::new().format(new).as_bytes());
            reply(out, is_quiet, b"\r\n");
        }
        Changed::Missing => {
            misses.add(1);
            reply(out, is_quiet, b"NOT_FOUND\r\n");
        }
        Changed::NotANumber => {
            let sentence = b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
            reply(out, is_quiet, sentence);
        }
        Changed::Refused(_) => reply(out, is_quiet, b"SERVER_ERROR out of memory\r\n"),
    }
}
