//! Inputs without an end: named pipes that nobody writes to, devices, lines and files that go on for ever. Each is refused with a
//! sentence, at once or where it has become too long for what it is said to be.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Seen, command, names_in, outcrop, workplace};

/// Commands that read a file of the user's; `FILE` stands for it.
const READERS: [&str; 11] = [
    "run FILE",
    "run --dry-run FILE",
    "device --job FILE",
    "cache simulate FILE --value-size 100B",
    "cache load --trace FILE",
    "cache serve --listen 127.0.0.1:0 --login-file FILE",
    "cache serve --listen 127.0.0.1:0 --tls-cert FILE --tls-key FILE",
    "predict --application FILE",
    "compare FILE toshiba-kxg60znv256g-fio",
    "profile --layer column --data FILE",
    "column encode FILE -o out.ocol",
];

fn seen(dir: &Path, args: &str, file: &str) -> Seen {
    let args: Vec<&str> = args
        .split(' ')
        .map(|word| if word == "FILE" { file } else { word })
        .collect();
    outcrop(dir, &args)
}

#[test]
fn a_named_pipe_and_a_device_are_refused_at_once_wherever_a_file_is_read() {
    let dir = workplace();
    let made = Command::new("mkfifo").arg(dir.path().join("pipe")).status();
    assert!(made.unwrap().success());
    for (file, what) in [("./pipe", "named pipe"), ("/dev/zero", "character device")] {
        for args in READERS {
            let refused = seen(dir.path(), args, file);
            assert_eq!(refused.code, Some(2), "{args}: {refused:?}");
            let says = refused.stderr.contains(file) && refused.stderr.contains(what);
            assert!(says, "{args}: {refused:?}");
        }
    }
    assert_eq!(names_in(dir.path()), ["pipe"]);
}

