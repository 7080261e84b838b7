//! `outcrop kv` in directories whose filesystem does something of its own with what an engine writes.

use std::process::Command;

use crate::harness::{Seen, workplace};

/// `outcrop kv` in a new btrfs of 1 GiB that compresses, in a mount namespace that ends with it.
fn on_compressing_btrfs(args: &str) -> Seen {
    let script = "set -e; truncate -s 1G \"$1/image\"; mkfs.btrfs -q \"$1/image\" > \"$1/said\"; mkdir \"$1/mount\"; \
                  mount -o loop,compress=zstd:1 \"$1/image\" \"$1/mount\"; binary=$2; cd \"$1/mount\"; shift 2; \"$binary\" kv \"$@\"";
    let folder = workplace();
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(env!("CARGO_BIN_EXE_outcrop"))
        .args("--records 1000 --repetitions 5 --duration 20ms --warm-up 2ms --no-save --quiet".split(' '))
        .args(args.split(' '))
        .output()
        .unwrap();
    Seen::from(output)
}

/// Files show what they take before the compression: lz4 looked smaller than nothing, and took more of the device.
#[test]
fn on_a_filesystem_that_compresses_no_space_is_given_and_no_codec_is_advised_for_it() {
    let seen = on_compressing_btrfs("--compression none,lz4 --block-size 4k --format json");
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let seen: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    for cell in seen["cells"].as_array().unwrap() {
        for metric in ["space_amplification", "stored_bytes"] {
            let why = cell["metrics"][metric]["unavailable"].as_str().unwrap();
            assert!(why.contains("compresses (btrfs compress=zstd:1)"), "{why}");
        }
        assert!(cell["metrics"]["throughput"]["value"].is_number(), "{cell}");
    }
    let advice = seen["advice"].to_string();
    assert!(!advice.contains("of the space"), "{advice}");

    let alone = on_compressing_btrfs("--compression none");
    let words = alone.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("and space amp. are unavailable"), "{words}");
    assert!(
        words.contains("files show only their size before that"),
        "{words}"
    );
}
