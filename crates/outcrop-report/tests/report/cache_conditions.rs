//! What the answer of caches says of a figure: each claim and each row names what tells its cell apart, whichever factor that is.

use std::collections::BTreeSet;

use outcrop_report::Report;
use outcrop_report::answer::{Answer, ReadingOutcome};
use outcrop_results::RunView;
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{
    self, ARRIVAL, BUILD, CONNECTIONS, LATENCY, MEMORY, OBJECTIVE, SERVER, SERVER_THREADS,
};

use crate::cache_fixture::{Builder, Factors, peers, policies};
use crate::other_values::with_other;

/// Another value of each factor than the fixtures have. Servers are columns, and what is held against a simulation or an objective is measured as
/// before: where an objective decides, its claim names it.
fn other(factor: FactorRef) -> Option<&'static str> {
    Some(match factor.name {
        "server" | "oracle" | "objective" => return None,
        "build" => "release",
        "memory" => "128MiB",
        "item_memory" => "1MB",
        "policy" => "sieve",
        "load_factor" => "0.9",
        "server_threads" | "driver_threads" => "2",
        "protocol" => "http",
        "workload" => "etc-lite",
        "popularity" => "uniform",
        "key_size" | "value_size" => "fixed:10B",
        "request_mix" => "3:1",
        "keys" => "1000",
        "value_pool" => "10",
        "content" => "zeros",
        "on_miss" | "fill" => "nothing",
        "connections" => "7",
        "pipeline" => "3",
        "arrival" => "constant:1000",
        "requests" => "15000",
        name => panic!("no other value for {name}"),
    })
}

/// The ways in which a page may name a value of a factor, without blanks.
fn names_of(factor: FactorRef, value: &str) -> Vec<String> {
    let spelled = format!("{} {value}", factor.words());
    let of_pages = match factor.name {
        "memory" => vec![format!("{value} of memory")],
        "workload" => vec![format!("requests of {value}")],
        "keys" if value == "1000" => vec!["1,000 keys".to_owned()],
        "keys" => vec!["100,000 keys".to_owned()],
        // One is what a load without a word on it has.
        "pipeline" if value == "1" => vec!["50 connections".to_owned()],
        // The claim on threads chooses among them.
        "server_threads" => vec!["2 threads".to_owned()],
        "arrival" if value == "closed" => vec!["closed loop".to_owned()],
        "arrival" => vec![
            format!("open loop, {value}"),
            "open loop, constant:1k/s".to_owned(),
        ],
        "policy" => vec![format!("with {value}"), format!("Evict with {value}")],
        "value_size" | "key_size" => vec![format!("{} fixed:10", factor.words())],
        _ => vec![],
    };
    let label = factor.labelled(value).filter(|label| !label.is_empty());
    let all = label.into_iter().chain([spelled]).chain(of_pages);
    all.map(|name| name.replace(' ', "")).collect()
}

/// A server with one thread and two, and one that was offered two loads.
fn loads() -> Vec<RunView> {
    let mut threads = Builder::new();
    let mut open = Builder::new();
    for (count, throughput) in [("1", 1e5), ("2", 1.9e5)] {
        let changes: Factors<'_> = &[(&SERVER_THREADS, count)];
        threads = threads.cell("cache-threads", changes, (1.0, 1.0), throughput, 6000.0);
    }
    for (arrival, offered) in [("poisson:400k/s", 4e5), ("poisson:500k/s", 5e5)] {
        let changes: Factors<'_> = &[(&ARRIVAL, arrival)];
        open = open.cell("cache-load", changes, (1.0, 1.0), offered, 6000.0);
    }
    vec![threads.run, open.run]
}

/// Each claim in each of its forms, and each row with its conditions; each build is a column.
fn said(answer: &Answer, with_rows: bool) -> Vec<(String, String)> {
    let claims = answer.advice.iter().flat_map(|claim| {
        let forms = [Some(&claim.brief), Some(&claim.text), claim.action.as_ref()];
        forms
            .into_iter()
            .flatten()
            .map(|form| (claim.topic.clone(), form.clone()))
    });
    let readings = answer.capabilities.iter().flat_map(|row| {
        let measured = row.readings.iter().filter_map(|reading| match &reading.outcome {
            ReadingOutcome::Measured { conditions, .. } => Some(conditions.clone()),
            ReadingOutcome::Missing(_) => None,
        });
        measured.map(|conditions| (row.label.clone(), format!("{}, {conditions}", row.label)))
    });
    let readings = readings.filter(|_| with_rows);
    claims.chain(readings).collect()
}

#[test]
fn each_claim_and_each_row_names_the_value_that_it_is_about_whichever_factor_cells_differ_in() {
    let runs = [policies().run, peers().run].into_iter().chain(loads());
    let (mut topics, mut nameless) = (BTreeSet::new(), Vec::new());
    for run in runs {
        for factor in cache::SCHEMA.workload {
            let values = |run: &RunView| -> BTreeSet<String> {
                let factors = run
                    .trials
                    .iter()
                    .filter_map(|trial| trial.factors.get(factor.name));
                factors.cloned().collect()
            };
            // Along what a run varies, its claims choose.
            let Some(other) = other(*factor).filter(|_| values(&run).len() < 2) else {
                continue;
            };
            let run = with_other(run.clone(), *factor, other);
            let names: Vec<String> = values(&run)
                .iter()
                .flat_map(|value| names_of(*factor, value))
                .collect();
            let answer = Report::of(&run).layers.remove(0).answer;
            for (topic, text) in said(&answer, factor.name != BUILD.name) {
                let bare = text.replace(' ', "");
                if !names.iter().any(|name| bare.contains(name)) {
                    nameless.push(format!("{}: {topic}: {text}", factor.name));
                }
                topics.insert(topic);
            }
        }
    }
    assert!(nameless.is_empty(), "{nameless:#?}");
    for topic in [
        "Policy",
        "Memory",
        "Threads",
        "Load",
        "Compared with peers",
        "Highest hit ratio",
    ] {
        assert!(topics.contains(topic), "{topic} is not among {topics:?}");
    }
}

