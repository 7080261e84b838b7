//! The server without the command line around it: builds in a minute, for profiling and for benchmarks/cache-peers.
//!
//! `cargo run --release -p outcrop-cache --example bare_server -- PORT MEMORY_BYTES [POLICY]`; one thread; ends with
//! its standard input.

#![expect(clippy::print_stdout, reason = "a program of its own says where it listens")]

use std::io::Read as _;

use outcrop_cache::server::{Server, ServerOptions, loopback};
use outcrop_cache::store::StoreOptions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |name: &str| {
        arguments
            .next()
            .ok_or_else(|| format!("missing {name}: PORT MEMORY_BYTES [POLICY]"))
    };
    let port = next("PORT")?.parse()?;
    let mut store = StoreOptions {
        memory_bytes: next("MEMORY_BYTES")?.parse()?,
        ..StoreOptions::default()
    };
    if let Ok(policy) = next("POLICY") {
        store.policy = policy.parse()?;
    }
    let server = Server::start(&ServerOptions {
        store,
        memcached: loopback(port).to_vec(),
        threads: 1,
        ..ServerOptions::default()
    })?;
    for (_, address) in server.addresses() {
        println!("{address}");
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    server.stop()?;
    Ok(())
}
