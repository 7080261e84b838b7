//! What a client of memcached, Redis or a cache's HTTP interface says and hears: requests as bytes, bytes as replies.
//!
//! [`Wire`] writes requests and reads replies; [`Exchange`] does so over a stream that its caller has opened, one request after the other. The
//! load driver of caches and the key-value engines that are servers both speak through it.
//!
//! It opens no socket, and knows no addresses, no timeouts and no clock.
//!
//! ```
//! use std::io::Cursor;
//!
//! use outcrop_cache_client::{Exchange, Reply, Verb, Wire};
//!
//! // A stream on which the answer has come already; what is sent goes behind it.
//! let mut exchange = Exchange::new(Cursor::new(b"$7\r\ngranite\r\n".to_vec()), Wire::Redis);
//! assert_eq!(exchange.reply(Verb::Get)?, Reply::Value(b"granite"));
//! # Ok::<(), outcrop_cache_client::ExchangeError>(())
//! ```

mod exchange;
mod protocol;
mod wire;

pub use exchange::{Exchange, ExchangeError};
pub use protocol::{MOST_KEY_BYTES, Protocol, Verb, is_plain_key};
pub use wire::{LARGEST_REPLY_BYTES, NotAReply, Parsed, Reply, Wire};
