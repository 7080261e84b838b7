//! CPU time of this process, including the kernel's io_uring workers that serve it.

#![expect(unsafe_code, reason = "getrusage has no safe binding among our dependencies")]

use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// CPU time used since the process started; take two and subtract them with [`CpuTime::since`].
#[derive(Clone, Debug)]
pub struct CpuTime {
    user_ns: u64,
    system_ns: u64,
    io_workers_ns: Result<BTreeMap<u64, u64>, Unavailable>,
}

/// CPU time used between two readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUsage {
    /// In user mode, all threads.
    pub user_ns: u64,
    /// In the kernel, all threads, io_uring workers included.
    pub system_ns: u64,
    /// The part of `system_ns` spent by io_uring workers (`iou-wrk-*`, and `iou-sqp-*` pollers) that were alive
    /// at the end. A worker that exited in between is in `system_ns` only, so this is a lower bound; more
    /// than a trace of it means that the kernel punts I/O to threads.
    pub io_workers_ns: Reading<u64>,
}

impl CpuUsage {
    /// User and system time together.
    pub const fn total_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// User and system time of this process so far, in nanoseconds. *Cost*: one system call.
pub fn process_time_ns() -> (u64, u64) {
    let usage = resource_usage(libc::RUSAGE_SELF);
    (nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime))
}

/// User and system time of the children that ended and were waited for, in nanoseconds. *Cost*: one system call.
pub(crate) fn children_time_ns() -> u64 {
    let usage = resource_usage(libc::RUSAGE_CHILDREN);
    nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
}

impl CpuTime {
    /// Reads the time used so far. *Cost*: one system call and a few small files for each thread: for the
    /// edges of a trial, not for its loop.
    pub fn now() -> Self {
        let usage = resource_usage(libc::RUSAGE_SELF);
        Self {
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            io_workers_ns: io_workers(&SystemTree::live()),
        }
    }

    /// What was used since `earlier`.
    pub fn since(&self, earlier: &Self) -> CpuUsage {
        let io_workers_ns = match (&self.io_workers_ns, &earlier.io_workers_ns) {
            (Ok(now), Ok(before)) => Reading::Known(
                now.iter()
                    .map(|(thread, &used_ns)| {
                        used_ns.saturating_sub(before.get(thread).copied().unwrap_or(0))
                    })
                    .sum(),
            ),
            (Err(why), _) | (_, Err(why)) => Reading::Unavailable(why.clone()),
        };
        CpuUsage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            io_workers_ns,
        }
    }
}

/// CPU time of the calling thread since it started, in nanoseconds. *Cost*: one system call.
///
/// *Source*: `CLOCK_THREAD_CPUTIME_ID` of clock_gettime(2), which counts to the nanosecond where getrusage may count in ticks.
pub fn thread_time_ns() -> u64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    nanoseconds_of(used.tv_sec, used.tv_nsec)
}

fn nanoseconds_of(seconds: i64, nanoseconds: i64) -> u64 {
    u64::try_from(seconds).unwrap_or(0) * 1_000_000_000 + u64::try_from(nanoseconds).unwrap_or(0)
}

/// The io_uring workers among this process's threads, by thread id, with the CPU time of each.
fn io_workers(tree: &SystemTree) -> Result<BTreeMap<u64, u64>, Unavailable> {
    const TASKS: &str = "proc/self/task";
    let mut workers = BTreeMap::new();
    for thread in tree.names(TASKS)? {
        let Some(id) = thread.to_str().and_then(|id| id.parse().ok()) else {
            continue;
        };
        // A thread that exits between listing and reading is no error.
        let Ok(name) = tree.text(format!("{TASKS}/{id}/comm")) else {
            continue;
        };
        if !is_io_worker(&name) {
            continue;
        }
        match time_of_thread_ns(tree, id) {
            Ok(used_ns) => {
                workers.insert(id, used_ns);
            }
            Err(why) if tree.exists(format!("{TASKS}/{id}")) => return Err(why),
            Err(_) => {}
        }
    }
    Ok(workers)
}

fn is_io_worker(thread_name: &str) -> bool {
    thread_name.starts_with("iou-wrk-") || thread_name.starts_with("iou-sqp-")
}

