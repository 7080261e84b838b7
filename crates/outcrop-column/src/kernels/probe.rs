//! Lines of text made ready to be looked up in a hash table: a key of twelve bytes for each, which is the line itself where it
//! is short, and the place where the search for it begins.

use super::dispatch::kernel;
use super::prefetch;
use crate::huge::Line;

/// Values up to this length stand whole in their key.
pub(crate) const SHORT_BYTES: usize = 11;

/// Last byte of the key of a longer value; that of a short one is its length plus one, so that no key is zero.
pub(crate) const LONG: u8 = u8::MAX;

/// Where the last byte of a key stands in its last four.
const MARK_SHIFT: u32 = 24;

/// Bytes that one load brings.
pub(crate) const LOAD_BYTES: usize = 16;

/// A key, as the words of a slot have it, and the number of the bucket that is looked at. Where a slot has the code, the bucket stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Probe {
    pub(crate) start: u64,
    pub(crate) end: u32,
    pub(crate) bucket: u32,
}

impl Probe {
    /// What no slot has: those of long values have numbers above zero in their first words.
    const OF_LONG: (u64, u32) = (0, (LONG as u32) << MARK_SHIFT);

    /// Whether this is that.
    pub(crate) fn is_of_long(&self) -> bool {
        (self.start, self.end) == Self::OF_LONG
    }
}

/// What the two halves of a key are mixed with, by which they are multiplied, and by which the sum of both is: odd numbers without
/// a pattern. Vectors have the low half of a product only, so that no more of it is used.
const MIXED: [u64; 2] = [0x2d35_8dcc_aa6c_78a5, 0x962e_acc9];
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xe703_7ed1_a0b4_28db];
const LAST_FACTOR: u64 = 0xa076_1d64_78bd_642f;

/// The hash of a key, of which these are the first eight bytes and the last four. The high half is the better one.
#[inline(always)]
pub(crate) fn hash(low: u64, high: u32) -> u64 {
    let low = (low ^ MIXED[0]).wrapping_mul(FACTORS[0]);
    let high = (u64::from(high) ^ MIXED[1]).wrapping_mul(FACTORS[1]);
    let both = low ^ high.rotate_left(32);
    (both ^ both >> 32).wrapping_mul(LAST_FACTOR)
}

/// Bucket of a table of so many where the search for a key of this hash begins: buckets are in the order of the hashes.
#[inline(always)]
pub(crate) fn bucket_of(hash: u64, bucket_count: usize) -> usize {
    (((hash >> 32) * bucket_count as u64) >> 32) as usize
}

/// The first eight bytes and the last four of the key of `text[start..end]`, which is short. Where 16 bytes follow `start`, that costs
/// one load and no branch on the length.
#[inline(always)]
pub(crate) fn short_key(text: &[u8], start: usize, end: usize) -> (u64, u32) {
    let length = end - start;
    let bytes = match text[start..].first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => padded(&text[start..end]),
    };
    let bits = bytes & KEPT[length] | (length as u128 + 1) << (8 * SHORT_BYTES);
    (bits as u64, (bits >> 64) as u32)
}

/// `KEPT[n]` keeps the first n of 16 bytes.
pub(crate) const KEPT: [u128; LOAD_BYTES + 1] = {
    let mut masks = [0; LOAD_BYTES + 1];
    let mut length = 1;
    while length <= LOAD_BYTES {
        masks[length] = u128::MAX >> (8 * (LOAD_BYTES - length));
        length += 1;
    }
    masks
};

/// Up to 16 bytes with zeros behind them, as a little-endian integer.
#[inline(never)]
pub(crate) fn padded(value: &[u8]) -> u128 {
    let mut bytes = [0; LOAD_BYTES];
    bytes[..value.len()].copy_from_slice(value);
    u128::from_le_bytes(bytes)
}

