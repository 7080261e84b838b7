//! The least and the greatest of integers whose bytes stand in planes: between which codes the rows of a class lie.

use super::by_class::ROW_PLANES;
use super::dispatch::kernel;

kernel! {
    /// The least and the greatest of the integers, of which there is at least one. The first plane has their highest
    /// bytes; an empty one has zeros.
    fn extremes(planes: [&[u8]; ROW_PLANES]) -> [u32; 2] {
        ["avx512f", "avx512bw", "avx512vl"] => plain,
        ["avx2"] => plain,
        _ => plain,
    }
}

/// Each plane is looked at where the planes before it have their extremes.
#[inline(always)]
fn plain([first, second, third]: [&[u8]; ROW_PLANES]) -> [u32; 2] {
    [
        extreme::<false>(first, second, third),
        extreme::<true>(first, second, third),
    ]
}

/// The least integer, or the greatest.
#[inline(always)]
fn extreme<const GREATEST: bool>(first: &[u8], second: &[u8], third: &[u8]) -> u32 {
    // The complement of the greatest byte is the least of all complements.
    let flip = if GREATEST { u8::MAX } else { 0 };
    let high = first.iter().fold(u8::MAX, |least, byte| least.min(byte ^ flip));
    let is_candidate = |byte: &u8| byte ^ flip == high;
    let middle = first.iter().zip(second).fold(u8::MAX, |least, (before, byte)| {
        least.min(if is_candidate(before) {
            byte ^ flip
        } else {
            u8::MAX
        })
    });
    let pairs = first.iter().zip(second).zip(third);
    let low = pairs.fold(u8::MAX, |least, ((before, between), byte)| {
        let is_candidate = is_candidate(before) & (between ^ flip == middle);
        least.min(if is_candidate { byte ^ flip } else { u8::MAX })
    });
    let kept = |plane: &[u8], byte: u8| if plane.is_empty() { 0 } else { byte ^ flip };
    u32::from_be_bytes([0, kept(first, high), kept(second, middle), kept(third, low)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            rows in proptest::collection::vec(prop_oneof![0_u32..3, 0xff_fffd_u32..=0xff_ffff, 0_u32..1 << 24, 0x101_u32..0x303], 1..300), plane_count in 0_usize..4,
        ) {
            let kept = (0..plane_count).fold(0, |kept, plane| kept | 0xff_0000_u32 >> (8 * plane));
            let rows: Vec<u32> = rows.iter().map(|row| row & kept).collect();
            let planes: Vec<Vec<u8>> = [16, 8, 0].iter().map(|shift| rows.iter().map(|row| (row >> shift) as u8).collect()).collect();
            let of = |plane: usize| if plane < plane_count { &planes[plane][..] } else { &[] };
            let expected = [rows.iter().min(), rows.iter().max()].map(|extreme| extreme.copied().unwrap_or(0));
            for form in forms() {
                prop_assert_eq!((form.function)([of(0), of(1), of(2)]), expected, "{}", form.features);
            }
        }
    }
}
