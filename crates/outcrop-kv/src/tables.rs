//! What an engine's files hold: data blocks, index and filters, by the engine's own statistics.

use std::collections::BTreeSet;

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use crate::store::Counted;

/// What an engine's files hold at a moment, without its log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// Bytes of the data blocks as they are stored: compressed, with their checksums.
    pub data_bytes: Counted,
    /// Bytes of the index.
    pub index_bytes: Counted,
    /// Bytes of the bloom filters.
    pub filter_bytes: Counted,
    /// Bytes of keys and values in the data blocks before compression, as the engine writes keys.
    pub content_bytes: Counted,
    /// Entries in the data blocks; each version of a record is one.
    pub entries: Counted,
    /// The part of data, index and filters above the deepest level that has any.
    pub upper_bytes: Counted,
    /// The number of that level; 0 is where flushes write.
    pub deepest_level: Counted,
    /// Names of the codecs that the data blocks of any file are compressed with, `none` among them.
    pub codecs: Result<BTreeSet<String>, Unavailable>,
}

impl Tables {
    /// Those of an engine that does not say.
    pub fn unavailable(why: &str) -> Self {
        let none = || Err(Unavailable::because(why));
        Self {
            data_bytes: none(),
            index_bytes: none(),
            filter_bytes: none(),
            content_bytes: none(),
            entries: none(),
            upper_bytes: none(),
            deepest_level: none(),
            codecs: Err(Unavailable::because(why)),
        }
    }

    /// Those of two databases together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |one, other| both(one, other, |one: &u64, other| one + other);
        Self {
            data_bytes: sum(&self.data_bytes, &other.data_bytes),
            index_bytes: sum(&self.index_bytes, &other.index_bytes),
            filter_bytes: sum(&self.filter_bytes, &other.filter_bytes),
            content_bytes: sum(&self.content_bytes, &other.content_bytes),
            entries: sum(&self.entries, &other.entries),
            upper_bytes: sum(&self.upper_bytes, &other.upper_bytes),
            deepest_level: both(&self.deepest_level, &other.deepest_level, |one, other| {
                *one.max(other)
            }),
            codecs: both(&self.codecs, &other.codecs, |one, other| one | other),
        }
    }

    /// Data, index and filters together.
    ///
    /// # Errors
    /// The engine does not say one of them.
    pub fn bytes(&self) -> Counted {
        let parts = [&self.data_bytes, &self.index_bytes, &self.filter_bytes];
        parts.into_iter().cloned().sum()
    }
}

/// What two databases have together; unknown where one of them does not say.
fn both<T>(
    one: &Result<T, Unavailable>,
    other: &Result<T, Unavailable>,
    join: impl Fn(&T, &T) -> T,
) -> Result<T, Unavailable> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(join(one, other)),
        (Err(why), _) | (_, Err(why)) => Err(why.clone()),
    }
}
