//! Which 4-bit tags equal one tag, as a bit mask: finds the rows of a class.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// `(plane, tag, mask)`: bit i of the mask is set if nibble i of the plane (low nibble first) is `tag`.
/// The mask has ⌈2·len/64⌉ words.
pub(crate) type Tags = fn(&[u8], u8, &mut [u64]);

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Tags>] = &[
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "avx2",
        available: x86::has_avx2,
        function: x86::avx2,
    },
    Kernel {
        name: "scalar",
        available: || true,
        function: scalar::tags,
    },
];

/// Runs the fastest implementation that this machine has; see [`Tags`].
#[inline]
pub(crate) fn tags(plane: &[u8], tag: u8, mask: &mut [u64]) {
    static CHOICE: OnceLock<Tags> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::tags))(plane, tag, mask);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TABLE;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            plane in proptest::collection::vec(any::<u8>(), 0..200), tag in 0_u8..16,
        ) {
            let nibbles: Vec<u8> = plane.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
            let mut expected = vec![0_u64; nibbles.len().div_ceil(64)];
            for (index, &nibble) in nibbles.iter().enumerate() {
                expected[index / 64] |= u64::from(nibble == tag) << (index % 64);
            }
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                let mut mask = vec![u64::MAX; expected.len()];
                (kernel.function)(&plane, tag, &mut mask);
                prop_assert_eq!(&mask, &expected, "{}", kernel.name);
            }
        }
    }
}
