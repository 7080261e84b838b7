//! What a loop device shows: whose data is overwritten by writing to it, which the device itself does not tell.
//!
//! Files are told apart by the numbers that the kernel has of them. The path in /sys is where a file was when it was attached: by now it may
//! lead nowhere, or to another file, and it may be one of another mount namespace.

mod layers;
mod unseen;

use std::cmp::Ordering;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::block_device::BlockDevice;
use crate::device_number::{DeviceNumber, NotADeviceNumber};
use crate::device_use::{DeviceUse, swap_areas};
use crate::loop_info::LoopInfo;
use crate::mount_table::Mount;
use crate::system_tree::SystemTree;
use layers::Layers;
pub(crate) use unseen::Unseen;

/// The unit of sizes in /sys; what a file has beyond the last whole one, a loop device leaves out.
const SECTOR_BYTES: u64 = 512;
/// Why a file that is longer than its device matters, in a clause.
const HIDDEN: &str = "the file's end, where signatures may be, is not the device's";

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
    number: DeviceNumber,
    file: Known,
    offset: u64,
    size_limit: Option<u64>,
}

/// Every loop device that has a file.
#[derive(Default)]
pub(crate) struct Loops {
    /// Those whose file is known.
    pub(crate) seen: Vec<Loop>,
    /// The others.
    pub(crate) unseen: Vec<Unseen>,
}

/// Looks at every loop device.
///
/// # Errors
/// /sys does not list them.
pub(crate) fn loops(tree: &SystemTree) -> Result<Loops, Unavailable> {
    let mut loops = Loops::default();
    for name in tree.names("sys/block")? {
        match Loop::named(tree, &name.to_string_lossy()) {
            Ok(found) => loops.seen.extend(found),
            Err(unseen) => loops.unseen.push(unseen),
        }
    }
    Ok(loops)
}

