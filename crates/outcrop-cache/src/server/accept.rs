//! Accepting: the limit of connections, and patience when descriptors run out.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{SocketFlags, sockopt};

use super::listen::Listener;
use super::session::Protocol;
use crate::counters::WorkerCounters;
use crate::service::Service;

/// epoll's name for the first listener, beyond those of connections and of what else wakes a worker.
pub(super) const LISTENERS: u64 = 1 << 33;
/// Accepted at once, so that a flood of connections does not starve those that are open.
const BURST: usize = 256;

/// The listening sockets, held by one worker.
#[derive(Debug)]
pub(crate) struct Acceptor {
    listeners: Vec<Listener>,
    next_worker: usize,
    /// The listeners are in the worker's epoll.
    is_listening: bool,
}

impl Acceptor {
    pub(crate) const fn new(listeners: Vec<Listener>) -> Self {
        Self {
            listeners,
            next_worker: 0,
            is_listening: false,
        }
    }

    /// Accepts again, if that was paused.
    pub(super) fn resume(&mut self, epoll: &OwnedFd) -> Result<(), Errno> {
        if self.is_listening {
            return Ok(());
        }
        for (number, listener) in self.listeners.iter().enumerate() {
            let data = epoll::EventData::new_u64(LISTENERS + number as u64);
            match epoll::add(epoll, &listener.socket, data, epoll::EventFlags::IN) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
        self.is_listening = true;
        Ok(())
    }

    fn pause(&mut self, epoll: &OwnedFd, counters: &WorkerCounters) {
        for listener in &self.listeners {
            // One that is not there needs no removal.
            let _ = epoll::delete(epoll, &listener.socket);
        }
        self.is_listening = false;
        counters.accept_pauses.add(1);
    }

    /// Accepts what waits at one listener; answers each connection with the worker whose turn it is.
    pub(super) fn accept(
        &mut self,
        number: usize,
        epoll: &OwnedFd,
        service: &Service,
        counters: &WorkerCounters,
    ) -> Vec<(usize, OwnedFd, Protocol)> {
        let mut accepted = Vec::new();
        for _ in 0..BURST {
            let listener = &self.listeners[number];
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(listener.socket.as_fd(), flags) {
                Ok(socket) => socket,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    self.pause(epoll, counters);
                    break;
                }
                Err(Errno::AGAIN) => break,
                // That client gave up, or the network did.
                Err(_) => continue,
            };
            counters.accepted.add(1);
            if service.connections.fetch_add(1, Ordering::Relaxed) >= service.max_connections {
                service.connections.fetch_sub(1, Ordering::Relaxed);
                counters.rejected.add(1);
                refuse(&socket, listener.protocol);
                continue;
            }
            // Without it replies wait for acknowledgements.
            let _ = sockopt::set_tcp_nodelay(&socket, true);
            self.next_worker = (self.next_worker + 1) % service.counters.len();
            accepted.push((self.next_worker, socket, listener.protocol));
        }
        accepted
    }
}

fn refuse(socket: &OwnedFd, protocol: Protocol) {
    let sentence: &[u8] = match protocol {
        Protocol::Memcached => b"ERROR Too many open connections\r\n",
        Protocol::Redis => b"-ERR max number of clients reached\r\n",
        Protocol::Http => {
            b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
    };
    // The client may be gone; there is nobody else to tell.
    let _ = rustix::net::send(socket, sentence, rustix::net::SendFlags::NOSIGNAL);
}
