//! `outcrop column` takes no more memory than it is allowed, whatever it reads.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::crafted_column::of_one_prefix;
use crate::harness::{self, Ended, names_in, outcrop, workplace};

const MIB: u64 = 1 << 20;

/// What the program takes before it reads anything, and what its threads set aside.
const BESIDES: u64 = 64 * MIB;

fn ended(dir: &Path, args: &str, stdin: Stdio) -> Ended {
    let args: Vec<&str> = ["column"].into_iter().chain(args.split(' ')).collect();
    harness::ended(dir, &args, stdin)
}

fn assert_refused(dir: &Path, args: &str, limit_bytes: u64, stdin: Stdio) {
    let Ended {
        code,
        sentence,
        peak_bytes,
    } = ended(dir, args, stdin);
    assert_eq!(code, 2, "{args}: {sentence}");
    assert!(sentence.contains("--max-memory"), "{args}: {sentence}");
    assert!(
        peak_bytes <= limit_bytes + BESIDES,
        "{args}: {} MiB",
        peak_bytes / MIB
    );
}

#[test]
fn values_that_share_a_long_prefix_take_no_more_than_is_allowed() {
    let dir = workplace();
    let file = of_one_prefix(20 << 20, 16);
    assert!(file.len() < 2000, "{}", file.len());
    std::fs::write(dir.path().join("a.ocol"), &file).unwrap();
    for args in [
        "decode a.ocol",
        "decode a.ocol -o b.csv",
        "decode a.ocol -o b.arrow",
        "decode a.ocol -o b.parquet",
        "values a.ocol --format json",
        "compact a.ocol -o b.ocol",
        "compact a.ocol --in-place --profile smallest --index postings",
    ] {
        assert_refused(
            dir.path(),
            &format!("{args} --max-memory 80MiB"),
            80 * MIB,
            Stdio::null(),
        );
    }
    assert_eq!(names_in(dir.path()), ["a.ocol"]);
    assert_eq!(std::fs::read(dir.path().join("a.ocol")).unwrap(), file);
    // It is a sound file, which whoever trusts it reads.
    let allowed = ended(dir.path(), "decode a.ocol -o b.txt", Stdio::null());
    assert_eq!(allowed.code, 0, "{}", allowed.sentence);
    assert!(allowed.peak_bytes > 300 * MIB, "{} MiB", allowed.peak_bytes / MIB);
    let text = std::fs::read(dir.path().join("b.txt")).unwrap();
    let mut lines = text.split(|&byte| byte == b'\n');
    for value in 0..16 {
        let line = lines.next().unwrap();
        let end = format!("{value:04}").into_bytes();
        assert!(line.len() == 20 << 20 && line.starts_with(b"0000") && line.ends_with(&end));
    }
}

#[test]
fn a_small_table_with_pages_of_hundreds_of_mebibytes_takes_no_more_than_is_allowed() {
    let dir = workplace();
    std::fs::write(dir.path().join("a.ocol"), of_one_prefix(60 << 20, 2)).unwrap();
    for (name, least_bytes) in [("a.parquet", 0), ("a.arrow", 100 << 20)] {
        let args = format!("decode a.ocol -o {name} --max-memory 4GiB");
        let made = ended(dir.path(), &args, Stdio::null());
        assert_eq!(made.code, 0, "{}", made.sentence);
        let bytes = std::fs::metadata(dir.path().join(name)).unwrap().len();
        assert!(
            (least_bytes..=least_bytes + (30 << 20)).contains(&bytes),
            "{bytes}"
        );
        let args = format!("encode {name} -o b.ocol --max-memory 50MiB");
        assert_refused(dir.path(), &args, 50 * MIB, Stdio::null());
    }
    assert_eq!(names_in(dir.path()), ["a.arrow", "a.ocol", "a.parquet"]);
}

