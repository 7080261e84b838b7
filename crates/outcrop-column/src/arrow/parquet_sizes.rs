//! How much a column takes in a Parquet file: in one that is there, and in one that we would write.

use std::collections::BTreeSet;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, EncodingMask, Type, ZstdLevel};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnDescPtr;

use super::guarded;
use super::parquet_errors::{FORMAT, of_writer};
use super::parquet_input::footer;
use super::parts::{parts_to_write, refuse_longer_values};
use crate::Column;
use crate::error::Result;

/// Rows of a row group that we write: as many as most writers take.
const ROW_GROUP_ROWS: usize = 1 << 20;
/// The level of what we write.
const ZSTD_LEVEL: i32 = 3;
/// The longest value that is compared: one is held some 18 times at once by the writers of all forms.
pub const MOST_COMPARED_BYTES: u64 = 32 << 20;
/// Bytes of a data page, which nothing else ends: the library's own limit of 20,000 rows makes many columns larger.
const PAGE_BYTES: usize = 1 << 20;

/// How a Parquet file holds one of its columns, by its footer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredColumn {
    /// Encoding and codec of its chunks: `dictionary→plain, Snappy`.
    pub form: String,
    groups: Vec<StoredGroup>,
    /// Bytes before compression.
    pub uncompressed_bytes: u64,
    /// Whether every chunk has a codec that compresses at least as well as zstd does at low levels.
    pub has_strong_codec: bool,
}

/// What a row group has of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StoredGroup {
    rows: u64,
    /// In the file.
    bytes: u64,
}

impl StoredColumn {
    /// Rows of the file.
    pub fn row_count(&self) -> u64 {
        self.groups.iter().map(|group| group.rows).sum()
    }

    /// Bytes of the column's chunks as they are in the file, page headers included.
    pub fn bytes(&self) -> u64 {
        self.groups.iter().map(|group| group.bytes).sum()
    }

    /// Bytes of the first rows; `None` where they do not end with a row group, as a chunk is compressed whole.
    pub fn bytes_of_first(&self, row_count: u64) -> Option<u64> {
        let (mut rows, mut bytes) = (0, 0);
        for group in &self.groups {
            if rows >= row_count {
                break;
            }
            rows += group.rows;
            bytes += group.bytes;
        }
        (rows == row_count).then_some(bytes)
    }
}

/// How each column of a Parquet file is stored, in order; only the footer is read.
///
/// # Errors
/// [`ColumnError::Foreign`](crate::ColumnError::Foreign) for bytes that are not Parquet; what `input` reports.
pub fn parquet_stored<R: ChunkReader>(input: &R) -> Result<Vec<StoredColumn>> {
    guarded(FORMAT, || {
        let footer = footer(input)?;
        let metadata = footer.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let column = |number: usize| {
            let mask = ProjectionMask::roots(schema, [number]);
            let (mut forms, mut codecs) = (BTreeSet::new(), BTreeSet::new());
            let mut column = StoredColumn {
                has_strong_codec: true,
                ..StoredColumn::default()
            };
            for group in metadata.row_groups() {
                let mut stored = StoredGroup {
                    rows: size(group.num_rows()),
                    ..StoredGroup::default()
                };
                let leaves = (0..group.num_columns()).filter(|&leaf| mask.leaf_included(leaf));
                for chunk in leaves.map(|leaf| group.column(leaf)) {
                    forms.insert(encoding_of(chunk));
                    codecs.insert(codec_name(chunk.compression()));
                    column.has_strong_codec &=
                        matches!(chunk.compression(), Compression::ZSTD(_) | Compression::BROTLI(_));
                    stored.bytes += size(chunk.compressed_size());
                    column.uncompressed_bytes += size(chunk.uncompressed_size());
                }
                column.groups.push(stored);
            }
            let named = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(" and ");
            column.form = format!("{}, {}", named(forms), named(codecs));
            column
        };
        Ok((0..footer.schema().fields().len()).map(column).collect())
    })
}

/// A number that a damaged footer may have negative.
fn size(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// How the data pages of a chunk are encoded. A writer whose dictionary grows too large goes on with plain values.
fn encoding_of(chunk: &ColumnChunkMetaData) -> &'static str {
    let is_dictionary = |mask: &EncodingMask| {
        mask.is_set(Encoding::RLE_DICTIONARY) || mask.is_set(Encoding::PLAIN_DICTIONARY)
    };
    // Without counts of pages a footer lists the encoding of the dictionary itself, too, which is plain.
    let (mask, is_of_data) = match chunk.page_encoding_stats_mask() {
        Some(mask) => (mask, true),
        None => (chunk.encodings_mask(), false),
    };
    let has_delta = [
        Encoding::DELTA_BINARY_PACKED,
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
    ]
    .into_iter()
    .any(|encoding| mask.is_set(encoding));
    // Writers of the first version call dictionary pages otherwise than plain ones.
    let has_plain = mask.is_set(Encoding::PLAIN) && (is_of_data || mask.is_set(Encoding::PLAIN_DICTIONARY));
    match (is_dictionary(mask), has_delta) {
        (true, true) => "dictionary→delta",
        (true, false) if has_plain => "dictionary→plain",
        (true, false) => "dictionary",
        (false, true) => "delta",
        (false, false) if mask.is_set(Encoding::BYTE_STREAM_SPLIT) => "byte stream split",
        (false, false) => "plain",
    }
}

