//! CPU time of the kernel's own threads: what a filesystem does for us outside of this process.
//!
//! A compressed read is decompressed by a kworker; four fifths of its CPU time are in no process's account. Threads are not told
//! apart by name: kworkers take a new name with each piece of work.

use std::collections::BTreeMap;

use outcrop_measure::metric::Unavailable;

use crate::process::fields_after_name;
use crate::system_tree::SystemTree;

/// Time on CPU of every kernel thread; take two and subtract them with [`KernelThreads::since`].
#[derive(Clone, Debug)]
pub struct KernelThreads {
    /// By process number. A number that is given to another process shows less time than before.
    used_ns: BTreeMap<u32, u64>,
}

/// The flag of kernel threads in `stat`: PF_KTHREAD of include/linux/sched.h.
const PF_KTHREAD: u64 = 0x0020_0000;

impl KernelThreads {
    /// Reads the time used so far. *Cost*: two small files for each process, about 3 ms: for the edges of a trial.
    ///
    /// # Errors
    /// /proc is not mounted, or the kernel keeps no scheduler statistics.
    pub fn now() -> Result<Self, Unavailable> {
        Self::of(&SystemTree::live())
    }

    fn of(tree: &SystemTree) -> Result<Self, Unavailable> {
        let mut used_ns = BTreeMap::new();
        for name in tree.names("proc")? {
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            // One that ends between listing and reading is no error.
            let Ok(stat) = tree.text(format!("proc/{pid}/stat")) else {
                continue;
            };
            if !is_kernel_thread(&stat) {
                continue;
            }
            let Ok(text) = tree.text(format!("proc/{pid}/schedstat")) else {
                continue;
            };
            if let Some(time) = text
                .split_ascii_whitespace()
                .next()
                .and_then(|text| text.parse().ok())
            {
                used_ns.insert(pid, time);
            }
        }
        if used_ns.is_empty() {
            return Err(Unavailable::because(
                "no kernel thread is visible: /proc is that of a container, or the kernel keeps no scheduler statistics",
            ));
        }
        Ok(Self { used_ns })
    }

    /// Time on CPU since `earlier`, in nanoseconds. A thread that ended in between is not in it, so this is a lower bound.
    pub fn since(&self, earlier: &Self) -> u64 {
        let used = |(pid, now_ns): (&u32, &u64)| {
            let before_ns = earlier.used_ns.get(pid).copied().unwrap_or(0);
            // A smaller figure is that of a new thread with an old number.
            if *now_ns >= before_ns {
                now_ns - before_ns
            } else {
                *now_ns
            }
        };
        self.used_ns.iter().map(used).sum()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.used_ns.len()
    }
}

/// The ninth field of `stat`; the second is a name in parentheses that may hold blanks and parentheses.
fn is_kernel_thread(stat: &str) -> bool {
    const FLAGS_AFTER_NAME: usize = 6;
    let flags = fields_after_name(stat).nth(FLAGS_AFTER_NAME);
    flags
        .and_then(|flags| flags.parse::<u64>().ok())
        .is_some_and(|flags| flags & PF_KTHREAD != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn thread(tree: &SystemTree, pid: u32, name: &str, flags: u64, used_ns: u64) {
        let path = tree.path(format!("proc/{pid}"));
        fs::create_dir_all(&path).unwrap();
        fs::write(
            path.join("stat"),
            format!("{pid} ({name}) S 2 0 0 0 -1 {flags} 0 0"),
        )
        .unwrap();
        fs::write(path.join("schedstat"), format!("{used_ns} 5 1\n")).unwrap();
    }

    #[test]
    fn only_the_kernels_threads_count_whatever_they_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let tree = SystemTree::at(folder.path());
        thread(&tree, 2, "kthreadd", PF_KTHREAD, 10);
        thread(&tree, 7, "kworker/u4:1-(x) y", PF_KTHREAD | 64, 100);
        thread(&tree, 9, "postgres", 64, 1000);
        let before = KernelThreads::of(&tree).unwrap();
        assert_eq!(before.count(), 2);
        thread(&tree, 7, "kworker/u4:1+loop", PF_KTHREAD, 350);
        thread(&tree, 8, "kworker/1:0", PF_KTHREAD, 40);
        thread(&tree, 2, "another with an old number", PF_KTHREAD, 3);
        let after = KernelThreads::of(&tree).unwrap();
        assert_eq!(after.since(&before), 250 + 40 + 3);
    }

    #[test]
    fn this_machine_has_kernel_threads_and_a_busy_time() {
        // In a container without them the reason is given.
        if let Ok(threads) = KernelThreads::now() {
            assert!(threads.count() > 1);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_no_panic(stat in "\\PC*") {
            is_kernel_thread(&stat);
        }
    }
}
