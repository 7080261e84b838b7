//! Closing without loss: a socket that is closed while requests lie unread in it resets the connection, and replies that
//! the client has not read yet are gone.

use std::time::Duration;

use outcrop_probe::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::Shutdown;

use super::connection::Connection;

/// Longest wait for clients to notice the end.
const PATIENCE: Duration = Duration::from_millis(250);

/// Longest wait for clients that go on sending.
const LONGEST_NS: u64 = 1_000_000_000;

/// Says goodbye to all, and reads what they still send until they are gone or a moment has passed.
pub(super) fn close_all(connections: impl Iterator<Item = Box<Connection>>, clock: &Clock) {
    let start_ns = clock.now_ns();
    let mut open: Vec<_> = connections.map(|connection| connection.socket).collect();
    for socket in &open {
        // Its peer may be gone.
        let _ = rustix::net::shutdown(socket, Shutdown::Write);
    }
    let mut rest = [0; 16 << 10];
    while !open.is_empty() && clock.now_ns() - start_ns < LONGEST_NS {
        let mut waiting: Vec<_> = open
            .iter()
            .map(|socket| PollFd::new(socket, PollFlags::IN))
            .collect();
        let patience = Timespec::try_from(PATIENCE).ok();
        if !poll(&mut waiting, patience.as_ref()).is_ok_and(|ready| ready > 0) {
            return;
        }
        let ready: Vec<bool> = waiting.iter().map(|one| !one.revents().is_empty()).collect();
        let mut ready = ready.into_iter();
        open.retain(|socket| {
            !ready.next().unwrap_or(false)
                || matches!(rustix::io::read(socket, &mut rest), Ok(read) if read > 0)
        });
    }
}
