//! Devices that are given to be overwritten: every one that somebody could miss is refused, before a byte is written.
//!
//! Real loop devices throughout. Nodes with other names stand in folders of our own.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_device::{Candidate, DeviceError, JobSpec, Target, WritableDevice};
use outcrop_workload::{Content, ReadWriteMix};
use rustix::fs::{FileType, Mode, OFlags};

use crate::stage::{LoopDevice, SEED, folder, must, run, short_spec};

/// Lazy: a child process that another test is starting holds a file of the mount open for a moment.
pub(crate) const UNMOUNT: &[&str] = &["umount", "--lazy"];

/// Undoes something with a command when it is dropped.
pub(crate) struct Undo<'a>(pub(crate) &'static [&'static str], pub(crate) &'a Path);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        let _ = Command::new(self.0[0]).args(&self.0[1..]).arg(self.1).status();
    }
}

/// Waits until nothing holds a device whose filesystem was unmounted.
pub(crate) fn until_free(node: &Path) {
    const LOOKS: u32 = 100_000;
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    for _ in 0..LOOKS {
        if rustix::fs::open(node, flags, Mode::empty()).is_ok() {
            return;
        }
        std::thread::yield_now();
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What the device is called: a loop device by its file.
pub(crate) fn name_of(device: &LoopDevice) -> String {
    device.image.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// The sentence by which a device is refused, by the first look and by opening it.
pub(crate) fn refusal(path: &Path, name: &str) -> String {
    let message = WritableDevice::open(path, name).unwrap_err().to_string();
    assert_eq!(Candidate::examine(path).unwrap_err().to_string(), message);
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

pub(crate) fn refused(path: &Path, device: &LoopDevice, part: &str) {
    let message = refusal(path, &name_of(device));
    assert!(
        message.contains("is not overwritten") && message.contains(part),
        "{message}"
    );
}

pub(crate) fn opened(device: &LoopDevice) -> WritableDevice {
    WritableDevice::open(&device.node, &name_of(device)).unwrap()
}

/// One more node of the device, in a folder of our own.
pub(crate) fn node_in(folder: &Path, device: &LoopDevice) -> PathBuf {
    let node = folder.join("disk");
    let number = std::fs::metadata(&device.node).unwrap().rdev();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &node,
        FileType::BlockDevice,
        Mode::RUSR | Mode::WUSR,
        number,
    )
    .unwrap();
    node
}

#[test]
fn a_mounted_device_is_refused_by_its_name_through_a_symlink_and_by_a_node_elsewhere() {
    let device = LoopDevice::new(16 << 20);
    must("mkfs.ext4", &["-q", "-F", text(&device.node)]);
    let place = folder();
    must("mount", &["-t", "ext4", text(&device.node), text(place.path())]);
    let _mounted = Undo(UNMOUNT, place.path());

    let names = folder();
    let link = names.path().join("link");
    symlink(&device.node, &link).unwrap();
    let link_to_link = names.path().join("link-to-link");
    symlink("link", &link_to_link).unwrap();
    let node = node_in(names.path(), &device);
    for path in [&device.node, &link, &link_to_link, &node] {
        let told = format!("is mounted at {}", place.path().canonicalize().unwrap().display());
        refused(path, &device, &told);
    }
}

#[test]
fn every_member_of_a_mounted_btrfs_is_refused() {
    let members = [LoopDevice::new(256 << 20), LoopDevice::new(256 << 20)];
    let nodes = members.each_ref().map(|member| text(&member.node));
    must(
        "mkfs.btrfs",
        &["-q", "-f", "-m", "raid1", "-d", "single", nodes[0], nodes[1]],
    );
    must("btrfs", &["device", "scan", nodes[0]]);
    must("btrfs", &["device", "scan", nodes[1]]);
    let place = folder();
    must("mount", &["-t", "btrfs", nodes[0], text(place.path())]);
    {
        let _mounted = Undo(UNMOUNT, place.path());
        refused(&members[0].node, &members[0], "is mounted at");
        refused(
            &members[1].node,
            &members[1],
            "is a member of the btrfs mounted at",
        );
    }
    until_free(&members[1].node);
    refused(&members[1].node, &members[1], "it holds a btrfs filesystem");
    let _ = Command::new("btrfs")
        .args(["device", "scan", "--forget"])
        .args(nodes)
        .output();
}

#[test]
fn active_swap_is_refused_and_so_is_swap_that_is_off() {
    let device = LoopDevice::new(16 << 20);
    must("mkswap", &[text(&device.node)]);
    {
        must("swapon", &[text(&device.node)]);
        let _swap = Undo(&["swapoff"], &device.node);
        refused(&device.node, &device, "is active swap");
    }
    refused(&device.node, &device, "it holds swap");
}

#[test]
fn a_filesystem_a_partition_table_and_a_volume_are_refused_and_nothing_of_them_changes() {
    type Planted<'a> = (&'a dyn Fn(&File), &'a str);
    let gpt = |image: &File| image.write_all_at(b"EFI PART", 512).unwrap();
    let lvm = |image: &File| {
        image.write_all_at(b"LABELONE", 512).unwrap();
        image.write_all_at(b"LVM2 001", 512 + 24).unwrap();
    };
    let raid = |image: &File| image.write_all_at(&0xa92b_4efc_u32.to_le_bytes(), 4096).unwrap();
    let planted: [Planted<'_>; 3] = [
        (&gpt, "a GPT partition table"),
        (&lvm, "an LVM physical volume"),
        (&raid, "a member of a Linux RAID"),
    ];
    for (plant, what) in planted {
        let device = LoopDevice::new(8 << 20);
        plant(&File::options().write(true).open(&device.image).unwrap());
        let before = std::fs::read(&device.image).unwrap();
        refused(&device.node, &device, what);
        assert!(std::fs::read(&device.image).unwrap() == before);
    }
    for (kind, size_mib, what) in [
        ("ext4", 8, "an ext2, ext3 or ext4 filesystem"),
        ("xfs", 320, "an XFS filesystem"),
        ("btrfs", 256, "a btrfs filesystem"),
    ] {
        let device = LoopDevice::new(size_mib << 20);
        let force = if kind == "ext4" { "-F" } else { "-f" };
        must(&format!("mkfs.{kind}"), &["-q", force, text(&device.node)]);
        refused(&device.node, &device, what);
    }
}

#[test]
fn small_filesystems_of_util_linux_are_refused() {
    for (kind, what) in [
        ("minix", "a Minix filesystem"),
        ("bfs", "an SCO BFS filesystem"),
        ("cramfs", "a cramfs filesystem"),
    ] {
        let program = format!("mkfs.{kind}");
        if outcrop_probe::program::find(&program).is_none() {
            println!("skipped: {what}: {program} is not installed");
            continue;
        }
        let device = LoopDevice::new(8 << 20);
        let files = folder();
        std::fs::write(files.path().join("file"), "content").unwrap();
        let source = [text(files.path())];
        let source = if kind == "cramfs" { &source[..] } else { &[] };
        must(&program, &[source, &[text(&device.node)]].concat());
        refused(&device.node, &device, &format!("it holds {what}"));
    }
}

#[test]
fn a_hibernated_system_is_refused_by_its_mark_in_swap() {
    for mark in ["S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001"] {
        let device = LoopDevice::new(16 << 20);
        must("mkswap", &[text(&device.node)]);
        let image = File::options().write(true).open(&device.image).unwrap();
        image.write_all_at(mark.as_bytes(), 4086).unwrap();
        refused(&device.node, &device, "it holds swap with a hibernated system");
    }
}

#[test]
fn what_only_blkid_knows_is_refused_where_it_is_installed() {
    if outcrop_probe::program::find("blkid").is_none() {
        println!("skipped: what only blkid knows: it is not installed");
        return;
    }
    let device = LoopDevice::new(8 << 20);
    let image = File::options().write(true).open(&device.image).unwrap();
    // The metadata of a JMicron RAID begin with two letters and a version.
    image.write_all_at(b"JM\x01\0", (8 << 20) - 512).unwrap();
    refused(
        &device.node,
        &device,
        "it holds what `blkid` names jmicron_raid_member",
    );
}

/// Gives a disk a partition, once it is refused as a disk with a partition table.
fn partitioned(device: &LoopDevice) -> PathBuf {
    device.write_partition_table();
    refused(&device.node, device, "it holds a partition table");
    device.add_partition()
}

#[test]
fn a_disk_whose_partitions_the_kernel_knows_is_refused_and_so_is_a_disk_with_a_used_partition() {
    let device = LoopDevice::of_partitions(32 << 20);
    let partition = partitioned(&device);
    let message = refusal(&device.node, &name_of(&device));
    assert!(message.contains("it holds partitions (loop"), "{message}");

    must("mkfs.ext4", &["-q", "-F", text(&partition)]);
    let place = folder();
    must("mount", &["-t", "ext4", text(&partition), text(place.path())]);
    let mounted = Undo(UNMOUNT, place.path());
    let of_disk = refusal(&device.node, &name_of(&device));
    let of_partition = refusal(&partition, &format!("{}-part1", name_of(&device)));
    for message in [of_disk, of_partition] {
        assert!(message.contains("p1 is mounted at"), "{message}");
    }
    drop(mounted);
}

#[test]
fn an_unused_partition_is_written_and_nothing_of_its_disk_around_it() {
    let device = LoopDevice::of_partitions(32 << 20);
    let partition = partitioned(&device);
    let before = std::fs::read(&device.image).unwrap();
    let target = WritableDevice::open(&partition, &format!("{}-part1", name_of(&device))).unwrap();
    assert_eq!(target.size_bytes(), 24 << 20);
    let stop = AtomicBool::new(false);
    target
        .fill(24 << 20, &Content::Random, SEED, &stop, &mut |_, _| {})
        .unwrap();
    let spec = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        ..short_spec()
    };
    assert_eq!(run(&Target::Device(target), &spec).failure(), None);
    let after = std::fs::read(&device.image).unwrap();
    let (begin, end) = (1 << 20, 25 << 20);
    assert!(after[..begin] == before[..begin] && after[end..] == before[end..]);
    let zeros = [0; 4096];
    assert!(after[begin..end].chunks(4096).all(|block| block != zeros));
}

pub(crate) struct Detach<'a>(pub(crate) &'a Path);

impl Drop for Detach<'_> {
    fn drop(&mut self) {
        const LOOKS: u32 = 100_000;
        let name = self.0.file_name().unwrap().to_string_lossy();
        let file = || std::fs::read(format!("/sys/block/{name}/loop/backing_file")).ok();
        let before = file();
        let _ = Command::new("losetup").arg("--detach").arg(self.0).status();
        // It stays attached for as long as a test beside this one looks at it.
        for _ in 0..LOOKS {
            if before.is_none() || file() != before {
                return;
            }
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_path_that_leads_nowhere_is_an_error_and_nothing_is_created_there() {
    for path in [
        "/dev/outcrop-no-such-device",
        "/dev/disk/by-id/outcrop-no-such-device",
        "/no/such/device",
    ] {
        let message = refusal(Path::new(path), "any name");
        assert!(
            message.contains("there is no device at") && message.contains("never creates"),
            "{message}"
        );
        assert!(!Path::new(path).exists());
    }
    let folder = folder();
    let dangling = folder.path().join("dangling");
    symlink("nothing", &dangling).unwrap();
    assert!(refusal(&dangling, "any name").contains("there is no device at"));
    assert!(!folder.path().join("nothing").exists());
}

#[test]
fn a_device_that_somebody_holds_exclusively_is_refused() {
    let device = LoopDevice::new(8 << 20);
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    let held = rustix::fs::open(&device.node, flags, Mode::empty()).unwrap();
    let message = WritableDevice::open(&device.node, &name_of(&device))
        .unwrap_err()
        .to_string();
    assert!(message.contains("has it open exclusively"), "{message}");
    drop(held);
    let ours = opened(&device);
    let message = WritableDevice::open(&device.node, &name_of(&device))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("has it open exclusively"),
        "we hold it: {message}"
    );
    drop(ours);
    drop(opened(&device));
}

#[test]
fn a_write_protected_device_is_refused() {
    let device = LoopDevice::new(8 << 20);
    must("blockdev", &["--setro", text(&device.node)]);
    let message = refusal(&device.node, &name_of(&device));
    assert!(
        message.contains("is read-only") && message.contains("--setrw"),
        "{message}"
    );
    must("blockdev", &["--setrw", text(&device.node)]);
}

#[test]
fn a_name_that_is_not_the_devices_is_refused_with_the_one_that_is() {
    let device = LoopDevice::new(8 << 20);
    for typed in [
        "",
        "yes",
        "S1",
        text(&device.node),
        &format!("{} ", name_of(&device)),
    ] {
        let error = WritableDevice::open(&device.node, typed).unwrap_err();
        assert!(matches!(error, DeviceError::OtherName { .. }), "{error}");
        assert!(error.to_string().contains(&name_of(&device)), "{error}");
    }
    let description = Candidate::examine(&device.node).unwrap().description();
    let parts = [
        text(&device.node),
        "8 MiB",
        &name_of(&device),
        "zeros at its start",
    ];
    assert!(
        parts.iter().all(|part| description.contains(part)),
        "{description}"
    );
    assert!(
        std::fs::read(&device.image)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    );
}

#[test]
fn what_is_no_block_device_is_refused_by_kind() {
    let folder = folder();
    let file = folder.path().join("theirs");
    std::fs::write(&file, [7; 8192]).unwrap();
    for (path, part) in [
        (file.as_path(), "is a regular file"),
        (folder.path(), "is a directory"),
        (Path::new("/dev/null"), "is a character device"),
    ] {
        let message = refusal(path, "any name");
        assert!(
            message.contains(part) && message.contains("expected a block device"),
            "{message}"
        );
    }
    assert_eq!(std::fs::read(&file).unwrap(), [7; 8192]);
}
