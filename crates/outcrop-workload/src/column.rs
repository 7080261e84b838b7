//! String columns of a wanted cardinality, skew and order: what the column codec is measured with.

mod text;

use std::collections::HashSet;

use outcrop_measure::seed::{Generator, Seed};
use rand::Rng;

use crate::uniform::uniform_below;
use crate::zipfian::ZipfianRanks;

crate::words! {
    /// Order of the rows of a column.
    #[derive(Default)]
    pub enum RowOrder: "row order" {
        /// Every row is drawn on its own.
        #[default]
        Random = "random",
        /// Rows come in stretches that draw from 64 neighbouring values only, as in data that arrives grouped.
        Clustered = "clustered",
        /// All rows of a value follow each other, values ascending.
        Sorted = "sorted",
    }
}

crate::words! {
    /// What a trial does to a column over and over.
    #[derive(Default)]
    pub enum Operation: "operation" {
        /// Rows to a file, which is counted and dropped.
        #[default]
        Encode = "encode",
        /// A file to text, which is counted and dropped.
        Decode = "decode",
        /// A file to dictionary codes, block by block.
        Scan = "scan",
        /// All rows of a value; values are drawn uniformly from the distinct ones.
        Equality = "equality",
        /// All rows whose value begins with the first three bytes of a drawn value.
        Prefix = "prefix",
        /// All rows whose value lies between two values that are a hundredth of the dictionary apart.
        Range = "range",
        /// The value of a drawn row.
        Get = "get",
        /// The whole column, once: what it takes as a column file, in the user's file, and in Parquet with zstd.
        Size = "size",
    }
}

impl Operation {
    /// Whether it looks rows up by value.
    pub const fn is_search(self) -> bool {
        matches!(self, Self::Equality | Self::Prefix | Self::Range)
    }
}

crate::words! {
    /// Where the file is while it is read, and how rows are found in it.
    #[derive(Default)]
    pub enum SearchMode: "search mode" {
        /// The file in memory, preloaded: the dictionary decompressed, and postings built where the file has none.
        #[default]
        InMemory = "in-memory",
        /// The file on disk: every query reads what it needs and keeps nothing.
        OnDisk = "on-disk",
        /// The file in memory, and rows found by a scan of the codes even where there are postings.
        Scan = "scan",
    }
}

/// A column to be generated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnSpec {
    /// Rows.
    pub row_count: u64,
    /// Words to draw from; with many rows a value, all of them occur.
    pub distinct: u32,
    /// Exponent of the Zipf distribution of the words' frequencies; 0 is uniform.
    pub skew: f64,
    /// Order of the rows.
    pub order: RowOrder,
    /// Seed of the words and of the rows.
    pub seed: Seed,
}

/// Rows of a stretch in [`RowOrder::Clustered`], and the words that it draws from.
const STRETCH_ROWS: u64 = 4096;
const STRETCH_WORDS: u32 = 64;

impl ColumnSpec {
    /// The words, most frequent first: lower-case, different, 7.1 letters on average where there are enough to draw from.
    ///
    /// *Cost*: all words in memory, twice while they are made.
    pub fn words(&self) -> Vec<String> {
        let mut random = self.seed.derive("words").rng();
        // Asked only whether a word is in it: its own order never shows.
        let mut seen = HashSet::with_capacity(self.distinct as usize);
        let mut words = Vec::with_capacity(self.distinct as usize);
        while words.len() < self.distinct as usize {
            // Lengths of 4 to 10 letters about 7, as in a word list.
            let length = 4
                + (0..3).map(|_| uniform_below(random.next_u64(), 3)).sum::<u64>()
                + u64::from(uniform_below(random.next_u64(), 10) == 0);
            let word: String = (0..length)
                .map(|_| char::from(b'a' + uniform_below(random.next_u64(), 26) as u8))
                .collect();
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        words
    }

    /// The row numbers' words, as indexes into [`ColumnSpec::words`].
    pub fn rows(&self) -> Rows {
        let ranks = ZipfianRanks::new(u64::from(self.distinct), self.skew);
        Rows {
            spec: *self,
            random: self.seed.derive("rows").rng(),
            ranks,
            next: 0,
            stretch: 0,
        }
    }
}

/// Iterator over the words of a column's rows; see [`ColumnSpec::rows`].
#[derive(Debug, Clone)]
pub struct Rows {
    spec: ColumnSpec,
    random: Generator,
    ranks: ZipfianRanks,
    next: u64,
    stretch: u32,
}

impl Rows {
    fn draw(&mut self) -> u32 {
        (self.ranks.next_rank(&mut self.random) - 1) as u32
    }
}

impl Iterator for Rows {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.next >= self.spec.row_count || self.spec.distinct == 0 {
            return None;
        }
        let row = self.next;
        self.next += 1;
        Some(match self.spec.order {
            RowOrder::Random => self.draw(),
            RowOrder::Clustered => {
                if row.is_multiple_of(STRETCH_ROWS) {
                    self.stretch = self.draw();
                }
                let span = STRETCH_WORDS.min(self.spec.distinct);
                ((u64::from(self.stretch) + uniform_below(self.random.next_u64(), u64::from(span)))
                    % u64::from(self.spec.distinct)) as u32
            }
            // Ranks that the inverse of the distribution's (continuous) sum gives for evenly spaced rows.
            RowOrder::Sorted => {
                let share = (row as f64 + 0.5) / self.spec.row_count as f64;
                (sorted_rank(share, f64::from(self.spec.distinct), self.spec.skew) as u32)
                    .min(self.spec.distinct - 1)
            }
        })
    }
}

