//! How much memory this process holds.

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use crate::environment::group_memory_bytes;
use crate::system_tree::SystemTree;

/// Resident memory of a process, now and at its highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMemory {
    /// Resident set (`VmRSS`).
    pub resident_bytes: u64,
    /// Its highest value since the process started (`VmHWM`).
    pub peak_resident_bytes: u64,
}

impl ProcessMemory {
    /// Reads `/proc/self/status`.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub fn now() -> Result<Self, Unavailable> {
        Self::of_process(&SystemTree::live(), "self")
    }

    /// Of a process by its name in /proc.
    pub(crate) fn of_process(tree: &SystemTree, name: &str) -> Result<Self, Unavailable> {
        let status = tree.text(format!("proc/{name}/status"))?;
        Ok(Self {
            resident_bytes: kibibyte_line(&status, "VmRSS")?,
            peak_resident_bytes: kibibyte_line(&status, "VmHWM")?,
        })
    }
}

/// Private memory that this process has asked for, touched or not (`VmData`): what `RLIMIT_DATA` limits.
///
/// # Errors
/// /proc is not mounted.
pub fn private_bytes() -> Result<u64, Unavailable> {
    kibibyte_line(&SystemTree::live().text("proc/self/status")?, "VmData")
}

/// What programs could get without swapping.
///
/// # Errors
/// /proc is not mounted.
pub fn available_bytes() -> Result<u64, Unavailable> {
    kibibyte_line(&SystemTree::live().text("proc/meminfo")?, "MemAvailable")
}

/// All the main memory that the kernel manages (`MemTotal`).
///
/// # Errors
/// /proc is not mounted.
pub fn total_memory_bytes() -> Result<u64, Unavailable> {
    kibibyte_line(&SystemTree::live().text("proc/meminfo")?, "MemTotal")
}

/// The most memory that this process can have: all of the machine's, or what its control group allows.
///
/// # Errors
/// /proc is not mounted.
pub fn allowed_bytes() -> Result<u64, Unavailable> {
    let group = group_memory_bytes(&SystemTree::live()).unwrap_or(u64::MAX);
    Ok(total_memory_bytes()?.min(group))
}

/// The bytes of a line such as `VmRSS:     1234 kB`, as in `/proc/self/status` and `/proc/meminfo`.
pub(crate) fn kibibyte_line(text: &str, name: &str) -> Result<u64, Unavailable> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .and_then(|(_, value)| value.trim().strip_suffix("kB"))
        .and_then(|kibibytes| kibibytes.trim().parse::<u64>().ok())
        .and_then(|kibibytes| kibibytes.checked_mul(1024))
        .ok_or_else(|| Unavailable::because(format!("the kernel does not report {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_grows_by_what_is_touched() {
        let before = ProcessMemory::now().unwrap();
        let touched = vec![1_u8; 64 << 20];
        let after = ProcessMemory::now().unwrap();
        assert!(touched.iter().all(|&byte| byte == 1));
        assert!(
            after.peak_resident_bytes >= before.resident_bytes + (60 << 20),
            "{before:?} {after:?}"
        );
        assert!(after.peak_resident_bytes >= after.resident_bytes);
    }

    #[test]
    fn lines_in_another_form_are_unavailable() {
        assert_eq!(kibibyte_line("VmRSS:\t  12 kB\n", "VmRSS"), Ok(12 * 1024));
        for text in [
            "",
            "VmRSS: 12 MB",
            "VmRSS: -1 kB",
            "VmRSS: 99999999999999999999 kB",
            "VmRSS: 18446744073709551615 kB",
        ] {
            assert!(kibibyte_line(text, "VmRSS").is_err(), "{text}");
        }
    }
}
