//! What has to be said of engines that are servers.

use outcrop_schema::kv::SERVER_MEMORY;

use crate::answer::Caution;
use crate::cell::Cell;

/// What their throughput is not; none of a run without servers.
pub(super) fn caution(cells: &[Cell<'_>]) -> Option<Caution> {
    let has_servers = cells.iter().any(|cell| cell.value(&SERVER_MEMORY).is_some());
    has_servers.then(|| {
        Caution::note(
            "Redis and memcached are asked over a Unix socket, with one request at a time for each thread: throughput and latency are those of \
             round trips, and not the capacity of the servers.",
        )
    })
}
