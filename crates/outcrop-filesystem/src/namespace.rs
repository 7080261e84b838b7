//! A mount namespace that only one thread is in, for as long as it runs: what is mounted there nobody else sees.

#![expect(
    unsafe_code,
    reason = "leaving the process's mount namespace is unsafe where descriptors are unshared with it"
)]

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statx};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
};
use rustix::thread::UnshareFlags;

use crate::error::FilesystemError;

/// Runs `work` on a thread with a private copy of the mounts; they go with the thread.
///
/// # Errors
/// This user may not (root), or what `work` says.
pub(crate) fn within<T: Send>(
    work: impl FnOnce() -> Result<T, FilesystemError> + Send,
) -> Result<T, FilesystemError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("outcrop-mounts".to_owned());
        let spawned = thread.spawn_scoped(scope, || {
            // SAFETY: only the mount namespace is left, and with it the root and working directory are copied; descriptors
            // stay shared, so none of the process's is closed or replaced.
            unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.map_err(|errno| {
                FilesystemError::system("enter a private mount namespace (root can)", errno)
            })?;
            let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
            mount_change("/", flags)
                .map_err(|errno| FilesystemError::system("make the mounts private", errno))?;
            work()
        });
        let spawned = spawned.map_err(|error| FilesystemError::system("start a thread", error))?;
        spawned.join().unwrap_or_else(|_| {
            Err(FilesystemError::Unavailable(
                "the thread of the private mounts failed".to_owned(),
            ))
        })
    })
}

/// Puts a mount onto a directory; only within a private namespace.
pub(crate) fn put(mount: impl AsFd, directory: &Path) -> Result<(), FilesystemError> {
    move_mount(mount, "", CWD, directory, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(|errno| FilesystemError::system(format!("attach a mount to {}", directory.display()), errno))
}

/// Memory with files in it, which no path leads to.
pub(crate) fn memory_filesystem(most_bytes: u64) -> Result<OwnedFd, FilesystemError> {
    let failed =
        |errno: rustix::io::Errno| FilesystemError::system("mount a tmpfs without a mount point", errno);
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(failed)?;
    fsconfig_set_string(context.as_fd(), "size", most_bytes.to_string()).map_err(failed)?;
    fsconfig_create(context.as_fd()).map_err(failed)?;
    fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::empty(),
    )
    .map_err(failed)
}

/// The options of what is mounted on a directory, as this thread's kernel shows them.
pub(crate) fn options_shown(directory: &Path) -> Result<String, FilesystemError> {
    const TABLE: &str = "/proc/thread-self/mountinfo";
    let text =
        std::fs::read(TABLE).map_err(|error| FilesystemError::system(format!("read {TABLE}"), error))?;
    let text = String::from_utf8_lossy(&text);
    let wanted = directory.to_string_lossy();
    let about = statx(CWD, directory, AtFlags::empty(), StatxFlags::MNT_ID);
    let is_told = |about: &Statx| about.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    let id = about.ok().filter(is_told).map(|about| about.stx_mnt_id);
    // Of several mounts on the directory, the table has the last one anywhere.
    let found = match id {
        Some(id) => text
            .lines()
            .find(|line| is_of_mount(line, id))
            .and_then(options_of),
        None => text
            .lines()
            .rev()
            .filter(|line| is_on(line, &wanted))
            .find_map(options_of),
    };
    found.ok_or_else(|| {
        FilesystemError::Unavailable(format!(
            "{TABLE} does not show the filesystem that was just mounted on {wanted}"
        ))
    })
}

/// Whether a line of mountinfo is that of the mount with this number.
fn is_of_mount(line: &str, id: u64) -> bool {
    line.split(' ').next().and_then(|number| number.parse().ok()) == Some(id)
}

/// Whether the mount point of a line of mountinfo is this directory.
fn is_on(line: &str, directory: &str) -> bool {
    let Some(point) = line.split(' ').nth(4) else {
        return false;
    };
    // Blanks and backslashes are written as octal numbers.
    let point = point
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
    point == directory
}

/// The filesystem's options in a line of mountinfo.
fn options_of(line: &str) -> Option<String> {
    let (_, filesystem) = line.split_once(" - ")?;
    Some(filesystem.splitn(3, ' ').nth(2).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn options_are_those_of_the_filesystem_and_not_of_the_mount() {
        let line =
            "42 1 0:30 / /run\\040here rw,noatime - btrfs /dev/loop0 rw,compress-force=zstd:3,subvolid=5";
        assert_eq!(options_of(line).unwrap(), "rw,compress-force=zstd:3,subvolid=5");
        assert!(is_on(line, "/run here") && !is_on(line, "/run"));
        assert!(is_of_mount(line, 42) && !is_of_mount(line, 4));
    }

    proptest! {
        #[test]
        fn any_line_is_no_panic(line in "\\PC*") {
            let _ = (options_of(&line), is_on(&line, "/"), is_of_mount(&line, 1));
        }
    }
}
