//! A mounted filesystem that is in no mount table: a descriptor, gone with the process.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_workload::filesystem::FilesystemKind;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};

use crate::error::FilesystemError;
use crate::filesystem::Filesystem;
use crate::namespace;

/// A filesystem mounted without a mount point.
#[derive(Debug)]
pub struct Mounted {
    mount: OwnedFd,
}

impl Mounted {
    /// Mounts what lies on the block device at `device`.
    ///
    /// # Errors
    /// The kernel refuses it, with the kernel's own words.
    pub(crate) fn new(filesystem: &Filesystem, device: &Path) -> Result<Self, FilesystemError> {
        let options = filesystem.mount_options();
        Self::with_options(filesystem.kind, &options, device)
    }

    pub(crate) fn with_options(
        kind: FilesystemKind,
        options: &[(&'static str, Option<String>)],
        device: &Path,
    ) -> Result<Self, FilesystemError> {
        let context = fsopen(kind.name(), FsOpenFlags::FSOPEN_CLOEXEC)
            .map_err(|errno| FilesystemError::system(format!("open the filesystem {kind}"), errno))?;
        let failed = |errno: Errno| FilesystemError::Mount {
            kind,
            options: spelled(options),
            message: kernel_words(&context).unwrap_or_else(|| errno.to_string()),
        };
        fsconfig_set_string(context.as_fd(), "source", device).map_err(failed)?;
        for (key, value) in options {
            match value {
                Some(value) => fsconfig_set_string(context.as_fd(), *key, value.as_str()),
                None => fsconfig_set_flag(context.as_fd(), *key),
            }
            .map_err(failed)?;
        }
        fsconfig_create(context.as_fd()).map_err(failed)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOATIME
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes).map_err(failed)?;
        Ok(Self { mount })
    }

    /// The options in force, as the kernel shows them. `directory` is any directory: only a thread of ours sees it change.
    ///
    /// # Errors
    /// This user may not have a mount namespace.
    pub fn options(&self, directory: &Path) -> Result<String, FilesystemError> {
        namespace::within(|| {
            namespace::put(&self.mount, directory)?;
            namespace::options_shown(directory)
        })
    }

    /// Reads the options back and compares them with what was asked for.
    ///
    /// # Errors
    /// [`FilesystemError::OtherOptions`] when the kernel made something else of them.
    pub fn confirm(&self, filesystem: &Filesystem, directory: &Path) -> Result<String, FilesystemError> {
        compared(filesystem, self.options(directory)?)
    }

    /// Writes everything back and waits for it.
    ///
    /// # Errors
    /// The filesystem failed to.
    pub(crate) fn sync(&self) -> Result<(), FilesystemError> {
        let root = self.root()?;
        rustix::fs::syncfs(&root).map_err(|errno| FilesystemError::system("write the filesystem back", errno))
    }

    /// Space in use, metadata included.
    pub(crate) fn used_bytes(&self) -> Result<u64, Unavailable> {
        let root = self.root();
        let root = root.map_err(|error| Unavailable::because(error.to_string()))?;
        used_of(root.as_fd())
    }

    /// Its root directory, opened for reading.
    pub(crate) fn root(&self) -> Result<OwnedFd, FilesystemError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.mount, ".", flags, Mode::empty())
            .map_err(|errno| FilesystemError::system("open the root of the filesystem", errno))
    }

    /// Creates a file, or opens one, below the root.
    pub(crate) fn open(&self, name: &str, flags: OFlags) -> Result<File, FilesystemError> {
        rustix::fs::openat(
            &self.mount,
            name,
            flags | OFlags::CLOEXEC,
            Mode::RUSR | Mode::WUSR,
        )
        .map(File::from)
        .map_err(|errno| FilesystemError::system(format!("open {name} on the filesystem"), errno))
    }
}

impl AsFd for Mounted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.mount.as_fd()
    }
}

/// Space in use on the filesystem of a directory.
pub(crate) fn used_of(directory: BorrowedFd<'_>) -> Result<u64, Unavailable> {
    let space = rustix::fs::fstatvfs(directory).map_err(|errno| {
        Unavailable::because(format!("the filesystem does not say how full it is: {errno}"))
    })?;
    Ok(space
        .f_blocks
        .saturating_sub(space.f_bfree)
        .saturating_mul(space.f_frsize))
}

/// The options shown, where they have all that were asked for.
fn compared(filesystem: &Filesystem, shown: String) -> Result<String, FilesystemError> {
    match missing_option(filesystem, &shown) {
        None => Ok(shown),
        Some(wanted) => Err(FilesystemError::OtherOptions {
            kind: filesystem.kind,
            wanted,
            shown,
        }),
    }
}

/// The first option of btrfs's or f2fs's that was asked for and is not shown. Others are asked for none that changes what is measured.
///
/// *Source*: `btrfs_show_options` in fs/btrfs/super.c and `f2fs_show_compress_options` in fs/f2fs/super.c of Linux 6.18.
fn missing_option(filesystem: &Filesystem, shown: &str) -> Option<String> {
    if !matches!(filesystem.kind, FilesystemKind::Btrfs | FilesystemKind::F2fs) {
        return None;
    }
    let shown: Vec<&str> = shown.split(',').collect();
    let mut wanted = filesystem
        .mount_options()
        .into_iter()
        .filter_map(|(key, value)| match key {
            "nodiscard" => None,
            _ => Some(value.map_or_else(|| key.to_owned(), |value| format!("{key}={value}"))),
        });
    wanted.find(|option| !shown.contains(&option.as_str()))
}

