//! What is asked of a filesystem: words and spellings that plans, the engine and records share.

mod compression;
mod once;

use std::fmt;
use std::str::FromStr;

use outcrop_measure::units::{ByteSize, Rate};

use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument};
use crate::{Arrival, Arrivals};

pub use compression::{Algorithm, FileCompression};
pub use once::OncePerExtent;

crate::words! {
    /// The filesystems that are made for a measurement.
    pub enum FilesystemKind: "filesystem" {
        /// Extents, journal, no compression.
        Ext4 = "ext4",
        /// Extents and allocation groups, no compression.
        Xfs = "xfs",
        /// Copy on write, checksums, compressed extents of at most 128 KiB.
        Btrfs = "btrfs",
        /// Log-structured for flash, compressed clusters.
        F2fs = "f2fs",
        /// Read-only image of compressed blocks.
        Squashfs = "squashfs",
        /// Read-only image of compressed clusters of fixed compressed size.
        Erofs = "erofs",
    }
}

impl FilesystemKind {
    /// Whether it is built once with its files in it.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::Squashfs | Self::Erofs)
    }
}

/// A filesystem, alone or with what it compresses with and in which size: `ext4`, `btrfs zstd:3`, `squashfs zstd:19 16KiB`.
///
/// With them in one word, a list can have each filesystem with the settings that only it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesystemChoice {
    /// Which one.
    pub kind: FilesystemKind,
    /// What it compresses with, where that is said here.
    pub compression: Option<FileCompression>,
    /// Bytes of a compressed block or cluster, where that is said here.
    pub size: Option<ByteSize>,
}

impl From<FilesystemKind> for FilesystemChoice {
    fn from(kind: FilesystemKind) -> Self {
        Self {
            kind,
            compression: None,
            size: None,
        }
    }
}

/// Filesystems that are never made for a measurement: a pool, or what stands for one, would outlive a killed process.
const MOUNTED: [&str; 2] = ["zfs", "bcachefs"];

impl FromStr for FilesystemChoice {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let kind = name.parse::<FilesystemKind>().map_err(|error| match MOUNTED.contains(&name) {
            true => WorkloadError::UnknownWord {
                what: "filesystem to make",
                seen: name.to_owned(),
                hint: "a mounted one is measured with --directory DIR, or with kind = \"directory\" in a plan".to_owned(),
            },
            false => error,
        })?;
        let compression = words.next().map(str::parse).transpose()?;
        let spelling = Spelling {
            what: "filesystem",
            accepted: "its name, or with a compression and the size of a block or cluster: `squashfs zstd:19 16KiB`",
            seen: text,
        };
        let size = words.next().map(str::parse).transpose();
        let size = size.map_err(|_| spelling.not_understood())?;
        match words.next() {
            Some(_) => Err(spelling.not_understood()),
            None => Ok(Self {
                kind,
                compression,
                size,
            }),
        }
    }
}

impl fmt::Display for FilesystemChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        if let Some(compression) = self.compression {
            write!(f, " {compression}")?;
        }
        if let Some(size) = self.size {
            write!(f, " {size}")?;
        }
        Ok(())
    }
}

crate::words! {
    /// What is done with the files.
    pub enum FileOperation: "operation" {
        /// One read of a random block in each extent, every extent once.
        RandomRead = "random-read",
        /// The files from end to end.
        SequentialRead = "sequential-read",
        /// Random blocks of a file that exists are written again.
        Overwrite = "overwrite",
        /// Blocks are added to the end of a new file.
        Append = "append",
        /// The data are written to new files.
        Write = "write",
        /// A record is read, changed and written back.
        Update = "update",
        /// Many small files are created, then read in directory order.
        SmallFiles = "small-files",
    }
}

