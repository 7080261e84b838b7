//! Files opened past the page cache: opening with O_DIRECT, the alignment it asks for, and the filesystems
//! that refuse it or only pretend.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use outcrop_probe::filesystem::Filesystem;
use outcrop_workload::filesystem::FileAccess;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::error::DeviceError;
use crate::memory::{IoMemory, PAGE_BYTES};

/// Filesystems that keep their data in memory. tmpfs accepts O_DIRECT since Linux 6.6 and copies from the
/// page cache all the same; the others are listed for kernels that may follow it.
const MEMORY_FILESYSTEMS: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];

/// A descriptor whose transfers bypass the page cache.
#[derive(Debug)]
pub(crate) struct DirectFile {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// Offsets and lengths are multiples of this.
    pub(crate) logical_block_bytes: u64,
    /// False where the filesystem has no direct I/O and none was asked for: what goes through this descriptor then stays in the page cache.
    pub(crate) is_direct: bool,
}

impl DirectFile {
    /// Opens an existing file or device for reading only. `path` is already free of links; should a link
    /// have taken its place, it is not followed.
    pub(crate) fn open_read_only(path: &Path, access: FileAccess) -> Result<Self, DeviceError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Reading must not even touch the access time, where the kernel lets us ask for that (owner only).
        let opened = match rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()) {
            Err(Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
            other => other,
        };
        Self::from_descriptor(
            opened.map_err(|errno| DeviceError::path("open", path, errno))?,
            path,
            access,
        )
    }

    /// The same file or device through the page cache, of which none of its clean pages are left.
    pub(crate) fn through_page_cache(&self) -> Result<File, DeviceError> {
        let failed = |errno| DeviceError::path("open for buffered I/O", &self.path, errno);
        let flags = rustix::fs::fcntl_getfl(&self.file).map_err(failed)?;
        let kept = flags & (OFlags::RWMODE | OFlags::NOATIME);
        // It may have no name, so it is opened by what the kernel calls it.
        let name = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let opened = rustix::fs::open(name, kept | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        // Pages that were not written back stay, and so does what another process maps.
        rustix::fs::fadvise(&opened, 0, None, rustix::fs::Advice::DontNeed).map_err(failed)?;
        Ok(File::from(opened))
    }

    /// Switches a descriptor to direct transfers and finds their alignment. Where there are none, it stays as it is for buffered access.
    pub(crate) fn from_descriptor(
        descriptor: OwnedFd,
        path: &Path,
        access: FileAccess,
    ) -> Result<Self, DeviceError> {
        let unsupported = |file: File, flags: OFlags| match access {
            FileAccess::Direct => Err(DeviceError::direct_unsupported(path)),
            FileAccess::Buffered => {
                rustix::fs::fcntl_setfl(&file, flags)
                    .map_err(|errno| DeviceError::path("switch back to buffered I/O", path, errno))?;
                Ok(Self {
                    file,
                    path: path.to_owned(),
                    logical_block_bytes: 1,
                    is_direct: false,
                })
            }
        };
        let flags = rustix::fs::fcntl_getfl(&descriptor)
            .map_err(|errno| DeviceError::path("read the flags of", path, errno))?;
        if is_in_memory(path) && is_regular(&descriptor) {
            return unsupported(File::from(descriptor), flags);
        }
        // Switching by fcntl rather than opening with O_DIRECT: an open that creates *and* refuses leaves
        // the file behind.
        let direct = flags | OFlags::DIRECT;
        // A read of our own file would write its access time, or look each time whether it has to. The owner may do without; a server
        // or a mount option may say that it is someone else's.
        let switched = match rustix::fs::fcntl_setfl(&descriptor, direct | OFlags::NOATIME) {
            Err(Errno::PERM) => rustix::fs::fcntl_setfl(&descriptor, direct),
            other => other,
        };
        match switched {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return unsupported(File::from(descriptor), flags),
            Err(errno) => return Err(DeviceError::path("switch to direct I/O", path, errno)),
        }
        let file = File::from(descriptor);
        let logical_block_bytes = match stated_alignment(&file, path)? {
            Some(0) => return unsupported(file, flags),
            Some(bytes) => bytes,
            None => found_alignment(&file)?,
        };
        Ok(Self {
            file,
            path: path.to_owned(),
            logical_block_bytes,
            is_direct: true,
        })
    }
}

/// Whether files there are in memory, whatever they are opened with.
pub(crate) fn is_in_memory(path: &Path) -> bool {
    MEMORY_FILESYSTEMS.contains(&filesystem_name(path).as_str())
}

fn is_regular(descriptor: &OwnedFd) -> bool {
    rustix::fs::fstat(descriptor)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file())
}

/// The type of the filesystem at `path`, for messages and the list above.
pub(crate) fn filesystem_name(path: &Path) -> String {
    Filesystem::at(path).map_or_else(|_| "an unknown filesystem".to_owned(), |found| found.type_name)
}

/// What `statx` says: bytes, 0 for "no direct I/O on this file", `None` on kernels before 6.1 and filesystems
/// that do not say.
fn stated_alignment(file: &File, path: &Path) -> Result<Option<u64>, DeviceError> {
    let stat = rustix::fs::statx(
        file,
        "",
        AtFlags::EMPTY_PATH,
        StatxFlags::DIOALIGN | StatxFlags::BASIC_STATS,
    )
    .or_else(|_| rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS))
    .map_err(|errno| DeviceError::path("examine", path, errno))?;
    let is_stated = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    // Memory is aligned to pages throughout; a device that wants more wants its blocks that large as well.
    let memory = u64::from(stat.stx_dio_mem_align);
    let offset = u64::from(stat.stx_dio_offset_align);
    Ok(is_stated.then(|| {
        if memory > PAGE_BYTES {
            memory.max(offset)
        } else {
            offset
        }
    }))
}

/// Tries reads of growing blocks until one is accepted.
fn found_alignment(file: &File) -> Result<u64, DeviceError> {
    let mut memory = IoMemory::map(PAGE_BYTES)?;
    for size in [512_u64, 1024, 2048, 4096] {
        let buffer = memory.whole_mut();
        let Some(part) = buffer.get_mut(..size as usize) else {
            break;
        };
        match rustix::io::pread(file.as_fd(), part, size) {
            Err(Errno::INVAL) => {}
            // Any other failure is the job's to meet and to report with its offset.
            Ok(_) | Err(_) => return Ok(size),
        }
    }
    Ok(PAGE_BYTES)
}
