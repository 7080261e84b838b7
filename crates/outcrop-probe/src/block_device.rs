//! Which block device holds a path.

use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;

use crate::device_number::{DeviceNumber, NotADeviceNumber};
use crate::filesystem::{Filesystem, block_device_node};
use crate::system_tree::SystemTree;

/// A block device as the kernel shows it in /sys: a disk, a partition or a virtual device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    number: DeviceNumber,
    name: String,
    tree: SystemTree,
}

impl BlockDevice {
    /// The device that holds `path`: the path itself if it is a block device, else the one below its
    /// filesystem. For a file on a partition, that is the partition and not the disk.
    ///
    /// # Errors
    /// The path cannot be reached, or its filesystem stands on no block device or on several.
    pub fn holding(path: &Path) -> Result<Self, Unavailable> {
        let tree = SystemTree::live();
        match block_device_node(path)? {
            Some(number) => Self::numbered(&tree, number),
            None => Self::below(&tree, &Filesystem::at(path)?),
        }
    }

    /// The device with this number.
    ///
    /// # Errors
    /// /sys does not list it.
    pub fn numbered(tree: &SystemTree, number: DeviceNumber) -> Result<Self, Unavailable> {
        let name = tree.link_name(format!("sys/dev/block/{number}"))?;
        Ok(Self {
            number,
            name,
            tree: tree.clone(),
        })
    }

    /// Whether it has queues that are asked for completions, in place of interrupts.
    ///
    /// # Errors
    /// /sys does not say.
    pub fn has_poll_queues(&self) -> Result<bool, Unavailable> {
        self.tree.switch(self.disk_attribute("queue/io_poll"))
    }

    /// The device below a filesystem.
    pub(crate) fn below(tree: &SystemTree, filesystem: &Filesystem) -> Result<Self, Unavailable> {
        if !filesystem.device.is_anonymous() {
            return Self::numbered(tree, filesystem.device);
        }
        let Filesystem {
            type_name, source, ..
        } = filesystem;
        if type_name == "btrfs" {
            only_btrfs_device(tree, source)?;
        }
        // btrfs, and overlays of device-backed filesystems in some containers, name a device as their source.
        if source.starts_with("/dev/")
            && let Ok(Some(number)) = block_device_node(Path::new(source))
        {
            return Self::numbered(tree, number);
        }
        Err(Unavailable::because(match type_name.as_str() {
            "tmpfs" | "ramfs" => format!("{type_name} is in memory, without a block device"),
            "overlay" => "an overlay has no block device; give a path on the filesystem below it".to_owned(),
            _ => format!("{type_name} (source `{source}`) names no block device"),
        }))
    }

    /// The kernel's name: `nvme0n1p2`, `vda`, `dm-0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `major:minor`.
    pub const fn number(&self) -> DeviceNumber {
        self.number
    }

    pub(crate) const fn tree(&self) -> &SystemTree {
        &self.tree
    }

    /// A file of this device in /sys, relative to the tree's root.
    pub(crate) fn attribute(&self, name: &str) -> PathBuf {
        format!("sys/dev/block/{}/{name}", self.number).into()
    }

    /// A file of the whole disk, which has the queue; a partition's directory lies inside its disk's.
    pub(crate) fn disk_attribute(&self, name: &str) -> PathBuf {
        if self.is_partition() {
            self.attribute(&format!("../{name}"))
        } else {
            self.attribute(name)
        }
    }

    /// Whether it is a part of a disk.
    pub fn is_partition(&self) -> bool {
        self.tree.exists(self.attribute("partition"))
    }

    /// The name of the whole disk: of a partition its parent, else the device itself.
    pub fn disk_name(&self) -> String {
        if !self.is_partition() {
            return self.name.clone();
        }
        let directory = std::fs::canonicalize(self.tree.path(self.attribute("..")));
        let parent = directory
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        parent.unwrap_or_else(|| self.name.clone())
    }
}

/// A loop device and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedLoop {
    /// The loop device (`loop0`).
    pub name: String,
    /// The file that it shows as a device.
    pub file: PathBuf,
}

/// What a loop device shows, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopFile {
    /// With direct I/O: its requests are requests to the device below the file.
    Direct(AttachedLoop),
    /// Through the page cache of the file's filesystem: what it "reads" may come from memory, and what it "writes" may stay there.
    Buffered(AttachedLoop),
}

