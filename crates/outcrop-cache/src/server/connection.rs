//! One connection: its socket, its protocol, and what it keeps between two events.
//!
//! One read per wake-up, unless it fills its memory, and one write per batch of replies. A connection that does not read its replies is not read from.

mod sealed;

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::buffer::{Buffer, SMALL_BYTES};
use super::precedence::{Holding, Moment, Place};
use super::session::Session;
use super::tls::{self, Tls};
use crate::protocol::{Awaited, Context, REPLY_BATCH_BYTES, Step};

/// Replies that may wait for a client; above, its requests wait too.
pub(crate) const MAX_QUEUED_BYTES: usize = 1 << 20;
/// The same while buffers of all connections hold much.
const SCARCE_QUEUED_BYTES: usize = 64 << 10;
/// Reads at once, so that a client that never stops does not starve the others.
const READS: usize = 16;
/// A reader for which the kernel takes less than this in the time for a request is closed: it asks for more once a good part of the socket's
/// buffer is free, so a slow reader of some 20 kB/s may be among them. Receiving less than this of a request does not count as progress.
const PROGRESS_BYTES: usize = 16 << 10;

/// Memory that a worker lends to the connection it is busy with.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) input: Box<[u8]>,
    pub(crate) out: Vec<u8>,
    /// What a TLS connection's ciphertext said.
    pub(crate) plain: Vec<u8>,
}

/// What a worker tells a connection about the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// When an unfinished request has to be complete.
    pub(crate) deadline: u32,
    /// Memory for buffers runs low.
    pub(crate) is_scarce: bool,
    pub(crate) moment: Moment,
}

/// How a connection stands after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Open,
    /// Open, and there may be more to read, of which the kernel would not tell again.
    Unread,
    Ended,
}

impl Outcome {
    /// This, or the other if this is open.
    fn or(self, other: Self) -> Self {
        if self == Self::Open { other } else { self }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    session: Session,
    tls: Option<Tls>,
    /// An unfinished request, or requests that wait for room for their replies.
    input: Buffer,
    /// What must be there before the session can go on.
    awaited: Awaited,
    /// Replies that the socket did not take.
    queued: Buffer,
    /// Second by which something has to happen; 0 when nothing is awaited.
    pub(crate) deadline: u32,
    /// When it last began to wait, or got on: sent a good part of a request, or read a good part of the replies.
    /// Not kept up while it holds no memory.
    progress: Moment,
    /// Bytes that came or went since.
    advanced: usize,
    /// Its place among those that hold memory, as its worker has it.
    pub(crate) place: Option<Place>,
    /// Requests wait for replies to be read.
    is_paused: bool,
    /// Requests wait for the next second.
    is_delayed: bool,
    /// Ends when the replies are sent.
    is_ending: bool,
    /// What the kernel was last asked to tell: reading, writing.
    pub(crate) interest: (bool, bool),
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd, session: Session, tls: Option<Tls>, opened: Moment) -> Self {
        Self {
            socket,
            session,
            tls,
            input: Buffer::default(),
            awaited: Awaited::NOTHING,
            queued: Buffer::default(),
            deadline: 0,
            progress: opened,
            advanced: 0,
            place: None,
            is_paused: false,
            is_delayed: false,
            is_ending: false,
            interest: (true, false),
        }
    }

    /// Memory of its buffers.
    pub(crate) fn held_bytes(&self) -> usize {
        let tls = self.tls.as_ref().map_or(0, |_| tls::HELD_BYTES);
        self.input.held_bytes() + self.queued.held_bytes() + self.session.held_bytes() + tls
    }

    /// Its place among those that hold memory, now that it holds `held_bytes`.
    pub(crate) fn place_now(&self, held_bytes: usize) -> Option<Place> {
        let holding = if !self.queued.is_empty() {
            Holding::Replies
        } else if self.deadline != 0 {
            Holding::Request
        } else {
            Holding::Rest
        };
        let progress = self.progress;
        (held_bytes > 0).then_some(Place { holding, progress })
    }

    /// What the kernel should tell: reading, writing.
    pub(crate) const fn wanted(&self) -> (bool, bool) {
        let reads = !self.is_paused && !self.is_delayed && !self.is_ending;
        (reads, !self.queued.is_empty())
    }

    /// It was told to wait, and the next second may have come.
    pub(crate) const fn is_delayed(&self) -> bool {
        self.is_delayed
    }

