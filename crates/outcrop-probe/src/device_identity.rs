//! What a block device is called by those who mean this one and no other: serial numbers, names by id, model, size.

use std::path::Path;

use crate::block_device::BlockDevice;
use crate::filesystem::block_device_node;

/// How a device is told from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceIdentity {
    /// Names, the shortest way to say it first: a serial number, a world-wide name, names under /dev/disk/by-id; for a loop
    /// device the path of its file. Where there are none, the kernel's name with the size in bytes: `vdb:10737418240`.
    pub names: Vec<String>,
    /// The model, where the device says.
    pub model: Option<String>,
    /// Its size.
    pub size_bytes: u64,
}

/// Files of the disk in /sys that name it, in the order in which people use them: virtio, NVMe, NVMe namespaces, SCSI, loop, device mapper.
const NAMING: [&str; 6] = [
    "serial",
    "device/serial",
    "wwid",
    "device/wwid",
    "loop/backing_file",
    "dm/name",
];
/// The unit of sizes in /sys.
const SECTOR_BYTES: u64 = 512;

impl BlockDevice {
    /// Reads what tells the device from others; a partition is its disk's name with `-part` and its number.
    pub fn identity(&self) -> DeviceIdentity {
        let tree = self.tree();
        let text = |path| tree.text(path).ok().filter(|text| !text.is_empty());
        let part =
            text(self.attribute("partition")).map_or_else(String::new, |number| format!("-part{number}"));
        let mut names: Vec<String> = NAMING
            .iter()
            .filter_map(|attribute| text(self.disk_attribute(attribute)))
            .chain(self.scsi_serial())
            .map(|name| format!("{name}{part}"))
            .collect();
        names.extend(self.names_by_id());
        let size_bytes = tree
            .number::<u64>(self.attribute("size"))
            .map_or(0, |sectors| sectors.saturating_mul(SECTOR_BYTES));
        if names.is_empty() {
            names.push(format!("{}:{size_bytes}", self.name()));
        }
        names.dedup();
        DeviceIdentity {
            names,
            model: text(self.disk_attribute("device/model")),
            size_bytes,
        }
    }

    /// The serial number's page of vital product data: four bytes, then text.
    fn scsi_serial(&self) -> Option<String> {
        let page = self.tree().bytes(self.disk_attribute("device/vpd_pg80")).ok()?;
        let serial = String::from_utf8_lossy(page.get(4..)?).trim().to_owned();
        (!serial.is_empty()).then_some(serial)
    }

    fn names_by_id(&self) -> Vec<String> {
        const BY_ID: &str = "dev/disk/by-id";
        let is_ours = |name: &std::ffi::OsString| {
            let path = self.tree().path(Path::new(BY_ID).join(name));
            matches!(block_device_node(&path), Ok(Some(number)) if number == self.number())
        };
        // Without udev there is no such directory.
        let names = self.tree().names(BY_ID).unwrap_or_default();
        let ours = names.iter().filter(|name| is_ours(name));
        ours.map(|name| name.to_string_lossy().into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::system_tree::SystemTree;

    use super::*;

    #[test]
    fn a_partition_is_named_after_its_disk_and_a_disk_without_a_serial_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &[u8]| {
            let path = folder.path().join("sys/devices").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("sda/size", b"2048\n");
        write("sda/device/model", b"Fast One  \n");
        write("sda/device/vpd_pg80", b"\0\x80\0\x08 S123   ");
        write("sda/sda3/partition", b"3\n");
        write("sda/sda3/size", b"8\n");
        write("vdb/size", b"20\n");
        let links = folder.path().join("sys/dev/block");
        std::fs::create_dir_all(&links).unwrap();
        for (number, name) in [("8:0", "sda"), ("8:3", "sda/sda3"), ("254:16", "vdb")] {
            std::os::unix::fs::symlink(format!("../../devices/{name}"), links.join(number)).unwrap();
        }
        let tree = SystemTree::at(folder.path());
        let identity = |number: &str| {
            BlockDevice::numbered(&tree, number.parse().unwrap())
                .unwrap()
                .identity()
        };
        assert_eq!(identity("8:0").names, ["S123"]);
        assert_eq!(identity("8:0").model.as_deref(), Some("Fast One"));
        assert_eq!(identity("8:0").size_bytes, 1 << 20);
        assert_eq!(identity("8:3").names, ["S123-part3"]);
        assert_eq!(identity("8:3").size_bytes, 4096);
        assert_eq!(identity("254:16").names, ["vdb:10240"]);
        assert_eq!(identity("254:16").model, None);
    }
}
