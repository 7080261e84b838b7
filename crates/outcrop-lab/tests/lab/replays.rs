//! Trials that read back what they wrote.

use outcrop_schema::device;

use super::scene::{assert_complete, assert_empty, directory, plan_set, run_to_the_end, start, try_plan_set};

const PLAN: &str = r#"
name = "replay"
question = "How are written blocks read?"
layer = "device"

[subject]
size = "4MiB"

[workload]
io_block_size = "4KiB"
jobs = 2
queue_depth = 4
content = "compressible:2"

[factors]
replay = ["none", "written"]
engine = ["io_uring", "psync"]

[trial]
repetitions = 2
warm_up = "5ms"
duration = "250ms"
"#;

#[test]
fn a_replay_has_the_figures_of_its_writes_beside_those_of_its_reads() {
    let (runs, data) = (directory(), directory());
    let text = PLAN.replace("queue_depth = 4\n", "queue_depth = 1\n");
    let set = plan_set(&text, data.path());
    let estimate = set.estimate();
    assert!(
        estimate.bytes_written_measuring > 0 && estimate.measuring.as_millis() >= 8 * 45 + 4 * 45,
        "writing takes time and bytes: {estimate:?}"
    );
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    let mut written = 4.0 * 1024.0 * 1024.0;
    for entry in assert_complete(&set, &folder) {
        let number = |metric| entry.number(&metric);
        let is_replay = entry.factors["replay"] == "written";
        assert!(number(device::IOPS.both).is_some());
        assert_eq!(number(device::IOPS.read), number(device::IOPS.both));
        let bytes = number(device::BYTES_WRITTEN).unwrap();
        assert_eq!(
            number(device::IOPS.write).is_some(),
            is_replay,
            "{:?}",
            entry.factors
        );
        assert_eq!(number(device::LATENCY.write.mean).is_some(), is_replay);
        assert_eq!(bytes > 0.0, is_replay, "{bytes}");
        written += bytes;
    }
    assert_eq!(outcome.bytes_written as f64, written);
    assert_empty(data.path());
}

#[test]
fn only_what_may_be_written_is_replayed_and_only_by_reads() {
    let data = directory();
    let file = data.path().join("file");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    let one = PLAN.replace("engine = [\"io_uring\", \"psync\"]", "");
    let read_only = one.replace(
        "size = \"4MiB\"",
        &format!("kind = \"read-only\"\npath = {file:?}"),
    );
    let mixed = one.replace("jobs = 2", "jobs = 2\nread_write_mix = \"70:30\"");
    for (text, part) in [
        (read_only, "this subject is only read"),
        (mixed, "the mix 70:30 writes while it reads"),
    ] {
        let refused = try_plan_set(&text, data.path()).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn a_limit_on_what_may_be_written_ends_the_writing_of_a_replay() {
    let (runs, data) = (directory(), directory());
    let text = PLAN
        .replace("replay = [\"none\", \"written\"]", "replay = [\"written\"]")
        .replace("engine = [\"io_uring\", \"psync\"]", "");
    let set = plan_set(&text, data.path());
    let limit = outcrop_measure::units::ByteSize((4 << 20) + 4096);
    let set = set.with_max_written(Some(limit));
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    assert!(
        outcome.is_interrupted && outcome.bytes_written <= limit.0,
        "{outcome:?}"
    );
    assert_eq!(outcome.finished, 0);
}
