//! The fingerprint of the machine that a run was made on.
//!
//! Every field that cannot be read stays in its place as `{"unavailable": "reason"}`. Nothing in it identifies
//! a machine or a person: no serial numbers, host names or addresses, and of the kernel's command line only the
//! options that change performance.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::system_tree::SystemTree;

mod cpu;
mod description;
mod kernel;
mod limits;
mod load;
mod memory;
mod storage;
#[cfg(test)]
mod tests;
mod virtualisation;
mod warnings;

pub use cpu::{Cache, Cpu};
pub use kernel::Kernel;
pub(crate) use limits::group_memory_bytes;
pub use limits::{ControlGroup, Limit, Limits, Unlimited};
pub use load::{Load, Pressure};
pub use memory::Memory;
pub use storage::{Device, Storage};
pub use virtualisation::Virtualisation;

/// The machine and the storage at one path, as they were at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// When this was read, in UTC (RFC 3339).
    pub read_at: String,
    /// The version of Outcrop that read it.
    pub outcrop_version: String,
    /// Processor.
    pub cpu: Cpu,
    /// Kernel and distribution.
    pub kernel: Kernel,
    /// Main memory.
    pub memory: Memory,
    /// What this system runs in.
    pub virtualisation: Virtualisation,
    /// What else the machine was doing.
    pub load: Load,
    /// What this process may use.
    pub limits: Limits,
    /// Filesystem and block device at the path.
    pub storage: Storage,
}

impl Environment {
    /// Reads the running machine, and the storage that holds `path`.
    ///
    /// *Cost*: some hundred small files, a few milliseconds.
    pub fn read(path: &Path) -> Self {
        Self::read_in(&SystemTree::live(), path)
    }

    fn read_in(tree: &SystemTree, path: &Path) -> Self {
        Self {
            read_at: clock::utc_timestamp(),
            outcrop_version: env!("CARGO_PKG_VERSION").to_owned(),
            cpu: Cpu::read(tree),
            kernel: Kernel::read(tree),
            memory: Memory::read(tree),
            virtualisation: Virtualisation::read(tree),
            load: Load::read(tree),
            limits: Limits::read(tree),
            storage: Storage::read(tree, path),
        }
    }
}