impl FileOperation {
    /// Whether it writes to the filesystem while it is measured.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::RandomRead | Self::SequentialRead)
    }

    /// Whether it goes over the data once at most.
    pub const fn ends_with_its_data(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::SmallFiles)
    }

    /// Whether it ends when the duration of its trial is over.
    pub const fn ends_by_time(self) -> bool {
        !matches!(self, Self::Write | Self::SmallFiles)
    }
}

crate::words! {
    /// What the page cache holds of the files before the operation.
    pub enum PageCache: "page_cache" {
        /// Nothing: proved before each pass.
        Cold = "cold",
        /// All of them.
        Warm = "warm",
    }
}

crate::words! {
    /// Whether a filesystem may decide not to compress.
    pub enum CompressPolicy: "compress_policy" {
        /// Everything is tried.
        Force = "force",
        /// The filesystem's heuristic decides by the first blocks.
        Heuristic = "heuristic",
    }
}

crate::words! {
    /// How btrfs checks its data.
    pub enum Checksum: "checksum" {
        /// CRC-32C.
        Crc32c = "crc32c",
        /// XXH64.
        Xxhash = "xxhash",
        /// SHA-256.
        Sha256 = "sha256",
        /// BLAKE2b.
        Blake2 = "blake2",
        /// No checksum of data.
        None = "none",
    }
}

crate::words! {
    /// Whether written blocks get new places.
    pub enum CopyOnWrite: "copy_on_write" {
        /// As btrfs does by default.
        On = "on",
        /// Blocks are overwritten in place.
        Off = "off",
    }
}

crate::words! {
    /// How files are opened.
    pub enum FileAccess: "access" {
        /// Through the page cache.
        Buffered = "buffered",
        /// With O_DIRECT, which some filesystems answer from the page cache all the same.
        Direct = "direct",
    }
}

/// When written data are made durable: `end`, `each:1`, `each:64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Once, after the last write.
    End,
    /// After every this many writes of a job.
    Each(u32),
}

impl FromStr for SyncPolicy {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let spelling = Spelling {
            what: "sync",
            accepted: "`end` or `each:N` (each:1 is after every write)",
            seen: text,
        };
        match form_and_argument(text) {
            ("end", None) => Ok(Self::End),
            ("each", Some(count)) => match count.parse() {
                Ok(count) if count > 0 => Ok(Self::Each(count)),
                _ => Err(spelling.out_of_range("N must be a whole number from 1")),
            },
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for SyncPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("end"),
            Self::Each(count) => write!(f, "each:{count}"),
        }
    }
}

/// What happened to the files before the operation: `fresh`, `overwritten:25%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// Written once, in order.
    Fresh,
    /// This share of their 4 KiB blocks, in per cent, was overwritten at random, in synced rounds.
    Overwritten(u32),
}

impl FromStr for Age {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let spelling = Spelling {
            what: "age",
            accepted: "`fresh` or `overwritten:P%` (overwritten:25%)",
            seen: text,
        };
        match form_and_argument(text) {
            ("fresh", None) => Ok(Self::Fresh),
            ("overwritten", Some(share)) => match share.trim_end_matches('%').trim().parse() {
                Ok(percent) if (1..=100).contains(&percent) => Ok(Self::Overwritten(percent)),
                _ => Err(spelling.out_of_range("P must be a whole number from 1 to 100")),
            },
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => f.write_str("fresh"),
            Self::Overwritten(percent) => write!(f, "overwritten:{percent}%"),
        }
    }
}

/// When operations start: as [`Arrivals`], or at a bandwidth, `constant:2GB/s`.
///
/// A bandwidth keeps its spelling, so that plans over several block sizes offer the same bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfferedLoad {
    /// In operations per second, or as a share of what a closed loop gets.
    Operations(Arrivals),
    /// In bytes per second; the process is at one operation per second.
    Bytes(Arrival, BytesPerSecond),
}

/// A bandwidth in its spelling: `2GB/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BytesPerSecond(pub f64);

