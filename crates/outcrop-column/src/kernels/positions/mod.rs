//! The positions of the set bits of a mask that has several in each word: ends of lines, and rows that match where many do.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// `(mask, offset, out)`: appends the positions of the set bits, ascending, each plus `offset`, to `out`.
pub(crate) type Positions = fn(&[u64], u32, &mut Vec<u32>);

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Positions>] = &[
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "bmi",
        available: x86::has_bmi,
        function: x86::bmi,
    },
    Kernel {
        name: "scalar",
        available: || true,
        function: scalar::positions,
    },
];

/// Runs the fastest implementation that this machine has; see [`Positions`].
#[inline]
pub(crate) fn positions(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    static CHOICE: OnceLock<Positions> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::positions))(mask, offset, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TABLE;

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
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                let mut out = vec![99];
                (kernel.function)(&mask, offset, &mut out);
                prop_assert_eq!((out[0], &out[1..]), (99, &expected[..]), "{}", kernel.name);
            }
        }
    }
}
