//! Blocks to compress: seeded, of every kind that codecs treat differently.

use outcrop_codec::{BlockCodec, CodecSpec, families};
use proptest::prelude::*;

/// Bytes that no codec compresses (xorshift).
pub(crate) fn random(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let step = |state: &mut u64| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 32) as u8
    };
    (0..length).map(|_| step(&mut state)).collect()
}

/// Words in random order: matches, literals of uneven frequency, offsets of all sizes.
pub(crate) fn words(length: usize, seed: u64) -> Vec<u8> {
    const WORDS: [&str; 12] = [
        "storage ",
        "block ",
        "the ",
        "of ",
        "page ",
        "latency ",
        "a ",
        "compress ",
        "x9Q ",
        "ratio ",
        "\n\n",
        "0x00ff, ",
    ];
    let choices = random(length, seed);
    let mut text: Vec<u8> = choices
        .iter()
        .flat_map(|&byte| WORDS[usize::from(byte) % 12].bytes())
        .collect();
    text.truncate(length);
    text
}

/// Four-byte records of which one byte varies: short matches at a fixed distance, as in tables of numbers.
pub(crate) fn records(length: usize, seed: u64) -> Vec<u8> {
    let choices = random(length, seed);
    (0..length)
        .map(|index| {
            if index % 4 == 0 {
                choices[index] & 0x3F
            } else {
                (index % 4) as u8
            }
        })
        .collect()
}

/// Blocks of any length up to `longest`, of every kind and mixed.
pub(crate) fn any_block(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = (0..5, 0..=longest, any::<u64>()).prop_map(|(kind, length, seed)| match kind {
        0 => random(length, seed),
        1 => words(length, seed),
        2 => records(length, seed),
        3 => vec![seed as u8; length],
        _ => random(length, seed).into_iter().map(|byte| byte & 0x0F).collect(),
    });
    prop::collection::vec(piece, 1..4).prop_map(move |pieces| {
        let mut block = pieces.concat();
        block.truncate(longest);
        block
    })
}

/// Every codec at its default, and where speed allows at both ends of its levels.
pub(crate) fn specs() -> Vec<CodecSpec> {
    let more = [
        "zstd:-5",
        "zstd:1",
        "zstd:19",
        "lz4:9",
        "lz4hc:2",
        "lz4hc:12",
        "deflate-libdeflate:0",
        "deflate-libdeflate:12",
        "deflate-zlib:0",
        "deflate-zlib:1",
        "deflate-zlib:9",
        "deflate-zlib-rs:0",
        "deflate-zlib-rs:1",
        "deflate-zlib-rs:9",
        "zlib:0",
        "zlib:9",
        "brotli:0",
        "brotli:9",
        "dpzip:256x1",
        "dpzip:512x4+longest+lazy",
        "dpzip:1024x7+lazy",
        "dpzip:4096x16+longest",
        "zstd@system:-5",
        "zstd@system:19",
        "lz4@system:9",
        "deflate-zlib@system:0",
        "deflate-zlib@system:9",
    ];
    let defaults = families().iter().map(|family| family.with_setting(None).unwrap());
    defaults
        .chain(more.iter().map(|text| text.parse().unwrap()))
        .collect()
}

/// Compresses `block` with room to spare as `compressed_bound` has it.
pub(crate) fn compressed(codec: &mut dyn BlockCodec, block: &[u8]) -> Vec<u8> {
    let mut target = vec![0; codec.compressed_bound(block.len())];
    let length = codec.compress(block, &mut target).unwrap();
    target.truncate(length);
    target
}
