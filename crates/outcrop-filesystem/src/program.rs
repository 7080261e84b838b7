//! The programs that make filesystems: found, given nothing but an inherited descriptor, ended with us.

#![expect(
    unsafe_code,
    reason = "before a program begins, its descriptor is kept and its end tied to ours"
)]

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::metric::Unavailable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use crate::error::FilesystemError;

/// A program that makes filesystems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Ext4,
    Xfs,
    Btrfs,
    F2fs,
    Squashfs,
    Erofs,
}

impl Program {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
            Self::Btrfs => "mkfs.btrfs",
            Self::F2fs => "mkfs.f2fs",
            Self::Squashfs => "mksquashfs",
            Self::Erofs => "mkfs.erofs",
        }
    }

    /// The Debian package that has it.
    const fn package(self) -> &'static str {
        match self {
            Self::Ext4 => "e2fsprogs",
            Self::Xfs => "xfsprogs",
            Self::Btrfs => "btrfs-progs",
            Self::F2fs => "f2fs-tools",
            Self::Squashfs => "squashfs-tools",
            Self::Erofs => "erofs-utils",
        }
    }

    /// How it is asked for its version.
    const fn version_flag(self) -> &'static str {
        match self {
            Self::Ext4 | Self::Xfs | Self::F2fs => "-V",
            Self::Btrfs | Self::Erofs => "--version",
            Self::Squashfs => "-version",
        }
    }
}

/// Where a program lies.
pub(crate) fn find(program: Program) -> Result<PathBuf, Unavailable> {
    outcrop_probe::program::find(program.name()).ok_or_else(|| {
        Unavailable::because(format!(
            "{} is not installed; install the package {} (apt-get install {})",
            program.name(),
            program.package(),
            program.package()
        ))
    })
}

/// The first line of what it says of itself.
pub(crate) fn version(program: Program) -> Result<String, Unavailable> {
    outcrop_probe::program::version(&find(program)?, program.version_flag())
}

/// Runs a program to its end: on the image as its descriptor, never by a name.
///
/// # Errors
/// It is not installed, fails, or `stop` is raised, which ends it.
pub(crate) fn make(
    program: Program,
    arguments: &[String],
    source: Option<&Path>,
    image: impl AsFd,
    stop: &AtomicBool,
) -> Result<(), FilesystemError> {
    let image = image.as_fd().as_raw_fd();
    let target = format!("/proc/self/fd/{image}");
    let mut command = Command::new(find(program)?);
    match (program, source) {
        // mksquashfs SOURCE IMAGE OPTIONS; mkfs.erofs OPTIONS IMAGE SOURCE.
        (Program::Squashfs, Some(source)) => command.arg(source).arg(&target).args(arguments),
        (_, Some(source)) => command.args(arguments).arg(&target).arg(source),
        (_, None) => command.args(arguments).arg(&target),
    };
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let parent = getpid();
    // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(move || begin(image, parent)) };
    let failed = |error| FilesystemError::system(format!("start {}", program.name()), error);
    let mut child = command.spawn().map_err(failed)?;
    let said = wait(&mut child, stop);
    if stop.load(Ordering::Relaxed) {
        // Whether it has ended or not, it goes.
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    if stop.load(Ordering::Relaxed) {
        return Err(FilesystemError::Interrupted);
    }
    if status.success() {
        return Ok(());
    }
    let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    Err(FilesystemError::Make {
        program: program.name(),
        status: status.to_string(),
        message: last[last.len().saturating_sub(3)..].join("; "),
    })
}

/// What the program does before it becomes that program: keeps the image open, and ends with us.
fn begin(image: i32, parent: Pid) -> io::Result<()> {
    // SAFETY: the descriptor is open in the parent for as long as it waits for this process.
    let image = unsafe { std::os::fd::BorrowedFd::borrow_raw(image) };
    rustix::io::fcntl_setfd(image, FdFlags::empty())?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A parent that was killed before that sends no signal any more.
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::ErrorKind::Interrupted.into())
    }
}

/// Collects what it says until it closes its output or `stop` is raised.
fn wait(child: &mut std::process::Child, stop: &AtomicBool) -> String {
    const LOOK_NS: i64 = 50_000_000;
    const MOST_SAID: usize = 16 << 10;
    let mut said = Vec::new();
    let Some(mut output) = child.stderr.take() else {
        return String::new();
    };
    let mut part = [0; 1024];
    while !stop.load(Ordering::Relaxed) {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_NS,
        };
        let mut watched = [PollFd::new(&output, PollFlags::IN)];
        if !matches!(poll(&mut watched, Some(&timeout)), Ok(ready) if ready > 0) {
            continue;
        }
        match output.read(&mut part) {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                said.extend_from_slice(&part[..count]);
                let excess = said.len().saturating_sub(MOST_SAID);
                said.drain(..excess);
            }
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "a test says what it skips")]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use outcrop_workload::filesystem::FilesystemKind;

    use super::*;
    use crate::filesystem::Filesystem;

    #[test]
    fn f2fs_is_made_with_compression_on_a_kernel_without_it_as_well() {
        // From include/linux/f2fs_fs.h: the magic number at the start of the superblock, and its features behind names and versions.
        const SUPERBLOCK: u64 = 1024;
        const MAGIC: u32 = 0xF2F5_2010;
        const FEATURES: u64 = SUPERBLOCK + 2180;
        const EXTRA_ATTRIBUTES: u32 = 0x8;
        const COMPRESSION: u32 = 0x2000;
        if let Err(why) = find(Program::F2fs) {
            println!("skipped: mkfs.f2fs: {}", why.reason);
            return;
        }
        assert!(version(Program::F2fs).unwrap().contains("mkfs.f2fs"));
        let filesystem = Filesystem::new(FilesystemKind::F2fs).with("zstd:3".parse().unwrap());
        let image = tempfile::tempfile().unwrap();
        image.set_len(512 << 20).unwrap();
        let arguments = filesystem.make_arguments();
        make(Program::F2fs, &arguments, None, &image, &AtomicBool::new(false)).unwrap();
        let number = |at| {
            let mut bytes = [0; 4];
            image.read_exact_at(&mut bytes, at).unwrap();
            u32::from_le_bytes(bytes)
        };
        assert_eq!(number(SUPERBLOCK), MAGIC);
        let wanted = EXTRA_ATTRIBUTES | COMPRESSION;
        assert_eq!(number(FEATURES) & wanted, wanted, "{:#x}", number(FEATURES));
    }
}
