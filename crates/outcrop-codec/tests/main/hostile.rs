//! Damaged, cut, lying and random bytes: every decoder answers with an error or with the block's length, and
//! goes on working.

use outcrop_codec::{BlockCodec, CodecSpec, Coder, ContextUse};

use crate::blocks::{compressed, random, specs, words};

/// A codec, a block, and its compressed form; zstd also page by page.
fn subjects(length: usize) -> impl Iterator<Item = (CodecSpec, Coder, Vec<u8>, Vec<u8>)> {
    let streaming = "zstd:3".parse().unwrap();
    let all = specs().into_iter().map(|spec| (spec, ContextUse::Reused));
    let all = all.chain([(streaming, ContextUse::InPages)]);
    all.map(move |(spec, context)| {
        let mut coder = Coder::open(&spec, context).unwrap();
        let block = words(length, 11);
        let packed = compressed(&mut coder, &block);
        (spec, coder, block, packed)
    })
}

fn assert_still_works(coder: &mut Coder, spec: &CodecSpec, packed: &[u8], block: &[u8]) {
    let mut back = vec![0; block.len()];
    coder.decompress(packed, &mut back).unwrap();
    assert!(back == block, "{spec} is damaged by damaged input");
}

#[test]
fn a_block_cut_anywhere_is_an_error() {
    for (spec, mut coder, block, packed) in subjects(5000) {
        let mut back = vec![0; block.len()];
        for length in 0..packed.len() {
            let cut = coder.decompress(&packed[..length], &mut back);
            assert!(cut.is_err(), "{spec} takes {length} of {} B", packed.len());
        }
        assert_still_works(&mut coder, &spec, &packed, &block);
    }
}

#[test]
fn flipped_bits_never_panic_and_never_overrun() {
    for (spec, mut coder, block, packed) in subjects(5000) {
        let mut back = vec![0; block.len()];
        for bit in 0..8 * packed.len() {
            let mut damaged = packed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(length) = coder.decompress(&damaged, &mut back) {
                assert_eq!(length, block.len(), "{spec}");
            }
        }
        assert_still_works(&mut coder, &spec, &packed, &block);
    }
}

#[test]
fn a_checksum_notices_every_flipped_bit_that_changes_the_block() {
    let mut coder = Coder::open(&"zlib:1".parse().unwrap(), ContextUse::Reused).unwrap();
    let block = words(5000, 11);
    let packed = compressed(&mut coder, &block);
    let mut back = vec![0; block.len()];
    for bit in 0..8 * packed.len() {
        let mut damaged = packed.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // Up to seven bits between the stream and the checksum mean nothing.
        let is_noticed = coder.decompress(&damaged, &mut back).is_err();
        assert!(is_noticed || back == block, "bit {bit}");
    }
}

#[test]
fn random_bytes_never_panic_and_never_overrun() {
    for (spec, mut coder, block, packed) in subjects(5000) {
        for seed in 0..400 {
            let garbage = random(seed as usize * 7 % 900, seed * 2 + 1);
            let mut back = vec![0; block.len()];
            if let Ok(length) = coder.decompress(&garbage, &mut back) {
                assert_eq!(length, back.len(), "{spec}");
            }
            // As above, behind a true beginning.
            let mut grafted = packed[..packed.len() / 4].to_vec();
            grafted.extend_from_slice(&garbage);
            if let Ok(length) = coder.decompress(&grafted, &mut back) {
                assert_eq!(length, back.len(), "{spec}");
            }
        }
        assert_still_works(&mut coder, &spec, &packed, &block);
    }
}

#[test]
fn another_length_than_the_block_s_is_an_error() {
    for (spec, mut coder, block, packed) in subjects(5000) {
        for length in [0, 1, 4999, 5001, 9000, 100_000] {
            let answer = coder.decompress(&packed, &mut vec![0; length]);
            assert!(answer.is_err(), "{spec} fills {length} B from a block of 5000 B");
        }
        assert_still_works(&mut coder, &spec, &packed, &block);
    }
}

#[test]
fn claims_of_more_than_the_block_are_errors() {
    let claims: [(&str, &[u8]); 12] = [
        // A Snappy length of 4 GiB less one; and one that does not end.
        ("snappy", &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0]),
        ("snappy", &[0xFF; 12]),
        // A Zstandard frame that says 2^60 bytes, and one whose window is as large as can be written.
        (
            "zstd",
            &[0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x10, 1, 0, 0],
        ),
        ("zstd", &[0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xFF, 0x03, 0, 0x10, 0]),
        ("snappy@system", &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0]),
        ("snappy@system", &[0xFF; 12]),
        (
            "zstd@system",
            &[0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x10, 1, 0, 0],
        ),
        (
            "zstd@system",
            &[0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xFF, 0x03, 0, 0x10, 0],
        ),
        ("lz4@system", &[0xF0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        // Brotli's large window of 2^62.
        ("brotli", &[0x11, 0x3E, 0xFF, 0xFF, 0xFF, 0xFF]),
        // An LZ4 literal run of many kilobytes in a few bytes.
        ("lz4", &[0xF0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        // A run block of 128 KiB in a page of 4 KiB.
        ("dpzip", &[0x00, 0x10, 0x03, 0x00, 0x10, 0xAA]),
    ];
    for (name, bytes) in claims {
        let spec: CodecSpec = name.parse().unwrap();
        let mut coder = Coder::open(&spec, ContextUse::Reused).unwrap();
        assert!(
            coder.decompress(bytes, &mut [0; 4096]).is_err(),
            "{name} believes {bytes:02X?}"
        );
    }
}

#[test]
fn a_page_table_that_lies_is_an_error_that_names_the_page() {
    let mut coder = Coder::open(&"dpzip".parse().unwrap(), ContextUse::Reused).unwrap();
    let block = words(3 * 4096, 4);
    let packed = compressed(&mut coder, &block);
    for (index, claim) in [(0, 0xFFFF), (1, 0), (1, 5000), (2, 7)] {
        let mut lying = packed.clone();
        lying[2 * index..2 * index + 2].copy_from_slice(&u16::to_le_bytes(claim));
        let error = coder
            .decompress(&lying, &mut vec![0; block.len()])
            .unwrap_err()
            .to_string();
        assert!(error.contains("page"), "{error}");
    }
}
