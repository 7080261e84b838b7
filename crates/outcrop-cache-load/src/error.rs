//! What can go wrong between us and a cache.

use std::io;

/// An error of the client or of the driver; the message says what was seen and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheLoadError {
    /// A URL that names no cache.
    #[error("target `{seen}`: {why}; write memcached://HOST:PORT, redis://HOST:PORT or http://HOST:PORT")]
    Target {
        /// The text as given.
        seen: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value that the driver cannot work with.
    #[error("{field} is {seen}; expected {expected}")]
    Spec {
        /// Which one.
        field: &'static str,
        /// The value as given.
        seen: String,
        /// What is accepted.
        expected: String,
    },
    /// No connection could be made.
    #[error(
        "cannot connect to {target}: {source}; is the server running, and does it accept that many connections?"
    )]
    Connect {
        /// The server.
        target: String,
        /// Why.
        source: io::Error,
    },
    /// A connection that broke.
    #[error("the connection to {target} broke: {source}")]
    Connection {
        /// The server.
        target: String,
        /// How.
        source: io::Error,
    },
    /// A reply that the protocol does not have at this place.
    #[error("{target} answered `{seen}`; expected {expected}{hint}")]
    Protocol {
        /// The server.
        target: String,
        /// The start of what came.
        seen: String,
        /// What the protocol has here.
        expected: &'static str,
        /// What to do, after a semicolon, where the reply is one of another protocol.
        hint: String,
    },
    /// The server understood and refused.
    #[error("{target} refused: {message}")]
    Refused {
        /// The server.
        target: String,
        /// Its own words.
        message: String,
    },
    /// Something that the driver needs from the kernel.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl CacheLoadError {
    pub(crate) fn spec(field: &'static str, seen: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Spec {
            field,
            seen: seen.into(),
            expected: expected.into(),
        }
    }

    pub(crate) fn system(action: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            action,
            source: source.into(),
        }
    }
}
