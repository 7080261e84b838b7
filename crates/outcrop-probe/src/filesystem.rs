//! The filesystem that holds a path: its type, mount, source and space.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;
use rustix::fs::{AtFlags, CWD, StatxFlags};
use serde::{Deserialize, Serialize};

use crate::device_number::DeviceNumber;
use crate::mount_table::{self, Mount};
use crate::system_tree::{SystemTree, cannot_read};

/// Those that keep their files on another machine, or on the one that emulates this.
const OVER_A_NETWORK: [&str; 13] = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "coda", "lustre", "gpfs",
    "sshfs",
];

/// Whether a filesystem of this type keeps its files on another machine, by a process or without one.
pub(crate) fn is_over_a_network(type_name: &str) -> bool {
    let name = type_name.strip_prefix("fuse.").unwrap_or(type_name);
    OVER_A_NETWORK.contains(&name)
}

/// A mounted filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// `ext4`, `xfs`, `btrfs`, `tmpfs`…
    #[serde(rename = "type")]
    pub type_name: String,
    /// Where it is mounted; bytes that are not UTF-8 are replaced when serialised.
    #[serde(with = "lossy_path")]
    pub mount_point: PathBuf,
    /// The directory of it that is mounted there: `/` unless bind-mounted or a subvolume.
    #[serde(with = "lossy_path")]
    pub mounted_root: PathBuf,
    /// Options of the mount and of the filesystem, separated by commas.
    pub mount_options: String,
    /// What it was mounted from: a device, or a word for filesystems without one.
    pub source: String,
    /// The device number that the kernel gives for files on it; major 0 if no block device answers to it.
    pub device: DeviceNumber,
    /// Its size.
    pub total_bytes: u64,
    /// Space that nobody uses.
    pub free_bytes: u64,
    /// Space that an unprivileged user may still take, at most `free_bytes`.
    pub available_bytes: u64,
    /// Unit of allocation.
    pub block_size_bytes: u64,
}

impl Filesystem {
    /// The filesystem that holds `path`, which must exist; symbolic links are followed.
    ///
    /// # Errors
    /// The path does not exist or cannot be reached, or /proc is not mounted.
    pub fn at(path: &Path) -> Result<Self, Unavailable> {
        let failed = |error: &std::io::Error| {
            Unavailable::because(format!("cannot look at {}: {error}", path.display()))
        };
        let resolved = fs::canonicalize(path).map_err(|error| failed(&error))?;
        let device = DeviceNumber::from_stat(fs::metadata(&resolved).map_err(|error| failed(&error))?.dev());
        let space = rustix::fs::statvfs(&resolved).map_err(|error| failed(&error.into()))?;
        let mount = mount_holding(&SystemTree::live(), &resolved)?;
        let unit_bytes = space.f_frsize;
        Ok(Self {
            type_name: mount.type_name,
            mount_point: mount.mount_point,
            mounted_root: mount.root,
            mount_options: mount.options,
            source: mount.source,
            device,
            total_bytes: space.f_blocks.saturating_mul(unit_bytes),
            free_bytes: space.f_bfree.saturating_mul(unit_bytes),
            available_bytes: space.f_bavail.saturating_mul(unit_bytes),
            block_size_bytes: space.f_bsize,
        })
    }

    /// Whether its files are on another machine.
    pub fn is_over_a_network(&self) -> bool {
        is_over_a_network(&self.type_name)
    }
}

/// By the mount's id where the kernel gives it (5.8 on), since paths cannot tell mounts hidden below others
/// apart; by the longest mount point otherwise.
fn mount_holding(tree: &SystemTree, resolved: &Path) -> Result<Mount, Unavailable> {
    const TABLE: &str = "proc/self/mountinfo";
    let mounts = mount_table::parse(&tree.bytes(TABLE)?);
    let by_id = mount_id(resolved).and_then(|id| mounts.iter().find(|mount| mount.mount_id == id));
    by_id
        .or_else(|| mount_table::mount_of(&mounts, resolved))
        .cloned()
        .ok_or_else(|| {
            Unavailable::because(format!(
                "{} lists no mount that holds {}",
                tree.path(TABLE).display(),
                resolved.display()
            ))
        })
}

/// The mount that a path is on, where the kernel gives it.
pub(crate) fn mount_id(path: &Path) -> Option<u64> {
    let status = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    let given = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::MNT_ID);
    given.then_some(status.stx_mnt_id)
}

/// Follows a path to the device node it names, if it names one.
pub(crate) fn block_device_node(path: &Path) -> Result<Option<DeviceNumber>, Unavailable> {
    use std::os::unix::fs::FileTypeExt;
    let metadata = fs::metadata(path).map_err(|error| cannot_read(path, &error))?;
    Ok(metadata
        .file_type()
        .is_block_device()
        .then(|| DeviceNumber::from_stat(metadata.rdev())))
}

/// Paths as text: JSON has no other bytes.
mod lossy_path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&path.to_string_lossy())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        String::deserialize(deserializer).map(PathBuf::from)
    }
}
