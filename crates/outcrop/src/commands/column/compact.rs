//! `compact`: a column file of one segment, as another file or in place of its own.

use super::flags::Compact;
use super::write::{Written, print_report, watch, write};
use super::{Access, of_column, of_opened, open};
use crate::exit::bad_input;
use crate::output::note;
use crate::output_file::{refuse_stdout, same_file, where_full};
use crate::work::LongWork;
use anyhow::Context as _;
use outcrop_column::storage::ExclusiveFile;
use outcrop_column::{Column, Index};
use outcrop_probe::Stopwatch;
use outcrop_report::quoted;
use std::path::Path;

pub(super) fn compact(args: &Compact) -> anyhow::Result<()> {
    refuse_own_input(args)?;
    let work = LongWork::on_stderr();
    let stopwatch = Stopwatch::start();
    let input_bytes = args.file.metadata().ok().map(|file| file.len());
    // Rows appended while the file is being replaced by itself would be lost: who appends waits, and then finds the new file.
    let lock = args.in_place.then(|| ExclusiveFile::open(&args.file));
    let lock = lock.transpose().map_err(of_column)?;
    let mut column = open(&args.file, Access::OnDisk, &args.memory_limit)?;
    work.watch(&mut column, "reading");
    let options = args.how.options_like(&column);
    if args.in_place && column.has_codes() && options.index == Index::Only {
        return Err(bad_input(anyhow::anyhow!(
            "{}: with an index only, rows cannot be read back, and --in-place would leave no file that has them; write another file with -o",
            args.file.display()
        )));
    }
    let mut encoder = column.compact(options).map_err(of_opened)?;
    watch(&mut encoder, &work);
    let (file, report) = match &args.output {
        Some(output) => (output, write(encoder, output, args.force)?),
        None => {
            // A link to the file stays one.
            let path = args.file.canonicalize();
            let path = path.with_context(|| format!("cannot replace {}", args.file.display()))?;
            let written = encoder.write(&path).map_err(of_column);
            (
                &args.file,
                written.map_err(|error| where_full(&args.file, error))?,
            )
        }
    };
    drop(lock);
    drop(work);
    let written = Written {
        column: String::new(),
        file: file.clone(),
        report,
        input_bytes,
        elapsed_ns: stopwatch.elapsed_ns(),
        before_bytes: None,
        compared: None,
    };
    print_report(&written, args.format)?;
    say_what_grew(args, &written);
    Ok(())
}

/// Rows without an index get that of the others, and a file does not tell with which profile it was written: the default makes one of
/// `smallest` larger.
fn say_what_grew(args: &Compact, written: &Written) {
    let grew = written
        .input_bytes
        .is_some_and(|bytes| written.report.file_bytes > bytes);
    if grew && args.how.leaves_the_size_open() {
        note(
            "note: the file is larger than before: codes of one dictionary for all rows may be longer, rows that had no index may have got that of \
             the others (--index none leaves it out), or it was encoded with --profile smallest, which is then to be given here too",
        );
    }
}

/// A file of rows that can be read back is not made one that has some which cannot: decoding all of it would end with an error.
pub(super) fn refuse_rows_without_codes(file: &Path, is_index_only: bool) -> anyhow::Result<()> {
    let has_codes =
        || Column::open_on_disk(file).is_ok_and(|column| column.has_codes() && column.row_count() > 0);
    if is_index_only && has_codes() {
        return Err(bad_input(anyhow::anyhow!(
            "{}: rows with an index only cannot be read back, and those of this file can; append them to another file, or with another index",
            file.display()
        )));
    }
    Ok(())
}

/// What merging the segments gives a file to which these rows were just appended, an index of all rows among it.
pub(super) fn say_what_merging_gives(path: &Path, appended_rows: u64) {
    let Ok(file) = Column::open_on_disk(path) else {
        return;
    };
    // The first rows of a file have no others to merge with.
    if !(1..file.row_count()).contains(&appended_rows) {
        return;
    }
    let is_indexed_in_part = file.has_any_index() && !file.has_index();
    let index = match is_indexed_in_part {
        true => ", and gives an index to the rows that have none, which a search scans",
        false => "",
    };
    match file.has_codes() {
        true => note(&format!(
            "note: the appended rows have their own dictionary; `outcrop column compact {} --in-place` merges it with the others, which usually makes the file smaller{index}",
            quoted(&path.to_string_lossy())
        )),
        // Rows without codes cannot be given another dictionary.
        false if is_indexed_in_part => note(
            "note: some rows of the file have no index, and a search scans them; others have an index only, so the file cannot be compacted to give all rows one",
        ),
        false => {}
    }
}

/// Whoever wants a file replaced by what is made of it says so: a name that leads to it may be a slip.
fn refuse_own_input(args: &Compact) -> anyhow::Result<()> {
    let Some(output) = &args.output else {
        return Ok(());
    };
    refuse_stdout(output, "a column file")?;
    if same_file(&args.file, output) {
        return Err(bad_input(anyhow::anyhow!(
            "{} is the input, and would be replaced; name another file, or give --in-place instead of -o to replace it",
            output.display()
        )));
    }
    args.force.check(output)
}
