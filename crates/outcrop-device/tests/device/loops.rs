//! Loop devices that are given to be overwritten: what lies below them, or on top of them, is not lost.

use std::path::{Path, PathBuf};

use outcrop_device::WritableDevice;

use crate::destroyed::{Detach, UNMOUNT, Undo, name_of, node_in, opened, refusal, refused, text, until_free};
use crate::stage::{Disk, LoopDevice, folder, must};

/// One more loop device over a file.
fn further(file: &Path, options: &[&str]) -> PathBuf {
    let arguments = [&["--find", "--show"], options, &[text(file)]].concat();
    PathBuf::from(must("losetup", &arguments))
}

#[test]
fn data_below_a_loop_device_are_not_overwritten_through_it() {
    let device = LoopDevice::new(64 << 20);
    must("mkfs.ext4", &["-q", "-F", text(&device.node)]);
    let place = folder();
    must("mount", &["-t", "ext4", text(&device.node), text(place.path())]);
    let _mounted = Undo(UNMOUNT, place.path());
    let link = device.image.with_file_name("hard-link");
    std::fs::hard_link(&device.image, &link).unwrap();

    // Behind the filesystem's signature, which would be found at the start.
    let behind: &[&str] = &["--offset", "33554432"];
    for (file, part) in [
        (&device.node, "writes to the device /dev/loop"),
        (&device.image, "from byte 33554432 on"),
        (&link, "from byte 33554432 on"),
    ] {
        let node = further(file, behind);
        let _attached = Detach(&node);
        let message = refusal(&node, text(file));
        assert!(
            message.contains("is not overwritten") && message.contains(part),
            "{message}"
        );
    }
}

#[test]
fn a_loop_device_whose_file_another_one_shows_too_is_refused() {
    let device = LoopDevice::new(16 << 20);
    let link = device.image.with_file_name("hard-link");
    std::fs::hard_link(&device.image, &link).unwrap();
    let node = further(&link, &[]);
    let attached = Detach(&node);
    refused(&device.node, &device, " both write to ");
    let message = refusal(&node, text(&link));
    assert!(message.contains(" both write to "), "{message}");
    drop(attached);
    opened(&device);
}

#[test]
fn a_loop_device_over_the_same_file_is_found_where_its_path_no_longer_leads_there() {
    let device = LoopDevice::new(16 << 20);
    let link = device.image.with_file_name("hard-link");
    std::fs::hard_link(&device.image, &link).unwrap();
    let node = further(&link, &["--offset", "8388608"]);
    let attached = Detach(&node);
    std::fs::remove_file(&link).unwrap();
    refused(&device.node, &device, " both write to ");
    // A file of the same name is another one.
    std::fs::write(&link, [0; 4096]).unwrap();
    refused(&device.node, &device, " both write to ");
    drop(attached);
    opened(&device);
}

#[test]
fn a_loop_device_over_the_same_file_is_found_where_it_was_attached_in_another_mount_namespace() {
    let device = LoopDevice::new(16 << 20);
    let place = folder();
    let script = "mount --bind \"$1\" \"$2\" && losetup --find --show \"$2/image\"";
    let elsewhere = [text(device.image.parent().unwrap()), text(place.path())];
    let arguments = [&["--mount", "sh", "-c", script, "sh"][..], &elsewhere].concat();
    let node = PathBuf::from(must("unshare", &arguments));
    let attached = Detach(&node);
    assert!(!place.path().join("image").exists());
    refused(&device.node, &device, " both write to ");
    drop(attached);
    opened(&device);
}

#[test]
fn a_device_below_a_loop_device_is_found_where_the_node_that_it_was_attached_by_is_gone() {
    let below = LoopDevice::new(8 << 20);
    let names = folder();
    let node = node_in(names.path(), &below);
    let above = further(&node, &[]);
    let attached = Detach(&above);
    std::fs::remove_file(&node).unwrap();
    refused(&below.node, &below, "is on top of loop");
    drop(attached);
    opened(&below);
}

#[test]
fn a_loop_device_over_a_device_is_refused_where_a_file_stands_in_the_place_of_its_node() {
    let below = LoopDevice::new(8 << 20);
    let names = folder();
    let node = node_in(names.path(), &below);
    let above = further(&node, &[]);
    let _attached = Detach(&above);
    must("mount", &["-t", "tmpfs", "tmpfs", text(names.path())]);
    let _hidden = Undo(UNMOUNT, names.path());
    std::fs::File::create(&node).unwrap().set_len(8 << 20).unwrap();
    let message = refusal(&above, text(&node));
    let told = format!("writes to the device {}, ", below.node.display());
    assert!(message.contains(&told), "{message}");
}

