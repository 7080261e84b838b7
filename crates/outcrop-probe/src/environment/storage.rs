//! The storage at a path: its filesystem, and the block device below with the queue that serves it.

use std::path::Path;

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use super::memory::chosen;
use crate::block_device::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::filesystem::Filesystem;
use crate::reading::Reading;
use crate::system_tree::SystemTree;
use crate::wear::Wear;

/// What holds a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// The path as it was given.
    pub path: String,
    /// The filesystem that holds it.
    pub filesystem: Reading<Filesystem>,
    /// The block device below.
    pub device: Reading<Device>,
}

/// A block device: what it is, and how the kernel queues for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// The kernel's name (`nvme0n1p2`).
    pub name: String,
    /// `major:minor`.
    pub number: DeviceNumber,
    /// `disk`, `partition`, `loop`, `device-mapper`, `md`, `zram` or `ram disk`.
    pub kind: String,
    /// The whole disk that it is, or is a partition of.
    pub disk: String,
    /// What a virtual device stands on: a loop device's file, the members of a mapping or an array.
    pub backing: Reading<Vec<String>>,
    /// Whether a loop device bypasses the page cache of its file's filesystem; `None` for other devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_direct_io: Option<Reading<bool>>,
    /// Model as the device gives it.
    pub model: Reading<String>,
    /// Revision of its firmware.
    pub firmware: Reading<String>,
    /// Whether it gives a serial number; the number itself is not read.
    pub has_serial: bool,
    /// The driver that serves it (`nvme`, `virtio_blk`, `sd`).
    pub driver: Reading<String>,
    /// Size of the device or partition.
    pub size_bytes: Reading<u64>,
    /// Whether the kernel will not write to it.
    pub read_only: Reading<bool>,
    /// Whether it says that it rotates; virtual disks often say so without a disk that does.
    pub rotational: Reading<bool>,
    /// I/O scheduler in use.
    pub scheduler: Reading<String>,
    /// Requests that its queue holds.
    pub nr_requests: Reading<u64>,
    /// Hardware queues.
    pub hardware_queue_count: Reading<u64>,
    /// Largest request as set.
    pub max_sectors_kib: Reading<u64>,
    /// Largest request that the device takes.
    pub max_hw_sectors_kib: Reading<u64>,
    /// Smallest addressable unit: O_DIRECT must align to it.
    pub logical_block_size_bytes: Reading<u64>,
    /// Smallest unit written without reading first.
    pub physical_block_size_bytes: Reading<u64>,
    /// Preferred size of large requests; 0 if the device names none.
    pub optimal_io_size_bytes: Reading<u64>,
    /// `write back` (volatile cache) or `write through`.
    pub write_cache: Reading<String>,
    /// Whether single writes can bypass that cache.
    pub fua: Reading<bool>,
    /// Whether completions can be polled for.
    pub io_poll: Reading<bool>,
    /// Request merging: 0 all, 1 only simple, 2 none.
    pub nomerges: Reading<u64>,
    /// Where completions run: 0 anywhere, 1 on the same socket, 2 on the same CPU.
    pub rq_affinity: Reading<u64>,
    /// Target latency of write-back throttling; 0 is off.
    pub wbt_latency_us: Reading<u64>,
    /// Read-ahead of buffered reads.
    pub read_ahead_kib: Reading<u64>,
    /// Largest discard; 0 if there is none.
    pub discard_max_bytes: Reading<u64>,
    /// Zone model: `none`, `host-aware`, `host-managed`.
    pub zoned: Reading<String>,
    /// What the drive says of its wear. Older runs did not ask.
    #[serde(default = "not_asked")]
    pub wear: Reading<Wear>,
}

fn not_asked() -> Reading<Wear> {
    Reading::unavailable("the version of Outcrop that made this run did not ask the drive")
}

/// The filesystem that holds what is at a path. A device's node lies on one too, but what is read and written through it does not.
fn filesystem_at(path: &Path) -> Reading<Filesystem> {
    use std::os::unix::fs::FileTypeExt as _;
    match std::fs::metadata(path) {
        Ok(found) if found.file_type().is_block_device() => {
            Reading::unavailable("it is a block device, which is accessed without a filesystem")
        }
        _ => Filesystem::at(path).into(),
    }
}

impl Storage {
    pub(super) fn read(tree: &SystemTree, path: &Path) -> Self {
        Self {
            path: path.display().to_string(),
            filesystem: filesystem_at(path),
            device: BlockDevice::holding(path)
                .map(|device| Device::read(tree, &device))
                .into(),
        }
    }
}

