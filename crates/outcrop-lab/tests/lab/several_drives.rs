//! Several drives at the same time: two loop devices with a filesystem each, or two files.

use outcrop_schema::device::{self, DRIVE_BANDWIDTH, DRIVE_IOPS, DRIVE_P99};

use super::scene::{assert_complete, assert_empty, directory, plan_set, run_to_the_end, start, try_plan_set};

/// Long enough that a disk which others use completes on each drive what is in flight.
const PLAN: &str = r#"
name = "drives"
question = "What do two drives give together?"
layer = "device"

[subject]
size = "4MiB"
also = "ALSO"

[workload]
queue_depth = 2
jobs = 2

[factors]
drives = [1, 2]
read_write_mix = ["100:0", "50:50", "0:100"]

[trial]
repetitions = 2
warm_up = "5ms"
duration = "250ms"
"#;

#[test]
fn each_drive_has_its_figures_and_the_trial_has_their_sum() {
    let (runs, first, second) = (directory(), directory(), directory());
    let text = PLAN.replace("ALSO", second.path().to_str().unwrap());
    let set = plan_set(&text, first.path());
    assert_eq!(
        set.estimate().bytes_written_preparing,
        2 * (4 << 20),
        "a file on each"
    );
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    let mut depths = Vec::new();
    let mut written = 2.0 * 4.0 * 1024.0 * 1024.0;
    for entry in assert_complete(&set, &folder) {
        let number = |metric: &outcrop_measure::Metric| entry.number(metric);
        written += number(&device::BYTES_WRITTEN).unwrap();
        let drives: usize = entry.factors["drives"].parse().unwrap();
        let of_each: Vec<f64> = DRIVE_IOPS.iter().filter_map(&number).collect();
        if drives == 1 {
            assert_eq!(of_each, [0.0; 0]);
            continue;
        }
        assert_eq!(of_each.len(), drives);
        let sum: f64 = of_each.iter().sum();
        let total = number(&device::IOPS.both).unwrap();
        assert!((sum - total).abs() <= total * 1e-3, "{of_each:?} and {total}");
        let bytes: f64 = DRIVE_BANDWIDTH.iter().filter_map(&number).sum();
        let total = number(&device::BANDWIDTH.both).unwrap();
        assert!((bytes - total).abs() <= total * 1e-3, "{bytes} and {total}");
        let depth = number(&device::ACHIEVED_QUEUE_DEPTH).unwrap();
        assert!(depth < 8.01, "2 drives × 2 jobs × depth 2: {depth}");
        depths.push(depth);
        let known = DRIVE_P99
            .iter()
            .filter(|metric| entry.values.iter().any(|value| value.metric == metric.name));
        assert_eq!(known.count(), drives);
    }
    // On a busy machine a thread may stand still between two operations in any trial, but not in all of them.
    assert!(
        depths.iter().any(|depth| *depth > 4.0),
        "more than one drive has: {depths:?}"
    );
    assert_eq!(outcome.bytes_written as f64, written);
    assert_empty(first.path());
    assert_empty(second.path());
}

#[test]
fn files_are_read_together_as_far_as_the_smallest_goes_and_what_cannot_be_is_refused() {
    let (runs, data) = (directory(), directory());
    let file = |name: &str, bytes: usize| {
        let path = data.path().join(name);
        std::fs::write(&path, vec![1; bytes]).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, two) = (file("one", 2 << 20), file("two", 1 << 20));
    let reads = PLAN.replace("read_write_mix = [\"100:0\", \"50:50\", \"0:100\"]\n", "");
    let text = reads
        .replace(
            "size = \"4MiB\"",
            &format!("kind = \"read-only\"\npath = {one:?}"),
        )
        .replace("ALSO", &two);
    let set = plan_set(&text, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        assert_eq!(entry.factors["span"], "1MiB");
        assert!(
            entry.subject.ends_with(&format!("1MiB, with {two}")),
            "{}",
            entry.subject
        );
    }
    for (text, part) in [
        (text.replace(&two, &one), "is named twice"),
        (reads.replace("ALSO", &one), "is not a directory"),
        (
            reads
                .replace("drives = [1, 2]", "drives = [3]")
                .replace("ALSO", data.path().to_str().unwrap()),
            "the subject has 2",
        ),
        (reads.replace("also = \"ALSO\"\n", ""), "the subject has 1"),
        (reads.replace("ALSO", "a::b"), "is not a directory"),
    ] {
        let refused = try_plan_set(&text, data.path()).unwrap_err().to_string();
        assert!(refused.contains(part), "{part}: {refused}");
    }
}
