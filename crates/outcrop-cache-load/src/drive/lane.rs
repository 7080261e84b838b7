//! One connection of the driver: bytes out, bytes in, and the requests that wait for their replies.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

use outcrop_cache_client::{LARGEST_REPLY_BYTES, NotAReply, Parsed, Reply, Verb, Wire};
use outcrop_workload::keyed::RequestKind;

use super::book::Planned;

const INBOX_BYTES: usize = 16 << 10;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) planned: Planned,
    /// When it was due (open loop) or made ready (closed loop).
    pub(super) intended_ticks: u64,
    /// When it was made ready.
    pub(super) ready_ticks: u64,
    /// A set that follows a miss.
    pub(super) is_fill: bool,
}

pub(super) struct Lane {
    pub(super) stream: TcpStream,
    out: Vec<u8>,
    written: usize,
    inbox: Vec<u8>,
    start: usize,
    end: usize,
    pub(super) pending: VecDeque<Pending>,
    pub(super) is_broken: bool,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// Some bytes, and there may be more.
    More,
    /// All that there is for now.
    Drained,
}

impl Lane {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            out: Vec::new(),
            written: 0,
            inbox: vec![0; INBOX_BYTES],
            start: 0,
            end: 0,
            pending: VecDeque::new(),
            is_broken: false,
        }
    }

    /// Where requests are appended, to go out with the next [`Lane::flush`].
    pub(super) const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Sends what the kernel takes; the rest goes when the socket is writable again.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.written < self.out.len() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(sent) => self.written += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.written = 0;
        Ok(())
    }

    /// One read. A read that does not fill the buffer has drained the socket (see epoll(7) on edges).
    pub(super) fn receive(&mut self) -> io::Result<Received> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.inbox.len() {
            self.inbox.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end > self.inbox.len() / 2 {
                let wanted = self.inbox.len() * 2;
                if wanted > 2 * LARGEST_REPLY_BYTES {
                    return Err(io::Error::other("a reply of more than 128 MiB"));
                }
                self.inbox.resize(wanted, 0);
            }
        }
        loop {
            let space = &mut self.inbox[self.end..];
            let room = space.len();
            match self.stream.read(space) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(received) => {
                    self.end += received;
                    return Ok(if received < room {
                        Received::Drained
                    } else {
                        Received::More
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Received::Drained),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next whole reply with its request; none until more bytes have come.
    #[inline]
    pub(super) fn next_reply(&mut self, wire: &Wire) -> Result<Option<(Pending, Reply<'_>)>, NotAReply> {
        let input = &self.inbox[self.start..self.end];
        if input.is_empty() {
            return Ok(None);
        }
        let Some(pending) = self.pending.front() else {
            return Err(NotAReply {
                seen: input[..input.len().min(80)].escape_ascii().to_string(),
                expected: "nothing, as every request is answered",
                speaks: None,
            });
        };
        match wire.parse(verb(pending.planned.kind), input)? {
            Parsed::Incomplete { .. } => Ok(None),
            Parsed::Complete { reply, used } => {
                self.start += used;
                let pending = *pending;
                self.pending.pop_front();
                Ok(Some((pending, reply)))
            }
        }
    }

    /// The kind of the oldest request that waits, for messages.
    pub(super) fn waits_for(&self) -> Option<RequestKind> {
        self.pending.front().map(|pending| pending.planned.kind)
    }
}

/// How the reply to a request of the workload is read.
const fn verb(kind: RequestKind) -> Verb {
    match kind {
        RequestKind::Get => Verb::Get,
        RequestKind::Set => Verb::Set,
        RequestKind::Delete => Verb::Delete,
    }
}
