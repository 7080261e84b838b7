//! The meta commands: `mg`, `ms`, `md`, `ma`, `me`, `mn`.
//!
//! *Source*: memcached's doc/protocol.txt, "Meta Commands"; the order of flags in replies is that of the request.

mod answer;
mod flags;

use super::arithmetic::{self, Changed};
use super::line::{BAD_CHUNK, BAD_FORMAT, ERROR, natural};
use super::storage::{NO_MEMORY, TOO_LARGE, refused};
use super::{Command, Session};
use crate::protocol::{Context, Step};
use crate::store::{Draft, MAX_KEY_BYTES, Refusal, Slot};
use answer::{Shown, write_flags};
use flags::{Flags, Key, Mode};

/// Words of a meta command, its name among them.
const MOST_WORDS: usize = 19;

/// What a meta command acts on.
struct Target<'a> {
    /// The command's second letter.
    verb: u8,
    key: Key<'a>,
    flags: Flags<'a>,
}

impl<'a> Target<'a> {
    /// Key and flags of a command whose flags begin at word `first`.
    fn of(command: &'a Command<'a>, first: usize) -> Result<Self, &'static [u8]> {
        let (verb, key) = (command.tokens.get(0)[1], command.tokens.get(1));
        if command.tokens.len() > MOST_WORDS {
            return Err(if verb == b'g' {
                b"CLIENT_ERROR options flags are too long\r\n"
            } else {
                b"CLIENT_ERROR options flags too long\r\n"
            });
        }
        let words = if verb == b'e' {
            &[]
        } else {
            command.tokens.from(first)
        };
        let mut flags = Flags::of(words, verb, key)?;
        // `me` looks at one word, and only for this.
        flags.is_base64 |= verb == b'e' && command.tokens.get(2) == b"b";
        let key = Key::of(key, flags.is_base64).filter(|key| !key.bytes().is_empty());
        let key = key.ok_or(BAD_FORMAT)?;
        Ok(Self { verb, key, flags })
    }

    /// How an `ms` stores.
    fn mode(&self) -> Result<Mode, &'static [u8]> {
        Ok(match self.flags.mode {
            None | Some(b'S' | b's') => Mode::Set,
            Some(b'E' | b'e') => Mode::Add,
            Some(b'A' | b'a') => Mode::Append,
            Some(b'P' | b'p') => Mode::Prepend,
            Some(b'R' | b'r') => Mode::Replace,
            Some(_) => return Err(b"CLIENT_ERROR invalid mode for ms M token\r\n"),
        })
    }

    /// The letters that a reply to this command tells about.
    const fn told(&self) -> &'static [u8] {
        match self.verb {
            b'g' => b"sfhltckO",
            b's' => b"sckO",
            b'a' => b"tckO",
            _ => b"kO",
        }
    }

    fn shown(&self) -> Shown<'_> {
        Shown::default_for(&self.key)
    }

    /// A status line with the flags that ask to be repeated; nothing when silence is wanted.
    fn status(&self, out: &mut Vec<u8>, code: &[u8], is_silent: bool, shown: &Shown<'_>) {
        if !(is_silent && self.flags.is_quiet) {
            out.extend_from_slice(code);
            write_flags(out, &self.flags, self.told(), shown);
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
            out.extend_from_slice(if verb == b"me" { BAD_FORMAT } else { ERROR });
            return Step::command(command.line_bytes);
        }
        if command.tokens.get(1).len() > MAX_KEY_BYTES {
            out.extend_from_slice(BAD_FORMAT);
            return Step::command(command.line_bytes);
        }
        match Target::of(command, 2) {
            Err(sentence) => out.extend_from_slice(sentence),
            Ok(target) => match verb {
                b"mg" => get(&target, out, context),
                b"md" => delete(&target, out, context),
                b"ma" => add(&target, out, context),
                _ => debug(&target, out, context),
            },
        }
        Step::command(command.line_bytes)
    }

    fn meta_set(&mut self, command: &Command<'_>, out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        if command.tokens.len() < 2 {
            out.extend_from_slice(ERROR);
            return Step::command(command.line_bytes);
        }
        let length = natural(command.tokens.get(2)).filter(|&length| length < i32::MAX as u64 - 2);
        let is_too_long = command.tokens.get(1).len() > MAX_KEY_BYTES;
        let Some(length) = length.filter(|_| !is_too_long && command.tokens.len() <= MOST_WORDS) else {
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
            (Some(value), Ok((mode, target))) => set(&target, mode, value, out, context),
            (_, Err(sentence)) => out.extend_from_slice(sentence),
            (None, _) => out.extend_from_slice(BAD_CHUNK),
        }
        Step::command(end + 2)
    }
}

