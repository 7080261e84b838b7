//! The only files that Outcrop ever writes to: its own.
//!
//! A scratch file has no name (`O_TMPFILE`), so the kernel frees it when its last descriptor is closed, also when the process
//! is killed. On a filesystem that cannot do that, it has a name for the moment that it takes to lock and mark it, and loses it
//! before a byte is measured. A kill within that moment leaves a marked file; the next run in that directory removes it. So it
//! does with the files of earlier versions, which kept their names.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use outcrop_measure::seed::Seed;
use outcrop_workload::Content;
use outcrop_workload::filesystem::FileAccess;
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::direct::{DirectFile, filesystem_name, is_in_memory};
use crate::error::DeviceError;
use crate::fill;
use crate::marker::{MARKER_BYTES, Marker};

const NAME_PREFIX: &str = ".outcrop-scratch-";
/// Sizes are rounded up to this, so that every supported logical block size divides them.
const GRANULE_BYTES: u64 = 4096;

/// A file of our own to measure: written in full, flushed, without a name, and gone when dropped or killed.
#[derive(Debug)]
pub struct ScratchFile {
    /// Its path is the directory's: it has none itself.
    direct: DirectFile,
    size_bytes: u64,
}

impl ScratchFile {
    /// Makes a file on the filesystem of `directory` and writes all of it past the page cache, so that no read meets an extent
    /// that was never written.
    ///
    /// Buffered access does not need O_DIRECT: where there is none, the file is written through the page cache, and jobs with direct access
    /// are refused. `size_bytes` is rounded up to 4 KiB. `progress` is called with the bytes written so far and the total.
    /// *Cost*: one pass of sequential writes at the device's speed.
    ///
    /// # Errors
    /// The directory is missing, not writable, under /dev or without O_DIRECT; less than 5 % of the
    /// filesystem would stay free; a write fails; `stop` was raised. No file is left in any of these cases.
    pub fn create(
        directory: &Path,
        size_bytes: u64,
        access: FileAccess,
        content: &Content,
        seed: Seed,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, DeviceError> {
        let directory = resolve_directory(directory)?;
        let size_bytes = size_bytes.max(1).next_multiple_of(GRANULE_BYTES);
        check_space(&directory, size_bytes)?;

        let descriptor = match unnamed(&directory)? {
            Some(descriptor) => descriptor,
            None => NamedFile::create(&directory, size_bytes)?.without_name()?,
        };
        let write_error = |offset, source| DeviceError::ScratchWrite {
            directory: directory.clone(),
            offset,
            source,
        };
        match rustix::fs::fallocate(&descriptor, FallocateFlags::empty(), 0, size_bytes) {
            // Without it the blocks are found while writing; with it a full disk shows before that.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(errno) => return Err(write_error(0, errno.into())),
        }
        let direct = DirectFile::from_descriptor(descriptor, &directory, access)?;
        fill::write_all(&direct, size_bytes, content, seed, stop, progress)
            .map_err(|unfilled| unfilled.error)?;
        direct
            .file
            .sync_all()
            .map_err(|source| write_error(size_bytes, source))?;
        Ok(Self { direct, size_bytes })
    }

    /// The directory on whose filesystem it lies.
    pub fn directory(&self) -> &Path {
        &self.direct.path
    }

    /// Bytes that requests may fall into.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(crate) const fn direct(&self) -> &DirectFile {
        &self.direct
    }

    /// Whether a file of that size may be made in a directory for such access, without making one, unless its filesystem keeps no account of space: such a one
    /// may make no files at all.
    ///
    /// # Errors
    /// Why not, as [`ScratchFile::create`] says it: the directory, the room in it, or its filesystem.
    pub fn check(directory: &Path, size_bytes: u64, access: FileAccess) -> Result<(), DeviceError> {
        let directory = resolve_directory(directory)?;
        if access == FileAccess::Direct && is_in_memory(&directory) {
            return Err(DeviceError::direct_unsupported(&directory));
        }
        let is_counted = check_space(&directory, size_bytes)?;
        if !is_counted && unnamed(&directory)?.is_none() {
            NamedFile::create(&directory, size_bytes)?;
        }
        Ok(())
    }

    /// Scratch files in `directory` whose process is gone (killed, say): they carry our marker, and nobody
    /// holds their lock. Files that merely have such a name are not in the list.
    ///
    /// # Errors
    /// The directory cannot be read. Single files that cannot be opened are passed over: they are not ours
    /// to remove.
    pub fn abandoned_in(directory: &Path) -> Result<Vec<AbandonedScratch>, DeviceError> {
        let entries =
            std::fs::read_dir(directory).map_err(|source| DeviceError::path("list", directory, source))?;
        let mut found: Vec<_> = entries
            .filter_map(Result::ok)
            .filter(|entry| has_our_name(&entry.file_name()))
            .filter_map(|entry| AbandonedScratch::examine(&entry.path()))
            .collect();
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

impl AsFd for ScratchFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.direct.file.as_fd()
    }
}

