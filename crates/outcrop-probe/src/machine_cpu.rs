//! CPU time of the whole machine, by the kernel's ticks.

use outcrop_measure::metric::Unavailable;

use crate::system_tree::SystemTree;

/// The time of all CPUs of the machine since boot, busy or not.
///
/// *Source*: proc_stat(5), the line `cpu`. Counted in ticks of 10 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineCpu {
    /// In user mode, in the kernel, and in interrupts.
    pub busy_ns: u64,
    /// The part of it that is in interrupts.
    pub interrupts_ns: u64,
    /// Without anything to do, or waiting for I/O.
    pub idle_ns: u64,
    /// Taken by the hypervisor.
    pub stolen_ns: u64,
}

/// The unit of /proc/stat and of every process's `stat`: a hundredth of a second, whatever the kernel's own tick.
pub(crate) const NANOSECONDS_PER_TICK: u64 = 10_000_000;

impl MachineCpu {
    /// Reads it now.
    ///
    /// # Errors
    /// /proc/stat is not readable or is malformed.
    pub fn now() -> Result<Self, Unavailable> {
        Self::of(&SystemTree::live())
    }

    /// Share of the time since `earlier` in which CPUs were busy. What a hypervisor took is in neither part.
    ///
    /// # Errors
    /// No tick has passed.
    pub fn busy_share_since(&self, earlier: &Self) -> Result<f64, Unavailable> {
        let busy_ns = self.busy_ns.saturating_sub(earlier.busy_ns);
        let all_ns = busy_ns + self.idle_ns.saturating_sub(earlier.idle_ns);
        match all_ns {
            0 => Err(Unavailable::because(
                "/proc/stat counts in ticks of 10 ms, and none has passed",
            )),
            all_ns => Ok(busy_ns as f64 / all_ns as f64),
        }
    }

    pub(crate) fn of(tree: &SystemTree) -> Result<Self, Unavailable> {
        let text = tree.text("proc/stat")?;
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<u64> = line
            .split_ascii_whitespace()
            .skip(1)
            .map_while(|field| field.parse().ok())
            .collect();
        // Guests are in user.
        match ticks[..] {
            [user, nice, system, idle, iowait, irq, softirq, steal, ..] => Ok(Self {
                busy_ns: (user + nice + system + irq + softirq).saturating_mul(NANOSECONDS_PER_TICK),
                interrupts_ns: (irq + softirq).saturating_mul(NANOSECONDS_PER_TICK),
                idle_ns: (idle + iowait).saturating_mul(NANOSECONDS_PER_TICK),
                stolen_ns: steal.saturating_mul(NANOSECONDS_PER_TICK),
            }),
            _ => Err(Unavailable::because(format!("/proc/stat begins with `{line}`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_machine_is_busy_for_the_share_of_its_ticks_that_are_not_idle() {
        let folder = tempfile::tempdir().unwrap();
        let tree = SystemTree::at(folder.path());
        fs::create_dir_all(tree.path("proc")).unwrap();
        let at = |line: &str| {
            fs::write(tree.path("proc/stat"), format!("{line}\ncpu0 1 2 3\n")).unwrap();
            MachineCpu::of(&tree)
        };
        let before = at("cpu  100 1 50 1000 20 3 4 70 0 0").unwrap();
        // Of 80 ticks, 20 are busy, of every kind; what a hypervisor took counts for nothing.
        let after = at("cpu  110 2 55 1055 25 5 6 90 0 0").unwrap();
        assert_eq!(after.busy_share_since(&before), Ok(0.25));
        assert!(after.busy_share_since(&after).is_err());
        assert!(at("intr 5").is_err());
        assert!(MachineCpu::now().unwrap().busy_ns > 0);
    }
}
