//! Every setting once: that the kernel has it, and that a trial with it returns what was written.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use outcrop_filesystem::{
    Filesystem, FilesystemError, Image, JobReport, JobSpec, OwnFilesystem, Place, image_bytes, run_job,
};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_workload::filesystem::{Checksum, CompressPolicy, CopyOnWrite, FilesystemKind};

use crate::place::{btrfs, can_make, data, folder};

/// A hundred extents are the least that is measured.
const SMALL_BYTES: u64 = 100 << 17;

/// An image for a small tree, and the tree.
struct Small {
    image: Image,
    data: Vec<u8>,
    folder: tempfile::TempDir,
}

impl Small {
    fn new() -> Self {
        Self::within(folder())
    }

    fn within(folder: tempfile::TempDir) -> Self {
        let bytes = image_bytes(SMALL_BYTES);
        let stop = AtomicBool::new(false);
        Self {
            image: Image::create(folder.path(), bytes, Seed(1), &stop, &mut |_, _| {}).unwrap(),
            data: data(SMALL_BYTES),
            folder,
        }
    }

    fn run(&self, filesystem: &Filesystem) -> Result<JobReport, FilesystemError> {
        let spec = JobSpec {
            duration: std::time::Duration::from_millis(20),
            ..JobSpec::new(Seed(3))
        };
        let stop = AtomicBool::new(false);
        let place = Place::Image(&self.image);
        run_job(place, filesystem, &spec, &self.data, &Clock::new(), &stop)
    }
}

/// What the kernel says that it checks the data of a mounted btrfs with: `xxhash64 (xxhash64-generic)`.
fn checksum_in_use(own: &OwnFilesystem) -> String {
    let mounted = std::fs::read_dir("/sys/fs/btrfs").unwrap();
    let mut folders = mounted.map(|entry| entry.unwrap().path());
    let is_ours = |folder: &PathBuf| folder.join("devices").join(own.device().name()).exists();
    let folder = folders.find(is_ours).expect("the kernel lists what is mounted");
    std::fs::read_to_string(folder.join("checksum")).unwrap()
}

#[test]
fn btrfs_has_each_checksum_that_a_plan_can_ask_for() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let small = Small::new();
    for checksum in Checksum::ALL {
        let filesystem = Filesystem {
            checksum,
            ..btrfs("none")
        };
        let own = OwnFilesystem::make(&small.image, &filesystem, &AtomicBool::new(false)).unwrap();
        let expected = match checksum {
            // That of metadata, which are always checked.
            Checksum::None => "crc32c",
            known => known.name(),
        };
        let seen = checksum_in_use(&own);
        assert!(seen.starts_with(expected), "{checksum}: {seen}");
        let is_off = own.options().split(',').any(|option| option == "nodatasum");
        assert_eq!(is_off, checksum == Checksum::None, "{}", own.options());
        drop(own);
        let report = small.run(&filesystem).unwrap();
        assert!(report.operation.operations > 0, "{checksum}");
    }
}

#[test]
fn btrfs_without_copy_on_write_and_with_the_heuristic_are_mounted_so() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let small = Small::new();
    let nocow = Filesystem {
        copy_on_write: CopyOnWrite::Off,
        ..btrfs("none")
    };
    let report = small.run(&nocow).unwrap();
    let shown = report.options.unwrap();
    assert!(shown.split(',').any(|option| option == "nodatacow"), "{shown}");
    let heuristic = Filesystem {
        policy: CompressPolicy::Heuristic,
        ..btrfs("zstd:3")
    };
    let report = small.run(&heuristic).unwrap();
    let shown = report.options.unwrap();
    assert!(
        shown.split(',').any(|option| option == "compress=zstd:3"),
        "{shown}"
    );
    // The heuristic leaves some extents of the sample as they are, and force compresses nearly all.
    let forced = small.run(&btrfs("zstd:3")).unwrap();
    let shares = [report.extents, forced.extents].map(|extents| extents.unwrap().encoded_share());
    assert!(shares[0] > 0.1 && shares[0] <= shares[1], "{shares:?}");
}

#[test]
fn negative_levels_are_those_that_were_asked_for_where_the_kernel_has_them() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let small = Small::new();
    for level in [-1, -15] {
        let compression = format!("zstd:{level}");
        match small.run(&btrfs(&compression)) {
            Ok(report) => {
                let shown = report.options.unwrap();
                assert!(
                    shown.contains(&format!("compress-force={compression}")),
                    "{shown}"
                );
                let share = report.extents.unwrap().encoded_share();
                assert!(share > 0.9, "{compression}: {share}");
            }
            // Before Linux 6.15, which is no reason to measure another level.
            Err(
                error @ (FilesystemError::OtherOptions { .. }
                | FilesystemError::Mount { .. }
                | FilesystemError::System { .. }),
            ) => {
                assert!(kernel() < (6, 15), "{error}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// The kernel's version.
fn kernel() -> (u32, u32) {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn every_codec_of_the_read_only_images_is_built_mounted_and_read() {
    let small = Small::new();
    for (kind, compressions) in [
        (
            FilesystemKind::Squashfs,
            &["none", "zlib:1", "lz4", "lz4hc", "lzo", "xz"][..],
        ),
        (FilesystemKind::Erofs, &["none", "lz4"][..]),
    ] {
        if !can_make(kind) {
            continue;
        }
        for compression in compressions {
            let filesystem = Filesystem::new(kind).with(compression.parse().unwrap());
            let report = small
                .run(&filesystem)
                .unwrap_or_else(|error| panic!("{filesystem}: {error}"));
            let ratio = SMALL_BYTES as f64 / report.used_bytes.unwrap() as f64;
            let is_compressed = *compression != "none";
            assert_eq!(ratio > 1.2, is_compressed, "{filesystem}: {ratio}");
            assert!(report.operation.operations > 0, "{filesystem}");
        }
    }
}

/// The table of mounts has ours before the one that it covers: a reader's data disk could hold no btrfs that compresses.
#[test]
fn a_directory_that_is_a_mount_point_shows_the_options_of_what_is_mounted_on_it() {
    const INSIDE: &str = "OUTCROP_TEST_MOUNT_POINT";
    const NAME: &str =
        "settings::a_directory_that_is_a_mount_point_shows_the_options_of_what_is_mounted_on_it";
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    if let Some(point) = std::env::var_os(INSIDE) {
        let small = Small::within(tempfile::tempdir_in(&point).unwrap());
        for directory in [PathBuf::from(&point), small.folder.path().to_owned()] {
            let image = image_bytes(SMALL_BYTES);
            let image = Image::create(
                &directory,
                image,
                Seed(1),
                &AtomicBool::new(false),
                &mut |_, _| {},
            );
            let inside = Small {
                image: image.unwrap(),
                data: small.data.clone(),
                folder: folder(),
            };
            let shown = inside.run(&btrfs("zstd:1")).unwrap().options.unwrap();
            assert!(shown.contains("compress-force=zstd:1"), "{shown}");
        }
        return;
    }
    let folder = folder();
    // It goes with the namespace, however this ends.
    let script = "set -e; mount --bind \"$1\" \"$1\"; exec \"$2\" --exact \"$3\" --nocapture";
    let output = std::process::Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .arg(NAME)
        .env(INSIDE, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}
