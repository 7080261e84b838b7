//! How often a hash was seen, approximately: a count-min sketch of four-bit counters that forgets by halving.
//!
//! *Source*: Cormode and Muthukrishnan, J. Algorithms 2005; the halving is TinyLFU's.

const ROWS: u64 = 4;
/// Counts remembered per expected item before all are halved.
const SAMPLE_FACTOR: u64 = 10;

/// Sixteen counters a word.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    words: Vec<u64>,
    seen: u64,
}

impl Sketch {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// Makes room for this many different hashes; what was counted is forgotten when it has to grow.
    pub(crate) fn fit(&mut self, items: u64) {
        let wanted = items.max(16).next_power_of_two() as usize;
        if wanted > self.words.len() {
            self.words = vec![0; wanted];
            self.seen = 0;
        }
    }

    fn place(&self, hash: u64, row: u64) -> (usize, u32) {
        let mixed = (hash ^ row.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mixed = mixed ^ mixed >> 32;
        let word = mixed as usize & (self.words.len() - 1);
        (word, ((mixed >> 60) as u32 & 3 | (row as u32) << 2) * 4)
    }

    pub(crate) fn add(&mut self, hash: u64) {
        if self.words.is_empty() {
            return;
        }
        for row in 0..ROWS {
            let (word, shift) = self.place(hash, row);
            if self.words[word] >> shift & 0xF < 0xF {
                self.words[word] += 1 << shift;
            }
        }
        self.seen += 1;
        if self.seen >= self.words.len() as u64 * SAMPLE_FACTOR {
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
        let counts = (0..ROWS).map(|row| {
            let (word, shift) = self.place(hash, row);
            self.words[word] >> shift & 0xF
        });
        counts.min().unwrap_or(0)
    }
}
