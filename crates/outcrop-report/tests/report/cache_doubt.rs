//! Advice on caches that names ties, and what may be as good for all that is known.

use outcrop_report::Report;
use outcrop_report::answer::Claim;
use outcrop_results::{RunView, Value};
use outcrop_schema::cache::{ARRIVAL, HIT_RATIO, LATENCY, MEMORY, POLICY, POPULARITY, SERVER_THREADS};
use outcrop_schema::metrics::Metric;

use crate::cache_fixture::{Builder, Factors};

fn advice(run: &RunView, topic: &str) -> Claim {
    let report = Report::of(run);
    let claims = &report.layers[0].answer.advice;
    let claim = claims.iter().find(|claim| claim.topic == topic);
    claim
        .unwrap_or_else(|| panic!("no advice on {topic}: {claims:?}"))
        .clone()
}

/// Gives the trials of some cells these values of a metric.
fn set(run: &mut RunView, (factor, value): (&str, &str), metric: &Metric, values: [f64; 3]) {
    for trial in &mut run.trials {
        let is_wanted = trial.factors.get(factor).is_some_and(|known| known == value);
        for known in &mut trial.values {
            if is_wanted && known.metric == metric.name {
                known.value = Some(values[trial.repetition as usize]);
            }
        }
    }
}

#[test]
fn threads_that_give_no_more_than_fewer_do_say_that_they_tie() {
    let mut builder = Builder::new();
    for (threads, throughput) in [("1", 1e5), ("2", 1.9e5), ("4", 1.91e5)] {
        let changes: Factors<'_> = &[(&SERVER_THREADS, threads)];
        builder = builder.cell("cache-threads", changes, (0.9, 0.9), throughput, 6000.0);
    }
    let claim = advice(&builder.run, "Threads");
    assert_eq!(
        claim.brief,
        "4: 4 threads give 1.91 × the throughput of one; ties with 1 other"
    );
}

#[test]
fn cells_of_another_popularity_are_named_where_one_is_the_best_and_where_a_figure_leaves_them_out() {
    let mut builder = Builder::new();
    for (popularity, hits) in [("etc", 0.9), ("zipfian:0.99", 0.8)] {
        for memory in ["4MiB", "8MiB"] {
            let changes: Factors<'_> = &[(&MEMORY, memory), (&POPULARITY, popularity)];
            builder = builder.cell("cache-policies", changes, (hits, hits), 1e5, 6000.0);
        }
    }
    let report = Report::of(&builder.run);
    let json = report.to_json().unwrap().to_string();
    assert!(json.contains("popularity etc"), "{json}");
    for policy in ["lru", "sieve"] {
        let changes: Factors<'_> = &[(&MEMORY, "8MiB"), (&POPULARITY, "uniform"), (&POLICY, policy)];
        let hits = if policy == "lru" { 0.6 } else { 0.7 };
        builder = builder.cell("cache-policies", changes, (hits, hits), 1e5, 6000.0);
    }
    let claim = advice(&builder.run, "Policy");
    assert!(
        claim.brief.contains("of memory, popularity uniform") && claim.text.contains("popularity uniform"),
        "{claim:?}"
    );
    let figures = report.figures();
    let hits = figures
        .iter()
        .find(|figure| figure.id == "cache-hit-ratio")
        .unwrap();
    assert!(
        hits.caption.contains("Shown: popularity ") && hits.caption.contains("(of 2 measured)"),
        "{}",
        hits.caption
    );
}

#[test]
fn a_policy_is_no_clear_choice_beside_any_that_may_hit_as_much() {
    let with = |third: [f64; 3]| {
        let mut builder = Builder::new();
        for (policy, hits) in [("lru", 0.80), ("sieve", 0.88), ("fifo", 0.79)] {
            let changes: Factors<'_> = &[(&MEMORY, "8MiB"), (&POLICY, policy)];
            builder = builder.cell("cache-policies", changes, (hits, hits), 1e5, 6000.0);
        }
        set(&mut builder.run, (POLICY.name, "fifo"), &HIT_RATIO, third);
        advice(&builder.run, "Policy").brief
    };
    let clear = with([0.79, 0.79, 0.79]);
    assert!(clear.starts_with("sieve (clear)"), "{clear}");
    let near = with([0.70, 0.79, 0.90]);
    assert!(
        near.starts_with("sieve (not certain: the intervals overlap)"),
        "{near}"
    );
    let wide = with([0.54, 0.79, 1.0]);
    assert!(
        wide.starts_with("not decided (share of gets that hit, fifo"),
        "{wide}"
    );
}

