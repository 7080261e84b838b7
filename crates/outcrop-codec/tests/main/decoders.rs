//! What each fuzz target does with its input; the tests run the same over fixed seeds.
#![allow(dead_code, reason = "each fuzz target uses a part of it")]

use outcrop_codec::{BlockCodec, CodecSpec, Coder, ContextUse};

/// Largest block that an input may ask for.
const LARGEST_BLOCK: usize = 64 << 10;

/// Decompresses `input` with `codec`: two bytes say how long the block should be, the rest is the compressed block. Any
/// answer will do but a panic, a hang, another length than asked for, or a codec that is of no use afterwards.
pub(crate) fn decode(codec: &str, input: &[u8]) {
    let Some((&[low, high], compressed)) = input.split_first_chunk() else {
        return;
    };
    let mut coder = open(codec);
    let mut block = vec![0; usize::from(u16::from_le_bytes([low, high])) % LARGEST_BLOCK];
    if let Ok(length) = coder.decompress(compressed, &mut block) {
        assert_eq!(
            length,
            block.len(),
            "{codec} fills another length than the block's"
        );
    }
    assert_restores(
        &mut coder,
        codec,
        b"what came before must not show in what follows",
    );
}

/// Compresses and decompresses `input` as a block.
pub(crate) fn round_trip(codec: &str, input: &[u8]) {
    assert_restores(&mut open(codec), codec, input);
}

/// Damages what `codec` makes of a block: the first half of `input` says where and how, the second half is the block.
pub(crate) fn damage(codec: &str, input: &[u8]) {
    let (edits, block) = input.split_at(input.len() / 2);
    let mut coder = open(codec);
    let mut packed = vec![0; coder.compressed_bound(block.len())];
    let length = coder.compress(block, &mut packed).expect("a block is compressed");
    packed.truncate(length);
    for edit in edits.chunks_exact(4).take(8) {
        let place = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % (packed.len() + 1);
        match edit[2] % 4 {
            0 => packed.truncate(place),
            1 => packed.insert(place, edit[3]),
            2 => packed.extend_from_within(place..),
            _ => packed
                .iter_mut()
                .skip(place)
                .take(1)
                .for_each(|byte| *byte ^= edit[3]),
        }
    }
    let mut back = vec![0; block.len()];
    if let Ok(length) = coder.decompress(&packed, &mut back) {
        assert_eq!(
            length,
            block.len(),
            "{codec} fills another length than the block's"
        );
    }
    assert_restores(&mut coder, codec, block);
}

fn open(codec: &str) -> Coder {
    let spec: CodecSpec = codec.parse().expect("a codec of this build");
    Coder::open(&spec, ContextUse::Reused).expect("memory for a context")
}

fn assert_restores(coder: &mut Coder, codec: &str, block: &[u8]) {
    let mut packed = vec![0; coder.compressed_bound(block.len())];
    let length = coder.compress(block, &mut packed).expect("a block is compressed");
    let mut back = vec![0; block.len()];
    coder
        .decompress(&packed[..length], &mut back)
        .expect("what a codec wrote it reads");
    assert!(back == block, "{codec} restores other bytes");
}
