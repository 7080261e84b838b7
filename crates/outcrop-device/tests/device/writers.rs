//! Processes that have a device open while it is given to be overwritten.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, Stdio};

use crate::destroyed::{node_in, opened, refused, text};
use crate::stage::{LoopDevice, folder};

/// A process that has done what `script` says and waits until it is told to end.
struct Holder(Child);

impl Holder {
    fn of(program: &[&str], script: &str, arguments: &[&str]) -> Self {
        let script = format!("{script}; echo ready; exec cat >/dev/null");
        let words = [program, &["sh", "-ec", &script, "sh"], arguments].concat();
        let mut process = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Its first word says that it has the device.
        let mut ready = [0; 5];
        process.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        Self(process)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn a_device_that_another_process_has_open_for_writing_is_refused_with_the_process_and_one_that_it_reads_is_not()
 {
    let device = LoopDevice::new(8 << 20);
    let writer = Holder::of(&[], "exec 3<>\"$1\"", &[text(&device.node)]);
    refused(&device.node, &device, &format!("process {} (", writer.0.id()));
    drop(writer);
    let reader = Holder::of(&[], "exec 3<\"$1\"", &[text(&device.node)]);
    opened(&device);
    drop(reader);
}

#[test]
fn a_process_that_writes_to_the_device_through_a_node_outside_of_dev_is_found() {
    let device = LoopDevice::new(8 << 20);
    let names = folder();
    let node = node_in(names.path(), &device);
    let is_refused = |writer: &Holder| {
        refused(&device.node, &device, &format!("process {} (", writer.0.id()));
    };
    is_refused(&Holder::of(&[], "exec 3<>\"$1\"", &[text(&node)]));

    // As in a folder to change the root to, whose mounts we do not see.
    let root = folder();
    let bound = "mount --bind /dev \"$1\"; exec 3<>\"$1/${2##*/}\"";
    let arguments = [text(root.path()), text(&device.node)];
    is_refused(&Holder::of(&["unshare", "--mount"], bound, &arguments));

    let numbers = std::fs::metadata(&device.node).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(numbers), rustix::fs::minor(numbers));
    let in_memory =
        format!("mount -t tmpfs tmpfs \"$1\"; mknod \"$1/disk\" b {major} {minor}; exec 3<>\"$1/disk\"");
    is_refused(&Holder::of(&["unshare", "--mount"], &in_memory, &arguments));
    opened(&device);
}
