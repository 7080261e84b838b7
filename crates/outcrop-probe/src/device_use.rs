//! Who uses a block device, as far as the kernel tells: mounts, members of a btrfs, swap, holders, loop devices above it, and who uses the
//! file that a loop device shows.

mod sentence;
mod writers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;

use crate::block_device::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::filesystem::block_device_node;
use crate::mount_table::{self, Mount};
use crate::shown_file::{self, Loop};
use crate::system_tree::SystemTree;

/// One use of a device, of one of its partitions, or of the disk that it is a partition of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceUse {
    /// A filesystem on it is mounted.
    Mounted {
        /// The kernel's name of what is mounted.
        device: String,
        /// Where.
        mount_point: PathBuf,
    },
    /// It belongs to a btrfs that is mounted; the mount itself may name another member.
    BtrfsMember {
        /// The kernel's name of the member.
        device: String,
        /// Where, if the table of mounts names one of the members.
        mount_point: Option<PathBuf>,
    },
    /// The kernel swaps to it.
    Swap {
        /// The kernel's name.
        device: String,
    },
    /// A device of LVM, RAID, encryption or bcache stands on it.
    Held {
        /// The kernel's name.
        device: String,
        /// The name of what stands on it.
        holder: String,
    },
    /// A loop device has it as its file.
    BelowLoop {
        /// The kernel's name.
        device: String,
        /// The loop device.
        loop_device: String,
    },
    /// It is a loop device that shows another block device.
    OverDevice {
        /// The kernel's name.
        device: String,
        /// The device that it shows.
        below: PathBuf,
    },
    /// It is a loop device that shows its file from a later byte on.
    PartOfFile {
        /// The kernel's name.
        device: String,
        /// Its file.
        file: PathBuf,
        /// The first byte that it shows.
        offset: String,
    },
    /// It is a loop device that shows less of its file than there is now, or more.
    OtherSize {
        /// The kernel's name.
        device: String,
        /// Its file.
        file: PathBuf,
        /// What it shows.
        shown_bytes: u64,
        /// What the file has, without what is behind its last whole sector.
        file_bytes: u64,
        /// How it shows all of it, in a clause.
        advice: String,
    },
    /// It is a loop device, and another loop device shows the same file.
    SharedFile {
        /// The kernel's name.
        device: String,
        /// The other loop device.
        other: String,
        /// Their file.
        file: PathBuf,
    },
    /// It is a loop device whose file may be in use under other numbers, because of the filesystem that one of the two is on.
    MaybeSharedFile {
        /// The kernel's name.
        device: String,
        /// Who uses the other file.
        other: String,
        /// Why it is not known whether they are one file, in a clause.
        why: String,
        /// How to go on, in a clause.
        advice: String,
    },
    /// It is a loop device whose file the kernel swaps to.
    SwapFile {
        /// The kernel's name.
        device: String,
        /// Its file.
        file: PathBuf,
    },
    /// Another process has it open for writing.
    OpenForWriting {
        /// The kernel's name.
        device: String,
        /// The process.
        pid: u32,
        /// What it runs; empty where /proc does not say.
        program: String,
    },
}

/// A device with its partitions, and the disk that it is a partition of: whoever uses one of them uses the device.
struct Family(BTreeMap<DeviceNumber, String>);

impl BlockDevice {
    /// Every use of the device, of its partitions, of the disk that it is a partition of, and of the file that a loop device shows.
    ///
    /// A mount in another mount namespace is not seen; opening the device exclusively finds that one too.
    ///
    /// # Errors
    /// /proc or /sys cannot be read, or what a loop device writes to cannot be looked at, so that nobody can tell.
    pub fn uses(&self) -> Result<Vec<DeviceUse>, Unavailable> {
        let tree = self.tree();
        let family = self.family()?;
        let mounts = mount_table::parse(&tree.bytes("proc/self/mountinfo")?);
        let mut uses = mounted(&family, &mounts);
        uses.extend(btrfs_members(tree, &family, &mounts));
        uses.extend(swaps(tree, &family));
        for (number, device) in &family.0 {
            // A directory that is not there holds nobody.
            let holders = tree
                .names(format!("sys/dev/block/{number}/holders"))
                .unwrap_or_default();
            uses.extend(holders.iter().map(|holder| DeviceUse::Held {
                device: device.clone(),
                holder: holder.to_string_lossy().into_owned(),
            }));
        }
        let loops = shown_file::loops(tree)?;
        uses.extend(below(&family, &loops));
        uses.extend(shown_file::uses(self, &loops, &mounts)?);
        Ok(uses)
    }