/// A new file without a name; `None` where the filesystem has none.
fn unnamed(directory: &Path) -> Result<Option<OwnedFd>, DeviceError> {
    // With O_EXCL nobody can give it a name later.
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::EXCL | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(descriptor) => Ok(Some(descriptor)),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
        Err(errno) => Err(DeviceError::path("create a scratch file in", directory, errno)),
    }
}

/// A scratch file that still has its name: `.outcrop-scratch-<pid>-<hex>`, locked and marked.
#[derive(Debug)]
struct NamedFile {
    // First, so that the name goes before the lock does.
    removal: Removal,
    descriptor: OwnedFd,
}

impl NamedFile {
    fn create(directory: &Path, size_bytes: u64) -> Result<Self, DeviceError> {
        let id = random_id().map_err(|source| {
            DeviceError::path("read random bytes from", Path::new("/dev/urandom"), source)
        })?;
        let path = directory.join(name(id));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = match rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(descriptor) => descriptor,
            // The directory is there: it is the filesystem that makes no files.
            Err(Errno::NOENT) => {
                return Err(DeviceError::NoFiles {
                    directory: directory.to_owned(),
                    filesystem: filesystem_name(directory),
                });
            }
            Err(errno) => return Err(DeviceError::path("create a scratch file in", directory, errno)),
        };
        let removal = Removal::of(&path, &descriptor)?;
        rustix::fs::flock(&descriptor, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| DeviceError::path("lock", &path, errno))?;
        let marker = Marker {
            id,
            inode: removal.inode,
            size_bytes,
        };
        let file = File::from(descriptor);
        file.write_all_at(&marker.encode(), size_bytes)
            .and_then(|()| file.sync_all())
            .map_err(|source| DeviceError::path("mark", &path, source))?;
        Ok(Self {
            removal,
            descriptor: file.into(),
        })
    }

    /// Takes its name away.
    fn without_name(mut self) -> Result<OwnedFd, DeviceError> {
        self.removal.is_armed = false;
        let removed = self.removal.now();
        removed.map_err(|source| DeviceError::path("remove the name of", &self.removal.path, source))?;
        Ok(self.descriptor)
    }
}

/// A scratch file that a dead process left behind. Its lock is held until this value is dropped.
#[derive(Debug)]
pub struct AbandonedScratch {
    path: PathBuf,
    bytes: u64,
    removal: Removal,
    _locked: File,
}

impl AbandonedScratch {
    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Removes the file.
    ///
    /// # Errors
    /// The system refuses to.
    pub fn remove(mut self) -> Result<(), DeviceError> {
        let result = self.removal.now();
        self.removal.is_armed = false;
        result.map_err(|source| DeviceError::path("remove", &self.path, source))
    }

    fn examine(path: &Path) -> Option<Self> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
        let metadata = file.metadata().ok()?;
        let marker_at = metadata.len().checked_sub(MARKER_BYTES)?;
        let mut block = [0; MARKER_BYTES as usize];
        if !metadata.is_file() || file.read_exact_at(&mut block, marker_at).is_err() {
            return None;
        }
        let marker = Marker::decode(&block)?;
        if marker.inode != metadata.ino() || marker.size_bytes != marker_at {
            return None;
        }
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        let mut removal = Removal::of(path, &file).ok()?;
        removal.is_armed = false;
        Some(Self {
            path: path.to_owned(),
            bytes: metadata.len(),
            removal,
            _locked: file,
        })
    }
}

/// Removes a path when dropped, provided that it still is the file it was.
#[derive(Debug)]
struct Removal {
    path: PathBuf,
    device: u64,
    inode: u64,
    is_armed: bool,
}

impl Removal {
    fn of(path: &Path, file: impl AsFd) -> Result<Self, DeviceError> {
        match rustix::fs::fstat(file) {
            Ok(stat) => Ok(Self {
                path: path.to_owned(),
                device: stat.st_dev,
                inode: stat.st_ino,
                is_armed: true,
            }),
            Err(errno) => Err(DeviceError::path("examine", path, errno)),
        }
    }

    fn now(&self) -> io::Result<()> {
        let seen = std::fs::symlink_metadata(&self.path)?;
        if (seen.dev(), seen.ino()) != (self.device, self.inode) {
            return Err(io::Error::other("another file has taken its place"));
        }
        std::fs::remove_file(&self.path)
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        if self.is_armed {
            // Nothing can be done about a failure here; `abandoned_in` finds the file later.
            let _ = self.now();
        }
    }
}

fn name(id: [u8; 16]) -> String {
    let hex: String = id.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{NAME_PREFIX}{}-{hex}", std::process::id())
}

fn has_our_name(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(NAME_PREFIX.as_bytes())
}

fn random_id() -> io::Result<[u8; 16]> {
    let mut id = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut id)?;
    Ok(id)
}

