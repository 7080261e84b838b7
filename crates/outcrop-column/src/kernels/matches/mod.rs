//! The positions of the bytes in a narrow range: the first step of a selective scan. In one pass, so that finding the positions goes on while memory
//! brings the next bytes.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};

/// `(bytes, least, greatest, out)`: appends the positions of the bytes in the inclusive range, ascending, to `out`. Made for ranges that hold less than
/// one of 64 bytes.
pub(crate) type Matches = fn(&[u8], u8, u8, &mut Vec<u32>);

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Matches>] = &[
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "avx2",
        available: x86::has_avx2,
        function: x86::avx2,
    },
    Kernel {
        name: "scalar",
        available: || true,
        function: scalar::matches,
    },
];

/// Runs the fastest implementation that this machine has; see [`Matches`].
#[inline]
pub(crate) fn matches(bytes: &[u8], least: u8, greatest: u8, out: &mut Vec<u32>) {
    static CHOICE: OnceLock<Matches> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::matches))(bytes, least, greatest, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TABLE;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..700), least: u8, span in prop_oneof![0_u8..3, any::<u8>()], is_empty: bool,
        ) {
            let greatest = if is_empty { least.wrapping_sub(1) } else { least.saturating_add(span) };
            let expected: Vec<u32> = (0..).zip(&bytes).filter(|&(_, byte)| (least..=greatest).contains(byte)).map(|(position, _)| position).collect();
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                let mut out = vec![99];
                (kernel.function)(&bytes, least, greatest, &mut out);
                prop_assert_eq!((out[0], &out[1..]), (99, &expected[..]), "{}", kernel.name);
            }
        }
    }
}
