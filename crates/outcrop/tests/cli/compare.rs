//! `outcrop compare` on runs of real data: what it refuses, and what a screen of 80 columns has.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::harness::{Seen, command, names_in, outcrop, workplace};

/// A run of a codec over a file, into a folder of its own.
fn codec_run(dir: &Path, data: &str, out: &str, seed: &str) -> String {
    let seen = outcrop(
        dir,
        &[
            "codec",
            "--data",
            data,
            "--codec",
            "lz4",
            "--block-size",
            "4k",
            "--threads",
            "1",
            "--repetitions",
            "5",
            "--duration",
            "10ms",
            "--warm-up",
            "0s",
            "--sample-size",
            "1MiB",
            "--seed",
            seed,
            "--out",
            out,
        ],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let runs: Vec<PathBuf> = std::fs::read_dir(dir.join(out))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [run] = runs.as_slice() else {
        panic!("{runs:?}")
    };
    run.to_str().unwrap().to_owned()
}

fn compared(dir: &Path, arguments: &[&str]) -> Seen {
    outcrop(dir, &[&["compare"], arguments].concat())
}

/// Text whose lines repeat as often as `words` is small.
fn text(words: u32, bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut text = Vec::new();
    while text.len() < bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend_from_slice(format!("word{} ", (state >> 8) % words).as_bytes());
    }
    text.truncate(bytes);
    text
}

#[test]
fn two_files_of_one_name_and_length_are_other_data_and_a_copy_is_not() {
    let dir = workplace();
    for (folder, words) in [("d1", 5), ("d2", 50_000), ("d3", 5)] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
        std::fs::write(dir.path().join(folder).join("data.bin"), text(words, 400_000)).unwrap();
    }
    let run = |folder: &str| {
        codec_run(
            dir.path(),
            &format!("{folder}/data.bin"),
            &format!("of-{folder}"),
            "5",
        )
    };
    let (first, other, copy) = (run("d1"), run("d2"), run("d3"));
    let refused = compared(dir.path(), &[&first, &other, "--fail-if", "compress_speed < -5%"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stdout.contains("different content"), "{refused:?}");
    assert!(
        !refused.stdout.contains("better") && !refused.stdout.contains("worse"),
        "{refused:?}"
    );
    let text = compared(dir.path(), &[&first, &other]);
    assert!(text.stderr.contains(", for the reasons above;"), "{text:?}");
    let json = compared(dir.path(), &[&first, &other, "--format", "json"]);
    assert!(
        json.stderr.contains(", for the reasons in the output;"),
        "{json:?}"
    );
    let same = compared(dir.path(), &[&first, &copy]);
    assert_eq!(same.code, Some(0), "{same:?}");
    assert!(same.stdout.contains("compression ratio: 1 same of 1"), "{same:?}");
}

#[test]
fn two_draws_of_one_file_never_differ_beyond_what_their_intervals_allow() {
    let dir = workplace();
    // A quarter of it is text, the rest noise: draws differ in how much of each they have.
    let mut content = text(50, 2 << 20);
    let mut state = 7_u64;
    content.extend((0..6 << 20).map(|_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    }));
    std::fs::write(dir.path().join("data.bin"), content).unwrap();
    let run = |seed: &str| codec_run(dir.path(), "data.bin", &format!("seed-{seed}"), seed);
    let (a, b) = (run("11"), run("12"));
    for (one, two) in [(&a, &b), (&b, &a)] {
        let seen = compared(
            dir.path(),
            &[one, two, "--fail-if", "compression_ratio < -1%", "--all"],
        );
        assert_ne!(seen.code, Some(1), "{seen:?}");
        assert!(
            seen.stdout.contains("compression ratio: 1 undecided of 1"),
            "{seen:?}"
        );
        assert!(
            !seen.stdout.contains("1.000 (1.000 to 1.000)        different"),
            "{seen:?}"
        );
    }
}