fn spelled(options: &[(&'static str, Option<String>)]) -> String {
    let words: Vec<String> = options
        .iter()
        .map(|(key, value)| {
            value
                .as_ref()
                .map_or_else(|| (*key).to_owned(), |value| format!("{key}={value}"))
        })
        .collect();
    if words.is_empty() {
        "its own options".to_owned()
    } else {
        words.join(",")
    }
}

/// What the kernel says of a mount that it refused.
fn kernel_words(context: &OwnedFd) -> Option<String> {
    let mut words = Vec::new();
    let mut buffer = [0; 512];
    // One message a read; after the last one it is an error.
    while let Ok(count) = rustix::io::read(context, &mut buffer) {
        if count == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&buffer[..count]);
        words.push(
            text.trim()
                .trim_start_matches("e ")
                .trim_start_matches("w ")
                .to_owned(),
        );
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// Whether this user may make filesystems of its own: a mount, and a loop device.
///
/// # Errors
/// What is missing, and what to take instead.
pub fn privilege() -> Result<(), Unavailable> {
    match fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC) {
        Ok(_) => {}
        Err(Errno::PERM) => return Err(Unavailable::because(NEEDS_ROOT)),
        Err(errno) => {
            return Err(Unavailable::because(format!(
                "this kernel does not mount without a mount point (fsopen, Linux 5.2): {errno}"
            )));
        }
    }
    let access = rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK;
    match rustix::fs::access("/dev/loop-control", access) {
        Ok(()) => Ok(()),
        Err(Errno::NOENT) => Err(Unavailable::because(
            "this machine has no loop devices (try `modprobe loop`); use kind = \"directory\" with a path",
        )),
        Err(_) => Err(Unavailable::because(NEEDS_ROOT)),
    }
}

/// What a user without privileges is told.
pub(crate) const NEEDS_ROOT: &str = "making a filesystem needs root, for a loop device and a mount; run it as root, or measure the \
                                     filesystem that is there: --directory DIR, or kind = \"directory\" with a path in a plan";

#[cfg(test)]
mod tests {
    use outcrop_workload::filesystem::{Checksum, CompressPolicy};

    use super::*;

    fn btrfs(compression: &str, policy: CompressPolicy) -> Filesystem {
        Filesystem {
            policy,
            ..Filesystem::new(FilesystemKind::Btrfs).with(compression.parse().unwrap())
        }
    }

    #[test]
    fn an_option_that_the_kernel_made_another_of_is_named_with_what_it_shows() {
        use CompressPolicy::{Force, Heuristic};
        for (filesystem, shown, missing) in [
            // What kernels make of levels beyond their own.
            (
                btrfs("zstd:99", Force),
                "compress-force=zstd:15",
                "compress-force=zstd:99",
            ),
            (
                btrfs("zstd:-16", Force),
                "compress-force=zstd:-15",
                "compress-force=zstd:-16",
            ),
            // One is a part of the other's name, and not the same.
            (
                btrfs("zstd:3", Heuristic),
                "compress-force=zstd:3",
                "compress=zstd:3",
            ),
            (btrfs("zstd:3", Force), "compress=zstd:3", "compress-force=zstd:3"),
            (
                btrfs("zstd:1", Force),
                "compress-force=zstd:15",
                "compress-force=zstd:1",
            ),
        ] {
            let line = format!("rw,{shown},space_cache=v2,subvolid=5,subvol=/");
            let error = compared(&filesystem, line.clone()).unwrap_err();
            let FilesystemError::OtherOptions { wanted, shown, .. } = &error else {
                panic!("{error}");
            };
            assert_eq!((wanted.as_str(), shown), (missing, &line));
            let said = error.to_string();
            assert!(said.contains(missing) && said.contains(&line), "{said}");
            let as_asked = format!("rw,{missing},space_cache=v2");
            assert_eq!(compared(&filesystem, as_asked.clone()).unwrap(), as_asked);
        }
        // As the kernel shows those of f2fs, which compresses no file whose extension is not named.
        let f2fs = Filesystem::new(FilesystemKind::F2fs).with("zstd:6".parse().unwrap());
        let line = |compression: &str| format!("rw,lazytime,nodiscard,no_heap{compression},compress_mode=fs");
        let whole = ",compress_algorithm=zstd:6,compress_log_size=2,compress_extension=*";
        assert!(compared(&f2fs, line(whole)).is_ok());
        for other in [
            ",compress_algorithm=zstd:3,compress_log_size=2,compress_extension=*",
            ",compress_algorithm=zstd:6,compress_log_size=2,compress_extension=txt",
            "",
        ] {
            assert!(compared(&f2fs, line(other)).is_err(), "{other}");
        }
        let unchecked = Filesystem {
            checksum: Checksum::None,
            ..btrfs("none", Force)
        };
        assert!(compared(&unchecked, "rw,space_cache=v2".to_owned()).is_err());
        assert!(compared(&unchecked, "rw,nodatasum,space_cache=v2".to_owned()).is_ok());
    }
}
