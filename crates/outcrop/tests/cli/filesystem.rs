//! `outcrop filesystem`: real filesystems, what stays behind (nothing), other users, and a sentence for each kind of bad input.

use std::process::Command;

use crate::harness::{Seen, names_in, outcrop, workplace};

const QUICK: [&str; 6] = [
    "--repetitions",
    "2",
    "--duration",
    "40ms",
    "--sample-size",
    "16MiB",
];

fn filesystem(dir: &std::path::Path, args: &[&str]) -> Seen {
    let mut all = vec!["filesystem"];
    all.extend_from_slice(args);
    all.extend_from_slice(&QUICK);
    outcrop(dir, &all)
}

#[test]
fn configurations_are_compared_in_a_table_and_nothing_stays_behind() {
    let dir = workplace();
    let args = [
        "--filesystem",
        "ext4,btrfs zstd:3",
        "--no-save",
        "--format",
        "json",
    ];
    let seen = filesystem(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let answer: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    let cells = answer["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "{answer}");
    for cell in cells {
        let space = &cell["metrics"]["space_ratio"];
        if space["value"].is_null() {
            println!("skipped: {cell}");
            continue;
        }
        let compression = &cell["factors"]["compression"];
        let ratio = space["value"].as_f64().unwrap();
        assert_eq!(ratio > 1.2, compression == "zstd:3", "{cell}");
    }
    assert_eq!(names_in(dir.path()), Vec::<String>::new());
}

#[test]
fn bad_input_is_a_sentence_that_names_the_flag() {
    let dir = workplace();
    let cases: [(&[&str], &str); 6] = [
        (&["--compression", "zstd:99"], "-15 to 15"),
        (
            &["--filesystem", "ext4", "--compression", "zstd:3"],
            "does not compress",
        ),
        (
            &["--compression", "zstd:3", "--checksum", "none"],
            "compresses nothing",
        ),
        (&["--filesystem", "btrsf"], "did you mean `btrfs`?"),
        (&["--directory", "/dev/shm"], "tmpfs"),
        (&["--queue-depth", "8"], "more jobs"),
    ];
    for (args, expected) in cases {
        let seen = filesystem(dir.path(), args);
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        assert!(seen.stderr.contains(expected), "{args:?}: {}", seen.stderr);
    }
}

#[test]
fn a_user_without_privileges_measures_a_directory_and_is_told_why_nothing_can_be_made() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: another user: this test becomes one, which takes root");
        return;
    }
    // The program and the repository may lie where only their owner looks: a filesystem of its own, in a namespace that ends with it.
    let script = "set -e; chmod 755 \"$1\"; truncate -s 1G \"$1/image\"; mkfs.ext4 -q \"$1/image\"; mkdir \"$1/mount\"; \
         mount -o loop \"$1/image\" \"$1/mount\"; mkdir -m 777 \"$1/mount/work\"; touch \"$1/mount/outcrop\"; \
         mount --bind \"$2\" \"$1/mount/outcrop\"; cd \"$1/mount/work\"; shift 2; status=0; \
         setpriv --reuid 65534 --regid 65534 --clear-groups ../outcrop filesystem \"$@\" || status=$?; \
         test -z \"$(ls -A .)\" || echo left behind: \"$(ls -A .)\"; exit $status";
    let nobody = |args: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
            .arg(folder.path())
            .arg(env!("CARGO_BIN_EXE_outcrop"))
            .args(args)
            .args(QUICK)
            .args(["--no-save", "--quiet"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            output.status.code(),
            text + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let (code, said) = nobody(&["--directory", "."]);
    assert!(!said.contains("left behind"), "{said}");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = nobody(&["--filesystem", "btrfs"]);
    assert!(
        said.contains("needs root") && !said.contains("left behind"),
        "{code:?} {said}"
    );
}
