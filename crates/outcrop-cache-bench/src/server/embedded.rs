//! Our server on threads of this process.

use std::net::{Ipv4Addr, SocketAddr};

use outcrop_cache::server::{Server, ServerOptions};
use outcrop_cache::store::StoreOptions;
use outcrop_cache_load::{Protocol, Target};

use super::ServerSpec;
use crate::error::CacheBenchError;

/// Starts it on a free port of the loopback interface.
pub(super) fn start(spec: &ServerSpec) -> Result<(Server, Target), CacheBenchError> {
    let any_port = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let protocol = spec.protocol();
    let (memcached, http) = match protocol {
        Protocol::Http => (Vec::new(), any_port),
        Protocol::Memcached | Protocol::Redis => (any_port, Vec::new()),
    };
    let server = Server::start(&ServerOptions {
        store: StoreOptions {
            memory_bytes: spec.memory_bytes,
            item_memory_bytes: spec.item_memory_bytes,
            policy: spec.policy,
            load_factor: spec.load_factor,
            ..StoreOptions::default()
        },
        memcached,
        http,
        threads: spec.threads as usize,
        ..ServerOptions::default()
    })?;
    let port = server
        .addresses()
        .first()
        .map_or(0, |(_, address)| address.port());
    Ok((server, Target::loopback(protocol, port)))
}
