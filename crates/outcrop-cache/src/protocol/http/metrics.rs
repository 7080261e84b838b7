//! `GET /metrics`: what the server counts, as Prometheus reads it.
//!
//! *Source*: Prometheus, "Exposition formats", text format 0.0.4.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use crate::counters::WorkerCounters;
use crate::protocol::Context;

fn metric(text: &mut String, name: &str, kind: &str, meaning: &str, value: u64) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP outcrop_cache_{name} {meaning}.");
    let _ = writeln!(text, "# TYPE outcrop_cache_{name} {kind}");
    let _ = writeln!(text, "outcrop_cache_{name} {value}");
}

pub(super) fn exposition(context: &Context<'_>) -> String {
    let (store, service) = (context.store.report(), context.service);
    let mut text = String::new();
    for (name, meaning, value) in WorkerCounters::sums(&service.counters) {
        metric(&mut text, &format!("{name}_total"), "counter", meaning, value);
    }
    let counters = [
        (
            "evictions_total",
            "Items evicted before they expired",
            store.counters.evicted,
        ),
        (
            "evicted_unfetched_total",
            "Items evicted without having been read",
            store.counters.evicted_unfetched,
        ),
        (
            "expired_total",
            "Items removed because they had expired",
            store.counters.expired,
        ),
        (
            "moved_bytes_total",
            "Bytes that cleaning moved",
            store.counters.moved_bytes,
        ),
    ];
    for (name, meaning, value) in counters {
        metric(&mut text, name, "counter", meaning, value);
    }
    let gauges = [
        ("items", "Items held", store.items),
        (
            "item_bytes",
            "Bytes of headers, keys and values",
            store.item_bytes,
        ),
        (
            "store_memory_bytes",
            "Memory of items, tables and policy",
            store.memory_bytes,
        ),
        (
            "buffer_memory_bytes",
            "Memory of connection buffers",
            service.buffer_bytes.load(Ordering::Relaxed),
        ),
        (
            "memory_limit_bytes",
            "Memory limit of the process, to within 16 MiB",
            service.memory_bytes,
        ),
        (
            "connections",
            "Connections open",
            service.connections.load(Ordering::Relaxed),
        ),
        (
            "uptime_seconds",
            "Seconds since the start",
            service.uptime_s(context.now.second),
        ),
    ];
    for (name, meaning, value) in gauges {
        metric(&mut text, name, "gauge", meaning, value);
    }
    text
}
