//! `mg`, and `me`.

use super::super::storage::NO_MEMORY;
use super::Target;
use super::answer::{Shown, write_flags};
use crate::protocol::{Context, base64};
use crate::store::{Draft, Slot};

/// When an item ends, as the flags of an `mg` change it one after the other.
struct Ends {
    before: u32,
    /// After `T`, and after `N` where that made the item.
    touched: Option<u32>,
    made: Option<u32>,
}

impl Ends {
    /// The expiry that a flag at the position of `letter` returns.
    fn at(&self, target: &Target<'_>, letter: u8) -> u32 {
        let is_behind = |first: u8| target.flags.has_before(first, letter);
        let touched = self.touched.filter(|_| is_behind(b'T'));
        let made = self.made.filter(|_| is_behind(b'N'));
        match (touched, made) {
            (Some(touched), Some(_)) if target.flags.has_before(b'N', b'T') => touched,
            (touched, made) => made.or(touched).unwrap_or(self.before),
        }
    }
}

pub(super) fn get(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    let (flags, now) = (&target.flags, context.now);
    let mut slot = context.store.slot(target.key.bytes(), now.second);
    let old = slot.peek().map(|item| item.expiry);
    let ends = Ends {
        before: old.unwrap_or(0),
        touched: flags.ttl.map(|ttl| now.expiry(ttl)),
        made: flags.vivify.map(|ttl| now.expiry(ttl)).filter(|_| old.is_none()),
    };
    // As in memcached: what `N` makes was found, and only what was found was touched.
    let is_hit = old.or(ends.made).is_some();
    let (hits, misses) = (u64::from(is_hit), u64::from(!is_hit));
    context
        .counters
        .asked(is_hit && ends.touched.is_some(), hits, misses);
    if old.is_none() {
        if ends.made.is_none() {
            return target.status(out, b"EN", true, &target.shown());
        }
        // The last letter of all: every flag has acted.
        let draft = Draft {
            expiry: ends.at(target, 0),
            cas: flags.new_cas,
            ..Draft::default()
        };
        if slot
            .put(draft)
            .and_then(|()| slot.set_marks(false, false))
            .is_err()
        {
            return out.extend_from_slice(b"SERVER_ERROR out of memory\r\n");
        }
    }
    if flags.shows(b'c') && slot.assign_cas().is_err() {
        return out.extend_from_slice(NO_MEMORY);
    }
    let is_won = wins(target, &mut slot, &ends, context);
    // With `u` the policy is not told, nor who asks for `h` and `l` later.
    let item = if flags.shows(b'u') {
        slot.peek()
    } else {
        slot.read()
    };
    let Some(item) = item else {
        return target.status(out, b"EN", true, &target.shown());
    };
    let mut shown = Shown::of_item(&target.key, &item);
    shown.was_won &= !is_won;
    shown.is_won = is_won;
    shown.ttl_s = Some(now.left(ends.at(target, b't')));
    let is_known = flags.cas.is_some_and(|cas| cas != 0 && cas == item.cas);
    let start = out.len();
    if flags.shows(b'v') && !is_known {
        out.extend_from_slice(b"VA ");
        out.extend_from_slice(itoa::Buffer::new().format(item.value.len()).as_bytes());
        write_flags(out, flags, &shown);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(item.value);
        out.extend_from_slice(b"\r\n");
    } else {
        target.status(out, b"HD", false, &shown);
    }
    if let (Some(expiry), true) = (ends.touched, old.is_some())
        && slot.set_expiry(expiry).is_err()
    {
        out.truncate(start);
        out.extend_from_slice(NO_MEMORY);
    }
}

/// Decides whether this client refreshes the item, and marks the item before the reply is written, so that no second client is
/// told to.
fn wins(target: &Target<'_>, slot: &mut Slot<'_>, ends: &Ends, context: &Context<'_>) -> bool {
    let Some((is_stale, was_won)) = slot.peek().map(|item| (item.stale, item.won)) else {
        return false;
    };
    let limit = target.flags.recache.map_or(0, |ttl| context.now.expiry(ttl));
    let left_at = ends.at(target, b'R');
    let is_due = ends.made.is_none() && left_at != 0 && left_at < limit;
    let is_won = ends.made.is_some() || !was_won && (is_stale || is_due);
    // Marks take no room.
    is_won && slot.set_marks(is_stale, true).is_ok()
}

/// `me`: what is known of an item, for people.
pub(super) fn debug(target: &Target<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    use std::io::Write as _;
    let mut slot = context.store.slot(target.key.bytes(), context.now.second);
    let Some(item) = slot.peek() else {
        return out.extend_from_slice(b"EN\r\n");
    };
    out.extend_from_slice(b"ME ");
    if item.has_binary_key {
        base64::write(target.key.bytes(), out);
    } else {
        out.extend_from_slice(target.key.bytes());
    }
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
