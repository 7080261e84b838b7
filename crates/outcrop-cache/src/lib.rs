//! A cache: a compact store under a memory limit that holds, eviction policies to choose from, and a server that speaks
//! memcached's protocol.
//!
//! It is no client and no load driver, and it knows no plan and no record. Threads and descriptors end before
//! [`Server::stop`](server::Server::stop) returns.
//!
//! ```
//! use outcrop_cache::store::{Draft, Store, StoreOptions};
//!
//! let store = Store::new(&StoreOptions { memory_bytes: 64 << 20, ..StoreOptions::default() })?;
//! let second = 1;
//! let mut slot = store.slot(b"greeting", second);
//! slot.put(Draft { value: b"hello", ..Draft::default() }).expect("there is room");
//! assert_eq!(slot.read().map(|item| item.value), Some(&b"hello"[..]));
//! # Ok::<(), outcrop_cache::CacheError>(())
//! ```

mod error;

pub mod store;

mod counters;
mod login;
mod protocol;
mod service;

pub mod dialogue;
pub mod server;

pub use error::CacheError;
