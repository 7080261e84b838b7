//! What a directory of the user's allows and does: whether filesystems can be made in it, and whether its own filesystem compresses.

use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::Filesystem as Found;
use rustix::fs::{IFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::dataset;
use crate::error::FilesystemError;
use crate::image::Image;
use crate::mount::privilege;

/// Whether filesystems can be made in a directory: by this user, and in an unnamed file past the page cache.
///
/// # Errors
/// What is missing, and what to take instead.
pub fn ability(directory: &Path) -> Result<(), Unavailable> {
    privilege()?;
    let made = Image::empty(directory).and_then(|image| image.check_direct());
    made.map_err(|error| Unavailable::because(error.to_string()))
}

/// How the filesystem of a directory compresses new files in it, by its mount options and the directory's own settings: `btrfs
/// compress=zstd:1`; none where it does not.
///
/// # Errors
/// The directory cannot be examined, or its filesystem does not say how it compresses.
pub fn compression_below(directory: &Path) -> Result<Option<String>, Unavailable> {
    let found = Found::at(directory)?;
    state(&found, directory).map_err(|why| {
        Unavailable::because(format!(
            "whether {} ({}) compresses is not known: {}",
            directory.display(),
            found.type_name,
            why.reason
        ))
    })
}

fn state(found: &Found, directory: &Path) -> Result<Option<String>, Unavailable> {
    let options = &found.mount_options;
    let state = match (found.type_name.as_str(), dataset::settings(found, directory)) {
        ("btrfs", _) => btrfs(options, &Settings::of(directory, true)?),
        (_, Some(settings)) => option(&settings?, &["compression", "background_compression"]),
        // Other files than those with such names are compressed only where the directory has its attribute.
        ("f2fs", _) if options.split(',').any(|word| word == "compress_extension=*") => Some(
            option(options, &["compress_algorithm"]).unwrap_or_else(|| "compress_extension=*".to_owned()),
        ),
        _ if Settings::of(directory, false)?.is_flagged => {
            Some("compressed by the directory's attribute +c".to_owned())
        }
        _ => None,
    };
    Ok(state.map(|state| format!("{} {state}", found.type_name)))
}

/// Whether new files in a directory are written without compression, as a plan asks that says `none`.
///
/// # Errors
/// What compresses them, or why that is not known, and what to do.
pub fn check_uncompressed(directory: &Path) -> Result<(), FilesystemError> {
    let advice = "leave compression out to measure the filesystem as it is set, or give a directory that is not compressed";
    let message = match compression_below(directory) {
        Ok(None) => return Ok(()),
        Ok(Some(state)) => format!(
            "compression is none, but files in {} are compressed by their filesystem ({state}); {advice}",
            directory.display()
        ),
        Err(why) => format!("compression is none, but {}; {advice}", why.reason),
    };
    Err(FilesystemError::refused("compression", message))
}

/// What a directory gives the files that are made in it.
#[derive(Debug, Default)]
struct Settings {
    /// Of btrfs.
    property: Option<String>,
    /// `chattr +c`.
    is_flagged: bool,
}

impl Settings {
    /// Those of a directory, which has a property on btrfs.
    fn of(directory: &Path, has_property: bool) -> Result<Self, Unavailable> {
        let failed = |what: &str, errno: Errno| Unavailable::because(format!("{what}: {errno}"));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory, flags, Mode::empty())
            .map_err(|errno| failed("the directory cannot be opened", errno))?;
        let mut buffer = [0_u8; 64];
        let property = match rustix::fs::fgetxattr(&opened, "btrfs.compression", &mut buffer) {
            _ if !has_property => None,
            Ok(length) => buffer.get(..length),
            Err(Errno::NODATA) => None,
            Err(errno) => return Err(failed("its property btrfs.compression cannot be read", errno)),
        };
        Ok(Self {
            property: property.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            // A filesystem without such flags does not compress by them.
            is_flagged: rustix::fs::ioctl_getflags(&opened)
                .is_ok_and(|flags| flags.contains(IFlags::COMPRESSED)),
        })
    }
}

