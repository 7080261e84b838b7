//! Why a cache cannot start or go on, in sentences that say what was seen, what was expected and what to do.

use std::io;
use std::net::SocketAddr;

/// Everything that keeps the cache from serving.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The policy's name is not one of ours.
    #[error("unknown eviction policy `{given}`; expected one of none, fifo, lru, sieve, s3-fifo, w-tinylfu")]
    UnknownPolicy {
        /// What was written.
        given: String,
    },
    /// An option is out of range.
    #[error("{field} is {seen}; expected {expected}")]
    Option {
        /// Its name.
        field: &'static str,
        /// The value.
        seen: String,
        /// What is accepted.
        expected: String,
    },
    /// Too few descriptors to serve anybody.
    #[error(
        "the limit of open files is {limit}: too few to serve clients; run `ulimit -n {needed}` first, or at least `ulimit -n {fewest}`"
    )]
    OpenFiles {
        /// How many files the process may have open.
        limit: u64,
        /// How many serve all the connections asked for.
        needed: u64,
        /// The fewest that make sense.
        fewest: u64,
    },
    /// No address space.
    #[error("cannot reserve address space for {bytes} bytes: {source}; lower --memory, or raise `ulimit -v`")]
    Memory {
        /// The limit that was asked for.
        bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// A port cannot be listened on.
    #[error("cannot listen on {address}: {source}{hint}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
        /// What to do, starting with `; `, or empty.
        hint: &'static str,
    },
    /// Strangers could reach the server.
    #[error(
        "{address} can be reached from other machines: require login (--login-file) or TLS (--tls-cert, --tls-key), listen on a loopback address, or give --insecure if all of those machines are trusted"
    )]
    Exposed {
        /// Where.
        address: SocketAddr,
    },
    /// A thread or a descriptor that serving needs cannot be had.
    #[error("{what} failed: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the configuration cannot be used.
    #[error("{path}: {problem}")]
    Configuration {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it, and what is expected.
        problem: String,
    },
}
