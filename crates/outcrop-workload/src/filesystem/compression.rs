//! How a filesystem compresses: `none`, `zstd:3`, `lz4hc:9`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::FilesystemKind;
use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument};

crate::words! {
    /// A compression algorithm, by the name that filesystems know it by.
    pub enum Algorithm: "compression" {
        /// No compression.
        None = "none",
        /// Zstandard.
        Zstd = "zstd",
        /// DEFLATE with zlib's header; squashfs calls it gzip.
        Zlib = "zlib",
        /// LZO.
        Lzo = "lzo",
        /// LZ4.
        Lz4 = "lz4",
        /// LZ4 with a thorough search.
        Lz4hc = "lz4hc",
        /// LZMA2.
        Xz = "xz",
    }
}

/// An algorithm and its level, where it has levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileCompression {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The level; `None` where the algorithm has none.
    pub level: Option<i32>,
}

impl FileCompression {
    /// No compression.
    pub const NONE: Self = Self {
        algorithm: Algorithm::None,
        level: None,
    };

    /// Whether anything is compressed.
    pub fn is_on(self) -> bool {
        self.algorithm != Algorithm::None
    }

    /// The level nearest to this one that the algorithm has on a filesystem, which is what kernels take; none where it has no levels.
    pub fn nearest_level(self, filesystem: FilesystemKind, level: i32) -> Option<i32> {
        let mut known = levels_of(filesystem).into_iter();
        let (_, levels) = known.find(|(algorithm, _)| *algorithm == self.algorithm)?;
        levels.map(|levels| level.clamp(*levels.start(), *levels.end()))
    }

    /// Checks that a filesystem has the algorithm and the level.
    ///
    /// # Errors
    /// A sentence with what it has.
    pub fn check(self, filesystem: FilesystemKind) -> Result<(), String> {
        if !self.is_on() {
            return Ok(());
        }
        let known = levels_of(filesystem);
        let Some((_, levels)) = known.iter().find(|(algorithm, _)| *algorithm == self.algorithm) else {
            let names: Vec<&str> = known.iter().map(|(algorithm, _)| algorithm.name()).collect();
            return Err(match names[..] {
                [] => format!(
                    "{filesystem} does not compress; use compression none, or btrfs, squashfs or erofs"
                ),
                _ => format!(
                    "{filesystem} has no {}; it has {}",
                    self.algorithm,
                    names.join(", ")
                ),
            });
        };
        match (levels, self.level) {
            (Some(levels), Some(level)) if !levels.contains(&level) => Err(format!(
                "{filesystem} has {} from {} to {}, not {level}: the kernel would silently use another level",
                self.algorithm,
                levels.start(),
                levels.end()
            )),
            (None, Some(level)) => Err(format!(
                "{} has no levels on {filesystem}; write {} without :{level}",
                self.algorithm, self.algorithm
            )),
            _ => Ok(()),
        }
    }
}

type Levels = Option<RangeInclusive<i32>>;

/// The algorithms of a filesystem, with their levels.
///
/// *Source*: Linux 6.18, `fs/btrfs/compression.c`; mksquashfs(1) 4.5; mkfs.erofs(1) 1.5; Documentation/filesystems/f2fs.rst.
fn levels_of(filesystem: FilesystemKind) -> Vec<(Algorithm, Levels)> {
    match filesystem {
        FilesystemKind::Ext4 | FilesystemKind::Xfs => Vec::new(),
        FilesystemKind::Btrfs => vec![
            (Algorithm::Zstd, Some(-15..=15)),
            (Algorithm::Zlib, Some(1..=9)),
            (Algorithm::Lzo, None),
        ],
        FilesystemKind::F2fs => vec![
            (Algorithm::Zstd, Some(1..=22)),
            (Algorithm::Lz4, None),
            (Algorithm::Lz4hc, Some(3..=12)),
            (Algorithm::Lzo, None),
        ],
        FilesystemKind::Squashfs => vec![
            (Algorithm::Zstd, Some(1..=22)),
            (Algorithm::Zlib, Some(1..=9)),
            (Algorithm::Lz4, None),
            (Algorithm::Lz4hc, None),
            (Algorithm::Lzo, None),
            (Algorithm::Xz, None),
        ],
        FilesystemKind::Erofs => vec![(Algorithm::Lz4, None), (Algorithm::Lz4hc, Some(0..=12))],
    }
}

impl FromStr for FileCompression {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let spelling = Spelling {
            what: "compression",
            accepted: "`none`, `zstd:3`, `zlib:3`, `lzo`, `lz4`, `lz4hc:9` or `xz`",
            seen: text,
        };
        let (name, level) = form_and_argument(text);
        // squashfs and others say gzip.
        let name = if name == "gzip" { "zlib" } else { name };
        let algorithm: Algorithm = name.parse()?;
        let level = match level {
            None => None,
            Some(_) if algorithm == Algorithm::None => return Err(spelling.not_understood()),
            Some(level) => Some(
                level
                    .parse::<i32>()
                    .map_err(|_| spelling.out_of_range("the level must be a whole number"))?,
            ),
        };
        // The levels that kernels take when none is given, so that one setting has one spelling.
        let level = level.or(match algorithm {
            Algorithm::Zstd | Algorithm::Zlib => Some(3),
            _ => None,
        });
        Ok(Self { algorithm, level })
    }
}

impl fmt::Display for FileCompression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            Some(level) => write!(f, "{}:{level}", self.algorithm),
            None => self.algorithm.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_read_back_and_a_level_left_out_is_the_kernels() {
        for text in [
            "none", "zstd:3", "zstd:-5", "lzo", "lz4", "lz4hc:9", "xz", "zlib:1",
        ] {
            assert_eq!(text.parse::<FileCompression>().unwrap().to_string(), text);
        }
        assert_eq!("zstd".parse::<FileCompression>().unwrap().to_string(), "zstd:3");
        assert_eq!("gzip:9".parse::<FileCompression>().unwrap().to_string(), "zlib:9");
    }

    #[test]
    fn what_a_filesystem_would_silently_change_is_refused() {
        let check = |text: &str, kind| text.parse::<FileCompression>().unwrap().check(kind);
        assert!(check("zstd:15", FilesystemKind::Btrfs).is_ok());
        assert!(
            check("zstd:99", FilesystemKind::Btrfs)
                .unwrap_err()
                .contains("-15 to 15")
        );
        assert!(
            check("zstd:-16", FilesystemKind::Btrfs)
                .unwrap_err()
                .contains("-15 to 15")
        );
        assert!(
            check("lzo:2", FilesystemKind::Btrfs)
                .unwrap_err()
                .contains("without :2")
        );
        assert!(
            check("lz4", FilesystemKind::Btrfs)
                .unwrap_err()
                .contains("zstd, zlib, lzo")
        );
        assert!(
            check("zstd:3", FilesystemKind::Ext4)
                .unwrap_err()
                .contains("does not compress")
        );
        assert!(check("none", FilesystemKind::Ext4).is_ok());
    }
}