    /// Other processes that have the device, a partition of it or its disk open for writing at this moment, each once: opening it
    /// exclusively does not find them.
    ///
    /// Processes of other users are seen by root only, and nodes on network filesystems and FUSE are not looked at, since that may take for
    /// ever. Those that only read are left out, since programs that ask a disk for its name do so
    /// at any time; some of them open it for writing for a moment, too (`losetup --find`).
    ///
    /// *Cost*: a look at every open file of every process.
    ///
    /// # Errors
    /// /proc or /sys cannot be read, so that nobody can tell.
    pub fn writers(&self) -> Result<Vec<DeviceUse>, Unavailable> {
        Ok(writers::writers(self.tree(), &self.family()?))
    }

    /// Names of the partitions that the kernel found on the device.
    ///
    /// # Errors
    /// /sys does not list the device.
    pub fn partitions(&self) -> Result<Vec<String>, Unavailable> {
        let mut found = Vec::new();
        for name in self.tree().names(self.attribute(""))? {
            let name = name.to_string_lossy().into_owned();
            if self.tree().exists(self.attribute(&format!("{name}/partition"))) {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Whether the kernel refuses to write to the device.
    ///
    /// # Errors
    /// /sys does not say.
    pub fn is_read_only(&self) -> Result<bool, Unavailable> {
        self.tree().switch(self.attribute("ro"))
    }

    fn family(&self) -> Result<Family, Unavailable> {
        let number = |relative: String| -> Result<DeviceNumber, Unavailable> {
            let text = self.tree().text(self.attribute(&relative))?;
            text.parse()
                .map_err(|error: crate::device_number::NotADeviceNumber| {
                    Unavailable::because(error.to_string())
                })
        };
        let mut family = BTreeMap::from([(self.number(), self.name().to_owned())]);
        for partition in self.partitions()? {
            family.insert(number(format!("{partition}/dev"))?, partition);
        }
        if self.is_partition() {
            family.insert(number("../dev".to_owned())?, self.disk_name());
        }
        Ok(Family(family))
    }
}

impl Family {
    /// The name of the one that a path leads to.
    fn reached_by(&self, path: &Path) -> Option<&String> {
        let number = block_device_node(path).ok()??;
        self.0.get(&number)
    }
}

/// By the number of the filesystem; where that is anonymous, by the device that the mount names.
fn mounted(family: &Family, mounts: &[Mount]) -> Vec<DeviceUse> {
    let used = |mount: &Mount| {
        let device = match mount.device.is_anonymous() {
            false => family.0.get(&mount.device),
            true => family.reached_by(Path::new(&mount.source)),
        };
        Some(DeviceUse::Mounted {
            device: device?.clone(),
            mount_point: mount.mount_point.clone(),
        })
    };
    mounts.iter().filter_map(used).collect()
}

/// The kernel lists the members of a btrfs for as long as it is mounted, wherever that is.
fn btrfs_members(tree: &SystemTree, family: &Family, mounts: &[Mount]) -> Vec<DeviceUse> {
    const FILESYSTEMS: &str = "sys/fs/btrfs";
    let mut uses = Vec::new();
    // Without the directory there is no btrfs.
    for filesystem in tree.names(FILESYSTEMS).unwrap_or_default() {
        let devices = Path::new(FILESYSTEMS).join(filesystem).join("devices");
        let Ok(members) = tree.names(&devices) else {
            continue;
        };
        let is_member = |name: &str| members.iter().any(|member| member == name);
        let Some(device) = family.0.values().find(|name| is_member(name)) else {
            continue;
        };
        let place = mounts.iter().find(|mount| {
            let name = std::fs::canonicalize(&mount.source)
                .ok()
                .and_then(|source| Some(source.file_name()?.to_string_lossy().into_owned()));
            mount.type_name == "btrfs" && name.is_some_and(|name| is_member(&name))
        });
        uses.push(DeviceUse::BtrfsMember {
            device: device.clone(),
            mount_point: place.map(|mount| mount.mount_point.clone()),
        });
    }
    uses
}

/// The files and devices that the kernel swaps to.
pub(crate) fn swap_areas(tree: &SystemTree) -> Vec<PathBuf> {
    // A kernel without swap has no such file.
    let table = tree.text("proc/swaps").unwrap_or_default();
    let areas = table.lines().skip(1);
    let areas = areas.filter_map(|line| line.split_ascii_whitespace().next());
    areas.map(mount_table::unescaped).collect()
}

fn swaps(tree: &SystemTree, family: &Family) -> Vec<DeviceUse> {
    let used = |path: PathBuf| {
        Some(DeviceUse::Swap {
            device: family.reached_by(&path)?.clone(),
        })
    };
    swap_areas(tree).into_iter().filter_map(used).collect()
}

/// A loop device does not claim the device that is its file, so nothing else tells.
fn below(family: &Family, loops: &[Loop]) -> Vec<DeviceUse> {
    let used = |above: &Loop| {
        Some(DeviceUse::BelowLoop {
            device: family.0.get(&above.device?)?.clone(),
            loop_device: above.name.clone(),
        })
    };
    loops.iter().filter_map(used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk 8:0 with the partition 8:1, on which a volume stands, and the partition 8:2, which is mounted.
    fn tree() -> (tempfile::TempDir, SystemTree) {
        let folder = tempfile::tempdir().unwrap();
        let disk = "sys/devices/sda";
        let files = [
            ("sys/fs/btrfs/some-uuid/devices/sdb", ""),
            ("sys/fs/btrfs/some-uuid/devices/sda2", ""),
            (
                "proc/self/mountinfo",
                "1 0 8:2 / /home rw - ext4 /dev/sda2 rw\n2 0 0:44 / /pool rw - btrfs /dev/no-such-device rw\n",
            ),
            (
                "proc/swaps",
                "Filename Type Size Used Priority\n/dev/nowhere partition 1 0 -2\n",
            ),
        ];
        for (path, text) in files.iter().chain(&[
            (&*format!("{disk}/dev"), "8:0\n"),
            (&*format!("{disk}/ro"), "0\n"),
            (&*format!("{disk}/sda1/dev"), "8:1\n"),
            (&*format!("{disk}/sda1/partition"), "1\n"),
            (&*format!("{disk}/sda1/holders/dm-0"), ""),
            (&*format!("{disk}/sda2/dev"), "8:2\n"),
            (&*format!("{disk}/sda2/partition"), "2\n"),
            ("sys/block/sda/dev", "8:0\n"),
        ]) {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let links = folder.path().join("sys/dev/block");
        std::fs::create_dir_all(&links).unwrap();
        for (number, name) in [("8:0", "sda"), ("8:1", "sda/sda1"), ("8:2", "sda/sda2")] {
            std::os::unix::fs::symlink(format!("../../devices/{name}"), links.join(number)).unwrap();
        }
        let tree = SystemTree::at(folder.path());
        (folder, tree)
    }

    fn uses(tree: &SystemTree, number: &str) -> Vec<String> {
        let device = BlockDevice::numbered(tree, number.parse().unwrap()).unwrap();
        device.uses().unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn whoever_uses_a_partition_uses_the_disk_and_the_other_way_round() {
        let (_folder, tree) = tree();
        let held = "dm-0 is on top of sda1";
        let mounted = "sda2 is mounted at /home";
        let member = "sda2 is a member of a mounted btrfs";
        assert_eq!(uses(&tree, "8:0"), [mounted, member, held]);
        assert_eq!(uses(&tree, "8:1"), [held]);
        assert_eq!(uses(&tree, "8:2"), [mounted, member]);
        let disk = BlockDevice::numbered(&tree, "8:0".parse().unwrap()).unwrap();
        assert_eq!(disk.partitions().unwrap(), ["sda1", "sda2"]);
        assert_eq!(disk.is_read_only(), Ok(false));
    }

    #[test]
    fn a_device_that_the_kernel_does_not_list_is_an_error_and_not_unused() {
        let (_folder, tree) = tree();
        assert!(BlockDevice::numbered(&tree, "9:9".parse().unwrap()).is_err());
        std::fs::remove_file(tree.path("proc/self/mountinfo")).unwrap();
        let disk = BlockDevice::numbered(&tree, "8:0".parse().unwrap()).unwrap();
        assert!(disk.uses().is_err());
    }

    #[test]
    fn a_loop_device_that_cannot_be_looked_at_may_have_any_device_as_its_file() {
        let (folder, tree) = tree();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("sys/block/loop3/dev", "7:3\n");
        assert_eq!(uses(&tree, "8:1"), ["dm-0 is on top of sda1"], "it has no file");
        write("sys/block/loop3/loop/backing_file", "/srv/image\n");
        let refusal = || {
            let disk = BlockDevice::numbered(&tree, "8:0".parse().unwrap()).unwrap();
            disk.uses().unwrap_err().reason
        };
        let told = refusal();
        assert!(
            told.contains("loop3 writes to") && told.contains("dev/loop3 b 7 3`"),
            "{told}"
        );
        write("dev/loop3", "");
        assert!(refusal().contains("dev/loop3 is another file"), "{}", refusal());
    }
}
