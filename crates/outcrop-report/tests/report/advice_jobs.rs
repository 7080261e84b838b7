//! Advice on loads that differ in their number of jobs.

use outcrop_results::{RunView, TrialEntry, Value};
use outcrop_schema::device::{Direction, IOPS, JOBS, LATENCY, QUEUE_DEPTH};

use crate::advice::advice;
use crate::fixture::RunBuilder;

/// A run at QD 1 and 64 with one job and four, with a p99 in µs for each combination of jobs and depth.
fn with_p99s_of_jobs(direction: Direction, p99s_us: [(&str, &str, f64); 4]) -> RunView {
    let reads = if direction == Direction::Read { 100 } else { 0 };
    let one = RunBuilder::new(5).cells(&[4096], &[1, 64], &[reads]).build();
    let mut run = one.clone();
    run.trials.extend(one.trials.into_iter().map(|mut trial| {
        trial.cell.push_str(" of four");
        trial.factors.insert(JOBS.name.to_owned(), "4".to_owned());
        trial
    }));
    for trial in &mut run.trials {
        let jobs = trial.factors.get(JOBS.name).map_or("1", String::as_str);
        let depth = trial.factors[QUEUE_DEPTH.name].as_str();
        let of_cell = p99s_us.iter().find(|(of, at, _)| (*of, *at) == (jobs, depth));
        let p99_ns =
            1e3 * of_cell.expect("a p99 of each combination").2 * (1.0 + 1e-3 * f64::from(trial.repetition));
        for metric in [LATENCY.both.p99, LATENCY.of(Some(direction)).p99] {
            trial.values.retain(|value| value.metric != metric.name);
            trial.values.push(Value::measured(metric, p99_ns));
        }
    }
    run
}

#[test]
fn advice_on_latency_is_of_every_combination_of_jobs_and_depth_and_names_the_jobs() {
    for (direction, topic) in [
        (Direction::Read, "Read latency"),
        (Direction::Write, "Write latency"),
    ] {
        let of = |four_us: f64| {
            let p99s_us = [
                ("1", "1", 88.1),
                ("4", "1", four_us),
                ("1", "64", 900.0),
                ("4", "64", 4000.0),
            ];
            advice(&with_p99s_of_jobs(direction, p99s_us), topic).unwrap()
        };
        let kept = of(152.0);
        assert!(
            kept.brief.starts_with("4 jobs × QD 1: p99 152 µs")
                && kept.brief.contains("at most twice 1 job × QD 1"),
            "{kept:?}"
        );
        assert!(
            kept.text
                .contains("; at 1 job × QD 64 it is more than that: 902 µs"),
            "{kept:?}"
        );
        let action = kept.action.as_ref().unwrap();
        assert!(
            action.starts_with("For low latency, keep to 4 jobs × QD 1 with "),
            "{action}"
        );
        // The next combination is the one with the next number of requests in flight, not the next depth.
        let lone = of(300.0);
        for text in [&lone.brief, &lone.text] {
            assert!(
                text.contains("; at 4 jobs × QD 1 it is more than twice as much: 301 µs"),
                "{text}"
            );
        }
        assert!(lone.brief.starts_with("1 job × QD 1: p99 88.3 µs"), "{lone:?}");
    }
}

#[test]
fn the_brief_of_a_depth_names_its_one_job_where_the_run_has_several() {
    let p99s_us = [
        ("1", "1", 88.1),
        ("4", "1", 152.0),
        ("1", "64", 900.0),
        ("4", "64", 4000.0),
    ];
    let several = with_p99s_of_jobs(Direction::Read, p99s_us);
    let brief = |run: &RunView| advice(run, "Read throughput").unwrap().brief;
    assert!(
        brief(&several).starts_with("1 job × QD 64: "),
        "{}",
        brief(&several)
    );
    let mut one = several;
    one.trials
        .retain(|trial| trial.factors.get(JOBS.name).is_none_or(|jobs| jobs == "1"));
    assert!(brief(&one).starts_with("QD 64: "), "{}", brief(&one));
}

