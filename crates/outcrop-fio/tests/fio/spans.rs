//! The span of several jobs is the same in fio and in Outcrop, whether or not they share a file.

use std::fs;
use std::path::Path;
use std::process::Command;

use outcrop_fio::export_jobs;
use outcrop_fio::job_file::{AtOnce, Target, read};
use outcrop_measure::ByteSize;
use outcrop_results::{RunView, TrialEntry};
use outcrop_schema::device::Direction;

use crate::real_fio::workplace;
use crate::round_trip::{run, trial};
use crate::samples::{imported, run_of};

/// Runs fio in a folder; what it prints.
pub(crate) fn fio_in(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("fio");
    let ran = command.current_dir(folder).args(arguments).output();
    let ran = ran.expect("CI's set-up installs fio");
    assert!(ran.status.success(), "{ran:?}");
    ran.stdout
}

/// The sizes of all files in a folder and its subfolders.
fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.is_dir() {
            true => bytes_in(&path),
            false => path.metadata().unwrap().len(),
        })
        .sum()
}

/// The bytes of all files that fio makes of a job file with `--create_only`, and those of the scratch files that Outcrop makes of it.
fn made_of(folder: &Path, text: &str) -> (u64, u64) {
    let (path, files) = (folder.join("exported.fio"), folder.join("files-of-export"));
    // fio removes even what it only created.
    fs::write(&path, text.replace("unlink=1\n", "")).unwrap();
    fs::create_dir(&files).unwrap();
    fio_in(&files, &["--create_only=1", path.to_str().unwrap()]);
    fs::write(&path, text).unwrap();
    let jobs = read(&path, AtOnce::Refused, &|_| None).unwrap().jobs;
    let ours = jobs.iter().map(|job| match &job.target {
        Target::Scratch {
            directory: None,
            size: Some(size),
        } => size.0,
        other => panic!("{other:?}: {text}"),
    });
    (bytes_in(&files), ours.sum())
}

fn exported(run: &RunView) -> String {
    let exported = export_jobs(run).unwrap();
    assert!(exported.left_out.is_empty(), "{:?}", exported.left_out);
    exported.text
}

#[test]
fn the_span_of_an_imported_job_is_the_size_of_all_files_of_its_clones() {
    for (options, expected_mib) in [
        (&[] as &[&str], 4),
        (&["--filename=x"], 1),
        (&["--directory=a:b"], 4),
        (&["--filename_format=$jobname.$jobnum"], 4),
        (&["--filename_format=$jobname.$filenum"], 1),
        (&["--filename_format=$jobname", "--directory=a:b"], 2),
    ] {
        let folder = workplace();
        let files = folder.path().join("files");
        for directory in ["a", "b"] {
            fs::create_dir_all(files.join(directory)).unwrap();
        }
        let usual = [
            "--name=own",
            "--size=1m",
            "--numjobs=4",
            "--rw=randwrite",
            "--group_reporting",
            "--output-format=json",
        ];
        let report = fio_in(&files, &[&usual, options].concat());
        let path = folder.path().join("own.json");
        fs::write(&path, report).unwrap();
        let expected = ByteSize::mib(expected_mib);
        assert_eq!(bytes_in(&files), expected.0, "{options:?}");
        let imported = imported(&[&path]);
        assert_eq!(
            imported.trials[0].factors["span"],
            expected.to_string(),
            "{options:?}"
        );
        let text = exported(&run_of(&imported, folder.path()));
        let made = made_of(folder.path(), &text);
        assert_eq!(made, (expected.0, expected.0), "{options:?}: {text}");
    }
}

#[test]
fn an_exported_job_file_leaves_no_file_behind_and_has_the_directory_of_the_run_as_a_comment() {
    let folder = workplace();
    let (there, elsewhere) = (folder.path().join("of: the run"), folder.path().join("elsewhere"));
    for place in [&there, &elsewhere] {
        fs::create_dir(place).unwrap();
    }
    let factors = [("span", "1MiB"), ("engine", "psync"), ("queue_depth", "1")];
    let mut trial = trial(0, &factors, &[(Direction::Read, 100)]);
    trial.duration_s = 0.1;
    let mut view = run(folder.path(), std::slice::from_ref(&trial));
    let exported_from = |view: &mut RunView, directory: &str| {
        view.plan = format!("[run]\ndirectory = {directory:?}\n");
        exported(view)
    };
    let text = exported_from(&mut view, there.to_str().unwrap());
    let path = folder.path().join("exported.fio");
    let run_by_fio = |text: &str, options: &[&str]| {
        fs::write(&path, text).unwrap();
        fio_in(&elsewhere, &[options, &[path.to_str().unwrap()]].concat());
        (bytes_in(&there), bytes_in(&elsewhere))
    };
    assert!(text.contains("in fio's working directory"), "{text}");
    assert_eq!(run_by_fio(&text, &[]), (0, 0), "{text}");
    let kept = text.replace("unlink=1\n", "");
    let uncommented = kept.replace("; directory=", "directory=");
    assert_eq!(
        run_by_fio(&uncommented, &["--create_only=1"]),
        (1 << 20, 0),
        "{text}"
    );
    assert_eq!(run_by_fio(&kept, &["--create_only=1"]).1, 1 << 20, "{text}");
    // A plan may come from anywhere, and fio runs programs.
    let hostile = exported_from(&mut view, "/a\nexec_prerun=touch x");
    assert!(!hostile.contains("exec_prerun"), "{hostile}");
    // fio would put the directory before a path, and must not remove what is there.
    for mix in ["100:0", "0:100"] {
        let mut named = trial.clone();
        named.subject = "destroyed-device /dev/nvme9n1 1MiB".to_owned();
        named.factors.insert("read_write_mix".to_owned(), mix.to_owned());
        let parent = tempfile::tempdir().unwrap();
        let text = exported_from(&mut run(parent.path(), &[named]), "/mnt");
        let is_said = [text.contains("unlink=1\n"), text.contains("directory=")];
        assert_eq!(is_said, [false; 2], "{text}");
    }
}

#[test]
fn an_exported_job_file_has_one_file_of_the_span_for_all_jobs_of_a_cell() {
    let folder = workplace();
    let usual = [
        ("span", "1MiB"),
        ("jobs", "2"),
        ("engine", "psync"),
        ("queue_depth", "1"),
    ];
    let mut trials: Vec<TrialEntry> = (0..)
        .zip(["100:0", "70:30", "0:100", "50:50"])
        .map(|(number, mix)| {
            let factors = [&usual[..], &[("read_write_mix", mix)]].concat();
            trial(number, &factors, &[(Direction::Read, 100)])
        })
        .collect();
    trials.iter_mut().for_each(|trial| trial.duration_s = 0.1);
    // No job file overwrites this as it stands.
    trials[3].subject = "destroyed-device /dev/nvme9n1 1MiB".to_owned();
    let text = exported(&run(folder.path(), &trials));
    assert_eq!(
        made_of(folder.path(), &text),
        (4 << 20, 4 << 20),
        "one MiB a cell: {text}"
    );
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    let path = folder.path().join("exported.fio");
    fio_in(&files, &[path.to_str().unwrap()]);
    assert_eq!(
        bytes_in(&files),
        1 << 20,
        "fio keeps only what stands for the device: {text}"
    );
}
