//! Parquet and Arrow IPC, read by the column codec's own readers.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::ArrayRef;
use outcrop_column::arrow::{
    ArrowStrings, ForeignField, ParquetStrings, StoredColumn, StoredPage, array_parts, arrow_fields,
    parquet_fields, parquet_stored, refuse_longer_values,
};
use outcrop_column::{ColumnError, InputColumn, LINE_BYTES_LIMIT};
use outcrop_input::Input;
use outcrop_measure::units::format_bytes;

use super::parts::{Ended, Part, Visit};
use super::{Extent, Table, TableColumn, TableFormat, open, open_file, table_error};
use crate::error::{BenchError, is_stopped, stopped};

/// Bytes of the text form of a number or a date, where nothing better is known.
const TEXT_FORM_BYTES: u64 = 8;

/// Reads the schema, and the footer of a Parquet file.
pub(super) fn describe(path: &Path, format: TableFormat) -> Result<Table, BenchError> {
    let failed = |error: ColumnError| table_error(path, error.to_string());
    let (fields, extents): (Vec<ForeignField>, Vec<Extent>) = if format == TableFormat::Parquet {
        let file = open_file(path)?;
        let stored = parquet_stored(&file).map_err(failed)?;
        (
            parquet_fields(&file).map_err(failed)?,
            stored.iter().map(extent_of).collect(),
        )
    } else {
        let fields = arrow_fields(BufReader::new(open(path)?)).map_err(failed)?;
        let file_bytes = open_file(path)?.metadata().map_or(0, |file| file.len());
        let share = file_bytes / fields.len().max(1) as u64;
        // Its footer says nothing of single columns.
        let extent = Extent {
            row_count: share / TEXT_FORM_BYTES,
            text_bytes: share,
            file_bytes: share,
            distinct_bytes: share,
            read_bytes: file_bytes,
        };
        let extents = vec![extent; fields.len()];
        (fields, extents)
    };
    let column = |(number, (field, extent)): (usize, (ForeignField, Extent))| TableColumn {
        number,
        name: field.name,
        kind: field.kind,
        type_name: Some(field.type_name),
        extent,
    };
    let columns = fields.into_iter().zip(extents).enumerate().map(column);
    Ok(Table::of_file(format, columns.collect()))
}

/// What a dictionary repeats, a footer does not say.
fn extent_of(stored: &StoredColumn) -> Extent {
    let row_count = stored.row_count();
    Extent {
        row_count,
        text_bytes: stored
            .uncompressed_bytes
            .max(row_count.saturating_mul(TEXT_FORM_BYTES)),
        file_bytes: stored.bytes(),
        // A dictionary that was worth it is in these bytes already.
        distinct_bytes: stored.uncompressed_bytes,
        read_bytes: stored.bytes(),
    }
}

/// How the file holds the column.
pub(crate) fn stored(path: &Path, column: &TableColumn) -> Result<StoredColumn, BenchError> {
    let failed = |error: ColumnError| table_error(path, error.to_string());
    let columns = parquet_stored(&open_file(path)?).map_err(failed)?;
    let found = columns.into_iter().nth(column.number);
    found.ok_or_else(|| table_error(path, "fewer columns than before; the file has changed"))
}

type Strings<'s> = ParquetStrings<'s, File>;

/// The column by `open`, of which no page is read that is larger than it may be in memory.
fn parquet<'s>(
    path: &Path,
    column: &TableColumn,
    stop: &'s AtomicBool,
    open: fn(File, InputColumn<'_>) -> outcrop_column::Result<Strings<'s>>,
) -> Result<Strings<'s>, BenchError> {
    let (file, name) = (open_file(path)?, column.name.clone());
    let arrays = open(open_file(path)?, InputColumn::Numbered(column.number));
    let arrays = arrays.map_err(|error| table_error(path, error.to_string()))?;
    Ok(arrays.check_pages(move |page| refuse_large(page, &file, &name, stop)))
}

/// A page is decompressed as a whole, and takes some three times its size then. Writers make pages of a few megabytes; long values make
/// larger ones, which are larger in the file, too.
const PAGE_BYTES_LIMIT: u64 = 512 << 20;
const TIMES_PAGE: u64 = 16;
/// No gzip file becomes more times as large, and no LZ4 frame a fourth of that.
const GZIP_RATIO_LIMIT: u64 = 1032;

/// Bytes that are decompressed between two looks at the stop flag.
const BYTES_BETWEEN_LOOKS: u64 = 4 << 20;

/// Magic number of LZ4's legacy frames, which the Parquet reader decodes and `outcrop_input` does not.
const LZ4_OLD_MAGIC: [u8; 4] = 0x184c_2102_u32.to_le_bytes();

/// The most bytes that a page may decompress to.
fn limit_of(page: &StoredPage) -> u64 {
    page.bytes.saturating_mul(TIMES_PAGE).max(PAGE_BYTES_LIMIT)
}

/// Refuses a page that is larger than it may be in memory.
fn refuse_large(page: &StoredPage, file: &File, name: &str, stop: &AtomicBool) -> Result<(), ColumnError> {
    let limit = limit_of(page);
    let is_large = page.held_bytes() > limit || !page.is_bounded && is_longer(file, page, stop)?;
    if stop.load(Ordering::Relaxed) {
        return Err(stopped());
    }
    match is_large {
        false => Ok(()),
        true => Err(ColumnError::Foreign {
            format: "Parquet",
            detail: format!(
                "column {name} has a page of {} that becomes more than {} in memory, where a page is held as a whole; write the file with \
                 smaller pages (`data_page_size` of most writers), or leave the column out",
                format_bytes(page.bytes),
                format_bytes(limit)
            ),
        }),
    }
}

