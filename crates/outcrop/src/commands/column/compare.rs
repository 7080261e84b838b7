//! What a column takes as it was written, in the input, and in Parquet with zstd.

use super::input::Opened;
use super::layout::Layout;
use super::of_column;
use crate::output::note;
use crate::work::LongWork;
use anyhow::Context as _;
use outcrop_column::arrow::{
    MOST_COMPARED_BYTES, ParquetSizes, ParquetStrings, StoredColumn, parquet_stored, parquet_zstd_sizes,
};
use outcrop_column::{Column, ColumnError, EncodeOptions, EncodeReport, Index, InputColumn, Profile};
use outcrop_column_bench::Stored;
use outcrop_column_bench::tabular::{FileKind, TableColumn, ValueKind};
use outcrop_measure::metric::Unavailable;
use outcrop_measure::units::{format_bytes, format_data};
use outcrop_report::{ColumnSizes, OcolIndex};
use std::path::Path;

/// The sizes of a column that was written, in the input and in other forms.
pub(super) struct Compared {
    pub(super) sizes: ColumnSizes,
    pub(super) stored: Stored,
    pub(super) parquet: Result<u64, Unavailable>,
    /// The same as Arrow's writers encode it by default.
    pub(super) parquet_default: Result<u64, Unavailable>,
    /// What an encode without the index of the file would report; `None` where it has none, or nothing else.
    pub(super) without_index: Option<Result<EncodeReport, Unavailable>>,
}

impl Compared {
    /// The size of the column file without its index.
    pub(super) fn bytes_without_index(&self) -> Option<Result<u64, Unavailable>> {
        let without = self.without_index.as_ref()?;
        Some(
            without
                .as_ref()
                .map(|report| report.file_bytes)
                .map_err(Clone::clone),
        )
    }

    /// What the column takes in other forms, in words; what the index of `file` takes is not in those.
    pub(super) fn verdict(&self, file: &EncodeReport) -> String {
        let verdict = self.sizes.verdict();
        match &self.without_index {
            Some(without) => format!("{verdict}. {}", index_in_words(file, without)),
            None if file.postings_bytes > 0 => {
                format!("{verdict}. The file has an index only: its rows cannot be read back")
            }
            None => verdict,
        }
    }
}

/// What a file takes with its index, and what of it is more than without.
fn index_in_words(file: &EncodeReport, without: &Result<EncodeReport, Unavailable>) -> String {
    let size = |bytes: u64| format_data(bytes as f64);
    let without = match without {
        Ok(without) => without,
        Err(why) => {
            let why = &why.reason;
            return format!(
                "The other forms have no index; what .ocol would take without one is not known: {why}"
            );
        }
    };
    let (with, postings) = (size(file.file_bytes), size(file.postings_bytes));
    let rest = match file.dictionary_bytes.checked_sub(without.dictionary_bytes) {
        _ if without.packed.is_some() => ", and a file with an index is not packed".to_owned(),
        None | Some(0) => String::new(),
        Some(more) => format!(
            ", and the dictionary {} more, because lookups need smaller blocks",
            size(more)
        ),
    };
    format!("With its index, the file takes {with}: the postings take {postings}{rest}")
}

