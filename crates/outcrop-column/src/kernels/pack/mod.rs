//! Integers to planes: the inner loop of every encode.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// `(values, base, width, out)`: the planes of `values[i] - base`, each less than 2^width. `out` has exactly their bytes.
pub(crate) type Pack = fn(&[u32], u32, u8, &mut [u8]);

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Pack>] = &[
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
        function: scalar::pack,
    },
];

/// Runs the fastest implementation that this machine has; see [`Pack`].
#[inline]
pub(crate) fn pack(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
    static CHOICE: OnceLock<Pack> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::pack))(values, base, width, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TABLE;
    use crate::planes::{packed_bytes, plane_bytes, plane_widths};

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_VALUES: usize = if cfg!(miri) { 150 } else { 3000 };

    /// Bit by bit, as the specification says it.
    fn naive(values: &[u32], width: u8) -> Vec<u8> {
        let (mut out, mut shift) = (Vec::new(), width);
        for bits in plane_widths(width) {
            shift -= bits;
            let mut plane = vec![0_u8; plane_bytes(values.len(), bits)];
            for (index, value) in values.iter().enumerate() {
                for bit in 0..bits {
                    let at = index * usize::from(bits) + usize::from(bit);
                    plane[at / 8] |= ((value >> (shift + bit) & 1) as u8) << (at % 8);
                }
            }
            out.append(&mut plane);
        }
        out
    }

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            values in proptest::collection::vec(any::<u32>(), 0..MOST_VALUES), width in 0_u8..=32, base: u32,
        ) {
            let relative: Vec<u32> = values.iter().map(|value| (u64::from(*value) & ((1 << width) - 1)) as u32).collect();
            let base = base & !(((1_u64 << width) - 1) as u32);
            let values: Vec<u32> = relative.iter().map(|value| base + value).collect();
            let expected = naive(&relative, width);
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                let mut out = vec![0xa5; packed_bytes(values.len(), width)];
                (kernel.function)(&values, base, width, &mut out);
                prop_assert_eq!(&out, &expected, "{}", kernel.name);
            }
        }
    }
}
