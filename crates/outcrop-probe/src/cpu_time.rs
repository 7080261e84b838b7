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

impl CpuTime {
    /// Reads the time used so far. *Cost*: one system call and a few small files for each thread: for the
    /// edges of a trial, not for its loop.
    pub fn now() -> Self {
        let usage = resource_usage();
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
        match thread_time_ns(tree, id) {
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
fn thread_time_ns(tree: &SystemTree, thread: u64) -> Result<u64, Unavailable> {
    let text = tree.text(format!("proc/self/task/{thread}/schedstat"))?;
    text.split_ascii_whitespace()
        .next()
        .and_then(|on_cpu_ns| on_cpu_ns.parse().ok())
        .ok_or_else(|| Unavailable::because("this kernel keeps no scheduler statistics (CONFIG_SCHED_INFO)"))
}

fn resource_usage() -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for one `rusage`, which the call fills in; it cannot fail for RUSAGE_SELF,
    // and the memory was zeroed before, which is a valid `rusage` too.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: all fields are integers, initialised by `zeroed`.
    unsafe { usage.assume_init() }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds * 1_000_000_000 + microseconds * 1_000
}
