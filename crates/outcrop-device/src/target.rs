//! What a job reaches: our own scratch file, a device given to be overwritten, somebody's file or device (only ever read), or nothing.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use outcrop_measure::units::format_data;
use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;

use crate::direct::DirectFile;
use crate::error::DeviceError;
use crate::scratch::ScratchFile;
use crate::spec::JobSpec;
use crate::writable::WritableDevice;
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::FileAccess;

/// What a job reaches. Only [`Target::Scratch`] and [`Target::Device`] have a descriptor that can write.
#[derive(Debug)]
#[non_exhaustive]
pub enum Target {
    /// A file that this process created and will remove.
    Scratch(ScratchFile),
    /// A block device that its owner gave to be overwritten.
    Device(WritableDevice),
    /// A file or block device that was there before.
    ReadOnly(ReadOnlyTarget),
    /// Nothing: for the noop engine.
    Null,
}

/// The span of a job on [`Target::Null`] that names none: 1 GiB.
const NULL_SPAN_BYTES: u64 = 1 << 30;

impl Target {
    /// What is read, links resolved, or the directory of a scratch file; `None` for [`Target::Null`].
    pub fn place(&self) -> Option<&Path> {
        match self {
            Self::Scratch(scratch) => Some(scratch.directory()),
            Self::Device(device) => Some(device.path()),
            Self::ReadOnly(target) => Some(target.path()),
            Self::Null => None,
        }
    }

    /// Bytes that requests may fall into.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Scratch(scratch) => scratch.size_bytes(),
            Self::Device(device) => device.size_bytes(),
            Self::ReadOnly(target) => target.size_bytes(),
            Self::Null => NULL_SPAN_BYTES,
        }
    }

    /// What a block device holds now, which differs from [`Target::size_bytes`] where it was resized since it was opened: the kernel
    /// gives a device that is removed the size 0, and does not always fail its requests. `None` for files and [`Target::Null`].
    ///
    /// *Cost*: one system call.
    pub fn current_size_bytes(&self) -> Option<u64> {
        match self {
            Self::Device(device) => end_of(device.direct()).ok(),
            Self::ReadOnly(target) if target.is_block_device => end_of(&target.direct).ok(),
            Self::ReadOnly(_) | Self::Scratch(_) | Self::Null => None,
        }
    }

    /// Checks a job against this target before anything runs and returns the span in bytes.
    ///
    /// # Errors
    /// Writes to what is not ours, requests off the block size, a span that does not fit or holds no
    /// request, a real engine without anything to reach.
    pub fn check(&self, spec: &JobSpec) -> Result<u64, DeviceError> {
        spec.validate()?;
        let Some(direct) = self.direct() else {
            if spec.engine != EngineKind::Noop {
                return Err(DeviceError::spec(
                    "engine",
                    spec.engine,
                    "noop when there is no file or device to reach",
                ));
            }
            return Ok(spec
                .span_bytes
                .unwrap_or(NULL_SPAN_BYTES)
                .max(spec.io_block_size_bytes));
        };
        let path = &direct.path;
        if spec.access == FileAccess::Direct && !direct.is_direct {
            return Err(DeviceError::direct_unsupported(path));
        }
        if spec.read_write_mix.has_writes() && matches!(self, Self::ReadOnly(_)) {
            return Err(DeviceError::ReadOnlyTarget {
                path: path.clone(),
                mix: spec.read_write_mix.to_string(),
            });
        }
        if !spec
            .io_block_size_bytes
            .is_multiple_of(direct.logical_block_bytes)
        {
            return Err(DeviceError::Unaligned {
                size_bytes: spec.io_block_size_bytes,
                path: path.clone(),
                logical_block_bytes: direct.logical_block_bytes,
            });
        }
        let too_small = |needed_bytes, why| DeviceError::TooSmall {
            path: path.clone(),
            size_bytes: self.size_bytes(),
            needed_bytes,
            why,
        };
        let span = spec.span_bytes.unwrap_or(self.size_bytes());
        if span > self.size_bytes() {
            return Err(too_small(span, "the span of the job"));
        }
        if span < spec.io_block_size_bytes {
            return Err(too_small(
                spec.io_block_size_bytes,
                "one request of io_block_size",
            ));
        }
        Ok(span)
    }

    /// Waits until the device holds what was written, and the filesystem has committed its journal.
    ///
    /// # Errors
    /// The device failed to.
    pub fn flush(&self) -> Result<(), DeviceError> {
        let (direct, action) = match self {
            Self::Scratch(scratch) => (scratch.direct(), "flush the scratch file in"),
            Self::Device(device) => (device.direct(), "flush"),
            Self::ReadOnly(_) | Self::Null => return Ok(()),
        };
        let flushed = direct.file.sync_all();
        flushed.map_err(|source| DeviceError::path(action, &direct.path, source))
    }

    /// The descriptor and its alignment; `None` for [`Target::Null`].
    pub(crate) fn direct(&self) -> Option<&DirectFile> {
        match self {
            Self::Scratch(scratch) => Some(scratch.direct()),
            Self::Device(device) => Some(device.direct()),
            Self::ReadOnly(target) => Some(&target.direct),
            Self::Null => None,
        }
    }

    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.direct().map(|direct| direct.file.as_fd())
    }

    /// Sentences about the target that a reader of the numbers must see.
    pub(crate) fn warnings(&self) -> Vec<String> {
        match self {
            Self::ReadOnly(target) => target.warning.iter().cloned().collect(),
            Self::Scratch(_) | Self::Device(_) | Self::Null => Vec::new(),
        }
    }
}

