//! Protocols: bytes of one connection in, replies out. No socket and no clock here.

pub(crate) mod base64;
pub(crate) mod http;
pub(crate) mod memcached;
pub(crate) mod resp;
pub(crate) mod seconds;

use crate::counters::WorkerCounters;
use crate::store::Store;
use seconds::Now;

/// Once this many bytes of replies wait, a protocol pauses so that they can be sent.
pub(crate) const REPLY_BATCH_BYTES: usize = 64 << 10;

/// More than header and key of an item can take.
const ITEM_SLACK_BYTES: u64 = 300;

/// What commands act on.
pub(crate) struct Context<'a> {
    pub(crate) store: &'a Store,
    pub(crate) counters: &'a WorkerCounters,
    pub(crate) service: &'a crate::service::Service,
    pub(crate) now: Now,
}

impl Context<'_> {
    /// True when a value of this length cannot be an item.
    pub(crate) fn is_too_large(&self, value_bytes: u64) -> bool {
        let most = self.store.max_item_bytes() as u64;
        // Where items are as small as that, the store decides when it sees the key.
        value_bytes + ITEM_SLACK_BYTES.min(most / 2) > most
    }
}

/// What became of the bytes given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// So many bytes are dealt with, and a command with them if it says so.
    Done { bytes: usize, is_complete: bool },
    /// Nothing happens until this many bytes are there, counted from the first one given.
    More(usize),
    /// Nothing happens until a line ends behind the bytes given, or this many bytes are there.
    Line(usize),
    /// Replies must be sent first; then the same bytes again.
    Flush,
    /// The same bytes again in the next second, and nothing of this client until then.
    Later,
    /// The connection ends once its replies are sent.
    Close,
}

/// What has to come before a session can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// So many bytes.
    Bytes(usize),
    /// The end of a line, within so many bytes.
    Line(usize),
}

impl Awaited {
    pub(crate) const NOTHING: Self = Self::Bytes(0);

    /// Whether it is there, of so many bytes in all, of which `new` were not looked at before: a line that comes in many pieces is
    /// searched once.
    pub(crate) fn is_here(self, all_bytes: usize, new: &[u8]) -> bool {
        match self {
            Self::Bytes(needed) => all_bytes >= needed,
            Self::Line(most) => all_bytes >= most || memchr::memchr(b'\n', new).is_some(),
        }
    }
}

impl Step {
    pub(crate) const fn command(bytes: usize) -> Self {
        Self::Done {
            bytes,
            is_complete: true,
        }
    }
}