impl Device {
    /// Everything that /sys tells about a device.
    pub(super) fn read(tree: &SystemTree, device: &BlockDevice) -> Self {
        let text = |name: &str| -> Reading<String> { nonempty(tree, &device.disk_attribute(name)).into() };
        let queue = |name: &str| device.disk_attribute(&format!("queue/{name}"));
        let number = |name: &str| -> Reading<u64> { tree.number(queue(name)).into() };
        let switch = |name: &str| -> Reading<bool> { tree.switch(queue(name)).into() };
        let serial_files = ["device/serial", "serial", "device/wwid", "wwid"];
        Self {
            name: device.name().to_owned(),
            number: device.number(),
            kind: kind(tree, device).to_owned(),
            disk: device.disk_name(),
            backing: backing(tree, device).into(),
            loop_direct_io: loop_direct_io(tree, device),
            model: text("device/model"),
            firmware: nonempty(tree, &device.disk_attribute("device/firmware_rev"))
                .or_else(|_| nonempty(tree, &device.disk_attribute("device/rev")))
                .into(),
            has_serial: serial_files
                .iter()
                .any(|file| nonempty(tree, &device.disk_attribute(file)).is_ok()),
            driver: driver(tree, device).into(),
            size_bytes: size_bytes(tree, device).into(),
            read_only: tree.switch(device.attribute("ro")).into(),
            rotational: switch("rotational"),
            scheduler: tree
                .text(queue("scheduler"))
                .map(|choices| chosen(&choices).to_owned())
                .into(),
            nr_requests: number("nr_requests"),
            hardware_queue_count: tree
                .names(device.disk_attribute("mq"))
                .map(|names| names.len() as u64)
                .into(),
            max_sectors_kib: number("max_sectors_kb"),
            max_hw_sectors_kib: number("max_hw_sectors_kb"),
            logical_block_size_bytes: number("logical_block_size"),
            physical_block_size_bytes: number("physical_block_size"),
            optimal_io_size_bytes: number("optimal_io_size"),
            write_cache: text("queue/write_cache"),
            fua: switch("fua"),
            io_poll: switch("io_poll"),
            nomerges: number("nomerges"),
            rq_affinity: number("rq_affinity"),
            wbt_latency_us: number("wbt_lat_usec"),
            read_ahead_kib: number("read_ahead_kb"),
            discard_max_bytes: number("discard_max_bytes"),
            zoned: text("queue/zoned"),
            wear: Wear::of_drive(tree, &device.disk_name()).into(),
        }
    }
}

fn nonempty(tree: &SystemTree, relative: &Path) -> Result<String, Unavailable> {
    match tree.text(relative)? {
        text if text.is_empty() => Err(Unavailable::because("the device leaves it empty")),
        text => Ok(text),
    }
}

fn size_bytes(tree: &SystemTree, device: &BlockDevice) -> Result<u64, Unavailable> {
    // In units of 512 bytes, whatever the device's own sectors.
    tree.number::<u64>(device.attribute("size"))
        .map(|sectors| sectors.saturating_mul(512))
}

fn kind(tree: &SystemTree, device: &BlockDevice) -> &'static str {
    let has = |name: &str| tree.exists(device.attribute(name));
    if device.is_partition() {
        "partition"
    } else if has("dm") {
        "device-mapper"
    } else if has("md") {
        "md"
    } else if has("loop") || device.name().starts_with("loop") {
        "loop"
    } else if has("mm_stat") {
        "zram"
    } else if device.name().starts_with("ram") {
        "ram disk"
    } else {
        "disk"
    }
}

fn loop_direct_io(tree: &SystemTree, device: &BlockDevice) -> Option<Reading<bool>> {
    let is_loop = tree.exists(device.disk_attribute("loop"));
    is_loop.then(|| tree.switch(device.disk_attribute("loop/dio")).into())
}

fn backing(tree: &SystemTree, device: &BlockDevice) -> Result<Vec<String>, Unavailable> {
    if let Ok(file) = tree.text(device.disk_attribute("loop/backing_file")) {
        return Ok(vec![file]);
    }
    let members = tree.names(device.disk_attribute("slaves"))?;
    Ok(members
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect())
}

/// The driver bound to the device or, where that is only a class device (NVMe namespaces), to its parent.
fn driver(tree: &SystemTree, device: &BlockDevice) -> Result<String, Unavailable> {
    let link = |name: &str| tree.link_name(device.disk_attribute(name));
    link("device/driver")
        .or_else(|_| link("device/device/driver"))
        .map_err(|_| Unavailable::because("no driver is bound to it (virtual devices have none)"))
}
