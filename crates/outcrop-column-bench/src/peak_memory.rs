//! How much the process grows while it does something.
#![expect(
    unsafe_code,
    reason = "returning free memory to the system, so that growth can be seen, is a C function without a safe binding"
)]

use outcrop_measure::metric::Unavailable;
use outcrop_probe::memory::ProcessMemory;

/// Highest resident memory during `work` over what was resident before it, and what `work` gave.
///
/// The kernel's high-water mark is set back first (`/proc/self/clear_refs`, value 5), and what the allocator
/// kept of earlier work is handed back, as it would be used again unseen.
///
/// *Source*: proc(5); malloc_trim(3).
pub(crate) fn growth_during<T>(work: impl FnOnce() -> T) -> (Result<u64, Unavailable>, T) {
    return_free_memory();
    let reset = std::fs::write("/proc/self/clear_refs", "5").map_err(|error| {
        Unavailable::because(format!("the memory high-water mark cannot be reset: {error}"))
    });
    let before = reset.and_then(|()| ProcessMemory::now());
    let given = work();
    let growth = before.and_then(|before| {
        let after = ProcessMemory::now()?;
        Ok(after.peak_resident_bytes.saturating_sub(before.resident_bytes))
    });
    (growth, given)
}

#[cfg(target_env = "gnu")]
fn return_free_memory() {
    // SAFETY: takes no pointer; the allocator locks its own arenas.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators return large blocks by themselves, or not at all: then the growth is an under-estimate of
/// a process that encoded before.
#[cfg(not(target_env = "gnu"))]
fn return_free_memory() {}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::growth_during;

    /// Set in the process that measures: other tests of one process would allocate meanwhile.
    const ALONE: &str = "OUTCROP_TEST_PEAK_MEMORY_ALONE";

    #[test]
    fn growth_is_that_of_the_work_even_after_larger_work() {
        if std::env::var_os(ALONE).is_some() {
            return measured_alone();
        }
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "peak_memory::tests::growth_is_that_of_the_work_even_after_larger_work",
            ])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    fn measured_alone() {
        let large = vec![1_u8; 96 << 20];
        assert_eq!(large.iter().map(|&byte| u64::from(byte)).sum::<u64>(), 96 << 20);
        drop(large);
        let (growth, sum) = growth_during(|| {
            let touched = vec![1_u8; 24 << 20];
            touched.iter().map(|&byte| u64::from(byte)).sum::<u64>()
        });
        assert_eq!(sum, 24 << 20);
        let growth = growth.unwrap();
        assert!((20 << 20..32 << 20).contains(&growth), "{growth}");
    }
}
