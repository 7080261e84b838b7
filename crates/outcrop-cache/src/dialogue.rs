//! A connection without its socket: bytes in, replies out, at a second that the caller names.
//!
//! What the protocols do can so be held against itself, however its bytes are split, and thrown at by fuzzers, without
//! a thread or a descriptor.
//!
//! ```
//! use outcrop_cache::dialogue::Dialogue;
//! use outcrop_cache::server::Protocol;
//! use outcrop_cache::store::StoreOptions;
//!
//! let mut dialogue = Dialogue::new(Protocol::Memcached, &StoreOptions::default())?;
//! dialogue.say(b"set rock 0 0 7\r\ngra");
//! dialogue.say(b"nite\r\nget rock\r\n");
//! assert_eq!(dialogue.replies(), b"STORED\r\nVALUE rock 0 7\r\ngranite\r\nEND\r\n");
//! # Ok::<(), outcrop_cache::CacheError>(())
//! ```

use std::path::Path;
use std::sync::atomic::AtomicU64;

use crate::counters::WorkerCounters;
use crate::error::CacheError;
use crate::login::Logins;
use crate::protocol::seconds::Now;
use crate::protocol::{Awaited, Context, Step};
use crate::server::{Protocol, Session};
use crate::service::Service;
use crate::store::{Store, StoreOptions};

/// A store of its own, and one client.
#[derive(Debug)]
pub struct Dialogue {
    store: Store,
    service: Service,
    session: Session,
    second: u32,
    /// What is not yet dealt with.
    input: Vec<u8>,
    awaited: Awaited,
    replies: Vec<u8>,
    is_over: bool,
}

impl Dialogue {
    /// An empty store, and a client that has said nothing.
    ///
    /// # Errors
    /// As [`Store::new`].
    pub fn new(protocol: Protocol, options: &StoreOptions) -> Result<Self, CacheError> {
        let store = Store::new(options)?;
        Ok(Self {
            session: Session::new(protocol, store.max_item_bytes()),
            store,
            service: Service {
                counters: vec![WorkerCounters::default()].into_boxed_slice(),
                memory_bytes: options.memory_bytes,
                max_connections: 1,
                logins: None,
                connections: AtomicU64::new(1),
                buffer_bytes: AtomicU64::new(0),
                since: AtomicU64::new(0),
            },
            second: 2,
            input: Vec::new(),
            awaited: Awaited::NOTHING,
            replies: Vec::new(),
            is_over: false,
        })
    }

    /// As [`Dialogue::new`], for a server that asks for one of a file's logins.
    ///
    /// # Errors
    /// As [`Dialogue::new`], and where the file has no logins.
    pub fn guarded(
        protocol: Protocol,
        options: &StoreOptions,
        login_file: &Path,
    ) -> Result<Self, CacheError> {
        let mut dialogue = Self::new(protocol, options)?;
        dialogue.service.logins = Some(Logins::read(login_file)?);
        Ok(dialogue)
    }

    /// Lets time pass.
    pub const fn wait(&mut self, seconds: u32) {
        self.second += seconds;
    }

    /// The client sends bytes; everything that is complete is answered. After the end nobody listens.
    pub fn say(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let context = Context {
            store: &self.store,
            counters: &self.service.counters[0],
            service: &self.service,
            now: Now {
                second: self.second,
                epoch_unix_s: 1_800_000_000,
            },
        };
        let (mut at, mut new) = (0, bytes);
        while !self.is_over && at < self.input.len() && self.awaited.is_here(self.input.len() - at, new) {
            (self.awaited, new) = (Awaited::NOTHING, &[]);
            match self.session.step(&self.input[at..], &mut self.replies, &context) {
                Step::Done { bytes, .. } => at += bytes,
                Step::More(needed) => self.awaited = Awaited::Bytes(needed),
                Step::Line(most) => self.awaited = Awaited::Line(most),
                Step::Flush => {}
                Step::Later => break,
                Step::Close => self.is_over = true,
            }
        }
        self.input.drain(..at);
    }

    /// Everything answered so far.
    pub fn replies(&self) -> &[u8] {
        &self.replies
    }

    /// The server ended the connection.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Bytes that it keeps for the client: an unfinished request.
    pub const fn kept_bytes(&self) -> usize {
        self.input.len()
    }
}
