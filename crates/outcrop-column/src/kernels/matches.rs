//! The positions of the bytes in a narrow range: the first step of a selective scan. One pass, so that
//! positions are found while memory delivers the next bytes.

use super::dispatch::kernel;

kernel! {
    /// Appends the positions of the bytes in the inclusive range, ascending, to `out`. Made for ranges that
    /// hold less than one of 64 bytes.
    fn matches(bytes: &[u8], least: u8, greatest: u8, out: &mut Vec<u32>) {
        ["avx2", "bmi1", "popcnt"] => x86::avx2,
        _ => plain,
    }
}

fn plain(bytes: &[u8], least: u8, greatest: u8, out: &mut Vec<u32>) {
    let positions = (0..)
        .zip(bytes)
        .filter(|&(_, &byte)| least <= byte && byte <= greatest);
    out.extend(positions.map(|(position, _)| position));
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads take raw pointers")]

    use std::arch::x86_64::*;

    use super::plain;

    /// Bytes of a step.
    const STEP: usize = 64;

    /// 64 bytes become one word, of which one bit is found whether there is one or not.
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn avx2(bytes: &[u8], least: u8, greatest: u8, out: &mut Vec<u32>) {
        // An empty range clamps to `greatest`, which would equal itself.
        if least > greatest {
            return;
        }
        let low = _mm256_set1_epi8(least.cast_signed());
        let high = _mm256_set1_epi8(greatest.cast_signed());
        let half = |chunk: &[u8; 32]| {
            // SAFETY: the array is 32 bytes long.
            let values = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
            let inside = _mm256_min_epu8(_mm256_max_epu8(values, low), high);
            u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(inside, values)).cast_unsigned())
        };
        let (steps, rest) = bytes.as_chunks::<STEP>();
        let mut count = out.len();
        // Room for as many as an equality brings, and for one step more.
        out.resize(count + bytes.len() / 128 + STEP, 0);
        for (base, step) in (0_u32..).step_by(STEP).zip(steps) {
            let (parts, _) = step.as_chunks::<32>();
            let mut word = half(&parts[0]) | half(&parts[1]) << 32;
            out[count] = base.wrapping_add(word.trailing_zeros());
            let end = count + word.count_ones() as usize;
            if end > count + 1 {
                while count < end {
                    out[count] = base + word.trailing_zeros();
                    word &= word - 1;
                    count += 1;
                }
            }
            count = end;
            if count + STEP > out.len() {
                out.resize(2 * out.len(), 0);
            }
        }
        out.truncate(count);
        let before = bytes.len() - rest.len();
        plain(rest, least, greatest, out);
        out[count..]
            .iter_mut()
            .for_each(|position| *position += before as u32);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..700), least: u8, span in prop_oneof![0_u8..3, any::<u8>()], is_empty: bool,
        ) {
            let greatest = if is_empty { least.wrapping_sub(1) } else { least.saturating_add(span) };
            let expected: Vec<u32> = (0..).zip(&bytes).filter(|&(_, byte)| (least..=greatest).contains(byte)).map(|(position, _)| position).collect();
            for form in forms() {
                let mut out = vec![99];
                (form.function)(&bytes, least, greatest, &mut out);
                prop_assert_eq!((out[0], &out[1..]), (99, &expected[..]), "{}", form.features);
            }
        }
    }
}
