//! The course of time of devices: rounds, steady state within a trial, and shifts of level.

use outcrop_report::{Report, Verdict};
use outcrop_results::{RunView, Value};
use outcrop_schema::device::{ARRIVAL, BYTES_WRITTEN, DEVICE_BYTES_RATIO, FOREIGN_BYTES_RATIO, SPAN};

use crate::device::{finding, number, verdict};
use crate::device_limits::set;
use crate::fixture::RunBuilder;

/// Rounds of a preconditioned subject, which differ by `spread` from one to the next.
fn rounds(count: u32, spread: f64, sizes: &[u64]) -> RunBuilder {
    let builder = RunBuilder {
        spread,
        ..RunBuilder::new(count)
    };
    let mut builder = builder.cells(sizes, &[8], &[0, 100]);
    for trial in &mut builder.run.trials {
        trial
            .factors
            .insert("state".to_owned(), "preconditioned 2×".to_owned());
    }
    builder
}

#[test]
fn rounds_of_a_preconditioned_subject_are_judged_and_say_what_they_are_not() {
    const ID: &str = "rounds-are-steady";
    let report = Report::of(&rounds(7, 0.005, &[4096, 65_536]).build());
    let steady = finding(&report.layers[0].findings, ID);
    assert_eq!(steady.verdict, Verdict::Holds);
    assert!(
        steady.meaning.starts_with("Steady from round 1 to 5"),
        "{}",
        steady.meaning
    );
    for departure in [
        "not a PTS result",
        "on a filesystem",
        "8.00 s per cell",
        "rounds went on after round 5",
    ] {
        assert!(steady.tested.contains(departure), "{}", steady.tested);
    }
    let drifting = Report::of(&rounds(7, 0.10, &[4096]).build());
    let drifting = finding(&drifting.layers[0].findings, ID);
    assert_eq!(drifting.verdict, Verdict::DoesNotHold);
    assert!(
        drifting.meaning.contains("No five rounds in a row"),
        "{}",
        drifting.meaning
    );
    assert!(
        drifting.tested.contains("7 rounds at most, not 25"),
        "{}",
        drifting.tested
    );
    for (builder, says) in [
        (rounds(4, 0.0, &[4096]), "takes 5 rounds, and there are 4"),
        (rounds(7, 0.0, &[65_536]), "no cell has 4 KiB random writes"),
    ] {
        let report = Report::of(&builder.build());
        let verdict = &finding(&report.layers[0].findings, ID).verdict;
        assert!(
            matches!(verdict, Verdict::NotTestable(reason) if reason.contains(says)),
            "{verdict:?}"
        );
    }
    let screen_of = |builder: RunBuilder| {
        let screen = Report::of(&builder.build()).screen(200, false);
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (builder, says) in [
        (
            rounds(7, 0.005, &[4096, 65_536]),
            "rounds 1 to 5 are steady (4 KiB random writes",
        ),
        (rounds(7, 0.10, &[4096]), "not steady after 7 rounds"),
        (rounds(4, 0.0, &[4096]), "takes 5 rounds, and there are 4"),
    ] {
        let screen = screen_of(builder);
        assert!(screen.contains(says), "{says}: {screen}");
    }
    assert!(screen_of(rounds(7, 0.005, &[4096])).contains("figures are medians of all 7 rounds"));
    let plain = Report::of(&RunBuilder::new(7).cells(&[4096], &[8], &[0]).build());
    assert!(plain.layers[0].findings.iter().all(|finding| finding.id != ID));
}

#[test]
fn rounds_are_judged_in_a_row_though_one_between_them_failed() {
    let without = |count: u32, lacks: u32, spread: f64| {
        let mut run = rounds(count, spread, &[4096]).build();
        run.trials.retain(|trial| trial.repetition != lacks);
        let report = Report::of(&run);
        finding(&report.layers[0].findings, "rounds-are-steady")
            .verdict
            .clone()
    };
    // The five before it are judged.
    assert_eq!(without(8, 5, 0.10), Verdict::DoesNotHold);
    assert_eq!(without(8, 5, 0.0), Verdict::Holds);
    let verdict = without(8, 4, 0.0);
    assert!(
        matches!(&verdict, Verdict::NotTestable(why) if why.contains("5 rounds in a row, and of 7 there are at most 4 in a row")),
        "{verdict:?}"
    );
}

#[test]
fn writes_that_fall_off_a_cliff_are_seen_and_level_ones_are_steady() {
    let level = || RunBuilder::new(3);
    let cliff = || RunBuilder {
        intervals: (12, 0.3),
        ..RunBuilder::new(3)
    };
    let writes = |builder: RunBuilder| builder.cells(&[4096], &[1, 8], &[0]);
    assert_eq!(verdict(writes(level()), "writes-are-steady"), Verdict::Holds);
    assert_eq!(verdict(writes(level()), "one-level-per-trial"), Verdict::Holds);
    assert_eq!(
        verdict(writes(cliff()), "one-level-per-trial"),
        Verdict::DoesNotHold
    );
    let report = Report::of(&writes(cliff()).build());
    let numbers = &finding(&report.layers[0].findings, "one-level-per-trial").numbers;
    let number = |what: &str| {
        let found = numbers.iter().find(|number| number.name.contains(what));
        found.unwrap_or_else(|| panic!("no {what} in {numbers:?}"))
    };
    let burst = number("mean until it falls");
    assert!(number("mean after it").value < 0.4 * burst.value);
    // As many rounds of the burst's level as there were before the fall.
    let rounds = number("written until it falls").value / 4096.0 / burst.value;
    assert!((0.9..1.1).contains(&(rounds / burst.n as f64)), "{rounds}");
    let short = RunBuilder {
        interval_s: 0.05,
        ..RunBuilder::new(3)
    };
    assert!(matches!(
        verdict(writes(short), "writes-are-steady"),
        Verdict::NotTestable(_)
    ));
}

#[test]
fn a_level_is_judged_of_closed_loops_whose_seconds_are_alike() {
    const ID: &str = "one-level-per-trial";
    let level = || RunBuilder::new(3).cells(&[4096], &[1, 8], &[0]);
    assert!(
        number(
            &finding(&Report::of(&level().build()).layers[0].findings, ID).clone(),
            "could have gone unseen"
        ) < 0.2
    );
    // A schedule sets the rate of an open loop.
    let mut open = level().build();
    for trial in &mut open.trials {
        trial
            .factors
            .insert(ARRIVAL.name.to_owned(), "constant:5k".to_owned());
    }
    let reason = |run: &RunView| match &finding(&Report::of(run).layers[0].findings, ID).verdict {
        Verdict::NotTestable(reason) => reason.clone(),
        verdict => panic!("{verdict:?}"),
    };
    assert!(
        reason(&open).contains("A schedule set the rate"),
        "{}",
        reason(&open)
    );
    // Every other second has half of the operations.
    let mut uneven = level().build();
    for trial in &mut uneven.trials {
        for entry in trial
            .histograms
            .iter_mut()
            .filter(|entry| entry.interval_index % 2 == 1)
        {
            entry.count /= 2;
        }
    }
    let uneven = reason(&uneven);
    for part in [
        "differ too much for one of 20 % to be seen",
        " IOPS to ",
        "Longer trials",
    ] {
        assert!(uneven.contains(part), "{uneven}");
    }
}

#[test]
fn the_rate_before_a_fall_of_writes_is_that_of_the_bytes_written_before_it() {
    // A loop device whose writes rose after 6 s and were throttled after 11 s.
    let risen = [
        6147, 6044, 7005, 5901, 6318, 5773, 11_498, 16_142, 10_296, 10_748, 9096, 3300,
    ];
    let mut run = RunBuilder {
        intervals: (30, 1.0),
        ..RunBuilder::new(1)
    }
    .cells(&[4096], &[32], &[0])
    .build();
    for entry in run.trials.iter_mut().flat_map(|trial| &mut trial.histograms) {
        let round = entry.interval_index as usize;
        let throttled = 2000 + 40 * (round as u64 % 3);
        entry.count = risen.get(round).copied().unwrap_or(throttled);
    }
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let cliff = advice.iter().find(|claim| claim.topic == "Write cliff").unwrap();
    let before = "writes fell after 11 s (389 MB written): 8.63 k IOPS on average before, ";
    assert!(cliff.brief.starts_with(before), "{}", cliff.brief);
    assert!(
        cliff.text.contains("from an average of 8.63 k IOPS to one of "),
        "{}",
        cliff.text
    );
    let level = finding(&report.layers[0].findings, "one-level-per-trial");
    let rounds = number(level, "written until it falls") / 4096.0 / number(level, "mean until it falls");
    assert!((rounds - 11.0).abs() < 1e-6, "{:?}", level.numbers);
}

#[test]
fn a_fall_of_writes_that_recover_is_no_cliff() {
    let long = RunBuilder {
        intervals: (12, 0.3),
        ..RunBuilder::new(1)
    };
    // Rounds are exchanged so that the fast ones come back.
    let mut recovered = long.cells(&[4096], &[32], &[0]).build();
    for entry in recovered
        .trials
        .iter_mut()
        .flat_map(|trial| &mut trial.histograms)
    {
        let round = match entry.interval_index {
            round @ 3..=5 => round + 6,
            round @ 9..=11 => round - 6,
            round => round,
        };
        entry.start_s = f64::from(round);
        entry.interval_index = round;
    }
    let advice = Report::of(&recovered).layers[0].answer.advice.clone();
    let recovered = advice.iter().find(|claim| claim.topic == "Write cliff").unwrap();
    assert!(
        recovered
            .brief
            .starts_with("none that lasts: writes fell after 3 s (")
            && recovered.brief.ends_with(" after 9 s"),
        "{}",
        recovered.brief
    );
    assert!(
        recovered.text.contains(" for good.") && !recovered.text.contains("stayed low"),
        "{}",
        recovered.text
    );
}

/// A trial of twelve seconds, in the second half of which this part of the operations is kept.
fn long(kept: f64) -> RunBuilder {
    RunBuilder {
        intervals: (12, kept),
        ..RunBuilder::new(1)
    }
}

#[test]
fn the_first_screen_says_whether_and_when_the_level_of_writes_fell() {
    let claim = |builder: RunBuilder| {
        let report = Report::of(&builder.cells(&[4096], &[32], &[0]).build());
        let advice = report.layers[0].answer.advice.clone();
        (advice, report.screen(120, false))
    };
    let brief = |builder: RunBuilder| {
        let (advice, screen) = claim(builder);
        let found = advice.into_iter().find(|claim| claim.topic == "Write cliff")?;
        assert!(screen.contains(&found.brief), "{screen}");
        Some(found.brief)
    };
    let fallen = brief(long(0.3)).unwrap();
    assert!(
        fallen.starts_with("writes fell after 6 s (")
            && fallen.contains(" before, ")
            && fallen.ends_with(" on average afterwards"),
        "{fallen}"
    );
    // A writer beside it slows the trial down as the end of a cache does.
    let mut beside = long(0.3).cells(&[4096], &[32], &[0]).build();
    for trial in &mut beside.trials {
        set(trial, DEVICE_BYTES_RATIO, 5.27);
        set(trial, FOREIGN_BYTES_RATIO, 4.27);
    }
    let advice = Report::of(&beside).layers[0].answer.advice.clone();
    let doubted = advice.iter().find(|claim| claim.topic == "Write cliff").unwrap();
    assert!(
        doubted
            .brief
            .ends_with("on average afterwards, not decided: other I/O used the device meanwhile"),
        "{}",
        doubted.brief
    );
    // So do other programs that use the CPUs.
    let mut busy = long(0.3).cells(&[4096], &[32], &[0]).build();
    for trial in &mut busy.trials {
        trial.others_cpu_share = Some(0.44);
    }
    let advice = Report::of(&busy).layers[0].answer.advice.clone();
    let doubted = advice.iter().find(|claim| claim.topic == "Write cliff").unwrap();
    assert!(
        doubted
            .brief
            .ends_with("not decided: other programs used the CPUs meanwhile")
            && doubted.text.contains("44 % of the CPUs"),
        "{doubted:?}"
    );
    let level = brief(long(1.0)).unwrap();
    assert!(
        level.starts_with("none within 12 s (") && level.ends_with(" written)"),
        "{level}"
    );
    // That a short trial met no cliff says nothing; of a run that is nothing else, that is said.
    assert_eq!(brief(RunBuilder::new(3)), None);
    let (advice, screen) = claim(RunBuilder::new(1));
    let short = &advice
        .iter()
        .find(|claim| claim.topic == "Write cliff")
        .unwrap()
        .brief;
    assert!(
        short.starts_with("none seen in 8.00 s") && short.contains("too short to tell"),
        "{short}"
    );
    assert!(screen.contains("Write cliff  none seen in 8.00 s"), "{screen}");
    // One long trial is not to be repeated for an interval.
    let (_, screen) = claim(long(0.3));
    assert!(!screen.contains("--repetitions"), "{screen}");
}

#[test]
fn no_cliff_is_told_only_where_the_seconds_vary_too_little_to_hide_one() {
    // Every other second has a part of the operations.
    let uneven = |percent: u64| {
        let mut run = long(1.0).cells(&[4096], &[32], &[0]).build();
        for entry in run.trials.iter_mut().flat_map(|trial| &mut trial.histograms) {
            if entry.interval_index % 2 == 1 {
                entry.count = entry.count * percent / 100;
            }
        }
        let advice = Report::of(&run).layers[0].answer.advice.clone();
        advice
            .into_iter()
            .find(|claim| claim.topic == "Write cliff")
            .unwrap()
    };
    let uneven = [80, 2].map(|percent| uneven(percent).brief);
    assert!(
        uneven[0].starts_with("none within 12 s (") && uneven[0].ends_with("% would not have been seen"),
        "{uneven:?}"
    );
    assert!(
        uneven[1].starts_with("not decided: none seen within 12 s (") && uneven[1].contains("vary too much"),
        "{uneven:?}"
    );
}

#[test]
fn the_steady_state_of_one_long_trial_says_in_what_it_is_no_test_of_the_pts() {
    // The drive's size stands in the environment, where it is recorded.
    let of_subject = |subject: &str, written: f64, drive: Option<u64>| {
        let mut run = RunBuilder::new(1).cells(&[4096], &[32], &[0]).build();
        if let Some(size) = drive {
            run.environment =
                serde_json::json!({"storage": {"path": "/dev/nvme1n1", "device": {"size_bytes": size}}});
        }
        for trial in &mut run.trials {
            trial.subject = subject.to_owned();
            trial.factors.insert(SPAN.name.to_owned(), "256MiB".to_owned());
            trial.values.push(Value::measured(BYTES_WRITTEN, written));
        }
        let report = Report::of(&run);
        finding(&report.layers[0].findings, "writes-are-steady")
            .tested
            .clone()
    };
    // Eight intervals of a second; a small file is written over many times, and the drive is not.
    let file = of_subject("scratch-file 256MiB", 1e10, Some(1 << 30));
    for departure in [
        "not a PTS result",
        "scratch-file 256MiB on a filesystem",
        "intervals of 1.00 s, not of a minute",
        "8.00 s of writes, not six hours or four times the drive's capacity",
    ] {
        assert!(file.contains(departure), "{departure}: {file}");
    }
    let device = "destroyed-device /dev/nvme1n1 256MiB";
    let device = |written, drive| of_subject(device, written, drive);
    let whole = |written| device(written, Some(256 << 20));
    assert!(whole(1e8).contains("nvme1n1 256MiB, which Outcrop did not purge"));
    assert!(whole(1e8).contains("8.00 s of writes"));
    let four_times = 4.0 * f64::from(256 << 20);
    assert!(!whole(four_times).contains("of writes, not"));
    // A part that is written over and over is not the drive.
    let part = device(four_times, Some(1 << 30));
    for departure in ["256 MiB of a device of 1 GiB", "8.00 s of writes, not six hours"] {
        assert!(part.contains(departure), "{departure}: {part}");
    }
    let unknown = device(four_times, None);
    for departure in ["whose size is not recorded", "8.00 s of writes, not six hours"] {
        assert!(unknown.contains(departure), "{departure}: {unknown}");
    }
}

#[test]
fn seconds_in_which_nothing_completed_count_in_the_course_of_a_trial() {
    let writes = |builder: RunBuilder, is_idle: fn(u32) -> bool| {
        let mut run = builder.cells(&[4096], &[8], &[0]).build();
        for trial in &mut run.trials {
            trial.histograms.retain(|entry| !is_idle(entry.interval_index));
        }
        Report::of(&run)
    };
    let stalled = writes(RunBuilder::new(3), |index| index == 3 || index == 4);
    let steady = finding(&stalled.layers[0].findings, "writes-are-steady");
    assert_eq!(steady.verdict, Verdict::DoesNotHold);
    // Nothing at all at the end has no excursion.
    let ended = writes(RunBuilder::new(3), |index| index >= 3);
    let ended = finding(&ended.layers[0].findings, "writes-are-steady");
    assert_eq!(ended.verdict, Verdict::DoesNotHold);
    assert_eq!(number(ended, "of its last five rounds"), 0.0);
    assert!(ended.numbers.iter().all(|number| number.value.is_finite()));
    let cliff = RunBuilder {
        intervals: (12, 0.3),
        ..RunBuilder::new(3)
    };
    let cliff = writes(cliff, |index| index == 1);
    let shifts = &finding(&cliff.layers[0].findings, "one-level-per-trial").numbers;
    assert!(
        shifts
            .iter()
            .any(|shift| shift.name.contains("level until 6.0 s")),
        "{shifts:?}"
    );
}
