//! `set`, `add`, `replace`, `append`, `prepend`, `cas`.

use super::line::{BAD_CHUNK, BAD_FORMAT, client_flags, is_key, is_noreply, natural, number, reply, seconds};
use super::{Command, Session};
use crate::protocol::{Context, Step};
use crate::store::{Draft, Refusal};

pub(super) const TOO_LARGE: &[u8] = b"SERVER_ERROR object too large for cache\r\n";
pub(super) const NO_MEMORY: &[u8] = b"SERVER_ERROR out of memory storing object\r\n";

impl Session {
    pub(super) fn store(&mut self, command: &Command<'_>, out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        let tokens = &command.tokens;
        let verb = tokens.get(0);
        let is_quiet = is_noreply(tokens);
        let length = seconds(tokens.get(4)).and_then(|length| u64::try_from(length).ok());
        let length = length.filter(|&length| length <= i32::MAX as u64 - 2);
        let Some(value_bytes) = length.filter(|_| tokens.len() >= 5) else {
            // Where the value ends is not known: what follows is read as commands.
            // Nor is it known whether silence is asked for.
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(command.line_bytes);
        };
        let numbers = (
            client_flags(tokens.get(2)),
            number(tokens.get(3)),
            natural(tokens.get(5)),
        );
        let (Some(flags), Some(expiry), cas) = numbers else {
            return self.refuse(command, value_bytes, is_quiet);
        };
        if !is_key(tokens.get(1)) || verb == b"cas" && cas.is_none() {
            return self.refuse(command, value_bytes, is_quiet);
        }
        if context.is_too_large(value_bytes) {
            context.counters.store_too_large.add(1);
            if verb == b"set" {
                // As memcached: not to serve what its owner believes to be replaced.
                context.store.slot(tokens.get(1), context.now.second).remove();
            }
            self.swallow_later(value_bytes + 2, if is_quiet { b"" } else { TOO_LARGE });
            return Step::Done {
                bytes: command.line_bytes,
                is_complete: false,
            };
        }
        let end = command.line_bytes + value_bytes as usize;
        let Some(chunk) = command.input.get(command.line_bytes..end + 2) else {
            return Step::More(end + 2);
        };
        let Some(value) = chunk.strip_suffix(b"\r\n") else {
            reply(out, is_quiet, BAD_CHUNK);
            return Step::command(end + 2);
        };
        let draft = Draft {
            value,
            flags,
            expiry: context.now.expiry(expiry),
            ..Draft::default()
        };
        context.counters.sets.add(1);
        let answer = keep(verb, tokens.get(1), draft, cas.unwrap_or(0), context);
        reply(out, is_quiet, answer);
        Step::command(end + 2)
    }

    /// Throws the value away, too.
    fn refuse(&mut self, command: &Command<'_>, value_bytes: u64, is_quiet: bool) -> Step {
        self.swallow_later(value_bytes + 2, if is_quiet { b"" } else { BAD_FORMAT });
        Step::Done {
            bytes: command.line_bytes,
            is_complete: false,
        }
    }
}

fn keep(verb: &[u8], key: &[u8], draft: Draft<'_>, cas: u64, context: &Context<'_>) -> &'static [u8] {
    let mut slot = context.store.slot(key, context.now.second);
    let counters = context.counters;
    let is_there = verb != b"set" && slot.peek().is_some();
    let stored = match verb {
        b"add" if is_there => {
            // As memcached: a refused `add` counts as a use.
            slot.promote();
            return b"NOT_STORED\r\n";
        }
        b"replace" | b"append" | b"prepend" if !is_there => return b"NOT_STORED\r\n",
        b"append" | b"prepend" => {
            let joined = slot.join(draft.value, verb == b"append");
            // As memcached, whether the whole is too large or there is no room for it.
            return if joined == Ok(true) {
                b"STORED\r\n"
            } else {
                b"NOT_STORED\r\n"
            };
        }
        b"cas" if !is_there => {
            counters.cas_misses.add(1);
            return b"NOT_FOUND\r\n";
        }
        b"cas" if slot.peek().is_some_and(|item| item.cas != cas || cas == 0) => {
            counters.cas_badval.add(1);
            return b"EXISTS\r\n";
        }
        _ => slot.put(draft),
    };
    match stored {
        Ok(()) => {
            counters.cas_hits.add(u64::from(verb == b"cas"));
            b"STORED\r\n"
        }
        Err(refusal) => {
            if verb == b"set" {
                slot.remove();
            }
            refused(refusal, context)
        }
    }
}

/// The sentence for an item that was not stored.
pub(super) fn refused(refusal: Refusal, context: &Context<'_>) -> &'static [u8] {
    match refusal {
        Refusal::TooLarge => {
            context.counters.store_too_large.add(1);
            TOO_LARGE
        }
        Refusal::NoRoom => {
            context.counters.store_no_memory.add(1);
            NO_MEMORY
        }
    }
}
