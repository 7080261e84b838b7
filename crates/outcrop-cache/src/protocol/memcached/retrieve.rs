//! `get`, `gets`, `gat`, `gats`: keys asked for, one after the other, with a pause where replies pile up.

use super::line::{BAD_EXPTIME, BAD_FORMAT, seconds};
use super::storage::NO_MEMORY;
use super::{Command, Session};
use crate::protocol::{Context, REPLY_BATCH_BYTES, Step};
use crate::store::{Item, MAX_KEY_BYTES, Slot};

impl Session {
    /// Answers the keys of `line` from byte `start` on.
    pub(super) fn get(
        &mut self,
        line: &[u8],
        line_bytes: usize,
        start: usize,
        out: &mut Vec<u8>,
        context: &Context<'_>,
        with_cas: bool,
    ) -> Step {
        let read = |slot: &mut Slot<'_>, key: &[u8], out: &mut Vec<u8>| {
            if with_cas && slot.assign_cas().is_err() {
                return Some(false);
            }
            slot.read().map(|item| {
                write_value(key, &item, with_cas, out);
                true
            })
        };
        self.retrieve(line, line_bytes, start, out, context, read)
    }

    /// Answers the keys of a `gat` or `gats`.
    pub(super) fn get_and_touch(
        &mut self,
        command: &Command<'_>,
        out: &mut Vec<u8>,
        context: &Context<'_>,
    ) -> Step {
        let (tokens, line) = (&command.tokens, command.line);
        if tokens.len() < 3 {
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(command.line_bytes);
        }
        let Some(given) = seconds(tokens.get(1)) else {
            out.extend_from_slice(BAD_EXPTIME);
            return Step::command(command.line_bytes);
        };
        let expiry = context.now.expiry(given);
        let with_cas = tokens.get(0) == b"gats";
        // Behind the second word.
        let start = tokens.get(1).as_ptr() as usize - line.as_ptr() as usize + tokens.get(1).len();
        let read = |slot: &mut Slot<'_>, key: &[u8], out: &mut Vec<u8>| {
            if with_cas && slot.assign_cas().is_err() {
                return Some(false);
            }
            let (start, item) = (out.len(), slot.read()?);
            write_value(key, &item, with_cas, out);
            let is_touched = slot.set_expiry(expiry).is_ok();
            if !is_touched {
                out.truncate(start);
            }
            Some(is_touched)
        };
        self.retrieve(line, command.line_bytes, start, out, context, read)
    }

    /// Asks `read` for each key: `Some(false)` for want of memory, `None` when there is no item.
    fn retrieve(
        &mut self,
        line: &[u8],
        line_bytes: usize,
        start: usize,
        out: &mut Vec<u8>,
        context: &Context<'_>,
        read: impl Fn(&mut Slot<'_>, &[u8], &mut Vec<u8>) -> Option<bool>,
    ) -> Step {
        let mut at = self.answered_bytes.max(start);
        if self.answered_bytes == 0 && !all_keys_fit(&line[start..]) {
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(line_bytes);
        }
        let (mut hits, mut misses) = (0, 0);
        let mut step = Step::command(line_bytes);
        while at < line.len() {
            let rest = &line[at..];
            let len = memchr::memchr(b' ', rest).unwrap_or(rest.len());
            let key = &rest[..len];
            at += len + 1;
            if key.is_empty() {
                continue;
            }
            match read(&mut context.store.slot(key, context.now.second), key, out) {
                Some(true) => hits += 1,
                Some(false) => {
                    out.extend_from_slice(NO_MEMORY);
                    self.answered_bytes = 0;
                    return step;
                }
                None => misses += 1,
            }
            if out.len() >= REPLY_BATCH_BYTES && at < line.len() {
                step = Step::Flush;
                break;
            }
        }
        // As in memcached: what touches is counted as that alone.
        context.counters.asked(line.starts_with(b"gat"), hits, misses);
        if step == Step::Flush {
            self.answered_bytes = at;
            return step;
        }
        let was_without_keys = hits + misses == 0 && self.answered_bytes == 0;
        self.answered_bytes = 0;
        out.extend_from_slice(if was_without_keys { BAD_FORMAT } else { b"END\r\n" });
        step
    }
}

fn all_keys_fit(keys: &[u8]) -> bool {
    keys.len() <= MAX_KEY_BYTES
        || keys
            .split(|&byte| byte == b' ')
            .all(|key| key.len() <= MAX_KEY_BYTES)
}

#[inline]
fn write_value(key: &[u8], item: &Item<'_>, with_cas: bool, out: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    out.reserve(key.len() + item.value.len() + 64);
    out.extend_from_slice(b"VALUE ");
    out.extend_from_slice(key);
    out.push(b' ');
    out.extend_from_slice(digits.format(item.flags).as_bytes());
    out.push(b' ');
    out.extend_from_slice(digits.format(item.value.len()).as_bytes());
    if with_cas {
        out.push(b' ');
        out.extend_from_slice(digits.format(item.cas).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(item.value);
    out.extend_from_slice(b"\r\n");
}
