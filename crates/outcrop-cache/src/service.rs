//! What all connections of a server share beside the store.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::counters::WorkerCounters;
use crate::login::Logins;

/// Facts and counts of a running server.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) counters: Box<[WorkerCounters]>,
    pub(crate) memory_bytes: u64,
    pub(crate) max_connections: u64,
    /// Who may use it; anybody when absent.
    pub(crate) logins: Option<Logins>,
    /// Open now.
    pub(crate) connections: AtomicU64,
    /// Held by connections' buffers.
    pub(crate) buffer_bytes: AtomicU64,
    /// Second at which the counts began.
    pub(crate) since: AtomicU64,
}

impl Service {
    /// Seconds since the start, or since the counts were reset.
    pub(crate) fn uptime_s(&self, second: u32) -> u64 {
        u64::from(second).saturating_sub(self.since.load(Ordering::Relaxed))
    }
}
