//! Reading through TLS.

use std::io;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::{Connection, Outcome, Scratch, Terms};
use crate::protocol::Context;

impl Connection {
    /// As [`Connection::read_once`], through TLS.
    pub(super) fn read_sealed(
        &mut self,
        scratch: &mut Scratch,
        context: &Context<'_>,
        terms: Terms,
    ) -> io::Result<Outcome> {
        let Some(tls) = &mut self.tls else {
            return Ok(Outcome::Open);
        };
        let read = match rustix::net::recv(&self.socket, &mut scratch.input[..], RecvFlags::empty()) {
            Ok((_, 0)) => return Ok(self.end()),
            Ok((_, read)) => read,
            Err(Errno::INTR) => return Ok(Outcome::Unread),
            Err(Errno::AGAIN) => return Ok(Outcome::Open),
            Err(error) => return Err(error.into()),
        };
        context.counters.read_bytes.add(read as u64);
        let unless_ended = if read == scratch.input.len() {
            Outcome::Unread
        } else {
            Outcome::Open
        };
        scratch.plain.clear();
        let opened = tls.open(&scratch.input[..read], &mut scratch.plain);
        scratch.out.clear();
        tls.write_pending(&mut scratch.out)?;
        let is_handshaking = tls.is_handshaking();
        self.receive(read, terms);
        self.send_sealed(&mut scratch.out, context)?;
        let goes_on = opened?;
        if is_handshaking && self.deadline == 0 {
            self.deadline = terms.deadline;
        }
        let kept = self.input.len();
        let outcome = if scratch.plain.is_empty() {
            if !is_handshaking && kept == 0 && self.queued.is_empty() && !self.session.is_amid() {
                self.deadline = 0;
            }
            Outcome::Open
        } else if kept == 0 {
            let plain = std::mem::take(&mut scratch.plain);
            let outcome = self.answer(&plain, &mut scratch.out, context, terms);
            scratch.plain = plain;
            outcome?
        } else {
            let all = kept + scratch.plain.len();
            self.input.reserve(self.reach(0).max(all))?;
            self.input.push(&scratch.plain)?;
            if !self.awaited.is_here(all, &scratch.plain) {
                Outcome::Open
            } else {
                let input = std::mem::take(&mut self.input);
                self.answer(input.bytes(), &mut scratch.out, context, terms)?
            }
        };
        Ok(match outcome {
            Outcome::Open if !goes_on => self.end(),
            outcome => outcome.or(unless_ended),
        })
    }
}
