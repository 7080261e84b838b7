//! Pages of Parquet as their headers describe them, and the batches that are read of them.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use outcrop_column::arrow::{
    PageEncoding, PageKind, ParquetStrings, StoredPage, for_each_value, parquet_fields,
};
use outcrop_column::{ColumnError, InputColumn};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_dictionary_enabled(false)
}

/// A file with a row group for each of these columns of values.
fn file_of(groups: &[Vec<String>], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let batch = |group: &Vec<String>| {
        let array: ArrayRef = Arc::new(StringArray::from(group.clone()));
        RecordBatch::try_from_iter([("rock", array)]).unwrap()
    };
    let schema = batch(&groups[0]).schema();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties.build())).unwrap();
    for group in groups {
        let batch = batch(group);
        // Long values close a page each few rows, as a writer would that looks at sizes.
        for start in (0..batch.num_rows()).step_by(64) {
            writer
                .write(&batch.slice(start, 64.min(batch.num_rows() - start)))
                .unwrap();
        }
        writer.flush().unwrap();
    }
    writer.into_inner().unwrap()
}

fn open<'c>(file: &[u8]) -> ParquetStrings<'c, bytes::Bytes> {
    ParquetStrings::open(bytes::Bytes::copy_from_slice(file), InputColumn::Only).unwrap()
}

/// The pages that a check saw of the whole file.
fn pages_of(file: &[u8]) -> Vec<StoredPage> {
    let mut pages = Vec::new();
    let arrays = open(file).check_pages(|page| {
        pages.push(*page);
        Ok(())
    });
    assert!(arrays.into_iter().all(|array| array.is_ok()));
    pages
}

/// The varint of a signed number in Thrift's compact protocol, in `length` bytes.
fn varint(value: u64, length: usize) -> Vec<u8> {
    let zigzag = value << 1;
    let byte = |place: usize| {
        let more = if place + 1 < length { 0x80 } else { 0 };
        (zigzag >> (7 * place)) as u8 & 0x7f | more
    };
    (0..length).map(byte).collect()
}

#[test]
fn a_batch_stays_small_whatever_the_footer_says() {
    let long = "x".repeat(64 << 10);
    // Short rows first: the mean of all rows is short, too.
    let rows = (0..60_000).map(|row| match row < 58_976 {
        true => format!("{row}"),
        false => long.clone(),
    });
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1).unwrap());
    let honest = file_of(&[rows.collect()], plain().set_compression(zstd));
    let footer = SerializedFileReader::new(bytes::Bytes::from(honest.clone())).unwrap();
    let claimed = footer.metadata().row_group(0).column(0).uncompressed_size() as u64;
    assert!(claimed > 64 << 20, "{claimed}");
    let mut lying = honest.clone();
    let found = (0..lying.len() - 4).filter(|&at| lying[at..at + 4] == varint(claimed, 4));
    let places: Vec<usize> = found.collect();
    assert!(!places.is_empty());
    for at in places {
        lying[at..at + 4].copy_from_slice(&varint(100_000, 4));
    }
    let read = SerializedFileReader::new(bytes::Bytes::from(lying.clone())).unwrap();
    assert_eq!(
        read.metadata().row_group(0).column(0).uncompressed_size(),
        100_000
    );
    for file in [honest, lying] {
        let (mut rows, mut most) = (0, 0);
        for array in open(&file) {
            let array = array.unwrap();
            let mut bytes = 0;
            for_each_value(&array, |value| {
                bytes += value.map_or(0, <[u8]>::len);
                Ok(())
            })
            .unwrap();
            rows += array.len();
            most = most.max(bytes);
        }
        assert_eq!(rows, 60_000);
        assert!(most < 48 << 20, "{most} bytes in a batch");
    }
}

#[test]
fn a_page_ends_at_the_size_of_its_header_but_for_gzip_and_lz4_frames() {
    let values = vec![(0..500).map(|row| format!("value {row}")).collect()];
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let gzip = Compression::GZIP(GzipLevel::default());
    for (codec, is_bounded) in [
        (Compression::UNCOMPRESSED, true),
        (Compression::SNAPPY, true),
        (Compression::LZ4_RAW, true),
        (zstd, true),
        (gzip, false),
        (Compression::LZ4, false),
    ] {
        let pages = pages_of(&file_of(&values, plain().set_compression(codec)));
        assert!(!pages.is_empty(), "{codec:?}");
        assert!(
            pages.iter().all(|page| page.is_bounded == is_bounded),
            "{codec:?}: {pages:?}"
        );
        assert_eq!(
            pages.iter().map(|page| page.values).sum::<u64>(),
            500,
            "{codec:?}"
        );
    }
    let with_dictionary = pages_of(&file_of(&values, WriterProperties::builder()));
    assert!(with_dictionary[0].kind == PageKind::Dictionary && with_dictionary[1].kind == PageKind::Data);
}

