//! What the choice of a block's encoding depends on: range, runs and deltas of its integers, in one pass.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

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

/// Measures integers.
pub(crate) type Measure = fn(&[u32]) -> Measured;

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Measure>] = &[
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "avx512",
        available: x86::has_avx512,
        function: x86::avx512,
    },
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "avx2",
        available: x86::has_avx2,
        function: x86::avx2,
    },
    Kernel {
        name: "scalar",
        available: || true,
        function: scalar::measure,
    },
];

/// Runs the fastest implementation that this machine has.
#[inline]
pub(crate) fn measure(values: &[u32]) -> Measured {
    static CHOICE: OnceLock<Measure> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::measure))(values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Measured, TABLE};
    use crate::codes::zigzag;

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
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                prop_assert_eq!((kernel.function)(&values), expected, "{}", kernel.name);
            }
        }
    }
}