/// The mount's force comes first, then the directory's property, then its attribute, then the mount.
fn btrfs(options: &str, settings: &Settings) -> Option<String> {
    let forced = option(options, &["compress-force"]);
    let mounted = option(options, &["compress"]);
    let property = settings.property.as_deref().filter(|value| !value.is_empty());
    match property {
        _ if forced.is_some() => forced,
        Some("none" | "no") => None,
        Some(property) => Some(format!("compression={property} (the directory's property)")),
        None if mounted.is_none() && settings.is_flagged => {
            Some("compression=zlib (the directory's attribute +c)".to_owned())
        }
        None => mounted,
    }
}

/// The first of some options that is set to something, as it stands.
fn option(options: &str, names: &[&str]) -> Option<String> {
    let mut words = options.split(',').map(str::trim);
    let is_on = |word: &&str| {
        let value = word.split_once('=').filter(|(name, _)| names.contains(name));
        value.is_some_and(|(_, value)| !["none", "no", "off"].contains(&value))
    };
    words.find(is_on).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_btrfs_is_that_of_its_mount_unless_the_directory_says_otherwise() {
        let settings = |property: Option<&str>, is_flagged| Settings {
            property: property.map(str::to_owned),
            is_flagged,
        };
        let plain = settings(None, false);
        for (options, settings, expected) in [
            ("rw,relatime,space_cache=v2", &plain, None),
            ("rw,compress=zstd:3,ssd", &plain, Some("compress=zstd:3")),
            ("rw,compress=none", &plain, None),
            (
                "rw,compress-force=lzo",
                &settings(Some("none"), false),
                Some("compress-force=lzo"),
            ),
            ("rw,compress=zstd:3", &settings(Some("none"), false), None),
            (
                "rw",
                &settings(Some("zstd"), false),
                Some("compression=zstd (the directory's property)"),
            ),
            (
                "rw",
                &settings(None, true),
                Some("compression=zlib (the directory's attribute +c)"),
            ),
        ] {
            assert_eq!(
                btrfs(options, settings).as_deref(),
                expected,
                "{options} {settings:?}"
            );
        }
    }

    #[test]
    fn settings_of_other_filesystems_are_found_by_their_names() {
        let zfs = "rw,xattr, recordsize=131072, compression=zstd-3, sync=standard";
        assert_eq!(
            option(zfs, &["compression"]).as_deref(),
            Some("compression=zstd-3")
        );
        assert_eq!(option("compression=off", &["compression"]), None);
    }
    #[test]
    fn a_filesystem_that_does_not_say_how_it_compresses_is_no_filesystem_without_compression() {
        let folder = tempfile::tempdir().unwrap();
        for (kind, reason) in [("bcachefs", "bcachefs_effective.compression"), ("zfs", "zfs")] {
            let found = Found {
                type_name: kind.to_owned(),
                source: "no-such-pool/data".to_owned(),
                ..Found::at(folder.path()).unwrap()
            };
            let why = state(&found, folder.path()).unwrap_err().reason;
            assert!(why.contains(reason), "{kind}: {why}");
        }
    }

    #[test]
    fn f2fs_compresses_what_its_mount_names() {
        let folder = tempfile::tempdir().unwrap();
        let seen = |options: &str| {
            let found = Found {
                type_name: "f2fs".to_owned(),
                mount_options: options.to_owned(),
                ..Found::at(folder.path()).unwrap()
            };
            state(&found, folder.path()).unwrap()
        };
        let all = "rw,compress_algorithm=lz4,compress_log_size=2,compress_extension=*";
        assert_eq!(seen(all).as_deref(), Some("f2fs compress_algorithm=lz4"));
        assert_eq!(seen("rw,compress_algorithm=lz4,compress_log_size=2"), None);
    }
}