#[test]
fn a_comparison_fits_80_columns_and_begins_with_the_headline_metrics() {
    let dir = workplace();
    let run = |out: &str| {
        let arguments = "codec --codec lz4,zstd:1 --block-size 4k,64k --threads 1 --repetitions 5 --duration 10ms --warm-up 0s \
                         --sample-size 1MiB --seed 5 --out";
        let arguments: Vec<&str> = arguments.split_whitespace().chain([out]).collect();
        let seen = outcrop(dir.path(), &arguments);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let run = std::fs::read_dir(dir.path().join(out)).unwrap().next();
        run.unwrap().unwrap().path().to_str().unwrap().to_owned()
    };
    let (a, b) = (run("a"), run("b"));
    let seen = compared(dir.path(), &[&a, &b]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for line in seen
        .stdout
        .lines()
        .filter(|line| !line.contains("in the candidate"))
    {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let metrics: Vec<&str> = seen
        .stdout
        .lines()
        .filter(|line| line.contains(" of 4"))
        .collect();
    assert!(
        metrics.len() == 3 && metrics[0].starts_with("compression, compress speed:"),
        "{}",
        seen.stdout
    );
    assert!(
        metrics[2].starts_with("compression, compression ratio: 4 same of 4"),
        "{}",
        seen.stdout
    );
    assert!(seen.stdout.contains("--all shows them"), "{}", seen.stdout);
    assert!(
        seen.stdout.contains("confidence 96.8 % (n = 5)"),
        "{}",
        seen.stdout
    );
    assert!(seen.stdout.contains("compression: sample 1"), "{}", seen.stdout);
    assert!(!seen.stdout.contains("block ratio p50"), "{}", seen.stdout);
    let all = compared(dir.path(), &[&a, &b, "--all"]);
    assert!(
        all.stdout.contains("block ratio p50: 4 same of 4"),
        "{}",
        all.stdout
    );
    let table = compared(dir.path(), &[&a, &b, "--format", "markdown"]);
    assert!(table.stdout.contains("| compress speed | "), "{}", table.stdout);
}

/// A plan of one codec, small enough to be measured in a second.
pub(crate) fn write_codec_plan(dir: &Path) {
    std::fs::write(
        dir.join("mine.toml"),
        "name = \"mine\"\nquestion = \"Which level?\"\nlayer = \"compression\"\n[subject]\nsample_size = \"256KiB\"\n\
         [factors]\ncompression_block_size = [\"4KiB\", \"64KiB\"]\n\
         [trial]\nrepetitions = 3\nduration = \"10ms\"\nwarm_up = \"0s\"\n",
    )
    .unwrap();
}

#[test]
fn two_variants_are_measured_in_pairs_and_compared_and_the_run_is_an_ordinary_one() {
    let dir = workplace();
    write_codec_plan(dir.path());
    let seen = outcrop(
        dir.path(),
        &[
            "ab",
            "mine.toml",
            "--a",
            "codec=zstd:1",
            "--b",
            "codec=zstd:15",
            "--seed",
            "5",
            "--fail-if",
            "compress_speed < -50%",
        ],
    );
    assert_eq!(seen.code, Some(1), "level 15 is far slower: {seen:?}");
    assert!(seen.stdout.contains("compress speed: 2 worse of 2"), "{seen:?}");
    assert!(
        seen.stdout.contains("compression ratio: 2 better of 2"),
        "{}",
        seen.stdout
    );
    assert!(seen.stdout.contains("(n = 10)"), "{}", seen.stdout);
    assert!(
        seen.stdout.contains("-ab: codec=zstd:1\n") && seen.stdout.contains("-ab: codec=zstd:15\n"),
        "each variant is named with what it set: {}",
        seen.stdout
    );
    assert!(
        seen.stdout.contains("not the ratio of the two medians"),
        "{seen:?}"
    );
    assert!(
        seen.stderr.contains("met by 2 of 2 cells") && !seen.stderr.contains("could not be checked"),
        "{}",
        seen.stderr
    );
    let run = crate::harness::only_run(dir.path());
    assert!(run.join("report.html").is_file());
    let journal = std::fs::read_to_string(run.join("trials.ndjson")).unwrap();
    let variants = journal
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let count_of = |name: &str| {
        variants
            .clone()
            .filter(|trial| trial["variant"]["name"] == name)
            .count()
    };
    assert_eq!((count_of("a"), count_of("b")), (20, 20));
    // Resumed when it is complete, it measures nothing and compares again.
    let run = run.to_str().unwrap();
    let again = outcrop(dir.path(), &["ab", "--resume", run, "--format", "json"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let json = crate::json_shape::checked(&again.stdout);
    assert_eq!(json["details"]["is_paired"], true);
    assert!(json["environment"].is_object());
    assert!(
        !json["rows"].as_array().unwrap().is_empty(),
        "a row per metric of a pair"
    );
    is_told_again(dir.path(), run);
}

/// What was compared is in the table and the report of the run, too.
fn is_told_again(dir: &Path, run: &str) {
    let table = outcrop(dir, &["ab", "--resume", run, "--markdown"]);
    assert!(table.stdout.starts_with("Baseline: a of "), "{}", table.stdout);
    let ordinary = outcrop(dir, &["report", run]);
    assert_eq!(ordinary.code, Some(0), "{ordinary:?}");
    assert!(
        ordinary.stdout.contains("compress speed: 2 worse of 2"),
        "{ordinary:?}"
    );
}

#[test]
fn a_comparison_in_pairs_says_of_a_variant_that_memory_answered_for_it() {
    let dir = workplace();
    let plan = "name = \"memory\"\nlayer = \"device\"\nquestion = \"q\"\n[subject]\nkind = \"scratch-file\"\nsize = \"16MiB\"\n\
                [workload]\nread_write_mix = \"100:0\"\n[trial]\nrepetitions = 6\nduration = \"20ms\"\nwarm_up = \"0s\"\n";
    std::fs::write(dir.path().join("memory.toml"), plan).unwrap();
    let arguments = "ab memory.toml --a access=direct --b access=buffered --out o";
    let seen = outcrop(dir.path(), &arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let text = seen.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // Others of either side may be of a busy machine.
    assert!(text.contains("warning: in the candidate: buffered I/O"), "{text}");
    assert!(!text.contains("in the baseline: buffered I/O"), "{text}");
}

#[test]
fn variants_that_are_no_pair_are_refused_and_a_dry_run_measures_nothing() {
    let dir = workplace();
    write_codec_plan(dir.path());
    let ab = |a: &str, b: &str, more: &[&str]| {
        outcrop(
            dir.path(),
            &[&["ab", "mine.toml", "--a", a, "--b", b], more].concat(),
        )
    };
    let unlike = ab("codec=lz4", "threads=2", &[]);
    assert_eq!(unlike.code, Some(2), "{unlike:?}");
    assert!(
        unlike.sentence().contains("both must set the same factors"),
        "{unlike:?}"
    );
    let unknown = ab("codec=lz5", "codec=lz4", &[]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.sentence().contains("--a"), "{unknown:?}");
    let other = ab("codec=lz4", "codec=zstd:1", &["--fail-if", "p99 > +5%"]);
    assert_eq!(other.code, Some(2), "{other:?}");
    let sentence = other.sentence();
    assert!(
        sentence.contains("did you mean") && sentence.contains("`compress_latency_p99`"),
        "{other:?}"
    );
    let dry = ab("codec=lz4", "codec=zstd:1", &["--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(dry.stdout.contains("4 cells, 40 trials"), "{dry:?}");
    let (a, b) = dry
        .stdout
        .split_once("Variant B\n")
        .expect("a table for each variant");
    assert!(a.starts_with("Variant A\n") && a.contains("codec lz4"), "{dry:?}");
    assert!(b.contains("codec zstd:1") && !b.contains("lz4"), "{dry:?}");
    assert!(!dry.stderr.contains("warning"), "{dry:?}");
    let few = ab("codec=lz4", "codec=zstd:1", &["--dry-run", "--repetitions", "3"]);
    assert!(
        few.stderr.contains(
            "3 repetitions decide no figure that each of them measures, such as a time or a rate; give --repetitions 6 or more"
        ),
        "{few:?}"
    );
    assert!(!dir.path().join("runs").exists());
    // A ratio of the same data is exact, and decides with one trial. The seed is given because it chooses the data.
    let gate = "--fail-if compression_ratio>+5% --seed 5 --repetitions 1 --no-save";
    let gate = gate.split(' ').collect::<Vec<_>>();
    let exact = ab("codec=lz4", "codec=zstd:1", &gate);
    assert_eq!(exact.code, Some(1), "{exact:?}");
    assert!(
        exact
            .stderr
            .contains("1 repetition decides no figure that it measures"),
        "{exact:?}"
    );
}

#[test]
fn an_interrupted_run_of_two_variants_is_gone_on_with_by_ab_and_an_ordinary_run_is_refused() {
    let dir = workplace();
    write_codec_plan(dir.path());
    let mut child = command(
        dir.path(),
        &[
            "ab",
            "mine.toml",
            "--a",
            "codec=lz4",
            "--b",
            "codec=zstd:1",
            "--duration",
            "1h",
        ],
    )
    .stdout(Stdio::null())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    // The handler is there before the first line is written.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("trials, about") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    let run = crate::harness::only_run(dir.path());
    let run = run.strip_prefix(dir.path()).unwrap().to_str().unwrap();
    assert!(said.contains(&format!("`outcrop ab --resume {run}`")), "{said}");

    let ordinary = outcrop(
        dir.path(),
        &["run", "mine.toml", "--repetitions", "1", "--out", "other"],
    );
    assert_eq!(ordinary.code, Some(0), "{ordinary:?}");
    let other = std::fs::read_dir(dir.path().join("other")).unwrap().next();
    let other = other.unwrap().unwrap().path();
    let refused = outcrop(dir.path(), &["ab", "--resume", other.to_str().unwrap()]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.sentence().contains("does not have two variants"),
        "{refused:?}"
    );
}

#[test]
fn two_variants_that_are_not_kept_are_compared_all_the_same() {
    let dir = workplace();
    write_codec_plan(dir.path());
    let arguments = "ab mine.toml --a codec=lz4 --b codec=zstd:1 --repetitions 2 --no-save --markdown";
    let seen = outcrop(dir.path(), &arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("| compress speed | "), "{seen:?}");
    assert_eq!(names_in(dir.path()), ["mine.toml"]);
}

#[test]
fn two_pairs_decide_nothing_and_the_least_number_that_does_is_named() {
    let dir = workplace();
    write_codec_plan(dir.path());
    let arguments = "ab mine.toml --a codec=lz4 --b codec=zstd:1 --repetitions 2 --no-save";
    let seen = outcrop(dir.path(), &arguments.split_whitespace().collect::<Vec<_>>());
    let text = seen.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let few = text.contains("fewer than 6 pairs; measure with --repetitions 6 or more");
    assert!(few && !text.contains("repetitions 5"), "{seen:?}");
}
