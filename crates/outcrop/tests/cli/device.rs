//! `outcrop device` on devices that it overwrites, and on several at once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{names_in, outcrop, workplace};

/// A file of zeros dressed up as a block device.
pub(crate) struct LoopDevice {
    pub(crate) node: String,
    pub(crate) image: PathBuf,
    _folder: tempfile::TempDir,
}

impl LoopDevice {
    pub(crate) fn new(size_bytes: u64) -> Self {
        Self::attached(size_bytes, "--direct-io=on")
    }

    /// One that answers from the page cache of the filesystem that its file is on.
    pub(crate) fn buffered(size_bytes: u64) -> Self {
        Self::attached(size_bytes, "--direct-io=off")
    }

    fn attached(size_bytes: u64, direct: &str) -> Self {
        let folder = workplace();
        let image = folder.path().canonicalize().unwrap().join("image");
        File::create(&image).unwrap().set_len(size_bytes).unwrap();
        let attached = Command::new("losetup")
            .args(["--find", "--show", direct])
            .arg(&image)
            .output()
            .unwrap();
        assert!(
            attached.status.success(),
            "the tests run as root, with loop devices"
        );
        Self {
            node: String::from_utf8(attached.stdout).unwrap().trim().to_owned(),
            image,
            _folder: folder,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.image.to_str().unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.node]).status();
    }
}

