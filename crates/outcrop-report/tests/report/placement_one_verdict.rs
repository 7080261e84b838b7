//! Where to compress and the advice of the layer are one verdict: what the one withholds the other does not advise.

use outcrop_report::{Constraints, Placement, Report};
use outcrop_results::{RunView, TrialEntry, Value};
use outcrop_schema::kv::{COMPRESSION, CPU, KERNEL_THREADS_CPU, THROUGHPUT};

use crate::hardware::two_cpus;
use crate::kv_fixture::{Stored, of};
use crate::placement::{USUAL, stored};

/// A run in which the throughput of one codec is known only within a factor.
fn shaky(cells: &[Stored], codec: &str) -> RunView {
    let mut run = of(cells);
    for trial in run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors[COMPRESSION.name] == codec)
    {
        let factor = [0.6, 1.0, 1.6][trial.repetition as usize];
        for value in trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name)
        {
            value.value = value.value.map(|throughput| throughput * factor);
        }
    }
    run
}

/// The first sentence of the answer, which the layer's advice on compressing does not contradict.
fn of_one_verdict(run: &RunView) -> String {
    let report = Report::of(run);
    let placement = report.placement.as_ref().expect("a placement");
    let first = placement.answer[0].clone();
    let mut claims = report.layers[0].answer.advice.iter();
    let claim = claims
        .find(|claim| claim.topic == "Compress blocks")
        .expect("advice on it");
    assert_eq!(
        first.starts_with("Not decided: "),
        claim.brief.starts_with("not decided"),
        "{first} {}",
        claim.brief
    );
    first
}

#[test]
fn what_rests_on_a_throughput_that_is_known_badly_is_not_decided_whichever_side_it_is() {
    let first = of_one_verdict(&shaky(&USUAL[..2], "none"));
    assert_eq!(
        first,
        "Not decided: the throughput of no compression is known only as 100 k/s (59.4–162). So far: compress in the store's own blocks with \
         lz4, blocks of 16 KiB (rocksdb)."
    );
    let first = of_one_verdict(&shaky(&USUAL[..2], "lz4"));
    assert!(
        first.starts_with("Not decided: the throughput differs too much between trials. So far: compress"),
        "{first}"
    );
    // Of no compression the other side is what would take less space.
    let costly = [
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 60e3, 50e6),
    ];
    let first = of_one_verdict(&shaky(&costly, "lz4"));
    assert!(
        first.starts_with(
            "Not decided: the throughput of lz4, blocks of 16 KiB in the store is known only as"
        ),
        "{first}"
    );
    let first = of_one_verdict(&of(&USUAL[..2]));
    assert!(first.starts_with("Compress in the store's own blocks"), "{first}");
}

#[test]
fn few_trials_that_other_programs_disturbed_and_one_trial_decide_nothing() {
    let changed = |change: fn(&mut Vec<TrialEntry>)| {
        let mut run = of(&USUAL[..2]);
        change(&mut run.trials);
        of_one_verdict(&run)
    };
    let disturbed = changed(|trials| {
        for trial in trials {
            trial.others_cpu_share = Some(0.57);
        }
    });
    assert!(
        disturbed.starts_with(
            "Not decided: other programs used 57 % of the CPUs during the trials of these cells. So far: compress"
        ),
        "{disturbed}"
    );
    let once = changed(of_one_trial);
    assert!(
        once.starts_with("Not decided: the repeatability of one trial is unknown. So far: compress"),
        "{once}"
    );
}

/// Leaves the first trial of each cell.
fn of_one_trial(trials: &mut Vec<TrialEntry>) {
    trials.retain(|trial| trial.repetition == 0);
}

#[test]
fn what_one_trial_shows_is_called_uncertain_beside_the_figures_and_never_the_same_or_overlapping() {
    let mut slow = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 25e3, 50e6),
    ]);
    slow.plan = "[run]\nmin_ratio = \"2\"\n".to_owned();
    let mut same = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 97e3, 50e6),
    ]);
    for run in [&mut slow, &mut same] {
        of_one_trial(&mut run.trials);
        let report = Report::of(run);
        let answer = report.placement.as_ref().unwrap().answer.join(" ");
        assert!(
            answer.contains("Not certain with 1 trial: throughput"),
            "{answer}"
        );
        for width in [60, 80, 120] {
            let screen = report.screen(width, false);
            let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_said = [
                "ot certain, one trial: throughput",
                "Not certain with 1 trial: throughput",
            ];
            assert!(
                is_said.iter().any(|words| flowing.contains(words)),
                "{width}: {screen}"
            );
        }
        for text in [answer, report.screen(120, false), report.to_html()] {
            assert!(!text.contains("no measurable change"), "{text}");
            assert!(!text.contains("the intervals overlap"), "{text}");
        }
    }
}

#[test]
fn what_limits_leave_out_is_compared_with_nothing_and_leaves_nothing_undecided() {
    let mut run = shaky(&USUAL[..2], "none");
    let constraints = Constraints {
        min_ratio: Some(1.5),
        ..Constraints::default()
    };
    let placement = Placement::of(&run, &constraints, None).unwrap();
    let limited = &placement.answer[0];
    assert!(
        limited.starts_with("Within the limits given for this report (--min-ratio 1.5), compress"),
        "{limited}"
    );
    run.plan = "[run]\nmin_ratio = \"1.5\"\n".to_owned();
    let first = of_one_verdict(&run);
    assert!(first.starts_with("Within the limits"), "{first}");
}

#[test]
fn a_screen_has_what_the_answer_costs_with_the_space_first_however_little_room_it_has() {
    let cells = [
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 75e3, 60e6),
    ];
    let mut run = of(&cells);
    run.plan = "[run]\nmin_ratio = \"1.5\"\n".to_owned();
    for trial in &mut run.trials {
        let factor = [0.8, 1.0, 1.2][trial.repetition as usize];
        for value in trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name)
        {
            value.value = value.value.map(|throughput| throughput * factor);
        }
    }
    for width in [60, 80, 120] {
        let screen = Report::of(&run).screen(width, false);
        let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let places = [
            "compress in the store's own blocks",
            "55 % of the space",
            "throughput −25 %",
        ];
        let places = places.map(|part| {
            flowing
                .find(part)
                .unwrap_or_else(|| panic!("{width}, {part}: {screen}"))
        });
        assert!(places.is_sorted(), "{width}: {screen}");
        assert!(flowing.contains("read p99 +33 %"), "{width}: {screen}");
    }
}

#[test]
fn the_share_of_the_cpus_is_known_though_something_else_ran_in_one_trial() {
    let mut run = of(&USUAL);
    run.environment = two_cpus();
    for trial in &mut run.trials {
        let kernel = if trial.repetition == 0 { 5_000.0 } else { 200.0 };
        for (metric, value) in [(CPU, 4_700.0), (KERNEL_THREADS_CPU, kernel)] {
            trial.values.retain(|known| known.metric != metric.name);
            trial.values.push(Value::measured(metric, value));
        }
    }
    let limit = Constraints {
        cpu_share: Some(0.001),
        ..Constraints::default()
    };
    let placement = Placement::of(&run, &limit, None).unwrap();
    let of_store = placement.candidates.iter().filter(|one| !one.cell.is_empty());
    for candidate in of_store {
        assert!(candidate.cpu_share.is_some(), "{}", candidate.what);
    }
    let answer = placement.answer.join(" ");
    assert!(!answer.contains("not known"), "{answer}");
}
