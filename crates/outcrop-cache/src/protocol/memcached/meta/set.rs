//! The meta command that stores a value, `ms`.

use super::super::storage::refused;
use super::Target;
use super::flags::Mode;
use crate::protocol::Context;
use crate::store::{Draft, Slot};

/// How the CAS value that a client gave compares with the item's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    /// None was given, or there is nothing to compare it with.
    Nothing,
    Same,
    /// Older, and the client wants its value kept as stale then.
    Stale,
    Other,
}

fn compared(target: &Target<'_>, mode: Mode, old: Option<u64>) -> Compared {
    let (flags, is_cas) = (&target.flags, matches!(mode, Mode::Set | Mode::Replace));
    match (flags.cas, old) {
        // Without a comparison that a zero stands for, only a command that is all about it fails.
        (Some(0), Some(_)) if is_cas => Compared::Other,
        (None | Some(0), _) | (_, None) => Compared::Nothing,
        (Some(given), Some(old)) if given == old => Compared::Same,
        (Some(given), Some(old)) if is_cas && flags.invalidates && given < old => Compared::Stale,
        _ => Compared::Other,
    }
}

pub(super) fn set(target: &Target<'_>, mode: Mode, value: &[u8], out: &mut Vec<u8>, context: &Context<'_>) {
    let (flags, counters) = (&target.flags, context.counters);
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    counters.sets.add(1);
    let old = slot.peek().map(|item| (item.cas, item.expiry, item.won));
    let compared = compared(target, mode, old.map(|(cas, ..)| cas));
    let mut draft = Draft {
        value,
        flags: flags.client_flags,
        expiry: flags.ttl.map_or(0, |ttl| context.now.expiry(ttl)),
        cas: flags.new_cas,
        has_binary_key: flags.is_base64,
        stale: false,
    };
    let is_cas = flags.cas.is_some() && matches!(mode, Mode::Set | Mode::Replace);
    let mut shown = target.shown();
    // What failed has no CAS value, and the length that was given.
    (shown.cas, shown.size) = (Some(0), Some(value.len()));
    if is_cas && old.is_none() {
        counters.cas_misses.add(1);
        return target.status(out, b"NF", false, &shown);
    }
    if compared == Compared::Other && mode != Mode::Add {
        counters.cas_badval.add(u64::from(is_cas));
        return target.status(out, b"EX", false, &shown);
    }
    counters.cas_hits.add(u64::from(is_cas));
    let was_won = old.is_some_and(|(.., won)| won);
    if let (Compared::Stale, Some((_, expiry, _))) = (compared, old) {
        (draft.stale, draft.expiry) = (true, expiry);
    }
    let stored = match (mode, old) {
        (Mode::Set, _) | (Mode::Add, None) | (Mode::Replace, Some(_)) => slot.put(draft).map(|()| true),
        (Mode::Append | Mode::Prepend, Some(_)) => join(&mut slot, target, mode, value),
        (Mode::Append | Mode::Prepend, None) if flags.vivify.is_some() => {
            draft.expiry = flags.vivify.map_or(0, |ttl| context.now.expiry(ttl));
            slot.put(draft).map(|()| true)
        }
        (Mode::Add, Some(_)) => {
            // As memcached: a refused `add` counts as a use.
            slot.promote();
            Ok(false)
        }
        _ => Ok(false),
    };
    if stored.is_err() && matches!(mode, Mode::Set | Mode::Replace) {
        // As memcached: not to serve what its owner believes to be replaced.
        slot.remove();
    }
    let stored = match stored {
        // Who was to refresh it still is.
        Ok(true) if draft.stale && was_won => slot.set_marks(true, true),
        other => other,
    };
    let stored = match stored {
        // One that ends at once is stored, and has no CAS value that anybody could ask for.
        Ok(true) if flags.shows(b'c') => slot.assign_cas().map(|_| true),
        other => other,
    };
    match stored {
        Ok(true) => {
            let kept = slot.peek().map(|item| (item.cas, item.value.len()));
            let (cas, size) = kept.unwrap_or((flags.new_cas, value.len()));
            (shown.cas, shown.size) = (Some(cas), Some(size));
            target.status(out, b"HD", true, &shown);
        }
        Ok(false) => target.status(out, b"NS", false, &shown),
        Err(refusal) => out.extend_from_slice(refused(refusal, context)),
    }
}

fn join(
    slot: &mut Slot<'_>,
    target: &Target<'_>,
    mode: Mode,
    value: &[u8],
) -> Result<bool, crate::store::Refusal> {
    if slot.join(value, mode == Mode::Append) != Ok(true) {
        // As memcached, whether the whole is too large or there is no room for it.
        return Ok(false);
    }
    if target.flags.is_base64 {
        // Without the mark its key is only shown otherwise.
        slot.set_binary_key(true)?;
    }
    if target.flags.new_cas != 0 {
        slot.set_cas(target.flags.new_cas)?;
    }
    Ok(true)
}