#[test]
fn a_file_that_is_longer_than_what_it_is_said_to_be_is_refused_without_reading_all_of_it() {
    let dir = workplace();
    // A terabyte without a block of its own.
    let sparse = File::create(dir.path().join("sparse.txt")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    for (args, says) in [
        (READERS[0], "more than 16 MiB, so it is not a plan"),
        (READERS[2], "more than 1 MiB, so it is not a job file"),
        (READERS[3], "line 1 of the trace: it has more than 1 MiB"),
        (READERS[4], "line 1 of the trace: it has more than 1 MiB"),
        (READERS[5], "more than 256 KiB, so it is not a list of logins"),
        (READERS[6], "more than 1 MiB, so it is not a list of certificates"),
        (READERS[7], "more than 16 MiB, so it is not a list of figures"),
    ] {
        let refused = seen(dir.path(), args, "./sparse.txt");
        assert_eq!(refused.code, Some(2), "{args}: {refused:?}");
        assert!(refused.stderr.contains(says), "{args}: {refused:?}");
    }
}

/// What a command says to `start` and then these bytes over and over on stdin, and how many of them it took before it closed the pipe.
fn fed(dir: &Path, args: &[&str], start: &[u8], again: &[u8], most: usize) -> (Seen, usize) {
    let mut child = command(dir, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut taken = 0;
    let mut next = start;
    while taken < most && stdin.write_all(next).is_ok() {
        taken += next.len();
        next = again;
    }
    drop(stdin);
    (child.wait_with_output().unwrap().into(), taken)
}

#[test]
fn a_line_and_a_record_of_csv_without_end_are_refused_at_256_mib_wherever_rows_are_read() {
    let dir = workplace();
    std::fs::write(dir.path().join("a.txt"), "gneiss\n").unwrap();
    let encoded = outcrop(dir.path(), &["column", "encode", "a.txt", "-o", "a.ocol"]);
    assert_eq!(encoded.code, Some(0), "{encoded:?}");
    let before = std::fs::read(dir.path().join("a.ocol")).unwrap();
    let again = [b'x'; 1 << 20];
    for (args, start, says) in [
        (
            "column encode - --input-format csv --column a -o z.ocol",
            "a,b\n\"",
            "the record that begins here has more than 268435456 bytes; is a quotation mark not closed, or the delimiter another one? \
             (`--longest-value` allows more, up to 2GiB)",
        ),
        (
            "column append a.ocol - --input-format csv --column a",
            "a,b\n",
            "line 2 of the input: the record that begins here has more than 268435456 bytes",
        ),
        (
            "column encode - -o z.ocol --threads 2",
            "",
            "a line of the input has more than 268435456 bytes; is this text with newlines? (`--longest-value` allows more, up to 2GiB)",
        ),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let (refused, taken) = fed(dir.path(), &words, start.as_bytes(), &again, 400 << 20);
        assert_eq!(refused.code, Some(2), "{args}: {refused:?}");
        assert!(refused.sentence().contains(says), "{args}: {refused:?}");
        assert!(taken < 260 << 20, "{args}: {taken} bytes were taken");
    }
    assert_eq!(names_in(dir.path()), ["a.ocol", "a.txt"]);
    assert_eq!(std::fs::read(dir.path().join("a.ocol")).unwrap(), before);
}

#[test]
fn a_small_gzip_of_a_long_record_or_line_is_refused_by_encode_and_profile_and_read_if_asked_for() {
    let dir = workplace();
    let long = vec![b'x'; 300 << 20];
    for (name, start) in [("t.csv", "a,b\n1,x\n2,\""), ("t.txt", "gneiss\n")] {
        let file = File::create(dir.path().join(name)).unwrap();
        (&file).write_all(start.as_bytes()).unwrap();
        (&file).write_all(&long).unwrap();
        let zipped = Command::new("gzip").arg("-1").arg(dir.path().join(name)).status();
        assert!(zipped.unwrap().success());
    }
    for args in [
        "column encode t.csv.gz --column b -o z.ocol",
        "column encode t.txt.gz -o z.ocol",
        "profile --layer column --data t.csv.gz",
        "profile --layer column --data t.txt.gz",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let refused = outcrop(dir.path(), &args);
        assert_ne!(refused.code, Some(0), "{args:?}: {refused:?}");
        let said = refused.stdout.clone() + &refused.stderr;
        assert!(said.contains("268435456"), "{args:?}: {refused:?}");
    }
    let args = "column encode t.txt.gz -o z.ocol --longest-value 1GiB --no-compare --format csv";
    let args: Vec<&str> = args.split(' ').collect();
    let encoded = outcrop(dir.path(), &args);
    assert_eq!(encoded.code, Some(0), "{encoded:?}");
    assert!(encoded.stdout.contains("distinct values,2"), "{encoded:?}");
}

#[test]
fn values_to_find_take_no_more_memory_than_is_allowed() {
    let dir = workplace();
    std::fs::write(dir.path().join("a.txt"), "gneiss\nschist\n").unwrap();
    let encoded = outcrop(dir.path(), &["column", "encode", "a.txt", "-o", "a.ocol"]);
    assert_eq!(encoded.code, Some(0), "{encoded:?}");
    let numbers: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    std::fs::write(dir.path().join("many.txt"), numbers).unwrap();
    std::fs::write(dir.path().join("few.txt"), "schist\nschist\ngneiss").unwrap();
    let find = |stdin: &Path| -> Seen {
        let args = ["column", "find", "a.ocol", "-", "--max-memory", "16MiB"];
        let mut find = command(dir.path(), &args);
        find.stdin(File::open(stdin).unwrap());
        find.output().unwrap().into()
    };
    for endless in [Path::new("/dev/zero"), &dir.path().join("many.txt")] {
        let refused = find(endless);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.sentence().contains("--max-memory 16MiB"), "{refused:?}");
    }
    let found = find(&dir.path().join("few.txt"));
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.stdout.contains("gneiss") && found.stdout.contains("schist"));
}

#[test]
fn sigterm_ends_a_server_that_still_waits_for_its_logins() {
    let dir = workplace();
    let args = "cache serve --listen 127.0.0.1:0 --login-file /dev/stdin";
    let args: Vec<&str> = args.split(' ').collect();
    let mut server = command(dir.path(), &args)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // More than a pipe holds: it has begun to read when this has been written.
    let lines = [b'\n'; 128 << 10];
    let mut stdin = server.stdin.take().unwrap();
    stdin.write_all(&lines).unwrap();
    let killed = Command::new("kill").arg(server.id().to_string()).status();
    assert!(killed.unwrap().success());
    assert_eq!(server.wait().unwrap().signal(), Some(15));
    drop(stdin);
}
