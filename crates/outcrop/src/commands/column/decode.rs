//! `decode`: all rows as text, CSV, Parquet or Arrow IPC.

use super::flags::{Decode, OutputFormat};
use super::{of_column, open};
use crate::exit::bad_input;
use crate::work::LongWork;
use anyhow::Context as _;
use outcrop_column::{ArrowForm, Column};
use std::io::{BufWriter, Write};
use std::path::Path;

pub(super) fn decode(args: &Decode) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let mut column = open(&args.file)?;
    work.watch(&mut column, "decoding");
    let format = args
        .to
        .unwrap_or_else(|| args.output.as_deref().map_or(OutputFormat::Text, format_of));
    let Some(path) = &args.output else {
        super::print::refuse_terminal(format.is_binary())?;
        return write(&column, format, args, std::io::stdout(), ArrowForm::Stream);
    };
    // Beside its final name, so that a decode that is cut short leaves nothing that looks whole.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let file = tempfile::Builder::new()
        .prefix(".outcrop-")
        .permissions(permissions())
        .tempfile_in(folder)
        .with_context(|| format!("cannot write in {}", folder.display()))
        .map_err(bad_input)?;
    write(&column, format, args, file.as_file(), ArrowForm::File)?;
    file.persist(path)
        .map_err(|failure| failure.error)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Those of any new file: the process's mask still takes away what it takes.
fn permissions() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::Permissions::from_mode(0o666)
}

fn write(
    column: &Column,
    format: OutputFormat,
    args: &Decode,
    out: impl Write + Send,
    form: ArrowForm,
) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let name = args.name.as_deref().unwrap_or("value");
    let written = match format {
        OutputFormat::Text => column.decode_text(&mut out),
        OutputFormat::Csv => column.decode_csv(&mut out, name, args.null.as_deref().unwrap_or_default()),
        OutputFormat::Arrow => column.write_arrow(&mut out, name, form),
        OutputFormat::Parquet => column.write_parquet(&mut out, name),
    };
    written.map_err(of_column)?;
    out.flush()?;
    Ok(())
}

fn format_of(path: &Path) -> OutputFormat {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("csv") => OutputFormat::Csv,
        Some("parquet") => OutputFormat::Parquet,
        Some("arrow" | "feather" | "ipc") => OutputFormat::Arrow,
        _ => OutputFormat::Text,
    }
}
