//! `outcrop filesystem` on grounds that lack something: a program, loop devices, room, the right to write, or the compression that the
//! mount promises. Each is made in a mount namespace that ends with the test.

use std::process::Command;

use crate::harness::{Seen, outcrop, workplace};

/// Runs `outcrop filesystem` in `$1/mount`, with shell commands before it that make the ground; they find an empty folder in `$1`.
///
/// It tells whether anything was left in the directory.
fn on(ground: &str, args: &[&str]) -> Seen {
    let script = format!(
        "set -e; binary=$2; {ground}; cd \"$1/mount\"; before=$(ls -A .); folder=$1; shift 2; status=0; \
         \"$binary\" filesystem \"$@\" --repetitions 2 --duration 40ms --no-save --quiet || status=$?; \
         test \"$(ls -A .)\" = \"$before\" || {{ echo left behind: \"$(ls -A .)\" >&2; exit 99; }}; exit $status"
    );
    let size = ["--sample-size", "16MiB"];
    let has_size = args.contains(&size[0]);
    let folder = workplace();
    std::fs::create_dir(folder.path().join("mount")).unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script, "sh"])
        .arg(folder.path())
        .arg(env!("CARGO_BIN_EXE_outcrop"))
        .args(args)
        .args(size.into_iter().filter(|_| !has_size))
        .output()
        .unwrap();
    let seen = Seen::from(output);
    assert_ne!(seen.code, Some(99), "{seen:?}");
    seen
}

/// A new filesystem of 1 GiB, mounted with these options.
fn mounted(mkfs: &str, options: &str) -> String {
    format!(
        "truncate -s 1G \"$1/image\"; {mkfs} -q \"$1/image\" > \"$1/said\"; mount -o loop{options} \"$1/image\" \"$1/mount\""
    )
}

/// Whether this user may mount; else a line that says what is skipped.
#[expect(clippy::print_stdout, reason = "a test says what it skips")]
fn can_mount(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: {what}: mounting takes root");
    }
    is_root
}

/// The sentence stands in what a user sees, on either stream.
fn says(seen: &Seen, words: &[&str]) {
    let said = format!("{}{}", seen.stdout, seen.stderr);
    for word in words {
        assert!(said.contains(word), "no {word:?}: {seen:?}");
    }
}

#[test]
fn a_program_that_is_missing_is_named_with_its_package() {
    if !can_mount("a program that is missing") {
        return;
    }
    // Empty folders where administrators' programs would be.
    let ground = "mount -t tmpfs none /usr/sbin; mount -t tmpfs none /usr/local/sbin";
    let seen = on(ground, &["--filesystem", "btrfs"]);
    says(
        &seen,
        &["mkfs.btrfs is not installed", "install the package btrfs-progs"],
    );
}

#[test]
fn a_machine_without_loop_devices_is_told_what_to_try() {
    if !can_mount("a machine without loop devices") {
        return;
    }
    let ground = "mkdir \"$1/dev\"; mount -t tmpfs none \"$1/dev\"; touch \"$1/dev/null\"; \
                  mount --bind /dev/null \"$1/dev/null\"; mount --rbind \"$1/dev\" /dev";
    let seen = on(ground, &["--filesystem", "ext4"]);
    says(&seen, &["no loop devices", "modprobe loop"]);
}

#[test]
fn a_disk_that_would_be_filled_keeps_its_last_twentieth() {
    if !can_mount("a disk that is nearly full") {
        return;
    }
    let ground = format!(
        "{}; fallocate -l 600M \"$1/mount/full\"",
        mounted("mkfs.ext4", "")
    );
    for args in [
        &["--filesystem", "ext4"][..],
        &["--directory", ".", "--sample-size", "400MiB"][..],
    ] {
        let seen = on(&ground, args);
        says(&seen, &["free", "5 %"]);
    }
    // The run's own image fits, and what a program builds beside it does not: 32 MiB above the last twentieth for data of 64 MiB.
    let ground = format!(
        "{}; mount=$1/mount; twentieth=$(($(stat -f -c '%b * %S' \"$mount\") / 20)); \
         fallocate -l $(($(stat -f -c '%a * %S' \"$mount\") - twentieth - (448 << 20) - (32 << 20))) \"$mount/full\"",
        mounted("mkfs.ext4", "")
    );
    let of = |filesystem| on(&ground, &["--filesystem", filesystem, "--sample-size", "64MiB"]);
    let fits = of("ext4");
    assert_eq!(fits.code, Some(0), "{fits:?}");
    let seen = of("squashfs zstd:3");
    assert_ne!(seen.code, Some(0), "{seen:?}");
    says(&seen, &["free", "5 %"]);
}

