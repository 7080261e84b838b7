//! What a search found: code ranges, from which rows, counts or values are drawn as asked.

use roaring::RoaringTreemap;

use super::decode::Values;
use super::merged::for_each_merged;
use super::segment::Segment;
use crate::codes::{Block, Scratch};
use crate::error::Result;
use crate::format::BLOCK_ROWS;
use crate::postings::{MemoryPostings, PostingsSection};
use crate::storage::ReadAt;

/// More ranges than this are looked up in a bit set, row by row, instead of searched for one after the other.
const RANGES_SEARCHED: usize = 4;

/// Counts read before the values that they belong to: little of a search's memory, and many
/// per page of the postings table.
const COUNTS_AT_ONCE: usize = 4096;

/// The rows that a search selected, not yet materialised.
///
/// Rows come from the postings, in the file or in memory, and where there are none from a scan of the codes.
pub struct Selection<'a> {
    source: &'a dyn ReadAt,
    /// For each segment the codes selected, as ascending inclusive ranges.
    parts: Vec<(&'a Segment, Vec<(u32, u32)>)>,
}

/// The codes that a search selected, without the column: for callers that share the column and keep the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SelectedCodes {
    /// For each segment, ascending inclusive ranges.
    parts: Vec<Vec<(u32, u32)>>,
}

impl super::Column {
    /// The selection of codes that [`Selection::into_codes`] gave. Codes that this column does not have are left out.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// # let mut file = Vec::new();
    /// # encode_text("tuff\nmarl\ntuff\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// let column = Column::open_in(file)?;
    /// let codes = column.find(b"tuff")?.into_codes();
    /// assert_eq!(column.selection(&codes).rows()?, [0, 2]);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    pub fn selection(&self, codes: &SelectedCodes) -> Selection<'_> {
        let parts = self.segments.iter().zip(&codes.parts).map(|(segment, ranges)| {
            let symbols = segment.entry.symbol_count();
            let known = ranges.iter().filter(|(_, last)| u64::from(*last) < symbols);
            (segment, known.copied().collect())
        });
        Selection::new(&*self.source, parts.collect())
    }
}

impl std::fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selection")
            .field("values", &self.value_count())
            .finish_non_exhaustive()
    }
}

