//! The meta commands: `mg`, `ms`, `md`, `ma`, `me`, `mn`.
//!
//! Flags act and tell in the order of the request. What each flag of each command does stands in `docs/format/meta.md`.
//! *Source*: doc/protocol.txt of memcached 1.6.45, "Meta Commands"; where that is silent, what 1.6.45 answers.

mod answer;
mod change;
mod flags;
mod get;
mod set;

use super::line::{BAD_CHUNK, BAD_FORMAT, natural};
use super::storage::TOO_LARGE;
use super::{Command, Session};
use crate::protocol::{Context, Step};
use crate::store::MAX_KEY_BYTES;
use answer::{Shown, write_flags};
use flags::{Flags, Key, Mode};

/// Words of a meta command, its name among them.
const MOST_WORDS: usize = 20;

/// What a meta command acts on.
struct Target<'a> {
    key: Key<'a>,
    flags: Flags<'a>,
}

impl<'a> Target<'a> {
    /// Key and flags of a command whose flags begin at word `first`.
    fn of(command: &'a Command<'a>, first: usize) -> Result<Self, &'static [u8]> {
        let (verb, key) = (command.tokens.get(0)[1], command.tokens.get(1));
        if key.len() > MAX_KEY_BYTES {
            return Err(BAD_FORMAT);
        }
        if command.tokens.len() > MOST_WORDS {
            return Err(b"CLIENT_ERROR options flags are too long\r\n");
        }
        let words = if verb == b'e' {
            &[]
        } else {
            command.tokens.from(first)
        };
        let mut flags = Flags::of(words, key)?;
        // `me` looks at one word, and only for this.
        flags.is_base64 |= verb == b'e' && command.tokens.get(2) == b"b";
        let key = Key::of(key, flags.is_base64).filter(|key| !key.bytes().is_empty());
        let key = key.ok_or(BAD_FORMAT)?;
        Ok(Self { key, flags })
    }

    /// How an `ms` stores.
    fn mode(&self) -> Result<Mode, &'static [u8]> {
        Ok(match self.flags.mode {
            None | Some(b'S') => Mode::Set,
            Some(b'E') => Mode::Add,
            Some(b'A') => Mode::Append,
            Some(b'P') => Mode::Prepend,
            Some(b'R') => Mode::Replace,
            Some(_) => return Err(b"CLIENT_ERROR invalid mode for ms M token\r\n"),
        })
    }

    fn shown(&self) -> Shown<'_> {
        Shown::of_key(&self.key)
    }

    /// A status line with the flags that ask to be repeated; nothing when silence is wanted.
    fn status(&self, out: &mut Vec<u8>, code: &[u8], is_silent: bool, shown: &Shown<'_>) {
        if !(is_silent && self.flags.is_quiet) {
            out.extend_from_slice(code);
            write_flags(out, &self.flags, shown);
            out.extend_from_slice(b"\r\n");
        }
    }
}

impl Session {
    /// Deals with a meta command.
    pub(super) fn meta(&mut self, command: &Command<'_>, out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        context.counters.metas.add(1);
        let verb = command.tokens.get(0);
        if verb == b"mn" {
            out.extend_from_slice(b"MN\r\n");
            return Step::command(command.line_bytes);
        }
        if verb == b"ms" {
            return self.meta_set(command, out, context);
        }
        if command.tokens.len() < 2 {
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(command.line_bytes);
        }
        if !command
            .tokens
            .from(2)
            .iter()
            .all(|word| flags::is_letter(word[0]))
        {
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(command.line_bytes);
        }
        match Target::of(command, 2) {
            Err(sentence) if verb == b"ma" && sentence != flags::OPAQUE_TOO_LONG => {
                // As memcached says it: this one has one sentence for all.
                out.extend_from_slice(flags::INVALID_OR_DUPLICATE);
            }
            Err(sentence) => out.extend_from_slice(sentence),
            Ok(target) => match verb {
                b"mg" => get::get(&target, out, context),
                b"md" => change::delete(&target, out, context),
                b"ma" => change::add(&target, out, context),
                _ => get::debug(&target, out, context),
            },
        }
        Step::command(command.line_bytes)
    }

    fn meta_set(&mut self, command: &Command<'_>, out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        let length = natural(command.tokens.get(2)).filter(|&length| length <= i32::MAX as u64 - 2);
        let has_odd_flag = command
            .tokens
            .from(3)
            .iter()
            .any(|word| !flags::is_letter(word[0]));
        let Some(length) = length.filter(|_| !has_odd_flag) else {
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(command.line_bytes);
        };
        let target = Target::of(command, 3).and_then(|target| Ok((target.mode()?, target)));
        let too_large = context.is_too_large(length);
        if too_large || target.is_err() {
            if too_large {
                context.counters.store_too_large.add(1);
            }
            if let Ok((_, target)) = &target {
                context
                    .store
                    .slot(target.key.bytes(), context.now.second)
                    .remove();
            }
            self.swallow_later(length + 2, target.err().unwrap_or(TOO_LARGE));
            return Step::Done {
                bytes: command.line_bytes,
                is_complete: false,
            };
        }
        let end = command.line_bytes + length as usize;
        let Some(chunk) = command.input.get(command.line_bytes..end + 2) else {
            return Step::More(end + 2);
        };
        match (chunk.strip_suffix(b"\r\n"), target) {
            (Some(value), Ok((mode, target))) => set::set(&target, mode, value, out, context),
            (_, Err(sentence)) => out.extend_from_slice(sentence),
            (None, _) => out.extend_from_slice(BAD_CHUNK),
        }
        Step::command(end + 2)
    }
}
