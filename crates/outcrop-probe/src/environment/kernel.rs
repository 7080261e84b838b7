//! The kernel: release, what it was told at boot, and how it guards against CPU vulnerabilities.

use std::collections::BTreeMap;

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// The running kernel and the distribution around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// `Linux`.
    pub system: String,
    /// `6.18.44`.
    pub release: String,
    /// Build number, date and preemption model.
    pub version: String,
    /// `x86_64`.
    pub architecture: String,
    /// Pretty name of the distribution.
    pub distribution: Reading<String>,
    /// Boot options that change performance; all others are left out, since they may identify the machine.
    pub boot_options: Reading<Vec<String>>,
    /// State of each known CPU vulnerability.
    pub vulnerabilities: Reading<BTreeMap<String, String>>,
    /// `kernel.io_uring_disabled`: 0 allows io_uring to all, 1 to a group, 2 to nobody.
    pub io_uring_disabled: Reading<u64>,
}

/// Boot options that change what is measured here, by the part before `=` or `.`.
const BOOT_OPTIONS: [&str; 33] = [
    "mitigations",
    "spectre_v2",
    "spec_store_bypass_disable",
    "pti",
    "nopti",
    "nosmt",
    "retbleed",
    "l1tf",
    "mds",
    "tsx",
    "isolcpus",
    "nohz_full",
    "nohz",
    "rcu_nocbs",
    "preempt",
    "threadirqs",
    "maxcpus",
    "intel_pstate",
    "amd_pstate",
    "intel_idle",
    "processor",
    "idle",
    "cpuidle_haltpoll",
    "clocksource",
    "tsc",
    "transparent_hugepage",
    "hugepages",
    "iommu",
    "intel_iommu",
    "amd_iommu",
    "nvme",
    "scsi_mod",
    "psi",
];

impl Kernel {
    pub(super) fn read(tree: &SystemTree) -> Self {
        let name = rustix::system::uname();
        Self {
            system: name.sysname().to_string_lossy().into_owned(),
            release: name.release().to_string_lossy().into_owned(),
            version: name.version().to_string_lossy().into_owned(),
            architecture: name.machine().to_string_lossy().into_owned(),
            distribution: tree
                .text("etc/os-release")
                .and_then(|text| pretty_name(&text))
                .into(),
            boot_options: tree
                .text("proc/cmdline")
                .map(|line| performance_options(&line))
                .into(),
            vulnerabilities: vulnerabilities(tree).into(),
            io_uring_disabled: tree.number("proc/sys/kernel/io_uring_disabled").into(),
        }
    }
}

fn pretty_name(os_release: &str) -> Result<String, Unavailable> {
    os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map(|name| name.trim_matches('"').to_owned())
        .ok_or_else(|| Unavailable::because("/etc/os-release has no PRETTY_NAME"))
}

fn performance_options(command_line: &str) -> Vec<String> {
    let is_listed = |option: &&str| {
        let name = option.split(['=', '.']).next().unwrap_or_default();
        BOOT_OPTIONS.contains(&name)
    };
    // What follows ` -- ` is for the first program and not for the kernel.
    let for_kernel = command_line.split(" -- ").next().unwrap_or_default();
    for_kernel
        .split_ascii_whitespace()
        .filter(is_listed)
        .map(ToOwned::to_owned)
        .collect()
}

fn vulnerabilities(tree: &SystemTree) -> Result<BTreeMap<String, String>, Unavailable> {
    const DIRECTORY: &str = "sys/devices/system/cpu/vulnerabilities";
    let names = tree.names(DIRECTORY)?;
    let state = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        let state = tree.text(format!("{DIRECTORY}/{name}"))?;
        Ok((name.into_owned(), state))
    };
    names.iter().map(|name| state(name)).collect()
}
