//! How much a column takes in a Parquet file: in one that is there, and in one that we would write.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::basic::{Compression, Encoding, EncodingMask, ZstdLevel};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::ChunkReader;

use super::guarded;
use super::parquet_input::{FORMAT, footer, of_parquet};
use crate::Column;
use crate::error::Result;

/// Rows of a row group that we write: as many as most writers take.
const ROW_GROUP_ROWS: usize = 1 << 20;
/// The level of [`parquet_zstd_bytes`].
const ZSTD_LEVEL: i32 = 3;

/// How a Parquet file holds one of its columns, by its footer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredColumn {
    /// Encoding and codec of its chunks: `dictionary→plain, Snappy`.
    pub form: String,
    /// Rows and bytes of each row group.
    groups: Vec<(u64, u64)>,
    /// Bytes before compression.
    pub uncompressed_bytes: u64,
}

impl StoredColumn {
    /// Rows of the file.
    pub fn row_count(&self) -> u64 {
        self.groups.iter().map(|(rows, _)| rows).sum()
    }

    /// Bytes of the column's chunks as they are in the file, page headers included.
    pub fn bytes(&self) -> u64 {
        self.groups.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes of the first rows; `None` where they do not end with a row group, as a chunk is compressed whole.
    pub fn bytes_of_first(&self, row_count: u64) -> Option<u64> {
        let (mut rows, mut bytes) = (0, 0);
        for (group_rows, group_bytes) in &self.groups {
            if rows >= row_count {
                break;
            }
            rows += group_rows;
            bytes += group_bytes;
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
            let mut column = StoredColumn::default();
            for group in metadata.row_groups() {
                let mut bytes = 0;
                let leaves = (0..group.num_columns()).filter(|&leaf| mask.leaf_included(leaf));
                for chunk in leaves.map(|leaf| group.column(leaf)) {
                    forms.insert(encoding_of(chunk));
                    codecs.insert(codec_name(chunk.compression()));
                    bytes += size(chunk.compressed_size());
                    column.uncompressed_bytes += size(chunk.uncompressed_size());
                }
                column.groups.push((size(group.num_rows()), bytes));
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

/// Bytes that the first `row_limit` rows of these arrays take as the column of a Parquet file with zstd:3: those of its column chunks, as
/// [`StoredColumn::bytes`] counts them. Of two forms the smaller counts: a dictionary of at most 1 MiB a row group of 1,048,576 rows, then
/// plain values, as writers do it by default; and the second version's delta encodings, which suit numbers and sorted text.
///
/// *Cost*: the compressed pages of two row groups in memory; nothing is written.
///
/// # Errors
/// Those of the arrays, and [`ColumnError::Foreign`](crate::ColumnError::Foreign) for a type that Parquet lacks.
pub fn parquet_zstd_bytes(arrays: impl IntoIterator<Item = Result<ArrayRef>>, row_limit: u64) -> Result<u64> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(of_parquet)?;
    let usual = || {
        WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
    };
    let delta = usual()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_dictionary_enabled(false);
    let forms = [usual().build(), delta.build()];
    let mut writers: Vec<ArrowWriter<io::Sink>> = Vec::new();
    let mut left = row_limit;
    for array in arrays {
        let array = array?;
        let rows = usize::try_from(left).map_or(array.len(), |left| left.min(array.len()));
        if rows == 0 {
            break;
        }
        left -= rows as u64;
        let array = array.slice(0, rows);
        let field = Field::new("column", array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![field]));
        if writers.is_empty() {
            for form in &forms {
                let writer = ArrowWriter::try_new(io::sink(), Arc::clone(&schema), Some(form.clone()));
                writers.push(writer.map_err(of_parquet)?);
            }
        }
        let batch = RecordBatch::try_new(schema, vec![array])?;
        for writer in &mut writers {
            writer.write(&batch).map_err(of_parquet)?;
        }
    }
    let mut smallest = None;
    for writer in writers {
        let metadata = writer.close().map_err(of_parquet)?;
        let chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
        let bytes: u64 = chunks.map(|chunk| size(chunk.compressed_size())).sum();
        smallest = Some(smallest.map_or(bytes, |other: u64| other.min(bytes)));
    }
    Ok(smallest.unwrap_or(0))
}

impl Column {
    /// What all rows take as a column of strings in a Parquet file; see [`parquet_zstd_bytes`].
    ///
    /// # Errors
    /// As there, and as [`Column::scan`].
    pub fn parquet_zstd_bytes(&self) -> Result<u64> {
        let arrays = self.scan()?.map(|array| Ok(Arc::new(array?) as ArrayRef));
        parquet_zstd_bytes(arrays, u64::MAX)
    }
}
