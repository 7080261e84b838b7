//! `outcrop report RUN`.

use crate::exit::Ending;
use crate::output::Format;
use std::path::PathBuf;

/// Draw the report of a run again
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop report runs/20261121T020304Z-profile\n  outcrop report runs/… --format json | jq .findings"
)]
pub(crate) struct Args {
    /// The run folder
    run: PathBuf,
    /// text: the summary; json: answer and findings; csv: the records
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    crate::session::conclude(&args.run, args.format)?;
    Ok(Ending::Done)
}
