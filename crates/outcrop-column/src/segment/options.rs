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
    /// and compresses the dictionary in 64 KiB blocks. Without index, a column of at most 2 MiB of text is
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
