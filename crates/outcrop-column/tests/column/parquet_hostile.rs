//! Parquet files whose footer and pages say something else than they have.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use outcrop_column::InputColumn;
use outcrop_column::arrow::{ParquetStrings, parquet_fields};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, FileMetaData, ParquetMetaData, ParquetMetaDataWriter,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

/// A file of these values in one row group, without compression.
fn file_of(values: &[&str]) -> Vec<u8> {
    compressed_file_of(values, Compression::UNCOMPRESSED)
}

fn compressed_file_of(values: &[&str], codec: Compression) -> Vec<u8> {
    let array: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let batch = RecordBatch::try_from_iter([("rock", array)]).unwrap();
    let properties = WriterProperties::builder().set_compression(codec).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn metadata_of(file: &[u8]) -> ParquetMetaData {
    let read = SerializedFileReader::new(bytes::Bytes::copy_from_slice(file)).unwrap();
    read.metadata().clone()
}

/// The pages of a file of one row group.
fn pages_of(file: &[u8]) -> Vec<u8> {
    let (start, length) = metadata_of(file).row_group(0).column(0).byte_range();
    file[start as usize..(start + length) as usize].to_vec()
}

/// A file of other pages, of which each of several row groups is said to consist.
fn with_pages(file: &[u8], pages: &[u8], groups: usize, rows: i64) -> Vec<u8> {
    let metadata = metadata_of(file);
    let group = metadata.row_group(0).clone();
    let column = group.column(0).clone().into_builder();
    let column = column
        .set_total_compressed_size(pages.len() as i64)
        .set_num_values(rows);
    let group = group
        .into_builder()
        .set_column_metadata(vec![column.build().unwrap()]);
    let group = group.set_num_rows(rows).build().unwrap();
    let metadata = metadata.into_builder();
    let metadata = metadata.set_row_groups(vec![group; groups]).build();
    let of_file = metadata.file_metadata();
    let of_file = FileMetaData::new(
        of_file.version(),
        rows * groups as i64,
        None,
        None,
        of_file.schema_descr_ptr(),
        None,
    );
    let metadata = ParquetMetaData::new(of_file, metadata.row_groups().to_vec());
    let mut out = [b"PAR1", pages].concat();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

/// The same file with something else said of its column.
fn with_column(
    file: &[u8],
    change: impl FnOnce(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) -> Vec<u8> {
    let metadata = metadata_of(file);
    let group = metadata.row_group(0).clone();
    let column = change(group.column(0).clone().into_builder()).build().unwrap();
    let group = group.into_builder().set_column_metadata(vec![column]);
    let metadata = metadata.into_builder();
    let metadata = metadata.set_row_groups(vec![group.build().unwrap()]).build();
    let mut out = [b"PAR1", &pages_of(file)[..]].concat();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

/// The same file with more fields behind those of its footer.
fn with_fields(file: &[u8], fields: &[u8]) -> Vec<u8> {
    let tail = file.len() - 8;
    let start = tail - u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap()) as usize;
    // The last byte ends the struct.
    let footer = [&file[start..tail - 1], fields, &[0]].concat();
    let length = (footer.len() as u32).to_le_bytes();
    [&file[..start], &footer, &length, b"PAR1"].concat()
}

/// How many rows a file has, or the sentence with which it is refused.
fn read(file: Vec<u8>) -> Result<usize, String> {
    let arrays = ParquetStrings::open(bytes::Bytes::from(file), InputColumn::Only);
    let arrays = arrays.map_err(|error| error.to_string())?;
    arrays
        .map(|array| array.map(|array| array.len()))
        .sum::<Result<usize, _>>()
        .map_err(|error| error.to_string())
}

#[test]
fn a_field_of_a_later_version_of_the_footer_is_passed_over_unless_it_has_flags_in_a_list() {
    let file = file_of(&["tuff", "marl", "tuff"]);
    // Of number 20: a list of numbers, a double, a struct with a flag, a map of numbers to text.
    for field in [
        &[0x09, 40, 0x25, 2, 4][..],
        &[0x07, 40, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x0c, 40, 0x11, 0],
        &[0x0b, 40, 1, 0x58, 2, 1, b'a'],
    ] {
        assert_eq!(read(with_fields(&file, field)), Ok(3), "{field:?}");
    }
    // In lists and maps a flag has a byte by the specification, and none where the library passes over it: what follows would be read as
    // another footer, which nobody has looked at.
    for field in [&[0x09, 40, 0x21, 1, 1][..], &[0x0b, 40, 1, 0x11, 1, 1]] {
        let refused = read(with_fields(&file, field)).unwrap_err();
        assert!(refused.contains("holds flags in a list, set or map"), "{refused}");
    }
    for nest in [[0x1c].repeat(40_000), [0x19, 0x19].repeat(40_000)] {
        let refused = read(with_fields(&file, &[&[0x0c, 40][..], &nest].concat())).unwrap_err();
        assert!(refused.contains("nested more than 16 deep"), "{refused}");
    }
}

#[test]
fn a_column_in_another_file_is_listed_and_not_read_from_this_one() {
    let file = file_of(&["tuff", "marl", "tuff"]);
    let read_at = |place: &str| {
        let file = with_column(&file, |column| column.set_file_path(place.to_owned()));
        assert_eq!(
            parquet_fields(&bytes::Bytes::from(file.clone())).unwrap().len(),
            1
        );
        read(file)
    };
    assert_eq!(read_at(""), Ok(3));
    let refused = read_at("part-0.parquet").unwrap_err();
    assert!(
        refused.contains("in another file: part-0.parquet; give that file"),
        "{refused}"
    );
}

#[test]
fn a_page_that_is_not_compressed_has_the_size_that_it_has_whatever_its_header_says() {
    // Each value begins with all of the one before: 3,000 values of up to 30 kB in a page.
    let values: Vec<String> = (0..3_000).map(|row| "x".repeat(row * 10)).collect();
    let array: ArrayRef = Arc::new(StringArray::from(values));
    let batch = RecordBatch::try_from_iter([("rock", array)]).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_row_count_limit(5_000)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let file = writer.into_inner().unwrap();
    let mut pages = pages_of(&file);
    // Type 0, and the size before compression, which becomes 0 in as many bytes.
    assert_eq!(pages[..2], [0x15, 0]);
    let end = (3..).find(|&at| pages[at] < 0x80).unwrap();
    pages[3..end].fill(0x80);
    pages[end] = 0;
    let lies = with_pages(&file, &pages, 1, 3_000);
    let arrays = ParquetStrings::open(bytes::Bytes::from(lies), InputColumn::Only).unwrap();
    let most = arrays.map(|array| array.unwrap().len()).max().unwrap();
    assert!(most < 1_500, "{most} rows in a batch");
}

#[test]
fn one_long_name_above_many_columns_is_refused_before_each_column_has_a_copy() {
    let types = |name: usize, leaves: usize| {
        let number = |mut number: usize| {
            let mut bytes = Vec::new();
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
            bytes
        };
        let text = |bytes: usize| [number(bytes), vec![b'a'; bytes]].concat();
        let group = |name: usize, children: usize| {
            [
                &[0x35, 2, 0x18][..],
                &text(name),
                &[0x15],
                &number(children * 2),
                &[0],
            ]
            .concat()
        };
        let leaf = [0x15, 12, 0x25, 2, 0x18, 1, b'a', 0];
        let footer = [
            &[0x15, 2, 0x19, 0xfc][..],
            &number(leaves + 2),
            &group(1, 1),
            &group(name, leaves),
            &leaf.repeat(leaves),
            &[0x16, 0, 0x19, 0x0c, 0],
        ]
        .concat();
        let length = (footer.len() as u32).to_le_bytes();
        parquet_fields(&bytes::Bytes::from(
            [&b"PAR1"[..], &footer, &length, b"PAR1"].concat(),
        ))
    };
    assert_eq!(types(100, 1000).unwrap().len(), 1);
    let refused = types(100_000, 1000).unwrap_err().to_string();
    assert!(
        refused.contains("the paths of its columns take more than"),
        "{refused}"
    );
}

#[test]
fn a_dictionary_behind_pages_that_have_codes_of_another_one_is_refused() {
    let file = file_of(&["tuff", "marl", "tuff"]);
    let pages = pages_of(&file);
    assert_eq!(read(with_pages(&file, &pages, 1, 3)), Ok(3));
    let refused = read(with_pages(&file, &pages.repeat(2), 1, 6)).unwrap_err();
    assert!(
        refused.contains("a dictionary is not in front of its column"),
        "{refused}"
    );
}

#[test]
fn row_groups_that_share_their_pages_are_refused_before_they_are_read_again_and_again() {
    let long = "x".repeat(1 << 16);
    let file = file_of(&[&long]);
    let pages = pages_of(&file);
    assert_eq!(read(with_pages(&file, &pages, 1, 1)), Ok(1));
    let refused = read(with_pages(&file, &pages, 2, 1)).unwrap_err();
    assert!(
        refused.contains("its columns take more bytes than the file has"),
        "{refused}"
    );
}

#[test]
fn rows_that_a_footer_promises_and_pages_do_not_have_are_missed() {
    let file = file_of(&["tuff", "marl", "tuff"]);
    let refused = read(with_pages(&file, &pages_of(&file), 1, 9)).unwrap_err();
    assert!(refused.contains("6 rows fewer than its footer says"), "{refused}");
    // Rows of the file, in front of its list of one row group.
    let mut lies = file.clone();
    let places: Vec<usize> = (0..file.len() - 4)
        .filter(|&at| file[at..at + 4] == [0x16, 6, 0x19, 0x1c])
        .collect();
    assert_eq!(places.len(), 1);
    lies[places[0] + 1] = 2;
    let refused = read(lies).unwrap_err();
    assert!(
        refused.contains("its footer promises 1 rows, and its row groups 3"),
        "{refused}"
    );
}

#[test]
fn a_column_that_begins_or_ends_below_zero_is_refused() {
    let file = file_of(&["tuff", "marl", "tuff"]);
    assert_eq!(read(with_column(&file, |same| same)), Ok(3));
    for change in [
        |it: ColumnChunkMetaDataBuilder| it.set_total_compressed_size(-5),
        |it: ColumnChunkMetaDataBuilder| it.set_data_page_offset(-5),
        |it: ColumnChunkMetaDataBuilder| it.set_dictionary_page_offset(Some(-5)),
    ] {
        let refused = read(with_column(&file, change)).unwrap_err();
        assert!(refused.contains("below zero"), "{refused}");
    }
}

#[test]
fn a_column_that_begins_beyond_the_end_of_the_file_is_refused_before_the_system_is_asked_for_it() {
    let file = file_of(&["tuff", "marl", "tuff"]);
    for offset in [file.len() as i64 + 1000, i64::MAX] {
        let far =
            |it: ColumnChunkMetaDataBuilder| it.set_dictionary_page_offset(None).set_data_page_offset(offset);
        let refused = read(with_column(&file, far)).unwrap_err();
        assert!(refused.contains("begins beyond the end of the file"), "{refused}");
    }
}

#[test]
fn damage_inside_a_page_is_called_damage_whichever_codec_notices_it() {
    let values: Vec<String> = (0..5000).map(|row| format!("granite {}", row * 7919)).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    for codec in [
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::SNAPPY,
        Compression::LZ4_RAW,
    ] {
        let file = compressed_file_of(&values, codec);
        assert_eq!(read(file.clone()), Ok(values.len()), "{codec}");
        let (start, length) = metadata_of(&file).row_group(0).column(0).byte_range();
        // Snappy and LZ4 have no checksums: some damage decompresses to other values.
        let damage = |part: u64| {
            let mut file = file.clone();
            let place = (start + length * part / 10) as usize;
            file[place..place + 200].fill(0xff);
            read(file).err()
        };
        let refused: Vec<String> = (1..9).filter_map(damage).collect();
        assert!(!refused.is_empty(), "{codec}");
        for said in refused {
            assert!(
                said.contains("the file is damaged") && said.ends_with("; write the file again"),
                "{codec}: {said}"
            );
            assert!(
                !said.contains("External") && !said.contains("argument error"),
                "{said}"
            );
        }
    }
}

#[test]
fn a_column_in_a_codec_that_is_not_read_is_refused_by_the_name_of_the_codec() {
    let file = file_of(&["slate", "chalk", "slate"]);
    let refused = read(with_column(&file, |column| {
        column.set_compression(Compression::LZO)
    }))
    .unwrap_err();
    assert!(
        refused.contains("compressed with LZO") && refused.contains("another codec, such as Zstandard"),
        "{refused}"
    );
}
