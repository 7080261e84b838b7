//! Blocks: cut from pieces, chosen by entropy, named in messages.

use std::sync::atomic::AtomicBool;

use outcrop_compress::{Blocks, Sample, Source, bits_per_byte};
use outcrop_measure::seed::Seed;
use proptest::prelude::*;

proptest! {
    #[test]
    fn blocks_are_the_sample_in_order_and_only_the_last_of_a_piece_is_short(
        content in prop::collection::vec(any::<u8>(), 1..5000),
        block_bytes in 1_usize..600,
    ) {
        let sample = Sample::generated(content.clone(), "made");
        let blocks = Blocks::cut(&sample, block_bytes);
        let joined: Vec<u8> = blocks.as_slice().iter().flat_map(|block| block.bytes).copied().collect();
        prop_assert_eq!(&joined, &content);
        let (_, others) = blocks.as_slice().split_last().unwrap();
        prop_assert!(others.iter().all(|block| block.bytes.len() == block_bytes));
        let last = blocks.as_slice().len() - 1;
        prop_assert_eq!(blocks.origin(last), format!("made at {}", last * block_bytes));
    }

    #[test]
    fn entropy_lies_between_nothing_and_eight_bits(content in prop::collection::vec(any::<u8>(), 1..3000)) {
        let bits = bits_per_byte(&content);
        prop_assert!((-1e-12..=8.0 + 1e-12).contains(&bits), "{bits}");
    }
}

#[test]
fn entropy_is_that_of_the_frequencies() {
    let two: Vec<u8> = [0, 255].repeat(100);
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(
        [bits_per_byte(&[9; 50]), bits_per_byte(&two), bits_per_byte(&all)],
        [0.0, 1.0, 8.0]
    );
}

#[test]
fn natural_blocks_are_chosen_by_their_entropy() {
    let stop = AtomicBool::new(false);
    let sample = Source::embedded()
        .unwrap()
        .draw(16 << 20, 4096, Seed(1), &stop)
        .unwrap();
    let blocks = Blocks::cut(&sample, 4096);
    let text = blocks.nearest_in_entropy(4.5);
    let dense = blocks.nearest_in_entropy(7.0);
    assert_eq!(text.as_slice().len(), blocks.as_slice().len() / 16);
    assert!(
        (text.mean_entropy() - 4.5).abs() < 0.05,
        "{}",
        text.mean_entropy()
    );
    assert!(
        (dense.mean_entropy() - 7.0).abs() < 0.3,
        "{}",
        dense.mean_entropy()
    );
    // A choice of one block at least, also where there are few.
    assert_eq!(
        Blocks::cut(&sample, 1 << 20)
            .nearest_in_entropy(4.0)
            .as_slice()
            .len(),
        1
    );
}
