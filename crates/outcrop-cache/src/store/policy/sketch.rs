//! How often a hash was seen, approximately: a count-min sketch of four-bit counters that forgets by halving.
//!
//! Only the smallest of a hash's counters grow, which keeps what others added out of it: with eight counters an item in each
//! row the policy hits as often as with exact counts, to a tenth of a point.
//!
//! *Source*: Cormode and Muthukrishnan, J. Algorithms 2005; Estan and Varghese, SIGCOMM 2002 (conservative update); the
//! halving is TinyLFU's.

use super::super::mapping::Mapping;

const ROWS: usize = 4;
/// Sixteen counters each, four for a row.
const WORDS_PER_ITEM: usize = 2;
/// Counts remembered per expected item before all are halved.
const SAMPLE_FACTOR: u64 = 10;
const MOST: u64 = 0xF;

/// The size that a table begins with, in items.
const LEAST_ITEMS: usize = 16;

/// Sixteen counters a word.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    /// Address space for the largest table that there may be.
    space: Mapping<u64>,
    /// Words of it that are the table.
    len: usize,
    /// Words that it is to have, once room was made for them.
    claimed: usize,
    seen: u64,
}

impl Sketch {
    /// A table that grows to at most `most_bytes`, rounded down to a power of two. Without address space it stays empty.
    pub(crate) fn within(most_bytes: usize) -> Self {
        let most = (most_bytes / size_of::<u64>()).max(LEAST_ITEMS * WORDS_PER_ITEM);
        let mut space = Mapping::reserve(1 << most.ilog2()).unwrap_or_default();
        space.in_small_pages();
        let len = space.len().min(LEAST_ITEMS * WORDS_PER_ITEM);
        Self {
            space,
            len,
            claimed: len,
            seen: 0,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.len * size_of::<u64>()
    }

    /// What growing will add to its memory.
    pub(crate) fn growth_bytes(&self) -> usize {
        (self.claimed - self.len) * size_of::<u64>()
    }

    fn words(&self) -> &[u64] {
        &self.space[..self.len]
    }

    /// Claims a table that holds this many different hashes, as far as there may be one.
    pub(crate) fn claim(&mut self, items: u64) {
        let wanted = items.next_power_of_two() as usize * WORDS_PER_ITEM;
        self.claimed = self.claimed.max(wanted.min(self.space.len()));
    }

    /// Grows the table to what it has claimed. Counts stay: each new part starts as a copy of the old table.
    pub(crate) fn grow(&mut self) {
        if self.len < self.claimed {
            let (table, new) = self.space[..self.claimed].split_at_mut(self.len);
            for part in new.chunks_mut(table.len()) {
                part.copy_from_slice(table);
            }
            self.len = self.claimed;
        }
    }

    /// The word and the shift of a hash's counter in each row.
    fn places(&self, hash: u64) -> [(usize, u32); ROWS] {
        std::array::from_fn(|row| {
            let salt = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            // Mixed twice: rows that collide together would be one row.
            let mixed = (hash ^ salt).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            let mixed = mixed ^ mixed >> 32;
            let word = mixed as usize & (self.len - 1);
            (word, ((mixed >> 60) as u32 & 3 | (row as u32) << 2) * 4)
        })
    }

    pub(crate) fn add(&mut self, hash: u64) {
        if self.len == 0 {
            return;
        }
        let places = self.places(hash);
        let count = |words: &[u64], (word, shift): (usize, u32)| words[word] >> shift & MOST;
        let least = places
            .iter()
            .map(|&place| count(self.words(), place))
            .min()
            .unwrap_or(MOST);
        if least < MOST {
            for (word, shift) in places {
                if count(self.words(), (word, shift)) == least {
                    self.space[word] += 1 << shift;
                }
            }
        }
        self.seen += 1;
        if self.seen >= (self.len / WORDS_PER_ITEM) as u64 * SAMPLE_FACTOR {
            self.space[..self.len]
                .iter_mut()
                .for_each(|word| *word = *word >> 1 & 0x7777_7777_7777_7777);
            self.seen /= 2;
        }
    }

    pub(crate) fn estimate(&self, hash: u64) -> u64 {
        if self.len == 0 {
            return 0;
        }
        let counts = self
            .places(hash)
            .map(|(word, shift)| self.space[word] >> shift & MOST);
        counts.into_iter().min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_never_too_low_seldom_too_high_and_outlive_growth() {
        let hash = |number: u64| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17);
        let mut sketch = Sketch::within(1 << 20);
        for number in 0..4000_u64 {
            sketch.claim(number + 1);
            sketch.grow();
            (0..=number % 3).for_each(|_| sketch.add(hash(number)));
        }
        let excess = |number: u64| sketch.estimate(hash(number)).checked_sub(number % 3 + 1);
        assert!((0..4000).all(|number| excess(number).is_some()));
        let wrong = (0..4000).filter(|&number| excess(number) != Some(0)).count();
        assert!(wrong < 200, "{wrong} of 4000");
        let strangers = (5000..9000)
            .filter(|&number| sketch.estimate(hash(number)) > 0)
            .count();
        assert!(strangers < 400, "{strangers} of 4000");
    }
}
