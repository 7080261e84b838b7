//! A loop device on our own unnamed file: direct I/O and automatic clearing, both read back from the kernel.

#![expect(
    unsafe_code,
    reason = "the ioctls of loop devices have no safe binding among our dependencies"
)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use outcrop_probe::BlockDevice;
use outcrop_probe::device_number::DeviceNumber;
use outcrop_probe::loop_info::LoopInfo;
use outcrop_probe::system_tree::SystemTree;
use rustix::fs::{Mode, OFlags};

use crate::error::FilesystemError;
use crate::mount::NEEDS_ROOT;

/// From include/uapi/linux/loop.h.
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// Another process may take the free device before we do; so often it is tried again.
const ATTEMPTS: u32 = 64;

/// A loop device that the kernel clears when the last descriptor of it is closed, also that of a killed process.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    descriptor: OwnedFd,
    path: PathBuf,
    counted: BlockDevice,
}

impl LoopDevice {
    /// Attaches `image` to a free loop device.
    ///
    /// # Errors
    /// This user may not; there are no loop devices; the filesystem of the image gives no direct I/O.
    pub(crate) fn attach(image: impl AsFd) -> Result<Self, FilesystemError> {
        let control = rustix::fs::open("/dev/loop-control", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| no_loop(&errno.into()))?;
        for _ in 0..ATTEMPTS {
            let number = free_number(control.as_fd())?;
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let opened = rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
            let descriptor = opened.map_err(|errno| no_loop(&errno.into()))?;
            match configure(descriptor.as_fd(), image.as_fd()) {
                Ok(()) => return Self::checked(descriptor, path),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
                Err(error) => return Err(FilesystemError::system("attach a loop device", error)),
            }
        }
        Err(FilesystemError::Unavailable(format!(
            "{ATTEMPTS} free loop devices were taken by other processes before we could have them; try again"
        )))
    }

    /// Reads back what the kernel made of our flags.
    fn checked(descriptor: OwnedFd, path: PathBuf) -> Result<Self, FilesystemError> {
        let flags = LoopInfo::of(&descriptor)
            .map_err(|error| FilesystemError::system("read a loop device's state", error))?
            .flags;
        if flags & LO_FLAGS_AUTOCLEAR == 0 {
            return Err(FilesystemError::Unavailable(
                "this kernel's loop devices do not detach automatically, so one would be left behind if Outcrop were killed".to_owned(),
            ));
        }
        if flags & LO_FLAGS_DIRECT_IO == 0 {
            return Err(FilesystemError::Unavailable(
                "the loop device has no direct I/O on this filesystem, so the page cache would be measured instead of the disk; \
                 choose a directory on ext4, xfs or btrfs"
                    .to_owned(),
            ));
        }
        let stat = rustix::fs::fstat(&descriptor)
            .map_err(|errno| FilesystemError::system("examine a loop device", errno))?;
        let number = DeviceNumber::from_stat(stat.st_rdev);
        let counted = BlockDevice::numbered(&SystemTree::live(), number)?;
        Ok(Self {
            descriptor,
            path,
            counted,
        })
    }

    /// Where the kernel finds it, for mounting.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What to count on.
    pub(crate) const fn counted(&self) -> &BlockDevice {
        &self.counted
    }

    /// A descriptor that reads past the page cache.
    pub(crate) fn direct(&self) -> Result<File, FilesystemError> {
        let again = format!("/proc/self/fd/{}", self.descriptor.as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let opened = rustix::fs::open(again, flags, Mode::empty());
        opened
            .map(File::from)
            .map_err(|errno| FilesystemError::system("read the loop device past the page cache", errno))
    }
}

fn no_loop(error: &io::Error) -> FilesystemError {
    FilesystemError::Unavailable(match error.kind() {
        io::ErrorKind::PermissionDenied => NEEDS_ROOT.to_owned(),
        io::ErrorKind::NotFound => {
            "this machine has no loop devices (try `modprobe loop`); use kind = \"directory\" with a path"
                .to_owned()
        }
        _ => format!("loop devices cannot be used: {error}"),
    })
}

fn free_number(control: BorrowedFd<'_>) -> Result<u32, FilesystemError> {
    // SAFETY: the call takes no argument and touches no memory of ours.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
    u32::try_from(number).map_err(|_| no_loop(&io::Error::last_os_error()))
}

fn configure(device: BorrowedFd<'_>, image: BorrowedFd<'_>) -> io::Result<()> {
    let config = LoopConfig {
        fd: image.as_raw_fd() as u32,
        block_size: 0,
        info: LoopInfo::with_flags(LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO),
        reserved: [0; 8],
    };
    // SAFETY: the pointer is valid for one `loop_config` for the length of the call, which only reads it.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_struct_has_the_kernels_size() {
        assert_eq!(size_of::<LoopConfig>(), 304);
    }
}
