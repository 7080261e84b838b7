//! Planes back to integers: the inner loop of every decode.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// `(planes, width, (count, first), base, out)`: integer `first` + i of the vector of `count` integers of `width` bits, plus `base` modulo
/// 2^32, goes to `out[i]`.
/// The slice has exactly the bytes of that vector; `first` is a multiple of [`ALIGNMENT`].
pub(crate) type Unpack = fn(&[u8], u8, (usize, usize), u32, &mut [u32]);

/// Every eighth integer begins at a byte in each plane.
pub(crate) const ALIGNMENT: usize = 8;

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Unpack>] = &[
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
        function: scalar::unpack,
    },
];

/// Runs the fastest implementation that this machine has; see [`Unpack`].
#[inline]
pub(crate) fn unpack(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
    debug_assert!(part.1.is_multiple_of(ALIGNMENT));
    static CHOICE: OnceLock<Unpack> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::unpack))(planes, width, part, base, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ALIGNMENT, TABLE};
    use crate::planes;

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_VALUES: usize = if cfg!(miri) { 150 } else { 3000 };

    proptest! {
        #[test]
        fn every_implementation_gives_back_what_was_packed(
            values in proptest::collection::vec(any::<u32>(), 0..MOST_VALUES), width in 0_u8..=32, base: u32, first: usize, length: usize,
        ) {
            let values: Vec<u32> = values.iter().map(|value| (u64::from(*value) & ((1 << width) - 1)) as u32).collect();
            let mut bytes = Vec::new();
            planes::pack(&values, 0, width, &mut bytes);
            prop_assert_eq!(bytes.len(), planes::packed_bytes(values.len(), width));
            let first = first % (values.len() + 1) / ALIGNMENT * ALIGNMENT;
            let part = &values[first..][..length % (values.len() - first + 1)];
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                for (first, part) in [(0, &values[..]), (first, part)] {
                    let mut out = vec![u32::MAX; part.len()];
                    (kernel.function)(&bytes, width, (values.len(), first), base, &mut out);
                    let expected: Vec<u32> = part.iter().map(|value| value.wrapping_add(base)).collect();
                    prop_assert_eq!(&out, &expected, "{}", kernel.name);
                }
            }
        }
    }
}
