//! What a column takes in Parquet: in the encoding that takes least of those that are written for its type.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use outcrop_column::arrow::parquet_zstd_sizes;
use outcrop_column::{Column, EncodeOptions, encode_text};

#[test]
fn parquets_size_is_that_of_the_encoding_that_suits_the_values() {
    let sizes = |array: ArrayRef| parquet_zstd_sizes([Ok(array)], u64::MAX).unwrap();
    let bytes = |array: ArrayRef| sizes(array).smallest_bytes;
    let counting = bytes(Arc::new(Int64Array::from_iter_values(0..200_000)));
    assert!(
        counting < 10_000,
        "delta encoding makes next to nothing of it: {counting} bytes"
    );
    let words = (0..200_000).map(|row| ["granite", "basalt", "tuff"][row % 3]);
    let words = bytes(Arc::new(StringArray::from_iter_values(words)));
    assert!(words < 10_000, "a dictionary does: {words} bytes");
    let mut state = 1_u64;
    let mut noise = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let near_one: Vec<f64> = (0..50_000).map(|_| 1.0 + noise() as f64 / 1e12).collect();
    let unlike: Vec<String> = (0..50_000).map(|_| format!("{:08x}", noise())).collect();
    let ascending: Vec<String> = (0..50_000).map(|row| format!("layer-{row:08}")).collect();
    // Phrases of 50 numbers: whole rows repeat, in no order, within one page.
    let phrases: Vec<Vec<i64>> = (0..64)
        .map(|_| (0..50).map(|_| (noise() << 32 | noise()) as i64).collect())
        .collect();
    let repeating = (0..400).flat_map(|_| phrases[noise() as usize % 64].clone());
    let repeating: Vec<i64> = repeating.collect();
    let counted: Vec<i64> = (0..50_000).collect();
    let cases: [(ArrayRef, Option<&str>); 5] = [
        (
            Arc::new(Float64Array::from(near_one)),
            Some("BYTE_STREAM_SPLIT encoding in pages of 1 MiB without a row limit"),
        ),
        (
            Arc::new(StringArray::from(unlike)),
            Some("DELTA_LENGTH_BYTE_ARRAY encoding in pages of 1 MiB without a row limit"),
        ),
        (
            Arc::new(StringArray::from(ascending)),
            Some("DELTA_BYTE_ARRAY encoding in pages of 1 MiB without a row limit"),
        ),
        (
            Arc::new(Int64Array::from(repeating)),
            Some("PLAIN encoding without a dictionary in pages of 1 MiB without a row limit"),
        ),
        (
            Arc::new(Int64Array::from(counted)),
            Some("DELTA_BINARY_PACKED encoding in pages of 1 MiB without a row limit"),
        ),
    ];
    for (array, encoding) in cases {
        let found = sizes(array);
        assert_eq!(found.smallest_encoding.as_deref(), encoding, "{found:?}");
        assert!(found.smallest_bytes < found.usual_bytes, "{found:?}");
    }
}

#[test]
fn pages_end_with_their_bytes_and_not_after_20_000_rows() {
    // Rows repeat after 25,000, which no page of fewer rows contains twice.
    let mut state = 1_u64;
    let mut noise = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let phrase: Vec<String> = (0..25_000).map(|_| format!("{:08x}", noise())).collect();
    let text: String = (0..4)
        .flat_map(|_| &phrase)
        .map(|value| format!("{value}\n"))
        .collect();
    let mut file = Vec::new();
    let encoder = encode_text(text.as_bytes(), EncodeOptions::default()).unwrap();
    encoder.finish(&mut file).unwrap();
    let column = Column::open_in(file).unwrap();
    let sizes = column.parquet_zstd_sizes().unwrap();
    // Four hexadecimal digits are two bytes at best.
    let once = 25_000 * 4;
    assert!((once..once * 2).contains(&sizes.smallest_bytes), "{sizes:?}");
    assert!(sizes.usual_bytes > 2 * sizes.smallest_bytes, "{sizes:?}");
    let mut parquet = Vec::new();
    column.write_parquet(&mut parquet, "v").unwrap();
    assert!(
        parquet.len() as u64 <= sizes.smallest_bytes + 4096,
        "{}",
        parquet.len()
    );
}
