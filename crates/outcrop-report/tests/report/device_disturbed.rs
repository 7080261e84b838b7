//! Findings, warnings and advice on devices whose trials were disturbed, or are not those of the device.

use outcrop_report::{Report, Verdict};
use outcrop_results::{RunView, Value};
use outcrop_schema::device::{
    ARRIVAL, BANDWIDTH, CPU_PER_OPERATION, DEVICE_BYTES_RATIO, DRIVES, FOREIGN_BYTES_RATIO, IOPS, JOBS,
    LATENCY, MISSING_BYTES_RATIO, PAGE_CACHE, SERVICE_LATENCY,
};
use outcrop_schema::lateness;

use crate::device::finding;
use crate::device_limits::{set, warnings};
use crate::fixture::RunBuilder;
use crate::hardware::two_cpus;

/// The same run while other programs used this share of the CPUs.
fn beside(mut run: RunView, share: f64) -> RunView {
    for trial in &mut run.trials {
        trial.others_cpu_share = Some(share);
    }
    run
}

fn with(mut run: RunView, factor: &str, value: &str) -> RunView {
    for trial in &mut run.trials {
        trial.factors.insert(factor.to_owned(), value.to_owned());
    }
    run
}

fn verdict_of(run: &RunView, id: &str) -> Verdict {
    finding(&Report::of(run).layers[0].findings, id).verdict.clone()
}

fn reason_of(run: &RunView, id: &str) -> String {
    match verdict_of(run, id) {
        Verdict::NotTestable(reason) => reason.to_lowercase(),
        other => panic!("{id}: {other:?}"),
    }
}

/// What a claim says briefly, and what it advises.
fn said(run: &RunView, topic: &str) -> (String, Option<String>) {
    let report = Report::of(run);
    let claim = report.layers[0]
        .answer
        .advice
        .iter()
        .find(|claim| claim.topic == topic);
    let claim = claim.unwrap_or_else(|| panic!("nothing on {topic}"));
    (claim.brief.clone(), claim.action.clone())
}

fn reads(repetitions: u32) -> RunView {
    RunBuilder::new(repetitions)
        .cells(&[4096, 65_536], &[1, 8, 32], &[100, 0, 70])
        .build()
}

#[test]
fn few_trials_beside_other_programs_advise_nothing_and_many_do() {
    for topic in [
        "Read throughput",
        "Write latency",
        "Knee of reads",
        "Mix throughput",
        "Mix",
    ] {
        let (brief, action) = said(&beside(reads(3), 0.9), topic);
        assert!(
            brief.starts_with("not decided: other programs used 90 % of the CPUs"),
            "{topic}: {brief}"
        );
        assert_eq!(action, None, "{topic}");
        let many = beside(reads(5), 0.9);
        let said_so = "Other programs used up to 90 % of the CPUs in 18 of 18 cells";
        assert!(
            warnings(&Report::of(&many))
                .iter()
                .any(|text| text.starts_with(said_so))
        );
        for undisturbed in [beside(reads(3), 0.05), many] {
            let (brief, _) = said(&undisturbed, topic);
            assert!(!brief.starts_with("not decided"), "{topic}: {brief}");
        }
    }
}

#[test]
fn findings_leave_out_the_cells_that_other_programs_disturbed_and_say_so() {
    const MIX: &str = "mix-is-weighted-mean";
    assert!(reason_of(&beside(reads(3), 0.9), MIX).contains("other programs used 90 %"));
    let mut some = reads(3);
    let size = |trial: &outcrop_results::TrialEntry| trial.factors["io_block_size"].clone();
    for trial in &mut some.trials {
        trial.others_cpu_share = Some(if size(trial) == "4KiB" { 0.9 } else { 0.0 });
    }
    let report = Report::of(&some);
    let mix = finding(&report.layers[0].findings, MIX);
    assert_eq!(mix.verdict, Verdict::DoesNotHold);
    assert!(
        mix.tested.ends_with(
            "Left out: 9 cells during whose trials other programs used more than 10 % of the CPUs."
        ),
        "{}",
        mix.tested
    );
    assert!(!mix.tested.contains(".."), "{}", mix.tested);
}