const fn codec_name(codec: Compression) -> &'static str {
    match codec {
        Compression::UNCOMPRESSED => "uncompressed",
        Compression::SNAPPY => "Snappy",
        Compression::GZIP(_) => "gzip",
        Compression::LZO => "LZO",
        Compression::BROTLI(_) => "Brotli",
        Compression::LZ4 | Compression::LZ4_RAW => "LZ4",
        Compression::ZSTD(_) => "zstd",
    }
}

/// What a column takes in a Parquet file with zstd:3: bytes of its column chunks, as [`StoredColumn::bytes`] counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParquetSizes {
    /// As Arrow's writers do it by default: pages of 20,000 rows, and a dictionary of at most 1 MiB a row group of 1,048,576 rows, then plain
    /// values.
    pub usual_bytes: u64,
    /// With the encoding that takes least, of all that are written for the type.
    pub smallest_bytes: u64,
    /// Which one that is, in words that follow "with": `DELTA_BYTE_ARRAY encoding in pages of 1 MiB without a row limit`. `None` for the default.
    pub smallest_encoding: Option<String>,
}

/// Limit of a dictionary without one.
const DICTIONARY_BYTES: usize = 1 << 30;

/// How a writer encodes values below the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As Arrow's writers do it by default, pages of 20,000 rows included.
    Usual,
    /// A dictionary however large it is: the default limit of 1 MiB makes Parquet go on with plain values.
    WholeDictionary,
    /// One encoding for all values, without a dictionary.
    Only(Encoding),
}

impl Form {
    /// All of them, the default first. A type that lacks one is written in its own default in place of it.
    pub(super) const ALL: [Self; 8] = [
        Self::Usual,
        Self::WholeDictionary,
        Self::Only(Encoding::PLAIN),
        Self::Only(Encoding::RLE),
        Self::Only(Encoding::DELTA_BINARY_PACKED),
        Self::Only(Encoding::DELTA_LENGTH_BYTE_ARRAY),
        Self::Only(Encoding::DELTA_BYTE_ARRAY),
        Self::Only(Encoding::BYTE_STREAM_SPLIT),
    ];

    /// Whether values of this type may be written so.
    const fn is_for(self, kind: Type) -> bool {
        match (self, kind) {
            (Self::Usual | Self::Only(Encoding::PLAIN), _)
            | (Self::Only(Encoding::RLE), Type::BOOLEAN)
            | (Self::Only(Encoding::DELTA_BINARY_PACKED), Type::INT32 | Type::INT64)
            | (Self::Only(Encoding::DELTA_LENGTH_BYTE_ARRAY), Type::BYTE_ARRAY)
            | (Self::Only(Encoding::DELTA_BYTE_ARRAY), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY)
            | (
                Self::Only(Encoding::BYTE_STREAM_SPLIT),
                Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE | Type::FIXED_LEN_BYTE_ARRAY,
            ) => true,
            (Self::WholeDictionary, kind) => !matches!(kind, Type::BOOLEAN),
            (Self::Only(_), _) => false,
        }
    }

    /// In words that follow "with"; `None` for the default.
    fn in_words(self) -> Option<String> {
        match self {
            Self::Usual => None,
            Self::WholeDictionary => Some("a dictionary of any size".to_owned()),
            Self::Only(Encoding::PLAIN) => Some("PLAIN encoding without a dictionary".to_owned()),
            Self::Only(encoding) => Some(format!("{encoding} encoding")),
        }
    }

    /// With zstd:3, in this form where the types of these columns have it.
    pub(super) fn properties(self, columns: &[ColumnDescPtr]) -> Result<WriterProperties> {
        let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(of_writer)?;
        let mut form = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS));
        if self != Self::Usual {
            form = form
                .set_data_page_size_limit(PAGE_BYTES)
                .set_data_page_row_count_limit(usize::MAX);
        }
        if self == Self::WholeDictionary {
            form = form.set_dictionary_page_size_limit(DICTIONARY_BYTES);
        }
        for column in columns {
            if let Self::Only(encoding) = self
                && self.is_for(column.physical_type())
            {
                form = form
                    .set_column_dictionary_enabled(column.path().clone(), false)
                    .set_column_encoding(column.path().clone(), encoding);
            }
        }
        Ok(form.build())
    }
}

/// The columns that Parquet has for these of Arrow: several for one that is nested.
pub(super) fn parquet_columns(schema: &Schema) -> Result<Vec<ColumnDescPtr>> {
    let converted = ArrowSchemaConverter::new().convert(schema).map_err(of_writer)?;
    Ok(converted.columns().to_vec())
}

