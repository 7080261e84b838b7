//! Hit ratios of caches that were measured before they had settled.

use outcrop_report::{Report, Verdict, cell_table};
use outcrop_results::{CellTable, RunView, Value};
use outcrop_schema::cache::{FILL, ITEMS, MEMORY, POLICY, RESIDENT_BYTES, SERVER, WARM_UP_REQUESTS};

use crate::cache_fixture::{Builder, Factors, peers, policies};

/// A run of the policies in which each cache held `items`, after a warm-up of `requests`.
fn warmed_up(mut builder: Builder, items: f64, requests: f64) -> RunView {
    for trial in &mut builder.run.trials {
        trial.values.push(Value::measured(ITEMS, items));
        trial.values.push(Value::measured(WARM_UP_REQUESTS, requests));
    }
    builder.run
}

/// What is said on a topic, with the action that it advises.
fn said(run: &RunView, topic: &str) -> (String, Option<String>) {
    let answer = Report::of(run).layers.remove(0).answer;
    let claim = answer.advice.into_iter().find(|claim| claim.topic == topic);
    let claim = claim.unwrap_or_else(|| panic!("no advice on {topic}"));
    (claim.brief, claim.action)
}

#[test]
fn a_policy_is_not_chosen_by_hit_ratios_that_still_depend_on_the_fill_and_the_warm_up_that_settles_them_is_named()
 {
    // At 8 MiB a fifth, or a sixth, of 100,000 gets per second misses.
    let settled = warmed_up(policies(), 10_000.0, 2_000_000.0);
    let (brief, action) = said(&settled, "Policy");
    assert!(brief.starts_with("s3-fifo (clear)"), "{brief}");
    assert!(action.is_some());
    let early = warmed_up(policies(), 10_000.0, 20_000.0);
    let (brief, action) = said(&early, "Policy");
    assert_eq!(action, None);
    assert!(
        brief.starts_with("not decided: the hit ratios at 8 MiB are not settled; `outcrop run ")
            && brief.ends_with(" --warm-up 3s` should settle them"),
        "{brief}"
    );
    let report = Report::of(&early);
    let answer = &report.layers[0].answer;
    let cautions: Vec<&str> = answer
        .cautions
        .iter()
        .map(|caution| caution.text.as_str())
        .collect();
    let named = cautions.iter().any(|text| {
        text.starts_with("In 6 of 6 cells the hit ratios are not settled: ") && text.contains(" --warm-up ")
    });
    assert!(named, "{cautions:?}");
    let highest = &answer.capabilities[0].readings[0];
    assert!(format!("{highest:?}").contains("not settled"), "{highest:?}");
    let finding = |id: &str| {
        let mut findings = report.layers[0].findings.iter();
        findings.find(|finding| finding.id == id).unwrap().verdict.clone()
    };
    assert!(
        matches!(finding("cache-s3-fifo-beside-lru"), Verdict::NotTestable(why) if why.contains("not settled"))
    );
}

#[test]
fn a_warm_up_is_named_although_there_was_none() {
    let (brief, _) = said(&warmed_up(policies(), 10_000.0, 0.0), "Policy");
    assert!(brief.ends_with(" --warm-up 3s` should settle them"), "{brief}");
}

#[test]
fn rows_whose_hit_ratio_is_not_settled_say_so_and_the_others_do_not() {
    let table = |run: &RunView| cell_table::text(&CellTable::of(run), None);
    // Of 20,000 requests more miss at 8 MiB than at 32 MiB: enough to replace 500 items twice there, and not here.
    let rows = table(&warmed_up(policies(), 500.0, 20_000.0));
    let marked = |limit: &str| rows.contains(&format!("{limit} (hits not settled)"));
    assert_eq!(
        ["8MiB", "16MiB", "32MiB"].map(marked),
        [false, false, true],
        "{rows}"
    );
    let settled = table(&warmed_up(policies(), 10.0, 2e6));
    assert!(!settled.contains("not settled"), "{settled}");
}

#[test]
fn where_nothing_is_evicted_or_sets_alone_filled_the_cache_nothing_is_to_settle() {
    let filled: Factors<'_> = &[(&MEMORY, "8MiB"), (&POLICY, "lru"), (&FILL, "sets:1000")];
    let study = Builder::new().cell("cache-etc-lite", filled, (0.7, 0.7), 1e5, 6000.0);
    for builder in [peers(), study] {
        let run = warmed_up(builder, 10_000.0, 0.0);
        let answer = Report::of(&run).layers.remove(0).answer;
        let cautions = format!("{:?}", answer.cautions);
        assert!(!cautions.contains("not settled"), "{cautions}");
    }
}

#[test]
fn peers_are_compared_in_hits_where_they_have_settled_and_keep_to_their_memory_limit() {
    let verdict = |requests: f64, resident_bytes: f64| {
        let mut builder = Builder::new();
        for (server, hits) in [("outcrop", 0.9), ("memcached", 0.8)] {
            let changes: Factors<'_> = &[(&SERVER, server), (&MEMORY, "48MiB")];
            builder = builder.cell("cache-peers", changes, (hits, hits), 1e5, 6000.0);
        }
        let mut run = warmed_up(builder, 10_000.0, requests);
        for trial in &mut run.trials {
            trial.values.push(Value::measured(RESIDENT_BYTES, resident_bytes));
        }
        let findings = Report::of(&run).layers.remove(0).findings;
        let mut found = findings.into_iter();
        found
            .find(|finding| finding.id == "cache-hits-more-than-peers")
            .unwrap()
            .verdict
    };
    let limit = f64::from(48 << 20);
    assert_eq!(verdict(2e6, 1.2 * limit), Verdict::Holds);
    for (requests, resident_bytes) in [(20_000.0, 1.2 * limit), (2e6, 8.0 * limit)] {
        assert!(
            matches!(verdict(requests, resident_bytes), Verdict::NotTestable(why) if why.contains("not settled") && why.contains("memory limit"))
        );
    }
}

#[test]
fn hit_ratios_that_are_not_settled_are_a_failed_check_which_a_comparison_names() {
    let failed = |run: &RunView| {
        let checks =
            outcrop_report::comparison::examined(outcrop_results::Side::Candidate, run).failed_checks;
        checks.iter().any(|check| check.check == "cache-hits-are-settled")
    };
    assert!(failed(&warmed_up(policies(), 10_000.0, 20_000.0)));
    assert!(!failed(&warmed_up(policies(), 10_000.0, 20_000_000.0)));
}

#[test]
fn a_run_in_which_no_warm_up_settles_a_cache_is_not_said_to_be_settled() {
    let report = Report::of(&policies().run);
    let mut findings = report.layers[0].findings.iter();
    let finding = findings.find(|finding| finding.id == "cache-hits-are-settled");
    assert!(matches!(
        finding.expect("it is there").verdict,
        Verdict::NotTestable(_)
    ));
}
