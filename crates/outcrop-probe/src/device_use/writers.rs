//! Who has a device open for writing, by what the open files are: the path of a node tells nothing, since nodes may be anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};

use super::{DeviceUse, Family};
use crate::device_number::DeviceNumber;
use crate::filesystem::is_over_a_network;
use crate::mount_table;
use crate::system_tree::SystemTree;

/// What the kernel calls open files that are no files of a filesystem.
const WITHOUT_PATH: [&str; 3] = ["socket:[", "pipe:[", "anon_inode:"];
/// Filesystems on which a look at a file may wait for another process for ever. Those of FUSE have longer names, too.
const IN_A_PROCESS: [&str; 2] = ["fuse", "fuseblk"];

/// Processes that have it open for writing.
pub(super) fn writers(tree: &SystemTree, family: &Family) -> Vec<DeviceUse> {
    let own = std::process::id();
    let pids = tree.names("proc").unwrap_or_default();
    let pids = pids.iter().filter_map(|name| name.to_str()?.parse::<u32>().ok());
    let pids: Vec<u32> = pids.filter(|pid| *pid != own).collect();
    let mounts = Mounts::of(tree, &pids);
    let mut uses = Vec::new();
    for pid in pids {
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
            // Kernels before 3.15 do not tell it.
            let mount = field(&about, "mnt_id").and_then(|id| id.parse().ok());
            let may_wait = |mount: u64| {
                let unlisted = || !is_named_like_one(family, &target);
                mounts.are_remote.get(&mount).copied().unwrap_or_else(unlisted)
            };
            if !is_for_writing(&about) || mount.is_some_and(may_wait) {
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

/// Whether an open file on a mount that was taken away is one to look at: a path there begins at the mount, and that of a remote filesystem
/// hardly leads to such a name.
fn is_named_like_one(family: &Family, path: &str) -> bool {
    let name = path.rsplit('/').next();
    path.starts_with("/dev/") || family.0.values().any(|device| Some(&**device) == name)
}

/// The mounts that the processes see, by number: whether they are of a remote filesystem. A mount that was taken away while files on it are
/// open (`umount --lazy`) is in no table.
struct Mounts {
    are_remote: BTreeMap<u64, bool>,
}

impl Mounts {
    /// Each mount namespace is read once from each root that processes have in it.
    fn of(tree: &SystemTree, pids: &[u32]) -> Self {
        let mut read = BTreeSet::new();
        let mut are_remote = BTreeMap::new();
        for pid in pids {
            let link = |name: &str| std::fs::read_link(tree.path(format!("proc/{pid}/{name}")));
            // Those of other users do not tell.
            let Ok(namespace) = link("ns/mnt") else {
                continue;
            };
            if !read.insert((namespace, link("root").ok())) {
                continue;
            }
            let table = tree.bytes(format!("proc/{pid}/mountinfo")).unwrap_or_default();
            are_remote.extend(mount_table::parse(&table).iter().map(|mount| {
                let name = mount.type_name.as_str();
                let is_in_a_process = IN_A_PROCESS.contains(&name) || name.starts_with("fuse.");
                (mount.mount_id, is_over_a_network(name) || is_in_a_process)
            }));
        }
        Self { are_remote }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use rustix::fs::{Mode, mknodat};

    use super::*;

    const NUMBER: DeviceNumber = DeviceNumber { major: 8, minor: 32 };

    fn node_in(folder: &Path, name: &str) -> PathBuf {
        let node = folder.join(name);
        let number = rustix::fs::makedev(NUMBER.major, NUMBER.minor);
        mknodat(CWD, &node, FileType::BlockDevice, Mode::RUSR, number).unwrap();
        node
    }

    /// Whether a process is found that has this file open on the mount 7; its table of mounts is given.
    fn is_found(opened: &Path, mount: &str) -> bool {
        let root = tempfile::tempdir().unwrap();
        let process = root.path().join("proc/4000000000");
        for folder in ["fd", "fdinfo", "ns"] {
            std::fs::create_dir_all(process.join(folder)).unwrap();
        }
        symlink("mnt:[1]", process.join("ns/mnt")).unwrap();
        symlink(opened, process.join("fd/3")).unwrap();
        std::fs::write(process.join("fdinfo/3"), "pos:\t0\nflags:\t0100002\nmnt_id:\t7\n").unwrap();
        std::fs::write(process.join("mountinfo"), mount).unwrap();
        let family = Family(BTreeMap::from([(NUMBER, "sdc".to_owned())]));
        !writers(&SystemTree::at(root.path()), &family).is_empty()
    }

    #[test]
    fn files_on_mounts_that_may_keep_us_waiting_are_not_looked_at_but_nodes_are() {
        let folder = tempfile::tempdir().unwrap();
        let node = node_in(folder.path(), "disk");
        let mounted = |kind: &str| format!("7 1 0:40 / /mnt rw - {kind} source rw\n");
        assert!(is_found(&node, &mounted("ext4")));
        for remote in ["nfs4", "fuse.sshfs", "fuseblk"] {
            assert!(!is_found(&node, &mounted(remote)), "{remote}");
        }
        // Nobody knows of what the mount was.
        assert!(!is_found(&node, ""));
        assert!(is_found(&node_in(folder.path(), "sdc"), ""));
        let in_dev = tempfile::tempdir_in("/dev/shm").unwrap();
        assert!(is_found(&node_in(in_dev.path(), "disk"), ""));
    }
}