#[test]
fn pages_are_checked_when_their_row_group_is_reached() {
    let groups = vec![vec!["short".to_owned(); 10], vec!["y".repeat(1 << 20)]];
    let file = file_of(&groups, plain());
    let mut arrays = open(&file).check_pages(|page| match page.uncompressed_bytes > 1 << 20 {
        true => Err(ColumnError::Io(std::io::Error::other("too large"))),
        false => Ok(()),
    });
    assert_eq!(arrays.next().unwrap().unwrap().len(), 10);
    assert!(
        arrays
            .next()
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("too large")
    );
    assert!(arrays.next().is_none());
}

/// A file without rows whose schema has groups in groups.
fn nested(levels: usize) -> Vec<u8> {
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    let mut count = levels + 1;
    while count >= 0x80 {
        footer.push(count as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    for _ in 0..levels {
        // Repetition, name and one child.
        footer.extend([0x35, 2, 0x18, 1, b'a', 0x15, 2, 0]);
    }
    // A string.
    footer.extend([0x15, 12, 0x25, 2, 0x18, 1, b'a', 0]);
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = (footer.len() as u32).to_le_bytes();
    [&b"PAR1"[..], &footer, &length, b"PAR1"].concat()
}

#[test]
fn a_footer_with_endless_types_or_lists_is_refused_before_memory_is_taken_for_it() {
    let open = |file: Vec<u8>| parquet_fields(&bytes::Bytes::from(file));
    assert_eq!(open(nested(100)).unwrap().len(), 1);
    for levels in [201, 10_000, 300_000] {
        let refused = open(nested(levels)).unwrap_err().to_string();
        assert!(refused.contains("more than 200 levels"), "{refused}");
    }
    let mut many = nested(1);
    let children = many
        .windows(4)
        .position(|four| four == [b'a', 0x15, 2, 0])
        .unwrap()
        + 2;
    many[children] = 100;
    let refused = open(many).unwrap_err().to_string();
    assert!(refused.contains("more types than there are"), "{refused}");
    // The library goes by the numbers of fields: with another type, the number of children or the list of types would be passed over here.
    let mut of_a_byte = nested(300);
    let at = (0..of_a_byte.len() - 4).find(|&at| of_a_byte[at..at + 4] == [b'a', 0x15, 2, 0]);
    of_a_byte[at.unwrap() + 1] = 0x13;
    let mut a_set = nested(300);
    assert_eq!(a_set[6], 0x19);
    a_set[6] = 0x1a;
    for file in [of_a_byte, a_set] {
        let refused = open(file).unwrap_err().to_string();
        assert!(refused.contains("another type than Parquet's"), "{refused}");
    }
    // Row groups: as many as a number can say.
    let footer = [
        0x15, 2, 0x19, 0x0c, 0x16, 0, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0,
    ];
    let file = [
        &b"PAR1"[..],
        &footer,
        &(footer.len() as u32).to_le_bytes(),
        b"PAR1",
    ]
    .concat();
    let refused = open(file).unwrap_err().to_string();
    assert!(
        refused.contains("more elements than there are bytes"),
        "{refused}"
    );
}

#[test]
fn strings_in_delta_encodings_are_read_and_a_page_that_claims_more_of_them_inside_is_refused() {
    // Prefixes of all lengths, empty values and nulls; some pages end within a miniblock.
    let value = |row: usize| {
        (!row.is_multiple_of(11))
            .then(|| "abcdefgh".repeat(row % 13)[..row * 7 % 30 % (row % 13 * 8).max(1)].to_owned())
    };
    for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for rows in [1, 2, 32, 33, 128, 129, 1000, 5001] {
                let values: Vec<Option<String>> = (0..rows).map(value).collect();
                let array: ArrayRef = Arc::new(StringArray::from(values.clone()));
                let batch = RecordBatch::try_from_iter_with_nullable([("rock", array, true)]).unwrap();
                let properties = plain().set_encoding(encoding).set_writer_version(version);
                let properties = properties
                    .set_data_page_row_count_limit(700)
                    .set_write_batch_size(100)
                    .build();
                let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
                writer.write(&batch).unwrap();
                let file = writer.into_inner().unwrap();
                let mut read = Vec::new();
                for array in open(&file) {
                    for_each_value(&array.unwrap(), |value| {
                        read.push(value.map(|value| String::from_utf8(value.to_vec()).unwrap()));
                        Ok(())
                    })
                    .unwrap();
                }
                assert_eq!(read, values, "{encoding} {version:?} {rows}");
            }
        }
    }
    // One value, not compressed: behind the header of its page, blocks of 128 values, 4 miniblocks, one value.
    let of_one = |encoding| {
        let properties = plain()
            .set_encoding(encoding)
            .set_statistics_enabled(EnabledStatistics::None);
        let properties = properties.set_writer_version(WriterVersion::PARQUET_2_0).build();
        let array: ArrayRef = Arc::new(StringArray::from(vec!["abc"]));
        let batch = RecordBatch::try_from_iter([("rock", array)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    };
    for (encoding, streams) in [
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, 1),
        (Encoding::DELTA_BYTE_ARRAY, 2),
    ] {
        let file = of_one(encoding);
        let starts: Vec<usize> = (0..file.len() - 4)
            .filter(|&at| file[at..at + 4] == [0x80, 1, 4, 1])
            .collect();
        assert_eq!(starts.len(), streams, "{encoding}");
        for start in starts {
            let mut lies = file.clone();
            lies[start + 3] = 100;
            let refused = open(&lies).next().unwrap().unwrap_err().to_string();
            assert!(
                refused.contains("a page of 1 values claims 100"),
                "{encoding}: {refused}"
            );
        }
    }
}

#[test]
fn values_that_share_prefixes_are_read_in_small_batches() {
    // Each begins with all of the one before: some kilobytes in the file, 200 MB of text.
    let rows: Vec<String> = (0..20_000).map(|row| "x".repeat(row)).collect();
    let file = file_of(&[rows], plain().set_encoding(Encoding::DELTA_BYTE_ARRAY));
    assert!(file.len() < 1 << 20, "{}", file.len());
    let (mut all, mut most) = (0, 0);
    for array in open(&file) {
        let mut bytes = 0;
        for_each_value(&array.unwrap(), |value| {
            bytes += value.map_or(0, <[u8]>::len);
            Ok(())
        })
        .unwrap();
        all += bytes;
        most = most.max(bytes);
    }
    assert_eq!(all, 20_000 * 19_999 / 2);
    assert!(most <= 34 << 20, "{most} bytes in a batch");
}

#[test]
fn codes_that_are_replaced_by_their_values_are_read_in_small_batches() {
    // A dictionary of one long value, and rows without one behind it: writers do that once a dictionary has grown too large.
    let long = "x".repeat(400 << 10);
    let rows: Vec<String> = (0..3_000)
        .map(|row| match row < 1_500 {
            true => long.clone(),
            false => format!("{row:0600}"),
        })
        .collect();
    let properties = WriterProperties::builder()
        .set_dictionary_page_size_limit(420 << 10)
        .set_write_batch_size(64);
    let file = file_of(&[rows], properties);
    let pages = pages_of(&file);
    let encodings: Vec<PageEncoding> = pages.iter().map(|page| page.encoding).collect();
    assert!(
        encodings.contains(&PageEncoding::Dictionary) && encodings.ends_with(&[PageEncoding::Plain]),
        "{encodings:?}"
    );
    let mut rows = 0;
    for array in open(&file) {
        let array = array.unwrap();
        assert!(array.len() <= 82, "{} rows in a batch", array.len());
        rows += array.len();
    }
    assert_eq!(rows, 3_000);
}

#[test]
fn strings_in_lists_with_a_large_dictionary_are_read_in_large_batches() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..20_000 {
        lists.values().append_value(format!("{:030}", row % 15_000));
        lists.append(true);
    }
    let batch = RecordBatch::try_from_iter([("rock", Arc::new(lists.finish()) as ArrayRef)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let file = bytes::Bytes::from(writer.into_inner().unwrap());
    let arrays = ParquetStrings::open_any(file, 0).unwrap();
    let rows: Vec<usize> = arrays.map(|array| array.unwrap().len()).collect();
    assert_eq!(rows, [20_000]);
}

#[test]
fn a_dictionary_that_claims_more_values_than_it_has_bytes_for_is_refused() {
    let file = file_of(&[vec!["abc".to_owned(); 3]], WriterProperties::builder());
    // The header of the dictionary page: type 2, 7 bytes, and one value.
    let at = (4..file.len() - 8)
        .find(|&at| file[at..at + 2] == [0x15, 4])
        .unwrap();
    let values = (at..file.len() - 4)
        .find(|&at| file[at..at + 3] == [0x4c, 0x15, 2])
        .unwrap()
        + 2;
    let mut lies = file.clone();
    lies[values] = 0x7e;
    let refused = open(&lies).next().unwrap().unwrap_err().to_string();
    assert!(refused.contains("more values than it has bytes for"), "{refused}");
}
