//! The cache from outside: store against oracles, protocols and server over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod beside;
mod clients;
mod faults;
mod full;
mod fuzzed;
mod hostile;
mod http;
mod kit;
mod memcached;
mod network;
mod packing;
mod policies;
mod proxy;
mod redis;
mod redis_beside;
mod redis_cli;
mod redis_transactions;
mod secured;
mod shortage;
mod simulator;
mod store;
mod untrusted;
