//! `outcrop column …`: encode, search, decode and check dictionary column files.

mod compact;
mod compare;
mod decode;
mod describe;
mod find;
mod flags;
mod input;
mod kept;
mod layout;
mod memory;
mod moment;
mod notes;
mod number_range;
mod other_form;
mod outputs;
mod print;
mod values;
mod wanted;
mod write;

use crate::exit::{Ending, bad_input};
use outcrop_column::{Column, ColumnError, VALUE_BYTES_LIMIT};
use outcrop_input::InputError;
use std::path::Path;

use flags::Action;
use memory::MemoryLimit;

/// Encode columns into small, searchable files, and query them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column encode words.txt -o words.ocol --index postings
  outcrop column encode trips.parquet --column zone -o zone.ocol
  outcrop column find words.ocol granite basalt
  outcrop column find words.ocol --prefix gra --values
  outcrop column values words.ocol --top 20
  outcrop column decode words.ocol -o words.parquet

Exit codes:
  0 success, even if nothing was found   2 usage, bad input or a damaged file
  3 reading or writing failed, or encode failed after it wrote a file, which stays")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    args.action.limit_memory()?;
    done(&args.action).map_err(|error| args.action.explained(error))
}

fn done(action: &Action) -> anyhow::Result<Ending> {
    match action {
        Action::Encode(encode) => write::encode(encode)?,
        Action::Decode(decode) => decode::decode(decode)?,
        Action::Find(find) => find::find(find)?,
        Action::Values(args) => values::values(args)?,
        Action::Get(get) => find::get(get)?,
        Action::Info(described) => describe::describe(described)?,
        Action::Verify(described) => return describe::verify(described),
        Action::Append(append) => write::append(append)?,
        Action::Compact(compact) => compact::compact(compact)?,
    }
    Ok(Ending::Done)
}

/// Files and rows that are not there, and files that are not columns, are the user's; the rest are failures.
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
        other => bad_input(with_flags(other)),
    }
}

/// The codec knows no flags: those that change what an error is about are said here.
fn with_flags(error: ColumnError) -> anyhow::Error {
    let flags = match &error {
        ColumnError::TooLong { limit, .. } if *limit < VALUE_BYTES_LIMIT as u64 => {
            "`--longest-value` allows more, up to 2GiB"
        }
        ColumnError::NoSuchColumn {
            wanted: None,
            existing,
            ..
        } if !existing.is_empty() => "--column",
        ColumnError::NoCodes => "`--index none` or `--index postings`",
        _ => return error.into(),
    };
    anyhow::anyhow!("{error} ({flags})")
}

/// The same of a file that could be opened: where one part is damaged, others may be too.
fn of_opened(error: ColumnError) -> anyhow::Error {
    match error {
        damage @ ColumnError::Corrupt { .. } => bad_input(anyhow::anyhow!(
            "{damage} (`outcrop column verify` lists all damage)"
        )),
        other => of_column(other),
    }
}

/// What messages call an input.
fn name_of(input: &Path) -> String {
    match input.to_str() {
        Some("-") => "stdin".to_owned(),
        _ => input.display().to_string(),
    }
}

/// Says which input an error is about and what could not be done with it, where it does not name it itself.
fn about(input: &Path, action: &str, error: anyhow::Error) -> anyhow::Error {
    let name = name_of(input);
    let is_end = |neighbour: Option<char>| neighbour.is_none_or(|character| !character.is_alphanumeric());
    let is_named = |text: String| {
        let mut places = text.match_indices(&name);
        places.any(|(at, _)| {
            is_end(text[..at].chars().next_back()) && is_end(text[at + name.len()..].chars().next())
        })
    };
    if error.chain().any(|cause| is_named(cause.to_string())) {
        return error;
    }
    error.context(format!("cannot {action} {name}"))
}

/// Opens a column file. Mapped, it is searched fastest, but a program that truncates it under the map ends this one: it is mapped
/// only for who asks for that.
fn open(path: &Path, access: Access, limit: &MemoryLimit) -> anyhow::Result<Column> {
    let opened = match access {
        Access::Mapped => Column::open(path),
        Access::OnDisk => Column::open_on_disk(path),
    };
    let column = opened.map_err(|error| match error {
        // Its path is that of the context.
        ColumnError::Path { source, .. } => bad_input(source),
        other => of_column(other),
    });
    // A read that failed names the file itself.
    let mut column = column.map_err(|error| about(path, "open", error))?;
    // A block, the value in it and the one before it.
    column.limit_blocks(limit.bytes(&[path]) / 3);
    Ok(column)
}

/// How a column file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Mapped,
    OnDisk,
}
