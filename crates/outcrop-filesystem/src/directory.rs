//! A directory of the user's, on any filesystem, without privileges: our files in it have no names.

use std::fs::File;
use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;
use outcrop_probe::{BlockDevice, Filesystem as Found};
use outcrop_workload::filesystem::{Algorithm, FileCompression, FilesystemKind};
use rustix::fs::{Mode, OFlags, XattrFlags};
use rustix::io::Errno;

use crate::dataset;
use crate::error::FilesystemError;

/// A directory that exists, on a filesystem that stores its files on a disk of this machine.
#[derive(Clone, Debug)]
pub struct OwnDirectory {
    path: PathBuf,
    found: Found,
    /// Mount options, and what decides how a dataset stores files.
    options: String,
}

/// What would be measured there is something else.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];

/// Why what is measured in a directory would not be a disk of this machine; none where it would.
pub(crate) fn not_on_a_disk(path: &Path, found: &Found) -> Option<String> {
    let (kind, path) = (found.type_name.as_str(), path.display());
    if IN_MEMORY.contains(&kind) {
        return Some(format!(
            "{path} is on {kind}, which keeps its files in memory; choose a directory on a disk"
        ));
    }
    found.is_over_a_network().then(|| {
        format!(
            "{path} is on {kind}, which is stored on another machine; choose a directory on a disk of this machine"
        )
    })
}

impl OwnDirectory {
    /// Looks at a directory; nothing is created.
    ///
    /// # Errors
    /// It does not exist, is not a directory, or is on a filesystem in memory, over a network or mounted read-only.
    pub fn open(path: &Path) -> Result<Self, FilesystemError> {
        let refused = |message: String| FilesystemError::refused("path", message);
        let path = std::fs::canonicalize(path)
            .map_err(|error| refused(format!("{} cannot be opened: {error}", path.display())))?;
        if !path.is_dir() {
            return Err(refused(format!("{} is not a directory", path.display())));
        }
        let found = Found::at(&path)?;
        if let Some(why) = not_on_a_disk(&path, &found) {
            return Err(refused(why));
        }
        if found.mount_options.split(',').any(|option| option == "ro") {
            return Err(refused(format!(
                "{} is mounted read-only; choose another directory",
                path.display()
            )));
        }
        Ok(Self {
            options: dataset::options(&found, &path),
            path,
            found,
        })
    }

    /// With links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Type, options and space of its filesystem.
    pub const fn filesystem(&self) -> &Found {
        &self.found
    }

    /// Mount options; on ZFS the dataset's settings as well.
    pub(crate) fn options(&self) -> &str {
        &self.options
    }

    /// The device below, which other processes use as well.
    pub(crate) fn device(&self) -> Result<BlockDevice, Unavailable> {
        BlockDevice::holding(&self.path)
    }

    /// Why reads that miss the page cache here may be answered by memory all the same.
    pub fn page_cache_below(&self) -> Option<String> {
        let device = self.device().ok()?;
        match device.buffered_loop() {
            Ok(buffered) => buffered.map(|buffered| {
                format!(
                    "{} was attached without direct I/O, so the page cache answers instead of the disk below {}: attach it with \
                     `losetup --direct-io=on`",
                    buffered.name,
                    buffered.file.display()
                )
            }),
            Err(why) => Some(format!(
                "{} is a loop device, and it is not known whether the page cache answers instead of the disk below ({})",
                device.disk_name(),
                why.reason
            )),
        }
    }

