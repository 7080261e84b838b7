//! `outcrop cache …`: serve a cache.

mod serve;

use crate::exit::Ending;

/// Serve a cache
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Serve a cache that memcached's clients can use
    Serve(serve::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Serve(serve) => serve::run(serve),
    }
}
