//! What a codec compresses it restores, at every length and with every kind of context.

use outcrop_codec::{BlockCodec, CodecErrorKind, Coder, ContextUse};
use proptest::prelude::*;

use crate::blocks::{any_block, compressed, random, records, specs, words};

fn assert_restores(coder: &mut Coder, name: &str, block: &[u8]) {
    let packed = compressed(coder, block);
    let mut back = vec![0xA5; block.len()];
    let length = coder
        .decompress(&packed, &mut back)
        .unwrap_or_else(|why| panic!("{name}: {why}"));
    assert_eq!(length, block.len(), "{name}");
    assert!(
        back == block,
        "{name} restores other bytes for a block of {} B",
        block.len()
    );
}

#[test]
fn every_codec_restores_blocks_around_every_boundary() {
    let lengths = [
        0, 1, 2, 3, 4, 5, 7, 8, 11, 16, 31, 32, 63, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8192,
        12_289, 65_536,
    ];
    for context in [ContextUse::Reused, ContextUse::InPages] {
        for spec in specs() {
            let mut coder = Coder::open(&spec, context).unwrap();
            for length in lengths {
                for block in [
                    vec![0; length],
                    random(length, 5),
                    words(length, 6),
                    records(length, 7),
                ] {
                    assert_restores(&mut coder, &format!("{spec} {context:?}"), &block);
                }
            }
        }
    }
}

#[test]
fn every_codec_restores_blocks_of_128_kib() {
    for context in [ContextUse::Reused, ContextUse::InPages] {
        for spec in specs() {
            let mut coder = Coder::open(&spec, context).unwrap();
            assert_restores(
                &mut coder,
                &format!("{spec} {context:?}"),
                &[words(100_000, 1), random(31_072, 2)].concat(),
            );
        }
    }
}

#[test]
fn a_fresh_context_gives_the_same_bytes_as_a_kept_one() {
    for spec in specs() {
        let mut kept = Coder::open(&spec, ContextUse::Reused).unwrap();
        let mut fresh = Coder::open(&spec, ContextUse::Fresh).unwrap();
        for seed in 0..3 {
            let block = words(9000, seed);
            assert!(
                compressed(&mut kept, &block) == compressed(&mut fresh, &block),
                "{spec} remembers"
            );
        }
        assert_restores(&mut fresh, &spec.to_string(), &words(5000, 9));
    }
}

#[test]
fn a_target_that_is_too_small_is_an_error_with_sizes() {
    let block = random(5000, 3);
    for spec in specs() {
        let mut coder = Coder::open(&spec, ContextUse::Reused).unwrap();
        let error = coder.compress(&block, &mut [0; 100]).unwrap_err();
        let fits = matches!(
            error.kind(),
            CodecErrorKind::TargetTooSmall { .. } | CodecErrorKind::Refused { .. }
        );
        assert!(fits, "{spec}: {error}");
        assert_restores(&mut coder, &spec.to_string(), &block);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_codec_restores_any_block(block in any_block(40_000)) {
        for spec in specs() {
            let mut coder = Coder::open(&spec, ContextUse::Reused).unwrap();
            assert_restores(&mut coder, &spec.to_string(), &block);
        }
    }
}
