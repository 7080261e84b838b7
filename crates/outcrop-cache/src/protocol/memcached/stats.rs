//! `stats`: what the server counts, under memcached's names.

use std::io::Write;
use std::sync::atomic::Ordering;

use super::line::{ERROR, Tokens};
use crate::counters::WorkerCounters;
use crate::protocol::Context;

/// The memcached whose protocol this is, from which clients conclude what they may ask for (libmemcached takes no
/// version below 1.0); then our own.
pub(super) const VERSION: &str = concat!("1.6.45-outcrop-", env!("CARGO_PKG_VERSION"));

fn line(out: &mut Vec<u8>, name: &str, value: impl std::fmt::Display) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "STAT {name} {value}\r\n");
}

pub(super) fn stats(tokens: &Tokens<'_>, out: &mut Vec<u8>, context: &Context<'_>) {
    match tokens.get(1) {
        b"" => general(out, context),
        b"settings" => settings(out, context),
        b"reset" => {
            context.service.counters.iter().for_each(WorkerCounters::reset);
            return out.extend_from_slice(b"RESET\r\n");
        }
        // There are no slab classes to tell of.
        b"items" | b"slabs" | b"conns" => {}
        b"sizes" => line(out, "sizes_status", "disabled"),
        // Counts by prefix of keys would be work for each command, and `watch` a copy of each: refused in memcached's words.
        b"detail" => return out.extend_from_slice(b"CLIENT_ERROR stats detail not allowed\r\n"),
        b"cachedump" => return out.extend_from_slice(b"CLIENT_ERROR stats cachedump not allowed\r\n"),
        _ => return out.extend_from_slice(ERROR),
    }
    out.extend_from_slice(b"END\r\n");
}

fn general(out: &mut Vec<u8>, context: &Context<'_>) {
    let (store, service) = (context.store.report(), context.service);
    line(out, "pid", std::process::id());
    line(out, "uptime", service.uptime_s(context.now.second));
    line(out, "time", context.now.unix_s());
    line(out, "version", VERSION);
    line(out, "pointer_size", usize::BITS);
    line(out, "max_connections", service.max_connections);
    line(
        out,
        "curr_connections",
        service.connections.load(Ordering::Relaxed),
    );
    for (name, _, value) in WorkerCounters::sums(&service.counters) {
        line(out, name, value);
    }
    line(out, "threads", service.counters.len());
    line(out, "limit_maxbytes", service.memory_bytes);
    line(out, "bytes", store.item_bytes);
    line(out, "curr_items", store.items);
    line(out, "total_items", store.counters.stored);
    line(out, "evictions", store.counters.evicted);
    line(out, "evicted_unfetched", store.counters.evicted_unfetched);
    line(out, "expired", store.counters.expired);
    // Under the names of memcached that exporters read, where something here is what they mean.
    line(out, "reclaimed", store.counters.expired);
    line(out, "direct_reclaims", store.counters.evicted);
    line(out, "crawler_items_checked", store.counters.swept);
    line(out, "crawler_reclaimed", store.counters.swept_away);
    line(out, "total_malloced", store.memory_bytes);
    line(out, "accepting_conns", 1);
    let (user_ns, system_ns) = outcrop_probe::process_time_ns();
    for (name, nanoseconds) in [("rusage_user", user_ns), ("rusage_system", system_ns)] {
        let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000 / 1000);
        line(out, name, format_args!("{seconds}.{rest:06}"));
    }
    line(out, "store_memory_bytes", store.memory_bytes);
    line(
        out,
        "buffer_memory_bytes",
        service.buffer_bytes.load(Ordering::Relaxed),
    );
    line(out, "moved_bytes", store.counters.moved_bytes);
    line(out, "hash_chains", store.chains);
}

fn settings(out: &mut Vec<u8>, context: &Context<'_>) {
    line(out, "maxbytes", context.service.memory_bytes);
    line(out, "maxconns", context.service.max_connections);
    line(out, "policy", context.store.policy());
    line(out, "item_size_max", context.store.max_item_bytes());
    line(out, "num_threads", context.service.counters.len());
    line(out, "cas_enabled", "yes");
    // No thread of its own looks for items that have ended.
    line(out, "lru_crawler", "no");
    line(
        out,
        "evictions",
        if context.store.policy().name() == "none" {
            "off"
        } else {
            "on"
        },
    );
}
