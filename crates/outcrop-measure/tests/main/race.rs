//! Races: how often a clear answer is wrong, what stops a contender, and that the same observations give the same standing.

use outcrop_measure::Seed;
use outcrop_measure::race::{CONFIDENCE, Contender, LOOKS, MOST_ROUNDS, Rules, Standing, Stop};
use proptest::prelude::*;

use crate::simulated_races::{NOISES, Noise, SCENARIOS, counts};

const SEED: Seed = Seed(17);

fn rules() -> Rules {
    Rules {
        margin: 0.05,
        same_saving: 0.02,
        least_saving: None,
        limits: Vec::new(),
    }
}

/// A contender with a throughput in each round that differs a little from the one before.
fn steady(throughput: f64, stored: f64, is_plain: bool, rounds: usize) -> Contender {
    let by_round = |round: usize| Some(throughput * [0.998, 1.001, 1.002][(round + throughput as usize) % 3]);
    Contender {
        throughput: (0..rounds).map(by_round).collect(),
        stored: vec![Some(stored); rounds],
        is_plain,
        ..Contender::default()
    }
}

#[test]
fn at_most_one_clear_answer_in_twenty_is_wrong_whatever_is_true_and_whatever_the_noise() {
    const RUNS: u64 = 120;
    for scenario in SCENARIOS {
        for noise in NOISES {
            let (_, wrong, _) = counts(RUNS, SEED, |seed| scenario.race(noise, seed, 150));
            let most = RUNS as f64 * (1.0 - CONFIDENCE);
            assert!(
                wrong as f64 <= most,
                "{} {noise:?}: {wrong} of {RUNS}",
                scenario.name
            );
        }
    }
}

#[test]
fn with_as_many_trials_doubt_finds_clear_answers_that_equal_effort_does_not() {
    let scenario = SCENARIOS
        .iter()
        .find(|one| one.name.starts_with("two close"))
        .unwrap();
    let noise = Noise::Normal(0.03);
    let (doubt, _, _) = counts(200, SEED, |seed| scenario.race(noise, seed, 120));
    let (equal, _, _) = counts(200, SEED, |seed| scenario.equal_effort(noise, seed, 120));
    assert!(doubt > equal, "{doubt} and {equal} of 200");
}

#[test]
fn what_is_clear_early_leaves_trials_unspent() {
    let scenario = SCENARIOS.iter().find(|one| one.name == "far apart").unwrap();
    let (clear, wrong, trials) = counts(50, SEED, |seed| scenario.race(Noise::Normal(0.03), seed, 300));
    assert_eq!((clear, wrong), (50, 0));
    assert!(trials < 100.0, "{trials}");
}

#[test]
fn the_same_seed_gives_the_same_race() {
    for scenario in SCENARIOS {
        let once = || scenario.race(Noise::HeavyTailed(0.03), SEED, 150);
        assert_eq!(format!("{:?}", once()), format!("{:?}", once()));
    }
}

#[test]
fn a_contender_stops_with_its_reason() {
    let rounds = LOOKS[0];
    let mut contenders = vec![
        steady(1000.0, 100.0, true, rounds),
        steady(990.0, 50.0, false, rounds),
        steady(600.0, 40.0, false, rounds),
        steady(980.0, 98.0, false, 1),
        Contender::default(),
    ];
    let least = Rules {
        least_saving: Some(1.5),
        ..rules()
    };
    let standing = Standing::after(rounds, false, &contenders, &least);
    assert!(matches!(
        standing.stops[0],
        Some(Stop::SavesTooLittle { saving: 1.0 })
    ));
    assert!(matches!(standing.stops[2], Some(Stop::TooSlow { than: 1, at_most }) if at_most < 0.65));
    assert!(matches!(standing.stops[3], Some(Stop::SavesTooLittle { .. })));
    assert!(matches!(standing.stops[4], Some(Stop::NotMeasured)));
    assert_eq!(standing.clear, [1]);
    assert!(standing.is_decided() && standing.in_doubt().is_empty());

    // What takes more space than one that ties with the highest cannot be the answer, although it is the fastest.
    contenders.truncate(2);
    contenders.push(steady(985.0, 40.0, false, rounds));
    let standing = Standing::after(rounds, false, &contenders, &rules());
    assert_eq!(standing.clear, [2]);
    let has_other = |stop: &Option<Stop>| matches!(stop, Some(Stop::SavesLess { than: 2, .. }));
    assert!(standing.stops[..2].iter().all(has_other), "{:?}", standing.stops);
}

