//! What a screen says of where to compress whatever room it has: of which store it is, what is known where nothing is decided, and what takes
//! less space.

use outcrop_report::{Constraints, Placement, Report};
use outcrop_results::{Envelope, Outcome, RunView, Value};
use outcrop_schema::kv::{BLOCKS_FETCHED, ENGINE, FILESYSTEM, READ_LATENCY, THROUGHPUT};

use crate::kv_fixture::{Stored, of};
use crate::placement::{USUAL, stored};

/// The same run with a second store that got one trial of each cell.
fn with_a_second_store() -> RunView {
    let mut run = of(&USUAL);
    let second = of(&[
        stored("none", "ext4", 120e3, 110e6),
        stored("lz4", "ext4", 119e3, 60e6),
    ]);
    let first_trials = second.trials.into_iter().filter(|trial| trial.repetition == 0);
    run.trials.extend(first_trials.map(|mut trial| {
        trial.factors.insert(ENGINE.name.to_owned(), "fjall".to_owned());
        trial.cell += " fjall";
        trial
    }));
    run
}

fn flowing(run: &RunView, width: usize) -> String {
    let screen = Report::of(run).screen(width, false);
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_answer_names_its_store_and_says_which_others_were_not_compared() {
    let run = with_a_second_store();
    let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
    let first = &placement.answer[0];
    assert!(
        first.starts_with("For rocksdb: compress in the store's own blocks with lz4"),
        "{first}"
    );
    let text = placement.answer.join(" ");
    let rule = "The answer is about rocksdb, the store of this run with the most candidates";
    let left_out = "fjall (2 cells, at most 1 trial each) is not compared with it";
    assert!(text.contains(rule) && text.contains(left_out), "{text}");
    for width in [80, 120] {
        let screen = flowing(&run, width);
        assert!(
            screen.contains("For rocksdb: ") && screen.contains("fjall (2 cells, at most 1 trial each)"),
            "{screen}"
        );
    }
    // Of one store there is nothing to tell apart: its name stands with the instruction, or with the data.
    let screen = flowing(&of(&USUAL), 80);
    assert!(
        !screen.contains("For rocksdb: ") && screen.contains("(rocksdb)"),
        "{screen}"
    );
}

#[test]
fn the_screen_of_two_stores_has_every_headline_figure_of_both() {
    let mut run = with_a_second_store();
    run.trials.iter_mut().for_each(|trial| {
        let p99 = Value::measured(READ_LATENCY.p99, 300e3);
        trial.values.push(p99);
    });
    let report = Report::of(&run);
    let rows = &report.layers[0].answer.capabilities;
    assert!(
        rows.len() > 1 && rows.iter().all(|row| row.readings.len() == 2),
        "{rows:?}"
    );
    for width in [80, 100, 160] {
        let screen = report.screen(width, false);
        for row in rows {
            assert!(screen.contains(&row.label), "{width}, {}: {screen}", row.label);
        }
        assert!(screen.lines().count() <= 22, "{width}: {screen}");
    }
}

#[test]
fn the_answer_stands_in_the_advice_of_the_json_and_not_only_in_its_details() {
    let of_json = |run: &RunView| {
        let report = Report::of(run);
        let document = report.in_envelope(Envelope::of("report")).unwrap();
        let advice = document.advice.clone();
        let found = advice
            .into_iter()
            .find(|claim| claim["topic"] == "Where to compress");
        (found, report.placement)
    };
    let (claim, placement) = of_json(&of(&USUAL));
    let (claim, placement) = (claim.unwrap(), placement.unwrap());
    assert_eq!(
        (&claim["layer"], claim["text"].as_str().unwrap()),
        (&"kv".into(), &*placement.answer.join(" "))
    );
    assert_eq!(
        claim["action"].as_str(),
        Some(&*placement.answer[0]),
        "it is decided"
    );
    assert!(claim["numbers"][0]["value"].as_f64().is_some(), "{claim}");
    // What is not decided has no instruction, as in all advice.
    let mut few = of(&USUAL);
    few.trials.retain(|trial| trial.repetition == 0);
    let (claim, placement) = of_json(&few);
    let (claim, placement) = (claim.unwrap(), placement.unwrap());
    assert_eq!(claim.get("action"), None, "{:?}", placement.answer);
}

#[test]
fn of_stores_with_as_many_candidates_the_one_with_more_trials_and_then_the_fastest_is_taken_and_that_is_said()
{
    let both = || {
        let mut run = of(&USUAL);
        let faster = USUAL.map(|cell| Stored {
            throughput: cell.throughput * 1.2,
            ..cell
        });
        run.trials.extend(of(&faster).trials.into_iter().map(|mut trial| {
            trial.factors.insert(ENGINE.name.to_owned(), "fjall".to_owned());
            trial.cell += " fjall";
            trial
        }));
        run
    };
    let mut fewer = both();
    fewer.trials.pop();
    for (run, engine, rule, short) in [
        (
            both(),
            "fjall",
            "The answer is about fjall, the store of this run with the highest median throughput, among those with equally many candidates and trials; rocksdb (4 cells",
            "Not compared: rocksdb (4 cells, at most 3 trials each), as fjall has the higher median throughput (its own answer: the same run with engine rocksdb only).",
        ),
        (
            fewer,
            "rocksdb",
            "The answer is about rocksdb, the store of this run with the most trials, among those with equally many candidates; fjall (4 cells",
            "Not compared: fjall (4 cells, at most 3 trials each), as rocksdb has more trials (its own answer: the same run with engine fjall only).",
        ),
    ] {
        let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
        let text = placement.answer.join(" ");
        assert!(text.starts_with(&format!("For {engine}: ")), "{text}");
        assert!(text.contains(rule), "{text}");
        assert!(flowing(&run, 80).contains(short), "{}", flowing(&run, 80));
    }
}

#[test]
fn where_no_cell_of_the_store_meets_the_limits_the_cell_of_another_store_that_does_is_named() {
    let mut run = with_a_second_store();
    for trial in &mut run.trials {
        let p99 = match trial.factors[ENGINE.name].as_str() {
            "fjall" => 14e3,
            _ => 40e3,
        };
        trial.values.retain(|value| value.metric != READ_LATENCY.p99.name);
        trial.values.push(Value::measured(READ_LATENCY.p99, p99));
    }
    let limits = Constraints {
        p99_ns: Some(16e3),
        ..Constraints::default()
    };
    let placement = Placement::of(&run, &limits, None).unwrap();
    let text = placement.answer.join(" ");
    assert!(
        text.starts_with("For rocksdb: none of the cells compared meets"),
        "{text}"
    );
    assert!(
        placement.answer[1].starts_with("fjall with lz4, blocks of 16 KiB in the store may meet the limits")
            && placement.answer[1].contains(
                "(--p99 16us): p99 of a read 14.0 µs, ratio 1.83, 1 trial, but the repeatability of one trial is unknown."
            )
            && placement.answer[1].ends_with(
                "The answer is about rocksdb because it has more candidates (at most 3 trials per cell); the limits play no part in that."
            ),
        "{:?}",
        placement.answer
    );
    let screen = Report::under(&run, &[], &limits, None).screen(120, false);
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flowing.contains("fjall with lz4, blocks of 16 KiB in the store may meet the limits"),
        "{screen}"
    );
    // Where its own store meets them, the answer is the answer.
    let loose = Constraints {
        p99_ns: Some(50e3),
        ..Constraints::default()
    };
    let text = Placement::of(&run, &loose, None).unwrap().answer.join(" ");
    assert!(!text.contains("meets the limits"), "{text}");
}