impl Loop {
    /// The loop device of this name; `None` where the device is none, or has no file.
    fn named(tree: &SystemTree, name: &str) -> Result<Option<Self>, Unseen> {
        let folder = format!("sys/block/{name}/loop");
        if !tree.exists(&folder) {
            return Ok(None);
        }
        let unknown = |why: String| Unseen {
            name: name.to_owned(),
            why,
        };
        let number = tree.text(format!("sys/block/{name}/dev"));
        let number = number.map_err(|why| unknown(why.reason))?;
        let number: DeviceNumber = number
            .parse()
            .map_err(|error: NotADeviceNumber| unknown(error.to_string()))?;
        let node = tree.path(format!("dev/{name}"));
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match rustix::fs::open(&node, flags, Mode::empty()) {
            Ok(opened) => File::from(opened),
            // Its file was taken away a moment ago.
            Err(Errno::NXIO) => return Ok(None),
            Err(Errno::NOENT) => {
                let DeviceNumber { major, minor } = number;
                let node = node.display();
                return Err(unknown(format!(
                    "there is no {node} (`mknod {node} b {major} {minor}` makes it)"
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
            about.file_type().is_block_device() && DeviceNumber::from_stat(about.rdev()) == number
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
            number,
            file: Known {
                path: path.map_or_else(|_| PathBuf::from(format!("the file of {name}")), PathBuf::from),
                numbers: info.file(),
            },
            offset: info.offset(),
            size_limit: info.size_limit(),
        }))
    }

    /// What it leaves out of its file, or lacks of it, so that nobody sees what is at the file's end by looking at the device.
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
        let meaning = match (shown_bytes.cmp(&file_bytes), self.size_limit) {
            (Ordering::Equal, _) => return Ok(None),
            (Ordering::Greater, _) => {
                let end = end_of(&tree.path(format!("dev/{device}")), shown_bytes);
                format!("the device's end {end}; it is usable again once the file has its size back")
            }
            (Ordering::Less, Some(_)) => format!("{HIDDEN}; attach it without --sizelimit"),
            (Ordering::Less, None) => {
                format!("{HIDDEN}; `losetup --set-capacity /dev/{device}` gives it the size of its file")
            }
        };
        Ok(Some(DeviceUse::OtherSize {
            device,
            file,
            shown_bytes,
            file_bytes,
            meaning,
        }))
    }

    /// How it no longer has its file, in a clause: nobody detaches a device that is in use.
    fn ended(&self, tree: &SystemTree, mounts: &[Mount]) -> String {
        let detach = format!("`losetup --detach /dev/{}`", self.name);
        let uses = BlockDevice::numbered(tree, self.number).and_then(|device| device.uses_of_itself(mounts));
        match uses.unwrap_or_default().first() {
            None => format!("run {detach}"),
            Some(first) => format!("end the use of {} ({first}) and then run {detach}", self.name),
        }
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

/// Adds every use of what the device shows, if it is a loop device or a partition of one.
///
/// # Errors
/// The file of it or of another loop device cannot be looked at: it was deleted, or is in another mount namespace, so that nobody can tell.
pub(crate) fn add_uses(
    device: &BlockDevice,
    loops: &Loops,
    mounts: &[Mount],
    uses: &mut Vec<DeviceUse>,
) -> Result<(), Unavailable> {
    let (tree, name) = (device.tree(), device.disk_name());
    if let Some(own) = loops.unseen.iter().find(|one| one.name == name) {
        return Err(own.unknown(""));
    }
    let Some(own) = loops.seen.iter().find(|one| one.name == name) else {
        return Ok(());
    };
    if let Some(below) = own.device {
        uses.push(DeviceUse::OverDevice {
            device: name,
            below: node_of(tree, below),
        });
        return Ok(());
    }
    let looked = own.hidden(tree).map(|hidden| uses.extend(hidden));
    let own_layers = Layers::of(mounts, &own.file);
    // Another file that may be the same one under other numbers.
    let doubtful = |other: &Known, called: String, ended: String| {
        let layers = Layers::of(mounts, other);
        let (on, other_on) = (own.file.numbers.0, other.numbers.0);
        if on == other_on || !own_layers.meet(on, &layers, other_on) {
            return None;
        }
        let of_own = own_layers.doubt(&own.file.path);
        let advice = match of_own {
            Some(_) => format!("move it to a filesystem such as ext4 or XFS, or {ended}"),
            None => ended,
        };
        Some(DeviceUse::MaybeSharedFile {
            device: name.clone(),
            other: called,
            why: of_own.or_else(|| layers.doubt(&other.path))?,
            advice,
        })
    };
    for other in loops.seen.iter().filter(|other| other.name != name) {
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
            uses.extend(doubtful(&other.file, called, other.ended(tree, mounts)));
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
            let ended = format!("run `swapoff {}`", swap.path.display());
            uses.extend(doubtful(&swap, called, ended));
        }
    }
    // Its file may be that of any of these.
    let others = loops.unseen.first();
    looked.and(others.map_or(Ok(()), |other| {
        Err(other.unknown(&format!(", and its file may be that of {name}")))
    }))
}

/// What is read at the end of a loop device whose file does not reach there, in a clause: Linux gives an error, or in older versions zeros where
/// the page cache is used, also in the place of what the file has just before its end.
fn end_of(node: &Path, size_bytes: u64) -> String {
    let last = size_bytes.saturating_sub(SECTOR_BYTES);
    let read =
        File::open(node).and_then(|device| device.read_exact_at(&mut [0; SECTOR_BYTES as usize], last));
    match read {
        Ok(()) => "does not show the end of the file".to_owned(),
        Err(error) => format!("cannot be read ({error})"),
    }
}

/// The node of a device, as its driver calls it.
fn node_of(tree: &SystemTree, number: DeviceNumber) -> PathBuf {
    let name = tree.link_name(format!("sys/dev/block/{number}"));
    Path::new("/dev").join(name.map_or_else(|_| number.to_string(), |name| name.replace('!', "/")))
}
