//! Filesystems, measured: a filesystem is made for a trial in an unnamed file, mounted without a mount point, and files on it are
//! written, aged, read cold and compared.
//!
//! [`run_job`] does one trial: a [`Filesystem`] with its settings, a [`JobSpec`] that says what is done, and a [`Place`], which is
//! an [`Image`] of our own or an [`OwnDirectory`] of the user's. It returns a [`JobReport`]. Nothing of it outlives the
//! process: the image has no name, the loop device clears itself, the mount is a descriptor, and files in a directory have no
//! names either. Programs that make filesystems get an inherited descriptor of the image, and no device.
//!
//! A read that is called cold was proved to be: fsync, FADV_DONTNEED, then cachestat(2) = 0 before each pass, or the trial fails.
//! Each extent is read once in a pass. Options are read back from the kernel.
//!
//! It knows no plan, record or report. Threads, descriptors and mounts end before a call returns.

mod error;
mod report;
mod spec;

mod attached;
mod below;
mod btrfs_tree;
mod buffer;
mod coldness;
mod costs;
mod dataset;
mod directory;
mod extents;
mod files;
mod filesystem;
mod image;
mod job;
mod loop_device;
mod mount;
mod namespace;
mod own;
mod prediction;
mod prepared;
mod program;
mod stage;
mod step;
mod trial;
mod wake;

pub use below::{ability, check_uncompressed, compression_below};
pub use btrfs_tree::Stored;
pub use coldness::Coldness;
pub use costs::Costs;
pub use directory::{OwnDirectory, check_property};
pub use error::FilesystemError;
pub use extents::Extents;
pub use filesystem::{BTRFS_EXTENT_BYTES, Filesystem};
pub use image::{Image, RawLatency};
pub use mount::{Mounted, privilege};
pub use own::OwnFilesystem;
pub use prediction::{Baseline, Component, Prediction};
pub use prepared::Prepared;
pub use report::{JobReport, Phase};
pub use spec::{FEWEST_EXTENTS, JobSpec};
pub use step::Step;
pub use trial::{Place, run_job, run_watched_job};

/// Bytes of an image that holds this many bytes of data with room for metadata, copies on write and ageing; xfs needs 300 MiB.
pub const fn image_bytes(data_bytes: u64) -> u64 {
    const ROOM: u64 = 256 << 20;
    let wanted = data_bytes.saturating_mul(3).saturating_add(ROOM);
    let least = filesystem::SMALLEST_XFS_BYTES + (84 << 20);
    let wanted = if wanted > least { wanted } else { least };
    wanted.next_multiple_of(4 << 20)
}