/// The rank below which a `share` of all rows falls, for densities x^−skew on 1 … distinct + 1.
fn sorted_rank(share: f64, distinct: f64, skew: f64) -> f64 {
    let end = distinct + 1.0;
    let power = 1.0 - skew;
    if power.abs() < 1e-9 {
        end.powf(share) - 1.0
    } else {
        (1.0 + share * (end.powf(power) - 1.0)).powf(1.0 / power) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use outcrop_measure::seed::Seed;

    use super::{ColumnSpec, RowOrder};

    fn spec(skew: f64, order: RowOrder) -> ColumnSpec {
        ColumnSpec {
            row_count: 200_000,
            distinct: 1000,
            skew,
            order,
            seed: Seed(42),
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_column_and_another_seed_another() {
        let first = spec(1.0, RowOrder::Random);
        assert_eq!(first.words(), first.words());
        assert!(first.rows().eq(first.rows()));
        let other = ColumnSpec {
            seed: Seed(43),
            ..first
        };
        assert_ne!(first.words(), other.words());
        assert!(!first.rows().eq(other.rows()));
    }

    #[test]
    fn words_differ_and_have_seven_letters_on_average() {
        let words = ColumnSpec {
            distinct: 20_000,
            ..spec(0.0, RowOrder::Random)
        }
        .words();
        let distinct: std::collections::BTreeSet<&String> = words.iter().collect();
        assert_eq!(distinct.len(), 20_000);
        let mean = words.iter().map(String::len).sum::<usize>() as f64 / words.len() as f64;
        assert!((7.0..7.2).contains(&mean), "{mean}");
    }

    #[test]
    fn counts_follow_the_skew_in_random_and_sorted_order() {
        for order in [RowOrder::Random, RowOrder::Sorted] {
            let mut counts = vec![0_u32; 1000];
            spec(1.0, order)
                .rows()
                .for_each(|word| counts[word as usize] += 1);
            let tenfold =
                f64::from(counts[9..12].iter().sum::<u32>()) / f64::from(counts[99..130].iter().sum::<u32>());
            // 1/10 + 1/11 + 1/12 over the sum of 1/100 … 1/130.
            assert!((0.8..1.4).contains(&tenfold), "{order}: {tenfold}");
            let mut uniform = vec![0_u32; 1000];
            spec(0.0, order)
                .rows()
                .for_each(|word| uniform[word as usize] += 1);
            assert!(
                uniform.iter().all(|&count| (100..300).contains(&count)),
                "{order}"
            );
        }
        assert!(spec(0.7, RowOrder::Sorted).rows().is_sorted());
    }

    #[test]
    fn clustered_rows_draw_from_few_words_at_a_time() {
        let rows: Vec<u32> = spec(0.0, RowOrder::Clustered).rows().collect();
        for stretch in rows.chunks(4096) {
            let words: std::collections::BTreeSet<&u32> = stretch.iter().collect();
            assert!(words.len() <= 64);
        }
    }
}
