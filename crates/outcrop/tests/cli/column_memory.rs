//! `outcrop column` takes no more memory than it is allowed, whatever it reads.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::crafted_column::of_one_prefix;
use crate::harness::{Seen, names_in, outcrop, workplace};

const MIB: u64 = 1 << 20;

/// What the program takes before it reads anything, and what its threads set aside.
const BESIDES: u64 = 64 * MIB;

/// The exit code of a command, its last words, and the most memory that it had resident.
struct Ended {
    code: i32,
    sentence: String,
    peak_bytes: u64,
}

/// Runs the command, waits for it, and says how it ended and what it had resident at most. A small process does so: what one has when it
/// starts another counts as the other's.
const WAITING: &str = "\
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";

fn ended(dir: &Path, args: &str, stdin: Stdio) -> Ended {
    let waiting = Command::new("python3")
        .args(["-c", WAITING, env!("CARGO_BIN_EXE_outcrop"), "column"])
        .args(args.split(' '))
        .current_dir(dir)
        .stdin(stdin)
        .output()
        .unwrap();
    let Seen { stdout, stderr, .. } = waiting.into();
    let (code, peak_kib) = stdout
        .trim()
        .split_once(' ')
        .unwrap_or_else(|| panic!("{stderr}"));
    Ended {
        code: code.parse().unwrap(),
        sentence: stderr.lines().last().unwrap_or_default().to_owned(),
        peak_bytes: peak_kib.parse::<u64>().unwrap() << 10,
    }
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
        for mebibytes in [1, 4, 12, 32, 1024] {
            let limited = format!("{args} --max-memory {mebibytes}MiB");
            let Ended { code, sentence, .. } = ended(dir.path(), &limited, Stdio::null());
            assert!(matches!(code, 0 | 2), "{limited}: {code}: {sentence}");
            assert!(
                code == 0 || sentence.contains("--max-memory"),
                "{limited}: {sentence}"
            );
            last = code;
        }
        assert_eq!(last, 0, "{args}: 1 GiB is enough");
    }
    let decoded = ended(dir.path(), "decode a.ocol -o b.txt", Stdio::null());
    assert_eq!(decoded.code, 0, "{}", decoded.sentence);
    assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), text);
}
