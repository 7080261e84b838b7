//! Uses in a tree of files: what one knows of disks, partitions and loop devices.

use super::*;

/// A disk 8:0 with the partition 8:1, on which a volume stands, and the partition 8:2, which is mounted. Nobody uses the disk 8:32 and its
/// partition 8:33.
fn tree() -> (tempfile::TempDir, SystemTree) {
    let folder = tempfile::tempdir().unwrap();
    let disk = "sys/devices/sda";
    let files = [
        ("sys/fs/btrfs/some-uuid/devices/sdb", ""),
        ("sys/fs/btrfs/some-uuid/devices/sda2", ""),
        (
            "proc/self/mountinfo",
            "1 0 8:2 / /home rw - ext4 /dev/sda2 rw\n2 0 0:44 / /pool rw - btrfs /dev/no-such-device rw\n",
        ),
        (
            "proc/swaps",
            "Filename Type Size Used Priority\n/dev/nowhere partition 1 0 -2\n",
        ),
    ];
    for (path, text) in files.iter().chain(&[
        (&*format!("{disk}/dev"), "8:0\n"),
        (&*format!("{disk}/ro"), "0\n"),
        (&*format!("{disk}/sda1/dev"), "8:1\n"),
        (&*format!("{disk}/sda1/partition"), "1\n"),
        (&*format!("{disk}/sda1/holders/dm-0"), ""),
        (&*format!("{disk}/sda2/dev"), "8:2\n"),
        (&*format!("{disk}/sda2/partition"), "2\n"),
        ("sys/block/sda/dev", "8:0\n"),
        ("sys/devices/sdc/dev", "8:32\n"),
        ("sys/devices/sdc/size", "1000\n"),
        ("sys/devices/sdc/sdc1/dev", "8:33\n"),
        ("sys/devices/sdc/sdc1/partition", "1\n"),
        ("sys/devices/sdc/sdc1/size", "600\n"),
    ]) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let links = folder.path().join("sys/dev/block");
    std::fs::create_dir_all(&links).unwrap();
    for (number, name) in [
        ("8:0", "sda"),
        ("8:1", "sda/sda1"),
        ("8:2", "sda/sda2"),
        ("8:32", "sdc"),
        ("8:33", "sdc/sdc1"),
    ] {
        std::os::unix::fs::symlink(format!("../../devices/{name}"), links.join(number)).unwrap();
    }
    let tree = SystemTree::at(folder.path());
    (folder, tree)
}

fn uses(tree: &SystemTree, number: &str) -> Vec<String> {
    let device = BlockDevice::numbered(tree, number.parse().unwrap()).unwrap();
    device.uses().unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn whoever_uses_a_partition_uses_the_disk_and_the_other_way_round() {
    let (_folder, tree) = tree();
    let held = "dm-0 is on top of sda1";
    let mounted = "sda2 is mounted at /home";
    let member = "sda2 is a member of a mounted btrfs";
    assert_eq!(uses(&tree, "8:0"), [mounted, member, held]);
    assert_eq!(uses(&tree, "8:1"), [held]);
    assert_eq!(uses(&tree, "8:2"), [mounted, member]);
    let disk = BlockDevice::numbered(&tree, "8:0".parse().unwrap()).unwrap();
    assert_eq!(disk.partitions().unwrap(), ["sda1", "sda2"]);
    assert_eq!(disk.is_read_only(), Ok(false));
}

#[test]
fn a_device_that_the_kernel_does_not_list_is_an_error_and_not_unused() {
    let (_folder, tree) = tree();
    assert!(BlockDevice::numbered(&tree, "9:9".parse().unwrap()).is_err());
    std::fs::remove_file(tree.path("proc/self/mountinfo")).unwrap();
    let disk = BlockDevice::numbered(&tree, "8:0".parse().unwrap()).unwrap();
    assert!(disk.uses().is_err());
}

fn write(folder: &tempfile::TempDir, path: &str, text: &str) {
    let path = folder.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Why nobody can tell whether the unused disk is used.
fn refusal(tree: &SystemTree) -> String {
    let disk = BlockDevice::numbered(tree, "8:32".parse().unwrap()).unwrap();
    disk.uses().unwrap_err().reason
}

#[test]
fn a_loop_device_of_which_nothing_is_known_may_have_any_device_as_its_file() {
    let (folder, tree) = tree();
    write(&folder, "sys/block/loop3/dev", "7:3\n");
    assert_eq!(uses(&tree, "8:32"), [""; 0], "it has no file");
    write(&folder, "sys/block/loop3/loop/backing_file", "/srv/image\n");
    let told = refusal(&tree);
    assert!(
        told.contains("loop3 writes to") && told.contains("dev/loop3 b 7 3`"),
        "{told}"
    );
    assert_eq!(
        uses(&tree, "8:1"),
        ["dm-0 is on top of sda1"],
        "a known use goes first"
    );
    write(&folder, "dev/loop3", "");
    let told = refusal(&tree);
    assert!(told.contains("dev/loop3 is another file"), "{told}");
}

#[test]
fn a_loop_device_that_cannot_be_opened_hinders_devices_that_it_may_be_over_and_loop_devices_alone() {
    let (folder, tree) = tree();
    for (path, text) in [
        ("dev", "7:3\n"),
        ("size", "128\n"),
        ("loop/backing_file", "/srv/image\n"),
        ("loop/offset", "0\n"),
        ("loop/sizelimit", "0\n"),
    ] {
        write(&folder, &format!("sys/block/loop3/{path}"), text);
    }
    assert_eq!(uses(&tree, "8:32"), [""; 0], "of another size");
    assert_eq!(uses(&tree, "8:33"), [""; 0]);

    for (sectors, device) in [("1000\n", "sdc"), ("600\n", "sdc1")] {
        write(&folder, "sys/block/loop3/size", sectors);
        let told = refusal(&tree);
        let parts = [&*format!("as large as {device};"), "run this as root on the host"];
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    }
    write(&folder, "sys/block/loop3/size", "128\n");
    for part in ["loop/offset", "loop/sizelimit"] {
        write(&folder, &format!("sys/block/loop3/{part}"), "65536\n");
        let told = refusal(&tree);
        assert!(told.contains("it shows a part of its file"), "{part}: {told}");
        write(&folder, &format!("sys/block/loop3/{part}"), "0\n");
    }

    // Another loop device may show the same file.
    let own = folder.path().join("sys/devices/loop3");
    std::fs::rename(folder.path().join("sys/block/loop3"), &own).unwrap();
    std::os::unix::fs::symlink(&own, folder.path().join("sys/block/loop3")).unwrap();
    std::os::unix::fs::symlink(&own, folder.path().join("sys/dev/block/7:3")).unwrap();
    let device = BlockDevice::numbered(&tree, "7:3".parse().unwrap()).unwrap();
    let told = device.uses().unwrap_err().reason;
    assert!(told.contains("the loop device loop3 writes to"), "{told}");
}