#[test]
fn a_file_of_an_overlay_may_be_that_of_another_loop_device_where_the_overlay_shows_files_of_its_filesystem() {
    let disk = Disk::formatted("ext4", 64 << 20);
    let in_disk = |name: &str| disk.mount_point.join(name);
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(in_disk);
    for folder in [&lower, &upper, &work, &merged] {
        std::fs::create_dir(folder).unwrap();
    }
    let (under, shown) = (upper.join("o.img"), merged.join("o.img"));
    std::fs::File::create(&under).unwrap().set_len(8 << 20).unwrap();
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        text(&lower),
        text(&upper),
        text(&work)
    );
    must(
        "mount",
        &["-t", "overlay", "-o", &options, "overlay", text(&merged)],
    );
    let _mounted = Undo(UNMOUNT, &merged);
    let through = further(&shown, &[]);
    let _through = Detach(&through);
    // The loop device of the disk that the overlay is on has its file on another filesystem, and so has every other.
    drop(WritableDevice::open(&through, text(&shown)).unwrap());

    let direct = further(&under, &["--offset", "4194304"]);
    let attached = Detach(&direct);
    let message = refusal(&through, text(&shown));
    let other = format!(
        "may write to the file of {}",
        direct.file_name().unwrap().display()
    );
    for part in [
        &*other,
        "is on an overlay",
        "move it to a filesystem",
        "or run `losetup --detach /dev/loop",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    opened(&LoopDevice::new(8 << 20));
    drop(attached);

    // What is mounted is not to be detached.
    let direct = further(&under, &[]);
    must("mkfs.ext4", &["-q", "-F", text(&direct)]);
    let place = folder();
    must("mount", &["-t", "ext4", text(&direct), text(place.path())]);
    let mounted = Undo(UNMOUNT, place.path());
    let message = refusal(&through, text(&shown));
    let told = format!("end the use of {}", direct.file_name().unwrap().display());
    assert!(
        message.contains(&told) && message.contains(" is mounted at "),
        "{message}"
    );
    drop(mounted);
    until_free(&direct);
    must("wipefs", &["--quiet", "--all", text(&direct)]);
    drop(Detach(&direct));

    let direct = further(&under, &[]);
    let _attached = Detach(&direct);
    let message = refusal(&direct, text(&under));
    assert!(
        message.contains("may write to the file of loop") && !message.contains("move it"),
        "{message}"
    );
}

#[test]
fn a_loop_device_that_hides_the_end_of_its_file_is_refused_and_told_how_it_shows_all() {
    let device = LoopDevice::new(8 << 20);
    let image = std::fs::File::options().write(true).open(&device.image).unwrap();
    let place = folder();
    let limited = place.path().join("image");
    std::fs::File::create(&limited).unwrap().set_len(8 << 20).unwrap();
    let node = further(&limited, &["--sizelimit", "4194304"]);
    let attached = Detach(&node);
    let message = refusal(&node, text(&limited));
    let told = "4194304 bytes of ";
    assert!(
        message.contains(told) && message.contains("without --sizelimit"),
        "{message}"
    );
    drop(attached);

    // Less than a sector more is nothing that the device could show.
    image.set_len((8 << 20) + 511).unwrap();
    opened(&device);
    image.set_len(9 << 20).unwrap();
    refused(&device.node, &device, "`losetup --set-capacity /dev/loop");
    must("losetup", &["--set-capacity", text(&device.node)]);
    opened(&device);
}

#[test]
fn a_loop_device_whose_file_has_become_shorter_is_refused_as_one_that_has_failed() {
    let device = LoopDevice::new(8 << 20);
    let image = std::fs::File::options().write(true).open(&device.image).unwrap();
    for bytes in [(8 << 20) - 512, 7 << 20, 0] {
        image.set_len(bytes).unwrap();
        let message = refusal(&device.node, &name_of(&device));
        assert!(
            message.contains("so the device's end cannot be read (Input/output error")
                && !message.contains("--set-capacity"),
            "{bytes}: {message}"
        );
    }
    image.set_len(8 << 20).unwrap();
    opened(&device);
}

#[test]
fn a_loop_device_whose_file_is_gone_is_refused_since_nobody_can_tell_who_uses_it() {
    let device = LoopDevice::new(16 << 20);
    let name = name_of(&device);
    std::fs::remove_file(&device.image).unwrap();
    let message = refusal(&device.node, &name);
    assert!(message.contains("does not say whether it is in use"), "{message}");
}

#[test]
fn a_device_below_a_loop_device_is_refused_although_the_kernel_would_let_it_be_taken() {
    let below = LoopDevice::new(8 << 20);
    let above = PathBuf::from(must("losetup", &["--find", "--show", text(&below.node)]));
    let detach = Detach(&above);
    refused(&below.node, &below, "is on top of loop");
    drop(detach);
}
