//! Block devices that the user gives to be overwritten: what is looked at before the first byte is written.
//!
//! The device is named twice: by its path, and by a name that belongs to this device alone (its serial number, say). It is refused
//! while anybody uses it, and while a signature tells that something is stored on it. It is then held exclusively (`O_EXCL`) until
//! the target is dropped, so that nobody mounts it meanwhile. Nothing is ever created: a path that leads nowhere is an error.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::format_bytes;
use outcrop_probe::device_number::DeviceNumber;
use outcrop_probe::system_tree::SystemTree;
use outcrop_probe::{BlockDevice, DeviceIdentity};
use outcrop_workload::Content;
use outcrop_workload::filesystem::FileAccess;
use rustix::fs::{FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::direct::DirectFile;
use crate::error::DeviceError;
use crate::fill::{self, Unfilled};
use crate::pause::pause_ns;
use crate::signature;

/// A block device that may be written, held exclusively.
#[derive(Debug)]
pub struct WritableDevice {
    direct: DirectFile,
    size_bytes: u64,
}

/// A device that nobody uses and that holds nothing known: what its owner should see before agreeing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where it is, links resolved.
    pub path: PathBuf,
    /// What it is called by.
    pub identity: DeviceIdentity,
    /// Whether its first 4 MiB and last 2 MiB are zeros: nothing but zeros is lost there.
    pub is_blank: bool,
}

impl Candidate {
    /// A device as somebody describes it, which nobody has looked at.
    pub fn described(path: impl Into<PathBuf>, identity: DeviceIdentity) -> Self {
        Self {
            path: path.into(),
            identity,
            is_blank: false,
        }
    }

    /// Looks at a device without opening it for writing.
    ///
    /// # Errors
    /// There is nothing at the path, or no block device; it or a part of it is mounted, swap, held by another device or below a loop
    /// device; it has partitions or a signature; it is read-only; or the kernel does not say.
    pub fn examine(path: &Path) -> Result<Self, DeviceError> {
        let resolved = std::fs::canonicalize(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => DeviceError::NoDevice {
                path: path.to_owned(),
            },
            _ => DeviceError::path("open", path, source),
        })?;
        let seen =
            std::fs::metadata(&resolved).map_err(|source| DeviceError::path("examine", path, source))?;
        let kind = FileType::from_raw_mode(seen.mode());
        if !kind.is_block_device() {
            return Err(DeviceError::WrongKind {
                path: resolved,
                seen: match kind {
                    FileType::RegularFile => "a regular file",
                    other => crate::target::describe(other),
                },
                expected: "a block device to be overwritten (or a directory for a scratch file)",
            });
        }
        let number = DeviceNumber::from_stat(seen.rdev());
        let block =
            BlockDevice::numbered(&SystemTree::live(), number).map_err(|why| unknown(path, why.reason))?;
        refuse_used(&block, &resolved)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&resolved, flags, Mode::empty())
            .map_err(|errno| DeviceError::path("open", &resolved, errno))?;
        let file = File::from(opened);
        if number_of(&file, &resolved)? != number {
            return Err(DeviceError::WrongKind {
                path: resolved,
                seen: "no longer the device that it was a moment ago",
                expected: "a device that stays in place",
            });
        }
        let is_blank = refuse_signature(&file, &block, &resolved)?;
        Ok(Self {
            path: resolved,
            identity: block.identity(),
            is_blank,
        })
    }

    /// Whether this name belongs to the device.
    pub fn is_called(&self, name: &str) -> bool {
        self.identity.names.iter().any(|known| known == name)
    }

    /// One sentence for the person who is to agree: model, size, contents, and the name to type.
    pub fn description(&self) -> String {
        let DeviceIdentity {
            names,
            model,
            size_bytes,
        } = &self.identity;
        let model = model
            .as_ref()
            .map_or_else(String::new, |model| format!("{model}, "));
        let contents = match self.is_blank {
            true => "no signature, and zeros at its start and end",
            false => "no known signature, but data at its start or end",
        };
        format!(
            "{} ({model}{}) is called {} and has {contents}",
            self.path.display(),
            format_bytes(*size_bytes),
            names.first().map_or("", String::as_str),
        )
    }
}