#[test]
fn whoever_raises_the_number_of_jobs_alone_is_advised_a_number_of_jobs() {
    let p99s_us = [
        ("1", "1", 88.1),
        ("4", "1", 152.0),
        ("1", "64", 0.0),
        ("4", "64", 0.0),
    ];
    let mut run = with_p99s_of_jobs(Direction::Read, p99s_us);
    run.trials.retain(|trial| trial.factors[QUEUE_DEPTH.name] == "1");
    for trial in &mut run.trials {
        let jobs = trial.factors.get(JOBS.name).map_or("1", String::as_str);
        let speed_up = if jobs == "4" { 3.5 } else { 1.0 };
        for metric in [IOPS.both, IOPS.read] {
            trial.values.retain(|value| value.metric != metric.name);
            let iops = 10e3 * speed_up + f64::from(trial.repetition);
            trial.values.push(Value::measured(metric, iops));
        }
    }
    let throughput = advice(&run, "Read throughput").unwrap();
    assert!(
        throughput.brief.starts_with("4 jobs × QD 1: 35.0 k"),
        "{throughput:?}"
    );
    let measured = "more than any other number of jobs measured with 4 KiB random reads";
    assert!(throughput.text.contains(measured), "{throughput:?}");
    let latency = advice(&run, "Read latency").unwrap();
    assert!(
        latency
            .brief
            .starts_with("4 jobs × QD 1: p99 152 µs, at most twice 1 job × QD 1"),
        "{latency:?}"
    );
}

/// A run of one job at QD 1 with a p99 of 90 µs, of one job at QD 4, and of four jobs at QD 1, with these p99s in µs.
pub(crate) fn with_as_many_in_flight(one_job: &[f64], four_jobs: &[f64]) -> RunView {
    let mut run = RunBuilder::new(5).cells(&[4096], &[1, 4], &[100]).build();
    let of_lone = |trial: &&TrialEntry| trial.factors[QUEUE_DEPTH.name] == "1";
    let lone: Vec<TrialEntry> = run.trials.iter().filter(of_lone).cloned().collect();
    run.trials.extend(lone.into_iter().map(|mut trial| {
        trial.cell.push_str(" of four");
        trial.factors.insert(JOBS.name.to_owned(), "4".to_owned());
        trial
    }));
    let p99_us = |trial: &TrialEntry| {
        let repetition = trial.repetition as usize;
        let depth = trial.factors[QUEUE_DEPTH.name].as_str();
        match (trial.factors.get(JOBS.name).map(String::as_str), depth) {
            (Some("4"), _) => four_jobs.get(repetition).copied(),
            (_, "4") => one_job.get(repetition).copied(),
            _ => Some(90.0 + 0.1 * f64::from(trial.repetition)),
        }
    };
    run.trials.retain(|trial| p99_us(trial).is_some());
    for trial in &mut run.trials {
        let p99_ns = 1e3 * p99_us(trial).expect("others were left out");
        for metric in [LATENCY.both.p99, LATENCY.read.p99] {
            trial.values.retain(|value| value.metric != metric.name);
            trial.values.push(Value::measured(metric, p99_ns));
        }
    }
    run
}

#[test]
fn of_settings_with_as_many_requests_in_flight_the_fewest_jobs_are_advised_unless_more_are_better_for_sure() {
    let near = [140.0, 145.0, 150.0, 155.0, 160.0];
    let lower = near.map(|p99_us| p99_us - 1.0);
    // Whichever median is lower: the next run may have it the other way round.
    for (one_job, four_jobs, tie) in [
        (near, lower, "; 4 jobs × QD 1 (p99 149 µs) ties with 1 job × QD 4"),
        (lower, near, "; 4 jobs × QD 1 (p99 150 µs) ties with 1 job × QD 4"),
    ] {
        let claim = advice(&with_as_many_in_flight(&one_job, &four_jobs), "Read latency").unwrap();
        assert!(claim.brief.starts_with("1 job × QD 4: p99 "), "{claim:?}");
        let action = claim.action.as_ref().unwrap();
        assert!(
            action.starts_with("For low latency, keep to 1 job × QD 4 with "),
            "{action}"
        );
        for text in [&claim.brief, &claim.text, action] {
            assert!(text.contains(tie), "{text}");
        }
    }
    let better = near.map(|p99_us| p99_us - 30.0);
    for (one_job, four_jobs, advised) in [
        (near, better, "4 jobs × QD 1: p99 120 µs"),
        (better, near, "1 job × QD 4: p99 120 µs"),
    ] {
        let claim = advice(&with_as_many_in_flight(&one_job, &four_jobs), "Read latency").unwrap();
        assert!(claim.brief.starts_with(advised), "{claim:?}");
        assert!(!claim.text.contains("ties with"), "{claim:?}");
    }
}