#[test]
fn savings_are_against_the_fastest_plain_contender_that_keeps_the_limits() {
    let rounds = LOOKS[0];
    let standing = |p99_of_fastest: f64| {
        let mut contenders = vec![
            steady(900.0, 100.0, true, rounds),
            steady(1000.0, 110.0, true, rounds),
            steady(500.0, 50.0, false, rounds),
        ];
        for (contender, value) in contenders.iter_mut().zip([20.0, p99_of_fastest, 20.0]) {
            contender.limited = vec![vec![Some(value); rounds]];
        }
        let rules = Rules {
            limits: vec![50.0],
            ..rules()
        };
        let standing = Standing::after(rounds, false, &contenders, &rules);
        (standing.base, standing.savings[2])
    };
    assert_eq!(standing(20.0), (Some(1), Some(2.2)));
    assert_eq!(standing(80.0), (Some(0), Some(2.0)));
    // Savings are asked for after the first round already, and by the same contender.
    let contenders = [
        steady(900.0, 100.0, true, 1),
        steady(1000.0, 110.0, true, 1),
        steady(500.0, 50.0, false, 1),
    ];
    let least = Rules {
        least_saving: Some(2.1),
        ..rules()
    };
    let standing = Standing::after(1, false, &contenders, &least);
    assert!(standing.stops[..2].iter().all(Option::is_some) && standing.stops[2].is_none());
}

#[test]
fn the_base_is_measured_as_often_as_what_is_in_doubt_although_it_saves_too_little() {
    let least = Rules {
        least_saving: Some(1.5),
        ..rules()
    };
    let of = |rounds: usize| {
        let contenders = [
            steady(1000.0, 100.0, true, rounds),
            steady(700.0, 90.0, true, 1),
            steady(950.0, 50.0, false, rounds),
            steady(945.0, 40.0, false, rounds),
        ];
        Standing::after(rounds, false, &contenders, &least)
    };
    for rounds in 1..LOOKS[0] {
        assert_eq!(of(rounds).in_doubt(), [0, 2, 3], "{rounds} rounds");
        assert_eq!(of(rounds).open(), 2);
    }
    let last = of(LOOKS[0]);
    assert!(last.is_decided() && last.in_doubt().is_empty(), "{last:?}");
}

#[test]
fn one_trial_does_not_choose_between_two_plain_contenders_on_which_the_limit_depends() {
    let least = Rules {
        least_saving: Some(2.0),
        ..rules()
    };
    // The slower one is lucky in the first round: against it 45 is a ratio of 2.2, against the other of 1.8.
    let of = |rounds: usize| {
        let mut contenders = vec![
            steady(970.0, 100.0, true, rounds),
            steady(1000.0, 80.0, true, rounds),
            steady(950.0, 45.0, false, rounds),
            steady(800.0, 38.0, false, rounds),
        ];
        contenders[0].throughput[0] = Some(1010.0);
        Standing::after(rounds, false, &contenders, &least)
    };
    let first = of(1);
    assert_eq!(
        (first.held.clone(), first.in_doubt()),
        (vec![0, 1], vec![0, 1, 2, 3])
    );
    assert_eq!(first.open(), 2);
    let enough = of(LOOKS[LOOKS.len() - 1]);
    assert_eq!((enough.base, enough.clear.as_slice()), (Some(1), &[3][..]));
    assert!(enough.held.is_empty());
    // Where nothing depends on it, the first look lets both go.
    let contenders = [
        steady(970.0, 100.0, true, LOOKS[0]),
        steady(1000.0, 99.0, true, LOOKS[0]),
        steady(950.0, 45.0, false, LOOKS[0]),
        steady(945.0, 44.5, false, LOOKS[0]),
    ];
    let standing = Standing::after(LOOKS[0], false, &contenders, &least);
    assert!(standing.held.is_empty(), "{standing:?}");
}

