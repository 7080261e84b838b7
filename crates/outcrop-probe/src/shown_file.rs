//! What a loop device shows: whose data is overwritten by writing to it, which the device itself does not tell.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;

use crate::block_device::BlockDevice;
use crate::device_use::{DeviceUse, swap_areas};
use crate::filesystem::block_device_node;
use crate::system_tree::SystemTree;

/// The file that the loop device of this name shows; `None` where the device is no loop device.
pub(crate) fn shown_by(tree: &SystemTree, loop_device: &str) -> Option<PathBuf> {
    tree.text(attribute(loop_device, "backing_file"))
        .ok()
        .map(PathBuf::from)
}

fn attribute(loop_device: &str, name: &str) -> String {
    format!("sys/block/{loop_device}/loop/{name}")
}

/// Every use of what the device shows, if it is a loop device or a partition of one.
///
/// # Errors
/// The file cannot be looked at: it was deleted, or is in another mount namespace, so that nobody can tell.
pub(crate) fn uses(device: &BlockDevice) -> Result<Vec<DeviceUse>, Unavailable> {
    let (tree, name) = (device.tree(), device.disk_name());
    let Some(file) = shown_by(tree, &name) else {
        return Ok(Vec::new());
    };
    if block_device_node(&file)?.is_some() {
        return Ok(vec![DeviceUse::OverDevice {
            device: name,
            below: file,
        }]);
    }
    let mut uses = Vec::new();
    let offset = tree.text(attribute(&name, "offset"))?;
    if offset != "0" {
        uses.push(DeviceUse::PartOfFile {
            device: name.clone(),
            file: file.clone(),
            offset,
        });
    }
    let is_it = |other: &Path| is_same(&file, other);
    let others = tree.names("sys/block").unwrap_or_default();
    let others = others.iter().map(|other| other.to_string_lossy());
    for other in others.filter(|other| *other != name) {
        if shown_by(tree, &other).is_some_and(|shown| is_it(&shown)) {
            uses.push(DeviceUse::SharedFile {
                device: name.clone(),
                other: other.into_owned(),
                file: file.clone(),
            });
        }
    }
    if swap_areas(tree).iter().any(|swap| is_it(swap)) {
        uses.push(DeviceUse::SwapFile { device: name, file });
    }
    Ok(uses)
}

/// Whether two paths lead to one file, hard links included.
fn is_same(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    one == other || number(one).is_some_and(|one| number(other) == Some(one))
}
