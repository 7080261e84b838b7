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
    let cases: [(&[&str], &str); 9] = [
        (
            &["--directory", ".", "--filesystem", "btrfs"],
            "--directory measures an existing filesystem as it is",
        ),
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
        (
            &["--filesystem", "zfs"],
            "a mounted one is measured with --directory DIR",
        ),
        // The setting stands in the same word, and is refused there.
        (
            &["--filesystem", "ext4,erofs zstd:3"],
            "--filesystem: erofs has no zstd; it has lz4, lz4hc",
        ),
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
        said.starts_with("error: nothing can be measured here: making a filesystem needs root")
            && said.contains("--directory DIR")
            && !said.contains("left behind"),
        "{code:?} {said}"
    );
    assert_eq!(code, Some(2), "{said}");
}

/// The plans of the layer, as they ship.
const PLANS: [&str; 5] = [
    "fs-choice",
    "fs-read-amplification",
    "fs-throughput-latency",
    "fs-writes",
    "fs-small-files",
];

/// What one plan did: its name, and what a user saw.
struct Planned {
    name: String,
    seen: Seen,
}

/// Runs files with plans as a user without rights, in a directory on a filesystem that is made and mounted in a namespace.
fn plans_as_nobody(mkfs: &str, plans: &std::path::Path) -> Vec<Planned> {
    let script = "set -e; chmod 755 \"$1\"; truncate -s 1G \"$1/image\"; \"$3\" -q \"$1/image\"; mkdir \"$1/mount\"; \
         mount -o loop \"$1/image\" \"$1/mount\"; mkdir -m 777 \"$1/mount/work\"; touch \"$1/mount/outcrop\"; \
         mount --bind \"$2\" \"$1/mount/outcrop\"; mkdir \"$1/mount/plans\"; cp \"$4\"/*.toml \"$1/mount/plans\"; \
         chmod -R a+rX \"$1/mount/plans\"; cd \"$1/mount/work\"; for plan in ../plans/*.toml; do echo \"== $plan\"; status=0; \
         setpriv --reuid 65534 --regid 65534 --clear-groups ../outcrop run \"$plan\" --effort quick --repetitions 1 \
         --duration 60ms --no-save --quiet --format json 2>\"$1/errors\" || status=$?; echo; echo \"== $status\"; cat \"$1/errors\"; \
         test -z \"$(ls -A .)\" || { echo left behind: \"$(ls -A .)\"; exit 9; }; done";
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(env!("CARGO_BIN_EXE_outcrop"))
        .arg(mkfs)
        .arg(plans)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{mkfs}: {said}{errors}");
    let mut parts = said.split("== ").skip(1);
    let mut runs = Vec::new();
    while let (Some(plan), Some(ending)) = (parts.next(), parts.next()) {
        let (file, stdout) = plan.split_once('\n').unwrap();
        let (code, stderr) = ending.split_once('\n').unwrap();
        runs.push(Planned {
            name: file
                .trim_start_matches("../plans/")
                .trim_end_matches(".toml")
                .to_owned(),
            seen: Seen {
                code: code.parse().ok(),
                stdout: stdout.to_owned(),
                stderr: stderr.to_owned(),
            },
        });
    }
    runs
}

#[test]
fn every_plan_runs_as_nobody_on_ext4_and_btrfs_or_says_why() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: plans of another user: this test becomes one, which takes root");
        return;
    }
    let plans = tempfile::tempdir().unwrap();
    for name in PLANS {
        let shipped = format!("{}/../../plans/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let image = std::fs::read_to_string(shipped).unwrap();
        const IMAGE: &str = "kind = \"scratch-image\"";
        assert!(image.contains(IMAGE), "{name}");
        let directory = image.replace(IMAGE, "kind = \"directory\"\npath = \".\"");
        std::fs::write(plans.path().join(format!("{name}.image.toml")), image).unwrap();
        std::fs::write(plans.path().join(format!("{name}.directory.toml")), directory).unwrap();
    }
    for mkfs in ["mkfs.ext4", "mkfs.btrfs"] {
        let runs = plans_as_nobody(mkfs, plans.path());
        assert_eq!(runs.len(), 2 * PLANS.len());
        for Planned { name, seen } in runs {
            let says = |words: &str| {
                let said = format!("{}{}", seen.stdout, seen.stderr);
                assert!(said.contains(words), "{mkfs} {name}: {seen:?}");
            };
            match name.split_once('.').unwrap() {
                (_, "image") => says("needs root"),
                ("fs-small-files", _) => {
                    assert_eq!(seen.code, Some(2), "{mkfs} {name}: {seen:?}");
                    says("small files need names");
                }
                _ => {
                    assert_eq!(seen.code, Some(0), "{mkfs} {name}: {seen:?}");
                    measured(&seen.stdout);
                }
            }
        }
    }
}

#[test]
fn data_that_are_too_small_are_refused_with_how_much_there_is_and_nothing_else_is_promised() {
    let dir = workplace();
    std::fs::write(dir.path().join("small.txt"), "a line\n".repeat(1000)).unwrap();
    let seen = outcrop(dir.path(), &["filesystem", "--data", "small.txt", "--dry-run"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    let sentence = seen.sentence();
    assert!(
        sentence.contains("needs at least ") && sentence.contains("only 7.00 kB are given"),
        "{sentence}"
    );
    assert!(!sentence.contains("sample"), "{sentence}");
}

/// Every cell has operations and a latency, and its reads were cold.
fn measured(said: &str) {
    let answer: serde_json::Value =
        serde_json::from_str(said).unwrap_or_else(|error| panic!("{error}: {said}"));
    let cells = answer["cells"].as_array().unwrap();
    assert!(!cells.is_empty(), "{answer}");
    for cell in cells {
        let value = |metric: &str| cell["metrics"][metric]["value"].as_f64();
        // A share of a rate that the busy machine never reached is not offered: its trial says so, and has no figures.
        let is_share = cell["factors"]["arrival"]
            .as_str()
            .is_some_and(|arrival| arrival.ends_with('%'));
        if is_share && cell["trials"] == 0 {
            continue;
        }
        // On a busy machine a short open loop may see no answer; it was offered all the same.
        let seen = [value("iops"), value("arrival_requested")];
        assert!(seen.iter().flatten().any(|rate| *rate > 0.0), "{cell}");
        let is_read = cell["factors"]["operation"]
            .as_str()
            .is_none_or(|name| name.ends_with("read"));
        assert!(!is_read || value("pages_cached_before") == Some(0.0), "{cell}");
    }
}
