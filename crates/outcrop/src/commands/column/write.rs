//! `encode`, `append` and `compact`: what writes column files.

use super::flags::{Append, Compact, Encode};
use super::input::{Opened, read};
use super::print::{bytes, count};
use super::{of_column, open};
use crate::output::{Cell, Format, Table};
use crate::work::LongWork;
use outcrop_column::storage::ExclusiveFile;
use outcrop_column::{EncodeReport, Encoder};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

pub(super) fn encode(args: &Encode) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let opened = Opened::of(&args.input.input)?;
    let mut encoder = read(opened, &args.input, args.how.options(), &work)?;
    watch(&mut encoder, &work);
    let written = encoder.write(&args.output).map_err(of_column)?;
    drop(work);
    print_report(&written, args.format)
}

pub(super) fn append(args: &Append) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let opened = Opened::of(&args.input.input)?;
    let written = if opened.is_column() {
        let other = open(&args.input.input)?;
        other.append_to(&args.file).map_err(of_column)?
    } else {
        let mut encoder = read(opened, &args.input, args.how.options(), &work)?;
        watch(&mut encoder, &work);
        encoder.append_to(&args.file).map_err(of_column)?
    };
    drop(work);
    print_report(&written, args.format)
}

pub(super) fn compact(args: &Compact) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    // Rows appended while the file is being replaced by itself would be lost: who appends waits, and then finds the new file.
    let replaced = same_file(&args.file, &args.output).then(|| ExclusiveFile::open(&args.file));
    let lock = replaced.transpose().map_err(of_column)?;
    let mut column = open(&args.file)?;
    work.watch(&mut column, "reading");
    let mut encoder = column.compact(args.how.options()).map_err(of_column)?;
    watch(&mut encoder, &work);
    let written = encoder.write(&args.output).map_err(of_column)?;
    drop(lock);
    drop(work);
    print_report(&written, args.format)
}

/// Whether both names lead to one file that exists.
fn same_file(a: &Path, b: &Path) -> bool {
    let of = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino()));
    matches!((of(a), of(b)), (Ok(a), Ok(b)) if a == b)
}

fn watch(encoder: &mut Encoder, work: &LongWork) {
    let work = work.clone();
    encoder.watch(move |progress| {
        let what = match progress.step {
            outcrop_column::Step::Postings => "indexing",
            outcrop_column::Step::Packing => "trying smaller forms",
            _ => "encoding",
        };
        work.advance(what, progress.done, progress.total);
    });
}

fn print_report(report: &EncodeReport, format: Format) -> anyhow::Result<()> {
    let mut table = Table::new([("what", "what"), ("value", "value")]);
    let mut push = |name, cell| table.push(vec![Cell::text(name), cell]);
    push("rows", count(report.row_count));
    push("distinct values", count(report.value_count));
    push("nulls", count(report.null_count));
    push("text", bytes(report.text_bytes));
    match report.packed {
        Some(form) => push("packed form", Cell::text(form.name())),
        None => {
            push("dictionary", bytes(report.dictionary_bytes));
            push("class map", bytes(report.class_map_bytes));
            push("codes", bytes(report.codes_bytes));
            push("postings", bytes(report.postings_bytes));
        }
    }
    push("file", bytes(report.file_bytes));
    push("floor of the codes", bytes(report.floor_bytes));
    table.print(format)
}
