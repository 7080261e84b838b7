//! When keys end. The store's times are whole seconds: milliseconds are rounded up.

use super::Session;
use super::commands::{Call, Outcome, shown};
use super::strings::{BAD_TIME, NOT_INTEGER, integer, refuse, slot};
use crate::protocol::seconds::Now;
use crate::store::Refusal;

/// A time as a command gives it: a number of units, from now or from 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    is_milliseconds: bool,
    is_date: bool,
}

impl Time {
    /// `EX`, `PX`, `EXAT`, `PXAT`.
    pub(super) fn of(word: &[u8]) -> Option<Self> {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        Some(Self {
            is_milliseconds: is(b"px") || is(b"pxat"),
            is_date: is(b"exat") || is(b"pxat"),
        })
        .filter(|_| is(b"ex") || is(b"px") || is(b"exat") || is(b"pxat"))
    }

    pub(super) const fn from_now(is_milliseconds: bool) -> Self {
        Self {
            is_milliseconds,
            is_date: false,
        }
    }

    /// The second of the store's clock; 1, which has passed, where the time has. As in Redis, there is none where the milliseconds since 1970
    /// do not fit in 64 bits.
    pub(super) fn second(self, given: i64, now: Now) -> Option<u32> {
        let milliseconds = if self.is_milliseconds {
            given
        } else {
            given.checked_mul(1000)?
        };
        if !self.is_date {
            milliseconds.checked_add(now.unix_s() * 1000)?;
        }
        let seconds = if self.is_milliseconds {
            given.div_euclid(1000) + i64::from(given.rem_euclid(1000) != 0)
        } else {
            given
        };
        let second = if self.is_date {
            seconds.saturating_sub(now.epoch_unix_s)
        } else {
            seconds.saturating_add(i64::from(now.second))
        };
        // Beyond a century of uptime, it is the end of the clock.
        Some(second.clamp(1, i64::from(u32::MAX)) as u32)
    }
}

/// `NX`, `XX`, `GT`, `LT`: when the end of a key may change.
#[derive(Clone, Copy, Debug)]
struct Conditions([bool; 4]);

impl Conditions {
    const NAMES: [&'static [u8]; 4] = [b"nx", b"xx", b"gt", b"lt"];

    fn of(words: &[&[u8]]) -> Result<Self, String> {
        let unknown = words
            .iter()
            .find(|word| !Self::NAMES.iter().any(|name| word.eq_ignore_ascii_case(name)));
        if let Some(word) = unknown {
            return Err(format!("ERR Unsupported option {}", shown(word)));
        }
        let given = Self::NAMES.map(|name| words.iter().any(|word| word.eq_ignore_ascii_case(name)));
        match given {
            [true, xx, gt, lt] if xx || gt || lt => {
                Err("ERR NX and XX, GT or LT options at the same time are not compatible".to_owned())
            }
            [_, _, true, true] => Err("ERR GT and LT options at the same time are not compatible".to_owned()),
            _ => Ok(Self(given)),
        }
    }

    /// Whether `new` may take the place of `old`, which is 0 for a key without an end: that is later than any.
    const fn allow(self, old: u32, new: u32) -> bool {
        let Self([nx, xx, gt, lt]) = self;
        let has_end = old != 0;
        !(nx && has_end || xx && !has_end || gt && !(has_end && new > old) || lt && has_end && new >= old)
    }
}

/// `EXPIRE`, `PEXPIRE`: with a time that has passed, the key goes.
fn expire_in(call: &mut Call<'_, '_>, is_milliseconds: bool) -> Outcome {
    let conditions = match Conditions::of(call.request.from(3)) {
        Ok(conditions) => conditions,
        Err(sentence) => {
            call.reply().error(&sentence);
            return Outcome::Answered;
        }
    };
    let Some(given) = integer(call.request.get(2)) else {
        call.reply().error(NOT_INTEGER);
        return Outcome::Answered;
    };
    let Some(expiry) = Time::from_now(is_milliseconds).second(given, call.context.now) else {
        call.reply().error(BAD_TIME);
        return Outcome::Answered;
    };
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    call.context.counters.touches.add(1);
    let old = slot.peek().map(|item| item.expiry);
    let changed = if old.is_some_and(|old| !conditions.allow(old, expiry)) {
        Ok(false)
    } else if given <= 0 {
        Ok(slot.remove())
    } else {
        slot.set_expiry(expiry)
    };
    answer_change(call, changed)
}

fn answer_change(call: &mut Call<'_, '_>, changed: Result<bool, Refusal>) -> Outcome {
    match changed {
        Ok(is_changed) => {
            let counters = call.context.counters;
            let counter = if is_changed {
                &counters.touch_hits
            } else {
                &counters.touch_misses
            };
            counter.add(1);
            call.reply().integer(i64::from(is_changed));
            Outcome::Answered
        }
        Err(refusal) => refuse(call, refusal),
    }
}

pub(super) fn expire(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    expire_in(call, false)
}

pub(super) fn pexpire(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    expire_in(call, true)
}

pub(super) fn persist(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    call.context.counters.touches.add(1);
    let has_end = slot.peek().is_some_and(|item| item.expiry != 0);
    let changed = if has_end { slot.set_expiry(0) } else { Ok(false) };
    answer_change(call, changed)
}

/// Seconds left, -1 for no end, -2 for no key.
fn left(call: &mut Call<'_, '_>, factor: i64) -> Outcome {
    let now = call.context.now;
    if let Some(mut slot) = slot(call, 1) {
        let left = match slot.peek() {
            None => -2,
            Some(item) if item.expiry == 0 => -1,
            Some(item) => now.left(item.expiry) * factor,
        };
        call.reply().integer(left);
    }
    Outcome::Answered
}

pub(super) fn ttl(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    left(call, 1)
}

pub(super) fn pttl(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    left(call, 1000)
}
