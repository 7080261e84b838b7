//! A filesystem with its settings: one spelling, how it is made and mounted, and whether this machine has it.

use std::fmt;

use outcrop_measure::metric::Unavailable;
use outcrop_workload::filesystem::{
    Algorithm, Checksum, CompressPolicy, CopyOnWrite, FileCompression, FilesystemKind,
};
use rustix::io::Errno;
use rustix::mount::FsOpenFlags;

use crate::error::FilesystemError;
use crate::mount::NEEDS_ROOT;
use crate::program::{self, Program};

/// A filesystem with every setting that decides what it does with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filesystem {
    /// Which one.
    pub kind: FilesystemKind,
    /// What it compresses with.
    pub compression: FileCompression,
    /// Whether it may decide not to compress.
    pub policy: CompressPolicy,
    /// Bytes that squashfs compresses at once; btrfs always has 128 KiB.
    pub block_bytes: Option<u64>,
    /// Compressed bytes of a cluster of erofs.
    pub cluster_bytes: u64,
    /// How btrfs checks its data.
    pub checksum: Checksum,
    /// Whether btrfs gives written blocks new places.
    pub copy_on_write: CopyOnWrite,
    /// Threads of btrfs's work queues; `None` leaves the kernel's choice.
    pub thread_pool: Option<u32>,
}

/// Data of one compressed extent of btrfs, at most (fs/btrfs/compression.h).
pub const BTRFS_EXTENT_BYTES: u64 = 128 << 10;
/// What mksquashfs takes when nothing is said.
const SQUASHFS_BLOCK_BYTES: u64 = 128 << 10;
/// xfs makes no smaller filesystem (mkfs.xfs 5.19).
pub(crate) const SMALLEST_XFS_BYTES: u64 = 300 << 20;

impl Filesystem {
    /// A filesystem with its own defaults and without compression.
    pub const fn new(kind: FilesystemKind) -> Self {
        Self {
            kind,
            compression: FileCompression::NONE,
            policy: CompressPolicy::Force,
            block_bytes: None,
            cluster_bytes: 4096,
            checksum: Checksum::Crc32c,
            copy_on_write: CopyOnWrite::On,
            thread_pool: None,
        }
    }

    /// The same with another compression.
    #[must_use]
    pub fn with(self, compression: FileCompression) -> Self {
        Self { compression, ..self }
    }

    /// Checks what goes together.
    ///
    /// # Errors
    /// [`FilesystemError::Refused`] naming the setting at fault: what the kernel would silently not do is refused.
    pub fn validate(&self) -> Result<(), FilesystemError> {
        let refused = |field, message: &str| FilesystemError::refused(field, message);
        let kind = self.kind;
        let check = self.compression.check(kind);
        check.map_err(|message| refused("compression", &message))?;
        let is_btrfs = kind == FilesystemKind::Btrfs;
        if self.compression.is_on() && is_btrfs {
            if self.copy_on_write == CopyOnWrite::Off {
                let message = "btrfs compresses nothing with copy_on_write = \"off\"; use \"on\", or compression = \"none\"";
                return Err(refused("copy_on_write", message));
            }
            if self.checksum == Checksum::None {
                let message = "btrfs compresses nothing with checksum = \"none\", although it shows both options; use \
                               \"crc32c\", or compression = \"none\"";
                return Err(refused("checksum", message));
            }
        }
        if !is_btrfs && self.checksum != Checksum::Crc32c {
            return Err(refused(
                "checksum",
                &format!("{kind} offers no choice of checksums for data; only btrfs does"),
            ));
        }
        if !is_btrfs && self.copy_on_write == CopyOnWrite::Off {
            return Err(refused(
                "copy_on_write",
                &format!("{kind} does not copy on write; only btrfs offers the choice"),
            ));
        }
        if !is_btrfs && self.thread_pool.is_some() {
            return Err(refused(
                "thread_pool",
                &format!("{kind} has no thread pool to size; only btrfs does"),
            ));
        }
        self.validate_sizes()
    }

