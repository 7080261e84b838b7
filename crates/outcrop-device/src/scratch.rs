//! The only files that Outcrop ever writes to: its own, made here, marked, locked and removed again.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use outcrop_measure::seed::Seed;
use outcrop_workload::Content;
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::direct::DirectFile;
use crate::error::DeviceError;
use crate::fill;
use crate::marker::{MARKER_BYTES, Marker};

const NAME_PREFIX: &str = ".outcrop-scratch-";
/// Sizes are rounded up to this, so that every supported logical block size divides them.
const GRANULE_BYTES: u64 = 4096;

/// A file of our own to measure: written in full, flushed, and removed when dropped.
#[derive(Debug)]
pub struct ScratchFile {
    // First, so that the name goes before the lock does.
    _removal: Removal,
    direct: DirectFile,
    size_bytes: u64,
}

impl ScratchFile {
    /// Makes `.outcrop-scratch-<pid>-<hex>` in `directory` and writes all of it past the page cache, so that
    /// no read meets an extent that was never written.
    ///
    /// `size_bytes` is rounded up to 4 KiB. `progress` is called with the bytes written so far and the total.
    /// *Cost*: one pass of sequential writes at the device's speed.
    ///
    /// # Errors
    /// The directory is missing, not writable, under /dev or without O_DIRECT; less than 5 % of the
    /// filesystem would stay free; a write fails; `stop` was raised. No file is left in any of these cases.
    pub fn create(
        directory: &Path,
        size_bytes: u64,
        content: &Content,
        seed: Seed,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, DeviceError> {
        let directory = resolve_directory(directory)?;
        let size_bytes = size_bytes.max(1).next_multiple_of(GRANULE_BYTES);
        check_space(&directory, size_bytes)?;

        let id = random_id().map_err(|source| {
            DeviceError::path("read random bytes from", Path::new("/dev/urandom"), source)
        })?;
        let path = directory.join(name(id));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| DeviceError::path("create a scratch file in", &directory, errno))?;
        let removal = Removal::of(&path, &descriptor)?;
        rustix::fs::flock(&descriptor, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| DeviceError::path("lock", &path, errno))?;

        let write_error = |offset, source| DeviceError::ScratchWrite {
            path: path.clone(),
            offset,
            source,
        };
        // The marker comes first: a file that a kill leaves half written is known to be ours all the same.
        let marker = Marker {
            id,
            inode: removal.inode,
            size_bytes,
        };
        let plain = File::from(descriptor);
        plain
            .write_all_at(&marker.encode(), size_bytes)
            .map_err(|source| write_error(size_bytes, source))?;
        plain
            .sync_all()
            .map_err(|source| write_error(size_bytes, source))?;
        match rustix::fs::fallocate(&plain, FallocateFlags::empty(), 0, size_bytes + MARKER_BYTES) {
            // Without it the blocks are found while writing; with it a full disk shows before that.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(errno) => return Err(write_error(0, errno.into())),
        }
        let direct = DirectFile::from_descriptor(plain.into(), &path)?;
        fill::write_all(&direct, size_bytes, content, seed, stop, progress)?;
        direct
            .file
            .sync_all()
            .map_err(|source| write_error(size_bytes, source))?;
        Ok(Self {
            _removal: removal,
            direct,
            size_bytes,
        })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.direct.path
    }

    /// Bytes that requests may fall into; the file is one marker block longer.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(crate) const fn direct(&self) -> &DirectFile {
        &self.direct
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

/// Refuses what would leave less than 5 % of the filesystem free.
fn check_space(directory: &Path, size_bytes: u64) -> Result<(), DeviceError> {
    let space = rustix::fs::statvfs(directory)
        .map_err(|errno| DeviceError::path("read the free space of", directory, errno))?;
    if space.f_blocks == 0 {
        // The filesystem keeps no account (ramfs): there is no share of it to keep free, and whether it
        // takes O_DIRECT at all is what the user has to be told.
        return Ok(());
    }
    let available_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    let reserve_bytes = space.f_blocks.saturating_mul(space.f_frsize) / 20;
    let room = available_bytes
        .saturating_sub(reserve_bytes)
        .saturating_sub(MARKER_BYTES);
    if size_bytes <= room {
        return Ok(());
    }
    Err(DeviceError::NoSpace {
        directory: directory.to_owned(),
        wanted_bytes: size_bytes,
        available_bytes,
        reserve_bytes,
        largest_bytes: room / GRANULE_BYTES * GRANULE_BYTES,
    })
}
