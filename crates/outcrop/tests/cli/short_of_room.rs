//! Every command that writes, where it cannot: in a read-only folder, on a full disk, and where a quota is used up. Each says
//! so, and leaves what was there as it was. And in a folder of a filesystem in user space, where each of them can.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::cache::Served;
use crate::harness::{Seen, outcrop, workplace};

/// What stands in the place where nothing can be written, and outside it.
fn prepare(dir: &Path) {
    let place = dir.join("seed");
    std::fs::create_dir_all(place.join("kept")).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1");
    for entry in std::fs::read_dir(kept).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), place.join("kept").join(entry.file_name())).unwrap();
    }
    let text: String = (0..40_000_u64)
        .map(|row| format!("{:016x}\n", row.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    std::fs::write(dir.join("in.txt"), text).unwrap();
    std::fs::write(dir.join("trace.csv"), "0,a,100\n1,b,100\n2,a,100\n").unwrap();
    let encoded = outcrop(dir, &["column", "encode", "in.txt", "-o", "seed/a.ocol"]);
    assert_eq!(encoded.code, Some(0), "{encoded:?}");
}

/// The commands that write into `place`.
const WRITERS: [&str; 16] = [
    "column encode in.txt -o place/b.ocol",
    "column append place/a.ocol in.txt",
    "column compact place/a.ocol -o place/b.ocol",
    "column compact place/a.ocol --in-place",
    "column decode place/a.ocol -o place/out.txt",
    "column decode place/a.ocol -o place/out.parquet",
    "report place/kept",
    "results compact place/kept",
    "results export place/kept -o place/records.csv",
    "results export place/kept -o place/records.parquet",
    "figure place/kept iops-by-depth --svg -o place/drawn.svg",
    "cache simulate trace.csv --svg place/drawn.svg",
    "codec --data in.txt --codec lz4 --repetitions 2 --duration 250ms --warm-up 1ms --out place/runs",
    "device place --size 4MiB --repetitions 2 --duration 250ms --warm-up 1ms --no-save",
    "kv place --records 3000 --repetitions 1 --duration 50ms --warm-up 10ms --no-save",
    "filesystem --directory place --repetitions 1 --duration 50ms --no-save",
];

/// Runs a command in `dir` after `mount` made its folder `place`, in a mount namespace that ends with it; then prints what
/// is in the folder.
fn within(dir: &Path, mount: &str, line: &str) -> (Seen, BTreeMap<String, String>) {
    let script = format!(
        "set -e; cd \"$1\"; mkdir -p place; {mount}; shift; status=0; \"$@\" >out 2>err || status=$?; \
         find place -type f ! -name filler -exec sha256sum {{}} +; exit $status"
    );
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script, "sh"])
        .arg(dir)
        .arg(env!("CARGO_BIN_EXE_outcrop"))
        .args(line.split(' '))
        .output()
        .unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    let seen = Seen {
        code: output.status.code(),
        stdout: read("out"),
        stderr: read("err") + &String::from_utf8_lossy(&output.stderr),
    };
    let listed = String::from_utf8(output.stdout).unwrap();
    let files = listed.lines().map(|line| {
        let (sum, name) = line.split_once("  ").unwrap();
        (name.to_owned(), sum.to_owned())
    });
    (seen, files.collect())
}

/// The files that a mount of the seed has before any command.
fn untouched(dir: &Path, mount: &str) -> BTreeMap<String, String> {
    let (seen, files) = within(dir, mount, "plans");
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(files.len(), 6, "{files:?}");
    files
}

const READ_ONLY: &str = "mount --bind seed place; mount -o remount,bind,ro place";
/// Everything that is in the seed fits; nothing more does.
const FULL: &str = "mount -t tmpfs -o size=4m outcrop-test place; cp -r seed/. place; \
                    dd if=/dev/zero of=place/filler bs=4k 2>/dev/null || true";

/// The disk has room, and the folder has used up what a quota allows it, which holds for root too.
const OVER_QUOTA: &str = "truncate -s 256M disk; mkfs.btrfs -q -f disk >/dev/null 2>&1; mount -o loop disk place; \
                          btrfs quota enable place; btrfs qgroup limit 6M 0/5 place; cp -r seed/. place; sync -f place; \
                          dd if=/dev/urandom of=place/filler bs=4k 2>/dev/null || true; sync -f place";
/// A copy of the seed through a filesystem in user space.
const IN_USER_SPACE: &str = "rm -rf copy; cp -r seed copy; bindfs copy place; trap 'umount place' EXIT; grep -q 'place fuse' /proc/mounts";

