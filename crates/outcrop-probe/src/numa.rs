//! NUMA nodes: which CPUs belong to each, and which is near a block device.
//!
//! *Source*: Linux, Documentation/ABI/stable/sysfs-devices-node.

use outcrop_measure::metric::Unavailable;

use crate::block_device::BlockDevice;
use crate::system_tree::{SystemTree, excerpt};

/// The numbers of the machine's nodes that have memory or CPUs.
///
/// # Errors
/// The kernel knows no nodes.
pub fn nodes(tree: &SystemTree) -> Result<Vec<u32>, Unavailable> {
    list(&tree.text("sys/devices/system/node/online")?)
}

/// The CPUs of a node.
///
/// # Errors
/// There is no such node.
pub fn cpus_of_node(tree: &SystemTree, node: u32) -> Result<Vec<u32>, Unavailable> {
    list(&tree.text(format!("sys/devices/system/node/node{node}/cpulist"))?)
}

impl BlockDevice {
    /// The node that the device is attached to.
    ///
    /// # Errors
    /// The device is virtual, or the firmware does not say.
    pub fn numa_node(&self) -> Result<u32, Unavailable> {
        let unknown = |why: &str| Unavailable::because(format!("{}: {why}", self.name()));
        let device = self.tree().path(self.disk_attribute("device"));
        let device = std::fs::canonicalize(device).map_err(|_| unknown("a virtual device is on no node"))?;
        // The attribute is that of the controller, one or several levels up.
        let text = device
            .ancestors()
            .find_map(|place| std::fs::read_to_string(place.join("numa_node")).ok());
        match text.as_deref().map(str::trim).map(str::parse::<i64>) {
            Some(Ok(node)) if node >= 0 => {
                u32::try_from(node).map_err(|_| unknown("the number of its node is out of range"))
            }
            Some(Ok(_)) => Err(unknown("the firmware does not say which node it is on")),
            Some(Err(_)) => Err(unknown(
                "the kernel reports its node as something that is not a number",
            )),
            None => Err(unknown("the kernel does not say which node it is on")),
        }
    }
}

/// Nodes and CPUs in the kernel's form: `0-3,8`.
fn list(text: &str) -> Result<Vec<u32>, Unavailable> {
    /// More are a misreading.
    const MOST: u32 = 1 << 16;
    let not_a_list = || Unavailable::because(format!("`{}` is not a list such as 0-3,8", excerpt(text)));
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number < MOST);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => numbers.extend(first..=last),
            _ => return Err(not_a_list()),
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read_and_others_refused() {
        assert_eq!(list("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(list("").unwrap(), [0; 0]);
        for text in ["x", "3-1", "0-99999999", "-1", "1-"] {
            assert!(list(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_drive_is_on_the_node_of_its_controller_and_a_virtual_device_on_none() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("sys/devices/system/node/online", "0-1\n");
        write("sys/devices/system/node/node1/cpulist", "4-7\n");
        write("sys/devices/pci0/numa_node", "1\n");
        write("sys/devices/pci0/nvme/nvme0/nvme0n1/dev", "259:0\n");
        write("sys/devices/virtual/loop0/dev", "7:0\n");
        let links = folder.path().join("sys/dev/block");
        std::fs::create_dir_all(&links).unwrap();
        let link = |to: &str, at: std::path::PathBuf| std::os::unix::fs::symlink(to, at).unwrap();
        link("../../devices/pci0/nvme/nvme0/nvme0n1", links.join("259:0"));
        link("../../devices/virtual/loop0", links.join("7:0"));
        let tree = SystemTree::at(folder.path());
        let node = |number: &str| {
            BlockDevice::numbered(&tree, number.parse().unwrap())
                .unwrap()
                .numa_node()
        };
        assert!(node("7:0").unwrap_err().reason.contains("virtual"));
        assert_eq!(nodes(&tree).unwrap(), [0, 1]);
        assert_eq!(cpus_of_node(&tree, 1).unwrap(), [4, 5, 6, 7]);
        assert!(cpus_of_node(&tree, 7).is_err());
        link(
            "..",
            folder.path().join("sys/devices/pci0/nvme/nvme0/nvme0n1/device"),
        );
        assert_eq!(node("259:0"), Ok(1));
    }

    proptest! {
        #[test]
        fn any_text_is_no_panic(text in "[0-9,\\- ]{0,40}|\\PC*") {
            let _ = list(&text);
        }
    }
}
