//! What the choice of a block's encoding depends on: range, runs and deltas of its integers, in one pass.

use super::dispatch::kernel;
use crate::format::zigzag;

/// What one pass over integers finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured {
    /// `u32::MAX` where there are none.
    pub(crate) least: u32,
    pub(crate) greatest: u32,
    /// Runs of equal neighbours.
    pub(crate) run_count: usize,
    /// All bits that the zigzag form of some difference of neighbours has.
    pub(crate) delta_bits: u32,
}

kernel! {
    /// Measures integers.
    fn measure(values: &[u32]) -> Measured {
        ["avx512f", "avx512bw", "avx512vl"] => plain,
        ["avx2"] => plain,
        _ => plain,
    }
}

#[inline(always)]
fn plain(values: &[u32]) -> Measured {
    let (mut least, mut greatest) = (u32::MAX, 0);
    let (mut changes, mut delta_bits) = (0_u32, 0);
    if let Some(&first) = values.first() {
        (least, greatest) = (first, first);
    }
    for (&before, &after) in values.iter().zip(values.get(1..).unwrap_or_default()) {
        least = least.min(after);
        greatest = greatest.max(after);
        changes += u32::from(before != after);
        delta_bits |= zigzag(after.wrapping_sub(before));
    }
    Measured {
        least,
        greatest,
        run_count: changes as usize + usize::from(!values.is_empty()),
        delta_bits,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Measured, forms};
    use crate::format::zigzag;

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_VALUES: usize = if cfg!(miri) { 40 } else { 300 };

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            values in proptest::collection::vec(prop_oneof![0_u32..4, any::<u32>()], 0..MOST_VALUES),
        ) {
            let differences: Vec<u32> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
            let expected = Measured {
                least: values.iter().copied().min().unwrap_or(u32::MAX),
                greatest: values.iter().copied().max().unwrap_or(0),
                run_count: values.chunk_by(|a, b| a == b).count(),
                delta_bits: differences.iter().fold(0, |bits, &difference| bits | zigzag(difference)),
            };
            for form in forms() {
                prop_assert_eq!((form.function)(&values), expected, "{}", form.features);
            }
        }
    }
}
