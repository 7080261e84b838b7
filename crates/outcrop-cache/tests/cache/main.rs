//! The cache from outside: store against oracles, protocols and server over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clients;
mod faults;
mod fuzzed;
mod http;
mod kit;
mod memcached;
mod network;
mod policies;
mod proxy;
mod secured;
mod simulator;
mod store;
mod untrusted;
