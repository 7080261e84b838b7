//! `outcrop device --verify`: what is found, and what is refused.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::device::LoopDevice;
use crate::harness::{names_in, outcrop, workplace};

fn verify(dir: &Path, args: &[&str]) -> crate::harness::Seen {
    outcrop(dir, &[&["device", "--quiet"], args].concat())
}

#[test]
fn verification_of_a_sound_disk_finds_nothing_and_leaves_nothing() {
    let dir = workplace();
    let seen = verify(
        dir.path(),
        &[
            "--verify",
            "--size",
            "8MiB",
            "--io-block-size",
            "16k",
            "--engine",
            "libaio",
        ],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stdout
            .contains("512 blocks of 16KiB (8 MiB) read back: no fault"),
        "{seen:?}"
    );
    assert_eq!(names_in(dir.path()), [""; 0]);
}

#[test]
fn what_the_page_cache_answers_is_not_presented_as_read_back_from_the_disk() {
    let dir = workplace();
    let (sound, buffered) = (LoopDevice::new(8 << 20), LoopDevice::buffered(8 << 20));
    for (device, is_warned_of) in [(&sound, false), (&buffered, true)] {
        let all = [
            &device.node,
            "--destroy",
            device.name(),
            "--verify",
            "--seed",
            "7",
        ];
        let check = ["--read-only", &device.node, "--verify=check", "--seed", "7"];
        for args in [&all[..], &check] {
            let seen = verify(dir.path(), args);
            assert_eq!(seen.code, Some(0), "{seen:?}");
            let warning = "without direct I/O, so the page cache answers instead of the disk below";
            assert_eq!(seen.stderr.contains(warning), is_warned_of, "{seen:?}");
        }
    }
}

#[test]
fn a_device_whose_name_was_not_typed_is_refused_with_what_to_type() {
    let device = LoopDevice::new(8 << 20);
    let dir = workplace();
    let destroy = format!("--destroy {}", device.name());
    let read_only = format!("type --read-only {}", device.node);
    for (args, part) in [
        (&["--verify"][..], &destroy),
        (&["--verify=write", "--seed", "7"], &destroy),
        (&["--verify=check", "--seed", "7"], &read_only),
    ] {
        let seen = verify(dir.path(), &[&[device.node.as_str()], args].concat());
        assert_eq!(seen.code, Some(2), "{seen:?}");
        let sentence = seen.sentence();
        assert!(
            sentence.contains(part) && !sentence.contains("directory"),
            "{sentence}"
        );
    }
    assert!(
        std::fs::read(&device.image)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    );
}

#[test]
fn a_bit_that_flips_between_writing_and_checking_is_named_with_its_place() {
    let device = LoopDevice::new(8 << 20);
    let dir = workplace();
    let seen = verify(
        dir.path(),
        &[
            &device.node,
            "--destroy",
            device.name(),
            "--verify=write",
            "--seed",
            "7",
        ],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let check = ["--read-only", &device.node, "--verify=check", "--seed", "7"];
    let seen = verify(dir.path(), &check);
    assert_eq!(seen.code, Some(0), "{seen:?}");

    let image = File::options()
        .read(true)
        .write(true)
        .open(&device.image)
        .unwrap();
    let at = 5 * 4096 + 100;
    let mut byte = [0];
    image.read_exact_at(&mut byte, at).unwrap();
    image.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
    image.sync_all().unwrap();
    let seen = verify(dir.path(), &check);
    assert_eq!(seen.code, Some(1), "a fault is not success: {seen:?}");
    let row = seen.stdout.lines().find(|line| line.contains("flipped")).unwrap();
    assert!(
        row.contains("20480") && row.contains("bit 6 of byte 100"),
        "{row}"
    );
    let seen = verify(dir.path(), &[&check[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(json["rows"][0]["offset_B"], 20480.0);
    assert_eq!(json["rows"][0]["fault"], "flipped");
    assert_eq!(json["details"]["faults"], 1);
}

#[test]
fn the_command_that_writing_ends_with_checks_what_was_written() {
    let device = LoopDevice::new(8 << 20);
    let dir = workplace();
    let write = [
        &device.node,
        "--destroy",
        device.name(),
        "--verify=write",
        "--seed=7",
        "--io-block-size=16k",
        "--size=4MiB",
    ];
    let seen = verify(dir.path(), &write);
    let (_, rest) = seen.stdout.split_once("check it with `outcrop ").unwrap();
    let (command, _) = rest.split_once('`').unwrap();
    let seen = outcrop(dir.path(), &command.split(' ').collect::<Vec<_>>());
    assert_eq!(seen.code, Some(0), "{command}: {seen:?}");
    assert!(
        seen.stdout
            .contains("256 blocks of 16KiB (4 MiB) read back: no fault"),
        "{seen:?}"
    );
}

#[test]
fn what_verification_cannot_do_is_refused_before_anything_is_written() {
    let dir = workplace();
    for (args, part) in [
        (&["--verify=write", "--seed", "1"][..], "a scratch file is gone"),
        (&["--verify=check"], "--seed"),
        (
            &["--verify", "--arrival", "poisson:5k"],
            "--arrival has no effect",
        ),
        (&["--verify", "--queue-depth", "1,2"], "has several"),
        (&["--verify", "--engine", "noop"], "engine is noop"),
        (
            &["--verify", "--max-written", "11MiB", "--size", "4MiB"],
            "writes up to 12 MiB, 4 MiB of it to create the scratch file, but only 11MiB",
        ),
        (&["--verify", "--read-only", "x", "--seed", "1"], "--verify=check"),
    ] {
        let seen = verify(dir.path(), args);
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        assert!(seen.sentence().contains(part), "{args:?}: {seen:?}");
        assert_eq!(names_in(dir.path()), [""; 0]);
    }
}

#[test]
fn verification_of_a_scratch_file_writes_no_more_than_it_may() {
    let dir = workplace();
    // What the kernel counts for the shell and what it waited for.
    let written = |limit: &str| {
        let seen = std::process::Command::new("sh")
            .args(["-c", "\"$@\" >/dev/null 2>&1; cat /proc/$$/io", "sh"])
            .arg(env!("CARGO_BIN_EXE_outcrop"))
            .args([
                "device",
                "--verify",
                "--quiet",
                "--size=4MiB",
                "--max-written",
                limit,
            ])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let counts = String::from_utf8(seen.stdout).unwrap();
        let count = counts.lines().find_map(|line| line.strip_prefix("write_bytes: "));
        count.unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(written("11MiB"), 0);
    let all = written("12MiB");
    assert!((9 << 20..=12 << 20).contains(&all), "{all}");
}
