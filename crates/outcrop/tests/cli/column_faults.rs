//! `outcrop column` where things go wrong: killed, on a full disk, and with little memory.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use outcrop_column::{Column, EncodeOptions, Index, Profile, encode_text};
use parquet::arrow::ArrowWriter;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::faults::Mounted;
use crate::harness::{command, names_in, outcrop, workplace};

/// `word_count` words in `row_count` rows, none of which compresses away.
fn text(row_count: u64, word_count: u64) -> String {
    (0..row_count)
        .map(|row| {
            let draw = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            format!("w{:06}\n", draw % word_count * 7919 % 1_000_003)
        })
        .collect()
}

fn encode(path: &Path, text: &str) {
    let options = EncodeOptions {
        index: Index::Postings,
        ..Default::default()
    };
    encode_text(text.as_bytes(), options)
        .unwrap()
        .write(path)
        .unwrap();
}

#[test]
fn an_encode_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let dir = workplace();
    let target = dir.path().join("c.ocol");
    encode(&target, "old\n");
    let old = std::fs::read(&target).unwrap();
    std::fs::write(dir.path().join("in.txt"), text(150_000, 20_000)).unwrap();
    let mut killed_while_writing = 0;
    for _ in 0..6 {
        let mut child = command(
            dir.path(),
            &[
                "column", "encode", "in.txt", "-o", "c.ocol", "--index", "postings", "--force",
            ],
        )
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
        // Kill it the moment that its temporary file is seen.
        let is_temporary = |name: &String| name.starts_with(".outcrop-unfinished-");
        let status = loop {
            if names_in(dir.path()).iter().any(is_temporary) {
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::yield_now();
        };
        for name in names_in(dir.path()).iter().filter(|name| is_temporary(name)) {
            killed_while_writing += 1;
            std::fs::remove_file(dir.path().join(name)).unwrap();
        }
        let now = std::fs::read(&target).unwrap();
        if now != old {
            let column = Column::open(&target).unwrap();
            assert_eq!(column.row_count(), 150_000, "{status}");
            assert!(column.verify().unwrap().damage.is_empty());
            std::fs::write(&target, &old).unwrap();
        }
    }
    assert!(
        killed_while_writing > 0,
        "no attempt was killed between the first byte and the rename"
    );
}