/// A file or block device that Outcrop did not create, opened for reading only.
#[derive(Debug)]
pub struct ReadOnlyTarget {
    direct: DirectFile,
    given: PathBuf,
    size_bytes: u64,
    is_block_device: bool,
    warning: Option<String>,
}

impl ReadOnlyTarget {
    /// Resolves links, then opens what is there with O_RDONLY and O_DIRECT. Contents and modification time
    /// stay as they are; the access time too, where the kernel allows that.
    ///
    /// # Errors
    /// The path does not exist, may not be read, is neither a regular file nor a block device, is empty, or
    /// lies on a filesystem without O_DIRECT.
    pub fn open(path: &Path) -> Result<Self, DeviceError> {
        Self::open_for(path, FileAccess::Direct)
    }

    /// The same for one kind of access: buffered access does not need O_DIRECT, and where there is none, jobs with direct access are refused.
    ///
    /// # Errors
    /// Those of [`ReadOnlyTarget::open`].
    pub fn open_for(path: &Path, access: FileAccess) -> Result<Self, DeviceError> {
        let resolved =
            std::fs::canonicalize(path).map_err(|source| DeviceError::path("open", path, source))?;
        let seen =
            std::fs::metadata(&resolved).map_err(|source| DeviceError::path("examine", path, source))?;
        let kind = FileType::from_raw_mode(seen.mode());
        if !(kind.is_file() || kind.is_block_device()) {
            return Err(DeviceError::WrongKind {
                path: resolved,
                seen: describe(kind),
                expected: "a regular file or a block device (or a directory for a scratch file)",
            });
        }
        let direct = DirectFile::open_read_only(&resolved, access)?;
        let opened = direct
            .file
            .metadata()
            .map_err(|source| DeviceError::path("examine", &resolved, source))?;
        if (opened.dev(), opened.ino()) != (seen.dev(), seen.ino()) {
            return Err(DeviceError::WrongKind {
                path: resolved,
                seen: "no longer what it was a moment ago",
                expected: "a file or device that stays in place",
            });
        }
        let size_bytes =
            end_of(&direct).map_err(|errno| DeviceError::path("find the size of", &resolved, errno))?;
        if size_bytes < direct.logical_block_bytes {
            return Err(DeviceError::TooSmall {
                path: resolved,
                size_bytes,
                needed_bytes: direct.logical_block_bytes,
                why: "one block of the device",
            });
        }
        let is_block_device = kind.is_block_device();
        let warning = if is_block_device {
            None
        } else {
            holes(size_bytes, opened.blocks() * 512)
        };
        Ok(Self {
            direct,
            given: path.to_owned(),
            size_bytes,
            is_block_device,
            warning,
        })
    }

    /// The path with links resolved: what is really read.
    pub fn path(&self) -> &Path {
        &self.direct.path
    }

    /// The path as it was given; differs from [`ReadOnlyTarget::path`] when links were followed, and then
    /// both should be shown.
    pub fn given_path(&self) -> &Path {
        &self.given
    }

    /// Size of the file or capacity of the device.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What a reader of the figures has to know of it: how much of the file is on no device.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Where the file's data begin; none where all of it is a hole, which the filesystem answers with zeros without asking the device. 0 for
    /// a block device, and where the filesystem does not say.
    pub fn data_begin(&self) -> Option<u64> {
        if self.is_block_device {
            return Some(0);
        }
        match rustix::fs::seek(&self.direct.file, SeekFrom::Data(0)) {
            Ok(begin) => Some(begin),
            Err(Errno::NXIO) => None,
            Err(_) => Some(0),
        }
    }

    /// Whether it is a block device rather than a file.
    pub const fn is_block_device(&self) -> bool {
        self.is_block_device
    }
}

/// The end of a file or device, as BLKGETSIZE64 would tell, without a raw ioctl. Requests have offsets of their own, so none begins there.
fn end_of(direct: &DirectFile) -> Result<u64, Errno> {
    rustix::fs::seek(&direct.file, SeekFrom::End(0))
}

fn holes(size_bytes: u64, allocated_bytes: u64) -> Option<String> {
    let missing = size_bytes.saturating_sub(allocated_bytes);
    (missing * 100 > size_bytes).then(|| {
        format!(
            "{} of the file's {} are holes or stored compressed: reads of holes never reach the device",
            format_data(missing as f64),
            format_data(size_bytes as f64)
        )
    })
}

pub(crate) const fn describe(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::Symlink => "a symbolic link",
        _ => "of an unknown kind",
    }
}
