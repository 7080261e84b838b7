//! One segment of an opened column.

use std::sync::OnceLock;

use crate::codes::Scratch;
use crate::codes::section::{CodesSection, Groups};
use crate::dictionary::Dictionary;
use crate::error::{ColumnError, Result, corrupt};
use crate::format::{BLOCK_ROWS, CLASS_LIMIT, SectionKind, SegmentEntry, TOKENS};
use crate::name;
use crate::postings::{MemoryPostings, PostingsSection};
use crate::ranking::Ranking;
use crate::storage::ReadAt;

/// A segment's sections, opened.
pub(super) struct Segment {
    pub(super) first_row: u64,
    pub(super) entry: SegmentEntry,
    pub(super) dictionary: Dictionary,
    pub(super) codes: Option<CodesSection>,
    pub(super) postings: Option<PostingsSection>,
    pub(super) memory: Option<MemoryPostings>,
    class_map: Option<CodesSection>,
    ranking: OnceLock<Ranking>,
}

impl Segment {
    /// Opens the segment that `entry` describes, in a file with these incompatible `features`.
    pub(super) fn open(
        source: &dyn ReadAt,
        entry: SegmentEntry,
        first_row: u64,
        features: u64,
    ) -> Result<Self> {
        let symbols = entry.symbol_count();
        let section = |kind| entry.section(kind);
        let dictionary = section(SectionKind::Dictionary)
            .ok_or_else(|| corrupt("footer", 0, "a segment without dictionary"))?;
        let dictionary = Dictionary::open(source, dictionary, entry.value_count)?;
        let groups = if features & TOKENS == 0 {
            Groups::NotAnnounced
        } else {
            Groups::Allowed
        };
        let open_codes = |section| CodesSection::open(source, section, entry.row_count, symbols, groups);
        let codes = section(SectionKind::Codes).map(open_codes).transpose()?;
        let open_map =
            |section| CodesSection::open(source, section, symbols, CLASS_LIMIT as u64, Groups::ClassMap);
        let class_map = section(SectionKind::ClassMap).map(open_map).transpose()?;
        let open_postings = |section| PostingsSection::open(section, entry.row_count, symbols);
        let postings = section(SectionKind::Postings).map(open_postings).transpose()?;
        Ok(Self {
            first_row,
            dictionary,
            codes,
            postings,
            memory: None,
            class_map,
            ranking: OnceLock::new(),
            entry,
        })
    }

    pub(super) fn row_count(&self) -> u64 {
        self.entry.row_count
    }

    pub(super) fn has_index(&self) -> bool {
        self.postings.is_some() || self.memory.is_some()
    }

    /// The name of the column that it was encoded from, if it has one.
    pub(super) fn name(&self, source: &dyn ReadAt) -> Result<Option<String>> {
        let section = self.entry.section(SectionKind::Name);
        section
            .map(|section| name::of_section(source, section))
            .transpose()
    }

    /// The code of null, if a row is null.
    pub(super) fn null_code(&self) -> Option<u32> {
        (self.entry.null_count > 0).then_some(self.entry.value_count as u32)
    }

    pub(super) fn codes(&self) -> Result<&CodesSection> {
        self.codes.as_ref().ok_or(ColumnError::NoCodes)
    }

    pub(super) fn preload(&mut self, source: &dyn ReadAt) -> Result<()> {
        self.dictionary.make_resident(source)?;
        if let Some(postings) = &mut self.postings {
            return postings.make_resident(source);
        }
        let (symbols, rows) = (self.entry.symbol_count() as usize, self.entry.row_count as usize);
        let blocks = self.codes()?.entries().len();
        let memory = MemoryPostings::build(symbols, rows, |action| {
            let (mut codes, mut scratch) = (Vec::new(), Scratch::default());
            for block in 0..blocks {
                self.decode(source, block, &mut codes, &mut scratch)?;
                action((block * BLOCK_ROWS) as u32, &codes);
            }
            Ok(())
        })?;
        self.memory = Some(memory);
        Ok(())
    }

    /// The code of `value`. Where its rows are is asked for as soon as its neighbours are known.
    pub(super) fn find(&self, source: &dyn ReadAt, value: &[u8]) -> Result<Option<u32>> {
        self.dictionary
            .find(source, value, |code| match (&self.memory, &self.postings) {
                (Some(memory), _) => memory.prefetch(code),
                (None, Some(postings)) => postings.prefetch(code),
                (None, None) => {}
            })
    }

    /// The map from ranks to codes, read at its first use; `None` where they are the same.
    pub(super) fn ranking(&self, source: &dyn ReadAt) -> Result<Option<&Ranking>> {
        let (Some(map), Some(codes)) = (&self.class_map, &self.codes) else {
            return Ok(None);
        };
        if self.ranking.get().is_none() {
            let mut classes = Vec::new();
            let (mut block_classes, mut scratch) = (Vec::new(), Scratch::default());
            for block in 0..map.entries().len() {
                map.decode(source, block, &mut block_classes, &mut scratch)?;
                classes.extend_from_slice(&block_classes);
            }
            let offset = self
                .entry
                .section(SectionKind::ClassMap)
                .map_or(0, |section| section.offset);
            // Another thread may have been faster with the same result.
            let _ = self
                .ranking
                .set(Ranking::from_classes(&classes, codes.classes(), offset)?);
        }
        Ok(self.ranking.get())
    }

    /// The codes of block `block`, into `codes`.
    pub(super) fn decode(
        &self,
        source: &dyn ReadAt,
        block: usize,
        codes: &mut Vec<u32>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        codes.resize(self.codes()?.rows_in(block), 0);
        self.decode_into(source, block, codes, scratch)
    }

    /// As [`Segment::decode`], into a slice of the block's length.
    pub(super) fn decode_into(
        &self,
        source: &dyn ReadAt,
        block: usize,
        codes: &mut [u32],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.codes()?.decode_into(source, block, codes, scratch)?;
        if let Some(ranking) = self.ranking(source)? {
            ranking.codes().apply(codes);
        }
        Ok(())
    }

    /// The code of one row of the segment.
    pub(super) fn code_at(&self, source: &dyn ReadAt, row: u64, scratch: &mut Scratch) -> Result<u32> {
        let (block, index) = (
            (row / BLOCK_ROWS as u64) as usize,
            (row % BLOCK_ROWS as u64) as usize,
        );
        let rank = self
            .codes()?
            .with_block(source, block, scratch, |block, _| block.get(index))?;
        if u64::from(rank) >= self.entry.symbol_count() {
            return Err(corrupt(
                "code block",
                0,
                format!("rank {rank} of {} symbols", self.entry.symbol_count()),
            ));
        }
        Ok(self
            .ranking(source)?
            .map_or(rank, |ranking| ranking.codes().get(rank)))
    }
}
