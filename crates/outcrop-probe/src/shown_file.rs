//! What a loop device shows: whose data is overwritten by writing to it, which the device itself does not tell.
//!
//! Files are told apart by the numbers that the kernel has of them. The path in /sys is where a file was when it was attached: by now it may
//! lead nowhere, or to another file, and it may be one of another mount namespace.

mod layers;

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::block_device::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::device_use::{DeviceUse, swap_areas};
use crate::loop_info::LoopInfo;
use crate::mount_table::Mount;
use crate::system_tree::SystemTree;
use layers::Layers;

/// The unit of sizes in /sys; what a file has beyond the last whole one, a loop device leaves out.
const SECTOR_BYTES: u64 = 512;

/// A file, wherever it is.
struct Known {
    /// Where it was; for people, and to be looked at if it is still that file.
    path: PathBuf,
    /// The numbers of its filesystem and of the file there.
    numbers: (DeviceNumber, u64),
}

/// A loop device with its file.
pub(crate) struct Loop {
    /// The kernel's name (`loop0`).
    pub(crate) name: String,
    /// The block device that it shows, if its file is a node of one.
    pub(crate) device: Option<DeviceNumber>,
    file: Known,
    offset: u64,
    size_limit: Option<u64>,
}

/// Every loop device that has a file.
///
/// # Errors
/// One of them cannot be looked at, so that nobody can tell what it writes to.
pub(crate) fn loops(tree: &SystemTree) -> Result<Vec<Loop>, Unavailable> {
    let names = tree.names("sys/block")?;
    let loops = names
        .iter()
        .map(|name| Loop::named(tree, &name.to_string_lossy()));
    loops.filter_map(Result::transpose).collect()
}

impl Loop {
    /// The loop device of this name; `None` where the device is none, or has no file.
    fn named(tree: &SystemTree, name: &str) -> Result<Option<Self>, Unavailable> {
        let folder = format!("sys/block/{name}/loop");
        if !tree.exists(&folder) {
            return Ok(None);
        }
        let number = tree.text(format!("sys/block/{name}/dev"))?;
        let node = tree.path(format!("dev/{name}"));
        let unknown = |why: String| {
            Unavailable::because(format!(
                "what the loop device {name} writes to is not known, because {why}"
            ))
        };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match rustix::fs::open(&node, flags, Mode::empty()) {
            Ok(opened) => File::from(opened),
            // Its file was taken away a moment ago.
            Err(Errno::NXIO) => return Ok(None),
            Err(Errno::NOENT) => {
                let numbers = number.replace(':', " ");
                let node = node.display();
                return Err(unknown(format!(
                    "there is no {node}; `mknod {node} b {numbers}` makes it"
                )));
            }
            Err(errno) => {
                return Err(unknown(format!(
                    "{} cannot be opened ({})",
                    node.display(),
                    std::io::Error::from(errno)
                )));
            }
        };
        let is_it = opened.metadata().is_ok_and(|about| {
            about.file_type().is_block_device() && DeviceNumber::from_stat(about.rdev()).to_string() == number
        });
        if !is_it {
            return Err(unknown(format!("{} is another file", node.display())));
        }
        let info = match LoopInfo::of(&opened) {
            Ok(info) => info,
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => return Ok(None),
            Err(error) => return Err(unknown(format!("the kernel does not tell ({error})"))),
        };
        let path = tree.text(format!("{folder}/backing_file"));
        Ok(Some(Self {
            name: name.to_owned(),
            device: info.device(),
            file: Known {
                path: path.map_or_else(|_| PathBuf::from(format!("the file of {name}")), PathBuf::from),
                numbers: info.file(),
            },
            offset: info.offset(),
            size_limit: info.size_limit(),
        }))
    }