    /// A new file without a name, gone when its last descriptor is closed; compressed as asked where the filesystem is btrfs.
    ///
    /// # Errors
    /// Not writable, no unnamed files on this filesystem, or no such compression of single files.
    pub(crate) fn file(&self, compression: FileCompression) -> Result<File, FilesystemError> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = match rustix::fs::open(&self.path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                return Err(FilesystemError::Unavailable(format!(
                    "{} has no unnamed files (it is on {}), so Outcrop's files would be left behind if it were killed",
                    self.path.display(),
                    self.found.type_name
                )));
            }
            Err(errno) => {
                let action = format!("create a file in {}", self.path.display());
                return Err(FilesystemError::system(action, errno));
            }
        };
        if compression.is_on() {
            self.compress(&file, compression)?;
        }
        Ok(file)
    }

    /// Sets the compression of one empty file, as its owner may on btrfs.
    fn compress(&self, file: &File, compression: FileCompression) -> Result<(), FilesystemError> {
        check_property(&self.found.type_name, &self.found.mount_options, compression)?;
        let name = compression.algorithm.name();
        rustix::fs::fsetxattr(file, "btrfs.compression", name.as_bytes(), XattrFlags::empty()).map_err(
            |errno| FilesystemError::system(format!("set the compression of a file to {name}"), errno),
        )
    }

    /// Whether a read here can be proved to be cold.
    ///
    /// # Errors
    /// ZFS keeps what was read in a cache of its own, which cachestat(2) does not count.
    pub fn check_cold(&self) -> Result<(), FilesystemError> {
        if self.found.type_name != "zfs" {
            return Ok(());
        }
        Err(FilesystemError::refused(
            "page_cache",
            "ZFS keeps what was read in its own cache (ARC), so no read can be proved cold; use page_cache = \"warm\", or \
             export and import the pool and read once",
        ))
    }

    /// Room for files of this many bytes, of which 5 % of the filesystem stay free.
    pub(crate) fn check_space(&self, wanted_bytes: u64) -> Result<(), FilesystemError> {
        let reserve_bytes = self.found.total_bytes / 20;
        let available_bytes = self.found.available_bytes;
        if wanted_bytes <= available_bytes.saturating_sub(reserve_bytes) {
            return Ok(());
        }
        Err(FilesystemError::NoSpace {
            directory: self.path.clone(),
            wanted_bytes,
            available_bytes,
            reserve_bytes,
        })
    }
}

/// Whether files of a filesystem with these mount options can be given a compression one by one.
///
/// # Errors
/// Which can, and that btrfs takes the level of a file from its mount.
pub fn check_property(
    filesystem: &str,
    options: &str,
    compression: FileCompression,
) -> Result<(), FilesystemError> {
    /// What the kernel takes where nothing gives a level.
    const DEFAULT_LEVEL: i32 = 3;
    let refused = |message: String| FilesystemError::refused("compression", message);
    if !compression.is_on() {
        return Ok(());
    }
    if filesystem != "btrfs" {
        return Err(refused(format!(
            "the directory is on {filesystem}, which cannot compress single files; leave compression out to measure \
             the filesystem's own setting"
        )));
    }
    if !matches!(
        compression.algorithm,
        Algorithm::Zstd | Algorithm::Zlib | Algorithm::Lzo
    ) {
        return Err(refused(format!(
            "btrfs has no {}; it has zstd, zlib and lzo",
            compression.algorithm
        )));
    }
    compression.check(FilesystemKind::Btrfs).map_err(refused)?;
    let of_mount = level_of_mount(options);
    let wanted = of_mount.unwrap_or(DEFAULT_LEVEL);
    let taken = compression.nearest_level(FilesystemKind::Btrfs, wanted);
    match (compression.level, taken) {
        (Some(level), Some(taken)) if level != taken => {
            let algorithm = compression.algorithm;
            let why = match of_mount {
                Some(of_mount) => format!("its mount has level {of_mount}"),
                None => "its mount has none".to_owned(),
            };
            Err(refused(format!(
                "btrfs accepts level {level} for a file but uses {taken} instead ({why}); write {algorithm}:{taken}, or mount it with \
                 compress={algorithm}:{level}"
            )))
        }
        _ => Ok(()),
    }
}

/// The level that a mount of btrfs gives all its files, whatever they are compressed with.
///
/// *Source*: Linux 6.18, `compress_file_range` in fs/btrfs/inode.c: the algorithm may be the file's, the level is `fs_info->compress_level`.
fn level_of_mount(options: &str) -> Option<i32> {
    let mut words = options.split(',').map(str::trim).rev();
    words.find_map(|word| {
        let value = word
            .strip_prefix("compress=")
            .or_else(|| word.strip_prefix("compress-force="))?;
        value.split_once(':')?.1.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_of_a_file_on_btrfs_is_that_of_its_mount() {
        let check = |options: &str, compression: &str| {
            check_property("btrfs", options, compression.parse().unwrap()).map_err(|error| error.to_string())
        };
        for (options, has, lacks, taken) in [
            ("rw,subvolid=5", "zstd:3", "zstd:9", "zstd:3"),
            ("rw,compress=zstd:9,ssd", "zstd:9", "zstd:3", "zstd:9"),
            ("rw,compress-force=zstd:15", "zlib:9", "zlib:3", "zlib:9"),
            ("rw,compress=lzo", "zstd:3", "zstd:1", "zstd:3"),
        ] {
            assert_eq!(check(options, has), Ok(()), "{options}");
            assert_eq!(check(options, "lzo"), Ok(()), "{options}");
            let why = check(options, lacks).unwrap_err();
            assert!(
                why.contains(&format!("write {taken}, or mount")),
                "{options}: {why}"
            );
        }
        assert!(check("rw", "zstd:99").unwrap_err().contains("-15 to 15"));
    }
}