#[test]
fn more_jobs_than_cpus_have_no_time_left_once_all_cpus_are_busy() {
    const ID: &str = "device-is-the-limit";
    let busy = |jobs: &str, cpus_busy: f64| {
        let mut run = with(
            RunBuilder::new(3).cells(&[4096], &[8], &[100]).build(),
            JOBS.name,
            jobs,
        );
        run.environment = two_cpus();
        for trial in &mut run.trials {
            let iops = trial.number(&IOPS.both).unwrap();
            set(trial, CPU_PER_OPERATION, cpus_busy * 1e9 / iops);
        }
        run
    };
    assert_eq!(verdict_of(&busy("8", 1.0), ID), Verdict::Holds);
    assert_eq!(verdict_of(&busy("8", 1.9), ID), Verdict::DoesNotHold);
    // A job has one CPU.
    assert_eq!(verdict_of(&busy("1", 0.8), ID), Verdict::Holds);
    assert_eq!(verdict_of(&busy("1", 0.95), ID), Verdict::DoesNotHold);
    assert!(reason_of(&beside(busy("1", 0.2), 0.9), ID).contains("other programs used 90 %"));
    let report = Report::of(&busy("8", 1.9));
    let full = finding(&report.layers[0].findings, ID);
    assert!(!full.meaning.contains("more jobs"), "{}", full.meaning);
}

#[test]
fn the_course_of_writes_is_not_that_of_the_device_where_a_schedule_or_others_set_it() {
    const ID: &str = "writes-are-steady";
    let falling = || {
        let builder = RunBuilder {
            intervals: (12, 0.3),
            ..RunBuilder::new(1)
        };
        builder.cells(&[4096], &[8], &[0]).build()
    };
    let is_warned = |run: &RunView| {
        let report = Report::of(run);
        warnings(&report).iter().any(|text| text.contains("not steady"))
    };
    assert_eq!(verdict_of(&falling(), ID), Verdict::DoesNotHold);
    assert!(is_warned(&falling()));
    let scheduled = with(falling(), ARRIVAL.name, "constant:500");
    assert!(reason_of(&scheduled, ID).contains("a schedule set the rate"));
    assert!(!is_warned(&scheduled));
    let busy = beside(falling(), 0.5);
    assert!(reason_of(&busy, ID).contains("1 write trial was not steady, and other programs used 50 %"));
}

#[test]
fn drives_under_a_schedule_are_not_said_to_perform_equally() {
    let run = with(reads(3), DRIVES.name, "2");
    let scheduled = with(run, ARRIVAL.name, "constant:400");
    assert!(reason_of(&scheduled, "drives-are-alike").contains("a schedule set the rate of every drive"));
}

#[test]
fn rounds_of_an_open_loop_are_no_steady_state_of_the_device() {
    let run = with(
        RunBuilder::new(7).cells(&[4096], &[8], &[0]).build(),
        "state",
        "preconditioned 2×",
    );
    assert_eq!(verdict_of(&run, "rounds-are-steady"), Verdict::Holds);
    let scheduled = with(run, ARRIVAL.name, "constant:500");
    assert!(reason_of(&scheduled, "rounds-are-steady").contains("in a closed loop"));
}

