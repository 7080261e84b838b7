//! What btrfs stores, beside compsize.

use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_filesystem::Prepared;
use outcrop_probe::Clock;
use outcrop_workload::filesystem::FilesystemKind;

use crate::place::{DATA_BYTES, btrfs, can_make, data, folder, image, spec};

/// Disk usage and uncompressed size of a file, in bytes.
fn compsize(path: &std::path::Path) -> (u64, u64) {
    let output = Command::new("compsize")
        .arg("--bytes")
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let total = text.lines().find(|line| line.starts_with("TOTAL")).expect(&text);
    let words: Vec<&str> = total.split_whitespace().collect();
    (words[2].parse().unwrap(), words[3].parse().unwrap())
}

#[test]
fn stored_bytes_are_those_of_compsize_in_six_configurations() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let folder = folder();
    let image = image(folder.path());
    let data = data(DATA_BYTES);
    let (clock, stop, spec) = (Clock::new(), AtomicBool::new(false), spec());
    for compression in ["none", "zlib:1", "zlib:9", "lzo", "zstd:1", "zstd:9"] {
        let filesystem = btrfs(compression);
        let prepared = Prepared::new(&image, &filesystem, &spec, &data, &clock, &stop).unwrap();
        let ours = prepared.stored().unwrap();
        let theirs = compsize(&prepared.path().unwrap());
        assert_eq!((ours.disk_bytes, ours.file_bytes), theirs, "{compression}");
    }
}