impl<'a> Selection<'a> {
    pub(super) fn new(source: &'a dyn ReadAt, parts: Vec<(&'a Segment, Vec<(u32, u32)>)>) -> Self {
        Self { source, parts }
    }

    /// The codes alone; [`super::Column::selection`] makes them a selection again.
    pub fn into_codes(self) -> SelectedCodes {
        SelectedCodes {
            parts: self.parts.into_iter().map(|(_, ranges)| ranges).collect(),
        }
    }

    /// Distinct values selected, counted in each segment; null counts as one.
    pub fn value_count(&self) -> u64 {
        self.ranges()
            .map(|(_, (first, last))| u64::from(last - first) + 1)
            .sum()
    }

    fn ranges(&self) -> impl Iterator<Item = (&'a Segment, (u32, u32))> {
        self.parts
            .iter()
            .flat_map(|(segment, ranges)| ranges.iter().map(|&range| (*segment, range)))
    }

    /// Number of rows. *Cost*: with postings, two reads a value and no list.
    ///
    /// # Errors
    /// [`crate::ColumnError::Corrupt`] and what the source reports, as all methods here.
    pub fn count(&self) -> Result<u64> {
        let mut total = 0;
        for (segment, ranges) in &self.parts {
            if !segment.has_index() {
                self.scan(segment, ranges, |_| total += 1)?;
                continue;
            }
            let counts = self.counts(segment, ranges)?;
            for &(first, last) in ranges {
                counts.for_each(first, last, |count| total += count)?;
            }
        }
        Ok(total)
    }

    /// The rows, ascending.
    ///
    /// # Errors
    /// As [`Selection::count`].
    pub fn rows(&self) -> Result<Vec<u64>> {
        let mut rows = self.rows_by_value()?;
        // Of one value they are ascending already.
        if self.value_count() > 1 && !rows.is_sorted() {
            rows.sort_unstable();
        }
        Ok(rows)
    }

    /// The rows in the order that costs least: from postings value by value, from a scan ascending.
    ///
    /// # Errors
    /// As [`Selection::count`].
    pub fn rows_by_value(&self) -> Result<Vec<u64>> {
        let mut rows = Vec::new();
        for (segment, ranges) in &self.parts {
            if !segment.has_index() {
                self.scan(segment, ranges, |row| rows.push(row))?;
                continue;
            }
            for &(first, last) in ranges {
                if let Some(memory) = &segment.memory {
                    rows.extend(
                        memory
                            .rows(first, last)
                            .map(|row| segment.first_row + u64::from(row)),
                    );
                } else if let Some(postings) = &segment.postings {
                    postings.push_rows(self.source, first, last, segment.first_row, &mut rows)?;
                }
            }
        }
        Ok(rows)
    }

    /// The rows, ascending, found by a scan of the codes whether or not there are postings.
    ///
    /// # Errors
    /// As [`Selection::count`]; [`crate::ColumnError::NoCodes`] in a file with the index only.
    pub fn rows_by_scan(&self) -> Result<Vec<u64>> {
        let mut rows = Vec::new();
        for (segment, ranges) in &self.parts {
            self.scan(segment, ranges, |row| rows.push(row))?;
        }
        Ok(rows)
    }

    /// The rows as a compressed bitmap.
    ///
    /// # Errors
    /// As [`Selection::count`].
    pub fn bitmap(&self) -> Result<RoaringTreemap> {
        Ok(self.rows()?.into_iter().collect())
    }

    /// Calls `action` with each value selected and the number of its rows: in byte
    /// order, then `None` for null.
    ///
    /// *Cost*: with one segment, nothing is kept; with more, the selected values
    /// and counts are merged in memory.
    ///
    /// # Errors
    /// Those of `action`, and as [`Selection::count`].
    pub fn for_each_value(&self, mut action: impl FnMut(Option<&[u8]>, u64) -> Result<()>) -> Result<()> {
        if let [part] = &self.parts[..] {
            return self.values_of(part, action);
        }
        let mut values: Vec<Values> = Vec::new();
        let mut counts = Vec::new();
        let mut null_count = 0;
        for part in &self.parts {
            let (mut own, mut own_counts) = (Values::default(), Vec::new());
            self.values_of(part, |value, count| {
                match value {
                    None => null_count += count,
                    Some(value) => {
                        own.push(value);
                        own_counts.push(count);
                    }
                }
                Ok(())
            })?;
            values.push(own);
            counts.push(own_counts);
        }
        for_each_merged(&values, |value, places| {
            let count = places.iter().map(|&(part, index)| counts[part][index as usize]);
            action(Some(value), count.sum())
        })?;
        if null_count > 0 {
            action(None, null_count)?;
        }
        Ok(())
    }

    /// Calls `action` with each value selected, in byte order within each segment; null is left out.
    ///
    /// *Cost*: that of reading the values; without postings, [`Selection::for_each_value`] scans all rows to count them.
    ///
    /// # Errors
    /// Those of `action`, and as [`Selection::count`].
    pub fn for_each_value_alone(&self, mut action: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for (segment, (first, last)) in self.ranges() {
            let end = (last + 1).min(segment.dictionary.value_count() as u32);
            segment
                .dictionary
                .for_each(self.source, first..end, |_, value| action(value))?;
        }
        Ok(())
    }

    fn values_of(
        &self,
        (segment, ranges): &(&'a Segment, Vec<(u32, u32)>),
        mut action: impl FnMut(Option<&[u8]>, u64) -> Result<()>,
    ) -> Result<()> {
        let counts = self.counts(segment, ranges)?;
        let mut part = Vec::with_capacity(COUNTS_AT_ONCE);
        for &(first, last) in ranges {
            let end = (last + 1).min(segment.dictionary.value_count() as u32);
            for start in (first..end).step_by(COUNTS_AT_ONCE) {
                let stop = (start + COUNTS_AT_ONCE as u32).min(end);
                part.clear();
                counts.for_each(start, stop - 1, |count| part.push(count))?;
                segment
                    .dictionary
                    .for_each(self.source, start..stop, |code, value| {
                        action(Some(value), part[(code - start) as usize])
                    })?;
            }
            if Some(last) == segment.null_code() {
                let mut null_count = 0;
                counts.for_each(last, last, |count| null_count = count)?;
                action(None, null_count)?;
            }
        }
        Ok(())
    }

    fn counts(&self, segment: &'a Segment, ranges: &[(u32, u32)]) -> Result<Counts<'a>> {
        let source = self.source;
        Ok(match (&segment.memory, &segment.postings) {
            (Some(memory), _) => Counts::Memory(memory),
            (None, Some(postings)) => Counts::Postings { postings, source },
            (None, None) => self.scanned_counts(segment, ranges)?,
        })
    }

    /// Rows of each selected code by a scan.
    fn scanned_counts(&self, segment: &'a Segment, ranges: &[(u32, u32)]) -> Result<Counts<'a>> {
        if let &[(first, last)] = ranges
            && first == last
        {
            let mut count = 0;
            self.scan(segment, ranges, |_| count += 1)?;
            return Ok(Counts::One(count));
        }
        let mut counts = vec![0_u64; segment.entry.symbol_count() as usize];
        let (mut codes, mut scratch) = (Vec::new(), Scratch::default());
        for block in 0..segment.codes()?.entries().len() {
            segment.decode(self.source, block, &mut codes, &mut scratch)?;
            codes.iter().for_each(|&code| counts[code as usize] += 1);
        }
        Ok(Counts::Scanned(counts))
    }

    /// Calls `action` with the rows, ascending, whose codes lie in `ranges`.
    fn scan(&self, segment: &Segment, ranges: &[(u32, u32)], mut action: impl FnMut(u64)) -> Result<()> {
        let section = segment.codes()?;
        let (Some(&(first, _)), Some(&(_, last))) = (ranges.first(), ranges.last()) else {
            return Ok(());
        };
        let wanted = RankSet::new(segment, self.source, ranges)?;
        let wants_null = segment.null_code().is_some_and(|null| last == null);
        let (mut found, mut scratch) = (Vec::new(), Scratch::default());
        for (index, entry) in section.entries().iter().enumerate() {
            let outside = entry.greatest < first || entry.least > last || entry.least > entry.greatest;
            if outside && !(wants_null && entry.null_count > 0) {
                continue;
            }
            found.clear();
            section.with_block(self.source, index, &mut scratch, |block, scratch| {
                wanted.find_in(block, section.rows_in(index), &mut found, scratch)
            })?;
            let first_row = segment.first_row + (index * BLOCK_ROWS) as u64;
            found.iter().for_each(|&row| action(first_row + u64::from(row)));
        }
        Ok(())
    }
}

/// Where the number of a code's rows comes from.
enum Counts<'a> {
    Memory(&'a MemoryPostings),
    Postings {
        postings: &'a PostingsSection,
        source: &'a dyn ReadAt,
    },
    /// Of each code, by a scan.
    Scanned(Vec<u64>),
    /// Of the only code selected, by a scan.
    One(u64),
}

impl Counts<'_> {
    /// Calls `action` with the number of rows of each of the codes `first ..= last`, in order.
    fn for_each(&self, first: u32, last: u32, mut action: impl FnMut(u64)) -> Result<()> {
        match self {
            Self::Memory(memory) => (first..=last).for_each(|code| action(u64::from(memory.count(code)))),
            Self::Postings { postings, source } => {
                postings.for_each_count(*source, first, last, |count| action(u64::from(count)))?;
            }
            Self::Scanned(counts) => counts[first as usize..=last as usize]
                .iter()
                .for_each(|&count| action(count)),
            Self::One(count) => action(*count),
        }
        Ok(())
    }
}

/// The ranks wanted: as ranges, and as a bit set where there are many.
struct RankSet {
    ranges: Vec<(u32, u32)>,
    bits: Vec<u64>,
}

impl RankSet {
    fn new(segment: &Segment, source: &dyn ReadAt, codes: &[(u32, u32)]) -> Result<Self> {
        let mut ranges = match segment.ranking(source)? {
            None => codes.to_vec(),
            Some(ranking) => codes
                .iter()
                .flat_map(|&(first, last)| ranking.ranges(first, last))
                .collect(),
        };
        ranges.sort_unstable();
        let mut bits = Vec::new();
        if ranges.len() > RANGES_SEARCHED {
            bits.resize((segment.entry.symbol_count() as usize).div_ceil(64), 0_u64);
            for rank in ranges.iter().flat_map(|&(first, last)| first..=last) {
                bits[rank as usize / 64] |= 1 << (rank % 64);
            }
        }
        Ok(Self { ranges, bits })
    }

    fn find_in(
        &self,
        block: &Block<'_>,
        count: usize,
        found: &mut Vec<u32>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        // Tokens have no order in which one range could be searched faster than all.
        if let Block::Tokens(tokens) = block {
            return tokens.find(|rank| self.has(rank), found);
        }
        // Each class is searched on its own, so a range in each of the 16 costs no more than one pass.
        let by_range = self.bits.is_empty()
            || matches!(block, Block::Classes(_)) && self.ranges.len() <= 4 * RANGES_SEARCHED;
        if by_range {
            for &(least, greatest) in &self.ranges {
                block.find_within(least, greatest, found)?;
            }
            if self.ranges.len() > 1 {
                found.sort_unstable();
            }
            return Ok(());
        }
        let mut ranks = vec![0; count];
        block.decode(&mut ranks, scratch)?;
        found.extend(
            (0_u32..)
                .zip(ranks)
                .filter(|&(_, rank)| self.has(rank))
                .map(|(row, _)| row),
        );
        Ok(())
    }

    #[inline]
    fn has(&self, rank: u32) -> bool {
        if self.bits.is_empty() {
            let mut ranges = self.ranges.iter();
            return ranges.any(|&(least, greatest)| least <= rank && rank <= greatest);
        }
        self.bits
            .get(rank as usize / 64)
            .is_some_and(|word| word >> (rank % 64) & 1 == 1)
    }
}
