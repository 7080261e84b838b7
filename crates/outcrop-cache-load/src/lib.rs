//! Asks caches: a client for memcached, Redis and a cache's HTTP interface, and the load driver that measures them.
//!
//! [`Client`] spreads keys over servers as twemproxy does, [`Pool`] keeps connections, [`Connection`] pipelines.
//!
//! [`run_load`] is the driver: closed or open loop, one [`LoadSpec`] in, one [`LoadReport`] out; [`search_rate`] finds
//! the highest rate that keeps an [`Objective`].
//!
//! It is not a cache, and it knows no records and no plans: a load is described and reported in plain structs. It
//! writes only keys that begin with [`KEY_PREFIX`](outcrop_workload::keyed::KEY_PREFIX) or that a trace names, and
//! empties a server only when told to.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use outcrop_cache_load::{CacheLoadError, Client};
//!
//! let servers = ["memcached://10.0.0.1:11211".parse()?, "memcached://10.0.0.2:11211".parse()?];
//! let client = Client::new(&servers, 4, Duration::from_secs(1))?;
//! client.set(b"greeting", b"hello", 60)?;
//! assert_eq!(client.get(b"greeting")?.as_deref(), Some(&b"hello"[..]));
//! # Ok::<(), CacheLoadError>(())
//! ```

mod error;
mod target;

mod client;

mod report;
mod spec;

mod drive;
mod search;
mod verdict;

pub use client::{Client, Connection, KeyHash, Outcome, Pipeline, Pool, Ring, check_key};
pub use drive::{LoadProgress, run_load};
pub use error::CacheLoadError;
pub use outcrop_cache_client::Protocol;
pub use outcrop_workload::keyed::Objective;
pub use report::{DriverCpu, KindReport, LoadReport, ServerCpu, Tally, WarmUpReport};
pub use search::{SearchEnd, SearchReport, SearchStep, TriedRate, search_rate, steps_process};
pub use spec::{LoadSpec, RequestSource, WarmUp};
pub use target::Target;
pub use verdict::{Failure, Shortage, Verdict};
