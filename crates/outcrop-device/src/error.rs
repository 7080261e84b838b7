//! Why a job cannot start or go on, in sentences that say what was seen, what was expected and what to do.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use outcrop_measure::units::{ByteSize, format_bytes};

use crate::direct::filesystem_name;

/// Everything that keeps this crate from measuring.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A field of the job is out of range.
    #[error("{field} is {seen}; expected {expected}")]
    Spec {
        /// The field's name in plans.
        field: &'static str,
        /// The value.
        seen: String,
        /// What is accepted.
        expected: String,
    },
    /// Writes were asked of a target that Outcrop did not create.
    #[error(
        "{path} was not created by Outcrop, so Outcrop only reads it, but the mix {mix} contains writes; \
         use the mix 100:0, give a directory so that Outcrop writes to its own scratch file, or give a whole block device to be \
         overwritten (`--destroy`)"
    )]
    ReadOnlyTarget {
        /// The target.
        path: PathBuf,
        /// The mix that was asked for.
        mix: String,
    },
    /// A path could not be opened, read or changed.
    #[error("cannot {action} {path}: {source}{hint}")]
    Path {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do, starting with `; `, or empty.
        hint: &'static str,
    },
    /// The path is neither a regular file nor a block device, or not a directory where one is needed.
    #[error("{path} is {seen}; expected {expected}")]
    WrongKind {
        /// The path after resolving links.
        path: PathBuf,
        /// What it is.
        seen: &'static str,
        /// What would do.
        expected: &'static str,
    },
    /// The filesystem refuses O_DIRECT.
    #[error(
        "{path} is on {filesystem}, which does not support O_DIRECT, so Outcrop would measure the page cache instead of the device; choose a path on a disk filesystem such as ext4 or xfs"
    )]
    DirectUnsupported {
        /// The path.
        path: PathBuf,
        /// The filesystem's type.
        filesystem: String,
    },
    /// Requests would not be aligned to the device's blocks.
    #[error(
        "io_block_size is {size_bytes} bytes; {path} requires multiples of {logical_block_bytes} bytes for direct I/O"
    )]
    Unaligned {
        /// The request size.
        size_bytes: u64,
        /// The target.
        path: PathBuf,
        /// Its logical block size.
        logical_block_bytes: u64,
    },
    /// The target does not hold even one request.
    #[error("{path} holds {size_bytes} bytes; {needed_bytes} are needed ({why})")]
    TooSmall {
        /// The target.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
        /// The least that would do.
        needed_bytes: u64,
        /// What needs it.
        why: &'static str,
    },
    /// A scratch file would fill the filesystem.
    #[error(
        "a scratch file of {} does not fit in {directory}: {} are free, of which {} (5 % of the filesystem) must stay free; use at most --size {}, or choose another directory",
        format_bytes(*wanted_bytes), format_bytes(*available_bytes), format_bytes(*reserve_bytes), ByteSize(*largest_bytes)
    )]
    NoSpace {
        /// Where.
        directory: PathBuf,
        /// Asked for.
        wanted_bytes: u64,
        /// Free to us.
        available_bytes: u64,
        /// Kept free.
        reserve_bytes: u64,
        /// The largest size that is accepted.
        largest_bytes: u64,
    },
    /// The filesystem makes no files.
    #[error(
        "{directory} is on {filesystem}, where files cannot be created; choose a directory on the disk to measure"
    )]
    NoFiles {
        /// The directory after resolving links.
        directory: PathBuf,
        /// The filesystem's type.
        filesystem: String,
    },
    /// Scratch files do not belong among device nodes.
    #[error(
        "cannot create a scratch file in {directory}: Outcrop never creates files under /dev; choose a directory on the disk to measure"
    )]
    UnderDev {
        /// The directory after resolving links.
        directory: PathBuf,
    },
    /// There is nothing at a path that should be a device.
    #[error(
        "there is no device at {path}: Outcrop opens what exists and never creates a file in its place; check the spelling with `lsblk`"
    )]
    NoDevice {
        /// The path.
        path: PathBuf,
    },
    /// Somebody uses the device that was to be overwritten, or a part of it.
    #[error("{path} is not overwritten: {how}; unmount or release it first, or choose another device")]
    InUse {
        /// The device.
        path: PathBuf,
        /// Who uses it, in a clause.
        how: String,
    },
    /// Nobody can tell whether the device is used.
    #[error("{path} is not overwritten, because the kernel does not say whether it is in use: {reason}")]
    UseUnknown {
        /// The device.
        path: PathBuf,
        /// What could not be read.
        reason: String,
    },
    /// Something is stored on the device that was to be overwritten.
    #[error(
        "{path} is not overwritten: it holds {what}; if it is no longer needed, `wipefs --all {path}` removes it"
    )]
    HoldsData {
        /// The device.
        path: PathBuf,
        /// What a signature tells.
        what: String,
    },
    /// The kernel refuses writes.
    #[error(
        "{path} is read-only; `blockdev --setrw {path}` lets writes through, unless the device itself refuses them"
    )]
    WriteProtected {
        /// The device.
        path: PathBuf,
    },
    /// The name that was typed is another device's.
    #[error("{path} is not called `{typed}`: nothing was written; its name is `{names}`")]
    OtherName {
        /// The device.
        path: PathBuf,
        /// What was typed.
        typed: String,
        /// Its names, with quotes between them.
        names: String,
    },
    /// Filling a device failed.
    #[error(
        "filling {path} failed at offset {offset}: {source}; of its first {}, at least {} are overwritten",
        format_bytes(*reached_bytes), format_bytes(*written_bytes)
    )]
    Fill {
        /// The device.
        path: PathBuf,
        /// Where on it.
        offset: u64,
        /// What the system said.
        source: io::Error,
        /// What was written for certain.
        written_bytes: u64,
        /// Up to where requests went.
        reached_bytes: u64,
    },
    /// The caller raised the stop flag while a device was filled.
    #[error(
        "interrupted while filling {path}; of its first {}, at least {} are overwritten",
        format_bytes(*reached_bytes), format_bytes(*written_bytes)
    )]
    FillInterrupted {
        /// The device.
        path: PathBuf,
        /// What was written for certain.
        written_bytes: u64,
        /// Up to where requests went.
        reached_bytes: u64,
    },
    /// Filling the scratch file failed.
    #[error(
        "writing the scratch file in {directory} failed at offset {offset}: {source}; the file is removed"
    )]
    ScratchWrite {
        /// The directory that it is in.
        directory: PathBuf,
        /// Where in it.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The caller raised the stop flag before there was anything to report.
    #[error("interrupted while {during}; nothing is left behind")]
    Interrupted {
        /// What was going on.
        during: &'static str,
    },
    /// The kernel gives no io_uring instance.
    #[error("cannot set up io_uring ({entries} entries): {source}; {hint}, or use `--engine psync`")]
    RingSetup {
        /// Entries asked for.
        entries: u32,
        /// What the system said.
        source: io::Error,
        /// What to do.
        hint: String,
    },
    /// The kernel gives no context for asynchronous I/O.
    #[error("cannot set up libaio ({entries} requests): {source}; {hint}, or use `--engine io_uring`")]
    AioSetup {
        /// Requests asked for.
        entries: u32,
        /// What the system said.
        source: io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// Memory for the buffers cannot be had.
    #[error(
        "cannot map {} of I/O buffers (queue_depth times io_block_size, plus the write pool): \
         {source}; lower queue_depth or io_block_size",
        format_bytes(*bytes)
    )]
    Buffers {
        /// Size asked for.
        bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The engine itself failed, not a request.
    #[error("{call} failed in the middle of a job: {source}")]
    Engine {
        /// The system call.
        call: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Requests did not come back.
    #[error(
        "{in_flight} requests did not complete within {waited_s} s of the end; the device hangs: see `dmesg`; their buffers stay allocated, so a late completion does no harm"
    )]
    Hung {
        /// How many.
        in_flight: u32,
        /// For how long they were waited for.
        waited_s: u64,
    },
    /// A job's thread could not be started or panicked.
    #[error("a job thread failed: {reason}")]
    Thread {
        /// What happened.
        reason: String,
    },
}

