//! Which bytes lie in an inclusive range, as a bit mask: the first step of every scan of codes, and
//! (with both ends a newline) how text is split.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// `(bytes, least, greatest, mask)`: bit i of the mask is set if `least <= bytes[i] <= greatest`. The mask
/// has ⌈len/64⌉ words; bits past the end are 0.
pub(crate) type Within = fn(&[u8], u8, u8, &mut [u64]);

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Within>] = &[
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
        function: scalar::within,
    },
];

/// Runs the fastest implementation that this machine has; see [`Within`].
#[inline]
pub(crate) fn within(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
    static CHOICE: OnceLock<Within> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::within))(bytes, least, greatest, mask);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TABLE;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), least: u8, greatest: u8,
        ) {
            let mut expected = vec![0_u64; bytes.len().div_ceil(64)];
            for (index, byte) in bytes.iter().enumerate() {
                expected[index / 64] |= u64::from((least..=greatest).contains(byte)) << (index % 64);
            }
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                let mut mask = vec![u64::MAX; expected.len()];
                (kernel.function)(&bytes, least, greatest, &mut mask);
                prop_assert_eq!(&mask, &expected, "{}", kernel.name);
            }
        }
    }
}
