//! Strings by key.

use super::Session;
use super::commands::{Call, Outcome, wrong_count};
use super::expiry::Time;
use crate::protocol::REPLY_BATCH_BYTES;
use crate::protocol::seconds::Now;
use crate::store::{Draft, MAX_KEY_BYTES, Refusal, Slot};

const SYNTAX: &str = "ERR syntax error";
const BAD_KEY: &str = "ERR a key has 1 to 250 bytes";
pub(super) const NOT_INTEGER: &str = "ERR value is not an integer or out of range";
pub(super) const BAD_TIME: &str = "ERR invalid expire time";
const TOO_LARGE: &str = "ERR the value is larger than an item may be; see --max-item";
const NO_ROOM: &str = "OOM memory is full, and the policy evicts nothing";

/// The slot of a key, unless the key is none: that is answered.
pub(super) fn slot<'a>(call: &mut Call<'a, '_>, number: usize) -> Option<Slot<'a>> {
    let key = call.request.get(number);
    if !is_key(key) {
        call.reply().error(BAD_KEY);
        return None;
    }
    Some(call.context.store.slot(key, call.context.now.second))
}

const fn is_key(key: &[u8]) -> bool {
    !key.is_empty() && key.len() <= MAX_KEY_BYTES
}

pub(super) fn integer(text: &[u8]) -> Option<i64> {
    // As Redis: no plus sign, no blanks, no leading zeros.
    let number: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (itoa::Buffer::new().format(number).as_bytes() == text).then_some(number)
}

/// When what a command gives a life of `given` units ends.
fn end(time: Time, given: &[u8], now: Now) -> Result<u32, &'static str> {
    match integer(given).ok_or(NOT_INTEGER)? {
        ..=0 => Err(BAD_TIME),
        given => time.second(given, now).ok_or(BAD_TIME),
    }
}

const fn sentence(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::TooLarge => TOO_LARGE,
        Refusal::NoRoom => NO_ROOM,
    }
}

pub(super) fn refuse(call: &mut Call<'_, '_>, refusal: Refusal) -> Outcome {
    let counter = match refusal {
        Refusal::TooLarge => &call.context.counters.store_too_large,
        Refusal::NoRoom => &call.context.counters.store_no_memory,
    };
    counter.add(1);
    call.reply().error(sentence(refusal));
    Outcome::Answered
}

pub(super) fn get(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    answer_value(session, call, &mut slot);
    Outcome::Answered
}

/// The value of a slot, or nil, counted as a `get`; true when there was one.
fn answer_value(session: &Session, call: &mut Call<'_, '_>, slot: &mut Slot<'_>) -> bool {
    let counters = call.context.counters;
    counters.gets.add(1);
    let item = slot.read();
    let is_there = item.is_some();
    match item {
        Some(item) => {
            counters.get_hits.add(1);
            call.reply().bulk(item.value);
        }
        None => {
            counters.get_misses.add(1);
            call.reply().nil(session.is_version_3);
        }
    }
    is_there
}

pub(super) fn mget(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let count = call.request.len() - 1;
    if session.answered == 0 {
        if !call.request.from(1).iter().all(|key| is_key(key)) {
            call.reply().error(BAD_KEY);
            return Outcome::Answered;
        }
        call.reply().array(count);
    }
    for number in session.answered..count {
        if let Some(mut slot) = slot(call, number + 1) {
            answer_value(session, call, &mut slot);
        }
        if call.out.len() >= REPLY_BATCH_BYTES && number + 1 < count {
            session.answered = number + 1;
            return Outcome::Flush;
        }
    }
    session.answered = 0;
    Outcome::Answered
}

