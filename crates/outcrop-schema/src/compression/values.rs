//! The values of the compression layer's factors.

use std::fmt;
use std::str::FromStr;

use crate::value::{Column, Value, words};

/// Where the data come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// The sample that is part of the program.
    Sample,
    /// Content alone.
    Generated,
    /// Standard input.
    Stdin,
    /// A file, a directory or a block device.
    Path(String),
}

impl FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "" => {
                return Err(
                    "no data was named; expected a path, \"sample\", \"generated\" or \"-\"".to_owned(),
                );
            }
            "sample" => Self::Sample,
            "generated" => Self::Generated,
            "-" => Self::Stdin,
            path => Self::Path(path.to_owned()),
        })
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sample => "sample",
            Self::Generated => "generated",
            Self::Stdin => "-",
            Self::Path(path) => path,
        })
    }
}

impl Value for Data {}

/// A codec by its family and what stands behind the colon: `zstd:3`. Which there are, the codec crate knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodecName {
    family: String,
    setting: Option<String>,
}

impl CodecName {
    /// `zstd` of `zstd:3`.
    pub fn family(&self) -> &str {
        &self.family
    }

    /// `zstd` of `zstd@system:3`: the same codec, whichever library it is.
    pub fn of_any_library(&self) -> &str {
        self.family
            .split_once(LIBRARY_MARK)
            .map_or(&self.family, |(name, _)| name)
    }

    /// `zstd:3` of `zstd@system:3`.
    pub fn of_any_library_spelled(&self) -> String {
        let bare = Self {
            family: self.of_any_library().to_owned(),
            setting: self.setting.clone(),
        };
        bare.to_string()
    }

    /// Whether it is the system's library.
    pub fn is_of_system(&self) -> bool {
        self.family.split_once(LIBRARY_MARK).is_some()
    }

    /// `3` of `zstd:3`; none of what has no level.
    pub fn level(&self) -> Option<i32> {
        self.setting.as_ref()?.parse().ok()
    }

    /// Whether it only copies.
    pub fn is_copy(&self) -> bool {
        self.family == "none"
    }

    /// Its place in lists: families of one format together, [`FAMILIES`]' length for what is not among them.
    pub fn family_place(&self) -> usize {
        let place = FAMILIES.iter().position(|name| *name == self.family);
        place.unwrap_or(FAMILIES.len())
    }
}

/// Stands between a codec and the library that it is taken from: `zstd@system`.
pub const LIBRARY_MARK: char = '@';

/// Families in the order of pages and tables.
pub const FAMILIES: [&str; 16] = [
    "zstd",
    "zstd@system",
    "lz4",
    "lz4@system",
    "lz4hc",
    "lz4_flex",
    "snappy",
    "snappy@system",
    "deflate-libdeflate",
    "deflate-zlib",
    "deflate-zlib@system",
    "deflate-zlib-rs",
    "zlib",
    "brotli",
    "dpzip",
    "none",
];

impl FromStr for CodecName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (family, setting) = match text.split_once(':') {
            Some((family, setting)) => (family, Some(setting.to_owned())),
            None => (text, None),
        };
        Ok(Self {
            family: family.to_owned(),
            setting,
        })
    }
}

impl fmt::Display for CodecName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.setting {
            Some(setting) => write!(f, "{}:{setting}", self.family),
            None => f.write_str(&self.family),
        }
    }
}

/// By family, then by level.
impl Value for CodecName {
    fn place(&self) -> Option<f64> {
        Some(self.family_place() as f64 * 1e6 + f64::from(self.level().unwrap_or(0)))
    }
}

words! {
    /// Whether a codec's memory lives from block to block.
    pub enum Context: "context" {
        /// One context for all blocks.
        Reused = "reused",
        /// A context for each block, its making included in the time.
        Fresh = "fresh",
    }

    /// What a trial yields.
    pub enum Measurement: "measurement" {
        /// Speed and latency of a codec.
        Speed = "speed",
        /// Where zstd's time goes.
        Stages = "stages",
    }
}

/// Threads, or a part of the machine's CPUs, whose number takes its place once it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// This many.
    Count(u32),
    /// All CPUs, divided by this.
    AllOver(u32),
}

impl Threads {
    /// The number, where it is known.
    pub const fn count(self) -> Option<u32> {
        match self {
            Self::Count(count) => Some(count),
            Self::AllOver(_) => None,
        }
    }
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(Self::AllOver(1)),
            ("all/2", _) => Ok(Self::AllOver(2)),
            ("all/4", _) => Ok(Self::AllOver(4)),
            (_, Ok(count @ 1..)) => Ok(Self::Count(count)),
            _ => Err(format!(
                "`{text}` is not a number of threads; expected 1, 2, …, `all`, `all/2` or `all/4`"
            )),
        }
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::AllOver(1) => f.write_str("all"),
            Self::AllOver(parts) => write!(f, "all/{parts}"),
        }
    }
}

impl Value for Threads {
    const COLUMN: Column = Column::Whole;

    fn place(&self) -> Option<f64> {
        self.count().map(f64::from)
    }
}
