//! Properties of the order of trials.

use std::collections::BTreeSet;

use outcrop_lab::{Draft, PlanOptions, PlanSet, PlanSource, VariantFactors};
use outcrop_measure::seed::Seed;
use proptest::prelude::*;

fn set(depths: u32, repetitions: u32, seed: u64) -> PlanSet {
    let draft = Draft::new("p", "?", "device", "here").with_workload(
        &outcrop_schema::device::QUEUE_DEPTH,
        (1..=depths).map(|depth| depth.to_string()),
        "--queue-depth",
    );
    let options = PlanOptions {
        seed: Some(Seed(seed)),
        repetitions: Some(repetitions),
        ..PlanOptions::default()
    };
    PlanSet::from_drafts(vec![draft], &options).unwrap()
}

proptest! {
    #[test]
    fn every_repetition_is_a_permutation_of_the_cells(depths in 1..40_u32, repetitions in 1..6_u32, seed: u64) {
        let set = set(depths, repetitions, seed);
        let trials = set.trials();
        prop_assert_eq!(trials.len(), (depths * repetitions) as usize);
        for (repetition, block) in trials.chunks(depths as usize).enumerate() {
            let cells: BTreeSet<_> = block.iter().map(|trial| trial.cell).collect();
            prop_assert_eq!(cells.len(), depths as usize);
            prop_assert!(block.iter().all(|trial| trial.repetition as usize == repetition));
        }
        prop_assert!(trials.iter().enumerate().all(|(index, trial)| trial.index as usize == index));
    }

    #[test]
    fn equal_seeds_give_equal_orders_and_trial_seeds_never_repeat(depths in 1..40_u32, seed: u64) {
        let trials = set(depths, 3, seed).trials();
        prop_assert_eq!(&trials, &set(depths, 3, seed).trials());
        let seeds: BTreeSet<_> = trials.iter().map(|trial| trial.seed).collect();
        prop_assert_eq!(seeds.len(), trials.len());
    }

    #[test]
    fn a_cell_keeps_its_trial_seeds_when_the_plan_grows(depths in 2..40_u32, seed: u64) {
        let (small, large) = (set(depths - 1, 2, seed), set(depths, 2, seed));
        for trial in small.trials() {
            let id = &small.cells()[trial.cell].id;
            let twins = large.trials();
            let twin = twins
                .iter()
                .find(|twin| large.cells()[twin.cell].id == *id && twin.repetition == trial.repetition)
                .unwrap();
            prop_assert_eq!(twin.seed, trial.seed);
        }
    }
}

#[test]
fn different_repetitions_and_different_seeds_give_different_orders() {
    let order_of =
        |seed| -> Vec<usize> { set(30, 2, seed).trials().iter().map(|trial| trial.cell).collect() };
    let order = order_of(1);
    assert_ne!(order[..30], order[30..]);
    assert_ne!(order, order_of(2));
}

#[test]
fn the_two_variants_of_a_cell_run_one_after_the_other_in_random_order_with_one_seed() {
    let source = PlanSource {
        name: "mine.toml".to_owned(),
        text:
            "name = \"mine\"\nquestion = \"?\"\nlayer = \"device\"\n[factors]\nqueue_depth = [1, 2, 4, 8]\n"
                .to_owned(),
    };
    let options = PlanOptions {
        seed: Some(Seed(5)),
        ..PlanOptions::default()
    };
    let of =
        |a: &str, b: &str| PlanSet::of_variants(&source, &a.parse().unwrap(), &b.parse().unwrap(), &options);
    // Also where they are alike.
    for (a, b) in [("io_block_size=4k", "io_block_size=8k"), ("jobs=1", "jobs=1")] {
        let set = of(a, b).unwrap();
        assert_eq!(
            (set.cells().len(), set.trials().len()),
            (8, 80),
            "ten pairs of each cell"
        );
        let mut began_with_a = 0;
        for pair in set.trials().chunks(2) {
            let variants = [0, 1].map(|place| set.cells()[pair[place].cell].variant.clone().unwrap());
            assert_eq!(variants[0].pair, variants[1].pair);
            assert_ne!(variants[0].name, variants[1].name);
            assert_eq!(
                (pair[0].seed, pair[0].repetition),
                (pair[1].seed, pair[1].repetition)
            );
            began_with_a += u32::from(variants[0].name == "a");
        }
        assert!(
            (8..=32).contains(&began_with_a),
            "{began_with_a} of 40 pairs began with A"
        );
        // The run folder's plan repeats it.
        let again = PlanSource {
            name: "plan.toml".to_owned(),
            text: set.to_toml(),
        };
        let again = PlanSet::from_sources(&[again], &PlanOptions::default()).unwrap();
        assert_eq!((again.cells(), again.trials()), (set.cells(), set.trials()));
    }
    let message = |a: &str, b: &str| of(a, b).unwrap_err().to_string();
    assert!(message("jobs=1", "queue_depth=1").contains("both must set the same factors"));
    for slip in [message("jbos=1", "jbos=2"), message("jbos=1", "jobs=2")] {
        assert!(
            slip.contains("--a: jbos is no factor of this plan; did you mean `jobs`?"),
            "{slip}"
        );
    }
    assert!(
        "jobs"
            .parse::<VariantFactors>()
            .unwrap_err()
            .contains("FACTOR=VALUE")
    );
    assert!(
        "jobs=1,jobs=2"
            .parse::<VariantFactors>()
            .unwrap_err()
            .contains("twice")
    );
}

/// A plan's number counts where it can decide; that of a plan for single runs, or none, gives way to ten.
#[test]
fn the_repetitions_of_a_plan_are_its_pairs_where_they_can_decide() {
    let pairs = |repetitions: &str, options: &PlanOptions| {
        let source = PlanSource {
            name: "gate.toml".to_owned(),
            text: format!("name = \"gate\"\nquestion = \"?\"\nlayer = \"device\"\n[trial]\n{repetitions}\n"),
        };
        let [a, b] = ["jobs=1", "jobs=2"].map(|factors| factors.parse::<VariantFactors>().unwrap());
        let set = PlanSet::of_variants(&source, &a, &b, options)?;
        Ok::<_, outcrop_lab::LabError>(set.trials().len() / 2)
    };
    let by_plan = PlanOptions::default();
    for (repetitions, expected) in [
        ("repetitions = 8", 8),
        ("repetitions = 6", 6),
        ("repetitions = { quick = 5, default = 12, full = 25 }", 12),
        ("repetitions = 5", 10),
        ("", 10),
    ] {
        assert_eq!(pairs(repetitions, &by_plan).unwrap(), expected, "{repetitions}");
    }
    let asked = PlanOptions {
        repetitions: Some(3),
        ..PlanOptions::default()
    };
    assert_eq!(pairs("repetitions = 8", &asked).unwrap(), 3, "the caller decides");
    let refused = pairs("repetitions = 0", &by_plan).unwrap_err().to_string();
    assert!(
        refused.contains("repetitions is 0; expected a whole number from 1 to 1000"),
        "{refused}"
    );
}
