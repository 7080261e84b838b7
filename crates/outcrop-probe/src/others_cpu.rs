//! The share of the machine's CPUs that others used while something was measured.

use outcrop_measure::metric::Unavailable;

use crate::cpu_time::{children_time_ns, process_time_ns};
use crate::machine_cpu::MachineCpu;

/// CPU time of the machine, and of this process with its children, at one moment.
#[derive(Clone, Debug)]
pub struct OthersCpu {
    machine: Result<MachineCpu, Unavailable>,
    own_ns: u64,
}

/// The kernel counts in ticks of 10 ms: a shorter time is too coarse for a share.
const LEAST_NS: u64 = 200_000_000;

impl OthersCpu {
    /// Others that use more of the CPUs than this share disturb what is measured.
    pub const MATTER: f64 = 0.1;

    /// Reads the time used so far. *Cost*: one small file and two system calls.
    pub fn now() -> Self {
        let (user_ns, system_ns) = process_time_ns();
        Self {
            machine: MachineCpu::now(),
            own_ns: user_ns + system_ns + children_time_ns(),
        }
    }

    /// The share of all CPUs, from 0 to 1, that was busy since `earlier` and neither with this process or children of it that ended, nor
    /// with interrupts, most of which complete the requests that are measured. Threads of the kernel and time that a hypervisor took count
    /// as others'. None where the kernel does not say, or the time is too short.
    ///
    /// *Source*: proc_stat(5), the line `cpu`.
    pub fn share_since(&self, earlier: &Self) -> Option<f64> {
        self.share_beside_server(earlier, 0)
    }

    /// The same while a server was measured that is a process of its own and used so much CPU time, which is not others' either.
    pub fn share_beside_server(&self, earlier: &Self, server_ns: u64) -> Option<f64> {
        let (now, before) = (self.machine.as_ref().ok()?, earlier.machine.as_ref().ok()?);
        let busy = |cpu: &MachineCpu| cpu.busy_ns + cpu.stolen_ns;
        let busy_ns = busy(now).saturating_sub(busy(before));
        let all_ns = (busy(now) + now.idle_ns).saturating_sub(busy(before) + before.idle_ns);
        let own_ns = self.own_ns.saturating_sub(earlier.own_ns);
        let interrupts_ns = now.interrupts_ns.saturating_sub(before.interrupts_ns);
        let others_ns = busy_ns as f64 - own_ns as f64 - (interrupts_ns + server_ns) as f64;
        (all_ns >= LEAST_NS).then(|| (others_ns / all_ns as f64).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::system_tree::SystemTree;

    fn at(stat: &str, own_ns: u64) -> OthersCpu {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("proc")).unwrap();
        fs::write(folder.path().join("proc/stat"), stat).unwrap();
        let machine = MachineCpu::of(&SystemTree::at(folder.path()));
        OthersCpu { machine, own_ns }
    }

    #[test]
    fn the_share_of_others_is_what_was_busy_and_not_ours() {
        let before = at("cpu 100 0 50 1000 10 0 0 5 0 0\n", 0);
        // 200 ticks later: 60 user, 20 system, 20 stolen, 100 idle; 50 of the busy ones are ours.
        let after = at("cpu 160 0 70 1090 20 0 0 25 0 0\n", 500_000_000);
        let share = after.share_since(&before).unwrap();
        assert!((share - 0.25).abs() < 1e-9, "{share}");
        // More of ours than the ticks show, which are coarse, is no negative share.
        let ours = at("cpu 160 0 70 1090 20 0 0 25 0 0\n", 5_000_000_000);
        assert_eq!(ours.share_since(&before), Some(0.0));
    }

    #[test]
    fn a_server_that_is_measured_and_the_interrupts_of_its_requests_are_no_others() {
        let before = at("cpu 100 0 50 1000 10 0 0 5 0 0\n", 0);
        // 200 ticks later: 60 user, 20 system, 20 in interrupts, 100 idle; 30 of the busy ones are ours, and 40 the server's.
        let after = at("cpu 160 0 70 1090 20 0 20 5 0 0\n", 300_000_000);
        let share = after.share_beside_server(&before, 400_000_000).unwrap();
        assert!((share - 0.05).abs() < 1e-9, "{share}");
        let share = after.share_since(&before).unwrap();
        assert!((share - 0.25).abs() < 1e-9, "{share}");
    }

    #[test]
    fn a_time_too_short_or_a_kernel_that_does_not_say_gives_no_share() {
        let before = at("cpu 100 0 50 1000 10 0 0 5 0 0\n", 0);
        assert_eq!(
            at("cpu 101 0 50 1005 10 0 0 5 0 0\n", 0).share_since(&before),
            None
        );
        assert_eq!(at("cpu 1 2\n", 0).share_since(&before), None);
    }

    #[test]
    fn work_of_a_child_that_ended_is_ours() {
        let before = OthersCpu::now();
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let ended = std::process::Command::new("sh").args(["-c", work]).status();
        assert!(ended.unwrap().success());
        assert!(OthersCpu::now().own_ns > before.own_ns);
    }
}