/// Time on CPU: the first number of `schedstat`.
///
/// `stat` would do on kernels without it, but counts in ticks of 10 ms.
fn time_of_thread_ns(tree: &SystemTree, thread: u64) -> Result<u64, Unavailable> {
    let text = tree.text(format!("proc/self/task/{thread}/schedstat"))?;
    text.split_ascii_whitespace()
        .next()
        .and_then(|on_cpu_ns| on_cpu_ns.parse().ok())
        .ok_or_else(|| Unavailable::because("this kernel keeps no scheduler statistics (CONFIG_SCHED_INFO)"))
}

/// `whom` is RUSAGE_SELF or RUSAGE_CHILDREN.
fn resource_usage(whom: libc::c_int) -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for one `rusage`, which the call fills in; where it fails, the memory was zeroed
    // before, which is a valid `rusage` too.
    unsafe { libc::getrusage(whom, usage.as_mut_ptr()) };
    // SAFETY: all fields are integers, initialised by `zeroed`.
    unsafe { usage.assume_init() }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds * 1_000_000_000 + microseconds * 1_000
}

#[cfg(test)]
mod tests {
    use std::fs;

    use io_uring::{IoUring, opcode, squeue};

    use super::*;

    #[test]
    fn time_spent_computing_is_counted() {
        let before = CpuTime::now();
        let mut state = 1_u64;
        let used = loop {
            for _ in 0..100_000 {
                state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
            let used = CpuTime::now().since(&before);
            if used.user_ns > 20_000_000 {
                break used;
            }
        };
        assert_eq!(used.total_ns(), used.user_ns + used.system_ns);
        assert!(used.io_workers_ns.known().is_some());
        // The wrong way round there is nothing, rather than an overflow.
        assert_eq!(before.since(&CpuTime::now()).total_ns(), 0);
    }

    #[test]
    fn a_threads_time_is_its_own() {
        let before = thread_time_ns();
        let other = std::thread::spawn(|| {
            let mut state = 1_u64;
            while thread_time_ns() < 20_000_000 {
                state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005));
            }
            thread_time_ns()
        });
        let others = other.join().unwrap();
        assert!(others >= 20_000_000);
        assert!(thread_time_ns() - before < others);
    }

    #[test]
    fn kernel_workers_of_a_ring_are_found_by_their_names() {
        let mut ring = IoUring::new(4).expect("io_uring must be allowed: sysctl kernel.io_uring_disabled=0");
        let punted = opcode::Nop::new().build().flags(squeue::Flags::ASYNC);
        // SAFETY: a no-op refers to no memory.
        unsafe { ring.submission().push(&punted) }.unwrap();
        ring.submit_and_wait(1).unwrap();
        let workers = io_workers(&SystemTree::live()).unwrap();
        assert!(
            !workers.is_empty(),
            "the worker that ran the no-op waits for more work"
        );
    }

    #[test]
    fn only_workers_count_and_exited_ones_count_for_nothing() {
        let directory = tempfile::TempDir::new().unwrap();
        let tree = SystemTree::at(directory.path());
        let thread = |id: u64, name: &str, schedstat: &str| {
            let path = tree.path(format!("proc/self/task/{id}"));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("comm"), format!("{name}\n")).unwrap();
            fs::write(path.join("schedstat"), schedstat).unwrap();
        };
        let reading = || CpuTime {
            user_ns: 0,
            system_ns: 0,
            io_workers_ns: io_workers(&tree),
        };
        thread(1, "outcrop", "900 0 1\n");
        thread(2, "iou-wrk-1", "500 0 1\n");
        thread(3, "iou-sqp-1", "40 0 1\n");
        let before = reading();
        thread(2, "iou-wrk-1", "750 0 1\n");
        fs::remove_dir_all(tree.path("proc/self/task/3")).unwrap();
        thread(4, "iou-wrk-1", "30 0 1\n");
        assert_eq!(reading().since(&before).io_workers_ns, Reading::Known(250 + 30));
        thread(5, "iou-wrk-1", "garbage");
        assert!(reading().since(&before).io_workers_ns.known().is_none());
    }
}
