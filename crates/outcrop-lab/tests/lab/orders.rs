//! Properties of the order of trials.

use std::collections::BTreeSet;

use outcrop_lab::{Draft, PlanOptions, PlanSet};
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
