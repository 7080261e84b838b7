//! What `blkid` of util-linux says is stored on a device: it knows more signatures than the table, and each version some more.

use std::path::Path;
use std::process::{Command, Stdio};

/// What it found by ambivalent signatures.
const AMBIVALENT: i32 = 8;

/// What it names, if it is installed and names anything; nothing it says makes a device free.
///
/// *Cost*: it is started, and reads what it needs of the device.
pub(crate) fn second_opinion(device: &Path) -> Option<String> {
    let program = outcrop_probe::program::find("blkid")?;
    let output = Command::new(program)
        // By reading the device, not from its cache.
        .args(["--probe", "--output", "export"])
        .arg(device)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    if output.status.code() == Some(AMBIVALENT) {
        return Some("several signatures at once, as `blkid` says".to_owned());
    }
    named(&String::from_utf8_lossy(&output.stdout)).map(|name| format!("what `blkid` names {name}"))
}

/// A partition is told where it lies, too, which says nothing of what is stored on it.
fn named(output: &str) -> Option<String> {
    let value = |key: &str| {
        let mut lines = output.lines();
        lines.find_map(|line| line.strip_prefix(key)).map(str::to_owned)
    };
    let table = || value("PTTYPE=").map(|kind| format!("a partition table of type {kind}"));
    value("TYPE=").or_else(table)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_type_is_named_and_the_place_of_a_partition_is_not() {
        let of_minix = "DEVNAME=/dev/loop0\nVERSION=1\nTYPE=minix\nUSAGE=filesystem\n";
        let of_table = "DEVNAME=/dev/loop0\nPTUUID=1\nPTTYPE=atari\n";
        let of_partition = "DEVNAME=/dev/loop0p1\nPART_ENTRY_SCHEME=dos\nPART_ENTRY_TYPE=0x83\n";
        assert_eq!(named(of_minix).as_deref(), Some("minix"));
        assert_eq!(
            named(of_table).as_deref(),
            Some("a partition table of type atari")
        );
        assert_eq!(named(of_partition), None);
        assert_eq!(named(""), None);
    }
}
