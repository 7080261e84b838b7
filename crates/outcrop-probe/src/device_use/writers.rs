//! Who has a device open for writing, by what the open files are: the path of a node tells nothing, since nodes may be anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};

use super::{DeviceUse, Family};
use crate::device_number::DeviceNumber;
use crate::mount_table;
use crate::system_tree::SystemTree;

/// What the kernel calls open files that are no files of a filesystem.
const WITHOUT_PATH: [&str; 3] = ["socket:[", "pipe:[", "anon_inode:"];
/// Filesystems on which a look at a file may wait for another machine, or for another process, for ever. Those of FUSE have longer names,
/// too.
const REMOTE: [&str; 13] = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "coda", "lustre", "gpfs", "fuse",
];

/// Processes that have it open for writing.
pub(super) fn writers(tree: &SystemTree, family: &Family) -> Vec<DeviceUse> {
    let own = std::process::id();
    let pids = tree.names("proc").unwrap_or_default();
    let pids = pids.iter().filter_map(|name| name.to_str()?.parse::<u32>().ok());
    let mut mounts = Mounts::default();
    let mut uses = Vec::new();
    for pid in pids.filter(|pid| *pid != own) {
        // A process that has ended meanwhile, or is of another user, has no list.
        let files = tree.names(format!("proc/{pid}/fd")).unwrap_or_default();
        let written = files.iter().find_map(|file| {
            let file = file.to_string_lossy();
            let link = tree.path(format!("proc/{pid}/fd/{file}"));
            let target = std::fs::read_link(&link).ok()?;
            let target = target.to_string_lossy();
            if WITHOUT_PATH.iter().any(|start| target.starts_with(start)) {
                return None;
            }
            let about = tree.text(format!("proc/{pid}/fdinfo/{file}")).ok()?;
            let mount = field(&about, "mnt_id").and_then(|id| id.parse().ok());
            if !is_for_writing(&about) || mount.is_some_and(|mount| mounts.is_remote(tree, pid, mount)) {
                return None;
            }
            family.0.get(&device_of(&link)?).cloned()
        });
        if let Some(device) = written {
            let program = tree.text(format!("proc/{pid}/comm")).unwrap_or_default();
            uses.push(DeviceUse::OpenForWriting { device, pid, program });
        }
    }
    uses
}

/// The access mode in a file's flags, which are octal.
fn is_for_writing(about: &str) -> bool {
    const ACCESS_MODE: u32 = 0o3;
    let flags = field(about, "flags").and_then(|flags| u32::from_str_radix(flags, 8).ok());
    flags.is_some_and(|flags| flags & ACCESS_MODE != 0)
}

fn field<'a>(about: &'a str, name: &str) -> Option<&'a str> {
    let mut values = about
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    values.next().map(str::trim)
}

/// The block device that an open file is, by the file itself and not by its path, which may be one of another mount namespace.
fn device_of(link: &Path) -> Option<DeviceNumber> {
    // Nobody is asked whether what is known of the file still holds: nodes do not change.
    let about = rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    let is_block = FileType::from_raw_mode(about.stx_mode.into()).is_block_device();
    is_block.then_some(DeviceNumber {
        major: about.stx_rdev_major,
        minor: about.stx_rdev_minor,
    })
}

/// Which mounts of the processes are of a remote filesystem, each mount namespace read once.
#[derive(Default)]
struct Mounts {
    read: BTreeSet<PathBuf>,
    is_remote: BTreeMap<u64, bool>,
}

impl Mounts {
    fn is_remote(&mut self, tree: &SystemTree, pid: u32, mount: u64) -> bool {
        if let Some(known) = self.is_remote.get(&mount) {
            return *known;
        }
        let namespace = std::fs::read_link(tree.path(format!("proc/{pid}/ns/mnt"))).unwrap_or_default();
        if self.read.insert(namespace) {
            let table = tree.bytes(format!("proc/{pid}/mountinfo")).unwrap_or_default();
            self.is_remote
                .extend(mount_table::parse(&table).iter().map(|mount| {
                    let name = mount.type_name.as_str();
                    let is_remote = REMOTE.contains(&name) || name.starts_with("fuse.");
                    (mount.mount_id, is_remote)
                }));
        }
        // Those that no table has are of the kernel's own, or were taken away.
        self.is_remote.get(&mount).copied().unwrap_or_default()
    }
}