#[test]
fn a_rate_is_not_advised_where_requests_were_issued_late() {
    let at = |late_ns: f64| {
        let mut run = reads(3);
        run.trials.clear();
        for rate in ["1k", "10k", "20k"] {
            let one = RunBuilder::new(3).cells(&[4096], &[8], &[100]).build();
            for mut trial in with(one, ARRIVAL.name, &format!("constant:{rate}")).trials {
                trial.cell = rate.to_owned();
                trial.trial = run.trials.len() as u32;
                set(&mut trial, SERVICE_LATENCY.both.p50, 90_000.0);
                set(&mut trial, lateness::P99, late_ns);
                run.trials.push(trial);
            }
        }
        said(&run, "Offered load")
    };
    assert!(at(100.0).1.is_some());
    let (brief, action) = at(6.8e6);
    assert!(
        brief.starts_with("not decided: this machine issued requests late"),
        "{brief}"
    );
    assert_eq!(action, None);
}

#[test]
fn a_depth_without_a_figure_is_named_and_gives_no_knee() {
    let mut run = RunBuilder::new(3).cells(&[4096], &[1, 8, 1024], &[100]).build();
    for trial in run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors["queue_depth"] == "1024")
    {
        for value in &mut trial.values {
            if [IOPS.both, IOPS.read, BANDWIDTH.both, LATENCY.both.mean]
                .iter()
                .any(|metric| metric.name == value.metric)
            {
                let reason = "too short: 900 requests completed, 1024 were in flight";
                *value = Value::unavailable(
                    outcrop_schema::device::SCHEMA.metric(&value.metric).unwrap(),
                    reason,
                );
            }
        }
    }
    let report = Report::of(&run);
    let claim = |topic: &str| {
        let found = report.layers[0]
            .answer
            .advice
            .iter()
            .find(|claim| claim.topic == topic);
        found.unwrap().clone()
    };
    let throughput = claim("Read throughput");
    assert!(
        throughput
            .text
            .contains("more than any other depth that has a figure")
            && throughput.text.contains("; QD 1024 has no figure"),
        "{}",
        throughput.text
    );
    let knee = claim("Knee of reads");
    assert!(
        knee.text.contains("fewer than three depths have figures"),
        "{}",
        knee.text
    );
}

#[test]
fn bytes_of_others_do_not_hide_that_a_layer_answered() {
    let mut run = RunBuilder::new(3).cells(&[4096], &[1, 8], &[100]).build();
    for (place, trial) in run.trials.iter_mut().enumerate() {
        trial
            .values
            .retain(|value| value.metric != DEVICE_BYTES_RATIO.name);
        let foreign = if place == 5 { 123.0 } else { 0.0 };
        set(trial, MISSING_BYTES_RATIO, 0.97);
        set(trial, FOREIGN_BYTES_RATIO, foreign);
    }
    let report = Report::of(&run);
    let warnings = warnings(&report);
    assert!(
        warnings
            .iter()
            .any(|text| text.contains("97 % less than requested")
                && text.contains("these figures are not those of the device")),
        "{warnings:?}"
    );
    let (brief, action) = said(&run, "Read latency");
    assert!(brief.starts_with("not decided: memory answered"), "{brief}");
    assert_eq!(action, None);
}

#[test]
fn figures_of_the_page_cache_advise_nothing_on_reads() {
    let mut run = reads(5);
    for trial in &mut run.trials {
        trial.notes.push(PAGE_CACHE.remark("the page cache answered"));
    }
    let (brief, action) = said(&run, "Read throughput");
    assert!(brief.starts_with("not decided: memory answered"), "{brief}");
    assert_eq!(action, None);
    assert!(said(&run, "Write throughput").1.is_some());
}

#[test]
fn what_memory_answered_is_not_to_be_repeated_however_wide_its_intervals_are() {
    let builder = RunBuilder {
        spread: 0.6,
        ..RunBuilder::new(5)
    };
    let mut run = builder.cells(&[4096], &[1, 8, 32], &[100]).build();
    let repeats = |run: &RunView| Report::of(run).screen(200, false).contains("--repetitions");
    assert!(repeats(&run), "wide intervals alone are repeated");
    for trial in &mut run.trials {
        trial.notes.push(PAGE_CACHE.remark("the page cache answered"));
    }
    for topic in ["Read throughput", "Read latency"] {
        let (brief, action) = said(&run, topic);
        assert_eq!(brief, "not decided: memory answered, not the device", "{topic}");
        assert_eq!(action, None);
    }
    assert!(!repeats(&run), "{}", Report::of(&run).screen(200, false));
}

