//! `outcrop cache …`: serve a cache, put load on one, simulate one, or ask one for a key.

mod load;
mod one;
mod serve;
mod simulate;

use crate::exit::Ending;

/// Serve a cache, put load on one, simulate one, or ask one for a key
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop cache serve --memory 256MiB                          for memcached clients on this machine
  outcrop cache load                                           ETC against a local memcached
  outcrop cache load --target redis://127.0.0.1 --pipeline 16  the same on Redis
  outcrop cache simulate trace.csv --memory 64MiB..8GiB        miss ratio of every policy by memory
  outcrop cache set rock granite; outcrop cache get rock       one key of a memcached server here

The server and the load driver speak the memcached protocols, HTTP and the part of Redis that caches use.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Serve a cache over the memcached protocol, HTTP and the Redis protocol
    Serve(serve::Args),
    /// Measure a cache under load: memcached, Redis, HTTP
    Load(Box<load::Args>),
    /// Replay a trace on simulated caches: the miss ratio by memory and policy
    Simulate(simulate::Args),
    /// Print the value of a key
    Get(one::Get),
    /// Store a value under a key
    Set(one::Set),
    /// Delete a key
    Delete(one::Delete),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Serve(serve) => serve::run(serve),
        Action::Load(load) => load::run(load),
        Action::Simulate(simulate) => simulate::run(simulate),
        Action::Get(get) => one::get(get),
        Action::Set(set) => one::set(set),
        Action::Delete(delete) => one::delete(delete),
    }
}