impl FromStr for BytesPerSecond {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("`{text}` is not a bandwidth; write 200MB/s, 2GB/s or 512MiB/s");
        let amount = text.trim().strip_suffix("B/s").ok_or_else(refused)?;
        let digits = amount.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let scale = match &amount[digits.len()..] {
            "" => 1.0,
            "k" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            "Ki" => 1024.0,
            "Mi" => 1_048_576.0,
            "Gi" => 1_073_741_824.0,
            _ => return Err(refused()),
        };
        match digits.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => Ok(Self(number * scale)),
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scales = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];
        let scale = scales.into_iter().find(|(_, scale)| self.0 >= *scale);
        let (unit, scale) = scale.unwrap_or(("B/s", 1.0));
        write!(f, "{}{unit}", self.0 / scale)
    }
}

impl FromStr for OfferedLoad {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((form, amount)) = text.split_once(':')
            && amount.trim_end().ends_with("B/s")
        {
            let process = format!("{form}:1")
                .parse()
                .map_err(|error: WorkloadError| error.to_string())?;
            return Ok(Self::Bytes(process, amount.parse()?));
        }
        text.parse().map(Self::Operations)
    }
}

impl fmt::Display for OfferedLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operations(arrivals) => arrivals.fmt(f),
            Self::Bytes(process, bandwidth) => {
                let spelled = process.to_string();
                write!(f, "{}:{bandwidth}", spelled.split(':').next().unwrap_or_default())
            }
        }
    }
}

impl OfferedLoad {
    /// The arrival process for operations of `block_bytes`; `None` where it is a share of a rate that is not known yet.
    pub fn arrival(&self, block_bytes: u64) -> Option<Arrival> {
        match self {
            Self::Operations(Arrivals::Given(arrival)) => Some(*arrival),
            Self::Operations(Arrivals::Share(..)) => None,
            Self::Bytes(process, bandwidth) => {
                let rate = Rate::new(bandwidth.0 / block_bytes.max(1) as f64);
                rate.ok().map(|rate| process.at(rate))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_reads_back() {
        for text in ["ext4", "btrfs zstd:3", "squashfs zstd:19 16KiB"] {
            assert_eq!(text.parse::<FilesystemChoice>().unwrap().to_string(), text);
        }
        for text in ["end", "each:1", "each:64"] {
            assert_eq!(text.parse::<SyncPolicy>().unwrap().to_string(), text);
        }
        for text in ["fresh", "overwritten:25%"] {
            assert_eq!(text.parse::<Age>().unwrap().to_string(), text);
        }
        for text in [
            "closed",
            "poisson:20k/s",
            "poisson:50%",
            "constant:2GB/s",
            "poisson:1.5MB/s",
        ] {
            assert_eq!(text.parse::<OfferedLoad>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_words_are_refused_in_a_sentence() {
        assert!(
            "each:0"
                .parse::<SyncPolicy>()
                .unwrap_err()
                .to_string()
                .contains("from 1")
        );
        assert!(
            "always"
                .parse::<SyncPolicy>()
                .unwrap_err()
                .to_string()
                .contains("each:N")
        );
        assert!(
            "overwritten:0%"
                .parse::<Age>()
                .unwrap_err()
                .to_string()
                .contains("1 to 100")
        );
        assert!(
            "constant:0GB/s"
                .parse::<OfferedLoad>()
                .unwrap_err()
                .contains("2GB/s")
        );
        assert!(
            "constant:2XB/s"
                .parse::<OfferedLoad>()
                .unwrap_err()
                .contains("2GB/s")
        );
    }

    #[test]
    fn a_bandwidth_becomes_a_rate_of_operations() {
        let load: OfferedLoad = "constant:8MiB/s".parse().unwrap();
        let arrival = load.arrival(4096).unwrap();
        assert!((arrival.per_second().unwrap().per_second() - 2048.0).abs() < 1e-6);
        assert!(
            "poisson:50%"
                .parse::<OfferedLoad>()
                .unwrap()
                .arrival(4096)
                .is_none()
        );
    }
}