kernel! {
    /// Makes probes of the lines of `text` that end at `ends`, the first of which begins at `start`, and starts fetching the buckets of
    /// `table` where the search for them begins. The key of a long one is in no table. There are at least as many probes.
    fn probe(text: &[u8], start: usize, ends: &[u32], table: &[Line], probes: &mut [Probe]) {
        ["avx512f", "avx512bw", "avx512dq"] => x86::avx512,
        _ => plain,
    }
}

fn plain(text: &[u8], start: usize, ends: &[u32], table: &[Line], probes: &mut [Probe]) {
    let mut from = start;
    for (probe, &end) in probes.iter_mut().zip(ends) {
        let end_of_text = end as usize;
        let (start, end) = if end_of_text - from > SHORT_BYTES {
            Probe::OF_LONG
        } else {
            short_key(text, from, end_of_text)
        };
        let bucket = bucket_of(hash(start, end), table.len());
        prefetch(table, bucket);
        let bucket = bucket as u32;
        *probe = Probe { start, end, bucket };
        from = end_of_text + 1;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads and stores take raw pointers")]

    use std::arch::x86_64::*;

    use super::{FACTORS, LAST_FACTOR, LOAD_BYTES, Line, MARK_SHIFT, MIXED, Probe, SHORT_BYTES, plain};
    use crate::kernels::prefetch;

    /// Rows of a step: as many as a vector has keys.
    const STEP: usize = 4;

    /// The third and the fourth word of each key, in the mask of all words.
    const ENDS: __mmask16 = 0x4444;
    const BUCKETS: __mmask16 = 0x8888;

    /// Four rows a step: only their text is loaded one by one, and their buckets are fetched.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    pub(super) fn avx512(text: &[u8], start: usize, ends: &[u32], table: &[Line], probes: &mut [Probe]) {
        let (steps, rest) = ends.as_chunks::<STEP>();
        let (step_probes, rest_probes) = probes.split_at_mut(steps.len() * STEP);
        let last_start = text.len().checked_sub(LOAD_BYTES);
        let mut from = start;
        for (ends, probes) in steps.iter().zip(step_probes.as_chunks_mut().0) {
            let [first, second, third, last] = ends.map(|end| end.wrapping_add(1));
            let starts = [from as u32, first, second, third];
            if last_start.is_some_and(|last| starts.iter().all(|&start| start as usize <= last)) {
                // SAFETY: the text goes on for the bytes of a load behind each start.
                let keys = unsafe { load(text, starts) };
                step(keys, starts, ends, table.len(), probes);
                for probe in probes {
                    prefetch(table, probe.bucket as usize);
                }
            } else {
                plain(text, from, ends, table, probes);
            }
            from = last as usize;
        }
        plain(text, from, rest, table, rest_probes);
    }

    /// # Safety
    /// There are 16 bytes of text from each start on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load(text: &[u8], starts: [u32; STEP]) -> __m512i {
        let at = |start: u32| {
            // SAFETY: the start is within the text.
            let at = unsafe { text.as_ptr().add(start as usize) };
            // SAFETY: the text goes on for 16 bytes from there, by this function's contract.
            unsafe { _mm_loadu_si128(at.cast()) }
        };
        let keys = _mm512_castsi128_si512(at(starts[0]));
        let keys = _mm512_inserti32x4::<1>(keys, at(starts[1]));
        let keys = _mm512_inserti32x4::<2>(keys, at(starts[2]));
        _mm512_inserti32x4::<3>(keys, at(starts[3]))
    }

    /// The probes of four rows, whose keys are the first bytes of `text`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn step(
        text: __m512i,
        starts: [u32; STEP],
        ends: &[u32; STEP],
        bucket_count: usize,
        probes: &mut [Probe; STEP],
    ) {
        // SAFETY: the array is 16 bytes long.
        let starts = unsafe { _mm_loadu_si128(starts.as_ptr().cast()) };
        // SAFETY: the array is 16 bytes long.
        let ends = unsafe { _mm_loadu_si128(ends.as_ptr().cast()) };
        let lengths = _mm512_castsi128_si512(_mm_sub_epi32(ends, starts));
        let of_key = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
        let lengths = _mm512_permutexvar_epi32(of_key, lengths);
        let is_long = _mm512_cmpgt_epu32_mask(lengths, _mm512_set1_epi32(SHORT_BYTES as i32));
        // A short value, zeros behind it, and its length plus one.
        let in_bytes = _mm512_shuffle_epi8(lengths, _mm512_setzero_si512());
        let kept = _mm512_cmplt_epu8_mask(
            _mm512_broadcast_i32x4(_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)),
            in_bytes,
        );
        let keys = _mm512_maskz_mov_epi8(kept, text);
        let marks = _mm512_slli_epi32::<MARK_SHIFT>(_mm512_add_epi32(lengths, _mm512_set1_epi32(1)));
        let keys = _mm512_mask_or_epi32(keys, ENDS, keys, marks);
        let long = _mm512_broadcast_i32x4(_mm_set_epi32(0, Probe::OF_LONG.1.cast_signed(), 0, 0));
        let keys = _mm512_mask_mov_epi32(keys, is_long, long);
        let buckets = buckets_of(keys, bucket_count);
        // The bucket, which is the second word of its product, becomes the fourth of the probe.
        let all = _mm512_mask_shuffle_epi32::<0b01_00_00_00>(keys, BUCKETS, buckets);
        // SAFETY: four probes are 64 bytes long.
        unsafe { _mm512_storeu_si512(probes.as_mut_ptr().cast(), all) };
    }

    /// Where the search for each key begins, in the second word of each: [`super::bucket_of`] and [`super::hash`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn buckets_of(keys: __m512i, bucket_count: usize) -> __m512i {
        let both = |[low, high]: [u64; 2]| {
            _mm512_broadcast_i32x4(_mm_set_epi64x(high.cast_signed(), low.cast_signed()))
        };
        let products = _mm512_mullo_epi64(_mm512_xor_si512(keys, both(MIXED)), both(FACTORS));
        // The words of a key in reverse: its high half, turned by half of it, comes to the low one.
        let turned = _mm512_shuffle_epi32::<0b00_01_10_11>(products);
        let sums = _mm512_xor_si512(products, turned);
        let sums = _mm512_xor_si512(sums, _mm512_srli_epi64::<32>(sums));
        let hashes = _mm512_mullo_epi64(sums, _mm512_set1_epi64(LAST_FACTOR.cast_signed()));
        _mm512_mul_epu32(
            _mm512_srli_epi64::<32>(hashes),
            _mm512_set1_epi64(bucket_count as i64),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LONG, Line, Probe, SHORT_BYTES, bucket_of, forms, hash};

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            words in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..90), table in 1_usize..50,
            before in 0_usize..3,
        ) {
            let mut text = vec![7; before];
            let mut ends = Vec::new();
            for word in &words {
                text.extend_from_slice(word);
                ends.push(text.len() as u32);
                text.push(b'\n');
            }
            // The last line may lack its newline.
            text.pop();
            let table: Vec<Line> = (0..table).map(|_| Line::default()).collect();
            let expected: Vec<Probe> = words.iter().map(|word| {
                let mut key = [0; 12];
                if word.len() > SHORT_BYTES {
                    key[SHORT_BYTES] = LONG;
                } else {
                    key[..word.len()].copy_from_slice(word);
                    key[SHORT_BYTES] = word.len() as u8 + 1;
                }
                let start = u64::from_le_bytes(std::array::from_fn(|byte| key[byte]));
                let end = u32::from_le_bytes(std::array::from_fn(|byte| key[8 + byte]));
                Probe { start, end, bucket: bucket_of(hash(start, end), table.len()) as u32 }
            }).collect();
            for form in forms() {
                let mut made = vec![Probe::default(); words.len()];
                (form.function)(&text, before, &ends, &table, &mut made);
                prop_assert_eq!(&made, &expected, "{}", form.features);
            }
        }
    }
}