#[test]
fn a_device_is_overwritten_with_its_name_and_refused_without_or_with_another() {
    let device = LoopDevice::new(8 << 20);
    let dir = workplace();
    for args in [
        &["device", &device.node][..],
        &["device", &device.node, "--destroy", "S1"],
        &["device", &device.node, "--destroy", &device.node],
        &["device", "--destroy", device.name()],
    ] {
        let seen = outcrop(dir.path(), args);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert_eq!(seen.stderr.lines().count(), 1, "{seen:?}");
    }
    let seen = outcrop(dir.path(), &["device", &device.node]);
    assert!(
        seen.sentence().contains(device.name()),
        "it says what to type: {seen:?}"
    );
    let reading = format!("`outcrop device --read-only {}` only reads it", device.node);
    assert!(seen.sentence().contains(&reading), "{seen:?}");
    let seen = outcrop(
        dir.path(),
        &["device", "--filename", &device.node, "--rw=randwrite"],
    );
    let writing = format!("`outcrop device {} --destroy NAME` overwrites", device.node);
    assert!(seen.sentence().contains(&writing), "{seen:?}");
    assert!(
        std::fs::read(&device.image)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    );
    assert_eq!(names_in(dir.path()), [""; 0], "no file and no run folder");

    let short = [
        "--size=4MiB",
        "--read-write-mix=0:100",
        "--queue-depth=1",
        "--sync=none,each",
        "--engine=libaio",
        "--repetitions=2",
        "--warm-up=2ms",
        "--duration=250ms",
        "--format=csv",
    ];
    let args = [&["device", &device.node, "--destroy", device.name()][..], &short].concat();
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stdout.contains(",none,") && seen.stdout.contains(",each,"),
        "{seen:?}"
    );
    let image = std::fs::read(&device.image).unwrap();
    assert!(
        image[..4 << 20]
            .chunks(4096)
            .all(|block| block.iter().any(|byte| *byte != 0))
    );
    assert!(image[4 << 20..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_job_file_overwrites_the_device_whose_name_is_given_with_it_and_no_other() {
    let device = LoopDevice::new(8 << 20);
    let dir = workplace();
    let job = |name: &str, rw: &str| {
        let text = format!(
            "[global]\ndirect=1\nioengine=libaio\nsize=2m\nfilename={}\n[first]\nrw={rw}\n[second]\nstonewall\nrw=randread\n",
            device.node
        );
        std::fs::write(dir.path().join(name), text).unwrap();
    };
    job("writes.fio", "randwrite");
    job("reads.fio", "randread");
    let with = |file: &str, names: &[&str]| {
        let file = format!("--job={file}");
        let named: Vec<&str> = names.iter().flat_map(|name| ["--destroy", name]).collect();
        let short = [
            "--repetitions=2",
            "--warm-up=2ms",
            "--duration=250ms",
            "--no-save",
            "--format=csv",
        ];
        outcrop(dir.path(), &[&["device", &file][..], &named, &short].concat())
    };
    for (file, names, says) in [
        ("writes.fio", &[][..], "writes.fio:6: it writes to"),
        ("writes.fio", &["S1"], device.name()),
        (
            "writes.fio",
            &[device.name(), device.name()],
            "`--destroy NAME` repeats its name once",
        ),
        (
            "reads.fio",
            &[device.name()],
            "no job of reads.fio writes to a block device",
        ),
    ] {
        let seen = with(file, names);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.sentence().contains(says), "{says}: {seen:?}");
    }
    let image = || std::fs::read(&device.image).unwrap();
    assert!(image().iter().all(|byte| *byte == 0));
    let seen = with("writes.fio", &[device.name()]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stdout.contains(",0:100,") && seen.stdout.contains(",100:0,"),
        "{seen:?}"
    );
    let (span, rest) = (&image()[..2 << 20], &image()[2 << 20..]);
    assert!(span.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    assert!(rest.iter().all(|byte| *byte == 0), "beyond what the jobs reach");
}

#[test]
fn fio_names_of_durability_and_buffering_are_understood() {
    let dir = workplace();
    for (typed, factor) in [
        (&["--fsync", "1"][..], "sync=each:fsync"),
        (&["--fdatasync=8"], "sync=every:8"),
        (&["--fsync=8", "--fdatasync=0"], "sync=every:8:fsync"),
        (&["--fsync=0", "--fdatasync=8"], "sync=every:8,"),
        (&["--fsync=0", "--fdatasync=0"], "sync=none"),
        (&["--sync", "dsync"], "sync=dsync"),
        (&["--sync", "0"], "sync=none"),
        (&["--fsync=8", "--sync", "0"], "sync=every:8:fsync"),
        (&["--fdatasync=0", "--sync", "each"], "sync=each"),
        (&["--fsync=0", "--sync", "0"], "sync=none"),
        (&["--direct", "0"], "access=buffered"),
        (&["--direct=1", "--ioengine", "libaio"], "engine=libaio"),
        (&["--ioengine", "psync"], "queue_depth=1 "),
    ] {
        let args = [
            &[
                "device",
                "--rw",
                "randwrite",
                "--size",
                "4MiB",
                "--dry-run",
                "--format",
                "csv",
            ][..],
            typed,
        ]
        .concat();
        let seen = outcrop(dir.path(), &args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        assert!(seen.stdout.contains(factor), "{factor}: {seen:?}");
    }
}

#[test]
fn a_limit_on_the_size_of_files_ends_with_a_sentence_and_leaves_nothing() {
    let dir = workplace();
    let script = "ulimit -f 1000; exec \"$0\" device --size 4MiB --no-save --quiet";
    let seen = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_outcrop")])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&seen.stderr);
    assert_eq!(seen.status.code(), Some(3), "{said}");
    assert!(said.contains("File too large"), "{said}");
    assert_eq!(names_in(dir.path()), [""; 0]);
}

#[test]
fn peak_is_batched_submission_says_so_and_contradicts_another() {
    let dir = workplace();
    let planned = ["device", "--peak", "--size=4MiB", "--dry-run", "--format=csv"];
    let seen = outcrop(dir.path(), &planned);
    assert!(seen.stdout.contains("submission=batch"), "{seen:?}");
    let same = [
        "device",
        "--peak",
        "--submission=batch",
        "--size=4MiB",
        "--dry-run",
    ];
    assert_eq!(outcrop(dir.path(), &same).code, Some(0));
    for other in ["--submission=refill", "--submission=refill,batch"] {
        let seen = outcrop(
            dir.path(),
            &["device", "--peak", other, "--size=4MiB", "--dry-run"],
        );
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.sentence().contains("--peak and --submission"), "{seen:?}");
    }
}

#[test]
fn what_is_written_is_a_share_of_the_endurance_that_the_user_gives() {
    let dir = workplace();
    let short = [
        "device",
        "--size=4MiB",
        "--read-write-mix=0:100",
        "--queue-depth=1",
        "--repetitions=1",
        "--warm-up=0s",
        "--duration=250ms",
    ];
    let with = |more: &[&str]| outcrop(dir.path(), &[&short[..], more].concat());
    let unknown = with(&["--dry-run"]);
    assert!(!unknown.stdout.contains("endurance"), "{unknown:?}");
    let planned = with(&["--dry-run", "--tbw=1TB"]);
    assert!(
        planned
            .stdout
            .contains(" % of the rated 1.00 TB (yours, by --tbw)"),
        "{planned:?}"
    );
    let done = with(&["--tbw=1TB"]);
    assert!(
        done.stderr.contains(" % of the rated 1.00 TB (yours, by --tbw)"),
        "{done:?}"
    );
    let nothing = with(&["--tbw=0"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}

#[test]
fn several_drives_are_loaded_at_once_and_each_has_its_figures() {
    let (dir, other) = (workplace(), workplace());
    let other = other.path().to_str().unwrap();
    let planned = [
        "device",
        "--also",
        other,
        "--size=4MiB",
        "--dry-run",
        "--format=csv",
    ];
    let seen = outcrop(dir.path(), &planned);
    assert!(seen.stdout.contains("drives=2"), "all of them: {seen:?}");
    let short = [
        "device",
        "--also",
        other,
        "--drives=1,2",
        "--size=4MiB",
        "--queue-depth=4",
    ];
    let times = [
        "--repetitions=2",
        "--warm-up=2ms",
        "--duration=250ms",
        "--no-save",
        "--format=json",
    ];
    let seen = outcrop(dir.path(), &[&short[..], &times].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("drives-are-alike"), "{seen:?}");
    assert_eq!(names_in(Path::new(other)), [""; 0], "no file is left");
    assert!(
        seen.stderr.contains("are on the same disk"),
        "two directories of one disk are not two drives: {seen:?}"
    );
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    for same in [".", link.to_str().unwrap()] {
        let twice = ["device", "--also", same, "--size=4MiB"];
        let seen = outcrop(dir.path(), &[&twice[..], &times].concat());
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.sentence().contains("which is named twice"), "{seen:?}");
    }
    let file = ["device", "--also", "Cargo.toml", "--dry-run"];
    assert!(
        outcrop(dir.path(), &file)
            .sentence()
            .contains("is not a directory")
    );
}

#[test]
fn two_devices_are_overwritten_at_once_where_both_are_named() {
    let (first, second) = (LoopDevice::new(4 << 20), LoopDevice::new(4 << 20));
    let dir = workplace();
    let devices = ["device", &first.node, "--also", &second.node];
    let short = [
        "--size=2MiB",
        "--drives=1,2",
        "--read-write-mix=0:100",
        "--repetitions=2",
        "--warm-up=20ms",
        "--duration=300ms",
        "--no-save",
        "--format=json",
    ];
    let with = |names: &[&str]| {
        let named: Vec<&str> = names.iter().flat_map(|name| ["--destroy", name]).collect();
        outcrop(dir.path(), &[&devices[..], &named, &short].concat())
    };
    for names in [&[][..], &[first.name()], &[second.name(), first.name()]] {
        let seen = with(names);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(
            seen.sentence().contains(second.name()),
            "what it is called: {seen:?}"
        );
    }
    let blank = |device: &LoopDevice| {
        std::fs::read(&device.image)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    };
    assert!(blank(&first) && blank(&second));
    let seen = with(&[first.name(), second.name()]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("drives-are-alike"), "{seen:?}");
    assert!(!blank(&first) && !blank(&second));

    let verify = [
        &devices[..2],
        &["--destroy", first.name(), "--destroy", second.name(), "--verify"],
    ]
    .concat();
    let seen = outcrop(dir.path(), &verify);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("--verify takes one device"), "{seen:?}");
}

#[test]
fn a_run_of_trials_that_are_too_short_for_their_depth_shows_no_rate_of_zero_and_says_what_to_set() {
    let dir = workplace();
    let args = "device --size 64MiB --io-block-size 8MiB --queue-depth 32 --access-pattern sequential --warm-up 0s --duration 10ms \
                --repetitions 3 --read-write-mix 100:0,0:100 -q .";
    let args: Vec<&str> = args.split_whitespace().collect();
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let text = seen.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // Whether some completed or none, the device decides, for reads and for writes: a warning is of a kind that a row has.
    let too_short = [
        "too few operations",
        "no IOPS, bandwidth or latency, since a trial was shorter than",
        "32 were in flight); set a longer `--duration`, and a `--warm-up` as long as these requests take.",
    ];
    let none_completed = [
        "no operation completed",
        "no IOPS, bandwidth or latency, since no operation completed in a trial (8 MiB sequential",
        "set a longer `--duration`, and a `--warm-up` as long as a request takes.",
    ];
    for figure in ["Highest IOPS", "Highest bandwidth"] {
        let of_row = [too_short[0], none_completed[0]].map(|why| format!("{figure} {why}"));
        assert!(of_row.iter().any(|row| text.contains(row)), "{}", seen.stdout);
    }
    assert!(
        [too_short, none_completed]
            .iter()
            .any(|parts| parts.iter().all(|part| text.contains(part))),
        "{}",
        seen.stdout
    );
    for wrong in ["0 B/s", "no cell with only", "One trial"] {
        assert!(!text.contains(wrong), "{wrong}\n{}", seen.stdout);
    }
}
