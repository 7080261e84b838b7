//! `md` and `ma`.

use super::super::arithmetic::{self, Changed};
use super::super::storage::NO_MEMORY;
use super::Target;
use super::answer::write_flags;
use crate::protocol::Context;
use crate::store::{Draft, Refusal, Slot};

pub(super) fn delete(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    let (flags, counters) = (&target.flags, context.counters);
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    let shown = target.shown();
    let Some(cas) = slot.peek().map(|item| item.cas) else {
        counters.delete_misses.add(1);
        return target.status(out, b"NF", false, &shown);
    };
    // An item without a CAS value has one for whoever asks, and never 0.
    if flags.cas.is_some_and(|wanted| wanted == 0 || wanted != cas) {
        counters.delete_misses.add(1);
        return target.status(out, b"EX", false, &shown);
    }
    counters.delete_hits.add(u64::from(!flags.invalidates));
    let kept = if flags.empties || flags.invalidates {
        keep(&mut slot, target, cas, context)
    } else {
        slot.remove();
        Ok(())
    };
    match kept {
        Ok(()) => target.status(out, b"HD", true, &shown),
        Err(_) => out.extend_from_slice(NO_MEMORY),
    }
}

/// Empties the item, marks it as stale, or both.
fn keep(slot: &mut Slot<'_>, target: &Target<'_>, cas: u64, context: &Context<'_>) -> Result<(), Refusal> {
    let flags = &target.flags;
    let ttl = flags.ttl.map(|ttl| context.now.expiry(ttl));
    if flags.empties {
        slot.put(Draft {
            flags: flags.client_flags,
            expiry: ttl.unwrap_or(0),
            cas: if flags.new_cas == 0 { cas } else { flags.new_cas },
            ..Draft::default()
        })?;
    }
    if flags.invalidates {
        slot.invalidate(flags.new_cas)?;
        if let Some(expiry) = ttl {
            slot.set_expiry(expiry)?;
        }
    }
    Ok(())
}

pub(super) fn add(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    let flags = &target.flags;
    let is_up = match flags.mode {
        None | Some(b'I' | b'+') => true,
        Some(b'D' | b'-') => false,
        Some(_) => return out.extend_from_slice(b"CLIENT_ERROR invalid mode for ma M token\r\n"),
    };
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    let old = slot
        .peek()
        .map(|item| (item.cas, item.expiry, item.value.is_empty()));
    if let (Some((cas, _, false)), Some(wanted)) = (old, flags.cas)
        && wanted != 0
        && cas != wanted
    {
        return target.status(out, b"EX", false, &target.shown());
    }
    let mut shown = target.shown();
    let number = match change(&mut slot, target, is_up, context) {
        Changed::To(number) => number,
        Changed::Missing => return target.status(out, b"NF", false, &shown),
        Changed::NotANumber => {
            let sentence = b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
            return out.extend_from_slice(sentence);
        }
        Changed::Refused(_) => return out.extend_from_slice(b"SERVER_ERROR out of memory\r\n"),
    };
    let (ends, told) = ends(target, old.map(|(_, expiry, _)| expiry), context);
    if slot.set_expiry(ends).is_err()
        || flags.new_cas != 0 && slot.set_cas(flags.new_cas).is_err()
        || flags.shows(b'c') && slot.assign_cas().is_err()
    {
        return out.extend_from_slice(NO_MEMORY);
    }
    shown.ttl_s = Some(context.now.left(told));
    shown.cas = slot.peek().map(|item| item.cas);
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
    write_flags(out, flags, &shown);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// When the number ends after all flags, and when it does for a `t` where it stands.
fn ends(target: &Target<'_>, before: Option<u32>, context: &Context<'_>) -> (u32, u32) {
    let flags = &target.flags;
    let (mut ends, mut told) = (before.unwrap_or(0), None);
    for word in flags.words {
        match (word[0], flags.ttl, flags.vivify) {
            (b'T', Some(ttl), _) => ends = context.now.expiry(ttl),
            (b'N', _, Some(ttl)) if before.is_none() => ends = context.now.expiry(ttl),
            (b't', ..) => told = Some(ends),
            _ => {}
        }
    }
    (ends, told.unwrap_or(ends))
}

/// Adds or subtracts; a number that is missing begins with its initial value if `N` says so.
fn change(slot: &mut Slot<'_>, target: &Target<'_>, is_up: bool, context: &Context<'_>) -> Changed {
    let (flags, counters) = (&target.flags, context.counters);
    let (hits, misses) = if is_up {
        (&counters.incr_hits, &counters.incr_misses)
    } else {
        (&counters.decr_hits, &counters.decr_misses)
    };
    if slot.peek().is_some() {
        let changed = arithmetic::add(slot, flags.delta.unwrap_or(1), is_up);
        hits.add(u64::from(matches!(changed, Changed::To(_))));
        return changed;
    }
    if flags.vivify.is_none() {
        misses.add(1);
        return Changed::Missing;
    }
    let initial = flags.initial.unwrap_or(0);
    let mut digits = itoa::Buffer::new();
    let draft = Draft {
        value: digits.format(initial).as_bytes(),
        ..Draft::default()
    };
    slot.put(draft)
        .map_or_else(Changed::Refused, |()| Changed::To(initial))
}