/// Compares a column file with what was read, and with Parquet. *Cost*: one pass over the column.
pub(super) fn compared(
    (opened, layout): (&Opened, &Layout),
    column: &TableColumn,
    (file, report): (&Path, &EncodeReport),
    options: EncodeOptions,
    work: &LongWork,
) -> anyhow::Result<Compared> {
    let text_bytes = report.text_bytes + report.row_count;
    let stored = stored((opened, layout), column.number, (report.row_count, text_bytes))?;
    let mut parquet_as = None;
    let in_parquet: Result<ParquetSizes, Unavailable> = match (layout.kind, column.kind) {
        (FileKind::Parquet, kind) if kind != ValueKind::Strings => {
            let number = InputColumn::Numbered(column.number);
            let arrays = ParquetStrings::open_typed(parquet_file(opened)?.try_clone()?, number);
            let arrays = arrays.map_err(of_column)?;
            unless_too_long(parquet_zstd_sizes(arrays, u64::MAX))?
        }
        (FileKind::Arrow, kind) if kind != ValueKind::Strings => Err(Unavailable::because(
            "the types of an Arrow IPC input are not written again; only its text columns are compared",
        )),
        _ if text_bytes > MOST_COMPARED_TEXT => Err(too_much(text_bytes)),
        _ if options.index == Index::Only => Err(Unavailable::because(
            "a file with --index only has no codes to write the rows from",
        )),
        (FileKind::Parquet | FileKind::Arrow, _) => {
            let written = to_compare(file)?;
            unless_too_long(written.parquet_zstd_sizes())?
        }
        // Whoever writes a text file in Parquet gets numbers where it has numbers.
        (FileKind::Lines | FileKind::Delimited | FileKind::TabSeparated, _) => {
            let written = to_compare(file)?;
            let sizes = unless_too_long(written.parquet_zstd_sizes_of_text())?;
            sizes.map(|(sizes, found)| {
                parquet_as = column.parquet_type(found).map(str::to_owned);
                sizes
            })
        }
    };
    let parquet_default = in_parquet.as_ref().map(|sizes| sizes.usual_bytes);
    let parquet_default = parquet_default.map_err(Clone::clone);
    let encoding = in_parquet
        .as_ref()
        .ok()
        .and_then(|sizes| sizes.smallest_encoding.clone());
    let parquet = in_parquet.map(|sizes| sizes.smallest_bytes);
    let form = stored.form.as_ref().map(|form| format!("in this file ({form})"));
    let row_count = report.row_count as f64;
    let without_index = without_index(file, options, work)?;
    let (ocol_bytes, ocol_index) = ocol_without_index(report, options.index, without_index.as_ref());
    let sizes = ColumnSizes {
        name: column.name.clone(),
        ocol_bytes,
        ocol_index,
        may_be_smaller: options.profile != Profile::Smallest,
        text_bytes: text_bytes as f64,
        stored: stored.bytes.as_ref().ok().map(|bytes| *bytes as f64).zip(form),
        compressed_file_bytes: opened
            .compression
            .and(opened.size_bytes)
            .map(|bytes| bytes as f64),
        is_stored_in_parquet: layout.kind == FileKind::Parquet && stored.bytes.is_ok(),
        parquet_zstd_bytes: parquet.as_ref().ok().map(|bytes| *bytes as f64),
        parquet_encoding: encoding,
        parquet_usual_bytes: parquet_default.as_ref().ok().map(|bytes| *bytes as f64),
        parquet_as,
        row_count,
        table_rows: Some(row_count),
        // That it becomes text is said before it is encoded.
        text_of: None,
    };
    Ok(Compared {
        sizes,
        stored,
        parquet,
        parquet_default,
        without_index,
    })
}

/// What a column takes in the input. Its rows and the bytes of their text are known from the encode.
fn stored(
    (opened, layout): (&Opened, &Layout),
    number: usize,
    (row_count, text_bytes): (u64, u64),
) -> anyhow::Result<Stored> {
    Ok(match layout.kind {
        FileKind::Parquet => {
            Stored::in_parquet(parquet_file(opened)?, number, row_count).map_err(of_column)?
        }
        FileKind::Arrow => Stored::in_arrow(),
        FileKind::Lines | FileKind::Delimited | FileKind::TabSeparated => {
            Stored::as_text(text_bytes, opened.compression)
        }
    })
}

/// What an encode without the index of the file that was written would report, to compare like with like: no other form has one. `None` where
/// there is none, or nothing else. *Cost*: two passes over the dictionary; of a small column, with `--profile smallest`, an encode.
fn without_index(
    file: &Path,
    options: EncodeOptions,
    work: &LongWork,
) -> anyhow::Result<Option<Result<EncodeReport, Unavailable>>> {
    if options.index != Index::Postings {
        return Ok(None);
    }
    let mut written = to_compare(file)?;
    work.watch(&mut written, "encoding without the index, to compare");
    match written.without_index(options) {
        Err(ColumnError::LongBlock { .. }) => Ok(Some(Err(Unavailable::because(too_long_values())))),
        report => Ok(report.map_err(of_column)?.map(Ok)),
    }
}

