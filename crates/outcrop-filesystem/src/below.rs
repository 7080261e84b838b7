//! What a directory of the user's allows and does: whether filesystems can be made in it, and whether its own filesystem compresses.

use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::Filesystem as Found;
use rustix::fs::{IFlags, Mode, OFlags};

use crate::dataset;
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
/// The directory cannot be examined.
pub fn compression_below(directory: &Path) -> Result<Option<String>, Unavailable> {
    let found = Found::at(directory)?;
    let state = match found.type_name.as_str() {
        "btrfs" => btrfs(&found.mount_options, &Settings::of(directory)),
        "zfs" => option(&dataset::options(&found, directory), &["compression"]),
        "bcachefs" => option(
            &dataset::options(&found, directory),
            &["compression", "background_compression"],
        ),
        _ if Settings::of(directory).is_flagged => {
            Some("compressed by the directory's attribute +c".to_owned())
        }
        _ => None,
    };
    Ok(state.map(|state| format!("{} {state}", found.type_name)))
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
    /// What cannot be read is not set.
    fn of(directory: &Path) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(opened) = rustix::fs::open(directory, flags, Mode::empty()) else {
            return Self::default();
        };
        let mut buffer = [0_u8; 64];
        let length = rustix::fs::fgetxattr(&opened, "btrfs.compression", &mut buffer);
        let property = length.ok().and_then(|length| buffer.get(..length));
        Self {
            property: property.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            is_flagged: rustix::fs::ioctl_getflags(&opened)
                .is_ok_and(|flags| flags.contains(IFlags::COMPRESSED)),
        }
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
}