/// Makes the item that `mg` with `N` finds missing; true when this client is to fill it.
fn vivify(slot: &mut Slot<'_>, ttl: i64, context: &Context<'_>) -> Result<(), Refusal> {
    let draft = Draft {
        expiry: context.now.expiry(ttl),
        ..Draft::default()
    };
    slot.put(draft)?;
    slot.set_marks(false, true).map(drop)
}

fn get(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    let (flags, counters) = (&target.flags, context.counters);
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    counters.gets.add(1);
    let mut shown = target.shown();
    let is_there = slot.peek().is_some();
    counters.get_hits.add(u64::from(is_there));
    counters.get_misses.add(u64::from(!is_there));
    if !is_there {
        let Some(ttl) = flags.vivify else {
            return target.status(out, b"EN", true, &shown);
        };
        if vivify(&mut slot, ttl, context).is_err() {
            return out.extend_from_slice(b"SERVER_ERROR out of memory\r\n");
        }
        shown.is_won = true;
    }
    if flags.shows(b'c') && slot.assign_cas().is_err() {
        return out.extend_from_slice(NO_MEMORY);
    }
    if is_there {
        refresh(target, &mut slot, &mut shown, context);
    }
    let Some(item) = slot.read() else {
        return out.extend_from_slice(b"EN\r\n");
    };
    (shown.item, shown.shows_stored_key) = (Some(item), true);
    shown.ttl_s = context.now.left(item.expiry);
    if let Some(ttl) = flags.ttl {
        shown.ttl_s = context.now.left(context.now.expiry(ttl));
    }
    if flags.shows(b'v') {
        out.extend_from_slice(b"VA ");
        out.extend_from_slice(itoa::Buffer::new().format(item.value.len()).as_bytes());
        write_flags(out, flags, target.told(), &shown);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(item.value);
        out.extend_from_slice(b"\r\n");
    } else {
        target.status(out, b"HD", false, &shown);
    }
    if let (Some(ttl), true) = (flags.ttl, is_there) {
        context.counters.touches.add(1);
        // What was written is the answer, whatever becomes of the item.
        let _ = slot.set_expiry(context.now.expiry(ttl));
    }
}

/// Decides whether this client is the one to refresh the item, and says who was told before.
fn refresh(target: &Target<'_>, slot: &mut Slot<'_>, shown: &mut Shown<'_>, context: &Context<'_>) {
    let Some(item) = slot.peek() else { return };
    let (is_stale, was_won, left) = (item.stale, item.won, context.now.left(item.expiry));
    let is_due = target
        .flags
        .recache
        .is_some_and(|limit| left != -1 && left < limit);
    shown.was_won = was_won;
    shown.is_stale = is_stale;
    if !was_won && (is_stale || is_due) {
        shown.is_won = true;
        let _ = slot.set_marks(is_stale, true);
    }
}

fn set(target: &Target<'_>, mode: Mode, value: &[u8], out: &mut Vec<u8>, context: &Context<'_>) {
    let (flags, counters) = (&target.flags, context.counters);
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    counters.sets.add(1);
    let mut draft = Draft {
        value,
        flags: flags.client_flags,
        expiry: flags.ttl.map_or(0, |ttl| context.now.expiry(ttl)),
        cas: flags.new_cas,
        has_binary_key: flags.is_base64,
        stale: false,
    };
    let old = slot.peek().map(|item| item.cas);
    let shown = target.shown();
    if let Some(wanted) = flags.cas {
        match old {
            None => return target.status(out, b"NF", false, &shown),
            // With `I`, an older value is kept, marked as stale.
            Some(cas) if cas != wanted && flags.invalidates && wanted < cas => draft.stale = true,
            Some(cas) if cas != wanted => {
                counters.cas_badval.add(1);
                return target.status(out, b"EX", false, &shown);
            }
            Some(_) => counters.cas_hits.add(1),
        }
    }
    let stored = match (mode, old) {
        (Mode::Set, _) | (Mode::Add, None) | (Mode::Replace, Some(_)) => slot.put(draft).map(|()| true),
        (Mode::Append, Some(_)) => slot.join(value, true),
        (Mode::Prepend, Some(_)) => slot.join(value, false),
        (Mode::Append | Mode::Prepend, None) if flags.vivify.is_some() => {
            draft.expiry = flags.vivify.map_or(0, |ttl| context.now.expiry(ttl));
            slot.put(draft).map(|()| true)
        }
        _ => Ok(false),
    };
    if matches!(mode, Mode::Append | Mode::Prepend) && flags.is_base64 {
        // The item was stored; without the mark its key is only shown otherwise.
        let _ = slot.set_binary_key(true);
    }
    let stored = match stored {
        Ok(true) if flags.shows(b'c') => slot.assign_cas(),
        other => other,
    };
    match stored {
        Ok(true) => {
            let shown = Shown {
                item: slot.peek(),
                ..target.shown()
            };
            target.status(out, b"HD", true, &shown);
        }
        Ok(false) => target.status(out, b"NS", false, &shown),
        Err(refusal) => out.extend_from_slice(refused(refusal, context)),
    }
}

