//! How key-value engines are opened: words that plans, the engines and records share.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::units::TimeSpan;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};

crate::words! {
    /// A key-value engine.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum StoreEngine: "engine" {
        /// An LSM tree in this program.
        #[default]
        Fjall = "fjall",
        /// RocksDB, from the system's library.
        RocksDb = "rocksdb",
        /// A B-tree without compression in this program.
        Redb = "redb",
        /// The user's own `redis-server`, a process for each database.
        Redis = "redis",
        /// The user's own `memcached`, a process for each database.
        Memcached = "memcached",
        /// Keeps nothing: what the driver costs.
        None = "none",
    }
}
spelled_as_string!(StoreEngine);

impl StoreEngine {
    /// The codecs that it has for its blocks.
    pub const fn codecs(self) -> &'static [StoreCodec] {
        match self {
            Self::RocksDb => &StoreCodec::ALL,
            Self::Fjall => &[StoreCodec::None, StoreCodec::Lz4],
            Self::Redb | Self::Redis | Self::Memcached | Self::None => &[StoreCodec::None],
        }
    }
}

crate::words! {
    /// A codec for the blocks of an engine's files.
    #[derive(Default)]
    pub enum StoreCodec: "compression" {
        /// None.
        #[default]
        None = "none",
        /// Snappy.
        Snappy = "snappy",
        /// LZ4, its fast form.
        Lz4 = "lz4",
        /// LZ4, its thorough form.
        Lz4Hc = "lz4hc",
        /// Deflate of zlib.
        Zlib = "zlib",
        /// Zstandard.
        Zstd = "zstd",
    }
}

impl StoreCodec {
    /// The levels that it has; `None` where it has one form only.
    pub const fn levels(self) -> Option<(i32, i32)> {
        match self {
            Self::None | Self::Snappy | Self::Lz4 => None,
            Self::Lz4Hc => Some((1, 12)),
            Self::Zlib => Some((1, 9)),
            Self::Zstd => Some((-7, 22)),
        }
    }

    /// What the file of its shared library begins with.
    pub const fn shared_library(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Snappy => Some("libsnappy.so"),
            Self::Lz4 | Self::Lz4Hc => Some("liblz4.so"),
            Self::Zlib => Some("libz.so"),
            Self::Zstd => Some("libzstd.so"),
        }
    }
}

/// A codec with its level: `none`, `lz4`, `zstd` (at the engine's own level), `zstd:3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StoreCompression {
    /// The codec.
    pub codec: StoreCodec,
    /// Its level; `None` is the engine's own default.
    pub level: Option<i32>,
}

const COMPRESSION: &str =
    "`none`, `snappy`, `lz4`, `lz4hc`, `zlib` or `zstd`, the last three with a level: `zstd:3`";

impl StoreCompression {
    /// Blocks as they are.
    pub const NONE: Self = Self::of(StoreCodec::None);

    /// A codec at the engine's own level.
    pub const fn of(codec: StoreCodec) -> Self {
        Self { codec, level: None }
    }
}

impl FromStr for StoreCompression {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "compression",
            accepted: COMPRESSION,
            seen: text,
        };
        let (form, argument) = form_and_argument(text);
        let codec: StoreCodec = form.parse()?;
        let Some(argument) = argument else {
            return Ok(Self::of(codec));
        };
        let level: i32 = argument.parse().map_err(|_| spelling.not_understood())?;
        match codec.levels() {
            None => Err(spelling.out_of_range(format!("{codec} has no levels; write `{codec}`"))),
            Some((least, most)) if !(least..=most).contains(&level) => {
                Err(spelling.out_of_range(format!("{codec} has the levels {least} to {most}")))
            }
            Some(_) => Ok(Self {
                codec,
                level: Some(level),
            }),
        }
    }
}

impl fmt::Display for StoreCompression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            None => write!(f, "{}", self.codec),
            Some(level) => write!(f, "{}:{level}", self.codec),
        }
    }
}
spelled_as_string!(StoreCompression);

/// Codecs of the levels of an LSM tree: `all` for one codec everywhere, or one for each level from 0: `none/none/lz4`.
///
/// The last one holds for all further levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LevelCodecs(Vec<StoreCodec>);