/// Takes a unit of time, `word`, and the number that stands at `at`, where they are ones. As in Redis, the last number of several with one
/// unit counts, and nobody looks at the others.
fn takes_time<'a>(given: &mut Option<(Time, &'a [u8])>, word: &[u8], call: &Call<'a, '_>, at: usize) -> bool {
    let is_other = |time: &Time| given.is_some_and(|(before, _)| before != *time);
    let time = Time::of(word).filter(|time| at < call.request.len() && !is_other(time));
    if let Some(time) = time {
        *given = Some((time, call.request.get(at)));
    }
    time.is_some()
}

/// What `SET` is asked beside key and value.
#[derive(Clone, Copy, Debug, Default)]
struct Terms {
    only_if_missing: bool,
    only_if_there: bool,
    keeps_ttl: bool,
    answers_old: bool,
    expiry: Option<u32>,
}

impl Terms {
    fn of(call: &Call<'_, '_>) -> Result<Self, &'static str> {
        let (mut terms, mut at, mut given) = (Self::default(), 3, None);
        while at < call.request.len() {
            let word = call.request.get(at);
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            at += 1;
            if is(b"nx") {
                terms.only_if_missing = true;
            } else if is(b"xx") {
                terms.only_if_there = true;
            } else if is(b"keepttl") {
                terms.keeps_ttl = true;
            } else if is(b"get") {
                terms.answers_old = true;
            } else if takes_time(&mut given, word, call, at) {
                at += 1;
            } else {
                return Err(SYNTAX);
            }
        }
        if terms.only_if_missing && terms.only_if_there || terms.keeps_ttl && given.is_some() {
            return Err(SYNTAX);
        }
        let ended = given.map(|(time, given)| end(time, given, call.context.now));
        terms.expiry = ended.transpose()?;
        Ok(terms)
    }
}

pub(super) fn set(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    match Terms::of(call) {
        Ok(terms) => store(session, call, terms, 2),
        Err(sentence) => {
            call.reply().error(sentence);
            Outcome::Answered
        }
    }
}

/// Stores the word `value_at` under the first key, on these terms.
fn store(session: &Session, call: &mut Call<'_, '_>, terms: Terms, value_at: usize) -> Outcome {
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    call.context.counters.sets.add(1);
    let old_expiry = slot.peek().map(|item| item.expiry);
    let is_refused = if old_expiry.is_some() {
        terms.only_if_missing
    } else {
        terms.only_if_there
    };
    let answered = call.out.len();
    if terms.answers_old {
        answer_value(session, call, &mut slot);
    }
    if is_refused {
        if !terms.answers_old {
            call.reply().nil(session.is_version_3);
        }
        return Outcome::Answered;
    }
    let kept = if terms.keeps_ttl {
        old_expiry.unwrap_or(0)
    } else {
        0
    };
    let draft = Draft {
        value: call.request.get(value_at),
        expiry: terms.expiry.unwrap_or(kept),
        ..Draft::default()
    };
    if let Err(refusal) = slot.put(draft) {
        call.out.truncate(answered);
        return refuse(call, refusal);
    }
    if !terms.answers_old {
        call.reply().ok();
    }
    Outcome::Answered
}

/// `SETEX`, `PSETEX`: key, time, value.
fn set_for(session: &Session, call: &mut Call<'_, '_>, is_milliseconds: bool) -> Outcome {
    match end(
        Time::from_now(is_milliseconds),
        call.request.get(2),
        call.context.now,
    ) {
        Ok(second) => {
            let terms = Terms {
                expiry: Some(second),
                ..Terms::default()
            };
            store(session, call, terms, 3)
        }
        Err(sentence) => {
            call.reply().error(sentence);
            Outcome::Answered
        }
    }
}

pub(super) fn setex(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    set_for(session, call, false)
}

pub(super) fn psetex(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    set_for(session, call, true)
}

pub(super) fn setnx(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    call.context.counters.sets.add(1);
    if slot.peek().is_some() {
        call.reply().integer(0);
        return Outcome::Answered;
    }
    let value = call.request.get(2);
    match slot.put(Draft {
        value,
        ..Draft::default()
    }) {
        Ok(()) => call.reply().integer(1),
        Err(refusal) => return refuse(call, refusal),
    }
    Outcome::Answered
}

