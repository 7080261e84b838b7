//! Integers sorted by class come back into the order of their rows: what decoding a block in classes costs most.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::{Kernel, best};
use crate::codes::CLASS_LIMIT;
use crate::format::BLOCK_ROWS;

/// `(tags, by_class, next, out)`: row i takes the integer at the place that `next` has for its tag, which moves on by one. Tags are nibbles,
/// low one first; places are modulo the number of a block's rows. Gives the places afterwards.
pub(crate) type Deal = fn(&[u8], &[u32; BLOCK_ROWS], [u16; CLASS_LIMIT], &mut [u32]) -> [u16; CLASS_LIMIT];

// Places have 16 bits.
const _: () = assert!(BLOCK_ROWS == 1 << 16);

/// All implementations, fastest first.
pub(crate) const TABLE: &[Kernel<Deal>] = &[
    #[cfg(target_arch = "x86_64")]
    Kernel {
        name: "avx2",
        available: x86::has_avx2,
        function: x86::avx2,
    },
    Kernel {
        name: "scalar",
        available: || true,
        function: scalar::deal,
    },
];

/// Runs the fastest implementation that this machine has; see [`Deal`].
#[inline]
pub(crate) fn deal(
    tags: &[u8],
    by_class: &[u32; BLOCK_ROWS],
    next: [u16; CLASS_LIMIT],
    out: &mut [u32],
) -> [u16; CLASS_LIMIT] {
    static CHOICE: OnceLock<Deal> = OnceLock::new();
    CHOICE.get_or_init(|| best(TABLE, scalar::deal))(tags, by_class, next, out)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::{BLOCK_ROWS, TABLE};

    static BY_CLASS: LazyLock<Vec<u32>> = LazyLock::new(|| {
        (0..BLOCK_ROWS as u32)
            .map(|place| place.wrapping_mul(0x9e37_79b1))
            .collect()
    });

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            tags in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 0..300), is_odd: bool, next: [u16; 16],
        ) {
            let by_class = BY_CLASS.first_chunk().expect("as many as a block has rows");
            let rows = (2 * tags.len()).saturating_sub(usize::from(is_odd));
            let nibbles = tags.iter().flat_map(|byte| [byte & 15, byte >> 4]).take(rows);
            let mut expected_next = next;
            let expected: Vec<u32> = nibbles.map(|tag| {
                let place = &mut expected_next[usize::from(tag)];
                let value = by_class[usize::from(*place)];
                *place = place.wrapping_add(1);
                value
            }).collect();
            for kernel in TABLE.iter().filter(|kernel| (kernel.available)()) {
                let mut out = vec![0; rows];
                let after = (kernel.function)(&tags, by_class, next, &mut out);
                prop_assert_eq!(&out, &expected, "{}", kernel.name);
                prop_assert_eq!(after, expected_next, "{}", kernel.name);
            }
        }
    }
}