/// The size of the column file that is compared, and what it has of an index.
fn ocol_without_index(
    report: &EncodeReport,
    index: Index,
    without: Option<&Result<EncodeReport, Unavailable>>,
) -> (f64, OcolIndex) {
    let file_bytes = report.file_bytes as f64;
    match (index, without) {
        (Index::None, _) => (file_bytes, OcolIndex::None),
        (_, Some(Ok(without))) => (without.file_bytes as f64, OcolIndex::LeftOut { file_bytes }),
        (Index::Postings | Index::Only, _) => (file_bytes, OcolIndex::Counted),
    }
}

/// Why some values are not compared.
fn too_long_values() -> String {
    let most = format_bytes(MOST_COMPARED_BYTES);
    format!("it has values of more than {most}, which are not compared")
}

/// Most bytes of rows that are written in Parquet to be compared: a few kilobytes can stand for more, which would take minutes or hours.
const MOST_COMPARED_TEXT: u64 = 16 << 30;

/// Why these rows are not compared.
fn too_much(text_bytes: u64) -> Unavailable {
    let why = format!("its rows are {} of text", format_data(text_bytes as f64));
    note(&format!(
        "note: no size in Parquet with zstd:3: {why}, too much to be compared"
    ));
    Unavailable::because(why)
}

/// The column file that was written, to be written in Parquet.
fn to_compare(file: &Path) -> anyhow::Result<Column> {
    let mut written = Column::open_on_disk(file).map_err(of_column)?;
    written.limit_blocks(MOST_COMPARED_BYTES);
    Ok(written)
}

/// Sizes in Parquet, or that values are too long for it.
fn unless_too_long<T>(sizes: Result<T, ColumnError>) -> anyhow::Result<Result<T, Unavailable>> {
    match sizes {
        Err(ColumnError::LongBlock { .. } | ColumnError::LongValue { .. }) => {
            let why = too_long_values();
            note(&format!("note: no size in Parquet with zstd:3: {why}"));
            Ok(Err(Unavailable::because(why)))
        }
        sizes => Ok(Ok(sizes.map_err(of_column)?)),
    }
}

/// What a column of a Parquet file takes that no column file can hold, in the file and in Parquet with zstd; none of other inputs.
/// *Cost*: one pass over the column.
pub(super) fn only_in_parquet(
    (opened, layout): (&Opened, &Layout),
    column: &TableColumn,
) -> anyhow::Result<Option<String>> {
    if layout.kind != FileKind::Parquet {
        return Ok(None);
    }
    let file = parquet_file(opened)?;
    let stored = parquet_stored(file).map_err(of_column)?;
    let Some(stored) = stored.get(column.number) else {
        return Ok(None);
    };
    let arrays = ParquetStrings::open_any(file.try_clone()?, column.number).map_err(of_column)?;
    let parquet = match parquet_zstd_sizes(arrays, u64::MAX) {
        Err(ColumnError::LongValue { .. }) => {
            let most = format_bytes(MOST_COMPARED_BYTES);
            format!("it has values of more than {most}, which are not compared with Parquet")
        }
        sizes => in_parquet(stored, &sizes.map_err(of_column)?),
    };
    Ok(Some(format!(
        "{}: {} in this file ({}); {parquet}",
        column.name,
        format_data(stored.bytes() as f64),
        stored.form
    )))
}

/// What Parquet with zstd would make of a column, in words.
fn in_parquet(stored: &StoredColumn, sizes: &ParquetSizes) -> String {
    if stored.has_strong_codec && stored.bytes() <= sizes.smallest_bytes {
        "no smaller in Parquet with zstd:3".to_owned()
    } else {
        let encoding = sizes.smallest_encoding.as_ref();
        let encoding = encoding.map_or_else(String::new, |encoding| format!(" with {encoding}"));
        let bytes = format_data(sizes.smallest_bytes as f64);
        format!("Parquet with zstd:3 would take {bytes}{encoding}")
    }
}

fn parquet_file(opened: &Opened) -> anyhow::Result<&std::fs::File> {
    opened
        .file()
        .context("Parquet needs a seekable file: it is read from its end")
}
