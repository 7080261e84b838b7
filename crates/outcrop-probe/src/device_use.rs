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
use crate::shown_file::{self, Loop, Loops, Unseen};
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
    /// It is a loop device that shows less of its file than there is now, or more, as where a disk failed.
    OtherSize {
        /// The kernel's name.
        device: String,
        /// Its file.
        file: PathBuf,
        /// What it shows.
        shown_bytes: u64,
        /// What the file has, without what is behind its last whole sector.
        file_bytes: u64,
        /// What that means and how to go on, in a clause.
        meaning: String,
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
    /// No use was found, and /proc or /sys cannot be read, or a loop device that cannot be looked at may write to the device, so that nobody
    /// can tell.
    pub fn uses(&self) -> Result<Vec<DeviceUse>, Unavailable> {
        let mounts = mount_table::parse(&self.tree().bytes("proc/self/mountinfo")?);
        let mut uses = self.uses_of_itself(&mounts)?;
        let looked = self.add_uses_by_loops(&mounts, &mut uses);
        match uses.is_empty() {
            true => looked.map(|()| uses),
            false => Ok(uses),
        }
    }

    /// Those that have nothing to do with a loop device.
    pub(crate) fn uses_of_itself(&self, mounts: &[Mount]) -> Result<Vec<DeviceUse>, Unavailable> {
        let tree = self.tree();
        let family = self.family()?;
        let mut uses = mounted(&family, mounts);
        uses.extend(btrfs_members(tree, &family, mounts));
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
        Ok(uses)
    }

    /// Those by loop devices, and of the file of a loop device.
    fn add_uses_by_loops(&self, mounts: &[Mount], uses: &mut Vec<DeviceUse>) -> Result<(), Unavailable> {
        let tree = self.tree();
        let family = self.family()?;
        let loops = shown_file::loops(tree)?;
        uses.extend(below(tree, &family, &loops));
        shown_file::add_uses(self, &loops, mounts, uses)?;
        if loops.unseen.is_empty() {
            return Ok(());
        }
        let size_of = |(number, name): (&DeviceNumber, &String)| {
            let size = tree.number::<u64>(format!("sys/dev/block/{number}/size"));
            size.map(|sectors| (sectors, name.clone()))
        };
        let sizes: Vec<_> = family.0.iter().map(size_of).collect::<Result<_, _>>()?;
        loops
            .unseen
            .iter()
            .try_for_each(|other| other.is_over_none_of(tree, &sizes))
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
fn below(tree: &SystemTree, family: &Family, loops: &Loops) -> Vec<DeviceUse> {
    let used = |device: &String, above: &str| DeviceUse::BelowLoop {
        device: device.clone(),
        loop_device: above.to_owned(),
    };
    let seen = |above: &Loop| Some(used(family.0.get(&above.device?)?, &above.name));
    // One that cannot be asked may be over the device that its path leads to.
    let unseen = |above: &Unseen| Some(used(family.reached_by(&above.path(tree)?)?, above.name()));
    let by_path = loops.unseen.iter().filter_map(unseen);
    loops.seen.iter().filter_map(seen).chain(by_path).collect()
}

#[cfg(test)]
mod tests;