/// Runs every writer in a place that `mount` makes, and holds its error against the words of which it has to have one.
fn all_refuse(mount: &str, words: &[&str]) {
    let dir = workplace();
    let dir = dir.path();
    prepare(dir);
    let before = untouched(dir, mount);
    let mut wrong = Vec::new();
    // A report is printed where it cannot be written.
    let is_printed = |line: &&&str| mount == READ_ONLY && line.starts_with("report ");
    for line in WRITERS.iter().filter(|line| !is_printed(line)) {
        let (seen, after) = within(dir, mount, line);
        let sentence = seen.sentence().to_lowercase();
        let is_named = ["place", "the export"].iter().any(|name| sentence.contains(name));
        let is_said = is_named && words.iter().any(|word| sentence.contains(word));
        if !matches!(seen.code, Some(2 | 3)) || !is_said || seen.stderr.contains("panicked") {
            wrong.push(format!("{line}: {:?} {}", seen.code, seen.stderr));
        }
        if after != before {
            wrong.push(format!("{line}: {after:?} in place of {before:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_read_only_folder_is_named_by_every_command_that_would_write_there() {
    all_refuse(READ_ONLY, &["read-only"]);
}

#[test]
fn a_report_of_a_read_only_run_is_printed_and_can_be_written_elsewhere() {
    let dir = workplace();
    let dir = dir.path();
    prepare(dir);
    let before = untouched(dir, READ_ONLY);
    let (seen, after) = within(dir, READ_ONLY, "report place/kept");
    assert_eq!((seen.code, &after), (Some(0), &before), "{seen:?}");
    assert!(
        seen.stdout.contains("IOPS") && !seen.stdout.contains("report.html"),
        "{seen:?}"
    );
    assert!(
        seen.stderr.contains("place/kept cannot be written") && seen.stderr.contains("--output DIR"),
        "{seen:?}"
    );
    let (seen, _) = within(dir, READ_ONLY, "report place/kept --format json");
    assert!(seen.code == Some(0) && seen.stdout.starts_with('{'), "{seen:?}");
    let (seen, after) = within(dir, READ_ONLY, "report place/kept --output mine --one-page");
    assert_eq!((seen.code, &after), (Some(0), &before), "{seen:?}");
    assert!(seen.stdout.contains("Report: mine/report.html"), "{seen:?}");
    for name in [
        "report.html",
        "one-page.html",
        "cells.csv",
        "cells.parquet",
        "figures",
    ] {
        assert!(dir.join("mine").join(name).exists(), "{name}: {seen:?}");
    }
    // Figures that are somebody else's are not taken for those of an earlier report.
    std::fs::create_dir_all(dir.join("other/figures")).unwrap();
    std::fs::write(dir.join("other/figures/own.svg"), "own").unwrap();
    let (seen, _) = within(dir, READ_ONLY, "report place/kept --output other");
    assert!(
        seen.code == Some(2) && seen.sentence().contains("figures"),
        "{seen:?}"
    );
    assert_eq!(
        std::fs::read_to_string(dir.join("other/figures/own.svg")).unwrap(),
        "own"
    );
}

#[test]
fn a_full_disk_is_said_by_every_command_that_would_write_there() {
    all_refuse(
        FULL,
        &[
            "no space",
            "free",
            "full",
            "keeps its files in memory",
            "is on tmpfs",
        ],
    );
}

#[test]
fn a_used_up_quota_is_said_by_every_command_that_would_write_there() {
    all_refuse(OVER_QUOTA, &["quota"]);
}

#[test]
fn every_command_writes_to_a_filesystem_in_user_space_and_columns_are_mapped_from_it() {
    let dir = workplace();
    let dir = dir.path();
    prepare(dir);
    let text = std::fs::read_to_string(dir.join("in.txt")).unwrap();
    let first = text.lines().next().unwrap();
    let mut wrong = Vec::new();
    for line in WRITERS {
        let (seen, _) = within(dir, IN_USER_SPACE, line);
        // Files of a filesystem in user space always have a name, which a killed run would leave behind.
        let is_refused = line.starts_with("filesystem") && seen.stdout.contains("has no unnamed files");
        if seen.code != Some(if is_refused { 3 } else { 0 }) {
            wrong.push(format!("{line}: {:?} {}", seen.code, seen.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for mode in ["", " --memory on-disk"] {
        let (seen, _) = within(
            dir,
            IN_USER_SPACE,
            &format!("column find place/a.ocol {first}{mode}"),
        );
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), "0\n"), "{seen:?}");
    }
    let (seen, _) = within(dir, IN_USER_SPACE, "column decode place/a.ocol");
    assert!(seen.code == Some(0) && seen.stdout == text, "{}", seen.stderr);
}

#[test]
fn a_load_whose_folder_cannot_be_written_says_so() {
    let dir = workplace();
    let dir = dir.path();
    prepare(dir);
    let served = Served::start(dir);
    let line = format!(
        "cache load --target memcached://{} --requests 500 --keys 50 --connections 1 --out place/load",
        served.memcached
    );
    let (seen, _) = within(dir, READ_ONLY, &line);
    assert_eq!(seen.code, Some(2), "before anything is measured: {seen:?}");
    assert!(
        seen.sentence().to_lowercase().contains("read-only file"),
        "{seen:?}"
    );
    let (seen, _) = within(dir, FULL, &line);
    assert!(matches!(seen.code, Some(2 | 3)), "{seen:?}");
    assert!(seen.sentence().contains("No space left on device"), "{seen:?}");
    served.end();
}
