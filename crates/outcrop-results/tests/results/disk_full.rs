//! A journal on a filesystem that is really full: a tmpfs of 64 KiB.

use std::fs;
use std::path::Path;
use std::process::Command;

use outcrop_results::{ResultsError, RunFolder, RunView};

use crate::samples::{create, trial, two_intervals, usual};

/// A mounted tmpfs, unmounted on drop.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None where this process may not mount, and says so; CI may, and then must.
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "outcrop-test"])
            .arg(folder.path())
            .output();
        let output = output.unwrap();
        if output.status.success() {
            return Some(Self(folder));
        }
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            std::env::var_os("CI").is_none(),
            "CI must be able to mount: {why}"
        );
        eprintln!("skipped: a full disk needs a mount, and this process may not mount: {why}");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

#[test]
fn a_full_disk_keeps_the_finished_trials_and_the_run_goes_on_when_there_is_space() {
    let Some(disk) = SmallDisk::mount("64k") else {
        return;
    };
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 16 << 10]).unwrap();
    let mut run = create(disk.path(), "full");
    let entry = |repetition| {
        let mut entry = trial(32, repetition, &usual(1e5, 2e5));
        entry.histograms = two_intervals(50_000, 200);
        entry
    };
    let (finished, error) = (0..)
        .find_map(|repetition| {
            run.append(&entry(repetition))
                .err()
                .map(|error| (repetition, error))
        })
        .unwrap();
    assert!(finished > 3, "only {finished} trials fitted");
    let message = error.to_string();
    assert!(matches!(error, ResultsError::NoSpace { .. }), "{message}");
    assert!(
        message.contains(&format!("the {finished} finished trials are kept")),
        "{message}"
    );
    assert!(
        message.contains(&format!("outcrop run --resume {}", run.dir().display())),
        "{message}"
    );

    let journal = fs::read(run.dir().join("trials.ndjson")).unwrap();
    assert_eq!(
        journal.last(),
        Some(&b'\n'),
        "the part that was written is cut off again"
    );
    let filler = disk.path().join("filler");
    assert!(
        fs::write(&filler, vec![1; 64 << 10]).is_err(),
        "the last page is taken too"
    );
    let error = run.finish().unwrap_err();
    assert!(
        matches!(error, ResultsError::NoSpace { .. }),
        "Parquet does not fit either: {error}"
    );
    assert!(
        !run.dir().join("records.parquet").exists(),
        "and leaves no half of a file"
    );

    fs::remove_file(&filler).unwrap();
    fs::remove_file(&ballast).unwrap();
    run.append(&entry(finished)).unwrap();
    let dir = run.dir().to_owned();
    drop(run);
    let run = RunFolder::open(&dir).unwrap();
    assert_eq!(
        (run.torn_bytes(), run.finished().len()),
        (0, finished as usize + 1)
    );
    assert!(
        RunView::load(&dir)
            .unwrap()
            .trials
            .iter()
            .enumerate()
            .all(|(i, seen)| *seen == entry(i as u32))
    );
}

#[test]
fn a_disk_that_is_full_from_the_start_leaves_no_half_made_run() {
    let Some(disk) = SmallDisk::mount("16k") else {
        return;
    };
    fs::write(disk.path().join("ballast"), vec![1; 8 << 10]).unwrap();
    let environment = serde_json::json!({"padding": "x".repeat(64 << 10)});
    let error = RunFolder::create(disk.path(), "full", "20261121T020757Z", "", &environment).unwrap_err();
    assert!(error.to_string().contains("space"), "{error}");
    let left: Vec<_> = fs::read_dir(disk.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["ballast"]);
}
