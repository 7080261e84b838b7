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

/// Sixteen counters a word.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    words: Mapping<u64>,
    seen: u64,
}

impl Sketch {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// Grows the table to hold this many different hashes, within `most_bytes`. Counts stay: the new half starts as a copy of the old one.
    pub(crate) fn fit(&mut self, items: u64, most_bytes: usize) {
        let most = (most_bytes / size_of::<u64>()).max(16 * WORDS_PER_ITEM);
        let wanted = items.max(16).next_power_of_two() as usize * WORDS_PER_ITEM;
        let wanted = wanted.min(1 << most.ilog2());
        let have = self.words.len();
        if have >= wanted {
            return;
        }
        // Without address space it stays as it is.
        let Ok(mut larger) = Mapping::<u64>::reserve(wanted) else {
            return;
        };
        if have > 0 {
            for part in larger.chunks_mut(have) {
                part.copy_from_slice(&self.words);
            }
        }
        self.words = larger;
    }

    /// The word and the shift of a hash's counter in each row.
    fn places(&self, hash: u64) -> [(usize, u32); ROWS] {
        std::array::from_fn(|row| {
            let salt = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            // Mixed twice: rows that collide together would be one row.
            let mixed = (hash ^ salt).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            let mixed = mixed ^ mixed >> 32;
            let word = mixed as usize & (self.words.len() - 1);
            (word, ((mixed >> 60) as u32 & 3 | (row as u32) << 2) * 4)
        })
    }

    pub(crate) fn add(&mut self, hash: u64) {
        if self.words.is_empty() {
            return;
        }
        let places = self.places(hash);
        let count = |words: &[u64], (word, shift): (usize, u32)| words[word] >> shift & MOST;
        let least = places
            .iter()
            .map(|&place| count(&self.words, place))
            .min()
            .unwrap_or(MOST);
        if least < MOST {
            for (word, shift) in places {
                if count(&self.words, (word, shift)) == least {
                    self.words[word] += 1 << shift;
                }
            }
        }
        self.seen += 1;
        if self.seen >= (self.words.len() / WORDS_PER_ITEM) as u64 * SAMPLE_FACTOR {
            self.words
                .iter_mut()
                .for_each(|word| *word = *word >> 1 & 0x7777_7777_7777_7777);
            self.seen /= 2;
        }
    }

    pub(crate) fn estimate(&self, hash: u64) -> u64 {
        if self.words.is_empty() {
            return 0;
        }
        let counts = self
            .places(hash)
            .map(|(word, shift)| self.words[word] >> shift & MOST);
        counts.into_iter().min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_never_too_low_seldom_too_high_and_outlive_growth() {
        let hash = |number: u64| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17);
        let mut sketch = Sketch::default();
        for number in 0..4000_u64 {
            sketch.fit(number + 1, usize::MAX);
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
