//! Counts of what workers did: each worker writes its own, anybody reads the sum.

use std::sync::atomic::{AtomicU64, Ordering};

/// Defines the counters once: field, name in `stats`, meaning for Prometheus.
macro_rules! counters {
    ($($field:ident $name:literal $meaning:literal,)*) => {
        /// The counts of one worker, on cache lines of their own.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub(crate) struct WorkerCounters {
            $(pub(crate) $field: Counter,)*
        }

        impl WorkerCounters {
            /// Every counter's name, meaning and sum over the workers.
            pub(crate) fn sums(workers: &[Self]) -> Vec<(&'static str, &'static str, u64)> {
                vec![$(($name, $meaning, workers.iter().map(|worker| worker.$field.get()).sum()),)*]
            }

            /// Sets all to zero.
            pub(crate) fn reset(&self) {
                $(self.$field.0.store(0, Ordering::Relaxed);)*
            }
        }
    };
}

counters! {
    gets "cmd_get" "Keys requested",
    sets "cmd_set" "Storage commands",
    flushes "cmd_flush" "Commands to remove all items",
    touches "cmd_touch" "Commands to change an expiry",
    metas "cmd_meta" "Meta commands",
    get_hits "get_hits" "Keys requested and found",
    get_misses "get_misses" "Keys requested and not found",
    delete_hits "delete_hits" "Deletions of existing keys",
    delete_misses "delete_misses" "Deletions of missing keys",
    incr_hits "incr_hits" "Increments of existing keys",
    incr_misses "incr_misses" "Increments of missing keys",
    decr_hits "decr_hits" "Decrements of existing keys",
    decr_misses "decr_misses" "Decrements of missing keys",
    cas_hits "cas_hits" "Compare-and-swaps that swapped",
    cas_misses "cas_misses" "Compare-and-swaps of missing keys",
    cas_badval "cas_badval" "Compare-and-swaps that failed because the item had changed",
    touch_hits "touch_hits" "Expiry changes of existing keys",
    touch_misses "touch_misses" "Expiry changes of missing keys",
    auth_cmds "auth_cmds" "Attempts to log in",
    auth_errors "auth_errors" "Failed logins",
    store_too_large "store_too_large" "Items refused as too large",
    store_no_memory "store_no_memory" "Items refused because memory was full",
    read_bytes "bytes_read" "Bytes received",
    written_bytes "bytes_written" "Bytes sent",
    accepted "total_connections" "Connections accepted",
    rejected "rejected_connections" "Connections refused at the connection limit",
    timed_out "timed_out_connections" "Connections closed because a request or a reply took too long",
    overdrawn "overdrawn_connections" "Connections closed because buffers held too much",
    paused "conn_yields" "Times that a connection paused until its client read its replies",
    accept_pauses "listen_disabled_num" "Times that accepting paused because descriptors ran out",
}

impl WorkerCounters {
    /// Counts keys that were found, and keys that were not: asked for, or touched as they were.
    #[inline]
    pub(crate) fn asked(&self, touches: bool, hits: u64, misses: u64) {
        let [asked, found, missed] = if touches {
            [&self.touches, &self.touch_hits, &self.touch_misses]
        } else {
            [&self.gets, &self.get_hits, &self.get_misses]
        };
        asked.add(hits + misses);
        found.add(hits);
        missed.add(misses);
    }
}

/// A count with one writer.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        // One writer: no need for a locked addition.
        self.0.store(self.get().wrapping_add(more), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
