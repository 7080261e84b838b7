//! Keys looked for among the slots of a hash table, a cache line at a time: what encoding does once a row.

use std::sync::atomic::Ordering;

use super::dispatch::kernel;
use super::probe::Probe;
use crate::huge::Line;

/// Words of a slot: the first eight bytes of a key; its last four, with the code above them.
pub(crate) const SLOT_WORDS: usize = 2;

/// Slots of a bucket, which is a cache line.
pub(crate) const SLOTS: usize = size_of::<Line>() / size_of::<[u64; SLOT_WORDS]>();

/// Probes of a call: as many as its answer has bits.
pub(crate) const MOST_PROBES: usize = u64::BITS as usize;

kernel! {
    /// Looks for each of the probes in its bucket of `table`, and gives a mask of those that are not there; the codes of the others go to
    /// `codes`, at the places of the probes. Other threads may fill slots at any time, the second word last. There are at most
    /// [`MOST_PROBES`].
    fn look(table: &[Line], probes: &[Probe], codes: &mut [u32]) -> u64 {
        ["avx512f"] => x86::avx512,
        ["avx2", "bmi1"] => x86::avx2,
        _ => plain,
    }
}

fn plain(table: &[Line], probes: &[Probe], codes: &mut [u32]) -> u64 {
    let mut missing = 0;
    for (index, (probe, code)) in probes.iter().zip(codes).enumerate() {
        let bucket = &table[probe.bucket as usize];
        let mut is_here = false;
        for slot in 0..SLOTS {
            let (is_it, of_slot) = read(bucket, slot, probe);
            *code = if is_it { of_slot } else { *code };
            is_here |= is_it;
        }
        missing |= u64::from(!is_here) << index;
    }
    missing
}

