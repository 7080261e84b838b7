//! The greatest of many integers: every decoded block is held against the number of symbols.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// `(values)`: the greatest of them, 0 where there is none.
pub(crate) type Greatest = fn(&[u32]) -> u32;

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Greatest>] = &[
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "avx2",
        available: x86::has_avx2,
        function: x86::avx2,
    },
    Kernel {
        name: "scalar",
        available: || true,
        function: scalar::greatest,
    },
];

/// Runs the fastest implementation that this machine has; see [`Greatest`].
#[inline]
pub(crate) fn greatest(values: &[u32]) -> u32 {
    static CHOICE: OnceLock<Greatest> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::greatest))(values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TABLE;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(values in proptest::collection::vec(any::<u32>(), 0..200)) {
            let expected = values.iter().copied().max().unwrap_or(0);
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                prop_assert_eq!((kernel.function)(&values), expected, "{}", kernel.name);
            }
        }
    }
}
