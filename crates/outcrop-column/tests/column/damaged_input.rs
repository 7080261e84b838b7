//! Arrow and Parquet that were cut or damaged on their way.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use outcrop_column::arrow::{ArrowStrings, ParquetStrings};
use outcrop_column::{ArrowForm, Column, ColumnError, EncodeOptions, InputColumn};

use crate::arrow::{as_rows, read_all, stream_of, table};
use crate::oracle::encode;

/// Buffers that are worth compressing.
fn long_table() -> RecordBatch {
    let texts = (0..300).map(|row| format!("sediment of layer {}", row % 7));
    let array: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    RecordBatch::try_from_iter([("rock", array)]).unwrap()
}

#[test]
fn cut_and_damaged_arrow_and_parquet_never_panic_and_damage_of_arrow_is_no_error_of_the_system() {
    let column = Column::open_in(encode(
        &as_rows(
            &(0..90)
                .map(|row| (row % 7 > 0).then(|| format!("w{}", row % 13)))
                .collect::<Vec<_>>(),
        ),
        EncodeOptions::default(),
    ))
    .unwrap();
    let mut stream = Vec::new();
    column.write_arrow(&mut stream, "v", ArrowForm::Stream).unwrap();
    let mut writer = FileWriter::try_new(Vec::new(), &table().schema()).unwrap();
    writer.write(&table()).unwrap();
    writer.finish().unwrap();
    let file = writer.into_inner().unwrap();
    let mut parquet = Vec::new();
    column.write_parquet(&mut parquet, "v").unwrap();
    let compressed = |codec| {
        let options = IpcWriteOptions::default().try_with_compression(Some(codec));
        stream_of(&long_table(), options.unwrap())
    };
    let ipc = |bytes: &[u8]| read_all(ArrowStrings::open(bytes, InputColumn::Numbered(0)));
    let table = |bytes: Vec<u8>| read_all(ParquetStrings::open(bytes::Bytes::from(bytes), InputColumn::Only));
    // A Parquet file without its end is no Parquet file; an Arrow stream may end after any message.
    for cut in 0..parquet.len() {
        assert!(table(parquet[..cut].to_vec()).is_err(), "Parquet cut at {cut}");
    }
    let [lz4, zstd] = [CompressionType::LZ4_FRAME, CompressionType::ZSTD].map(compressed);
    for original in [&stream, &file, &lz4, &zstd] {
        for cut in 0..original.len() {
            let _ = ipc(&original[..cut]);
        }
        for position in 0..original.len() {
            let mut damaged = original.clone();
            damaged[position] ^= 1 << (position % 8);
            let read = ipc(&damaged);
            // All of it was in memory: nothing but the bytes can be at fault.
            assert!(!matches!(read, Err(ColumnError::Io(_))), "{position}: {read:?}");
        }
    }
    for position in 0..parquet.len() {
        let mut damaged = parquet.clone();
        damaged[position] ^= 1 << (position % 8);
        let _ = table(damaged);
    }
}
