//! Full disks, missing permissions and filesystems that refuse: one clear sentence, nothing lost.

use crate::harness::{names_in, only_run, outcrop, workplace};
use crate::killed::without_call;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small filesystem of its own, unmounted when dropped.
pub(crate) struct Mounted {
    dir: tempfile::TempDir,
}

impl Mounted {
    pub(crate) fn tmpfs(size: &str) -> Self {
        let dir = workplace();
        run(Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "outcrop-test"])
            .arg(dir.path()));
        Self { dir }
    }

    fn ext4(size_mib: u64) -> (Self, tempfile::TempDir) {
        let image_dir = workplace();
        let image = image_dir.path().join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(size_mib << 20)
            .unwrap();
        run(Command::new("mkfs.ext4")
            .args(["-q", "-F", "-m", "0"])
            .arg(&image));
        let dir = workplace();
        run(Command::new("mount")
            .args(["-o", "loop"])
            .arg(&image)
            .arg(dir.path()));
        (Self { dir }, image_dir)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run(Command::new("umount").arg("--lazy").arg(self.dir.path()));
    }
}

fn run(command: &mut Command) {
    let output = command
        .output()
        .expect("the tool is installed (`make test` installs it)");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn completed(run: &Path) -> usize {
    let text = std::fs::read_to_string(run.join("trials.ndjson")).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("whole lines only"));
    lines.filter(|trial| trial["outcome"] == "completed").count()
}

#[test]
fn a_filesystem_too_small_is_refused_with_numbers_and_left_as_it_was() {
    let (small, _image) = Mounted::ext4(32);
    let dir = workplace();
    let before = names_in(&small.path());
    let seen = outcrop(
        dir.path(),
        &["device", small.path().to_str().unwrap(), "--size", "1GiB"],
    );
    assert_eq!(seen.code, Some(3), "{seen:?}");
    assert!(seen.sentence().contains("--size"), "{seen:?}");
    assert_eq!(names_in(&small.path()), before);
    assert!(
        names_in(dir.path()).is_empty(),
        "a run that could not begin leaves no folder"
    );
}

#[test]
fn a_filesystem_in_memory_is_measured_where_buffered_access_is_asked_for_and_refused_otherwise() {
    let memory = Mounted::tmpfs("64m");
    std::fs::write(memory.path().join("theirs"), vec![7; 1 << 20]).unwrap();
    let dir = workplace();
    let out = dir.path().join("runs");
    let (place, out) = (memory.path().display().to_string(), out.display().to_string());
    let theirs = format!("--read-only={place}/theirs");
    for (target, access, engine, code) in [
        (&place, "buffered", "io_uring", 0),
        (&place, "buffered", "psync", 0),
        (&theirs, "buffered", "io_uring", 0),
        (&place, "direct", "io_uring", 3),
        (&place, "direct,buffered", "io_uring", 3),
        (&theirs, "direct", "io_uring", 2),
        (&theirs, "direct,buffered", "io_uring", 2),
    ] {
        let size = if target.starts_with("--") { "1MiB" } else { "4MiB" };
        let (access, engine) = (format!("--access={access}"), format!("--engine={engine}"));
        let how = [
            "--duration=50ms",
            "--warm-up=1ms",
            "--repetitions=1",
            "--size",
            size,
            "--out",
            &out,
        ];
        let seen = outcrop(
            dir.path(),
            &[&["device", target.as_str(), &access, &engine], &how[..]].concat(),
        );
        assert_eq!(seen.code, Some(code), "{target} {access}: {seen:?}");
        let is_refused = seen.sentence().contains("does not support O_DIRECT");
        assert_eq!(is_refused, code != 0, "{target} {access}: {seen:?}");
    }
}

#[test]
fn a_disk_that_fills_in_the_middle_keeps_the_finished_trials_and_resume_goes_on() {
    let small = Mounted::tmpfs("200k");
    let dir = workplace();
    let out = small.path();
    let args = [
        "device",
        "--size",
        "8MiB",
        "--queue-depth",
        "1,2,4,8",
        "--repetitions",
        "30",
        "--warm-up",
        "2ms",
        "--duration",
        "10ms",
        "--out",
        out.to_str().unwrap(),
    ];
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(3), "{seen:?}");
    assert!(
        seen.sentence().contains("--resume") && seen.sentence().contains("kept"),
        "{seen:?}"
    );
    assert!(names_in(dir.path()).is_empty(), "the scratch file is gone");
    let run_dir = std::fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    let before = completed(&run_dir);
    assert!(before > 0);
    run(Command::new("mount").args(["-o", "remount,size=64m"]).arg(&out));
    let seen = outcrop(dir.path(), &["run", "--resume", run_dir.to_str().unwrap()]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(completed(&run_dir), 120);
}