    /// A second has begun: goes on with requests that were told to wait.
    pub(crate) fn on_second(
        &mut self,
        scratch: &mut Scratch,
        context: &Context<'_>,
        terms: Terms,
    ) -> io::Result<Outcome> {
        self.is_delayed = false;
        if self.is_paused || self.is_ending {
            return Ok(Outcome::Open);
        }
        let input = std::mem::take(&mut self.input);
        self.answer(input.bytes(), &mut scratch.out, context, terms)
    }

    /// The socket can be read from: reads all there is, answers all that is complete. The kernel tells of edges, and of
    /// an end that came with the last bytes only once: `has_ended` says that it did.
    pub(crate) fn on_readable(
        &mut self,
        scratch: &mut Scratch,
        context: &Context<'_>,
        terms: Terms,
        has_ended: bool,
    ) -> io::Result<Outcome> {
        for _ in 0..READS {
            if !self.wanted().0 {
                return Ok(Outcome::Open);
            }
            match self.read_once(scratch, context, terms)? {
                Outcome::Unread => {}
                Outcome::Open if has_ended => {}
                outcome => return Ok(outcome),
            }
        }
        Ok(Outcome::Unread)
    }

    /// Reads once; open when that took all there was.
    fn read_once(
        &mut self,
        scratch: &mut Scratch,
        context: &Context<'_>,
        terms: Terms,
    ) -> io::Result<Outcome> {
        if self.tls.is_some() {
            return self.read_sealed(scratch, context, terms);
        }
        let kept = self.input.len();
        // A long value or line is read to where it stays until it is complete; all else to memory that is in the CPU's cache.
        let reach = self.reach(scratch.input.len() / 2);
        let is_long = reach > scratch.input.len();
        let room = if is_long {
            self.input.reserve(reach)?;
            &mut self.input.room()[..reach - kept]
        } else {
            scratch.input[..kept].copy_from_slice(self.input.bytes());
            &mut scratch.input[kept..]
        };
        let wanted = room.len();
        // recv goes straight to the socket; read would ask the file layer first.
        let read = match rustix::net::recv(&self.socket, room, RecvFlags::empty()) {
            Ok((_, 0)) => return Ok(self.end()),
            Ok((_, read)) => read,
            Err(Errno::INTR) => return Ok(Outcome::Unread),
            Err(Errno::AGAIN) => return Ok(Outcome::Open),
            Err(error) => return Err(error.into()),
        };
        let unless_ended = if read == wanted {
            Outcome::Unread
        } else {
            Outcome::Open
        };
        context.counters.read_bytes.add(read as u64);
        self.receive(read, terms);
        if is_long {
            self.input.filled(read);
            if !self.awaited.is_here(kept + read, &self.input.bytes()[kept..]) {
                return Ok(unless_ended);
            }
            let input = std::mem::take(&mut self.input);
            let outcome = self.answer(input.bytes(), &mut scratch.out, context, terms)?;
            return Ok(outcome.or(unless_ended));
        }
        let all = kept + read;
        if !self.awaited.is_here(all, &scratch.input[kept..all]) {
            self.input.push(&scratch.input[kept..all])?;
            return Ok(unless_ended);
        }
        self.input = Buffer::default();
        let outcome = self.answer(&scratch.input[..all], &mut scratch.out, context, terms)?;
        Ok(outcome.or(unless_ended))
    }

    /// Bytes to have room for: those that are awaited, of a line a piece at a time.
    fn reach(&self, piece: usize) -> usize {
        match self.awaited {
            Awaited::Bytes(needed) => needed,
            Awaited::Line(most) => most.min(self.input.len() + piece),
        }
    }

    /// The client has nothing more to say; it may still listen.
    fn end(&mut self) -> Outcome {
        if self.queued.is_empty() {
            return Outcome::Ended;
        }
        self.is_ending = true;
        Outcome::Open
    }

    /// The socket takes bytes again.
    pub(crate) fn on_writable(
        &mut self,
        scratch: &mut Scratch,
        context: &Context<'_>,
        terms: Terms,
    ) -> io::Result<Outcome> {
        let sent = send(&self.socket, self.queued.bytes(), context)?;
        self.queued.consume(sent);
        if self.advance(sent, terms) {
            self.deadline = terms.deadline;
        }
        if !self.queued.is_empty() {
            return Ok(Outcome::Open);
        }
        self.deadline = 0;
        if self.is_ending {
            return Ok(Outcome::Ended);
        }
        self.renew(false, terms);
        if !self.is_paused {
            return Ok(Outcome::Open);
        }
        self.is_paused = false;
        if self.is_delayed {
            return Ok(Outcome::Open);
        }
        let input = std::mem::take(&mut self.input);
        self.answer(input.bytes(), &mut scratch.out, context, terms)
    }

