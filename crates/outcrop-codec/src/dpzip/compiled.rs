//! Both directions of a page, compiled once for any machine, and on x86-64 once more for those with AVX2 and BMI2.
//!
//! Both do the same to the byte. What is called from here is `inline(always)` where it takes time, so that it is
//! compiled along.

use super::matcher::{AskNewest, HashChunk, MatchWork, Matcher};
use super::slots::Slots;
use super::table::CandidateTable;
use crate::entropy::{BlockDecoder, BlockEncoder, BlockShape};

/// Compresses `page` to a block at the front of `target`; no shape when the page looks incompressible, or turned
/// out to be.
pub(super) fn compress<const FOURS: usize>(
    matcher: &mut Matcher<FOURS>,
    block: &mut BlockEncoder,
    page: &[u8],
    target: &mut [u8],
) -> (Option<BlockShape>, MatchWork) {
    #[cfg(target_arch = "x86_64")]
    if avx2::detected() {
        return avx2::compress(matcher, block, page, target);
    }
    compress_by(
        matcher,
        block,
        page,
        target,
        Slots::fill,
        CandidateTable::exchange_newest,
    )
}

/// Restores `page` from `block`.
///
/// # Errors
/// What is wrong with the block.
pub(super) fn decompress(
    decoder: &mut BlockDecoder,
    block: &[u8],
    page: &mut [u8],
) -> Result<(), &'static str> {
    #[cfg(target_arch = "x86_64")]
    if avx2::detected() {
        return avx2::decompress(decoder, block, page);
    }
    decoder.decode(block, page)
}

#[inline(always)]
fn compress_by<const FOURS: usize>(
    matcher: &mut Matcher<FOURS>,
    block: &mut BlockEncoder,
    page: &[u8],
    target: &mut [u8],
    hash: impl HashChunk,
    ask: impl AskNewest<FOURS>,
) -> (Option<BlockShape>, MatchWork) {
    let (parsed, work) = matcher.parse(page, hash, ask);
    // No closure here: it would be compiled apart, without the instructions.
    let shape = match parsed {
        Some(parsed) => block.encode(parsed.literals, parsed.sequences, target),
        None => None,
    };
    (shape, work)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    #![expect(
        unsafe_code,
        reason = "a function compiled for AVX2 and BMI2 may be called where they were detected"
    )]

    use super::{BlockDecoder, BlockEncoder, BlockShape, MatchWork, Matcher, compress_by};
    use crate::dpzip::slots::{CHUNK_WINDOW, Slots, avx2};
    use crate::dpzip::table::CandidateTable;

    /// Whether this machine has what `compress` is compiled for; the answer is kept by the standard library.
    #[inline]
    pub(super) fn detected() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
    }

    pub(super) fn compress<const FOURS: usize>(
        matcher: &mut Matcher<FOURS>,
        block: &mut BlockEncoder,
        page: &[u8],
        target: &mut [u8],
    ) -> (Option<BlockShape>, MatchWork) {
        assert!(detected());
        // SAFETY: the features were detected the line before.
        unsafe { compress_compiled(matcher, block, page, target) }
    }

    pub(super) fn decompress(
        decoder: &mut BlockDecoder,
        block: &[u8],
        page: &mut [u8],
    ) -> Result<(), &'static str> {
        assert!(detected());
        // SAFETY: the features were detected the line before.
        unsafe { decompress_compiled(decoder, block, page) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn decompress_compiled(
        decoder: &mut BlockDecoder,
        block: &[u8],
        page: &mut [u8],
    ) -> Result<(), &'static str> {
        decoder.decode(block, page)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn compress_compiled<const FOURS: usize>(
        matcher: &mut Matcher<FOURS>,
        block: &mut BlockEncoder,
        page: &[u8],
        target: &mut [u8],
    ) -> (Option<BlockShape>, MatchWork) {
        let hash = |slots: &mut Slots, window: &[u8; CHUNK_WINDOW], first, how| {
            avx2::fill(slots, window, first, how);
        };
        let ask =
            |table: &mut CandidateTable<FOURS>, slots: &Slots, at, candidates: &mut _, newest: &mut _| {
                if FOURS == 1 {
                    table.exchange_newest_by_avx2(slots, at, newest)
                } else {
                    table.exchange_newest(slots, at, candidates, newest)
                }
            };
        compress_by(matcher, block, page, target, hash, ask)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dpzip::options::{DpzipOptions, Selection};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn both_compilations_write_the_same_bytes(pieces in prop::collection::vec((any::<u8>(), 1usize..30, 0u8..8), 1..200), bits in 8u32..=12, ways in 1usize..=4) {
            let page: Vec<u8> = pieces.iter().flat_map(|&(byte, length, step)| (0..length).map(move |at| byte.wrapping_add(at as u8 * step))).take(4096).collect();
            let options = DpzipOptions::new(1 << bits, ways, Selection::FirstFit, false).unwrap();
            let (mut one, mut two) = ([0; 5000], [0; 5000]);
            let here = compress(&mut Matcher::<1>::new(options), &mut BlockEncoder::new(), &page, &mut one);
            let anywhere = compress_by(&mut Matcher::<1>::new(options), &mut BlockEncoder::new(), &page, &mut two, Slots::fill, CandidateTable::exchange_newest);
            prop_assert_eq!(&here, &anywhere);
            let bytes = here.0.map_or(0, |shape| shape.bytes);
            prop_assert_eq!(&one[..bytes], &two[..bytes]);
        }
    }
}
