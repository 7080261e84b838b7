//! Data that other programs change while they are read: an answer or an error, never a crash, and never half a file.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::harness::{command, names_in, outcrop, workplace};

/// A line of a file that grows: its number, so that each is another one.
fn lines(first: u64, count: u64) -> String {
    (first..first + count)
        .map(|number| format!("granite {number:012}\n"))
        .collect()
}

/// Runs a command while `change` is called again and again.
fn while_changing(dir: &Path, args: &[&str], mut change: impl FnMut(u64) + Send) -> Output {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1.. {
                change(round);
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let output = command(dir, args).output().unwrap();
        is_over.store(true, Ordering::Relaxed);
        output
    })
}

/// It ended by itself, with an answer or with a sentence.
fn assert_calm(args: &[&str], output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), None, "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    match output.status.code() {
        Some(0) => {}
        Some(2 | 3) => assert!(
            said.lines()
                .last()
                .is_some_and(|line| line.contains("data.txt") || line.contains("damaged column file")),
            "{said}"
        ),
        other => panic!("{args:?}: {other:?} {said}"),
    }
}

const READERS: [&[&str]; 3] = [
    &[
        "codec",
        "--data",
        "data.txt",
        "--codec",
        "lz4,zstd:1",
        "--block-size",
        "4k,64k",
        "--repetitions",
        "2",
        "--duration",
        "20ms",
        "--warm-up",
        "1ms",
        "--no-save",
    ],
    &[
        "column",
        "encode",
        "data.txt",
        "-o",
        "out.ocol",
        "--force",
        "--no-compare",
    ],
    &[
        "profile",
        "--layer",
        "column",
        "--quick",
        "--data",
        "data.txt",
        "--repetitions",
        "1",
        "--duration",
        "10ms",
        "--warm-up",
        "1ms",
        "--no-save",
    ],
];

#[test]
fn a_file_that_grows_while_it_is_read_gives_what_was_there_or_more() {
    let dir = workplace();
    let dir = dir.path();
    let path = dir.join("data.txt");
    for args in READERS {
        std::fs::write(&path, lines(0, 50_000)).unwrap();
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        let output = while_changing(dir, args, |round| {
            // As much as a disk holds is not appended.
            if round < 300 {
                file.write_all(lines(50_000 + 500 * round, 500).as_bytes())
                    .unwrap();
            }
        });
        assert_calm(args, &output);
    }
    let decoded = outcrop(dir, &["column", "decode", "out.ocol"]);
    // A line that was half there is the last row.
    let rows = decoded.stdout.strip_suffix('\n').unwrap();
    let written = lines(0, 50_000) + &lines(50_500, 1_000_000);
    assert!(rows.len() + 1 >= lines(0, 50_000).len() && written.starts_with(rows));
    assert_eq!(names_in(dir), ["data.txt", "out.ocol"]);
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_answer_or_an_error_and_leaves_nothing_behind() {
    let dir = workplace();
    let dir = dir.path();
    let path = dir.join("data.txt");
    let full = lines(0, 100_000);
    for args in READERS {
        for _ in 0..3 {
            std::fs::write(&path, &full).unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            let length = full.len() as u64;
            let output = while_changing(dir, args, |round| file.set_len(length / (1 + round % 5)).unwrap());
            assert_calm(args, &output);
        }
    }
    let left = names_in(dir);
    assert!(
        left.iter()
            .all(|name| ["data.txt", "out.ocol"].contains(&name.as_str())),
        "{left:?}"
    );
}

#[test]
fn a_column_file_that_is_cut_while_it_is_compared_ends_no_encode() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.txt"), lines(0, 100_000)).unwrap();
    let args = ["column", "encode", "in.txt", "-o", "out.ocol", "--force"];
    for _ in 0..5 {
        let output = while_changing(dir, &args, |round| {
            // It is there as soon as it is whole, and read from then on.
            if let Ok(file) = std::fs::File::options().write(true).open(dir.join("out.ocol")) {
                let length = file.metadata().unwrap().len();
                file.set_len(length / (1 + round % 3)).unwrap();
            }
        });
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), None, "{said}");
        assert!(!said.contains("panicked"), "{said}");
        assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{said}");
    }
}

#[test]
fn a_column_file_that_is_cut_while_it_is_read_is_an_error_and_no_crash() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.txt"), lines(0, 100_000)).unwrap();
    let encoded = outcrop(dir, &["column", "encode", "in.txt", "-o", "data.txt.ocol"]);
    assert_eq!(encoded.code, Some(0), "{encoded:?}");
    let path = dir.join("data.txt.ocol");
    let whole = std::fs::read(&path).unwrap();
    for args in [
        &["column", "verify", "data.txt.ocol"][..],
        &["column", "decode", "data.txt.ocol", "-o", "out.txt", "--force"],
        &["column", "info", "data.txt.ocol"],
        &[
            "column",
            "find",
            "data.txt.ocol",
            "--prefix",
            "granite 00001",
            "--count",
        ],
        &["column", "get", "data.txt.ocol", "1", "50000", "99999"],
        &["column", "values", "data.txt.ocol", "--top", "3"],
        &["column", "compact", "data.txt.ocol", "-o", "out.ocol", "--force"],
    ] {
        for _ in 0..4 {
            std::fs::write(&path, &whole).unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            let length = whole.len() as u64;
            let output = while_changing(dir, args, |round| file.set_len(length / (1 + round % 3)).unwrap());
            assert_calm(args, &output);
        }
    }
}