    fn validate_sizes(&self) -> Result<(), FilesystemError> {
        let refused = |field, message: &str| FilesystemError::refused(field, message);
        match (self.kind, self.block_bytes) {
            (_, None) | (FilesystemKind::Btrfs, Some(BTRFS_EXTENT_BYTES)) => {}
            (FilesystemKind::Squashfs, Some(bytes)) => {
                if !bytes.is_power_of_two() || !((4 << 10)..=(1 << 20)).contains(&bytes) {
                    let message = "squashfs needs a block size that is a power of two, from 4KiB to 1MiB";
                    return Err(refused("compression_block_size", message));
                }
            }
            (FilesystemKind::Btrfs, Some(_)) => {
                let message = "btrfs compresses extents of at most 128KiB, which cannot be changed; leave it out, or use squashfs";
                return Err(refused("compression_block_size", message));
            }
            (kind, Some(_)) => {
                let message = format!(
                    "{kind} has no compression block size; squashfs has one, and erofs has cluster_size"
                );
                return Err(refused("compression_block_size", &message));
            }
        }
        let cluster = self.cluster_bytes;
        if self.kind == FilesystemKind::Erofs {
            if !cluster.is_multiple_of(4096) || !(4096..=(1 << 20)).contains(&cluster) {
                return Err(refused(
                    "cluster_size",
                    "erofs needs a cluster size that is a multiple of 4KiB, from 4KiB to 1MiB",
                ));
            }
        } else if cluster != 4096 {
            return Err(refused(
                "cluster_size",
                &format!("{} has no cluster size; only erofs has one", self.kind),
            ));
        }
        Ok(())
    }

    /// Whether this machine and this user have it: the kernel, the program that makes it, the privilege.
    ///
    /// # Errors
    /// What is missing, and what to install or to run as.
    pub fn availability(&self) -> Result<(), Unavailable> {
        match rustix::mount::fsopen(self.kind.name(), FsOpenFlags::FSOPEN_CLOEXEC) {
            Ok(_) => {}
            Err(Errno::NODEV) => {
                return Err(Unavailable::because(format!("this kernel has no {}", self.kind)));
            }
            Err(Errno::PERM) => return Err(Unavailable::because(NEEDS_ROOT)),
            Err(errno) => {
                return Err(Unavailable::because(format!(
                    "this kernel cannot mount {} without a mount point (fsopen, Linux 5.2): {errno}",
                    self.kind
                )));
            }
        }
        program::find(self.maker()).map(|_| ())
    }

    /// The program that makes it.
    pub(crate) const fn maker(&self) -> Program {
        match self.kind {
            FilesystemKind::Ext4 => Program::Ext4,
            FilesystemKind::Xfs => Program::Xfs,
            FilesystemKind::Btrfs => Program::Btrfs,
            FilesystemKind::F2fs => Program::F2fs,
            FilesystemKind::Squashfs => Program::Squashfs,
            FilesystemKind::Erofs => Program::Erofs,
        }
    }

    /// Arguments of the program before the image, and after it.
    ///
    /// None lets it discard: that would punch the image empty, and reads of holes are answered from nothing.
    pub(crate) fn make_arguments(&self) -> Vec<String> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        match self.kind {
            FilesystemKind::Ext4 => {
                words("-q -F -b 4096 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0")
            }
            FilesystemKind::Xfs => words("-q -f -K -s size=4096"),
            FilesystemKind::Btrfs => {
                let mut arguments = words("-q -f -K");
                if self.checksum != Checksum::None {
                    arguments.extend(["--csum".to_owned(), self.checksum.name().to_owned()]);
                }
                arguments
            }
            FilesystemKind::F2fs => words("-q -f -t 0 -O extra_attr,compression"),
            FilesystemKind::Squashfs => self.squashfs_arguments(),
            FilesystemKind::Erofs => {
                let mut arguments = vec!["--quiet".to_owned(), "-x-1".to_owned()];
                if self.compression.is_on() {
                    let level = self
                        .compression
                        .level
                        .map_or(String::new(), |level| format!(",{level}"));
                    arguments.push(format!("-z{}{level}", self.compression.algorithm));
                    arguments.push(format!("-C{}", self.cluster_bytes));
                }
                arguments
            }
        }
    }

    fn squashfs_arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> = ["-noappend", "-no-progress", "-no-xattrs", "-quiet", "-b"]
            .map(str::to_owned)
            .into();
        arguments.push(self.block_bytes.unwrap_or(SQUASHFS_BLOCK_BYTES).to_string());
        let FileCompression { algorithm, level } = self.compression;
        let name = match algorithm {
            Algorithm::Zlib => "gzip",
            Algorithm::Lz4hc => "lz4",
            Algorithm::None => {
                arguments.extend(["-noI", "-noD", "-noF", "-noX"].map(str::to_owned));
                return arguments;
            }
            other => other.name(),
        };
        arguments.extend(["-comp".to_owned(), name.to_owned()]);
        if algorithm == Algorithm::Lz4hc {
            arguments.push("-Xhc".to_owned());
        }
        if let Some(level) = level {
            arguments.extend(["-Xcompression-level".to_owned(), level.to_string()]);
        }
        arguments
    }

    /// Options of the mount: name, and value where it has one.
    pub(crate) fn mount_options(&self) -> Vec<(&'static str, Option<String>)> {
        let mut options = Vec::new();
        match self.kind {
            FilesystemKind::Squashfs | FilesystemKind::Erofs => options.push(("ro", None)),
            FilesystemKind::Ext4 | FilesystemKind::Xfs => {}
            FilesystemKind::F2fs => {
                options.push(("nodiscard", None));
                if self.compression.is_on() {
                    options.push(("compress_algorithm", Some(self.compression.to_string())));
                    options.push(("compress_extension", Some("*".to_owned())));
                }
            }
            FilesystemKind::Btrfs => {
                options.push(("nodiscard", None));
                if self.compression.is_on() {
                    let key = match self.policy {
                        CompressPolicy::Force => "compress-force",
                        CompressPolicy::Heuristic => "compress",
                    };
                    options.push((key, Some(self.compression.to_string())));
                }
                if self.checksum == Checksum::None {
                    options.push(("nodatasum", None));
                }
                if self.copy_on_write == CopyOnWrite::Off {
                    options.push(("nodatacow", None));
                }
                if let Some(threads) = self.thread_pool {
                    options.push(("thread_pool", Some(threads.to_string())));
                }
            }
        }
        options
    }

    /// Bytes of a file that the filesystem reads at once for a block of it, at most: reads are drawn once in each.
    ///
    /// A compressed cluster of erofs holds as much data as compresses into it; eight times its size covers all but text
    /// that hardly differs.
    pub fn extent_bytes(&self) -> u64 {
        const EROFS_RATIO: u64 = 8;
        match self.kind {
            FilesystemKind::Squashfs => self
                .block_bytes
                .unwrap_or(SQUASHFS_BLOCK_BYTES)
                .max(BTRFS_EXTENT_BYTES),
            FilesystemKind::Erofs if self.compression.is_on() => {
                (self.cluster_bytes * EROFS_RATIO).max(BTRFS_EXTENT_BYTES)
            }
            _ => BTRFS_EXTENT_BYTES,
        }
    }

    /// Bytes that a compressor gets at once; `None` where nothing is compressed, or where that varies.
    pub fn compressed_unit_bytes(&self) -> Option<u64> {
        if !self.compression.is_on() {
            return None;
        }
        match self.kind {
            FilesystemKind::Btrfs => Some(BTRFS_EXTENT_BYTES),
            FilesystemKind::Squashfs => Some(self.block_bytes.unwrap_or(SQUASHFS_BLOCK_BYTES)),
            _ => None,
        }
    }
}

