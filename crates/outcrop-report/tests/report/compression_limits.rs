//! Compression under a limit on the ratio: what is advised keeps it, and the sentences say so.

use outcrop_report::answer::Claim;
use outcrop_report::{Constraints, Report};
use outcrop_results::RunView;
use outcrop_schema::FactorRef;
use outcrop_schema::compression::{CODEC, CONTENT, CONTEXT, THREADS};

use crate::compression_fixture::{Builder, CODECS, Codec, codec};
use crate::other_values::with_other;

fn under(run: &RunView, min_ratio: f64) -> Report {
    let constraints = Constraints {
        min_ratio: Some(min_ratio),
        ..Constraints::default()
    };
    Report::under(run, &[], &constraints, None)
}

fn of(codecs: &[Codec], sizes_kib: &[u64]) -> RunView {
    Builder::new(5).speeds(codecs, sizes_kib, &[1]).build()
}

fn claim(report: &Report, topic: &str) -> Option<Claim> {
    let mut advice = report.layers[0].answer.advice.iter();
    advice.find(|claim| claim.topic == topic).cloned()
}

#[test]
fn no_block_size_is_advised_that_breaks_the_limit() {
    // 2.20 at 4 KiB, 2.42 at 16 KiB, 2.64 at 64 KiB.
    let run = of(&CODECS[3..4], &[4, 16, 64]);
    let without = claim(&Report::of(&run), "Block size").unwrap();
    assert!(without.text.contains("instead of 4 KiB"), "{}", without.text);
    let within = claim(&under(&run, 2.3), "Block size").unwrap();
    assert!(
        within.text.contains("of 64 KiB instead of 16 KiB"),
        "{}",
        within.text
    );
    assert_eq!(claim(&under(&run, 2.5), "Block size"), None, "one size keeps it");
    let none = claim(&under(&run, 9.0), "Block size").unwrap();
    assert!(
        none.brief.contains("breaks the limit on the ratio") && none.brief.contains("; without limits, "),
        "{}",
        none.brief
    );
}

#[test]
fn what_is_the_best_of_those_that_keep_a_limit_says_so_and_the_limit_is_named_also_where_all_keep_it() {
    let between = codec("zstd:9", 2.45, 6e7, 8.5e8);
    let run = of(&[CODECS[1], CODECS[3], between, CODECS[4]], &[4, 64]);
    let report = under(&run, 2.1);
    let text = |topic| claim(&report, topic).unwrap().text;
    assert!(
        text("Fastest").contains("the codecs that make the data smaller and keep --min-ratio 2.1"),
        "{}",
        text("Fastest")
    );
    assert!(
        text("Balanced").contains("keep --min-ratio 2.1"),
        "{}",
        text("Balanced")
    );
    assert!(
        text("By block size").contains("keep --min-ratio 2.1"),
        "{}",
        text("By block size")
    );
    let one = claim(&under(&of(&CODECS[3..4], &[4, 64]), 2.5), "Codec").unwrap();
    assert!(
        one.text
            .contains("the only codec and block size that keeps --min-ratio 2.5"),
        "{}",
        one.text
    );
    for min_ratio in [1.1, 2.1, 9.0] {
        let subject = under(&run, min_ratio).layers[0].answer.subject.clone();
        assert!(
            subject.ends_with(&format!("; limit: --min-ratio {min_ratio}")),
            "{subject}"
        );
    }
    assert!(!Report::of(&run).layers[0].answer.subject.contains("limit"));
}

#[test]
fn the_subject_or_each_claim_names_the_value_that_it_is_about_whichever_factor_cells_differ_in() {
    let run = of(&CODECS[1..5], &[4, 64]);
    let others: [(FactorRef, &str, [&str; 2]); 2] = [
        (&CONTENT, "random", ["content random", "sample 1.66MiB, 1 thread"]),
        (&THREADS, "4", ["1 thread", "4 threads"]),
    ];
    for (factor, other, names) in others {
        let answer = Report::of(&with_other(run.clone(), factor, other))
            .layers
            .remove(0)
            .answer;
        for claim in answer.advice {
            let said = format!("{} {}", answer.subject, claim.text);
            assert!(
                names.iter().any(|name| said.contains(name)),
                "{}: {said}",
                factor.name
            );
        }
    }
}

/// A run whose only cell of zstd:19 has a fresh context for each block, so it is not a candidate.
fn with_one_apart() -> RunView {
    let mut run = of(&CODECS[1..5], &[4]);
    for trial in &mut run.trials {
        if trial.factors[CODEC.name] == "zstd:19" {
            trial.factors.insert(CONTEXT.name.to_owned(), "fresh".to_owned());
        }
    }
    run
}

#[test]
fn a_higher_ratio_of_another_context_is_named_beside_the_smallest_of_those_compared() {
    const HIGHER: &str = "zstd:19, 4 KiB, fresh context has 2.60";
    let run = with_one_apart();
    let smallest = claim(&Report::of(&run), "Smallest").unwrap();
    assert_eq!(
        smallest.brief,
        format!("zstd:1, 4 KiB (clear among those compared; {HIGHER})")
    );
    assert!(
        smallest
            .text
            .contains("the highest ratio among those compared: clear")
            && smallest.text.contains(&format!(" {HIGHER}, and is not compared")),
        "{}",
        smallest.text
    );
    let broken = claim(&under(&run, 2.5), "Smallest").unwrap();
    assert!(
        broken.brief.contains("breaks the limit")
            && broken
                .brief
                .contains("; zstd:19, 4 KiB, fresh context keeps it (2.60)"),
        "{}",
        broken.brief
    );
    let only = claim(&under(&run, 2.0), "Codec").unwrap();
    assert!(
        only.brief
            .contains("nothing else that was compared keeps --min-ratio 2; zstd:19"),
        "{}",
        only.brief
    );
    let all = claim(&Report::of(&of(&CODECS[1..5], &[4])), "Smallest").unwrap();
    assert!(!all.text.contains("compared"), "{}", all.text);
}

#[test]
fn data_are_not_called_incompressible_where_another_context_made_them_smaller() {
    let mut run = with_one_apart();
    for trial in &mut run.trials {
        for value in &mut trial.values {
            if trial.factors[CODEC.name] != "zstd:19" && value.metric.starts_with("compression_ratio") {
                value.value = Some(1.01);
            }
        }
    }
    let said = claim(&Report::of(&run), "Compression").unwrap().text;
    assert!(
        said.contains(
            "none of those compared saves 2 %, but zstd:19, 4 KiB, fresh context has a ratio of 2.60"
        ),
        "{said}"
    );
}
