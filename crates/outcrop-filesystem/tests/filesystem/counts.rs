//! What a cold read costs by three counts: the device's, the process's, and what is stored. In a process with nothing else in it, because
//! the kernel counts by process.

use std::process::Command;
use std::time::Duration;

use outcrop_filesystem::JobSpec;
use outcrop_workload::filesystem::FilesystemKind;

use crate::place::{DATA_BYTES, btrfs, can_make, spec};
use crate::trials::{read_amplification, run};

/// Set in the process that runs one test alone.
const ALONE: &str = "OUTCROP_TEST_ALONE";
/// How far the read amplification may be from the stored share of an extent.
const OF_STORED: f64 = 0.03;
/// How far both counts may be from each other.
const OF_EACH_OTHER: f64 = 0.01;

/// The part of the test below that runs alone.
#[test]
fn inside_a_process_with_nothing_else() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    // One whole pass, each extent once: longer than the time asked for, and at most twenty times as long.
    let extents = DATA_BYTES >> 17;
    let one_pass = |milliseconds| {
        let spec = JobSpec {
            duration: Duration::from_millis(milliseconds),
            ..spec()
        };
        let report = run(&btrfs("zstd:3"), &spec);
        let seen = (report.operation.operations, report.operation.passes);
        (seen == (extents, 1)).then_some(report)
    };
    // A part of the extents would be another sample of their sizes: a busy disk gets more time.
    let report = [15, 60, 240].into_iter().find_map(one_pass).unwrap();
    assert_eq!(report.pages.0, Ok(0));
    let stored = report.stored.as_ref().unwrap().ratio();
    assert!(stored > 1.3, "{stored}");
    let seen = read_amplification(&report);
    // Of an extent that stayed as it was, a read fetches itself.
    let raw = 1.0 - report.extents.as_ref().unwrap().encoded_share();
    let expected = 32.0 * (1.0 / stored - raw) + raw;
    assert!(
        (seen / expected - 1.0).abs() < OF_STORED,
        "{seen} for each, expected {expected}"
    );
    let own = report.operation.costs.own_read_bytes.clone().unwrap();
    let own = own as f64 / report.operation.bytes as f64;
    assert!(
        (seen / own - 1.0).abs() < OF_EACH_OTHER,
        "device {seen}, own {own}"
    );
    let options = report.options.unwrap();
    assert!(options.contains("compress-force=zstd:3"), "{options}");
    // What is cached after it is the rest of the extents.
    let cached = report.pages.1.clone().unwrap();
    assert!(cached > extents, "{cached} pages after {extents} reads");
}

#[test]
fn a_cold_read_fetches_the_stored_extent_and_the_device_and_the_process_agree() {
    if !can_make(FilesystemKind::Btrfs) {
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "counts::inside_a_process_with_nothing_else",
            "--nocapture",
        ])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