/// The error number of what no owner's right allows.
const EPERM: i32 = rustix::io::Errno::PERM.raw_os_error();

/// Whether a path names a block or character device.
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path)
        .is_ok_and(|found| found.file_type().is_block_device() || found.file_type().is_char_device())
}

impl DeviceError {
    pub(crate) fn spec(field: &'static str, seen: impl Display, expected: impl Into<String>) -> Self {
        Self::Spec {
            field,
            seen: seen.to_string(),
            expected: expected.into(),
        }
    }

    pub(crate) fn direct_unsupported(path: &Path) -> Self {
        Self::DirectUnsupported {
            path: path.to_owned(),
            filesystem: filesystem_name(path),
        }
    }

    /// Wraps a failed path operation and picks the hint that fits its error number.
    pub(crate) fn path(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        let hint = match source.kind() {
            // The rights of the file would have given EACCES: EPERM comes from above them, and root cannot change it from within.
            io::ErrorKind::PermissionDenied if source.raw_os_error() == Some(EPERM) && is_device(path) => {
                "; the file's permissions are not the reason: a container or a security policy withholds the device, even from root; run \
                 outcrop outside the container, or start the container with the device (docker run --device)"
            }
            io::ErrorKind::PermissionDenied => {
                "; choose a path that you may use, or run with the owner's rights (block devices: root or group disk)"
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                "; the filesystem is mounted read-only, choose another directory"
            }
            io::ErrorKind::NotFound => "; check the spelling",
            io::ErrorKind::StorageFull => {
                "; the filesystem is full, free some space or choose another directory"
            }
            _ => "",
        };
        Self::Path {
            action,
            path: path.to_owned(),
            source,
            hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_right_of_the_file_forbids_is_told_from_what_one_does() {
        let refused = |path: &str, errno: rustix::io::Errno| {
            DeviceError::path("open", Path::new(path), errno).to_string()
        };
        let (policy, rights) = (rustix::io::Errno::PERM, rustix::io::Errno::ACCESS);
        assert!(refused("/dev/null", policy).contains("outside the container"));
        assert!(refused("/dev/null", rights).contains("the owner's rights"));
        // An immutable file is one of the user's.
        assert!(refused("/proc/self/exe", policy).contains("the owner's rights"));
    }
}
