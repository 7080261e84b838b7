//! Requests and replies over a stream, one after the other.

use std::io::{self, Read, Write};

use crate::protocol::Verb;
use crate::wire::{NotAReply, Parsed, Reply, Wire};

const READ_BYTES: usize = 16 << 10;

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The stream broke: nothing more can be said over it.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    /// The server's bytes are not a valid reply, and nothing after them can be parsed.
    #[error("the server answered `{}`; expected {}", .0.seen, .0.expected)]
    NotAReply(NotAReply),
    /// The server understood and refused, in these words; the exchange goes on.
    #[error("the server refused: {0}")]
    Refused(String),
}

/// A stream with what came over it and was not understood yet.
pub struct Exchange<S> {
    stream: S,
    wire: Wire,
    inbox: Vec<u8>,
    /// Where what is not understood yet begins in the inbox.
    read: usize,
    /// Where it ends; there is room behind it.
    filled: usize,
}

impl<S: Read + Write> Exchange<S> {
    /// Over a stream that waits for its bytes, whose other end speaks this protocol.
    pub const fn new(stream: S, wire: Wire) -> Self {
        Self {
            stream,
            wire,
            inbox: Vec::new(),
            read: 0,
            filled: 0,
        }
    }

    /// What requests are written by.
    pub const fn wire(&self) -> &Wire {
        &self.wire
    }

    /// Sends requests that were written by [`Exchange::wire`].
    ///
    /// # Errors
    /// The stream broke, or its time is up.
    pub fn send(&mut self, requests: &[u8]) -> io::Result<()> {
        self.stream.write_all(requests)
    }

    /// Waits for the reply to the oldest request that has none, which was of this kind; it lasts until the next call.
    ///
    /// # Errors
    /// [`ExchangeError::Broken`] and [`ExchangeError::NotAReply`]; a refusal is a reply.
    pub fn reply(&mut self, kind: Verb) -> Result<Reply<'_>, ExchangeError> {
        let used = loop {
            match self.wire.parse(kind, &self.inbox[self.read..self.filled]) {
                Ok(Parsed::Complete { used, .. }) => break used,
                Ok(Parsed::Incomplete { .. }) => self.receive()?,
                Err(not) => return Err(ExchangeError::NotAReply(not)),
            }
        };
        let start = self.read;
        self.read += used;
        // Once more, because what the loop lends would have to outlive its next turn; the reply's head is all that it takes.
        match self.wire.parse(kind, &self.inbox[start..start + used]) {
            Ok(Parsed::Complete { reply, .. }) => Ok(reply),
            Ok(Parsed::Incomplete { .. }) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Err(not) => Err(ExchangeError::NotAReply(not)),
        }
    }

    /// Removes everything from the server, and waits until that is done.
    ///
    /// # Errors
    /// As [`Exchange::reply`], and [`ExchangeError::Refused`].
    pub fn flush(&mut self) -> Result<(), ExchangeError> {
        let mut request = Vec::new();
        self.wire.write_flush(&mut request);
        self.send(&request)?;
        loop {
            let input = &self.inbox[self.read..self.filled];
            match self.wire.flushed(input).map_err(ExchangeError::NotAReply)? {
                Some(true) => break,
                Some(false) => {
                    let said = input.trim_ascii().escape_ascii().to_string();
                    return Err(ExchangeError::Refused(said));
                }
                None => self.receive()?,
            }
        }
        (self.read, self.filled) = (0, 0);
        Ok(())
    }

    /// Waits for more bytes.
    fn receive(&mut self) -> io::Result<()> {
        self.inbox.copy_within(self.read..self.filled, 0);
        self.filled -= self.read;
        self.read = 0;
        if self.inbox.len() - self.filled < READ_BYTES {
            self.inbox.resize(self.filled + READ_BYTES.max(self.filled), 0);
        }
        let received = loop {
            match self.stream.read(&mut self.inbox[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        match received {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            received => {
                self.filled += received;
                Ok(())
            }
        }
    }
}