#[test]
fn a_file_is_preconditioned_where_io_uring_is_forbidden() {
    let dir = workplace();
    let plan = "name = \"filled\"\nquestion = \"What does a filled file give?\"\nlayer = \"device\"\n\n[subject]\nsize = \"4MiB\"\n\
                precondition = 2\n\n[workload]\nengine = \"psync\"\nqueue_depth = 1\n\n[trial]\nrepetitions = 2\nwarm_up = \"2ms\"\n\
                duration = \"20ms\"\n";
    std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let seen = without_call(libc::SYS_io_uring_setup, dir.path(), &["run", "plan.toml"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(completed(&only_run(dir.path())), 2);
}

#[test]
fn a_filesystem_without_direct_io_is_named_and_never_measured_buffered() {
    let dir = workplace();
    let ram = workplace();
    run(Command::new("mount")
        .args(["-t", "ramfs", "outcrop-test"])
        .arg(ram.path()));
    let seen = outcrop(
        dir.path(),
        &["device", ram.path().to_str().unwrap(), "--size", "4MiB"],
    );
    run(Command::new("umount").arg("--lazy").arg(ram.path()));
    assert_eq!(seen.code, Some(3), "{seen:?}");
    assert!(
        seen.sentence().contains("O_DIRECT") && seen.sentence().contains("ramfs"),
        "{seen:?}"
    );
}

#[test]
fn a_run_that_could_measure_nothing_says_why_and_is_no_success() {
    let memory = Mounted::tmpfs("1g");
    let dir = workplace();
    let place = memory.path();
    let seen = outcrop(
        dir.path(),
        &["filesystem", place.to_str().unwrap(), "--repetitions", "1"],
    );
    assert_eq!(seen.code, Some(3), "{seen:?}");
    assert!(seen.stdout.contains("is on tmpfs"), "{seen:?}");
    assert!(seen.sentence().contains("nothing could be measured"), "{seen:?}");
    let run = only_run(dir.path());
    let resumed = outcrop(dir.path(), &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!(resumed.code, Some(3), "a resume has no more to show: {resumed:?}");

    let plan = "name = \"fs\"\nquestion = \"?\"\nlayer = \"filesystem\"\n[trial]\nrepetitions = 1\n";
    std::fs::write(dir.path().join("fs.toml"), plan).unwrap();
    let ab = "ab fs.toml --a page_cache=cold --b page_cache=warm --no-save --path";
    let ab = ab.split(' ').chain(place.to_str()).collect::<Vec<_>>();
    let compared = outcrop(dir.path(), &ab);
    assert_eq!(compared.code, Some(2), "{compared:?}");
    assert!(compared.stdout.contains("tmpfs"), "{compared:?}");
}

#[test]
fn a_read_only_mount_is_refused_with_a_hint() {
    let (small, _image) = Mounted::ext4(32);
    run(Command::new("mount").args(["-o", "remount,ro"]).arg(small.path()));
    let dir = workplace();
    let seen = outcrop(
        dir.path(),
        &["device", small.path().to_str().unwrap(), "--size", "4MiB"],
    );
    assert_eq!(seen.code, Some(3), "{seen:?}");
    assert!(
        seen.sentence().contains(small.path().to_str().unwrap()),
        "{seen:?}"
    );
}

#[test]
fn a_directory_without_permission_is_named_with_what_to_do() {
    let forbidden = tempfile::tempdir().unwrap();
    run(Command::new("chmod").arg("0755").arg(forbidden.path()));
    let output = Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            env!("CARGO_BIN_EXE_outcrop"),
            "device",
        ])
        .arg(forbidden.path())
        .args(["--size", "4MiB", "--out", "/tmp/outcrop-test-no-permission"])
        .current_dir("/")
        .output()
        .expect("setpriv is part of util-linux");
    let _ = std::fs::remove_dir_all("/tmp/outcrop-test-no-permission");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(forbidden.path().to_str().unwrap()), "{text}");
    assert!(text.to_lowercase().contains("permission"), "{text}");
}

#[test]
fn a_damaged_journal_is_refused_by_line_and_left_as_it_is() {
    let dir = workplace();
    let args = [
        "device",
        "--size",
        "8MiB",
        "--repetitions",
        "3",
        "--warm-up",
        "2ms",
        "--duration",
        "10ms",
    ];
    assert_eq!(outcrop(dir.path(), &args).code, Some(0));
    let run_dir = only_run(dir.path());
    let path = run_dir.join("trials.ndjson");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[10] = 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let seen = outcrop(dir.path(), &["run", "--resume", run_dir.to_str().unwrap()]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("trials.ndjson:1"), "{seen:?}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "nothing was changed");
}
