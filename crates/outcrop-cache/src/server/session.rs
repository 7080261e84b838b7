//! Which protocol a connection speaks.

use crate::protocol::{Context, Step, http, memcached, resp};

/// The kind of a listening port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// memcached's text protocol, classic and meta.
    Memcached,
    /// The HTTP interface.
    Http,
    /// Redis's protocol, RESP2 and RESP3.
    Redis,
}

/// A protocol's state between two commands.
#[derive(Debug)]
pub(crate) enum Session {
    Memcached(memcached::Session),
    Http(http::Session),
    Redis(resp::Session),
}

impl Session {
    pub(crate) fn new(protocol: Protocol, max_item_bytes: usize) -> Self {
        match protocol {
            Protocol::Memcached => Self::Memcached(memcached::Session::new(max_item_bytes.max(16 << 10))),
            Protocol::Http => Self::Http(http::Session::default()),
            Protocol::Redis => Self::Redis(resp::Session::default()),
        }
    }

    #[inline]
    pub(crate) fn step(&mut self, input: &[u8], out: &mut Vec<u8>, context: &Context<'_>) -> Step {
        match self {
            Self::Memcached(session) => session.step(input, out, context),
            Self::Http(session) => session.step(input, out, context),
            Self::Redis(session) => session.step(input, out, context),
        }
    }

    /// Memory that it keeps between requests.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            Self::Memcached(_) | Self::Http(_) => 0,
            Self::Redis(session) => session.held_bytes(),
        }
    }

    /// True while it keeps requests of a transaction that has not been ended.
    pub(crate) fn is_keeping(&self) -> bool {
        self.held_bytes() > 0
    }

    /// True in the middle of a request of which no byte is kept elsewhere, and of a transaction.
    pub(crate) fn is_amid(&self) -> bool {
        match self {
            Self::Memcached(session) => session.is_amid(),
            Self::Http(session) => session.is_amid(),
            Self::Redis(session) => session.is_amid() || self.is_keeping(),
        }
    }
}
