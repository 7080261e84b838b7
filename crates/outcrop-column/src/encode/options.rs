//! What the caller chooses about a column file, and what came of it.

use crate::codes::Effort;
use crate::dictionary::DictionaryOptions;
use crate::format::{SectionKind, SegmentEntry};
use crate::packed::PackedForm;

/// Which index the file carries from values to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Index {
    /// Forward codes only: the smallest file. Lookups scan the codes, or an index built in memory.
    #[default]
    None,
    /// Forward codes and postings: both directions are fast.
    Postings,
    /// Postings only: lookups in microseconds, no way from a row to its value.
    Only,
}

/// What matters more, size or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Tries several forms of every block under zstd at its highest useful level, with and without class map, and compresses the dictionary in 64 KiB blocks.
    /// Without index, a column of at most 2 MiB of text is *packed* where that is smaller still: opening such a file unpacks it into memory.
    Smallest,
    /// Tries zstd where a sample of the block shrinks; the dictionary stays readable in 4 KiB reads where there are postings.
    #[default]
    Balanced,
    /// No zstd.
    Fastest,
}

/// How to write a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    /// The index to write.
    pub index: Index,
    /// Size or time.
    pub profile: Profile,
    /// Threads that encode; 1 starts none. The bytes written do not depend on it.
    pub threads: usize,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            index: Index::default(),
            profile: Profile::default(),
            threads: 1,
        }
    }
}

impl EncodeOptions {
    pub(super) fn effort(&self) -> Effort {
        match self.profile {
            Profile::Smallest => Effort {
                zstd_level: Some(19),
                exhaustive: true,
            },
            Profile::Balanced => Effort {
                zstd_level: Some(3),
                exhaustive: false,
            },
            Profile::Fastest => Effort {
                zstd_level: None,
                exhaustive: false,
            },
        }
    }

    pub(super) fn dictionary(&self) -> DictionaryOptions {
        match (self.profile, self.index) {
            (Profile::Smallest, _) => DictionaryOptions {
                block_bytes: 64 << 10,
                zstd_level: Some(19),
                exhaustive: true,
            },
            (Profile::Balanced, Index::None) => DictionaryOptions {
                block_bytes: 16 << 10,
                zstd_level: Some(3),
                exhaustive: false,
            },
            (Profile::Balanced | Profile::Fastest, _) => DictionaryOptions {
                block_bytes: 4 << 10,
                zstd_level: None,
                exhaustive: false,
            },
        }
    }
}

/// What an encode wrote. Of a packed file, the sections are those that the ordinary form would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EncodeReport {
    /// Rows, nulls included.
    pub row_count: u64,
    /// Distinct values, null not counted.
    pub value_count: u64,
    /// Rows that are null.
    pub null_count: u64,
    /// Bytes of all rows' values, separators not counted.
    pub text_bytes: u64,
    /// Bytes of the dictionary section.
    pub dictionary_bytes: u64,
    /// Bytes of the class map section; 0 where there is none.
    pub class_map_bytes: u64,
    /// Bytes of the forward codes; 0 where there are none.
    pub codes_bytes: u64,
    /// Bytes of the postings; 0 where there are none.
    pub postings_bytes: u64,
    /// Size of the whole file in bytes.
    pub file_bytes: u64,
    /// The packed form of the file; `None` if it has the ordinary form.
    pub packed: Option<PackedForm>,
    /// log2 of the multinomial coefficient of the value counts, in bytes: the least that the order of the rows takes
    /// in any coding that knows only the counts. The dictionary is not in it.
    pub floor_bytes: u64,
}

impl EncodeReport {
    /// What a segment holds; the size of the file is not known here.
    pub(crate) fn of_segment(entry: &SegmentEntry) -> Self {
        let bytes = |kind| entry.section(kind).map_or(0, |section| section.length);
        Self {
            row_count: entry.row_count,
            value_count: entry.value_count,
            null_count: entry.null_count,
            text_bytes: entry.text_bytes,
            dictionary_bytes: bytes(SectionKind::Dictionary),
            class_map_bytes: bytes(SectionKind::ClassMap),
            codes_bytes: bytes(SectionKind::Codes),
            postings_bytes: bytes(SectionKind::Postings),
            file_bytes: 0,
            packed: None,
            floor_bytes: entry.floor_bits.div_ceil(8),
        }
    }

    /// Adds another segment's figures.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.row_count, other.row_count),
            (&mut self.value_count, other.value_count),
            (&mut self.null_count, other.null_count),
            (&mut self.text_bytes, other.text_bytes),
            (&mut self.dictionary_bytes, other.dictionary_bytes),
            (&mut self.class_map_bytes, other.class_map_bytes),
            (&mut self.codes_bytes, other.codes_bytes),
            (&mut self.postings_bytes, other.postings_bytes),
            (&mut self.floor_bytes, other.floor_bytes),
        ] {
            *sum += part;
        }
    }
}
