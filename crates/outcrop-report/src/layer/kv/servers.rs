//! What has to be said of engines that are servers.

use outcrop_schema::kv::SERVER_MEMORY;

use crate::answer::Caution;
use crate::cell::Cell;

/// Whether a cell is one of a server: it has its memory, or why that is not known.
fn is_server(cell: &Cell<'_>) -> bool {
    cell.value(&SERVER_MEMORY).is_some() || cell.unavailable(&SERVER_MEMORY).is_some()
}

/// What their throughput is not; none of a run without servers.
pub(super) fn caution(cells: &[Cell<'_>]) -> Option<Caution> {
    let has_servers = cells.iter().any(is_server);
    has_servers.then(|| {
        Caution::note(
            "Redis and memcached are queried over a Unix socket, one request at a time per thread: throughput and latency are those of round \
             trips, not the capacity of the servers.",
        )
    })
}

/// How the cells of a figure were asked, where some of them are servers; else nothing.
pub(super) fn note(cells: &[&Cell<'_>]) -> String {
    const NOTE: &str = "Servers are queried over a Unix socket, one request at a time per thread; embedded engines are called in the process.";
    match cells.iter().any(|cell| is_server(cell)) {
        true => NOTE.to_owned(),
        false => String::new(),
    }
}