    /// What it leaves out of its file, which nobody sees by looking at the device.
    ///
    /// # Errors
    /// The file's size cannot be known.
    fn hidden(&self, tree: &SystemTree) -> Result<Option<DeviceUse>, Unavailable> {
        let (device, file) = (self.name.clone(), self.file.path.clone());
        if self.offset != 0 {
            let offset = self.offset.to_string();
            return Ok(Some(DeviceUse::PartOfFile { device, file, offset }));
        }
        let Some(about) = self.file.look() else {
            return Err(Unavailable::because(format!(
                "the file of the loop device {device}, {}, was removed, replaced or is in another mount namespace, so what is behind the \
                 device's end cannot be examined",
                file.display()
            )));
        };
        let shown_bytes = tree
            .number::<u64>(format!("sys/block/{device}/size"))?
            .saturating_mul(SECTOR_BYTES);
        let file_bytes = about.len() / SECTOR_BYTES * SECTOR_BYTES;
        let advice = match self.size_limit {
            Some(_) => "attach it without --sizelimit".to_owned(),
            None => format!("`losetup --set-capacity /dev/{device}` gives it the size of its file"),
        };
        Ok((shown_bytes != file_bytes).then_some(DeviceUse::OtherSize {
            device,
            file,
            shown_bytes,
            file_bytes,
            advice,
        }))
    }
}

impl Known {
    fn at(path: PathBuf) -> Option<Self> {
        let numbers = numbers_of(&fs::metadata(&path).ok()?);
        Some(Self { path, numbers })
    }

    /// What is at its path, if it is the file.
    fn look(&self) -> Option<fs::Metadata> {
        let about = fs::metadata(&self.path).ok()?;
        (numbers_of(&about) == self.numbers).then_some(about)
    }
}

fn numbers_of(about: &fs::Metadata) -> (DeviceNumber, u64) {
    (DeviceNumber::from_stat(about.dev()), about.ino())
}

/// Every use of what the device shows, if it is a loop device or a partition of one.
///
/// # Errors
/// The file cannot be looked at: it was deleted, or is in another mount namespace, so that nobody can tell.
pub(crate) fn uses(
    device: &BlockDevice,
    loops: &[Loop],
    mounts: &[Mount],
) -> Result<Vec<DeviceUse>, Unavailable> {
    let (tree, name) = (device.tree(), device.disk_name());
    let Some(own) = loops.iter().find(|one| one.name == name) else {
        return Ok(Vec::new());
    };
    if let Some(below) = own.device {
        return Ok(vec![DeviceUse::OverDevice {
            device: name,
            below: node_of(tree, below),
        }]);
    }
    let mut uses = Vec::from_iter(own.hidden(tree)?);
    let own_layers = Layers::of(mounts, &own.file);
    // Another file that may be the same one under other numbers.
    let doubtful = |other: &Known, called: String, ended_by: String| {
        let layers = Layers::of(mounts, other);
        let (on, other_on) = (own.file.numbers.0, other.numbers.0);
        if on == other_on || !own_layers.meet(on, &layers, other_on) {
            return None;
        }
        let of_own = own_layers.doubt(&own.file.path);
        let advice = match of_own {
            Some(_) => format!("move it to a filesystem such as ext4 or XFS, or run `{ended_by}`"),
            None => format!("run `{ended_by}`"),
        };
        Some(DeviceUse::MaybeSharedFile {
            device: name.clone(),
            other: called,
            why: of_own.or_else(|| layers.doubt(&other.path))?,
            advice,
        })
    };
    for other in loops.iter().filter(|other| other.name != name) {
        if other.device.is_some() {
            continue;
        }
        if other.file.numbers == own.file.numbers {
            uses.push(DeviceUse::SharedFile {
                device: name.clone(),
                other: other.name.clone(),
                file: own.file.path.clone(),
            });
        } else {
            let called = format!("{} ({})", other.name, other.file.path.display());
            let ended_by = format!("losetup --detach /dev/{}", other.name);
            uses.extend(doubtful(&other.file, called, ended_by));
        }
    }
    for swap in swap_areas(tree).into_iter().filter_map(Known::at) {
        if swap.numbers == own.file.numbers {
            uses.push(DeviceUse::SwapFile {
                device: name.clone(),
                file: own.file.path.clone(),
            });
        } else if swap.look().is_some_and(|about| about.is_file()) {
            let called = format!("the kernel's swap in {}", swap.path.display());
            uses.extend(doubtful(
                &swap,
                called,
                format!("swapoff {}", swap.path.display()),
            ));
        }
    }
    Ok(uses)
}

/// The node of a device, as its driver calls it.
fn node_of(tree: &SystemTree, number: DeviceNumber) -> PathBuf {
    let name = tree.link_name(format!("sys/dev/block/{number}"));
    Path::new("/dev").join(name.map_or_else(|_| number.to_string(), |name| name.replace('!', "/")))
}
