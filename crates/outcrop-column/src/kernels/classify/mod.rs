//! The class of each rank: how many of the classes' first ranks it reaches.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};
use crate::codes::CLASS_LIMIT;

/// `(ranks, firsts, classes)`: the last class whose first rank is not greater. `firsts` ascends; that of class 0 is 0.
pub(crate) type Classify = fn(&[u32], &[u32; CLASS_LIMIT], &mut [u8]);

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Classify>] = &[
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
        function: scalar::classify,
    },
];

/// Runs the fastest implementation that this machine has; see [`Classify`].
#[inline]
pub(crate) fn classify(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    static CHOICE: OnceLock<Classify> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::classify))(ranks, firsts, classes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TABLE;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            ranks in proptest::collection::vec(any::<u32>(), 0..300), mut firsts: [u32; 16],
        ) {
            firsts[0] = 0;
            firsts.sort_unstable();
            let expected: Vec<u8> = ranks.iter().map(|&rank| firsts.partition_point(|&first| first <= rank) as u8 - 1).collect();
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                let mut classes = vec![99; ranks.len()];
                (kernel.function)(&ranks, &firsts, &mut classes);
                prop_assert_eq!(&classes, &expected, "{}", kernel.name);
            }
        }
    }
}
