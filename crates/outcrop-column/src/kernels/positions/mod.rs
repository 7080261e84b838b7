//! The positions of the set bits of a mask: what follows each comparison, for rows that match and for ends of lines.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// Positions written at a time, whether there are as many or not: a loop over each would mispredict its end.
/// The first number suits masks with a bit in some words, the second those with some bits in each.
const SPARSE: usize = 1;
const DENSE: usize = 12;

/// `(mask, offset, out)`: appends the positions of the set bits, ascending, each plus `offset`, to `out`.
pub(crate) type Positions = fn(&[u64], u32, &mut Vec<u32>);

/// All implementations, fastest first: for sparse masks and for dense ones.
pub(crate) const TABLE: &[Kernel<[Positions; 2]>] = &[
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "bmi",
        available: x86::has_bmi,
        function: [x86::bmi::<SPARSE>, x86::bmi::<DENSE>],
    },
    Kernel {
        name: "scalar",
        available: || true,
        function: SCALAR,
    },
];

const SCALAR: [Positions; 2] = [scalar::positions::<SPARSE>, scalar::positions::<DENSE>];

/// Runs the fastest implementation that this machine has for a mask with a bit in some words; see [`Positions`].
#[inline]
pub(crate) fn sparse_positions(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    choice()[0](mask, offset, out);
}

/// As [`sparse_positions`], for a mask with some bits in each word.
#[inline]
pub(crate) fn dense_positions(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    choice()[1](mask, offset, out);
}

#[inline]
fn choice() -> &'static [Positions; 2] {
    static CHOICE: OnceLock<[Positions; 2]> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, SCALAR))
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
                for function in kernel.function {
                    let mut out = vec![99];
                    function(&mask, offset, &mut out);
                    prop_assert_eq!((out[0], &out[1..]), (99, &expected[..]), "{}", kernel.name);
                }
            }
        }
    }
}
