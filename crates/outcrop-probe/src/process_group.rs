//! Whether the processes of a group still run, or wait for what does not come.

use std::collections::BTreeMap;
use std::ffi::OsString;

use outcrop_measure::metric::Unavailable;

use crate::process::{fields_after_name, thread_times_ns};
use crate::system_tree::SystemTree;

/// The threads of a process group, and how long each has run so far: two equal readings say that none ran in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupActivity {
    /// Time on CPU, by the number of the thread.
    run_ns: BTreeMap<OsString, u64>,
    is_busy: bool,
}

impl GroupActivity {
    /// Reads it now. *Cost*: a small file for each process of the machine, and two for each thread of the group.
    ///
    /// # Errors
    /// The kernel shows no processes, or keeps no scheduler statistics.
    pub fn of(group: u32) -> Result<Self, Unavailable> {
        Self::in_tree(&SystemTree::live(), group)
    }

    fn in_tree(tree: &SystemTree, group: u32) -> Result<Self, Unavailable> {
        let mut activity = Self {
            run_ns: BTreeMap::new(),
            is_busy: false,
        };
        for name in tree.names("proc")? {
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            // Processes and threads end meanwhile: that is no error.
            let stat = tree.text(format!("proc/{pid}/stat"));
            if !stat.is_ok_and(|stat| is_of_group(&stat, group)) {
                continue;
            }
            let times = thread_times_ns(tree, pid)?;
            for thread in times.keys() {
                let stat = tree.text(format!("proc/{pid}/task/{}/stat", thread.to_string_lossy()));
                activity.is_busy |= stat.is_ok_and(|stat| is_busy(&stat));
            }
            activity.run_ns.extend(times);
        }
        Ok(activity)
    }

    /// Whether a thread runs, could if it had a CPU, or waits in the kernel where no signal reaches it: as a rule, for a device.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }
}

fn is_of_group(stat: &str, group: u32) -> bool {
    fields_after_name(stat)
        .nth(2)
        .and_then(|field| field.parse().ok())
        == Some(group)
}

fn is_busy(stat: &str) -> bool {
    matches!(fields_after_name(stat).next(), Some("R" | "D"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_readings_are_equal_where_no_thread_of_the_group_ran_whatever_others_did() {
        let folder = tempfile::tempdir().unwrap();
        let tree = SystemTree::at(folder.path());
        let write = |path: &str, text: &str| tree.write(path, text);
        // A name that would mislead who counts fields from the front.
        let stat = |state: &str, group: u32| format!("9 (a) S 9 (b) {state} 1 {group} 1 0");
        write("proc/9/stat", &stat("S", 9));
        write("proc/9/task/9/stat", &stat("S", 9));
        write("proc/9/task/9/schedstat", "100 5 1");
        write("proc/8/stat", &stat("R", 8));
        write("proc/8/task/8/schedstat", "7 5 1");
        let reading = || GroupActivity::in_tree(&tree, 9).unwrap();
        let before = reading();
        write("proc/8/task/8/schedstat", "8 5 1");
        assert_eq!(reading(), before);
        assert!(!before.is_busy());
        write("proc/9/task/9/schedstat", "101 5 1");
        assert_ne!(reading(), before);
        for busy in ["D", "R"] {
            write("proc/9/task/9/stat", &stat(busy, 9));
            assert!(reading().is_busy(), "{busy}");
        }
        // A child in the same group: a server.
        write("proc/10/stat", &stat("S", 9));
        write("proc/10/task/10/schedstat", "1 5 1");
        assert_ne!(reading().run_ns, before.run_ns);
    }
}
