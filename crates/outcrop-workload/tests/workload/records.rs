//! Values of records: their shape, how they compress, and that nothing else passes for one.

use outcrop_measure::Seed;
use outcrop_workload::keyed::{Mismatch, RecordValues, ValueSize};
use outcrop_workload::{Content, WorkloadError};
use proptest::prelude::*;

fn sizes(text: &str) -> ValueSize {
    text.parse().unwrap()
}

fn contents() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("zeros"),
        Just("random"),
        Just("entropy:4"),
        Just("compressible:2"),
        Just("compressible:20"),
        Just("cut")
    ]
}

fn value_sizes() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("fixed:1000"),
        Just("fixed:24"),
        Just("fixed:23"),
        Just("fixed:12"),
        Just("fixed:11"),
        Just("fixed:1"),
        Just("fixed:0"),
        Just("mixgraph")
    ]
}

fn values(content: &str, size: &str) -> RecordValues {
    if content == "cut" {
        let text: Vec<u8> = (0..20_000_u32)
            .flat_map(|n| (n.wrapping_mul(0x9e37_79b9) >> 8).to_le_bytes())
            .collect();
        return RecordValues::cut_from(text.into(), sizes(size), Seed(1)).unwrap();
    }
    RecordValues::of_content(content.parse().unwrap(), sizes(size), Seed(1))
}

fn value(values: &RecordValues, key_id: u64, version: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.write(key_id, version, &mut bytes);
    assert_eq!(bytes.len(), values.size_bytes(key_id, version));
    assert!(bytes.len() <= values.longest_bytes());
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_value_tells_its_version_and_no_changed_byte_passes(
        content in contents(), size in value_sizes(), key in any::<u64>(), version in any::<u64>(),
        flip in any::<prop::sample::Index>(), bit in 0..8_u32,
    ) {
        let values = values(content, size);
        let mut bytes = value(&values, key, version);
        let known = (bytes.len() >= 12).then_some(version);
        prop_assert_eq!(values.verify(key, &bytes), Ok(known));
        let whole = (bytes.len() >= 24).then_some((key, version));
        prop_assert_eq!(values.verify_any(&bytes), Ok(whole));
        if !bytes.is_empty() {
            let at = flip.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let header = if bytes.len() >= 24 { 24 } else { bytes.len().min(16) };
            match values.verify(key, &bytes) {
                Err(Mismatch::Damaged { at: seen }) => prop_assert!(seen == at || at < header, "{seen} {at}"),
                other => prop_assert!(false, "{other:?} at {at}"),
            }
        }
    }

    #[test]
    fn no_bytes_make_verifying_panic(
        content in contents(), size in value_sizes(), key in any::<u64>(), bytes in prop::collection::vec(any::<u8>(), 0..3000),
    ) {
        let values = values(content, size);
        let _ = values.verify(key, &bytes);
        let _ = values.verify_any(&bytes);
    }

    #[test]
    fn the_value_of_another_key_and_a_truncated_one_are_told(
        content in contents(), key in any::<u64>(), other in any::<u64>(), version in any::<u64>(), cut in 0..1000_usize,
    ) {
        prop_assume!(key != other);
        let values = values(content, "fixed:1000");
        let bytes = value(&values, other, version);
        let told = values.verify(key, &bytes);
        prop_assert_eq!(told, Err(Mismatch::OtherKey { seen: other, expected: key }));
        let told = values.verify(other, &bytes[..cut]);
        prop_assert_eq!(told, Err(Mismatch::Length { seen: cut, expected: 1000 }));
        let longer = [bytes, vec![0; 300_000]].concat();
        let told = values.verify(other, &longer);
        prop_assert_eq!(told, Err(Mismatch::Length { seen: 301_000, expected: 1000 }));
    }
}

#[test]
fn a_record_is_ten_fields_of_100_bytes_behind_its_version() {
    let values = RecordValues::of_content(Content::Random, sizes("fixed:1000"), Seed(1));
    let bytes = value(&values, 77, 5);
    assert_eq!(bytes.len(), 1000);
    assert_eq!(bytes[..8], 5_u64.to_le_bytes());
    assert_eq!(bytes[16..24], 77_u64.to_le_bytes());
    assert_ne!(bytes, value(&values, 77, 6));
    assert_ne!(bytes[24..], value(&values, 78, 5)[24..]);
    let other_seed = RecordValues::of_content(Content::Random, sizes("fixed:1000"), Seed(2));
    assert!(other_seed.verify(77, &bytes).is_err());
}

/// Uncompressed ÷ compressed size of values as a store packs them: one after another into blocks.
fn ratio(content: &str, block_bytes: usize, compress: impl Fn(&[u8]) -> usize) -> f64 {
    let values = values(content, "fixed:1000");
    let mut all = Vec::new();
    for key in 0..1000 {
        // Keys and versions as a run has them.
        values.write(key * 7919, (3 << 40) | (key * 31), &mut all);
    }
    let whole_values_bytes = block_bytes.div_ceil(1000) * 1000;
    let compressed: usize = all.chunks(whole_values_bytes).map(&compress).sum();
    all.len() as f64 / compressed as f64
}

#[test]
fn values_compress_by_the_wanted_ratio_in_blocks_of_any_size() {
    for wanted in [1.5, 2.0, 3.0, 4.0] {
        let content = format!("compressible:{wanted}");
        for block_bytes in [4096, 16 << 10, 64 << 10, 256 << 10] {
            for (codec, found) in [
                (
                    "zstd",
                    ratio(&content, block_bytes, |block| {
                        zstd::bulk::compress(block, 1).unwrap().len()
                    }),
                ),
                (
                    "lz4",
                    ratio(&content, block_bytes, |block| lz4_flex::compress(block).len()),
                ),
            ] {
                let off = found / wanted - 1.0;
                assert!(
                    off.abs() < 0.1,
                    "{codec}, {content}, blocks of {block_bytes}: {found}"
                );
            }
        }
    }
    for codec_ratio in [
        ratio("random", 64 << 10, |block| {
            zstd::bulk::compress(block, 1).unwrap().len()
        }),
        ratio("random", 64 << 10, |block| lz4_flex::compress(block).len()),
    ] {
        assert!((0.98..1.03).contains(&codec_ratio), "{codec_ratio}");
    }
    let halved = ratio("entropy:4", 16 << 10, |block| {
        zstd::bulk::compress(block, 1).unwrap().len()
    });
    assert!((1.7..2.05).contains(&halved), "{halved}");
}

#[test]
fn values_are_cut_from_the_given_bytes() {
    let text = std::fs::read(file!().replace("crates/outcrop-workload/", "")).unwrap();
    let values = RecordValues::cut_from(text.clone().into(), sizes("fixed:500"), Seed(4)).unwrap();
    let mut places = std::collections::BTreeSet::new();
    for key in 0..50 {
        let bytes = value(&values, key, 1);
        let place = text.windows(476).position(|window| *window == bytes[24..]);
        places.insert(place.unwrap());
    }
    assert!(places.len() > 40);
    let refused = RecordValues::cut_from(bytes::Bytes::new(), sizes("fixed:500"), Seed(4));
    assert!(matches!(refused, Err(WorkloadError::OutOfRange { .. })));
}