/// Whether a slot has the key of `probe`, and its code. Nothing is branched on.
#[inline(always)]
fn read(Line(words): &Line, slot: usize, probe: &Probe) -> (bool, u32) {
    // Whoever sees the second word sees the first.
    let end_and_code = words[SLOT_WORDS * slot + 1].load(Ordering::Acquire);
    let start = words[SLOT_WORDS * slot].load(Ordering::Relaxed);
    let is_it = (start ^ probe.start) | u64::from(end_and_code as u32 ^ probe.end) == 0;
    (is_it, (end_and_code >> 32) as u32)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(
        unsafe_code,
        reason = "a bucket that other threads write to is loaded by one instruction"
    )]

    use std::arch::asm;
    use std::arch::x86_64::*;

    use super::{Line, Probe, SLOT_WORDS, SLOTS, read};

    /// The words of a slot that a key has, of four bytes each, in the mask of a bucket's.
    const KEYS: u32 = 0x7777;
    /// The lowest of them in each slot.
    const FIRSTS: u32 = 0x1111;
    /// Where the code stands in a slot, behind them.
    const CODE: u32 = 3;
    /// Bits of that mask for a slot.
    const SLOT_BITS: usize = 2 * SLOT_WORDS;

    /// The bucket is loaded once, and the code taken out of it: with a second load that waits for the comparison, fewer
    /// rows would wait for memory at a time. Nothing is branched on.
    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512(table: &[Line], probes: &[Probe], codes: &mut [u32]) -> u64 {
        let mut missing = 0;
        for (index, (probe, code)) in probes.iter().zip(codes).enumerate() {
            let slots = load_512(&table[probe.bucket as usize]);
            // SAFETY: a probe is 16 bytes long, at a multiple of them.
            let key = unsafe { _mm_load_si128(std::ptr::from_ref(probe).cast()) };
            let equal = _mm512_cmpeq_epi32_mask(slots, _mm512_broadcast_i32x4(key));
            let found = slots_of(u32::from(equal));
            // The end of a key and its code are in one word, so that whoever sees the one sees the other.
            let of_found = _mm512_maskz_compress_epi32((found << CODE) as __mmask16, slots);
            *code = _mm_cvtsi128_si32(_mm512_castsi512_si128(of_found)).cast_unsigned();
            missing |= u64::from(found == 0) << index;
        }
        missing
    }

    /// As [`super::look`]. Nothing is branched on.
    #[target_feature(enable = "avx2,bmi1")]
    pub(super) fn avx2(table: &[Line], probes: &[Probe], codes: &mut [u32]) -> u64 {
        let mut missing = 0;
        for (index, (probe, code)) in probes.iter().zip(codes).enumerate() {
            let bucket = &table[probe.bucket as usize];
            let found = slots_of(equal_by_256(bucket, probe));
            // Of none, any: the answer is that it is another.
            let slot = found.trailing_zeros() as usize / SLOT_BITS % SLOTS;
            let is_here;
            (is_here, *code) = read(bucket, slot, probe);
            missing |= u64::from(!is_here) << index;
        }
        missing
    }

    /// The slots of which a key's words all equal those of a probe, each as its lowest bit.
    #[inline(always)]
    fn slots_of(equal: u32) -> u32 {
        let words = equal & KEYS;
        words & words >> 1 & words >> 2 & FIRSTS
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load_512(bucket: &Line) -> __m512i {
        let slots;
        // SAFETY: the bucket is 64 bytes long, at a multiple of them. The instruction stands for a relaxed load of each of its words.
        unsafe {
            asm!("vmovdqa64 {}, [{}]", out(zmm_reg) slots, in(reg) bucket, options(nostack, preserves_flags, readonly));
        }
        slots
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal_by_256(bucket: &Line, probe: &Probe) -> u32 {
        // SAFETY: a probe is 16 bytes long, at a multiple of them.
        let probe = unsafe { _mm_load_si128(std::ptr::from_ref(probe).cast()) };
        let probe = _mm256_broadcastsi128_si256(probe);
        let (low, high): (__m256i, __m256i);
        // SAFETY: the bucket is 64 bytes long, at a multiple of them. The instructions stand for a relaxed load of each of its words.
        unsafe {
            asm!(
                "vmovdqa {}, [{bucket}]", "vmovdqa {}, [{bucket} + 32]", out(ymm_reg) low, lateout(ymm_reg) high, bucket = in(reg) bucket,
                options(nostack, preserves_flags, readonly)
            );
        }
        let mask = |slots| {
            let equal = _mm256_castsi256_ps(_mm256_cmpeq_epi32(slots, probe));
            _mm256_movemask_ps(equal).cast_unsigned()
        };
        mask(low) | mask(high) << 8
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use proptest::prelude::*;

    use super::{Line, MOST_PROBES, Probe, SLOT_WORDS, SLOTS, forms};

    proptest! {
        #[test]
        fn every_implementation_finds_what_is_in_a_bucket_and_nothing_else(
            slots in proptest::collection::vec((0_u64..3, 0_u32..3, any::<u32>()), SLOTS..40),
            probes in proptest::collection::vec((0_u64..3, 1_u32..4, any::<u32>()), 0..=MOST_PROBES),
        ) {
            let lines: Vec<Line> = slots.chunks_exact(SLOTS).map(|slots| {
                let line = Line::default();
                for (words, &(start, end, code)) in line.0.chunks(SLOT_WORDS).zip(slots) {
                    // Codes of keys that are there twice cannot be told apart.
                    let code = if end > 0 { (start as u32) << 2 | end } else { code };
                    words[0].store(start << 40, Ordering::Relaxed);
                    words[1].store(u64::from(end) | u64::from(code) << 32, Ordering::Relaxed);
                }
                line
            }).collect();
            let probes: Vec<Probe> = probes.iter().map(|&(start, end, bucket)| Probe { start: start << 40, end, bucket: bucket % lines.len() as u32 }).collect();
            for form in forms() {
                let mut codes = vec![0; probes.len()];
                let missing = (form.function)(&lines, &probes, &mut codes);
                for (index, (probe, &code)) in probes.iter().zip(&codes).enumerate() {
                    let line = &slots[probe.bucket as usize * SLOTS..][..SLOTS];
                    let is_here = line.iter().any(|&(start, end, _)| (start << 40, end) == (probe.start, probe.end));
                    prop_assert_eq!(missing >> index & 1 == 0, is_here, "{}", form.features);
                    prop_assert!(!is_here || code == ((probe.start >> 40) as u32) << 2 | probe.end, "{}", form.features);
                }
                prop_assert!(probes.len() == MOST_PROBES || missing >> probes.len() == 0);
            }
        }
    }
}
