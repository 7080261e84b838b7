//! Superlatives say with how many others they tie, in every layer and everywhere a reader meets them.

use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_schema::cache::{MEMORY, POLICY};

use crate::cache_fixture::{Builder, Factors};

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