impl fmt::Display for Filesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.compression)?;
        if let Some(bytes) = self.block_bytes {
            write!(f, " {}", outcrop_measure::units::ByteSize(bytes))?;
        }
        if self.kind == FilesystemKind::Erofs && self.compression.is_on() {
            write!(f, " {}", outcrop_measure::units::ByteSize(self.cluster_bytes))?;
        }
        if self.policy == CompressPolicy::Heuristic {
            f.write_str(" heuristic")?;
        }
        if self.checksum != Checksum::Crc32c {
            write!(f, " checksum {}", self.checksum)?;
        }
        if self.copy_on_write == CopyOnWrite::Off {
            f.write_str(" nocow")?;
        }
        if let Some(threads) = self.thread_pool {
            write!(f, " thread pool {threads}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn btrfs(compression: &str) -> Filesystem {
        Filesystem::new(FilesystemKind::Btrfs).with(compression.parse().unwrap())
    }

    fn refusal(filesystem: &Filesystem) -> (&'static str, String) {
        match filesystem.validate() {
            Err(FilesystemError::Refused { field, message }) => (field, message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_kernel_would_silently_not_do_is_refused_with_the_key_at_fault() {
        let nodatasum = Filesystem {
            checksum: Checksum::None,
            ..btrfs("zlib:1")
        };
        assert_eq!(refusal(&nodatasum).0, "checksum");
        let nocow = Filesystem {
            copy_on_write: CopyOnWrite::Off,
            ..btrfs("zstd:3")
        };
        assert_eq!(refusal(&nocow).0, "copy_on_write");
        assert_eq!(refusal(&btrfs("zstd:99")).0, "compression");
        let block = Filesystem {
            block_bytes: Some(16 << 10),
            ..btrfs("zstd:3")
        };
        assert!(refusal(&block).1.contains("at most 128KiB"));
        assert!(btrfs("zstd:-15").validate().is_ok());
    }

    #[test]
    fn no_program_is_let_discard() {
        for kind in FilesystemKind::ALL {
            let arguments = Filesystem::new(kind).make_arguments().join(" ");
            let kept = match kind {
                FilesystemKind::Ext4 => "nodiscard",
                FilesystemKind::Xfs | FilesystemKind::Btrfs => "-K",
                FilesystemKind::F2fs => "-t 0",
                FilesystemKind::Squashfs | FilesystemKind::Erofs => "",
            };
            assert!(arguments.contains(kept), "{kind}: {arguments}");
        }
    }
}
