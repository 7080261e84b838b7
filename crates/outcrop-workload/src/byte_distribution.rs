//! Independent bytes of a wanted order-0 entropy.

use outcrop_measure::seed::Generator;
use rand::Rng;

/// Draws are 16 bits wide, so a byte value's probability is a whole number of these.
const SLOT_COUNT: usize = 1 << 16;

/// Frequencies of the 256 byte values, as a table of 65536 equally likely slots.
///
/// The frequencies fall off geometrically from byte 0 on, which reaches every entropy from 0 (one value) to
/// 8 bits (all values alike) with one parameter. Entropies between 0 and 0.0003 bits, the
/// smallest step that the table can express, are rounded to one of the two.
#[derive(Clone)]
pub(crate) struct ByteDistribution {
    slots: Box<[u8; SLOT_COUNT]>,
}

impl std::fmt::Debug for ByteDistribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteDistribution").finish_non_exhaustive()
    }
}

impl ByteDistribution {
    /// The distribution whose entropy, as tabulated, is nearest to the one wanted.
    pub(crate) fn of_entropy(bits_per_byte: f64) -> Self {
        // Entropy grows with the quotient of successive frequencies; 60 halvings exhaust the digits of f64.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if entropy_bits(&geometric_slots(middle)) < bits_per_byte {
                low = middle;
            } else {
                high = middle;
            }
        }
        let distance = |quotient: f64| (entropy_bits(&geometric_slots(quotient)) - bits_per_byte).abs();
        let best = if distance(low) <= distance(high) {
            low
        } else {
            high
        };
        let mut slots = Vec::with_capacity(SLOT_COUNT);
        for (value, &slot_count) in (0..=u8::MAX).zip(&geometric_slots(best)) {
            slots.resize(slots.len() + slot_count as usize, value);
        }
        let slots: Box<[u8; SLOT_COUNT]> = slots
            .try_into()
            .expect("the slot counts of a distribution add up to the number of slots");
        Self { slots }
    }

    /// Overwrites the buffer with independent draws, four to each 64 random bits.
    pub(crate) fn fill(&self, buffer: &mut [u8], draws: &mut Generator) {
        let mut quads = buffer.chunks_exact_mut(4);
        for quad in &mut quads {
            quad.copy_from_slice(&self.four(draws.next_u64()));
        }
        let rest = quads.into_remainder();
        if !rest.is_empty() {
            let four = self.four(draws.next_u64());
            rest.copy_from_slice(&four[..rest.len()]);
        }
    }

    #[inline]
    fn four(&self, draw: u64) -> [u8; 4] {
        std::array::from_fn(|i| self.slots[usize::from((draw >> (16 * i)) as u16)])
    }
}

/// How many slots each byte value gets if each is `quotient` times as frequent as the one before; the sum is
/// exactly [`SLOT_COUNT`] (largest remainder).
fn geometric_slots(quotient: f64) -> [u32; 256] {
    let mut weights = [0.0; 256];
    let mut weight = 1.0;
    for slot in &mut weights {
        *slot = weight;
        weight *= quotient;
    }
    let total: f64 = weights.iter().sum();
    let exact = weights.map(|weight| weight / total * SLOT_COUNT as f64);
    let mut counts = exact.map(|share| share as u32);
    let missing = SLOT_COUNT as u32 - counts.iter().sum::<u32>();
    let mut by_remainder: [usize; 256] = std::array::from_fn(|value| value);
    by_remainder.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    for &value in by_remainder.iter().cycle().take(missing as usize) {
        counts[value] += 1;
    }
    counts
}

fn entropy_bits(counts: &[u32; 256]) -> f64 {
    let bits = |&count: &u32| {
        let probability = f64::from(count) / SLOT_COUNT as f64;
        if count == 0 {
            0.0
        } else {
            -probability * probability.log2()
        }
    };
    counts.iter().map(bits).sum()
}
