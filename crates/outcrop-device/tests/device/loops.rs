//! Loop devices that are given to be overwritten: what lies below them, or on top of them, is not lost.

use std::path::{Path, PathBuf};

use crate::destroyed::{Detach, Undo, name_of, opened, refusal, refused, text};
use crate::stage::{LoopDevice, folder, must};

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
    let _mounted = Undo("umount", place.path());
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