#[test]
fn a_level_that_changed_only_while_other_programs_used_the_cpus_is_not_tested() {
    const ID: &str = "one-level-per-trial";
    let cliff = || {
        let builder = RunBuilder {
            intervals: (12, 0.3),
            ..RunBuilder::new(3)
        };
        builder.cells(&[4096], &[8], &[100]).build()
    };
    assert_eq!(verdict_of(&cliff(), ID), Verdict::DoesNotHold);
    let why = reason_of(&beside(cliff(), 0.44), ID);
    assert!(
        why.contains("3 trials changed their level, and other programs used 44 % of the cpus"),
        "{why}"
    );
    // One that was left alone decides it.
    let mut some = beside(cliff(), 0.44);
    some.trials[1].others_cpu_share = Some(0.01);
    assert_eq!(verdict_of(&some, ID), Verdict::DoesNotHold);
}

#[test]
fn jobs_that_fill_the_cpu_quota_of_their_container_have_no_time_left() {
    const ID: &str = "device-is-the-limit";
    let mut run = RunBuilder::new(5).cells(&[4096], &[8], &[100]).build();
    run = with(run, JOBS.name, "2");
    run.environment = two_cpus();
    let iops = |run: &RunView| {
        let values = run.trials[0].values.iter();
        let mut iops = values.filter(|value| value.metric == IOPS.both.name);
        iops.next().and_then(|value| value.value).unwrap()
    };
    // Together 1.2 CPUs.
    let cost = 1.2e9 / iops(&run);
    for trial in &mut run.trials {
        set(trial, CPU_PER_OPERATION, cost);
    }
    let of_quota = |quota: &str| {
        serde_json::json!({
            "version": 2, "cpu": quota, "memory": "max", "io": {"unavailable": "not limited"},
        })
    };
    let limited = |quota: &str| {
        let mut run = run.clone();
        run.environment["limits"]["control_group"] = of_quota(quota);
        verdict_of(&run, ID)
    };
    assert_eq!(limited("max 100000"), Verdict::Holds);
    assert_eq!(limited("125000 100000"), Verdict::DoesNotHold);
    // What others use, they do not take of the quota: 0.86 of it, and 0.69 of two CPUs.
    let beside_others = beside(run.clone(), 0.09);
    let limited = |quota: &str| {
        let mut run = beside_others.clone();
        run.environment["limits"]["control_group"] = of_quota(quota);
        verdict_of(&run, ID)
    };
    assert_eq!(limited("140000 100000"), Verdict::Holds);
}

#[test]
fn a_mix_says_between_what_it_lies_of_the_mean_of_its_parts() {
    let builder = RunBuilder {
        spread: 0.05,
        ..RunBuilder::new(3)
    };
    let run = builder.cells(&[4096], &[8], &[100, 0, 70]).build();
    let (brief, _) = said(&run, "Mix");
    let share = brief.split_once("IOPS").unwrap().1;
    let share = share.split_once(" of the weighted mean").unwrap().0;
    assert!(share.contains(" % (") && share.ends_with(" %)"), "{brief}");
}

#[test]
fn only_trials_that_write_are_said_to_be_bursts() {
    let mut run = reads(3);
    for trial in &mut run.trials {
        let is_read = trial.factors["read_write_mix"] == "100:0";
        trial.duration_s = if is_read { 40.0 } else { 2.0 };
    }
    let report = Report::of(&run);
    let cautions = &report.layers[0].answer.cautions;
    assert!(
        cautions.iter().any(|caution| caution
            .text
            .starts_with("The longest trial with writes lasted 2.0 s")),
        "{cautions:?}"
    );
}