/// Each pair by itself: another client may see some of them earlier than others.
pub(super) fn mset(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let words = call.request.from(1);
    if !words.len().is_multiple_of(2) {
        wrong_count(call, "mset");
        return Outcome::Answered;
    }
    if !words.chunks(2).all(|pair| is_key(pair[0])) {
        call.reply().error(BAD_KEY);
        return Outcome::Answered;
    }
    for pair in words.chunks(2) {
        call.context.counters.sets.add(1);
        let draft = Draft {
            value: pair[1],
            ..Draft::default()
        };
        let stored = call
            .context
            .store
            .slot(pair[0], call.context.now.second)
            .put(draft);
        if let Err(refusal) = stored {
            return refuse(call, refusal);
        }
    }
    call.reply().ok();
    Outcome::Answered
}

/// Counts the keys for which `found` is true.
fn count(call: &mut Call<'_, '_>, found: impl Fn(&mut Slot<'_>) -> bool) -> Outcome {
    let words = call.request.from(1);
    let slots = words.iter().filter(|key| is_key(key));
    let found = slots.filter(|key| found(&mut call.context.store.slot(key, call.context.now.second)));
    let found = found.count();
    call.reply().integer(found as i64);
    Outcome::Answered
}

pub(super) fn del(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let counters = call.context.counters;
    count(call, |slot| {
        let was_there = slot.remove();
        let counter = if was_there {
            &counters.delete_hits
        } else {
            &counters.delete_misses
        };
        counter.add(1);
        was_there
    })
}

pub(super) fn exists(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    count(call, |slot| slot.read().is_some())
}

pub(super) fn strlen(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    if let Some(mut slot) = slot(call, 1) {
        let len = slot.read().map_or(0, |item| item.value.len());
        call.reply().integer(len as i64);
    }
    Outcome::Answered
}

pub(super) fn getdel(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    if let Some(mut slot) = slot(call, 1) {
        answer_value(session, call, &mut slot);
        slot.remove();
    }
    Outcome::Answered
}

pub(super) fn getex(session: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let (mut at, mut given, mut persists) = (2, None, false);
    while at < call.request.len() {
        let word = call.request.get(at);
        at += 1;
        if word.eq_ignore_ascii_case(b"persist") && given.is_none() {
            persists = true;
        } else if !persists && takes_time(&mut given, word, call, at) {
            at += 1;
        } else {
            call.reply().error(SYNTAX);
            return Outcome::Answered;
        }
    }
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    let answered = call.out.len();
    if !answer_value(session, call, &mut slot) {
        // As in Redis: of a key that is not there, nobody looks at the time.
        return Outcome::Answered;
    }
    let changed = match given.map(|(time, given)| end(time, given, call.context.now)) {
        Some(Err(sentence)) => {
            call.out.truncate(answered);
            call.reply().error(sentence);
            return Outcome::Answered;
        }
        Some(Ok(second)) => slot.set_expiry(second),
        None if persists => slot.set_expiry(0),
        None => Ok(true),
    };
    if let Err(refusal) = changed {
        call.out.truncate(answered);
        return refuse(call, refusal);
    }
    Outcome::Answered
}

pub(super) fn append(_: &mut Session, call: &mut Call<'_, '_>) -> Outcome {
    let Some(mut slot) = slot(call, 1) else {
        return Outcome::Answered;
    };
    call.context.counters.sets.add(1);
    let value = call.request.get(2);
    let joined = match slot.join(value, true) {
        Ok(false) => slot.put(Draft {
            value,
            ..Draft::default()
        }),
        other => other.map(drop),
    };
    if let Err(refusal) = joined {
        return refuse(call, refusal);
    }
    let len = slot.peek().map_or(0, |item| item.value.len());
    call.reply().integer(len as i64);
    Outcome::Answered
}