#[test]
fn the_load_that_meets_an_objective_is_told_with_the_percentile_of_that_objective() {
    let changes: Factors<'_> = &[(&ARRIVAL, "poisson:400k/s"), (&OBJECTIVE, "p50<1ms")];
    let mut run = Builder::new()
        .cell("cache-load", changes, (1.0, 1.0), 4e5, 6000.0)
        .run;
    // Too few requests for a p99.
    for trial in &mut run.trials {
        trial.values.retain(|value| value.metric != LATENCY.p99.name);
    }
    let answer = Report::of(&run).layers.remove(0).answer;
    let claim = answer.advice.iter().find(|claim| claim.topic == "Load").unwrap();
    let action = claim.action.as_ref().unwrap();
    assert!(action.contains("to meet p50<1ms: p50 180"), "{action}");
    assert!(claim.text.contains("with a p50 of 180"), "{}", claim.text);
}

#[test]
fn loads_under_another_objective_are_not_counted_among_those_that_missed_it() {
    let mut builder = Builder::new();
    for objective in ["p99<100us", "p99<1ms"] {
        let changes: Factors<'_> = &[(&ARRIVAL, "poisson:400k/s"), (&OBJECTIVE, objective)];
        builder = builder.cell("cache-load", changes, (1.0, 1.0), 4e5, 6000.0);
    }
    let answer = Report::of(&builder.run).layers.remove(0).answer;
    let claim = answer.advice.iter().find(|claim| claim.topic == "Load").unwrap();
    let is_of_one = claim.text.contains("None of the 1 offered loads met p99<100us")
        || claim.text.contains("met p99<1ms");
    assert!(is_of_one, "{}", claim.text);
}

#[test]
fn threads_are_compared_under_the_usual_number_of_connections_and_the_load_is_named() {
    let mut builder = Builder::new();
    for connections in ["1", "50"] {
        for (threads, throughput) in [("1", 1e5), ("2", 1.9e5)] {
            let changes: Factors<'_> = &[(&SERVER_THREADS, threads), (&CONNECTIONS, connections)];
            let throughput = if connections == "1" { 5e4 } else { throughput };
            builder = builder.cell("cache-threads", changes, (1.0, 1.0), throughput, 6000.0);
        }
    }
    let answer = Report::of(&builder.run).layers.remove(0).answer;
    let claim = answer
        .advice
        .iter()
        .find(|claim| claim.topic == "Threads")
        .unwrap();
    assert!(
        claim
            .brief
            .contains("1.90 × the throughput of one, 50 connections"),
        "{}",
        claim.brief
    );
    assert!(
        claim
            .text
            .contains("(outcrop, memory 64 MiB, 50 connections, closed loop)"),
        "{}",
        claim.text
    );
}

#[test]
fn not_every_get_hits_where_some_miss() {
    for (hits, said) in [
        (0.9996, "nearly every get hits at 16 MiB"),
        (1.0, ": every get hits at 16 MiB"),
    ] {
        let mut builder = Builder::new();
        for (memory, hits) in [("8MiB", 0.8), ("16MiB", hits)] {
            builder = builder.cell("cache-policies", &[(&MEMORY, memory)], (hits, hits), 1e5, 6000.0);
        }
        let answer = Report::of(&builder.run).layers.remove(0).answer;
        let claim = answer
            .advice
            .iter()
            .find(|claim| claim.topic == "Memory")
            .unwrap();
        assert!(claim.brief.contains(said), "{}", claim.brief);
    }
}

#[test]
fn a_peer_is_compared_as_it_is_started_like_ours_or_with_what_differs() {
    let of = |cells: &[(&str, &str)]| {
        let mut builder = Builder::new();
        for (server, threads) in cells {
            let changes: Factors<'_> = &[(&SERVER, server), (&SERVER_THREADS, threads)];
            builder = builder.cell("cache-peers", changes, (1.0, 1.0), 1e5, 6000.0);
        }
        let answer = Report::of(&builder.run).layers.remove(0).answer;
        let mut advice = answer.advice.into_iter();
        let claim = advice.find(|claim| claim.topic == "Compared with peers");
        claim.expect("peers are compared")
    };
    let both = of(&[
        ("outcrop", "1"),
        ("outcrop", "2"),
        ("memcached", "1"),
        ("memcached", "2"),
    ]);
    for text in [&both.brief, &both.text] {
        assert_eq!(text.matches("memcached").count(), 1, "{text}");
    }
    assert_eq!(both.numbers.len(), 2, "{both:?}");
    let other = of(&[("outcrop", "1"), ("memcached", "2")]);
    for text in [&other.brief, &other.text] {
        assert!(text.contains("× memcached (server threads 2)"), "{text}");
    }
}
