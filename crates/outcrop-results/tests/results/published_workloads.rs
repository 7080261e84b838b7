//! Publications that name a workload, beside runs that were given a part of it otherwise.

use outcrop_results::{CompareOptions, NotComparable, Undecided, Value, Verdict, compare_with, references};
use outcrop_schema::cache::{HIT_RATIO, POPULARITY};

use crate::comparisons::{repeated, row};
use crate::samples::{factors, run_of, trial};

#[test]
fn requests_of_another_popularity_are_not_those_of_the_published_pool() {
    let folder = tempfile::tempdir().unwrap();
    let published = references::load("etc-published").unwrap();
    let verdict = |popularity: &str| {
        let trials = repeated(6, |repetition| {
            let mut trial = trial(1, repetition, &[Value::measured(HIT_RATIO, 0.8)]);
            trial.layer = "cache".to_owned();
            trial.factors = factors(&[
                ("workload", "etc"),
                ("request_mix", "30:1"),
                ("keys", "1000"),
                ("memory", "1MiB"),
                (POPULARITY.name, popularity),
            ]);
            trial
        });
        let run = run_of(folder.path(), &popularity.replace(':', "-"), &trials);
        let options = CompareOptions {
            assumed: factors(&[("keys", "1000"), ("memory", "1MiB")]),
            ..CompareOptions::default()
        };
        let comparison = compare_with(&published, &run, &options).unwrap();
        row(&comparison, HIT_RATIO.name).verdict.clone()
    };
    let Verdict::NotComparable(reasons) = verdict("zipfian:0.99") else {
        panic!("it is compared")
    };
    let expected = NotComparable::ConditionDiffers {
        condition: POPULARITY.name.to_owned(),
        baseline: "etc".to_owned(),
        candidate: "zipfian:0.99".to_owned(),
    };
    assert!(reasons.contains(&expected), "{reasons:?}");
    if let Verdict::NotComparable(reasons) = verdict("etc") {
        let of_popularity = |reason: &NotComparable| match reason {
            NotComparable::ConditionDiffers { condition, .. }
            | NotComparable::ConditionNotStated { condition, .. } => condition == POPULARITY.name,
            _ => false,
        };
        assert!(!reasons.iter().any(of_popularity), "{reasons:?}");
    }
}

#[test]
fn two_publications_are_not_said_to_have_a_value_of_0() {
    let one = references::load("toshiba-kxg60znv256g-fio").unwrap();
    let mut other = one.clone();
    other.name = "again".to_owned();
    let options = CompareOptions {
        assumed: factors(&[("state", "fresh")]),
        ..CompareOptions::default()
    };
    let comparison = compare_with(&one, &other, &options).unwrap();
    let verdicts = comparison.rows.iter().map(|row| &row.verdict);
    let undecided: Vec<&Verdict> = verdicts
        .filter(|verdict| matches!(verdict, Verdict::Undecided(_)))
        .collect();
    assert!(!undecided.is_empty(), "{:?}", comparison.rows.first());
    assert!(
        undecided
            .iter()
            .all(|verdict| **verdict == Verdict::Undecided(Undecided::BothPublished)),
        "{undecided:?}"
    );
}
