//! A client: single connections with pipelines, pools of them, and several servers by consistent hashing.

mod connection;
mod pool;
mod ring;

use std::time::Duration;

use outcrop_cache_client::{MOST_KEY_BYTES, is_plain_key};

pub(crate) use connection::open;
pub use connection::{Connection, Outcome, Pipeline};
pub use pool::Pool;
pub use ring::{KeyHash, Ring};

use crate::error::CacheLoadError;
use crate::target::Target;

/// Checks that every protocol can carry this key: a line break in it would begin another command.
///
/// # Errors
/// [`CacheLoadError::Spec`] with what is accepted.
pub fn check_key(key: &[u8]) -> Result<(), CacheLoadError> {
    if is_plain_key(key) {
        return Ok(());
    }
    let seen: Vec<u8> = key.iter().take(60).copied().collect();
    Err(CacheLoadError::spec(
        "key",
        format!("`{}` ({} bytes)", seen.escape_ascii(), key.len()),
        format!("1 to {MOST_KEY_BYTES} bytes without blanks and control characters"),
    ))
}

/// Several servers, each responsible for its part of the keys.
#[derive(Debug)]
pub struct Client {
    pools: Vec<Pool>,
    ring: Ring,
}

impl Client {
    /// Servers in the order of their configuration, with twemproxy's default placement.
    ///
    /// # Errors
    /// No server.
    pub fn new(servers: &[Target], most_idle_each: usize, timeout: Duration) -> Result<Self, CacheLoadError> {
        if servers.is_empty() {
            return Err(CacheLoadError::spec(
                "servers",
                "an empty list",
                "at least one server",
            ));
        }
        let pool = |server: &Target| Pool::new(server.clone(), most_idle_each, timeout);
        Ok(Self {
            pools: servers.iter().map(pool).collect(),
            ring: Ring::new(servers, KeyHash::default()),
        })
    }

    /// The pool of the server that a key belongs to.
    pub fn pool_of(&self, key: &[u8]) -> &Pool {
        &self.pools[self.ring.server_of(key).unwrap_or(0)]
    }

    /// The value of a key.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, CacheLoadError> {
        self.pool_of(key).with(|connection| connection.get(key))
    }

    /// Stores a value for `ttl_s` seconds; 0 is for ever.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn set(&self, key: &[u8], value: &[u8], ttl_s: u32) -> Result<(), CacheLoadError> {
        self.pool_of(key)
            .with(|connection| connection.set(key, value, ttl_s))
    }

    /// Removes a key; whether there was one.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn delete(&self, key: &[u8]) -> Result<bool, CacheLoadError> {
        self.pool_of(key).with(|connection| connection.delete(key))
    }
}
