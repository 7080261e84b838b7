//! The ghost queue: which hashes left the small queue lately, in about seven bytes each.
//!
//! Buckets of eight slots; a slot has 16 bits of the hash and the time it was added, counted in 16,384ths of the queue's
//! length. A slot is gone when it is older than that length, or when seven younger ones need its bucket.

use super::super::mapping::Mapping;

const SLOTS: usize = 8;
/// Ghosts per slot that the table is sized for: rarely does a bucket overflow.
const FILL: f64 = 0.6;
const AGE_STEPS: u64 = 1 << 14;

/// A first-in, first-out set of hashes.
#[derive(Debug, Default)]
pub(crate) struct Ghost {
    /// From the kernel: memory of outgrown tables would partly stay with the allocator.
    buckets: Mapping<[u32; SLOTS]>,
    /// The length that the table was made for.
    sized_for: u64,
    /// How many of the last ones added are remembered.
    length: u64,
    added: u64,
}

impl Ghost {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.buckets.len() * size_of::<[u32; SLOTS]>()
    }

    /// Adds a hash; `length` is how many are to be remembered, the newest first. A length that outgrows the table by a
    /// tenth, or needs a quarter of it, makes a new one and forgets.
    pub(crate) fn add(&mut self, hash: u64, length: u64) {
        self.length = length.max(1);
        if self.length * 10 > self.sized_for * 11 || self.length * 4 < self.sized_for {
            let buckets = (self.length as f64 / FILL / SLOTS as f64).ceil() as usize;
            // The old one goes first. Without address space nothing is remembered.
            self.buckets = Mapping::default();
            self.buckets = Mapping::reserve(buckets).unwrap_or_default();
            (self.sized_for, self.added) = (self.length, 0);
        }
        if self.buckets.is_empty() {
            return;
        }
        self.added += 1;
        let now = self.now();
        let bucket = self.bucket_of(hash);
        let slots = &mut self.buckets[bucket];
        // Always the oldest: a slot that stayed gone for four lengths would seem young again.
        let age_of = |place: &usize| {
            if slots[*place] == 0 {
                u32::MAX
            } else {
                age(slots[*place], now)
            }
        };
        let place = (0..SLOTS).max_by_key(age_of).unwrap_or(0);
        slots[place] = fingerprint(hash) << 16 | now;
    }

    /// True when the hash was there; it no longer is.
    pub(crate) fn take(&mut self, hash: u64) -> bool {
        if self.buckets.is_empty() {
            return false;
        }
        let (now, length_steps, bucket) = (self.now(), self.length_steps(), self.bucket_of(hash));
        let wanted = fingerprint(hash);
        for slot in &mut self.buckets[bucket] {
            if *slot >> 16 == wanted && age(*slot, now) <= length_steps {
                *slot = 0;
                return true;
            }
        }
        false
    }

    /// Additions per step of age.
    fn step(&self) -> u64 {
        self.sized_for.div_ceil(AGE_STEPS)
    }

    fn length_steps(&self) -> u32 {
        (self.length / self.step()) as u32
    }

    fn now(&self) -> u32 {
        (self.added / self.step()) as u32 & 0xFFFF
    }

    fn bucket_of(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.buckets.len() as u128) >> 64) as usize
    }
}

/// 16 bits that are never all zero, from the part of the hash that chooses no bucket.
fn fingerprint(hash: u64) -> u32 {
    (hash as u32 & 0xFFFF).max(1)
}

fn age(slot: u32, now: u32) -> u32 {
    now.wrapping_sub(slot) & 0xFFFF
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u64) -> u64 {
        (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (number + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(32)
    }

    #[test]
    fn the_newest_are_remembered_and_the_older_are_not() {
        for length in [1_u64, 10, 1000, 100_000] {
            let mut ghost = Ghost::default();
            let total = length * 10;
            (0..total).for_each(|number| ghost.add(hash(number), length));
            let newest = (total - length..total)
                .filter(|&number| ghost.take(hash(number)))
                .count();
            let older = (0..total - length - length / 100 - 2)
                .filter(|&number| ghost.take(hash(number)))
                .count();
            assert!(newest as f64 >= length as f64 * 0.97, "{newest} of {length}");
            assert!(
                older as f64 <= length as f64 * 0.01,
                "{older} of {}",
                total - length
            );
            assert!(ghost.memory_bytes() as f64 <= length as f64 * 7.0 + 64.0);
        }
    }

    #[test]
    fn what_was_taken_is_gone() {
        let mut ghost = Ghost::default();
        ghost.add(hash(1), 100);
        assert!(ghost.take(hash(1)));
        assert!(!ghost.take(hash(1)));
    }
}