#[test]
fn an_encode_whose_input_is_killed_away_leaves_no_file() {
    let dir = workplace();
    let mut child = command(dir.path(), &["column", "encode", "-", "-o", "c.ocol"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text(10_000, 100).as_bytes()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names_in(dir.path()), Vec::<String>::new());
}

#[test]
fn a_disk_that_fills_up_leaves_the_old_file_and_no_temporary_one() {
    let disk = Mounted::tmpfs("256k");
    let dir = workplace();
    std::fs::write(dir.path().join("in.txt"), text(300_000, 30_000)).unwrap();
    let target = disk.path().join("c.ocol");
    encode(&target, "old\n");
    let old = std::fs::read(&target).unwrap();
    let name = target.to_str().unwrap();
    for args in [
        ["encode", "in.txt", "--force", "-o", name].as_slice(),
        &["append", name, "in.txt", "--index=none"],
    ] {
        let seen = outcrop(dir.path(), &[&["column"], args].concat());
        assert_eq!(seen.code, Some(3), "{seen:?}");
        assert!(seen.sentence().contains("No space left on device"), "{seen:?}");
        assert_eq!(names_in(&disk.path()), ["c.ocol"], "{args:?}");
        let column = Column::open(&target).unwrap();
        assert_eq!(column.find(b"old").unwrap().rows().unwrap(), [0]);
        assert!(std::fs::read(&target).unwrap().starts_with(&old), "{args:?}");
    }
    let seen = outcrop(dir.path(), &["column", "decode", name, "-o", "out.txt"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
}

#[test]
fn a_full_disk_behind_stdout_is_said_to_be_behind_stdout() {
    let dir = workplace();
    encode(&dir.path().join("c.ocol"), &text(30_000, 3000));
    for args in [
        ["decode", "c.ocol"].as_slice(),
        &["decode", "c.ocol", "--to", "csv"],
        &["decode", "c.ocol", "--to", "arrow"],
        &["decode", "c.ocol", "--to", "parquet"],
        &["get", "c.ocol", "7"],
        &["find", "c.ocol", "--prefix", "w0"],
        &["info", "c.ocol"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut outcrop = command(dir.path(), &[&["column"], args].concat());
        let seen = outcrop.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8(seen.stderr).unwrap();
        assert_eq!(seen.status.code(), Some(3), "{args:?}: {message}");
        let said = "cannot write to stdout: No space left on device";
        assert!(message.contains(said), "{args:?}: {message}");
    }
}

/// A Parquet file of columns a and b, of which the pages of b are damaged.
fn write_half_damaged(path: &Path) {
    let rocks = (0..1000).map(|row| format!("rock {}", row % 7));
    let rocks: ArrayRef = Arc::new(StringArray::from_iter_values(rocks));
    let batch = RecordBatch::try_from_iter([("a", rocks.clone()), ("b", rocks)]).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let footer = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let (start, length) = footer.metadata().row_group(0).column(1).byte_range();
    let mut bytes = std::fs::read(path).unwrap();
    bytes[start as usize..][..length as usize].fill(0xff);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn an_encode_that_fails_after_it_wrote_a_file_says_that_the_file_stays_and_otherwise_writes_none() {
    let dir = workplace();
    let dir = dir.path();
    write_half_damaged(&dir.join("two.parquet"));
    let encode = |columns: &str, more: &[&str]| {
        let args = [
            "column",
            "encode",
            "two.parquet",
            "-o",
            "t-{}.ocol",
            "--column",
            columns,
        ];
        outcrop(dir, &[&args, more].concat())
    };
    let seen = encode("b,a", &["--no-compare"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.sentence().starts_with("error: cannot read two.parquet: "),
        "{seen:?}"
    );
    assert_eq!(names_in(dir), ["two.parquet"]);
    for more in [["--no-compare"].as_slice(), &["--force"]] {
        let seen = encode("a,b", more);
        assert_eq!(seen.code, Some(3), "{seen:?}");
        let said = "error: t-a.ocol is written and stays, but what follows failed: cannot read two.parquet: ";
        assert!(seen.sentence().starts_with(said), "{seen:?}");
        assert_eq!(names_in(dir), ["t-a.ocol", "two.parquet"]);
        let verified = outcrop(dir, &["column", "verify", "t-a.ocol"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut outcrop = command(
        dir,
        &["column", "encode", "two.parquet", "-o", "u.ocol", "--column", "a"],
    );
    let seen = outcrop.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8(seen.stderr).unwrap();
    assert_eq!(seen.status.code(), Some(3), "{message}");
    let said =
        "error: u.ocol is written and stays, but what follows failed: cannot write to stdout: No space left";
    assert!(message.contains(said), "{message}");
}

/// The greatest resident memory of a running process, in KiB.
fn peak_resident_kib(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_search_on_disk_stays_below_16_mib_of_resident_memory() {
    let dir = workplace();
    let path = dir.path().join("c.ocol");
    // Larger than what the search may take, so that loading it would show.
    encode(&path, &text(6_000_000, 400_000));
    assert!(path.metadata().unwrap().len() > 16 << 20);
    // 16 MiB less the 6.6 MB of pages of files that a release build has; those of the build that is tested here are more, and left out.
    let peak_kib = memory_of_a_search_on_disk(dir.path(), "w01", peak_anonymous_kib);
    assert!(peak_kib <= 9 << 10, "{peak_kib} KiB");
}

/// What the process has besides pages of files, its own program above all, at the most, in KiB.
fn peak_anonymous_kib(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssFile:"))
        .unwrap();
    let of_files: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    peak_resident_kib(id) - of_files
}

/// The dearest columns that are packed: many short values, fewer long ones, and much text of few values. 16 MiB hold for a release build.
#[test]
fn a_search_in_a_packed_column_takes_below_10_mib_beside_the_program() {
    let draw = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let short: String = (0..65_536).map(|row| format!("{:07}\n", row * 137)).collect();
    let long: String = (0..37_000).map(|row| format!("{:031}\n", draw(row))).collect();
    let few: String = (0..258_000)
        .map(|row| format!("{:07}\n", draw(row) >> 54))
        .collect();
    for (text, prefix) in [(short, ""), (long, "00000000000"), (few, "00000")] {
        let dir = workplace();
        let options = EncodeOptions {
            profile: Profile::Smallest,
            ..Default::default()
        };
        let encoder = encode_text(text.as_bytes(), options).unwrap();
        let written = encoder.write(&dir.path().join("c.ocol")).unwrap();
        assert!(written.packed.is_some(), "{written:?}");
        let peak_kib = memory_of_a_search_on_disk(dir.path(), prefix, peak_anonymous_kib);
        assert!(peak_kib <= 10 << 10, "{peak_kib} KiB");
    }
}

/// What `of` says of a search in `c.ocol` on disk, for a prefix of so many rows that their numbers fill a pipe.
fn memory_of_a_search_on_disk(dir: &Path, prefix: &str, of: impl Fn(u32) -> u64) -> u64 {
    let mut child = command(
        dir,
        &[
            "column", "find", "c.ocol", "--prefix", prefix, "--memory", "on-disk",
        ],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    // The answer begins when the search is over, and is longer than a pipe holds: after its first byte the process waits for us.
    let mut out = child.stdout.take().unwrap();
    let mut first = [0];
    out.read_exact(&mut first).unwrap();
    let peak_kib = of(child.id());
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > 2 * 65_536, "{} bytes do not fill a pipe", rest.len());
    assert!(child.wait().unwrap().success());
    peak_kib
}