impl LevelCodecs {
    /// One codec for all levels.
    pub const ALL: Self = Self(Vec::new());

    /// More levels than any engine has.
    const MOST: usize = 16;

    /// The codec of each level; empty where all have the same.
    pub fn codecs(&self) -> &[StoreCodec] {
        &self.0
    }
}

impl FromStr for LevelCodecs {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "all" {
            return Ok(Self::default());
        }
        let codecs: Vec<StoreCodec> = text.split('/').map(str::parse).collect::<Result<_, _>>()?;
        if codecs.len() > Self::MOST {
            return Err(WorkloadError::OutOfRange {
                what: "level codecs",
                seen: text.to_owned(),
                why: format!("there are at most {} levels", Self::MOST),
            });
        }
        Ok(Self(codecs))
    }
}

impl fmt::Display for LevelCodecs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("all");
        }
        let names: Vec<&str> = self.0.iter().map(|codec| codec.name()).collect();
        f.write_str(&names.join("/"))
    }
}
spelled_as_string!(LevelCodecs);

crate::words! {
    /// How an LSM tree merges its files.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum CompactionStyle: "compaction style" {
        /// Into levels of growing size.
        #[default]
        Leveled = "leveled",
        /// Files of similar size together.
        Universal = "universal",
    }
}
spelled_as_string!(CompactionStyle);

crate::words! {
    /// How an engine reads and writes its files.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum StoreIo: "store I/O" {
        /// Through the page cache.
        #[default]
        Buffered = "buffered",
        /// Past it.
        Direct = "direct",
    }
}
spelled_as_string!(StoreIo);

crate::words! {
    /// What a write has to reach before it is acknowledged.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum Durability: "durability" {
        /// The engine's log, in the page cache: a crash of the process loses nothing, a crash of the machine does.
        #[default]
        Logged = "logged",
        /// The log, on the device.
        Synced = "synced",
        /// Memory alone: there is no log.
        Unlogged = "unlogged",
    }
}
spelled_as_string!(Durability);

/// What happens between the load and the run: `compacted`, `rest:60s` or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Settling {
    /// Waiting until no compaction is pending or running.
    #[default]
    Compacted,
    /// Waiting for a time, whatever the engine does.
    Rest(TimeSpan),
    /// Nothing.
    None,
}

impl FromStr for Settling {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "settling",
            accepted: "`compacted`, `rest:TIME` (rest:60s) or `none`",
            seen: text,
        };
        match form_and_argument(text) {
            ("compacted", None) => Ok(Self::Compacted),
            ("none", None) => Ok(Self::None),
            ("rest", Some(span)) => span
                .parse()
                .map(Self::Rest)
                .map_err(|_| spelling.not_understood()),
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for Settling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compacted => f.write_str("compacted"),
            Self::Rest(span) => write!(f, "rest:{span}"),
            Self::None => f.write_str("none"),
        }
    }
}
spelled_as_string!(Settling);

#[cfg(test)]
mod tests {
    use super::*;

    fn prints_as_read<T: FromStr<Err = WorkloadError> + fmt::Display>(texts: &[&str]) {
        for text in texts {
            assert_eq!(text.parse::<T>().unwrap().to_string(), *text);
        }
    }

    #[test]
    fn spellings_read_back() {
        prints_as_read::<StoreCompression>(&["none", "lz4", "zstd", "zstd:-5", "lz4hc:9", "zlib:6"]);
        prints_as_read::<LevelCodecs>(&["all", "none/none/lz4/zstd", "snappy"]);
        prints_as_read::<Settling>(&["compacted", "rest:45s", "none"]);
    }

    #[test]
    fn levels_that_a_codec_does_not_have_are_refused_in_words() {
        for (text, words) in [
            ("lz4:3", "lz4 has no levels"),
            ("zstd:23", "-7 to 22"),
            ("zlib:0", "1 to 9"),
            ("zsdt", "did you mean `zstd`?"),
            ("zstd:fast", "`zstd:3`"),
        ] {
            let error = text.parse::<StoreCompression>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!("none/lz5".parse::<LevelCodecs>().is_err());
        assert!("rest".parse::<Settling>().is_err());
    }
}