#[test]
fn a_policy_is_not_chosen_where_another_one_has_no_hit_ratio() {
    let mut builder = Builder::new();
    for (policy, hits) in [("lru", 0.80), ("sieve", 0.88), ("fifo", 0.79)] {
        let changes: Factors<'_> = &[(&MEMORY, "8MiB"), (&POLICY, policy)];
        builder = builder.cell("cache-policies", changes, (hits, hits), 1e5, 6000.0);
    }
    let mut run = builder.run;
    let stalled = run
        .trials
        .iter_mut()
        .find(|trial| trial.factors[POLICY.name] == "fifo");
    for known in &mut stalled.unwrap().values {
        if known.metric == HIT_RATIO.name {
            *known = Value::unavailable(HIT_RATIO, "no get was answered");
        }
    }
    let claim = advice(&run, "Policy");
    assert!(
        claim
            .brief
            .starts_with("not decided: fifo has no hit ratio (only 2 of 3 trials have it"),
        "{}",
        claim.brief
    );
    assert!(
        claim.action.is_none() && claim.text.contains("sieve 88.0 %"),
        "{}",
        claim.text
    );
}

#[test]
fn a_load_whose_percentile_may_reach_the_limit_is_not_surely_the_highest_that_keeps_it() {
    let changes: Factors<'_> = &[(&ARRIVAL, "poisson:400k/s")];
    let mut run = Builder::new()
        .cell("cache-load", changes, (0.9, 0.9), 4e5, 6000.0)
        .run;
    let load = |run: &RunView| advice(run, "Load").action.expect("a load met it");
    let sure = load(&run);
    assert!(!sure.contains("not certain"), "{sure}");
    set(
        &mut run,
        (ARRIVAL.name, "poisson:400k/s"),
        &LATENCY.p99,
        [0.8e6, 0.9e6, 1.1e6],
    );
    let unsure = load(&run);
    assert!(unsure.contains("; not certain: its p99 is 900 µs ("), "{unsure}");
}

#[test]
fn a_load_whose_percentile_may_lie_below_the_limit_is_not_surely_one_that_missed_it() {
    let higher = (ARRIVAL.name, "poisson:500k/s");
    let mut builder = Builder::new();
    for (arrival, offered) in [("poisson:400k/s", 4e5), ("poisson:500k/s", 5e5)] {
        let changes: Factors<'_> = &[(&ARRIVAL, arrival)];
        builder = builder.cell("cache-load", changes, (0.9, 0.9), offered, 6000.0);
    }
    let mut run = builder.run;
    set(&mut run, higher, &LATENCY.p99, [1.2e6, 1.3e6, 1.4e6]);
    let sure = advice(&run, "Load").brief;
    assert!(!sure.contains("not certain"), "{sure}");
    let open = [0.8e6, 1.02e6, 1.1e6];
    set(&mut run, higher, &LATENCY.p99, open);
    let claim = advice(&run, "Load");
    for said in [&claim.brief, &claim.text] {
        assert!(said.contains("400 k"), "{said}");
        assert!(said.contains("; not certain of 500 k"), "{said}");
        assert!(said.contains(": its p99 is 1.02 ms ("), "{said}");
    }
    set(&mut run, (ARRIVAL.name, "poisson:400k/s"), &LATENCY.p99, open);
    let none = advice(&run, "Load");
    assert!(
        none.brief
            .starts_with("no offered load met p99<1ms; not certain of 500 k"),
        "{none:?}"
    );
    assert!(none.text.contains(": its p99 is 1.02 ms ("), "{none:?}");
    assert_eq!(none.action, None);
}

#[test]
fn a_lower_load_whose_percentile_may_lie_below_the_limit_is_said_to_miss_it_perhaps() {
    let mut builder = Builder::new();
    for (arrival, offered) in [
        ("poisson:2k/s", 2e3),
        ("poisson:60k/s", 6e4),
        ("poisson:200k/s", 2e5),
    ] {
        let changes: Factors<'_> = &[(&ARRIVAL, arrival)];
        builder = builder.cell("cache-load", changes, (0.9, 0.9), offered, 6000.0);
    }
    let mut run = builder.run;
    let lower = (ARRIVAL.name, "poisson:60k/s");
    set(&mut run, lower, &LATENCY.p99, [0.9e6, 1.05e6, 1.2e6]);
    let brief = advice(&run, "Load").brief;
    assert!(
        brief.contains("; 60.0 k/s may not: its p99 is 1.05 ms ("),
        "{brief}"
    );
    // One that surely missed it comes first.
    let lowest = (ARRIVAL.name, "poisson:2k/s");
    set(&mut run, lowest, &LATENCY.p99, [1.2e6, 1.3e6, 1.4e6]);
    let brief = advice(&run, "Load").brief;
    assert!(
        brief.contains("; 2.00 k/s does not: its p99 is 1.30 ms ("),
        "{brief}"
    );
}
