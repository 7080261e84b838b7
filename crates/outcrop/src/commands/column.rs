//! `outcrop column …`: encode, search, decode and check dictionary column files.

mod decode;
mod describe;
mod find;
mod flags;
mod input;
mod layout;
mod outputs;
mod print;
mod wanted;
mod write;

use crate::exit::{Ending, bad_input};
use anyhow::Context as _;
use outcrop_column::{Column, ColumnError};
use outcrop_input::InputError;
use std::path::Path;

use flags::Action;

/// Encode columns into small, searchable files, and query them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column encode words.txt -o words.ocol --index postings
  outcrop column encode trips.parquet --column zone -o zone.ocol
  outcrop column find words.ocol granite basalt
  outcrop column find words.ocol --prefix gra --values
  outcrop column decode words.ocol -o words.parquet

Exit codes:
  0 done, also where nothing was found   2 usage, bad input or a damaged file
  3 reading or writing failed")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Encode(encode) => write::encode(encode)?,
        Action::Decode(decode) => decode::decode(decode)?,
        Action::Find(find) => find::find(find)?,
        Action::Get(get) => find::get(get)?,
        Action::Info(described) => describe::describe(described)?,
        Action::Verify(described) => return describe::verify(described),
        Action::Append(append) => write::append(append)?,
        Action::Compact(compact) => write::compact(compact)?,
    }
    Ok(Ending::Done)
}

/// Files and rows that are not there, and files that are no columns, are the user's; the rest are failures.
fn of_column(error: ColumnError) -> anyhow::Error {
    match error {
        // Compressed data that are damaged are an input like others.
        ColumnError::Io(error)
            if error
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<InputError>) =>
        {
            bad_input(error)
        }
        ColumnError::Io(error) => error.into(),
        other => bad_input(other),
    }
}

fn open(path: &Path) -> anyhow::Result<Column> {
    Column::open(path)
        .map_err(of_column)
        .with_context(|| format!("cannot open {}", path.display()))
}
