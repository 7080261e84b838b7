//! A limit on the memory of a process: a control group of our own, removed with its value.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use outcrop_measure::units::format_bytes;

use crate::drive::{monotonic_ns, wait_until_ns};
use crate::error::KvError;

const ROOT: &str = "/sys/fs/cgroup";
/// Groups of ours that a killed run left begin with this, and with the number of the process that made them.
const NAME_PREFIX: &str = "outcrop-kv-";

/// A control group with a limit on memory, page cache included.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    group: PathBuf,
    bytes: u64,
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_bytes(self.bytes))
    }
}

/// The two forms of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hierarchy {
    /// One for all controllers.
    Unified,
    /// One for memory.
    Memory,
}

impl MemoryLimit {
    /// Makes a group for one process of a trial below the group of this process.
    ///
    /// # Errors
    /// [`KvError::Condition`] where no group may be made, with the reason.
    pub(crate) fn create(bytes: u64) -> Result<Self, KvError> {
        // Trials of one process may run at once.
        static MADE: AtomicU64 = AtomicU64::new(0);
        let refused = |why: String| KvError::Condition {
            why: format!("no memory limit can be set here: {why}; run as root, or leave memory_limit out"),
        };
        let (hierarchy, parent) = parent().map_err(refused)?;
        remove_left(&parent);
        let group = loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let group = parent.join(format!("{NAME_PREFIX}{}-{number}", std::process::id()));
            match fs::create_dir(&group) {
                Ok(()) => break group,
                // One that a killed process with the number of this one has left.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refused(format!("cannot make {}: {error}", group.display()))),
            }
        };
        let limit = Self { group, bytes };
        limit.set(hierarchy).map_err(refused)?;
        Ok(limit)
    }

    fn set(&self, hierarchy: Hierarchy) -> Result<(), String> {
        let (file, swap) = match hierarchy {
            Hierarchy::Unified => ("memory.max", "memory.swap.max"),
            Hierarchy::Memory => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
        };
        let path = self.group.join(file);
        fs::write(&path, self.bytes.to_string())
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        // Without swap there is no such file, and nothing to limit.
        let no_swap = match hierarchy {
            Hierarchy::Unified => 0,
            Hierarchy::Memory => self.bytes,
        };
        let _ = fs::write(self.group.join(swap), no_swap.to_string());
        Ok(())
    }

    /// Puts a process under the limit.
    pub(crate) fn take_in(&self, pid: u32) -> Result<(), KvError> {
        let path = self.group.join("cgroup.procs");
        fs::write(&path, pid.to_string()).map_err(|error| KvError::Condition {
            why: format!(
                "no memory limit can be set here: cannot write {}: {error}",
                path.display()
            ),
        })
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // What is not removed in time is removed by the next run.
        until_it_is_free(|| {
            let removed = fs::remove_dir(&self.group);
            !removed.is_err_and(|error| error.kind() == ErrorKind::ResourceBusy)
        });
    }
}

/// A control group is busy until its last process has ended altogether, which is a moment after it closed its files.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Tries until something is done, or for a second.
pub(crate) fn until_it_is_free(is_done: impl Fn() -> bool) {
    for _ in 0..TRIES {
        let moment_ns = monotonic_ns() + BETWEEN_TRIES.as_nanos() as u64;
        if is_done() || wait_until_ns(moment_ns).is_err() {
            return;
        }
    }
}

fn parent() -> Result<(Hierarchy, PathBuf), String> {
    let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
    place(&own, Path::new(ROOT))
}

/// Where groups of ours can be: below the group of this process, by the lines of `/proc/self/cgroup`.
fn place(own: &str, root: &Path) -> Result<(Hierarchy, PathBuf), String> {
    let group_of = |controllers: &str| {
        own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let has = fields.next()?.split(',').any(|name| name == controllers);
            has.then_some(fields.next()?)
        })
    };
    if let Some(path) = group_of("memory") {
        // In a container the path may be that of the host; what is mounted is then the group itself.
        let root = root.join("memory");
        let inner = root.join(path.trim_start_matches('/'));
        return Ok((Hierarchy::Memory, if inner.is_dir() { inner } else { root }));
    }
    let Some(path) = group_of("") else {
        return Err("this process is not in a control group".to_owned());
    };
    let inner = root.join(path.trim_start_matches('/'));
    // A group with processes of its own passes no controller on: its parent may.
    let has_memory = |folder: &Path| {
        let children = fs::read_to_string(folder.join("cgroup.subtree_control"));
        children.is_ok_and(|names| names.split_whitespace().any(|name| name == "memory"))
    };
    let mut candidates = inner.ancestors().take_while(|folder| folder.starts_with(root));
    candidates
        .find(|folder| has_memory(folder))
        .map(|folder| (Hierarchy::Unified, folder.to_owned()))
        .ok_or_else(|| {
            format!(
                "no control group above {} delegates the memory controller",
                inner.display()
            )
        })
}

/// Removes groups whose process is gone. One that still holds a process cannot be removed, and stays.
fn remove_left(parent: &Path) {
    remove_if(parent, |pid| !Path::new("/proc").join(pid).exists());
}

/// Removes the groups that a process made which is known to have ended; whether none is left.
pub(crate) fn remove_of(maker: u32) -> bool {
    match parent() {
        Ok((_, parent)) => remove_if(&parent, |pid| pid == maker.to_string()),
        // Where no group can be made, none was.
        Err(_) => true,
    }
}

/// Removes the groups of ours whose maker's number is one of these; whether all of them could be.
fn remove_if(parent: &Path, is_meant: impl Fn(&str) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(parent) else {
        return true;
    };
    let mut are_gone = true;
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(NAME_PREFIX)) else {
            continue;
        };
        let pid = rest.split('-').next().unwrap_or_default();
        if !pid.is_empty() && is_meant(pid) {
            are_gone &= fs::remove_dir(entry.path()).is_ok();
        }
    }
    are_gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_found_in_both_forms() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("memory/user/me")).unwrap();
        let old = "9:name=systemd:/\n4:memory:/user/me\n0::/\n";
        assert_eq!(
            place(old, root),
            Ok((Hierarchy::Memory, root.join("memory/user/me")))
        );
        let of_the_host = "4:memory:/docker/abc\n";
        assert_eq!(
            place(of_the_host, root),
            Ok((Hierarchy::Memory, root.join("memory")))
        );
        fs::create_dir_all(root.join("app.slice/run.scope")).unwrap();
        assert!(
            place("0::/app.slice/run.scope\n", root)
                .unwrap_err()
                .contains("delegates the memory controller")
        );
        fs::write(root.join("app.slice/cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        assert_eq!(
            place("0::/app.slice/run.scope\n", root),
            Ok((Hierarchy::Unified, root.join("app.slice")))
        );
        assert!(place("", root).is_err());
    }
}