#[test]
fn hardware_that_is_not_modelled_is_said_on_the_screen_with_the_store_that_it_needs() {
    let mut run = of(&USUAL);
    for trial in &mut run.trials {
        trial.factors.insert(ENGINE.name.to_owned(), "fjall".to_owned());
        trial.values.retain(|value| value.metric != BLOCKS_FETCHED.name);
    }
    let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
    let text = placement.answer.join(" ");
    assert!(
        text.contains("Hardware is not modelled: fjall does not count all blocks")
            && text.contains(
                "; RocksDB does: use `outcrop kv` with `--engine rocksdb`, or set `engine` in a plan of your own (`outcrop plans`)."
            ),
        "{text}"
    );
    for width in [80, 120] {
        let screen = flowing(&run, width);
        assert!(screen.contains("Hardware is not modelled"), "{screen}");
    }
}

#[test]
fn where_nothing_is_decided_the_screen_has_what_is_known() {
    let mut run = of(&USUAL);
    for trial in &mut run.trials {
        let throughput = trial.number(&THROUGHPUT).unwrap();
        let factor = [0.3, 1.0, 2.2][trial.repetition as usize];
        trial.values.retain(|value| value.metric != THROUGHPUT.name);
        trial
            .values
            .push(Value::measured(THROUGHPUT, throughput * factor));
    }
    for width in [80, 120] {
        let screen = flowing(&run, width);
        assert!(
            screen.contains("Not decided: the throughput differs too much"),
            "{screen}"
        );
        assert!(
            screen.contains("t takes 55 % of the space")
                && screen.contains("compression (blocks of 16 KiB, ext4)")
                && screen.contains("read p99"),
            "{screen}"
        );
    }
}

