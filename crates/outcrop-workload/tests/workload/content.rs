//! Content, measured: its order-0 entropy, and its ratio under real compressors.

use std::collections::HashSet;

use outcrop_measure::Seed;
use outcrop_workload::Content;
use proptest::prelude::*;

const MIB: usize = 1 << 20;

fn bytes(content: &str, length: usize) -> Vec<u8> {
    let mut buffer = vec![0xAA; length];
    content
        .parse::<Content>()
        .unwrap()
        .filler(Seed(77))
        .fill(&mut buffer);
    buffer
}

/// Bits per byte by the frequencies of single bytes.
fn order0_entropy_bits(bytes: &[u8]) -> f64 {
    let mut counts = [0_u64; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let share = |&count: &u64| count as f64 / bytes.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(share)
        .map(|p| -p * p.log2())
        .sum()
}

/// Uncompressed ÷ compressed, chunk by chunk; a chunk that would grow is stored as it is.
fn ratio(bytes: &[u8], chunk_size_bytes: usize, compress: impl Fn(&[u8]) -> usize) -> f64 {
    let compressed: usize = bytes
        .chunks(chunk_size_bytes)
        .map(|chunk| compress(chunk).min(chunk.len()))
        .sum();
    bytes.len() as f64 / compressed as f64
}

fn zstd_ratio(bytes: &[u8], chunk_size_bytes: usize) -> f64 {
    ratio(bytes, chunk_size_bytes, |chunk| {
        zstd::bulk::compress(chunk, 1).unwrap().len()
    })
}

fn lz4_ratio(bytes: &[u8], chunk_size_bytes: usize) -> f64 {
    ratio(bytes, chunk_size_bytes, |chunk| {
        lz4_flex::block::compress(chunk).len()
    })
}

#[test]
fn entropy_content_has_the_order_0_entropy_asked_for() {
    for tenths in 0..=80 {
        let bits = f64::from(tenths) / 10.0;
        let seen = order0_entropy_bits(&bytes(&format!("entropy:{bits}"), MIB));
        assert!((seen - bits).abs() < 0.01, "asked for {bits}, got {seen}");
    }
}

#[test]
fn entropy_content_has_no_structure_beyond_its_frequencies() {
    // Pairs of independent bytes carry twice the entropy of one.
    let content = bytes("entropy:2", 4 * MIB);
    let mut counts = std::collections::BTreeMap::<[u8; 2], u64>::new();
    for pair in content.as_chunks::<2>().0 {
        *counts.entry(*pair).or_default() += 1;
    }
    let pairs = (content.len() / 2) as f64;
    let pair_entropy: f64 = counts
        .values()
        .map(|&count| count as f64 / pairs)
        .map(|p| -p * p.log2())
        .sum();
    assert!((pair_entropy - 4.0).abs() < 0.02, "{pair_entropy}");
}

#[test]
fn compressible_content_shrinks_by_the_ratio_asked_for_under_zstd_and_lz4() {
    for (wanted, tolerance) in [
        (1.0, 0.01),
        (1.1, 0.05),
        (1.5, 0.05),
        (2.0, 0.05),
        (3.0, 0.05),
        (4.0, 0.05),
        (8.0, 0.05),
        (16.0, 0.05),
        (32.0, 0.2),
        (64.0, 0.25),
    ] {
        let content = bytes(&format!("compressible:{wanted}"), MIB);
        for chunk_size_bytes in [4096, 16 << 10, 64 << 10, 128 << 10, MIB] {
            for (codec, seen) in [
                ("zstd -1", zstd_ratio(&content, chunk_size_bytes)),
                ("lz4", lz4_ratio(&content, chunk_size_bytes)),
            ] {
                let error = (seen / wanted - 1.0).abs();
                assert!(
                    error <= tolerance,
                    "{codec} in chunks of {chunk_size_bytes}: {seen}, not {wanted}"
                );
            }
        }
    }
}

#[test]
fn entropy_and_compressibility_are_two_different_things() {
    let low_entropy = bytes("entropy:4", MIB);
    assert!(
        lz4_ratio(&low_entropy, 64 << 10) < 1.15,
        "LZ finds next to nothing in independent bytes"
    );
    assert!(
        zstd_ratio(&low_entropy, 64 << 10) > 1.9,
        "an entropy coder halves them"
    );
    let repeating = bytes("compressible:2", MIB);
    assert!(lz4_ratio(&repeating, 64 << 10) > 1.9, "LZ halves what repeats");
    assert!(
        order0_entropy_bits(&repeating) > 7.99,
        "and its byte frequencies are even"
    );
}

#[test]
fn random_and_compressible_content_do_not_repeat_from_block_to_block() {
    for content in ["random", "compressible:2", "compressible:16", "compressible:64"] {
        let content = bytes(content, 16 * MIB);
        let blocks: HashSet<&[u8]> = content.chunks(4096).collect();
        assert_eq!(blocks.len(), content.len() / 4096);
        let starts: HashSet<&[u8]> = content.chunks(4096).map(|block| &block[..16]).collect();
        assert_eq!(starts.len(), content.len() / 4096);
    }
}

#[test]
fn random_content_is_incompressible_and_even() {
    let content = bytes("random", 4 * MIB);
    assert!(order0_entropy_bits(&content) > 7.9999);
    assert!(zstd_ratio(&content, MIB) <= 1.0);
}

#[test]
fn zeros_are_zeros() {
    assert!(bytes("zeros", 5000).iter().all(|&byte| byte == 0));
}

proptest! {
    #[test]
    fn every_byte_of_the_buffer_is_overwritten(length in 0..20_000_usize, seed in any::<u64>()) {
        // With two prefills, a byte that is left alone differs between the two results.
        for content in ["zeros", "random", "entropy:3", "compressible:3"] {
            let content: Content = content.parse().unwrap();
            let fill = |prefill: u8| {
                let mut buffer = vec![prefill; length];
                content.filler(Seed(seed)).fill(&mut buffer);
                buffer
            };
            prop_assert_eq!(fill(0x00), fill(0xFF));
        }
    }

    #[test]
    fn compressible_content_is_the_same_however_the_stream_is_cut(
        cuts in prop::collection::vec(0..9000_usize, 1..8),
        ratio in 1.0..=Content::MAX_RATIO,
    ) {
        let content = Content::Compressible { ratio };
        let mut whole = vec![0; cuts.iter().sum()];
        content.filler(Seed(4)).fill(&mut whole);
        let mut filler = content.filler(Seed(4));
        let mut joined = Vec::new();
        for length in cuts {
            let mut part = vec![0; length];
            filler.fill(&mut part);
            joined.extend(part);
        }
        prop_assert_eq!(whole, joined);
    }
}
