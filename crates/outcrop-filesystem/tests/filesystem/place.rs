//! Images, data and what is left of them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use outcrop_filesystem::{Filesystem, Image, JobSpec, image_bytes, privilege};
use outcrop_measure::seed::Seed;
use outcrop_workload::filesystem::FilesystemKind;

/// Bytes of the files of most tests: 128 extents.
pub(crate) const DATA_BYTES: u64 = 16 << 20;

/// A directory on the disk that the repository is on: the one for temporary files may be in memory.
pub(crate) fn folder() -> tempfile::TempDir {
    let target = std::env::var_os("CARGO_TARGET_TMPDIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    tempfile::tempdir_in(target).unwrap()
}

/// The embedded sample again and again: its length is no multiple of an extent, so that no two are the same.
pub(crate) fn data(bytes: u64) -> Vec<u8> {
    let stop = AtomicBool::new(false);
    let sample = outcrop_compress::Source::embedded().unwrap();
    let sample = sample.draw(u64::MAX, 1, Seed(1), &stop).unwrap();
    sample
        .bytes()
        .iter()
        .copied()
        .cycle()
        .take(bytes as usize)
        .collect()
}

/// Whether filesystems can be made here, or a line that says what is skipped.
pub(crate) fn can_make(kind: FilesystemKind) -> bool {
    let why = privilege().and_then(|()| Filesystem::new(kind).availability());
    if let Err(why) = &why {
        println!("skipped: {kind}: {}", why.reason);
    }
    why.is_ok()
}

pub(crate) fn image(directory: &Path) -> Image {
    let bytes = image_bytes(DATA_BYTES);
    Image::create(directory, bytes, Seed(1), &AtomicBool::new(false), &mut |_, _| {}).unwrap()
}

pub(crate) fn spec() -> JobSpec {
    JobSpec {
        duration: std::time::Duration::from_millis(60),
        ..JobSpec::new(Seed(3))
    }
}

pub(crate) fn btrfs(compression: &str) -> Filesystem {
    Filesystem::new(FilesystemKind::Btrfs).with(compression.parse().unwrap())
}

/// Loop devices whose file is on the disk and has no name: those of ours, and of no others on a machine where only we make such.
pub(crate) fn loops_without_a_name() -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/sys/block").unwrap() {
        let path = entry.unwrap().path();
        let Ok(file) = std::fs::read_to_string(path.join("loop/backing_file")) else {
            continue;
        };
        // The kernel says "(deleted)" of a file without a name.
        if file.contains("(deleted)") {
            found.push(format!("{}: {}", path.display(), file.trim()));
        }
    }
    found
}
