//! Settings of a ZFS dataset, which the kernel's mount options do not have: asked of `zfs get`, as any user may.

use std::process::{Command, Stdio};

use outcrop_measure::metric::Unavailable;
use outcrop_probe::Filesystem;

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

/// Mount options, and on ZFS the dataset's settings: `rw,xattr, recordsize=131072, compression=zstd-3…`.
///
/// Where `zfs` does not say, that stands in their place, with the reason.
pub(crate) fn options(found: &Filesystem) -> String {
    if found.type_name != "zfs" {
        return found.mount_options.clone();
    }
    let settings = match asked(&found.source) {
        Ok(settings) => settings,
        Err(why) => format!("its record size and compression are unknown: {}", why.reason),
    };
    format!("{}, {settings}", found.mount_options)
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

    proptest! {
        #[test]
        fn any_answer_is_no_panic(text in ".*") {
            let _ = read(&text);
        }
    }
}
