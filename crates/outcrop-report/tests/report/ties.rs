//! Superlatives say with how many others they tie, in every layer and everywhere a reader meets them.

use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_schema::cache::{MEMORY, POLICY};

use crate::cache_fixture::{Builder, Factors};
use crate::kv_fixture::codecs;

#[test]
fn the_highest_hit_ratio_and_throughput_say_with_how_many_others_they_tie() {
    let mut builder = Builder::new();
    for (policy, hits, throughput) in [("fifo", 0.989, 1e5), ("lru", 0.989, 1e5), ("sieve", 0.95, 1e5)] {
        let changes: Factors<'_> = &[(&MEMORY, "4MiB"), (&POLICY, policy)];
        builder = builder.cell("cache-policies", changes, (hits, hits), throughput, 6000.0);
    }
    let report = Report::of(&builder.run);
    for (label, ties) in [
        ("Highest hit ratio", "; ties with 1 other"),
        ("Highest throughput, closed loop", "; ties with 2 others"),
    ] {
        let mut rows = report.layers[0].answer.capabilities.iter();
        let row = rows.find(|row| row.label == label).unwrap();
        let ReadingOutcome::Measured { conditions, .. } = &row.readings[0].outcome else {
            panic!("{row:?}");
        };
        assert!(conditions.ends_with(ties), "{label}: {conditions}");
    }
    let page = report.to_html();
    assert!(page.contains("; ties with 1 other"), "the page says it too");
    let screen = report.screen(120, false);
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("ties with 2 others"), "{screen}");
}

#[test]
fn a_superlative_of_one_trial_says_so_where_others_have_several_and_is_counted_as_uncertain() {
    let mut run = codecs();
    let fastest = run.trials[0].cell.clone();
    run.trials
        .retain(|trial| trial.cell != fastest || trial.repetition == 0);
    let report = Report::of(&run);
    let rows = &report.layers[0].answer.capabilities;
    let row = rows
        .iter()
        .find(|row| row.label == "Highest throughput, closed loop")
        .unwrap();
    let ReadingOutcome::Measured { conditions, .. } = &row.readings[0].outcome else {
        panic!("{row:?}");
    };
    assert!(
        conditions.contains("; one trial: its repeatability is unknown"),
        "{conditions}"
    );
    let screen = report.screen(200, false);
    assert!(screen.contains("on one trial"), "{screen}");
    assert!(report.to_html().contains("figures of the answers rest"));
    let all = Report::of(&codecs()).screen(200, false);
    assert!(!all.contains("on one trial"), "{all}");
}
