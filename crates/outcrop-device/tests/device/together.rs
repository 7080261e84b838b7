//! Several targets at the same time.

use std::sync::atomic::AtomicBool;

use outcrop_device::{JobSpec, ReadOnlyTarget, Target, run_together};
use outcrop_probe::clock::Clock;
use outcrop_workload::ReadWriteMix;

use crate::stage::{folder, names_in, scratch, short_spec};

#[test]
fn each_target_has_its_own_jobs_and_the_total_is_the_sum() {
    let (one, two) = (folder(), folder());
    let targets = [&one, &two].map(|folder| Target::Scratch(scratch(folder.path(), 4 << 20)));
    for (mix, jobs, arrival) in [("50:50", 2, "closed"), ("100:0", 1, "constant:400")] {
        let spec = JobSpec {
            read_write_mix: mix.parse().unwrap(),
            arrival: arrival.parse().unwrap(),
            jobs,
            ..short_spec()
        };
        let targets: Vec<&Target> = targets.iter().collect();
        let together = run_together(&targets, &spec, &Clock::new(), &AtomicBool::new(false)).unwrap();
        assert_eq!(together.each.len(), 2);
        let sum = |of: &dyn Fn(&outcrop_device::JobReport) -> u64| together.each.iter().map(of).sum::<u64>();
        let total = &together.total;
        assert_eq!(total.traffic.reads, sum(&|report| report.traffic.reads));
        assert_eq!(
            total.traffic.written_bytes,
            sum(&|report| report.traffic.written_bytes)
        );
        let of_total = |report: &outcrop_device::JobReport| report.total().reads.latency.count();
        assert_eq!(of_total(total), sum(&of_total));
        assert_eq!(total.issued.len(), 2 * jobs as usize);
        assert_eq!(
            total.issued.iter().sum::<u64>(),
            total.traffic.reads + total.traffic.writes
        );
        let depths: f64 = together
            .each
            .iter()
            .map(|report| report.achieved_queue_depth)
            .sum();
        assert!((total.achieved_queue_depth - depths).abs() < 1e-9);
        if let Some(asked) = &total.arrival {
            assert!(
                (asked.requested_per_second - 800.0).abs() < 1e-9,
                "on each its rate: {asked:?}"
            );
            assert_eq!(asked.due, sum(&|report| report.arrival.unwrap().due));
        }
        // Both files lie on one disk, whose counters count once.
        if let (Ok(all), Ok(first)) = (&total.device_counters, &together.each[0].device_counters) {
            assert_eq!(all.read_bytes, first.read_bytes);
        }
    }
}

#[test]
fn nothing_is_written_anywhere_when_one_target_may_only_be_read() {
    let folder = folder();
    let path = folder.path().join("file");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let ours = Target::Scratch(scratch(folder.path(), 1 << 20));
    let theirs = Target::ReadOnly(ReadOnlyTarget::open(&path).unwrap());
    let spec = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        ..short_spec()
    };
    let stop = AtomicBool::new(false);
    let refused = run_together(&[&ours, &theirs], &spec, &Clock::new(), &stop).unwrap_err();
    assert!(refused.to_string().contains("file"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 1 << 20]);
    assert_eq!(names_in(folder.path()), ["file"]);
    let none = run_together(&[], &spec, &Clock::new(), &stop)
        .unwrap_err()
        .to_string();
    assert!(none.contains("at least one"), "{none}");
}