impl WritableDevice {
    /// Examines the device, compares its name with the one that was typed, takes it exclusively and looks at it again.
    ///
    /// # Errors
    /// Those of [`Candidate::examine`]; `name` belongs to another device; somebody holds it; it has no O_DIRECT.
    pub fn open(path: &Path, name: &str) -> Result<Self, DeviceError> {
        let candidate = Candidate::examine(path)?;
        if !candidate.is_called(name) {
            return Err(DeviceError::OtherName {
                path: candidate.path,
                typed: name.to_owned(),
                names: candidate.identity.names.join("` or `"),
            });
        }
        let path = &candidate.path;
        // Without O_CREAT nothing is made, and O_EXCL is a claim on the device.
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::BUSY => DeviceError::InUse {
                path: path.clone(),
                how: "another program or a kernel driver has it open exclusively, as a mount in another container does"
                    .to_owned(),
            },
            Errno::ROFS | Errno::ACCESS => DeviceError::path("open for writing", path, errno),
            errno => DeviceError::path("open exclusively", path, errno),
        })?;
        let file = File::from(opened);
        let number = number_of(&file, path)?;
        // From here on nobody can mount it; what happened before shows now, in the device that was really opened.
        let block =
            BlockDevice::numbered(&SystemTree::live(), number).map_err(|why| unknown(path, why.reason))?;
        if !block.identity().names.iter().any(|known| known == name) {
            return Err(DeviceError::WrongKind {
                path: path.clone(),
                seen: "no longer the device that it was a moment ago",
                expected: "a device that stays in place",
            });
        }
        refuse_used(&block, path)?;
        refuse_signature(&file, &block, path)?;
        let size_bytes = size_of(&file, path)?;
        let direct = DirectFile::from_descriptor(OwnedFd::from(file), path, FileAccess::Direct)?;
        let whole_bytes = size_bytes / direct.logical_block_bytes * direct.logical_block_bytes;
        if whole_bytes == 0 {
            return Err(DeviceError::TooSmall {
                path: path.clone(),
                size_bytes,
                needed_bytes: direct.logical_block_bytes,
                why: "one block of the device",
            });
        }
        Ok(Self {
            direct,
            size_bytes: whole_bytes,
        })
    }

    /// Writes the first `size_bytes` in full, so that no read meets a block that was never written.
    ///
    /// `progress` is called with the bytes written so far and the total.
    ///
    /// # Errors
    /// The device is smaller; a write fails; `stop` was raised.
    pub fn fill(
        &self,
        size_bytes: u64,
        content: &Content,
        seed: Seed,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), DeviceError> {
        let size_bytes = size_bytes.next_multiple_of(self.direct.logical_block_bytes);
        let path = &self.direct.path;
        if size_bytes > self.size_bytes {
            return Err(DeviceError::TooSmall {
                path: path.clone(),
                size_bytes: self.size_bytes,
                needed_bytes: size_bytes,
                why: "the size of the subject",
            });
        }
        fill::write_all(&self.direct, size_bytes, content, seed, stop, progress)
            .map_err(|unfilled| of_device(path, unfilled))?;
        let synced = self.direct.file.sync_all();
        synced.map_err(|source| DeviceError::Fill {
            path: path.clone(),
            offset: size_bytes,
            source,
            written_bytes: size_bytes,
            reached_bytes: size_bytes,
        })
    }

    /// Where it is, links resolved.
    pub fn path(&self) -> &Path {
        &self.direct.path
    }

    /// Its capacity.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(crate) const fn direct(&self) -> &DirectFile {
        &self.direct
    }
}

