//! Every fuzz target over fixed seeds: what a fuzzer is given minutes for, each build does for some hundred inputs.

use outcrop_codec::families;

use crate::blocks::{compressed, random, records, words};
use crate::decoders::{damage, decode, round_trip};

/// Codecs as the fuzz targets spell them: every decoder, quick to compress with.
fn codecs() -> impl Iterator<Item = String> {
    families().iter().map(|family| match family.name {
        "brotli" => "brotli:1".to_owned(),
        "lz4hc" => "lz4hc:2".to_owned(),
        name => name.to_owned(),
    })
}

#[test]
fn every_decoder_survives_its_fuzz_target() {
    for codec in codecs() {
        for seed in 0..30 {
            let mut input = random(seed as usize * 37 % 3000, seed);
            decode(&codec, &input);
            // A true block in front, so that the decoder gets further before the noise.
            let mut coder = codec.parse::<outcrop_codec::CodecSpec>().unwrap().open().unwrap();
            let mut grafted = vec![0x88, 0x13];
            grafted.extend(compressed(&mut *coder, &words(5000, seed)));
            let kept = grafted.len() * (seed as usize % 16) / 16;
            grafted.truncate(kept);
            grafted.append(&mut input);
            decode(&codec, &grafted);
        }
    }
}

#[test]
fn every_codec_survives_damage_to_its_own_blocks() {
    for codec in codecs() {
        for seed in 0..20 {
            let length = seed as usize * 97 % 6000;
            for block in [
                words(length, seed),
                records(length, seed),
                vec![seed as u8; length],
            ] {
                let edits = random(block.len(), seed * 2 + 1);
                damage(&codec, &[edits, block].concat());
            }
        }
    }
}

#[test]
fn every_codec_restores_what_its_fuzz_target_gives_it() {
    for codec in codecs() {
        for seed in 0..15 {
            let length = seed as usize * 211 % 9000;
            round_trip(&codec, &random(length, seed));
            round_trip(&codec, &words(length, seed));
        }
    }
}
