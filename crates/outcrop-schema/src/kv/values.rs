//! The values of the key-value layer's factors.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::units::ByteSize;
use outcrop_workload::filesystem::FilesystemChoice;
use outcrop_workload::keyed::{RequestDistribution, StoreWorkload};
use outcrop_workload::store::{
    CompactionStyle, Durability, LevelCodecs, Settling, StoreCompression, StoreEngine, StoreIo,
};
use outcrop_workload::words;

use crate::value::Value;

crate::value::ordered!(StoreEngine, CompactionStyle, StoreIo, Durability, PageCache);

impl Value for LevelCodecs {}
impl Value for Settling {}
impl Value for RequestDistribution {}
impl Value for StoreWorkload {}

/// By codec from the lightest to the heaviest, then by level.
impl Value for StoreCompression {
    fn place(&self) -> Option<f64> {
        let codec = f64::from(self.codec as u8);
        Some(codec * 100.0 + f64::from(self.level.unwrap_or(0)))
    }
}

words! {
    /// What happens to our files in the page cache before the run.
    pub enum PageCache: "page cache" {
        /// Written to the device and dropped.
        Dropped = "dropped",
        /// Written to the device and kept.
        Kept = "kept",
    }
}

/// Where the bytes of values come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueData {
    /// They are generated.
    Generated,
    /// They are cut from a file or a directory of the user's.
    Path(String),
}

impl FromStr for ValueData {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "generated" => Ok(Self::Generated),
            "" => Err("the path of data is empty".to_owned()),
            path => Ok(Self::Path(path.to_owned())),
        }
    }
}

impl fmt::Display for ValueData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generated => f.write_str("generated"),
            Self::Path(path) => f.write_str(path),
        }
    }
}

impl Value for ValueData {}

/// A limit on memory: `none`, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(pub Option<ByteSize>);

impl FromStr for MemoryLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "none" => Ok(Self(None)),
            size => size
                .parse()
                .map(|size| Self(Some(size)))
                .map_err(|error: outcrop_measure::MeasureError| format!("{error}; or \"none\" for no limit")),
        }
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(size) => write!(f, "{size}"),
        }
    }
}

/// What databases lie on: `as-is`, or a filesystem that is made for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFilesystem(pub Option<FilesystemChoice>);

const AS_IS: &str = "as-is";

impl FromStr for StoreFilesystem {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            AS_IS => Ok(Self(None)),
            choice => match choice.parse() {
                Ok(choice) => Ok(Self(Some(choice))),
                Err(error) => Err(format!("{error}; or \"{AS_IS}\" for that of the run's directory")),
            },
        }
    }
}

impl fmt::Display for StoreFilesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str(AS_IS),
            Some(choice) => choice.fmt(f),
        }
    }
}

/// That of the directory first, then as filesystems are ordered.
impl Value for StoreFilesystem {
    fn place(&self) -> Option<f64> {
        self.0.map_or(Some(-1.0), |choice| choice.place())
    }
}

/// Without a limit last.
impl Value for MemoryLimit {
    fn place(&self) -> Option<f64> {
        Some(self.0.map_or(f64::MAX, |size| size.0 as f64))
    }
}
