//! What the caller chooses about a column file.

use crate::codes::Effort;
use crate::dictionary::DictionaryOptions;

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
    /// Tries several forms of every block under zstd at its highest useful level, with and without class map,
    /// and compresses the dictionary in 64 KiB blocks. Where rows repeat phrases of earlier rows, up to eight blocks of codes
    /// are compressed together; readers that do not know such groups refuse the file. Without index, a column of at most 2 MiB of text is
    /// *packed* where that is smaller still: opening such a file unpacks it into memory.
    Smallest,
    /// Tries zstd where a sample of the block shrinks; the dictionary stays readable in 4 KiB
    /// reads where there are postings.
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

/// What makes a file smaller. A writer leaves one out only to measure what it is worth: every reader reads the
/// larger file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Technique {
    /// Values leave out the bytes that they share with the value before.
    FrontCoding,
    /// Blocks of codes may store differences of neighbours.
    Deltas,
    /// Frequent values get short codes.
    Classes,
    /// zstd over blocks of codes and of the dictionary.
    Zstd,
    /// Blocks of codes joined to groups whose codes stand in one to three bytes each, for zstd.
    Tokens,
}

/// A set of techniques.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Techniques(u8);

impl Techniques {
    pub(crate) fn insert(&mut self, technique: Technique) {
        self.0 |= 1 << technique as u8;
    }

    pub(crate) fn has(self, technique: Technique) -> bool {
        self.0 >> technique as u8 & 1 == 1
    }
}

impl EncodeOptions {
    /// How hard codes are encoded without what is left out.
    pub(super) fn effort(&self, left_out: Techniques) -> Effort {
        let effort = self.full_effort();
        Effort {
            zstd_level: effort.zstd_level.filter(|_| !left_out.has(Technique::Zstd)),
            tries_deltas: !left_out.has(Technique::Deltas),
            joins_blocks: effort.joins_blocks
                && ![Technique::Zstd, Technique::Tokens]
                    .iter()
                    .any(|&one| left_out.has(one)),
            ..effort
        }
    }

    fn full_effort(&self) -> Effort {
        match self.profile {
            Profile::Smallest => Effort {
                zstd_level: Some(19),
                exhaustive: true,
                tries_deltas: true,
                joins_blocks: true,
            },
            Profile::Balanced => Effort {
                zstd_level: Some(3),
                exhaustive: false,
                tries_deltas: true,
                joins_blocks: false,
            },
            Profile::Fastest => Effort {
                zstd_level: None,
                exhaustive: false,
                tries_deltas: true,
                joins_blocks: false,
            },
        }
    }

    /// How the dictionary is written without what is left out.
    pub(super) fn dictionary(&self, left_out: Techniques) -> DictionaryOptions {
        let options = self.full_dictionary();
        DictionaryOptions {
            zstd_level: options.zstd_level.filter(|_| !left_out.has(Technique::Zstd)),
            front_coded: !left_out.has(Technique::FrontCoding),
            ..options
        }
    }

    fn full_dictionary(&self) -> DictionaryOptions {
        match (self.profile, self.index) {
            (Profile::Smallest, _) => DictionaryOptions {
                block_bytes: 64 << 10,
                zstd_level: Some(19),
                exhaustive: true,
                front_coded: true,
            },
            (Profile::Balanced, Index::None) => DictionaryOptions {
                block_bytes: 16 << 10,
                zstd_level: Some(3),
                exhaustive: false,
                front_coded: true,
            },
            (Profile::Balanced | Profile::Fastest, _) => DictionaryOptions {
                block_bytes: 4 << 10,
                zstd_level: None,
                exhaustive: false,
                front_coded: true,
            },
        }
    }
}
