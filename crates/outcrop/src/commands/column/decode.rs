//! `decode`: all rows as text, CSV, Parquet or Arrow IPC.

use super::flags::{Decode, OutputFormat};
use super::{Access, of_opened, open};
use crate::exit::bad_input;
use crate::output::{note, stdout};
use crate::output_file::{is_stdout, refuse_input};
use crate::work::LongWork;
use outcrop_column::{ArrowForm, Column};
use outcrop_report::number::counted;
use std::io::{BufWriter, Write};
use std::path::Path;

pub(super) fn decode(args: &Decode) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let file = args.output.as_deref().filter(|path| !is_stdout(path));
    if let Some(path) = file {
        refuse_input(&args.file, path)?;
        args.force.check(path)?;
    }
    let format = match (args.to, file) {
        (Some(format), _) => format,
        (None, Some(path)) => format_of(path)?,
        (None, None) => OutputFormat::Text,
    };
    if args.null.is_some() && format != OutputFormat::Csv {
        return Err(bad_input(anyhow::anyhow!(
            "--null applies to CSV only; leave it out, or add --to csv"
        )));
    }
    let mut column = open(&args.file, Access::OnDisk, &args.memory_limit)?;
    work.watch(&mut column, "decoding");
    say_lost_nulls(&column, format, args)?;
    match file {
        Some(path) => args
            .force
            .write(path, |out| write(&column, format, args, out, ArrowForm::File)),
        None => {
            super::print::refuse_terminal(format.is_binary())?;
            let mut out = BufWriter::with_capacity(1 << 20, stdout());
            write(&column, format, args, &mut out, ArrowForm::Stream)?;
            Ok(out.flush()?)
        }
    }
}

/// Lines have no way to tell a null from an empty value.
fn say_lost_nulls(column: &Column, format: OutputFormat, args: &Decode) -> anyhow::Result<()> {
    let hint = match format {
        OutputFormat::Text => "--to csv --null NA marks them",
        OutputFormat::Csv if args.null.is_none() => "--null NA marks them",
        OutputFormat::Csv | OutputFormat::Arrow | OutputFormat::Parquet => return Ok(()),
    };
    let nulls = column
        .find_null()
        .and_then(|found| found.count())
        .map_err(of_opened)?;
    if nulls > 0 {
        let are = if nulls == 1 { "is" } else { "are" };
        let nulls = counted(nulls as usize, "null");
        note(&format!("note: {nulls} {are} written as empty values; {hint}"));
    }
    Ok(())
}

fn write(
    column: &Column,
    format: OutputFormat,
    args: &Decode,
    mut out: &mut (dyn Write + Send),
    form: ArrowForm,
) -> anyhow::Result<()> {
    let of_file = args.file.file_stem().map(|stem| stem.to_string_lossy());
    let of_column_file = match (format, &args.name) {
        // Lines have no place for a name.
        (OutputFormat::Text, _) | (_, Some(_)) => None,
        _ => column.name().map_err(of_opened)?,
    };
    let named = args.name.as_deref().or(of_column_file.as_deref());
    let name = named.or(of_file.as_deref()).unwrap_or("value");
    let written = match format {
        OutputFormat::Text => column.decode_text(&mut out),
        OutputFormat::Csv => column.decode_csv(&mut out, name, args.null.as_deref().unwrap_or_default()),
        OutputFormat::Arrow => column.write_arrow(&mut out, name, form),
        OutputFormat::Parquet => column.write_parquet(&mut out, name),
    };
    written.map_err(of_opened)
}

/// The format that a file's name asks for.
fn format_of(path: &Path) -> anyhow::Result<OutputFormat> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("txt" | "text") => Ok(OutputFormat::Text),
        Some("csv") => Ok(OutputFormat::Csv),
        Some("parquet") => Ok(OutputFormat::Parquet),
        Some("arrow" | "feather" | "ipc") => Ok(OutputFormat::Arrow),
        _ => Err(bad_input(anyhow::anyhow!(
            "{}: the file name's ending does not say which format; expected .txt, .csv, .parquet, .arrow, .feather or .ipc, or --to FORMAT",
            path.display()
        ))),
    }
}