impl BlockDevice {
    /// The file of the loop device that this is (or is a partition of); none of another device.
    ///
    /// # Errors
    /// It is a loop device, but /sys does not say how it was attached.
    pub fn loop_file(&self) -> Result<Option<LoopFile>, Unavailable> {
        let file = self.disk_attribute("loop/backing_file");
        let name = self.disk_name();
        if !self.tree.exists(&file) && !is_loop(&name) {
            return Ok(None);
        }
        // What holds files is attached: without the attribute it is not known to what, and how.
        let file = PathBuf::from(self.tree.text(file)?);
        let attached = AttachedLoop { name, file };
        Ok(Some(match self.tree.switch(self.disk_attribute("loop/dio"))? {
            true => LoopFile::Direct(attached),
            false => LoopFile::Buffered(attached),
        }))
    }

    /// The file and name of the loop device that this is (or is a partition of), if that was attached without direct I/O.
    ///
    /// # Errors
    /// It is a loop device, but /sys does not say how it was attached.
    pub fn buffered_loop(&self) -> Result<Option<AttachedLoop>, Unavailable> {
        Ok(match self.loop_file()? {
            Some(LoopFile::Buffered(buffered)) => Some(buffered),
            Some(LoopFile::Direct(_)) | None => None,
        })
    }

    /// The disk that a partition is of; every other device itself.
    ///
    /// # Errors
    /// /sys does not say which disk that is.
    pub fn whole_disk(&self) -> Result<Self, Unavailable> {
        if !self.is_partition() {
            return Ok(self.clone());
        }
        let number: DeviceNumber = self
            .tree
            .text(self.attribute("../dev"))?
            .parse()
            .map_err(|error: NotADeviceNumber| Unavailable::because(error.to_string()))?;
        Self::numbered(&self.tree, number)
    }
}

/// Whether the kernel calls a disk `loop0`, or with another number.
fn is_loop(name: &str) -> bool {
    let number = name.strip_prefix("loop").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// btrfs gives every subvolume an anonymous number and may span devices: counting one of several would be a
/// guess.
fn only_btrfs_device(tree: &SystemTree, source: &str) -> Result<(), Unavailable> {
    const FILESYSTEMS: &str = "sys/fs/btrfs";
    let node = std::fs::canonicalize(source).unwrap_or_else(|_| source.into());
    let Some(name) = node.file_name() else {
        return Err(Unavailable::because(format!(
            "btrfs gives `{source}` as its source, which is not a device"
        )));
    };
    for filesystem in tree.names(FILESYSTEMS)? {
        let devices = Path::new(FILESYSTEMS).join(&filesystem).join("devices");
        let Ok(members) = tree.names(&devices) else {
            continue;
        };
        if members.iter().any(|member| member == name) {
            return match members.len() {
                1 => Ok(()),
                count => Err(Unavailable::because(format!("this btrfs spans {count} devices"))),
            };
        }
    }
    Err(Unavailable::because(format!(
        "/sys/fs/btrfs lists no filesystem on {source}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_device_that_does_not_say_how_it_was_attached_is_not_taken_for_one_with_direct_io() {
        let number = DeviceNumber { major: 7, minor: 0 };
        let seen = |name: &str, attributes: &[(&str, &str)]| {
            let root = tempfile::tempdir().unwrap();
            let device = root.path().join("sys/devices/virtual/block").join(name);
            std::fs::create_dir_all(device.join("loop")).unwrap();
            for (attribute, value) in attributes {
                std::fs::write(device.join("loop").join(attribute), value).unwrap();
            }
            let links = root.path().join("sys/dev/block");
            std::fs::create_dir_all(&links).unwrap();
            std::os::unix::fs::symlink(&device, links.join(number.to_string())).unwrap();
            let tree = SystemTree::at(root.path());
            BlockDevice::numbered(&tree, number).unwrap().buffered_loop()
        };
        let file = ("backing_file", "/srv/image\n");
        assert_eq!(seen("loop0", &[file, ("dio", "1\n")]), Ok(None));
        let buffered = seen("loop0", &[file, ("dio", "0\n")]).unwrap().unwrap();
        assert_eq!(buffered.file, Path::new("/srv/image"));
        assert!(seen("loop0", &[file]).unwrap_err().reason.contains("loop/dio"));
        assert!(
            seen("loop0", &[])
                .unwrap_err()
                .reason
                .contains("loop/backing_file")
        );
        assert_eq!(seen("vda", &[]), Ok(None));
    }
}
