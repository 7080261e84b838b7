//! What stands for the device: a file of our own, something that is only read, or a device that its owner gives away.

use crate::factor::{Factor, Role};
use crate::parse::{any, spelled};
use outcrop_workload::words;

words! {
    /// What stands for the device.
    pub enum Kind: "kind" {
        /// A file of our own, made for the run and removed after it.
        ScratchFile = "scratch-file",
        /// A file or block device that is only ever read.
        ReadOnly = "read-only",
        /// A block device that is overwritten.
        Destroyed = "destroyed-device",
    }
}

crate::value::ordered!(Kind);

/// What stands for the device.
pub static KIND: Factor<Kind> = Factor::new(
    "kind",
    "What is measured: a scratch file, an existing file or device, or a device that is overwritten",
    spelled,
)
.default("scratch-file")
.accepts(
    "`\"scratch-file\"` (Outcrop's own file in the directory of the run, removed afterwards), `\"read-only\"` (what is at \
     `path`; never written), `\"destroyed-device\"` (the block device at `path`, which is overwritten; needs `destroy`)",
)
.role(Role::Data);
/// The name by which the owner of a device agrees that it is overwritten.
pub static DESTROY: Factor<String> = Factor::new(
    "destroy",
    "Serial number or other name of the device at `path`, all of whose data are overwritten",
    any,
)
.accepts("destroyed devices: their serial number, or their name in /dev/disk/by-id; for a loop device the path of its file; with `also` all names, in order, separated by `:`")
.role(Role::Data);