#[test]
fn a_directory_that_is_mounted_read_only_is_refused_before_anything_is_measured() {
    if !can_mount("a read-only directory") {
        return;
    }
    let seen = on(&mounted("mkfs.ext4", ",ro"), &["--directory", "."]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    says(&seen, &["mounted read-only", "choose another directory"]);
}

/// What a finding says of the directory that is mounted.
fn verdict_on(ground: &str, id: &str) -> String {
    let seen = on(ground, &["--directory", ".", "--format", "json"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let answer: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    let findings = answer["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["id"] == id);
    found.expect("the finding is among them").to_string()
}

#[test]
fn reads_that_the_page_cache_of_a_loop_device_answers_fail_their_finding() {
    if !can_mount("a loop device without direct I/O") {
        return;
    }
    let buffered = verdict_on(&mounted("mkfs.ext4", ""), "reads-were-cold");
    assert!(buffered.contains("does-not-hold"), "{buffered}");
    assert!(buffered.contains("loop device lies below"), "{buffered}");
    // The same past the page cache.
    let ground = format!(
        "{}; losetup --direct-io=on \"$(findmnt -no SOURCE \"$1/mount\")\"",
        mounted("mkfs.ext4", "")
    );
    let direct = verdict_on(&ground, "reads-were-cold");
    assert!(direct.contains("\"holds\""), "{direct}");
}

#[test]
fn a_mount_that_shows_compression_and_does_none_fails_its_finding() {
    if !can_mount("a mount that does not compress") {
        return;
    }
    let verdict = |options: &str| verdict_on(&mounted("mkfs.btrfs", options), "compression-happened");
    let without_sums = verdict(",compress-force=zlib:1,nodatasum");
    assert!(without_sums.contains("does-not-hold"), "{without_sums}");
    let as_it_should_be = verdict(",compress-force=zlib:1");
    assert!(as_it_should_be.contains("\"holds\""), "{as_it_should_be}");
}

#[test]
fn compression_that_a_mount_does_not_have_is_refused_with_what_it_has_and_what_to_do() {
    if !can_mount("a mount that compresses") {
        return;
    }
    let refused = |options: &str, compression: &str, words: &[&str]| {
        let seen = on(
            &mounted("mkfs.btrfs", options),
            &["--directory", ".", "--compression", compression],
        );
        assert_eq!(seen.code, Some(2), "{options} {compression}: {seen:?}");
        says(&seen, words);
    };
    for options in [",compress=zstd:9", ",compress-force=zstd:9"] {
        let setting = options.trim_start_matches(',');
        refused(
            options,
            "none",
            &[&format!("(btrfs {setting})"), "leave compression out"],
        );
    }
    let level = ["its mount has level 9", "write zstd:9"];
    refused(",compress=zstd:9", "zstd:3", &level);
    // What it has is measured.
    let ground = mounted("mkfs.btrfs", ",compress-force=zstd:9");
    let seen = on(&ground, &["--directory", ".", "--compression", "zstd:9"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let seen = on(
        &mounted("mkfs.btrfs", ""),
        &["--directory", ".", "--compression", "none"],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
}

#[test]
fn a_rate_is_offered_in_bytes_and_as_a_share_of_the_highest() {
    if !can_mount("a filesystem under offered load") {
        return;
    }
    let dir = workplace();
    let args = [
        "filesystem",
        "--filesystem",
        "ext4",
        "--rate",
        "4MB/s,50%",
        "--repetitions",
        "2",
        "--duration",
        "60ms",
        "--sample-size",
        "16MiB",
        "--no-save",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let answer: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    let cells = answer["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "{answer}");
    let requested = |arrival: &str| {
        let cell = cells.iter().find(|cell| cell["factors"]["arrival"] == arrival);
        let cell = cell.unwrap_or_else(|| panic!("no {arrival}: {answer}"));
        cell["metrics"]["arrival_requested"]["value"].as_f64().unwrap()
    };
    // Of 4 KiB each.
    let of_bytes = requested("constant:4MB/s");
    assert!((of_bytes - 4e6 / 4096.0).abs() < 1.0, "{of_bytes}");
    assert!(requested("constant:50%") > 0.0);
    let seen = outcrop(dir.path(), &["filesystem", "--rate", "fast", "--dry-run"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("--rate"), "{}", seen.stderr);
}
