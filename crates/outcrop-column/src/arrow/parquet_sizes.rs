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
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::ChunkReader;

use super::guarded;
use super::parquet_input::{FORMAT, footer, of_parquet};
use crate::Column;
use crate::error::Result;

/// Rows of a row group that we write: as many as most writers take.
const ROW_GROUP_ROWS: usize = 1 << 20;
/// The level of what we write.
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

/// What a column takes in a Parquet file with zstd:3, by how its values are encoded: bytes of its column chunks, as [`StoredColumn::bytes`]
/// counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParquetSizes {
    /// As writers do it by default: a dictionary of at most 1 MiB a row group of 1,048,576 rows, then plain values.
    pub usual_bytes: u64,
    /// The second version's delta encodings, which suit numbers and sorted text.
    pub delta_bytes: u64,
}

impl ParquetSizes {
    /// Those of the smaller form.
    pub fn smaller_bytes(&self) -> u64 {
        self.usual_bytes.min(self.delta_bytes)
    }
}

/// With zstd:3, and the encodings that writers take by default.
pub(super) fn usual_form() -> Result<WriterPropertiesBuilder> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(of_parquet)?;
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS)))
}

/// The same with the delta encodings.
pub(super) fn delta_form() -> Result<WriterPropertiesBuilder> {
    let usual = usual_form()?;
    Ok(usual
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_dictionary_enabled(false))
}

/// What batches take in each of these forms: bytes of the column chunks. Nothing is written.
pub(super) fn chunk_bytes(
    batches: impl IntoIterator<Item = Result<RecordBatch>>,
    forms: &[WriterProperties],
) -> Result<Vec<u64>> {
    let mut writers: Vec<ArrowWriter<io::Sink>> = Vec::new();
    for batch in batches {
        let batch = batch?;
        if writers.is_empty() {
            for form in forms {
                let writer = ArrowWriter::try_new(io::sink(), batch.schema(), Some(form.clone()));
                writers.push(writer.map_err(of_parquet)?);
            }
        }
        for writer in &mut writers {
            writer.write(&batch).map_err(of_parquet)?;
        }
    }
    let bytes_of = |writer: ArrowWriter<io::Sink>| -> Result<u64> {
        let metadata = writer.close().map_err(of_parquet)?;
        let chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
        Ok(chunks.map(|chunk| size(chunk.compressed_size())).sum())
    };
    writers.into_iter().map(bytes_of).collect()
}

/// What the first `row_limit` rows of these arrays take as the column of a Parquet file with zstd:3, in each of two forms.
///
/// *Cost*: the compressed pages of two row groups in memory; nothing is written.
///
/// # Errors
/// Those of the arrays, and [`ColumnError::Foreign`](crate::ColumnError::Foreign) for a type that Parquet lacks.
pub fn parquet_zstd_sizes(
    arrays: impl IntoIterator<Item = Result<ArrayRef>>,
    row_limit: u64,
) -> Result<ParquetSizes> {
    let mut left = row_limit;
    let batches = arrays.into_iter().map_while(|array| {
        let array = match array {
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
    let forms = [usual_form()?.build(), delta_form()?.build()];
    let bytes = chunk_bytes(batches, &forms)?;
    Ok(match bytes[..] {
        [usual_bytes, delta_bytes] => ParquetSizes {
            usual_bytes,
            delta_bytes,
        },
        _ => ParquetSizes::default(),
    })
}

/// The smaller of the two forms that [`parquet_zstd_sizes`] gives.
///
/// # Errors
/// As there.
pub fn parquet_zstd_bytes(arrays: impl IntoIterator<Item = Result<ArrayRef>>, row_limit: u64) -> Result<u64> {
    Ok(parquet_zstd_sizes(arrays, row_limit)?.smaller_bytes())
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

    /// The smaller of the two.
    ///
    /// # Errors
    /// As there.
    pub fn parquet_zstd_bytes(&self) -> Result<u64> {
        Ok(self.parquet_zstd_sizes()?.smaller_bytes())
    }
}
