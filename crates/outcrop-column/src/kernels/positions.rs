//! The positions of the set bits of a mask that has several in each word: ends of lines, and
//! rows that match where many do.

use super::dispatch::kernel;

kernel! {
    /// Appends the positions of the set bits, ascending, each plus `offset`, to `out`. With these features,
    /// counting, finding and clearing bits are an instruction each.
    fn positions(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
        ["avx512f", "avx512bw", "avx512vbmi2", "popcnt"] => x86::avx512,
        ["bmi1", "popcnt"] => plain,
        _ => plain,
    }
}

/// Positions written at a time, whether there are as many or not: a loop over each would mispredict its end.
const AT_ONCE: usize = 12;

#[inline(always)]
fn plain(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    let mut count = out.len();
    let total = count + mask.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    // Room for what is written behind the last position.
    out.resize(total + AT_ONCE, 0);
    for (base, &word) in (offset..).step_by(64).zip(mask) {
        let (mut rest, mut at) = (word, count);
        count += word.count_ones() as usize;
        loop {
            for place in &mut out[at..at + AT_ONCE] {
                *place = base.wrapping_add(rest.trailing_zeros());
                rest &= rest.wrapping_sub(1);
            }
            at += AT_ONCE;
            if at >= count {
                break;
            }
        }
    }
    out.truncate(total);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads and stores take raw pointers")]

    use std::arch::x86_64::*;

    /// Positions of a vector: most words have no more.
    const AT_ONCE: usize = 16;

    /// The numbers of a word's bits.
    static BITS: [u8; 64] = {
        let mut bits = [0; 64];
        let mut bit = 0;
        while bit < 64 {
            bits[bit] = bit as u8;
            bit += 1;
        }
        bits
    };

    /// The numbers of the bits that are set are moved together, sixteen become integers at once.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    pub(super) fn avx512(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
        let mut count = out.len();
        let total = count + mask.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        // Room for what is written behind the last position.
        out.resize(total + 64, 0);
        // SAFETY: the array is 64 bytes long.
        let bits = unsafe { _mm512_loadu_si512(BITS.as_ptr().cast()) };
        for (base, &word) in (offset..).step_by(64).zip(mask) {
            let numbers = _mm512_maskz_compress_epi8(word, bits);
            let base = _mm512_set1_epi32(base.cast_signed());
            let of = |sixteen: __m128i| _mm512_add_epi32(_mm512_cvtepu8_epi32(sixteen), base);
            let (places, _) = out[count..][..64].as_chunks_mut::<AT_ONCE>();
            store(of(_mm512_castsi512_si128(numbers)), &mut places[0]);
            let here = word.count_ones() as usize;
            if here > AT_ONCE {
                store(of(_mm512_extracti32x4_epi32::<1>(numbers)), &mut places[1]);
                store(of(_mm512_extracti32x4_epi32::<2>(numbers)), &mut places[2]);
                store(of(_mm512_extracti32x4_epi32::<3>(numbers)), &mut places[3]);
            }
            count += here;
        }
        out.truncate(total);
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(integers: __m512i, out: &mut [u32; AT_ONCE]) {
        // SAFETY: the array is 64 bytes long.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), integers) };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            words in proptest::collection::vec((any::<u64>(), any::<u64>(), 0_u32..5), 0..20), offset in 0_u32..1000,
        ) {
            let mask: Vec<u64> = words.iter().map(|&(word, other, kind)| match kind {
                0 => 0,
                1 => word,
                2 => word & other,
                3 => 1 << (word % 64),
                _ => u64::MAX,
            }).collect();
            let expected: Vec<u32> = (0..mask.len() * 64).filter(|&bit| mask[bit / 64] >> (bit % 64) & 1 == 1).map(|bit| bit as u32 + offset).collect();
            for form in forms() {
                let mut out = vec![99];
                (form.function)(&mask, offset, &mut out);
                prop_assert_eq!((out[0], &out[1..]), (99, &expected[..]), "{}", form.features);
            }
        }
    }
}
