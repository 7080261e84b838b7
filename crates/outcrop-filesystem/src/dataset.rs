//! Settings that the kernel's mount options do not have: of a ZFS dataset, asked of `zfs get`, and of a directory on bcachefs, by its
//! extended attributes; as any user may.

use std::path::Path;
use std::process::{Command, Stdio};

use outcrop_measure::metric::Unavailable;
use outcrop_probe::Filesystem;
use rustix::io::Errno;

/// What decides how files are stored and read.
const PROPERTIES: [&str; 7] = [
    "recordsize",
    "compression",
    "checksum",
    "primarycache",
    "sync",
    "dedup",
    "encryption",
];

/// The same of a directory on bcachefs: what holds for new files in it, whoever set it.
const INODE_OPTIONS: [&str; 4] = [
    "compression",
    "background_compression",
    "data_checksum",
    "data_replicas",
];

/// Mount options, and on ZFS and bcachefs the settings of the dataset or directory: `rw,xattr, recordsize=131072, compression=zstd-3…`.
///
/// Where those are not known, that stands in their place, with the reason.
pub(crate) fn options(found: &Filesystem, directory: &Path) -> String {
    let what = match found.type_name.as_str() {
        "zfs" => "record size and compression are",
        _ => "compression is",
    };
    match settings(found, directory) {
        None => found.mount_options.clone(),
        Some(Ok(settings)) => format!("{}, {settings}", found.mount_options),
        Some(Err(why)) => format!("{}, its {what} unavailable: {}", found.mount_options, why.reason),
    }
}

/// The settings of the dataset or directory on ZFS and bcachefs; none on others, whose settings are mount options.
pub(crate) fn settings(found: &Filesystem, directory: &Path) -> Option<Result<String, Unavailable>> {
    match found.type_name.as_str() {
        "zfs" => Some(asked(&found.source)),
        "bcachefs" => Some(effective(|name| attribute(directory, name))),
        _ => None,
    }
}

/// The settings of a directory on bcachefs. Those that this version of it does not have are left out; without compression there is no
/// answer.
///
/// *Source*: bcachefs, fs/xattr.c: `bcachefs_effective.NAME` is the option that holds for an inode, inherited or of the filesystem.
fn effective(attribute: impl Fn(&str) -> Result<String, Errno>) -> Result<String, Unavailable> {
    let mut found = Vec::new();
    for name in INODE_OPTIONS {
        let full = format!("bcachefs_effective.{name}");
        match attribute(&full) {
            Ok(value) => found.push(format!("{name}={value}")),
            Err(errno) if name == INODE_OPTIONS[0] => {
                let why = format!("the directory has no attribute {full}: {errno}");
                return Err(Unavailable::because(why));
            }
            Err(_) => {}
        }
    }
    Ok(found.join(", "))
}

/// An extended attribute of a directory, as text.
fn attribute(directory: &Path, name: &str) -> Result<String, Errno> {
    let mut buffer = [0_u8; 64];
    let length = rustix::fs::getxattr(directory, name, &mut buffer)?;
    let bytes = buffer.get(..length).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    Ok(text.trim_end_matches(['\0', '\n']).to_owned())
}

/// `zfs get` of a dataset.
fn asked(dataset: &str) -> Result<String, Unavailable> {
    let output = Command::new("zfs")
        .args([
            "get",
            "-Hp",
            "-o",
            "property,value",
            &PROPERTIES.join(","),
            dataset,
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Unavailable::because(format!("zfs does not start: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Unavailable::because(format!("zfs get failed: {}", said.trim())));
    }
    read(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| Unavailable::because("zfs get printed no properties"))
}

/// From lines of a property, a tab and its value.
fn read(text: &str) -> Option<String> {
    let pairs: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(property, value)| format!("{property}={}", value.trim()))
        .collect();
    (!pairs.is_empty()).then(|| pairs.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn properties_are_read_from_tab_separated_lines() {
        let said = "recordsize\t131072\ncompression\tzstd-3\nprimarycache\tmetadata\n";
        let expected = "recordsize=131072, compression=zstd-3, primarycache=metadata";
        assert_eq!(read(said).as_deref(), Some(expected));
        assert_eq!(read("cannot open 'tank': no such dataset\n"), None);
    }

    #[test]
    fn what_holds_for_a_directory_on_bcachefs_is_in_its_attributes() {
        let has = |name: &str| match name {
            "bcachefs_effective.compression" => Ok("zstd:3".to_owned()),
            "bcachefs_effective.data_checksum" => Ok("crc32c".to_owned()),
            _ => Err(Errno::INVAL),
        };
        assert_eq!(
            effective(has).unwrap(),
            "compression=zstd:3, data_checksum=crc32c"
        );
        // Without it the rest says nothing of what is measured.
        let lacks = |name: &str| match name {
            "bcachefs_effective.compression" => Err(Errno::NODATA),
            _ => Ok("crc32c".to_owned()),
        };
        let why = effective(lacks).unwrap_err().reason;
        assert!(why.contains("bcachefs_effective.compression"), "{why}");
    }

    #[test]
    fn a_directory_that_has_no_such_attributes_has_unavailable_settings_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let found = Filesystem {
            type_name: "bcachefs".to_owned(),
            ..Filesystem::at(folder.path()).unwrap()
        };
        let seen = options(&found, folder.path());
        assert!(seen.starts_with(&found.mount_options), "{seen}");
        assert!(
            seen.contains(", its compression is unavailable: the directory has no attribute"),
            "{seen}"
        );
    }

    proptest! {
        #[test]
        fn any_answer_is_no_panic(text in ".*") {
            let _ = read(&text);
        }
    }
}
