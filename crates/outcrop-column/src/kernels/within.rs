//! Which bytes lie in an inclusive range, as a bit mask: the first step of every scan of codes, and
//! (with both ends a newline) how text is split.

use super::dispatch::kernel;

kernel! {
    /// Bit i of the mask is set if `least <= bytes[i] <= greatest`. The mask has ⌈len/64⌉
    /// words; bits past the end are 0.
    fn within(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
        ["avx512f", "avx512bw"] => x86::avx512,
        ["avx2"] => x86::avx2,
        _ => plain,
    }
}

fn plain(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
    for (word, chunk) in mask.iter_mut().zip(bytes.chunks(64)) {
        *word = chunk.iter().enumerate().fold(0, |bits, (index, &byte)| {
            bits | u64::from(least <= byte && byte <= greatest) << index
        });
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads take raw pointers")]

    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn avx512(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
        let low = _mm512_set1_epi8(least.cast_signed());
        let high = _mm512_set1_epi8(greatest.cast_signed());
        for (word, chunk) in mask.iter_mut().zip(bytes.chunks(64)) {
            let valid = if chunk.len() == 64 {
                u64::MAX
            } else {
                (1 << chunk.len()) - 1
            };
            // SAFETY: the load touches only the bytes that `valid` selects, which are those of `chunk`.
            let values = unsafe { _mm512_maskz_loadu_epi8(valid, chunk.as_ptr().cast()) };
            *word =
                _mm512_mask_cmple_epu8_mask(_mm512_mask_cmpge_epu8_mask(valid, values, low), values, high);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
        let low = _mm256_set1_epi8(least.cast_signed());
        let high = _mm256_set1_epi8(greatest.cast_signed());
        let half = |chunk: &[u8; 32]| {
            // SAFETY: the array is 32 bytes long.
            let values = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
            let inside = _mm256_min_epu8(_mm256_max_epu8(values, low), high);
            u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(inside, values)).cast_unsigned())
        };
        let word_of = |block: &[u8; 64]| {
            let (parts, _) = block.as_chunks::<32>();
            half(&parts[0]) | half(&parts[1]) << 32
        };
        // An empty range clamps to `greatest`, which would equal itself.
        if least > greatest {
            mask.fill(0);
            return;
        }
        let (blocks, rest) = bytes.as_chunks::<64>();
        for (word, block) in mask.iter_mut().zip(blocks) {
            *word = word_of(block);
        }
        if let (Some(word), false) = (mask.get_mut(blocks.len()), rest.is_empty()) {
            let mut last = [0; 64];
            last[..rest.len()].copy_from_slice(rest);
            *word = word_of(&last) & ((1 << rest.len()) - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;
    use crate::kernels::Kernels;
    use crate::kernels::dispatch::first_of;

    #[test]
    fn the_form_that_runs_is_the_widest_that_the_processor_has_and_the_caller_allows() {
        for most in Kernels::ALL {
            let form = first_of(forms(), most).expect("the plain form always runs");
            assert_eq!(
                form.kernels,
                most.min(Kernels::widest()),
                "{most:?}: {}",
                form.features
            );
        }
    }

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), least: u8, greatest: u8,
        ) {
            let mut expected = vec![0_u64; bytes.len().div_ceil(64)];
            for (index, byte) in bytes.iter().enumerate() {
                expected[index / 64] |= u64::from((least..=greatest).contains(byte)) << (index % 64);
            }
            for form in forms() {
                let mut mask = vec![u64::MAX; expected.len()];
                (form.function)(&bytes, least, greatest, &mut mask);
                prop_assert_eq!(&mask, &expected, "{}", form.features);
            }
        }
    }
}
