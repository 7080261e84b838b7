//! `outcrop cache …`: serve a cache, or put load on one.

mod load;
mod serve;

use crate::exit::Ending;

/// Serve a cache, or put load on one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop cache serve --memory 256MiB                          for clients of memcached, here only
  outcrop cache load                                           ETC on memcached at 127.0.0.1:11211
  outcrop cache load --target redis://127.0.0.1 --pipeline 16  the same on Redis")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Serve a cache that memcached's clients can use
    Serve(serve::Args),
    /// Measure a cache under load: memcached, Redis, HTTP
    Load(Box<load::Args>),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Serve(serve) => serve::run(serve),
        Action::Load(load) => load::run(load),
    }
}
