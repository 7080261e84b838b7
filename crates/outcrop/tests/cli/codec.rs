//! `outcrop codec`: real data, every form of output, and a sentence for each kind of bad input.

use std::io::Write as _;
use std::process::Stdio;

use crate::harness::{Seen, command, names_in, outcrop, workplace};

const QUICK: [&str; 6] = ["--repetitions", "2", "--duration", "20ms", "--warm-up", "1ms"];

fn codec(dir: &std::path::Path, args: &[&str]) -> Seen {
    let mut all = vec!["codec"];
    all.extend_from_slice(args);
    all.extend_from_slice(&QUICK);
    outcrop(dir, &all)
}

#[test]
fn a_directory_is_measured_by_every_combination_and_shown_in_three_forms() {
    let dir = workplace();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    std::fs::write(
        dir.path().join("data/text"),
        "an outcrop of stone ".repeat(10_000),
    )
    .unwrap();
    let args = [
        "--data",
        "data",
        "--codec",
        "lz4,zstd:1",
        "--block-size",
        "4k,64k",
    ];
    for format in ["text", "json", "csv"] {
        let mut all = args.to_vec();
        all.extend(["--format", format]);
        let seen = codec(dir.path(), &all);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        match format {
            "json" => {
                let answer: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
                let cells = answer["cells"].as_array().unwrap();
                assert_eq!(cells.len(), 4);
                let metrics = &cells[0]["metrics"];
                assert!(
                    metrics["compression_ratio"]["value"].as_f64().unwrap() > 10.0,
                    "{metrics}"
                );
                assert_eq!(metrics["compress_speed"]["n"], 2, "{metrics}");
                assert_eq!(metrics["compress_speed"]["confidence"], 0.5, "{metrics}");
            }
            "csv" => {
                assert!(
                    seen.stdout.contains(",compression_block_size_bytes,") && seen.stdout.contains(",4096,"),
                    "{}",
                    seen.stdout
                );
                assert_eq!(seen.stdout.lines().count(), 5);
            }
            _ => assert!(
                seen.stdout.contains("zstd:1") && seen.stdout.contains("64KiB"),
                "{}",
                seen.stdout
            ),
        }
    }
}

#[test]
fn data_may_come_by_on_stdin() {
    let dir = workplace();
    let mut args = vec!["codec", "--data", "-", "--codec", "snappy", "--block-size", "4k"];
    args.extend_from_slice(&QUICK);
    let mut child = command(dir.path(), &args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all("left to right ".repeat(5000).as_bytes())
        .unwrap();
    let seen: Seen = child.wait_with_output().unwrap().into();
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("snappy"), "{}", seen.stdout);
}

#[test]
fn codecs_are_listed_with_their_libraries_and_settings() {
    let dir = workplace();
    for format in ["text", "json", "csv"] {
        let seen = outcrop(dir.path(), &["codec", "list", "--format", format]);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        for name in [
            "none",
            "zstd",
            "lz4hc",
            "snappy",
            "deflate-zlib-rs",
            "brotli",
            "dpzip",
            "zstd@system",
            "/libsnappy.so.1.",
        ] {
            assert!(seen.stdout.contains(name), "{name}: {}", seen.stdout);
        }
    }
    assert!(names_in(dir.path()).is_empty(), "listing writes nothing");
}