/// Whether a page decompresses to more than is allowed, whatever its header says. Only gzip pages of more than half a megabyte, and LZ4 frames,
/// are decompressed for that.
fn is_longer(file: &File, page: &StoredPage, stop: &AtomicBool) -> Result<bool, ColumnError> {
    let limit = limit_of(page);
    if page.bytes.saturating_mul(GZIP_RATIO_LIMIT) <= limit {
        return Ok(false);
    }
    let mut file = file;
    let mut magic = [0; LZ4_OLD_MAGIC.len()];
    file.read_exact_at(&mut magic, page.offset)?;
    if magic == LZ4_OLD_MAGIC {
        // Only a decoder tells, and nothing that is known writes these into Parquet.
        return Ok(true);
    }
    file.seek(SeekFrom::Start(page.offset))?;
    // What is damaged, the reader of the column says.
    let Ok(mut page) = Input::open("page", BufReader::new(file.take(page.bytes))) else {
        return Ok(false);
    };
    let mut bytes = 0;
    while bytes <= limit && !stop.load(Ordering::Relaxed) {
        match io::copy(&mut page.by_ref().take(BYTES_BETWEEN_LOOKS), &mut io::sink()) {
            Ok(0) | Err(_) => return Ok(false),
            Ok(more) => bytes += more,
        }
    }
    Ok(bytes > limit)
}

fn buffered(path: &Path) -> Result<BufReader<Input<File>>, BenchError> {
    Ok(BufReader::with_capacity(1 << 20, open(path)?))
}

pub(super) fn for_each_of_parquet(
    path: &Path,
    column: &TableColumn,
    stop: &AtomicBool,
    visit: &mut Visit<'_>,
) -> Result<Ended, BenchError> {
    for_each(path, parquet(path, column, stop, ParquetStrings::open)?, visit)
}

pub(super) fn for_each_of_arrow(
    path: &Path,
    column: &TableColumn,
    visit: &mut Visit<'_>,
) -> Result<Ended, BenchError> {
    let arrays = ArrowStrings::open(buffered(path)?, InputColumn::Numbered(column.number));
    for_each(
        path,
        arrays.map_err(|error| table_error(path, error.to_string()))?,
        visit,
    )
}

/// Arrays of a column of a Parquet or Arrow IPC file with the types of the file.
pub(crate) type TypedArrays<'s> = Box<dyn Iterator<Item = Result<ArrayRef, ColumnError>> + 's>;

/// The column with the types of the file.
pub(crate) fn typed<'s>(
    path: &Path,
    format: TableFormat,
    column: &TableColumn,
    stop: &'s AtomicBool,
) -> Result<TypedArrays<'s>, BenchError> {
    Ok(if format == TableFormat::Parquet {
        Box::new(parquet(path, column, stop, ParquetStrings::open_typed)?)
    } else {
        let number = InputColumn::Numbered(column.number);
        let arrays = ArrowStrings::open_typed(buffered(path)?, number);
        Box::new(arrays.map_err(|error| table_error(path, error.to_string()))?)
    })
}

/// Gives `visit` the arrays of a file in parts: a dictionary of one long value may stand for gigabytes of rows. A value may be as long as a line
/// of text.
fn for_each(
    path: &Path,
    arrays: impl Iterator<Item = Result<ArrayRef, ColumnError>>,
    visit: &mut Visit<'_>,
) -> Result<Ended, BenchError> {
    for array in arrays {
        let short =
            array.and_then(|array| refuse_longer_values(&array, LINE_BYTES_LIMIT as u64).map(|()| array));
        let array = short.map_err(|error| match is_stopped(&error) {
            true => BenchError::Interrupted,
            false => table_error(path, error.to_string()),
        })?;
        for part in array_parts(&array) {
            if visit(Part::Array(&part))?.is_break() {
                return Ok(Ended::Before);
            }
        }
    }
    Ok(Ended::AtTheEnd)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use outcrop_column::arrow::{PageEncoding, PageKind};

    use super::*;

    /// A page of these bytes in a file, whose header claims 1,000.
    fn page_of(bytes: &[u8]) -> (File, StoredPage) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let page = StoredPage {
            offset: 0,
            bytes: bytes.len() as u64,
            uncompressed_bytes: 1000,
            is_bounded: false,
            values: 1,
            kind: PageKind::Data,
            value_bytes: None,
            encoding: PageEncoding::Plain,
        };
        (file, page)
    }

    #[test]
    fn a_page_that_only_an_old_decoder_can_judge_is_refused_and_a_stop_ends_the_judging() {
        let go_on = AtomicBool::new(false);
        let mut bytes = vec![0; 1 << 20];
        let (file, page) = page_of(&bytes);
        assert!(!is_longer(&file, &page, &go_on).unwrap());
        bytes[..4].copy_from_slice(&LZ4_OLD_MAGIC);
        let (file, page) = page_of(&bytes);
        let refused = refuse_large(&page, &file, "rock", &go_on).unwrap_err();
        assert!(
            refused.to_string().contains("column rock has a page of 1 MiB"),
            "{refused}"
        );
        let stopped = refuse_large(&page, &file, "rock", &AtomicBool::new(true)).unwrap_err();
        assert!(is_stopped(&stopped), "{stopped}");
    }
}