fn delete(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    let (flags, counters) = (&target.flags, context.counters);
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    let shown = target.shown();
    let Some(cas) = slot.peek().map(|item| item.cas) else {
        counters.delete_misses.add(1);
        return target.status(out, b"NF", false, &shown);
    };
    if flags.cas.is_some_and(|wanted| wanted != cas) {
        return target.status(out, b"EX", false, &shown);
    }
    counters.delete_hits.add(1);
    if flags.invalidates {
        let ttl = flags.ttl.map(|ttl| context.now.expiry(ttl));
        let kept = slot.invalidate(flags.new_cas);
        let kept = kept.and_then(|_| ttl.map_or(Ok(true), |expiry| slot.set_expiry(expiry)));
        if kept.is_err() {
            return out.extend_from_slice(NO_MEMORY);
        }
    } else {
        slot.remove();
    }
    target.status(out, b"HD", true, &shown);
}

fn add(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    let flags = &target.flags;
    let is_up = match flags.mode {
        None | Some(b'I' | b'i' | b'+') => true,
        Some(b'D' | b'd' | b'-') => false,
        Some(_) => return out.extend_from_slice(b"CLIENT_ERROR invalid mode for ma M token\r\n"),
    };
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    let old_cas = slot.peek().map(|item| item.cas);
    if let (Some(cas), Some(wanted)) = (old_cas, flags.cas)
        && cas != wanted
    {
        return target.status(out, b"EX", false, &target.shown());
    }
    let changed = change(&mut slot, flags, is_up, context);
    let mut shown = target.shown();
    let number = match changed {
        Changed::To(number) => number,
        Changed::Missing => return target.status(out, b"NF", false, &shown),
        Changed::NotANumber => {
            let sentence = b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
            return out.extend_from_slice(sentence);
        }
        Changed::Refused(_) => return out.extend_from_slice(b"SERVER_ERROR out of memory\r\n"),
    };
    if let (Some(ttl), true) = (flags.ttl, old_cas.is_some()) {
        let _ = slot.set_expiry(context.now.expiry(ttl));
    }
    if flags.shows(b'c') && slot.assign_cas().is_err() {
        return out.extend_from_slice(NO_MEMORY);
    }
    shown.item = slot.peek();
    shown.ttl_s = shown.item.map_or(-1, |item| context.now.left(item.expiry));
    if !flags.shows(b'v') {
        return target.status(out, b"HD", true, &shown);
    }
    if flags.is_quiet {
        return;
    }
    let mut digits = itoa::Buffer::new();
    let text = digits.format(number);
    out.extend_from_slice(b"VA ");
    out.extend_from_slice(itoa::Buffer::new().format(text.len()).as_bytes());
    write_flags(out, flags, target.told(), &shown);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Adds or subtracts; a number that is missing begins with its initial value if `N` says so.
fn change(slot: &mut Slot<'_>, flags: &Flags<'_>, is_up: bool, context: &Context<'_>) -> Changed {
    let counters = context.counters;
    let (hits, misses) = if is_up {
        (&counters.incr_hits, &counters.incr_misses)
    } else {
        (&counters.decr_hits, &counters.decr_misses)
    };
    if slot.peek().is_some() {
        hits.add(1);
        return arithmetic::add(slot, flags.delta.unwrap_or(1), is_up);
    }
    misses.add(1);
    let Some(ttl) = flags.vivify else {
        return Changed::Missing;
    };
    let initial = flags.initial.unwrap_or(0);
    let mut digits = itoa::Buffer::new();
    let draft = Draft {
        value: digits.format(initial).as_bytes(),
        expiry: context.now.expiry(ttl),
        ..Draft::default()
    };
    slot.put(draft)
        .map_or_else(Changed::Refused, |()| Changed::To(initial))
}

/// `me`: what is known of an item, for people.
fn debug(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    use std::io::Write as _;
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    let Some(item) = slot.peek() else {
        return out.extend_from_slice(b"EN\r\n");
    };
    out.extend_from_slice(b"ME ");
    out.extend_from_slice(target.key.given());
    let fetched = if item.fetched { "yes" } else { "no" };
    // Writing to a vector cannot fail; there is one class of items.
    let _ = write!(
        out,
        " exp={} la={} cas={} fetch={fetched} cls=1 size={}\r\n",
        context.now.left(item.expiry),
        item.idle_s,
        item.cas,
        item.value.len() + target.key.bytes().len(),
    );
}