    /// Answers what is complete in `input` and keeps the rest.
    fn answer(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        context: &Context<'_>,
        terms: Terms,
    ) -> io::Result<Outcome> {
        out.clear();
        self.awaited = Awaited::NOTHING;
        let has_read_all = self.queued.is_empty();
        let (mut at, mut completed) = (0, false);
        while at < input.len() {
            let step = self.session.step(&input[at..], out, context);
            match step {
                Step::Done { bytes, is_complete } => {
                    at += bytes;
                    // What waits for the end of a transaction is not complete.
                    completed |= is_complete && !self.session.is_keeping();
                }
                Step::More(needed) => {
                    self.awaited = Awaited::Bytes(needed);
                    break;
                }
                Step::Line(most) => {
                    self.awaited = Awaited::Line(most);
                    break;
                }
                Step::Flush => {}
                Step::Later => {
                    self.is_delayed = true;
                    break;
                }
                Step::Close => {
                    self.is_ending = true;
                    break;
                }
            }
            if step == Step::Flush || out.len() >= REPLY_BATCH_BYTES {
                self.send_batch(out, context)?;
                let limit = if terms.is_scarce {
                    SCARCE_QUEUED_BYTES
                } else {
                    MAX_QUEUED_BYTES
                };
                if self.queued.len() >= limit {
                    self.is_paused = true;
                    context.counters.paused.add(1);
                    break;
                }
            }
        }
        match &mut self.tls {
            Some(tls) if self.is_ending => {
                tls.seal(out)?;
                tls.say_goodbye(out)?;
                self.send_sealed(out, context)?;
            }
            _ => self.send_batch(out, context)?,
        }
        if self.is_ending {
            return Ok(if self.queued.is_empty() {
                Outcome::Ended
            } else {
                Outcome::Open
            });
        }
        let rest = &input[at..];
        if !rest.is_empty() {
            // A head alone stays small until something of its value comes.
            if rest.len() > SMALL_BYTES {
                self.input.reserve(self.reach(0).max(rest.len()))?;
            }
            self.input.push(rest)?;
        }
        // Who asks for more before reading what there is does not get on.
        let gets_on = has_read_all && (completed || !self.queued.is_empty());
        self.renew(gets_on, terms);
        Ok(Outcome::Open)
    }

    /// Counts received bytes of a request. While replies wait, reading them is what counts.
    fn receive(&mut self, bytes: usize, terms: Terms) {
        if self.deadline != 0 && self.queued.is_empty() {
            self.advance(bytes, terms);
        }
    }

    /// Counts bytes of a request that came, or of replies that were read; true where they are enough to count as progress.
    /// A few do not, so that a client cannot keep its place with a byte now and then.
    const fn advance(&mut self, bytes: usize, terms: Terms) -> bool {
        self.advanced += bytes;
        let is_progress = self.advanced >= PROGRESS_BYTES;
        if is_progress {
            (self.progress, self.advanced) = (terms.moment, 0);
        }
        is_progress
    }

    /// Only complete requests, and replies that were read, count as activity.
    fn renew(&mut self, gets_on: bool, terms: Terms) {
        let waits = !self.input.is_empty() || !self.queued.is_empty() || self.session.is_amid();
        if waits && (gets_on || self.deadline == 0) {
            self.deadline = terms.deadline;
        } else if waits {
            return;
        } else {
            self.deadline = 0;
            if self.tls.is_none() {
                return;
            }
        }
        (self.progress, self.advanced) = (terms.moment, 0);
    }

    /// Sends replies, behind those that wait already.
    fn send_batch(&mut self, out: &mut Vec<u8>, context: &Context<'_>) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.seal(out)?;
        }
        self.send_sealed(out, context)
    }

    fn send_sealed(&mut self, out: &mut Vec<u8>, context: &Context<'_>) -> io::Result<()> {
        let sent = if self.queued.is_empty() && !out.is_empty() {
            send(&self.socket, out, context)?
        } else {
            0
        };
        if sent < out.len() {
            self.queued.push(&out[sent..])?;
        }
        out.clear();
        if out.capacity() > 4 * REPLY_BATCH_BYTES {
            out.shrink_to(REPLY_BATCH_BYTES);
        }
        Ok(())
    }
}

/// Sends what the socket takes.
fn send(socket: &OwnedFd, bytes: &[u8], context: &Context<'_>) -> io::Result<usize> {
    match rustix::net::send(socket, bytes, rustix::net::SendFlags::NOSIGNAL) {
        Ok(sent) => {
            context.counters.written_bytes.add(sent as u64);
            Ok(sent)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
