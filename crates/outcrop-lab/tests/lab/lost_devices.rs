//! Devices that change their size in the middle of a run, as the kernel has it: one that is removed has the size 0.

use std::process::Command;

use outcrop_lab::resume;

use super::destroyed_devices::{LoopDevice, message_of_loss};
use super::scene::{assert_complete, directory, plan_set, run_to_the_end, start};

impl LoopDevice {
    /// Gives file and device another size; the device's file alone would not change what the kernel takes the device for.
    fn set_capacity(&self, size_bytes: u64) {
        self.resize(size_bytes);
        let told = Command::new("losetup")
            .args(["--set-capacity", &self.node])
            .status();
        assert!(told.unwrap().success());
    }

    /// A plan that only reads it.
    fn reading(&self, factors: &str) -> String {
        let plan = self.plan("", factors);
        plan.replace("destroyed-device", "read-only")
    }
}

/// Runs a plan on a device of 4 MiB that has another size after three trials; gives the message. Then the device has its size again, and
/// the run is resumed and complete.
#[track_caller]
fn message_of_resize(device: &LoopDevice, plan: &str, size_bytes: u64) -> String {
    let (runs, data) = (directory(), directory());
    let set = plan_set(plan, data.path());
    let mut folder = start(&set, runs.path());
    let dir = folder.dir().to_owned();
    let message = message_of_loss(&set, &mut folder, device, || device.set_capacity(size_bytes));
    drop(folder);
    device.set_capacity(4 << 20);
    let mut resumed = resume(&dir).unwrap();
    let outcome = run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
    assert_eq!(outcome.finished, 6);
    assert_complete(&set, &resumed.folder);
    message
}

#[test]
fn a_device_whose_size_the_kernel_sets_to_zero_while_it_is_read_was_removed() {
    let device = LoopDevice::new(4 << 20);
    let message = message_of_resize(&device, &device.reading("queue_depth = [1, 4, 8]"), 0);
    for part in [
        "was removed or has failed (see `dmesg`): its size is now 0",
        "short read",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_device_whose_size_the_kernel_sets_to_zero_while_it_is_written_was_removed_and_is_not_full() {
    let device = LoopDevice::new(4 << 20);
    let factors = "read_write_mix = [\"0:100\"]\nqueue_depth = [1, 4, 8]";
    let message = message_of_resize(&device, &device.plan(&device.named(), factors), 0);
    for part in [
        "was removed or has failed (see `dmesg`): its size is now 0",
        "No space left on device",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!message.contains("free some space"), "{message}");
}

#[test]
fn a_device_that_shrinks_while_it_is_measured_is_said_to_be_smaller_and_not_removed() {
    let device = LoopDevice::new(4 << 20);
    let factors = "read_write_mix = [\"0:100\"]\nqueue_depth = [1, 4, 8]";
    let plans = [
        device.reading("queue_depth = [1, 4, 8]"),
        device.plan(&device.named(), factors),
    ];
    for plan in plans {
        let message = message_of_resize(&device, &plan, 1 << 20);
        let said = "became smaller during the run: it has 1 MiB now, and requests go to its first 2 MiB";
        assert!(message.contains(said), "{message}");
        for wrong in ["removed", "free some space"] {
            assert!(!message.contains(wrong), "{message}");
        }
    }
}
