//! A filesystem of our own for the files of others: made in an image, mounted without a mount point, reached through our descriptor.

use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::BlockDevice;

use crate::attached;
use crate::error::FilesystemError;
use crate::filesystem::Filesystem;
use crate::image::Image;
use crate::loop_device::LoopDevice;
use crate::mount::Mounted;
use crate::program;
use crate::step::{self, Step, Watcher};

/// An empty filesystem, for as long as this value lives and the process with it.
///
/// The order of the fields is that of letting go: mount, then loop device.
#[derive(Debug)]
pub struct OwnFilesystem {
    mounted: Mounted,
    device: LoopDevice,
    options: String,
    /// What its device had written when it was attached: the kernel counts on from whoever used the device before.
    written_before_bytes: Result<u64, Unavailable>,
    /// Space in use before there was any file.
    empty_bytes: Result<u64, Unavailable>,
}

impl OwnFilesystem {
    /// Makes the filesystem in the image and mounts it.
    ///
    /// *Cost*: about 0.1 s.
    ///
    /// # Errors
    /// Settings that do not go together, a filesystem that cannot be written, a program or a privilege that is missing, or options that
    /// the kernel changed.
    pub fn make(image: &Image, filesystem: &Filesystem, stop: &AtomicBool) -> Result<Self, FilesystemError> {
        Self::make_watched(image, filesystem, stop, step::NOBODY)
    }

    /// The same with somebody who is told of the steps.
    pub(crate) fn make_watched(
        image: &Image,
        filesystem: &Filesystem,
        stop: &AtomicBool,
        watcher: Watcher<'_>,
    ) -> Result<Self, FilesystemError> {
        filesystem.validate()?;
        if filesystem.kind.is_read_only() {
            let message = format!(
                "{} cannot be written; use ext4, xfs, btrfs or f2fs",
                filesystem.kind
            );
            return Err(FilesystemError::refused("filesystem", &message));
        }
        attached::await_release(image, stop)?;
        watcher(Step::Making);
        let arguments = filesystem.make_arguments();
        program::make(filesystem.maker(), &arguments, None, image, stop)?;
        image.settle()?;
        watcher(Step::Mounting);
        let device = image.attach()?;
        let written_before_bytes = written_bytes(device.counted());
        let mounted = Mounted::new(filesystem, device.path())?;
        Ok(Self {
            written_before_bytes,
            options: mounted.confirm(filesystem, image.directory())?,
            empty_bytes: mounted.used_bytes(),
            mounted,
            device,
        })
    }

    /// Its root, for this process and for others of the same user while this one lives: a path through our descriptor of the mount.
    ///
    /// It must not be resolved: the mount has no place in any tree, so that the result would be another directory.
    pub fn path(&self) -> PathBuf {
        let mount = self.mounted.as_fd().as_raw_fd();
        PathBuf::from(format!("/proc/{}/fd/{mount}", std::process::id()))
    }

    /// The options in force, as the kernel shows them.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// The block device below it.
    pub fn device(&self) -> &BlockDevice {
        self.device.counted()
    }

    /// Bytes that were written to the device below since the filesystem was made.
    ///
    /// # Errors
    /// The kernel does not count them.
    pub fn written_bytes(&self) -> Result<u64, Unavailable> {
        let (now, before) = (written_bytes(self.device())?, self.written_before_bytes.clone()?);
        Ok(now.saturating_sub(before))
    }

    /// Space that files take, metadata included; what was written and not yet synced is not in it.
    ///
    /// # Errors
    /// The filesystem does not say how full it is.
    pub fn used_bytes(&self) -> Result<u64, Unavailable> {
        let (now, empty) = (self.mounted.used_bytes()?, self.empty_bytes.clone()?);
        Ok(now.saturating_sub(empty))
    }

    /// Takes it apart into what a trial of our own works with.
    pub(crate) fn into_parts(self) -> Parts {
        Parts {
            mounted: self.mounted,
            device: self.device,
            options: self.options,
            written_before_bytes: self.written_before_bytes,
            empty_bytes: self.empty_bytes,
        }
    }
}

/// What an [`OwnFilesystem`] is made of.
pub(crate) struct Parts {
    pub(crate) mounted: Mounted,
    pub(crate) device: LoopDevice,
    pub(crate) options: String,
    pub(crate) written_before_bytes: Result<u64, Unavailable>,
    pub(crate) empty_bytes: Result<u64, Unavailable>,
}

/// Bytes that were ever written to a device.
pub(crate) fn written_bytes(device: &BlockDevice) -> Result<u64, Unavailable> {
    Ok(device.counters()?.written_bytes)
}
