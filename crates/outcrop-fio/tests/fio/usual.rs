//! Options that say nothing of the workload with fio's default, and are a condition with another value.

use std::fs;

use crate::samples::imported;

/// The condition that an option becomes, and whether a run of fio's default is the same cell.
fn condition(base: &str, option: &str, value: &str) -> (Option<String>, bool) {
    let folder = tempfile::tempdir().unwrap();
    let report = |more: &str| {
        let direction =
            r#"{"bw_bytes": 4096000, "iops": 1000, "runtime": 1000, "total_ios": 1000, "io_bytes": 4096000}"#;
        let nothing = r#"{"bw_bytes": 0, "total_ios": 0}"#;
        let (read, write) = match base.contains("write") {
            true => (nothing, direction),
            false => (direction, nothing),
        };
        format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "job options": {{{base}{more}}}, "read": {read}, "write": {write}}}]}}"#
        )
    };
    fs::write(folder.path().join("1.json"), report("")).unwrap();
    let with = report(&format!(r#", "{option}": "{value}""#));
    fs::write(folder.path().join("2.json"), with).unwrap();
    let imported = imported(&[folder.path()]);
    let [usual, other] = imported.trials.as_slice() else {
        panic!("{:?}", imported.left_out)
    };
    let condition = other.factors.get(&format!("fio_{option}")).cloned();
    (condition, usual.cell == other.cell)
}

#[test]
fn options_that_change_the_workload_are_conditions_unless_they_have_their_default_or_no_effect() {
    const WRITES: &str = r#""rw": "randwrite", "filename": "x""#;
    const OVER_ITS_FILE: &str = r#""rw": "randwrite", "filename": "x", "overwrite": "1""#;
    const TO_A_DEVICE: &str = r#""rw": "randwrite", "filename": "/dev/x""#;
    const READS: &str = r#""rw": "randread", "filename": "x""#;
    const DEEP: &str = r#""rw": "randread", "ioengine": "libaio", "iodepth": "32", "direct": "1""#;
    const SYNCHRONOUS: &str = r#""rw": "randread", "ioengine": "psync", "iodepth": "32""#;
    for (base, option, value, is_condition) in [
        (DEEP, "iodepth_low", "1", true),
        (DEEP, "iodepth_low", "32", false),
        (DEEP, "iodepth_low", "0", false),
        (SYNCHRONOUS, "iodepth_low", "1", false),
        (READS, "invalidate", "0", true),
        (READS, "invalidate", "1", false),
        (DEEP, "invalidate", "0", false),
        (WRITES, "fallocate", "none", true),
        (WRITES, "fallocate", "native", false),
        (OVER_ITS_FILE, "fallocate", "none", false),
        (READS, "fallocate", "none", false),
        (TO_A_DEVICE, "fallocate", "none", false),
        (WRITES, "overwrite", "1", false),
        (WRITES, "overwrite", "0", false),
        (READS, "overwrite", "1", false),
        (WRITES, "file_append", "1", true),
        (TO_A_DEVICE, "file_append", "1", false),
        (READS, "thinktime", "0", false),
        (READS, "thinktime", "10us", true),
        (READS, "nrfiles", "1", false),
        (READS, "nrfiles", "4", true),
        (READS, "offset", "0", false),
        (READS, "offset", "1g", true),
        (READS, "verify", "0", false),
    ] {
        let expected = is_condition.then(|| value.to_owned());
        let seen = condition(base, option, value);
        assert_eq!(seen, (expected, !is_condition), "{base}, {option}={value}");
    }
}