#[test]
fn a_library_of_the_system_that_is_missing_is_named_with_its_package() {
    let dir = workplace();
    // What the linker finds first, and is no library.
    std::fs::write(dir.path().join("libzstd.so.1"), "none").unwrap();
    let without = |args: &[&str]| -> Seen {
        command(dir.path(), args)
            .env("LD_LIBRARY_PATH", dir.path())
            .output()
            .unwrap()
            .into()
    };
    let (sentence, package) = (
        "zstd@system cannot be used on this machine: ",
        "install the package libzstd1",
    );
    let list = without(&["codec", "list", "--format", "json"]);
    assert_eq!(list.code, Some(0), "{list:?}");
    assert!(
        list.stderr.contains(sentence) && list.stderr.contains(package),
        "{list:?}"
    );
    assert!(list.stdout.contains("liblz4 1."), "{list:?}");
    let alone = without(&["codec", "--codec", "zstd@system:1", "--no-save"]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
    assert!(
        alone.stderr.contains(sentence) && alone.stderr.contains(package),
        "{alone:?}"
    );
    let both = [
        &[
            "codec",
            "--codec",
            "zstd@system:1,lz4@system",
            "--format",
            "json",
            "--no-save",
        ],
        &QUICK[..],
    ];
    let both = without(&both.concat());
    assert_eq!(both.code, Some(0), "{both:?}");
    let answer: serde_json::Value = serde_json::from_str(&both.stdout).unwrap();
    let speed = |codec: &str| {
        let cells = answer["cells"].as_array().unwrap();
        let cell = cells
            .iter()
            .find(|cell| cell["factors"]["codec"] == codec)
            .unwrap();
        cell["metrics"]["compress_speed"].clone()
    };
    assert!(speed("lz4@system")["value"].is_number(), "{}", both.stdout);
    let why = speed("zstd@system:1")["unavailable"].to_string();
    assert!(why.contains(package), "{why}");
}

#[test]
fn the_table_of_a_run_is_printed_again_from_its_folder() {
    let dir = workplace();
    let first = codec(
        dir.path(),
        &["--codec", "lz4,none", "--format", "csv", "--out", "runs"],
    );
    assert_eq!(first.code, Some(0), "{first:?}");
    let runs = names_in(&dir.path().join("runs"));
    let run = format!("runs/{}", runs[0]);
    let again = outcrop(dir.path(), &["codec", "table", &run, "--format", "csv"]);
    assert_eq!((again.code, again.stdout), (Some(0), first.stdout));
    let absent = outcrop(dir.path(), &["codec", "table", "nowhere"]);
    assert_eq!(absent.code, Some(2), "{absent:?}");
    assert!(absent.stderr.contains("nowhere"), "{absent:?}");
}

#[test]
fn each_kind_of_bad_input_has_its_sentence_and_leaves_no_run_behind() {
    let dir = workplace();
    let here = dir.path();
    std::fs::write(here.join("empty"), "").unwrap();
    std::fs::write(here.join("byte"), "x").unwrap();
    std::fs::create_dir(here.join("nothing")).unwrap();
    let before = names_in(here);
    let cases: &[(&[&str], &str)] = &[
        (&["--data", "empty"], "is empty: there is nothing to compress"),
        (
            &["--data", "byte", "--block-size", "64k"],
            "a block of 64KiB is larger than the sample (byte 1 B)",
        ),
        (&["--data", "nothing"], "has no readable file with data"),
        (&["--data", "absent"], "absent: No such file"),
        (&["--data", "/dev/null"], "is a character device; expected a file"),
        (&["--block-size", "16MiB"], "is larger than the sample"),
        (&["--block-size", "0"], "not the size of a block"),
        (
            &["--block-size", "3"],
            "blocks of 3 B are too small to compress; expected 64 B or more, such as 4k",
        ),
        (
            &["--codec", "zsdt:3"],
            "there is no codec `zsdt`; did you mean `zstd`?",
        ),
        (
            &["--codec", "gzip"],
            "gzip uses deflate; this build has `deflate-libdeflate`",
        ),
        (
            &["--codec", "deflate"],
            "deflate is a format that several libraries write; this build has `deflate-libdeflate`",
        ),
        (
            &["--codec", "zstd:99"],
            "codec `zstd` has no setting `99`; write a level",
        ),
        (&["--codec", "lz4hc:99"], "a level from 2 to 12"),
        (&["--codec", "snappy:1"], "`snappy` alone"),
        (&["--threads", "0"], "is not a number of threads"),
        (&["--threads", "100000"], "the CPUs that this process may run on"),
        (
            &["--caches", "cold", "--threads", "all", "--codec", "tepid"],
            "no codec `tepid`",
        ),
        (&["--caches", "tepid"], "accepted: warm, cold"),
        (&["--context", "freesh"], "did you mean `fresh`?"),
        (&["--content", "natural:9"], "0 to 8 bits per byte"),
        (&["--content", "entropy:9"], "a byte carries 0 to 8 bits"),
        (
            &["--data", "generated", "--content", "natural"],
            "generated data cannot have the content",
        ),
        (&["--stages", "--codec", "lz4"], "only zstd has stages"),
        (&["--stages", "--block-size", "256k"], "at most 128KiB"),
        (&["--sample-size", "0"], "at least 1 B, such as 16MiB"),
    ];
    for (flags, expected) in cases {
        let seen = codec(here, flags);
        assert_eq!(seen.code, Some(2), "{flags:?}: {seen:?}");
        assert!(
            seen.stderr.contains(expected),
            "{flags:?} should say {expected:?}: {}",
            seen.stderr
        );
        assert_eq!(seen.stdout, "", "{flags:?}");
        assert_eq!(names_in(here), before, "{flags:?} left something behind");
    }
}

#[test]
fn generated_content_is_taken_beside_that_of_the_data_or_without_data() {
    let dir = workplace();
    std::fs::write(dir.path().join("data"), "slate and shale ".repeat(9000)).unwrap();
    for flags in [
        &["--content", "natural,entropy:4", "--data", "data"][..],
        &["--content", "natural:4", "--data", "data"],
        &["--content", "entropy:4", "--data", "generated"],
        &["--content", "entropy:4"],
    ] {
        let seen = codec(dir.path(), &[flags, &["--dry-run"]].concat());
        assert_eq!(seen.code, Some(0), "{flags:?}: {seen:?}");
    }
}

#[test]
fn one_byte_in_blocks_of_one_byte_is_measured() {
    let dir = workplace();
    std::fs::write(dir.path().join("byte"), "x").unwrap();
    let seen = codec(
        dir.path(),
        &["--data", "byte", "--block-size", "1", "--codec", "none,lz4,dpzip"],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
}

#[test]
fn empty_stdin_is_bad_input_and_leaves_no_run_behind() {
    let dir = workplace();
    let seen: Seen = command(dir.path(), &["codec", "--data", "-"])
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.sentence().contains("stdin is empty"), "{seen:?}");
    let runs = dir.path().join("runs");
    assert!(
        !runs.exists() || names_in(&runs).is_empty(),
        "{:?}",
        names_in(&runs)
    );
}

#[test]
fn the_profile_of_one_layer_knows_its_name_and_takes_the_users_data() {
    let dir = workplace();
    let seen = outcrop(dir.path(), &["profile", "--layer", "compresion"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.sentence().contains("did you mean `compression`?"),
        "{seen:?}"
    );
    std::fs::write(dir.path().join("data"), "stone ".repeat(100_000)).unwrap();
    let args = [
        "profile",
        "--quick",
        "--layer",
        "compression",
        "--data",
        "data",
        "--dry-run",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let plan: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    let cells = plan["rows"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["layer"] == "compression"), "{plan}");
    assert!(
        cells[0]["subject"].as_str().unwrap().starts_with("data "),
        "{plan}"
    );
}

#[test]
fn a_compressed_file_is_measured_decompressed_and_the_output_says_so() {
    let dir = workplace();
    let text = "a,b,c,d\n".repeat(25);
    // A frame of zstd by hand: one segment of 200 bytes, in one raw block, the last.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, 200];
    frame.extend_from_slice(&(200_u32 << 3 | 1).to_le_bytes()[..3]);
    frame.extend_from_slice(text.as_bytes());
    std::fs::write(dir.path().join("plays.csv.zst"), &frame).unwrap();
    let args = [
        "--data",
        "plays.csv.zst",
        "--codec",
        "lz4",
        "--block-size",
        "200",
        "--format",
        "json",
    ];
    let seen = codec(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stderr.contains("plays.csv.zst: zstd, read decompressed"),
        "{}",
        seen.stderr
    );
    assert!(seen.stdout.contains("ratio"), "{}", seen.stdout);

    std::fs::write(dir.path().join("plays.csv.zst"), &frame[..100]).unwrap();
    let seen = codec(dir.path(), &args);
    assert_ne!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stderr
            .contains("plays.csv.zst is truncated: its zstd data end at byte 100"),
        "{}",
        seen.stderr
    );
}