/// Those of the forms that some of these columns have.
pub(super) fn forms_of(columns: &[ColumnDescPtr]) -> Vec<Form> {
    let is_any = |form: &Form| columns.iter().any(|column| form.is_for(column.physical_type()));
    Form::ALL.into_iter().filter(is_any).collect()
}

/// What batches take in each form that their types have: bytes of the chunks of each of Parquet's columns. Nothing is written.
pub(super) fn chunk_bytes(
    batches: impl IntoIterator<Item = Result<RecordBatch>>,
) -> Result<Vec<(Form, Vec<u64>)>> {
    let mut writers: Vec<(Form, ArrowWriter<io::Sink>)> = Vec::new();
    for batch in batches {
        let batch = batch?;
        if writers.is_empty() {
            let columns = parquet_columns(&batch.schema())?;
            for form in forms_of(&columns) {
                let properties = form.properties(&columns)?;
                let writer = ArrowWriter::try_new(io::sink(), batch.schema(), Some(properties));
                writers.push((form, writer.map_err(of_writer)?));
            }
        }
        for part in parts_to_write(&batch) {
            write_to_all(&mut writers, &part)?;
        }
    }
    let bytes_of = |(form, writer): (Form, ArrowWriter<io::Sink>)| {
        let metadata = writer.close().map_err(of_writer)?;
        let mut bytes = vec![0; metadata.file_metadata().schema_descr().num_columns()];
        for group in metadata.row_groups() {
            for (sum, chunk) in bytes.iter_mut().zip(group.columns()) {
                *sum += size(chunk.compressed_size());
            }
        }
        Ok((form, bytes))
    };
    writers.into_iter().map(bytes_of).collect()
}

/// Gives a batch to each of several writers, which have a thread each: compressing takes nearly all of the time.
fn write_to_all(writers: &mut [(Form, ArrowWriter<io::Sink>)], batch: &RecordBatch) -> Result<()> {
    thread::scope(|scope| {
        let write = |(_, writer): &'_ mut (Form, ArrowWriter<io::Sink>)| writer.write(batch);
        let threads: Vec<_> = writers
            .iter_mut()
            .map(|writer| scope.spawn(move || write(writer)))
            .collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(written) => written.map_err(of_writer),
            Err(panic) => resume_unwind(panic),
        })
    })
}

/// What the first `row_limit` rows of these arrays take as the column of a Parquet file with zstd:3: by default, and in the encoding that
/// takes least. Each part of a nested column has its own.
///
/// *Cost*: every encoding that the type has, compressed, with a thread each; the pages of a row group of each in memory; nothing is written.
///
/// # Errors
/// Those of the arrays, [`ColumnError::Foreign`](crate::ColumnError::Foreign) for a type that Parquet lacks, and
/// [`ColumnError::LongValue`](crate::ColumnError::LongValue) for a value of more than [`MOST_COMPARED_BYTES`].
pub fn parquet_zstd_sizes(
    arrays: impl IntoIterator<Item = Result<ArrayRef>>,
    row_limit: u64,
) -> Result<ParquetSizes> {
    let mut left = row_limit;
    let batches = arrays.into_iter().map_while(|array| {
        let short = array.and_then(|array| refuse_longer_values(&array, MOST_COMPARED_BYTES).map(|()| array));
        let array = match short {
            Ok(array) => array,
            Err(error) => return Some(Err(error)),
        };
        let rows = usize::try_from(left).map_or(array.len(), |left| left.min(array.len()));
        left -= rows as u64;
        let field = Field::new("column", array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema, vec![array.slice(0, rows)]);
        (rows > 0).then_some(batch.map_err(Into::into))
    });
    let by_form = chunk_bytes(batches)?;
    let parts = by_form.first().map_or(0, |(_, bytes)| bytes.len());
    let mut sizes = ParquetSizes::default();
    let mut encodings = BTreeSet::new();
    for part in 0..parts {
        let of_part = || {
            by_form
                .iter()
                .filter_map(|(form, bytes)| Some((*form, *bytes.get(part)?)))
        };
        // Of several the first: the default, where nothing is smaller.
        let Some((form, bytes)) = of_part().min_by_key(|(_, bytes)| *bytes) else {
            continue;
        };
        sizes.usual_bytes += of_part().next().map_or(0, |(_, usual)| usual);
        sizes.smallest_bytes += bytes;
        encodings.extend(form.in_words());
    }
    if !encodings.is_empty() {
        let encodings: Vec<String> = encodings.into_iter().collect();
        sizes.smallest_encoding = Some(format!(
            "{} in pages of 1 MiB without a row limit",
            encodings.join(" and ")
        ));
    }
    Ok(sizes)
}

impl Column {
    /// What all rows take as a column of strings in a Parquet file; see [`parquet_zstd_sizes`].
    ///
    /// # Errors
    /// As there, and as [`Column::scan`].
    pub fn parquet_zstd_sizes(&self) -> Result<ParquetSizes> {
        let arrays = self.scan()?.map(|array| Ok(Arc::new(array?) as ArrayRef));
        parquet_zstd_sizes(arrays, u64::MAX)
    }
}