#[test]
fn a_screen_says_with_which_ratio_what_takes_less_space_would_be_the_answer() {
    for width in [80, 120] {
        let screen = flowing(&of(&USUAL), width);
        assert!(
            screen.contains("would be the answer if you need a ratio of 2.75"),
            "{screen}"
        );
    }
}

#[test]
fn stores_without_codecs_are_not_said_to_lack_trials_and_no_answer_of_theirs_is_promised() {
    let mut run = of(&USUAL);
    for engine in ["redb", "fjall"] {
        let second = of(&[stored("none", "ext4", 120e3, 110e6)]);
        run.trials.extend(second.trials.into_iter().map(|mut trial| {
            trial.factors.insert(ENGINE.name.to_owned(), engine.to_owned());
            trial.cell += engine;
            trial
        }));
    }
    let text = |run: &RunView| {
        Placement::of(run, &Constraints::default(), None)
            .unwrap()
            .answer
            .join(" ")
    };
    let both = text(&run);
    assert!(
        both.contains("fjall (1 cell, at most 3 trials each) is not compared with it. `outcrop kv` with `--engine fjall`")
            && both.contains("Not compared, as it does not compress blocks: redb (1 cell, at most 3 trials each)."),
        "{both}"
    );
    run.trials.retain(|trial| trial.factors[ENGINE.name] != "fjall");
    let redb = text(&run);
    assert!(
        redb.contains("does not compress blocks: redb") && !redb.contains("--engine redb"),
        "{redb}"
    );
}

#[test]
fn a_cell_of_another_store_whose_interval_reaches_beyond_a_limit_is_not_said_to_meet_it() {
    let p99 = |of_second: [f64; 3]| {
        let mut run = of(&USUAL);
        let second = of(&[
            stored("none", "ext4", 120e3, 110e6),
            stored("lz4", "ext4", 119e3, 60e6),
        ]);
        run.trials.extend(second.trials.into_iter().map(|mut trial| {
            trial.factors.insert(ENGINE.name.to_owned(), "fjall".to_owned());
            trial.cell += " fjall";
            trial
        }));
        for trial in &mut run.trials {
            let p99 = match trial.factors[ENGINE.name].as_str() {
                "fjall" => of_second[trial.repetition as usize],
                _ => 400e3,
            };
            trial.values.retain(|value| value.metric != READ_LATENCY.p99.name);
            trial.values.push(Value::measured(READ_LATENCY.p99, p99));
        }
        let limits = Constraints {
            p99_ns: Some(95e3),
            ..Constraints::default()
        };
        Placement::of(&run, &limits, None).unwrap().answer[1].clone()
    };
    let sure = p99([52e3, 60e3, 70e3]);
    assert!(sure.contains("in the store meets the limits"), "{sure}");
    let open = p99([52e3, 93e3, 299e3]);
    assert!(
        open.contains("in the store may meet the limits")
            && open.contains(", 3 trials, but it may break the limit on the p99 (93.0 µs, 52.0 µs to 299 µs, of at most 95.0 µs)."),
        "{open}"
    );
}

/// The answer was the store's codec, and nothing said that the filesystem that compresses was never measured.
#[test]
fn cells_whose_trials_all_failed_are_named_in_the_answer_with_the_reason() {
    let mut run = of(&USUAL);
    let is_btrfs = |filesystem: &str| filesystem.starts_with("btrfs");
    let mut failed = 0;
    for trial in &mut run.trials {
        if is_btrfs(&trial.factors[FILESYSTEM.name]) {
            trial.outcome = Outcome::Failed {
                message: "no room for the image".to_owned(),
            };
            failed += 1;
        }
    }
    assert!(failed > 0, "the fixture has such a filesystem");
    let report = Report::of(&run);
    let answer = report
        .placement
        .as_ref()
        .expect("two cells on ext4")
        .answer
        .join(" ");
    assert!(
        answer.contains("Not compared, because all of their trials failed: ")
            && answer.contains(" on btrfs zstd:1")
            && answer.contains("(the first reason: no room for the image)."),
        "{answer}"
    );
    let screen = report.screen(120, false);
    assert!(screen.contains("no room for the image"), "{screen}");
}