/// What is left of a device that could not be filled is not what it was: the error says how much.
fn of_device(path: &Path, unfilled: Unfilled) -> DeviceError {
    let Unfilled {
        error,
        written_bytes,
        reached_bytes,
    } = unfilled;
    let path = path.to_owned();
    match error {
        DeviceError::ScratchWrite { offset, source, .. } => DeviceError::Fill {
            path,
            offset,
            source,
            written_bytes,
            reached_bytes,
        },
        DeviceError::Interrupted { .. } => DeviceError::FillInterrupted {
            path,
            written_bytes,
            reached_bytes,
        },
        other => other,
    }
}

/// What cannot be told is refused.
fn unknown(path: &Path, reason: String) -> DeviceError {
    DeviceError::UseUnknown {
        path: path.to_owned(),
        reason,
    }
}

fn refuse_used(block: &BlockDevice, path: &Path) -> Result<(), DeviceError> {
    let uses = block.uses().map_err(|why| unknown(path, why.reason))?;
    if let Some(first) = uses.first() {
        return Err(DeviceError::InUse {
            path: path.to_owned(),
            how: first.to_string(),
        });
    }
    if block.is_read_only().map_err(|why| unknown(path, why.reason))? {
        return Err(DeviceError::WriteProtected {
            path: path.to_owned(),
        });
    }
    refuse_written(block, path)
}

/// Refuses a device that another process keeps open for writing. One that only tries whether the device is free has it open for a moment.
fn refuse_written(block: &BlockDevice, path: &Path) -> Result<(), DeviceError> {
    const LOOKS: u32 = 6;
    const BETWEEN_NS: u64 = 50_000_000;
    let look = || block.writers().map_err(|why| unknown(path, why.reason));
    let mut lasting = look()?;
    for _ in 1..LOOKS {
        if lasting.is_empty() {
            return Ok(());
        }
        // Nothing tells when a file of another process is closed.
        pause_ns(BETWEEN_NS);
        let now = look()?;
        lasting.retain(|writer| now.contains(writer));
    }
    match lasting.first() {
        None => Ok(()),
        Some(writer) => Err(DeviceError::InUse {
            path: path.to_owned(),
            how: writer.to_string(),
        }),
    }
}

/// Whether the device's start and end are zeros.
fn refuse_signature(file: &File, block: &BlockDevice, path: &Path) -> Result<bool, DeviceError> {
    let partitions = block.partitions().map_err(|why| unknown(path, why.reason))?;
    let holds = |what: String| DeviceError::HoldsData {
        path: path.to_owned(),
        what,
    };
    if !partitions.is_empty() {
        return Err(holds(format!("partitions ({})", partitions.join(", "))));
    }
    let mut is_blank = true;
    let read = |at: u64, buffer: &mut [u8]| {
        file.read_exact_at(buffer, at)?;
        is_blank &= buffer.iter().all(|byte| *byte == 0);
        Ok(())
    };
    let found = signature::find(size_of(file, path)?, read)
        .map_err(|source| DeviceError::path("read the signatures of", path, source))?;
    match found
        .map(str::to_owned)
        .or_else(|| signature::second_opinion(path))
    {
        Some(what) => Err(holds(what)),
        None => Ok(is_blank),
    }
}

/// The number of what was opened; 0:0, which no device has, for what is no block device.
fn number_of(file: &File, path: &Path) -> Result<DeviceNumber, DeviceError> {
    let found = file
        .metadata()
        .map_err(|source| DeviceError::path("examine", path, source))?;
    let is_device = FileType::from_raw_mode(found.mode()).is_block_device();
    Ok(DeviceNumber::from_stat(if is_device { found.rdev() } else { 0 }))
}

fn size_of(file: &File, path: &Path) -> Result<u64, DeviceError> {
    rustix::fs::seek(file, SeekFrom::End(0))
        .map_err(|errno| DeviceError::path("find the size of", path, errno))
}