#[test]
fn lines_without_end_and_all_different_are_refused_once_they_take_what_is_allowed() {
    let dir = workplace();
    let mut numbers = Command::new("seq")
        .arg("1000000000")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = numbers.stdout.take().unwrap();
    let args = "encode - -o b.ocol --max-memory 60MiB";
    assert_refused(dir.path(), args, 60 * MIB, lines.into());
    // Nobody reads its pipe any more.
    assert!(!numbers.wait().unwrap().success());
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn any_limit_is_enough_or_refused_in_a_sentence() {
    let dir = workplace();
    let mut state = 7_u32;
    let text: String = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("{:x}\n", state >> 10)
        })
        .collect();
    std::fs::write(dir.path().join("a.txt"), &text).unwrap();
    let encoded = outcrop(
        dir.path(),
        &["column", "encode", "a.txt", "-o", "a.ocol", "--index=postings"],
    );
    assert_eq!(encoded.code, Some(0), "{encoded:?}");
    for args in [
        "encode a.txt -o b.ocol --force",
        "encode a.txt -o b.ocol --force --profile smallest --no-compare",
        "compact a.ocol -o b.ocol --force --profile smallest",
        "decode a.ocol -o b.parquet --force",
        "decode a.ocol -o b.arrow --force",
        "values a.ocol --format json",
        "find a.ocol --regex a.*b --by-value --memory in-memory",
    ] {
        let mut last = 2;
        // At 13,249 KiB, zstd is refused memory while the comparison writes.
        for limit in ["1MiB", "4MiB", "12MiB", "13249KiB", "32MiB", "1GiB"] {
            let limited = format!("{args} --max-memory {limit}");
            let Ended { code, sentence, .. } = ended(dir.path(), &limited, Stdio::null());
            assert!(
                code == 0 || sentence.contains("--max-memory"),
                "{limited}: {sentence}"
            );
            let written = names_in(dir.path());
            let is_written = written.iter().any(|name| name.starts_with("b."));
            match code {
                0 => {}
                2 => assert!(!is_written, "{limited}: {written:?}"),
                3 => assert!(
                    is_written && sentence.contains("is written"),
                    "{limited}: {sentence}"
                ),
                _ => panic!("{limited}: {code}: {sentence}"),
            }
            for name in written.iter().filter(|name| name.starts_with("b.")) {
                std::fs::remove_file(dir.path().join(name)).unwrap();
            }
            last = code;
        }
        assert_eq!(last, 0, "{args}: 1 GiB is enough");
    }
    let decoded = ended(dir.path(), "decode a.ocol -o b.txt", Stdio::null());
    assert_eq!(decoded.code, 0, "{}", decoded.sentence);
    assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), text);
}

#[test]
fn a_column_file_that_is_written_stays_where_only_its_comparison_takes_too_much() {
    let dir = workplace();
    let lines: Vec<String> = "abcdef"
        .chars()
        .map(|letter| letter.to_string().repeat(6 << 20))
        .collect();
    std::fs::write(dir.path().join("a.txt"), lines.join("\n")).unwrap();
    let args = "encode a.txt -o b.ocol --max-memory 160MiB";
    let Ended { code, sentence, .. } = ended(dir.path(), args, Stdio::null());
    assert_eq!(code, 3, "{sentence}");
    assert_eq!(
        sentence,
        "error: b.ocol is written and stays, but what follows takes more memory than --max-memory allows, or than the system grants; allow more, or \
         leave the comparison of sizes out with --no-compare"
    );
    let read_back = outcrop(dir.path(), &["column", "verify", "b.ocol"]);
    assert_eq!(read_back.code, Some(0), "{read_back:?}");
    let without = format!("{args} --force --no-compare");
    let Ended { code, sentence, .. } = ended(dir.path(), &without, Stdio::null());
    assert_eq!(code, 0, "{sentence}");
}

#[test]
fn a_decoder_that_gets_no_memory_does_not_call_its_input_damaged() {
    let dir = workplace();
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(26).unwrap();
    encoder.write_all(&b"tuff\nmarl\n".repeat(10 << 20)).unwrap();
    std::fs::write(dir.path().join("a.txt.zst"), encoder.finish().unwrap()).unwrap();
    let args = "encode a.txt.zst -o b.ocol --max-memory 20MiB";
    let Ended { code, sentence, .. } = ended(dir.path(), args, Stdio::null());
    assert_eq!(code, 2, "{sentence}");
    assert!(
        sentence.contains("--max-memory 20MiB") && !sentence.contains("damaged"),
        "{sentence}"
    );
    assert_eq!(names_in(dir.path()), ["a.txt.zst"]);
}

#[test]
fn of_several_columns_those_that_are_written_stay_where_the_next_takes_too_much() {
    let dir = workplace();
    let long = "x".repeat(30 << 20);
    std::fs::write(dir.path().join("a.csv"), format!("small,big\ntuff,{long}\n")).unwrap();
    let args = "encode a.csv --column small,big -o b-{}.ocol --no-compare --max-memory 80MiB";
    let Ended { code, sentence, .. } = ended(dir.path(), args, Stdio::null());
    assert_eq!(code, 3, "{sentence}");
    // The comparison is left out already.
    assert_eq!(
        sentence,
        "error: b-small.ocol is written and stays, but what follows takes more memory than --max-memory allows, or than the system grants; allow more"
    );
    assert_eq!(names_in(dir.path()), ["a.csv", "b-small.ocol"]);
}
