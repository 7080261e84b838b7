//! Filesystems that show files of other filesystems, as an overlay does: one file then has two pairs of numbers.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::Known;
use crate::device_number::DeviceNumber;
use crate::filesystem::mount_id;
use crate::mount_table::Mount;

/// Without a block device of their own, and yet their files are nobody else's.
const OF_THEIR_OWN: [&str; 7] = ["tmpfs", "ramfs", "devtmpfs", "btrfs", "zfs", "bcachefs", "ubifs"];
/// Those among them in which every file has the number that the table of mounts has. Subvolumes have their own.
const OF_ONE_NUMBER: [&str; 2] = ["tmpfs", "ramfs"];

/// On which filesystems the data of a file may be.
pub(super) enum Layers {
    /// On the one that the file is on.
    Own,
    /// On one of these, since the file is on an overlay of them.
    Of(Vec<DeviceNumber>),
    /// On any. With the type of the filesystem that the file is on, if that is mounted here.
    Any(Option<String>),
}

impl Layers {
    pub(super) fn of(mounts: &[Mount], file: &Known) -> Self {
        let filesystem = file.numbers.0;
        if !filesystem.is_anonymous() {
            return Self::Own;
        }
        let by_path = || {
            let id = file.look().and_then(|_| mount_id(&file.path))?;
            mounts.iter().find(|mount| mount.mount_id == id)
        };
        let by_number = || mounts.iter().find(|mount| mount.device == filesystem);
        let Some(mount) = by_path().or_else(by_number) else {
            return Self::Any(None);
        };
        match mount.type_name.as_str() {
            name if OF_THEIR_OWN.contains(&name) => Self::Own,
            "overlay" => {
                layers_of(mounts, mount).map_or_else(|| Self::Any(Some("overlay".to_owned())), Self::Of)
            }
            other => Self::Any(Some(other.to_owned())),
        }
    }

    /// Whether a file may be one with another file; both with the numbers of their filesystems, which differ.
    pub(super) fn meet(&self, on: DeviceNumber, other: &Self, other_on: DeviceNumber) -> bool {
        match (self, other) {
            (Self::Any(_), _) | (_, Self::Any(_)) => true,
            (Self::Own, Self::Own) => false,
            (Self::Own, Self::Of(layers)) => layers.contains(&on),
            (Self::Of(layers), Self::Own) => layers.contains(&other_on),
            (Self::Of(layers), Self::Of(others)) => layers.iter().any(|layer| others.contains(layer)),
        }
    }

    /// Why the numbers of a file do not tell which file it is; nothing where they do.
    pub(super) fn doubt(&self, path: &Path) -> Option<String> {
        let path = path.display();
        Some(match self {
            Self::Own => return None,
            Self::Of(_) => format!("{path} is on an overlay, whose files are those of other filesystems"),
            Self::Any(Some(kind)) => {
                format!("{path} is on {kind}, whose files may be those of another filesystem")
            }
            Self::Any(None) => {
                format!("{path} is on a filesystem that is not mounted here, which may be an overlay")
            }
        })
    }
}

/// The filesystems that an overlay is of; nothing where one of its folders is not found here, or does not tell.
fn layers_of(mounts: &[Mount], overlay: &Mount) -> Option<Vec<DeviceNumber>> {
    let folders = overlay
        .options
        .split(',')
        .filter_map(|option| option.split_once('='));
    let folders =
        folders.filter(|(name, _)| matches!(name.trim_end_matches('+'), "lowerdir" | "upperdir" | "datadir"));
    let folders = folders.flat_map(|(_, folders)| folders.split(':'));
    // Two colons stand before folders of data alone.
    let folders = folders.filter(|folder| !folder.is_empty());
    let layers: Option<Vec<DeviceNumber>> = folders
        .map(|folder| filesystem_of(mounts, Path::new(folder)))
        .collect();
    layers.filter(|layers| !layers.is_empty())
}

fn filesystem_of(mounts: &[Mount], folder: &Path) -> Option<DeviceNumber> {
    // A relative path begins where somebody else was.
    let about = folder.is_absolute().then(|| fs::metadata(folder))?.ok()?;
    let number = DeviceNumber::from_stat(about.dev());
    let tells = |mount: &Mount| mount.device == number && OF_ONE_NUMBER.contains(&mount.type_name.as_str());
    (!number.is_anonymous() || mounts.iter().any(tells)).then_some(number)
}
