//! Numbers that are counted up and down.

use super::Session;
use super::commands::{Call, Outcome};
use super::strings::{NOT_INTEGER, integer, refuse, slot};
use crate::store::Draft;

/// Adds to a number, which begins at 0; it keeps its end.
fn change(call: &mut Call<'_, '_>, delta: Option<i64>, is_up: bool) -> Outcome {
    let Some(delta) = delta else {
        call.reply().error(NOT_INTEGER);
        return Outcome::Answered;
    };
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    let counters = call.context.counters;
    let (hits, misses) = if is_up {
        (&counters.incr_hits, &counters.incr_misses)
    } else {
        (&counters.decr_hits, &counters.decr_misses)
    };
    let old = slot.peek().map(|item| integer(item.value));
    let new = match old {
        Some(None) => Err(NOT_INTEGER),
        old => {
            let old = old.flatten().unwrap_or(0);
            let new = if is_up {
                old.checked_add(delta)
            } else {
                old.checked_sub(delta)
            };
            new.ok_or("ERR increment or decrement would overflow")
        }
    };
    let new = match new {
        Ok(new) => new,
        Err(sentence) => {
            call.reply().error(sentence);
            return Outcome::Answered;
        }
    };
    let (counter, mut digits) = (if old.is_some() { hits } else { misses }, itoa::Buffer::new());
    counter.add(1);
    let value = digits.format(new).as_bytes();
    let stored = match slot.replace_value(value) {
        Ok(false) => slot.put(Draft {
            value,
            ..Draft::default()
        }),
        other => other.map(drop),
    };
    match stored {
        Ok(()) => call.reply().integer(new),
        Err(refusal) => return refuse(call, refusal),
    }
    Outcome::Answered
}

pub(super) fn incr(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    change(call, Some(1), true)
}

pub(super) fn decr(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    change(call, Some(1), false)
}

pub(super) fn incrby(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let delta = integer(call.request.get(2));
    change(call, delta, true)
}

pub(super) fn decrby(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let delta = integer(call.request.get(2));
    change(call, delta, false)
}