#[test]
fn what_saves_enough_but_for_what_does_not_grow_stays_in_the_race_and_nothing_is_clear() {
    let rounds = LOOKS[0];
    let with_log = |log: f64| {
        let of = |throughput: f64, data: f64, is_plain: bool| {
            let contender = steady(throughput, data + log, is_plain, rounds);
            let least_stored = vec![Some(data); rounds];
            Contender {
                least_stored,
                ..contender
            }
        };
        let contenders = [
            of(1000.0, 28.0, true),
            of(990.0, 10.0, false),
            of(600.0, 8.0, false),
        ];
        let least = Rules {
            least_saving: Some(2.0),
            ..rules()
        };
        Standing::after(rounds, false, &contenders, &least)
    };
    // Of 28 and 10 that are 2.8, and with a log of 40 in both 1.36.
    assert_eq!(with_log(0.0).clear, [1]);
    let hidden = with_log(40.0);
    assert!(hidden.clear.is_empty() && hidden.stops[1].is_none(), "{hidden:?}");
    assert!(matches!(
        hidden.stops[0],
        Some(Stop::SavesTooLittle { saving: 1.0 })
    ));
}

#[test]
fn what_breaks_a_limit_for_sure_stops_and_what_is_near_it_leaves_the_answer_open() {
    let rounds = 7;
    let limited = |value: f64| {
        let by_round = (0..rounds).map(|round| Some(value * (1.0 + 0.01 * f64::from(round as u32 % 3))));
        vec![by_round.collect::<Vec<_>>()]
    };
    let with = |value: f64| {
        let mut contenders = vec![
            steady(1000.0, 100.0, true, rounds),
            steady(990.0, 50.0, false, rounds),
        ];
        contenders[0].limited = limited(10.0);
        contenders[1].limited = limited(value);
        let rules = Rules {
            limits: vec![50.0],
            ..rules()
        };
        Standing::after(rounds, false, &contenders, &rules)
    };
    assert_eq!(with(20.0).clear, [1]);
    let broken = with(80.0);
    assert!(matches!(broken.stops[1], Some(Stop::BreaksLimit { limit: 0, at_least }) if at_least > 50.0));
    assert_eq!(broken.clear, [0]);
    let near = with(49.5);
    assert_eq!((near.clear.len(), near.in_doubt()), (0, vec![0, 1]));
}

#[test]
fn nothing_is_clear_before_the_first_look_nor_with_trials_that_failed() {
    for rounds in 0..LOOKS[0] {
        let contenders = vec![
            steady(1000.0, 100.0, true, rounds),
            steady(500.0, 50.0, false, rounds),
        ];
        assert!(
            Standing::after(rounds, true, &contenders, &rules())
                .clear
                .is_empty()
        );
    }
    let mut contenders = vec![steady(1000.0, 100.0, true, 7), steady(500.0, 50.0, false, 7)];
    for round in [1, 3, 5] {
        contenders[1].throughput[round] = None;
    }
    assert!(Standing::after(7, true, &contenders, &rules()).clear.is_empty());
}

proptest! {
    #[test]
    fn any_observations_give_a_standing_and_more_rounds_only_add_stops(
        values in prop::collection::vec(
            (prop::collection::vec(prop::option::of(0.0..1e6_f64), 0..30), prop::option::of(0.0..1e6_f64), any::<bool>()),
            0..6,
        ),
    ) {
        let contenders: Vec<Contender> = values
            .into_iter()
            .map(|(throughput, stored, is_plain)| Contender {
                stored: vec![stored; throughput.len()],
                throughput,
                is_plain,
                ..Contender::default()
            })
            .collect();
        let mut stopped = 0;
        for rounds in 0..=MOST_ROUNDS {
            let standing = Standing::after(rounds, false, &contenders, &rules());
            let count = standing.stops.iter().flatten().count();
            prop_assert!(count >= stopped);
            stopped = count;
            prop_assert!(standing.in_doubt().iter().all(|index| standing.stops[*index].is_none()));
        }
    }
}
