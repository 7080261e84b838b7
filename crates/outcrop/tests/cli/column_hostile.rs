//! `outcrop column` against files and names that would cost a user data, memory, or for ever to wait.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::file::properties::WriterProperties;

use crate::harness::{Seen, names_in, outcrop, workplace};

fn column(dir: &Path, args: &str) -> Seen {
    let args: Vec<&str> = std::iter::once("column").chain(args.split(' ')).collect();
    outcrop(dir, &args)
}

/// Two values of three letters in `DELTA_BYTE_ARRAY`, of which the second has a length of −1: the library that decodes it panics.
fn parquet_of_a_length_below_zero() -> Vec<u8> {
    let array: ArrayRef = Arc::new(StringArray::from(vec!["abc", "xyz"]));
    let batch = RecordBatch::try_from_iter([("rock", array)]).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let mut file = writer.into_inner().unwrap();
    // Behind the two lengths' first value: their least difference, and the widths of four miniblocks.
    let values = file.windows(6).position(|six| six == b"abcxyz").unwrap();
    assert_eq!(file[values - 6..values], [6, 0, 0, 0, 0, 0]);
    file[values - 5] = 7;
    file
}

#[test]
fn a_panic_of_a_library_over_a_damaged_file_is_one_sentence() {
    let dir = workplace();
    std::fs::write(dir.path().join("a.parquet"), parquet_of_a_length_below_zero()).unwrap();
    let seen = column(dir.path(), "encode a.parquet -o a.ocol");
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.stderr.contains("the file is damaged: its decoder gave up") && !seen.stderr.contains("panicked"),
        "{seen:?}"
    );
}

#[test]
fn a_file_is_never_replaced_by_what_is_made_of_it() {
    let dir = workplace();
    std::fs::write(dir.path().join("a.txt"), "gneiss\nschist\n").unwrap();
    assert_eq!(column(dir.path(), "encode a.txt -o a.ocol").code, Some(0));
    std::os::unix::fs::symlink("a.txt", dir.path().join("link")).unwrap();
    std::fs::hard_link(dir.path().join("a.ocol"), dir.path().join("same.ocol")).unwrap();
    let before = names_in(dir.path());
    let encoded = std::fs::read(dir.path().join("a.ocol")).unwrap();
    for args in [
        "encode a.txt -o a.txt",
        "encode a.txt -o link",
        "encode link -o a.txt",
        "decode a.ocol -o a.ocol",
        "decode a.ocol -o same.ocol --to csv",
    ] {
        let seen = column(dir.path(), args);
        assert_eq!(seen.code, Some(2), "{args}: {seen:?}");
        assert!(
            seen.sentence().contains("is the input, and would be replaced"),
            "{args}: {seen:?}"
        );
    }
    assert_eq!(names_in(dir.path()), before);
    assert_eq!(
        std::fs::read(dir.path().join("a.txt")).unwrap(),
        b"gneiss\nschist\n"
    );
    assert_eq!(std::fs::read(dir.path().join("a.ocol")).unwrap(), encoded);
}

#[test]
fn named_pipes_and_devices_are_refused_at_once_and_the_shell_s_own_pipes_are_read() {
    let dir = workplace();
    let made = Command::new("mkfifo")
        .arg(dir.path().join("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    std::fs::write(dir.path().join("a.txt"), "gneiss\n").unwrap();
    assert_eq!(column(dir.path(), "encode a.txt -o a.ocol").code, Some(0));
    for args in [
        "find pipe granite",
        "find pipe granite --memory on-disk",
        "get pipe 0",
        "info pipe",
        "verify pipe",
        "decode pipe",
        "compact pipe -o b.ocol",
        "encode pipe -o b.ocol",
        "append a.ocol pipe",
        "append pipe a.txt",
        "encode /dev/zero -o b.ocol",
        "decode a.ocol -o pipe",
        "encode a.txt -o pipe",
        "compact a.ocol -o pipe",
    ] {
        let seen = column(dir.path(), args);
        assert_eq!(seen.code, Some(2), "{args}: {seen:?}");
        let says = ["named pipe", "is not a regular file", "character device"];
        assert!(
            says.iter().any(|word| seen.sentence().contains(word)),
            "{args}: {seen:?}"
        );
    }
    assert_eq!(names_in(dir.path()), ["a.ocol", "a.txt", "pipe"]);
    let piped = format!(
        "{} column encode <(printf 'a\\nb\\n') -o piped.ocol",
        env!("CARGO_BIN_EXE_outcrop")
    );
    let piped = Command::new("bash")
        .args(["-c", &piped])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(piped.status.success(), "{piped:?}");
    assert_eq!(column(dir.path(), "decode piped.ocol").stdout, "a\nb\n");
}

#[test]
fn a_small_file_of_a_huge_value_is_refused_unless_it_is_allowed_the_memory() {
    let dir = workplace();
    std::fs::write(dir.path().join("huge.txt"), "0".repeat(40 << 20)).unwrap();
    let made = column(dir.path(), "encode huge.txt -o huge.ocol --no-compare");
    assert_eq!(made.code, Some(0), "{made:?}");
    let bytes = std::fs::metadata(dir.path().join("huge.ocol")).unwrap().len();
    assert!(bytes < 100_000, "{bytes}");
    for command in [
        "find huge.ocol 0",
        "get huge.ocol 0",
        "decode huge.ocol",
        "decode huge.ocol -o huge.parquet",
        "verify huge.ocol",
    ] {
        let refused = column(dir.path(), &format!("{command} --max-memory 64MiB"));
        assert_eq!(refused.code, Some(2), "{command}: {refused:?}");
        assert!(
            refused.sentence().contains("--max-memory"),
            "{command}: {refused:?}"
        );
        let allowed = column(dir.path(), command);
        assert_eq!(allowed.code, Some(0), "{command}: {}", allowed.stderr);
    }
    // Eighteen times 40 MiB are less than 1 GiB, and more than 512 MiB.
    let refused = column(
        dir.path(),
        "decode huge.ocol -o again.parquet --max-memory 512MiB",
    );
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for input in ["huge.txt", "huge.parquet"] {
        let compared = column(dir.path(), &format!("encode {input} -o z.ocol --force"));
        assert_eq!(compared.code, Some(0), "{compared:?}");
        let why = "it has values of more than 32 MiB, which are not compared";
        assert!(compared.stderr.contains(why), "{input}: {compared:?}");
    }
}