fn resolve_directory(directory: &Path) -> Result<PathBuf, DeviceError> {
    let resolved =
        std::fs::canonicalize(directory).map_err(|source| DeviceError::path("open", directory, source))?;
    if !resolved.is_dir() {
        return Err(DeviceError::WrongKind {
            path: resolved,
            seen: "not a directory",
            expected: "a directory to create the scratch file in",
        });
    }
    if resolved.starts_with("/dev") {
        return Err(DeviceError::UnderDev { directory: resolved });
    }
    Ok(resolved)
}

/// Refuses what would leave less than 5 % of the filesystem free; says whether it keeps account of that.
fn check_space(directory: &Path, size_bytes: u64) -> Result<bool, DeviceError> {
    let space = rustix::fs::statvfs(directory)
        .map_err(|errno| DeviceError::path("read the free space of", directory, errno))?;
    if space.f_blocks == 0 {
        // The filesystem keeps no account (ramfs): there is no share of it to keep free, and whether it
        // takes O_DIRECT at all is what the user has to be told.
        return Ok(false);
    }
    let available_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    let reserve_bytes = space.f_blocks.saturating_mul(space.f_frsize) / 20;
    // The marker's block, while it is there.
    let room = available_bytes
        .saturating_sub(reserve_bytes)
        .saturating_sub(MARKER_BYTES);
    if size_bytes <= room {
        return Ok(true);
    }
    Err(DeviceError::NoSpace {
        directory: directory.to_owned(),
        wanted_bytes: size_bytes,
        available_bytes,
        reserve_bytes,
        largest_bytes: round_size(room),
    })
}

/// The largest size of at most `room`, in whole units of which there are some: nobody types kibibytes of a disk.
fn round_size(room: u64) -> u64 {
    /// A size of fewer units than that would give away too much.
    const LEAST_UNITS: u64 = 8;
    let units = [1 << 30, 1 << 20, GRANULE_BYTES];
    let unit = units.into_iter().find(|unit| room / unit >= LEAST_UNITS);
    let unit = unit.unwrap_or(GRANULE_BYTES);
    room / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_that_is_advised_is_a_round_one_that_fits() {
        assert_eq!(round_size(66_067_488 << 10), 63 << 30);
        assert_eq!(round_size((3 << 30) + 5), 3 << 30);
        assert_eq!(round_size((9 << 20) + 4097), 9 << 20);
        assert_eq!(round_size(8191), 4096);
        for room in (0..u64::MAX / 2).step_by(usize::MAX / 64) {
            assert!(round_size(room) <= room);
        }
    }

    /// Names need no disk.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names_in(directory: &Path) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    /// What a kill leaves of it: the name, and no lock.
    fn kill(file: NamedFile) -> PathBuf {
        let NamedFile {
            mut removal,
            descriptor,
        } = file;
        removal.is_armed = false;
        drop(descriptor);
        removal.path.clone()
    }

    #[test]
    fn a_file_that_needs_a_name_has_lost_it_before_it_is_measured() {
        let folder = folder();
        let named = NamedFile::create(folder.path(), 1 << 20).unwrap();
        assert_eq!(names_in(folder.path()), 1);
        let descriptor = named.without_name().unwrap();
        assert_eq!(names_in(folder.path()), 0);
        assert_eq!(rustix::fs::fstat(&descriptor).unwrap().st_nlink, 0);
    }

    #[test]
    fn only_marked_files_whose_process_is_gone_count_as_abandoned() {
        let folder = folder();
        let directory = folder.path();
        let abandoned = || ScratchFile::abandoned_in(directory).unwrap();
        let alive = NamedFile::create(directory, 1 << 20).unwrap();
        assert!(abandoned().is_empty(), "in use: the lock is held");
        let left = kill(alive);
        std::fs::copy(&left, directory.join(".outcrop-scratch-2-copy")).unwrap();
        std::fs::write(directory.join(".outcrop-scratch-3-unmarked"), vec![0; 8192]).unwrap();
        std::fs::write(directory.join(".outcrop-scratch-4-empty"), "").unwrap();
        std::os::unix::fs::symlink(&left, directory.join(".outcrop-scratch-5-link")).unwrap();
        std::fs::create_dir(directory.join(".outcrop-scratch-6-folder")).unwrap();
        let found = abandoned();
        let paths: Vec<_> = found.iter().map(AbandonedScratch::path).collect();
        assert_eq!(paths, [left.as_path()]);
        assert_eq!(found[0].bytes(), (1 << 20) + 4096);
        for file in found {
            file.remove().unwrap();
        }
        assert!(abandoned().is_empty());
        assert_eq!(names_in(directory), 5, "nothing else is touched");
    }

    #[test]
    fn a_name_that_another_file_took_is_left_to_it() {
        let folder = folder();
        let named = NamedFile::create(folder.path(), 1 << 20).unwrap();
        let path = named.removal.path.clone();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "somebody else's").unwrap();
        drop(named);
        assert_eq!(std::fs::read(&path).unwrap(), b"somebody else's");
    }
}
