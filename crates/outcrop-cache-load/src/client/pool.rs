//! Connections that are kept for the next request.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::connection::Connection;
use crate::error::CacheLoadError;
use crate::target::Target;

/// Connections to one server, shared by threads; each is used by one thread at a time.
#[derive(Debug)]
pub struct Pool {
    target: Target,
    timeout: Duration,
    most_idle: usize,
    idle: Mutex<Idle>,
}

/// Connections of one process: after a fork both would read each other's replies.
#[derive(Debug)]
struct Idle {
    process: u32,
    connections: Vec<Connection>,
}

impl Pool {
    /// A pool that keeps at most `most_idle` connections open while nobody uses them.
    pub const fn new(target: Target, most_idle: usize, timeout: Duration) -> Self {
        Self {
            target,
            timeout,
            most_idle,
            idle: Mutex::new(Idle {
                process: 0,
                connections: Vec::new(),
            }),
        }
    }

    /// The server.
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Connections that wait for use.
    pub fn idle_count(&self) -> usize {
        self.idle().connections.len()
    }

    /// The idle connections of this process. Those that a fork inherited are closed here, which the other process does not notice.
    fn idle(&self) -> MutexGuard<'_, Idle> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if idle.process != process {
            *idle = Idle {
                process,
                connections: Vec::new(),
            };
        }
        idle
    }

    /// Uses a connection: an idle one, or a new one. It goes back unless it broke.
    ///
    /// A server may have closed an idle connection meanwhile: when one fails, `request` is tried once more on a new
    /// one, so it must be harmless to repeat.
    ///
    /// # Errors
    /// What `request` returns, or that no connection could be made.
    pub fn with<T>(
        &self,
        mut request: impl FnMut(&mut Connection) -> Result<T, CacheLoadError>,
    ) -> Result<T, CacheLoadError> {
        let kept = self.idle().connections.pop();
        if let Some(mut connection) = kept {
            match request(&mut connection) {
                Err(CacheLoadError::Connection { .. }) => {}
                result => return self.settle(connection, result),
            }
        }
        let mut connection = Connection::connect(&self.target, self.timeout)?;
        let result = request(&mut connection);
        self.settle(connection, result)
    }

    /// Keeps a connection that still works.
    fn settle<T>(
        &self,
        connection: Connection,
        result: Result<T, CacheLoadError>,
    ) -> Result<T, CacheLoadError> {
        if matches!(result, Ok(_) | Err(CacheLoadError::Refused { .. })) {
            let mut idle = self.idle();
            if idle.connections.len() < self.most_idle {
                idle.connections.push(connection);
            }
        }
        result
    }
}
