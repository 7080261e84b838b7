//! Advice on the load of a cache, and on its memory and threads, by figures that do not tell.

use outcrop_report::answer::Claim;
use outcrop_report::{Report, Verdict};
use outcrop_results::{Outcome, RunView, Value};
use outcrop_schema::cache::{
    ANSWERED, ARRIVAL, DRIVER_LIMIT, EVICTIONS, HIT_RATIO, ITEMS, LATENCY, MEMORY, OFFERED, POLICY,
    REFUSED_SHARE, REQUESTS, SERVER_THREADS, SERVICE_LATENCY, SHARED_CPU, WARM_UP_REQUESTS,
};
use outcrop_schema::lateness;
use outcrop_schema::metrics::Metric;
use outcrop_workload::keyed::VALUES_DIFFERED;

use crate::cache_fixture::{Builder, Factors};

fn claim(run: &RunView, topic: &str) -> Claim {
    let answer = Report::of(run).layers.remove(0).answer;
    let claim = answer.advice.into_iter().find(|claim| claim.topic == topic);
    claim.unwrap_or_else(|| panic!("no advice on {topic}"))
}

fn verdict(run: &RunView, id: &str) -> Verdict {
    let findings = Report::of(run).layers.remove(0).findings;
    let found = findings.into_iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}")).verdict
}

/// Open loops of these rates, each with its p99 in nanoseconds; the objective is a p99 below 1 ms.
fn loads(loads: &[(&str, f64, f64)]) -> RunView {
    let mut builder = Builder::new();
    for (arrival, rate, p99_ns) in loads {
        let changes: Factors<'_> = &[(&ARRIVAL, arrival)];
        builder = builder.cell("cache-load", changes, (0.9, 0.9), *rate, 6000.0);
        set(&mut builder.run, arrival, LATENCY.p99, Ok([*p99_ns; 3]));
    }
    builder.run
}

/// Gives the trials of an arrival these values of a metric, or none for this reason.
fn set(run: &mut RunView, arrival: &str, metric: Metric, values: Result<[f64; 3], &str>) {
    for trial in &mut run.trials {
        if trial.factors[ARRIVAL.name] == arrival {
            trial.values.retain(|value| value.metric != metric.name);
            trial.values.push(match values {
                Ok(values) => Value::measured(metric, values[trial.repetition as usize]),
                Err(reason) => Value::unavailable(metric, reason),
            });
        }
    }
}

const FEW: &str = "too few operations (54 of at least 1000) for a p99.";

#[test]
fn of_a_load_without_the_percentile_it_is_not_known_whether_it_met_the_objective() {
    let mut run = loads(&[("poisson:20%", 1e3, 5e5)]);
    set(&mut run, "poisson:20%", LATENCY.p99, Err(FEW));
    let open = claim(&run, "Load");
    assert!(
        open.brief.starts_with(
            "not decided: no offered load is known to meet p99<1ms; not known of 1.00 k/s: it has no p99 ("
        ),
        "{}",
        open.brief
    );
    assert!(open.text.contains("`--duration`"), "{}", open.text);
    let mut run = loads(&[("poisson:20%", 1e3, 5e5), ("poisson:60%", 3e3, 5e5)]);
    set(&mut run, "poisson:60%", LATENCY.p99, Err(FEW));
    let known = claim(&run, "Load");
    assert!(
        known.brief.contains("1.00 k/s meets") && known.brief.contains("; not known of 3.00 k/s"),
        "{}",
        known.brief
    );
}

#[test]
fn a_percentile_that_too_few_requests_do_not_give_comes_with_what_gives_it_and_another_one_without() {
    let arrival = "poisson:20%";
    let of = |reason: &str, requests: &str| {
        let mut run = loads(&[(arrival, 1e3, 5e5)]);
        set(&mut run, arrival, LATENCY.p99, Err(reason));
        for trial in &mut run.trials {
            trial
                .factors
                .insert(REQUESTS.name.to_owned(), requests.to_owned());
        }
        claim(&run, "Load").text
    };
    let by_time = of(FEW, "unlimited");
    assert!(by_time.contains("`--duration`"), "{by_time}");
    // A trial of so many requests takes no duration.
    let by_requests = of(FEW, "500");
    assert!(
        by_requests.contains("more requests (`requests` in the plan) give")
            && !by_requests.contains("--duration"),
        "{by_requests}"
    );
    let other = of("no get was answered", "unlimited");
    assert!(!other.contains("--duration"), "{other}");
}

#[test]
fn no_load_is_advised_below_which_a_measured_one_missed_the_objective() {
    let both = |low: f64| {
        claim(
            &loads(&[("poisson:2%", 4e3, low), ("poisson:40%", 8e4, 6e5)]),
            "Load",
        )
    };
    assert!(both(5e5).action.is_some());
    let missed = both(2e6);
    assert_eq!(missed.action, None);
    assert!(
        missed.brief.contains("80.0 k/s meets p99<1ms")
            && missed.brief.contains("; 4.00 k/s does not: its p99 is 2.00 ms"),
        "{}",
        missed.brief
    );
}

#[test]
fn no_load_is_advised_above_one_of_which_it_is_unknown_if_it_met_the_objective() {
    let mut run = loads(&[("poisson:2%", 4e3, 5e5), ("poisson:40%", 8e4, 6e5)]);
    set(&mut run, "poisson:2%", LATENCY.p99, Err(FEW));
    let known = claim(&run, "Load");
    assert_eq!(known.action, None);
    assert!(known.brief.contains("; not known of 4.00 k/s"), "{}", known.brief);
}

#[test]
fn what_the_lateness_of_the_driver_missed_is_not_said_to_be_missed_by_the_server() {
    let arrival = "poisson:40%";
    let with = |late_ns: f64, service_ns: f64| {
        let mut run = loads(&[(arrival, 8e4, 1.2e6)]);
        set(&mut run, arrival, lateness::P99, Ok([late_ns; 3]));
        set(&mut run, arrival, SERVICE_LATENCY.p50, Ok([2e5; 3]));
        set(&mut run, arrival, SERVICE_LATENCY.p99, Ok([service_ns; 3]));
        claim(&run, "Load").brief
    };
    let late = with(7e5, 6e5);
    assert!(
        late.starts_with("not decided: ") && late.contains("this machine issued its requests late"),
        "{late}"
    );
    for missed in [with(1e3, 6e5), with(7e5, 1.1e6)] {
        assert!(missed.starts_with("no offered load met p99<1ms"), "{missed}");
    }
}

#[test]
fn that_a_load_missed_its_objective_in_one_trial_is_not_decided() {
    let mut run = loads(&[("poisson:40%", 8e4, 2e6)]);
    assert!(claim(&run, "Load").is_decided());
    run.trials.truncate(1);
    let once = claim(&run, "Load");
    assert!(
        !once.is_decided() && once.brief.contains("one trial"),
        "{}",
        once.brief
    );
}

/// Two memory limits, with the hit ratios of the trials of each.
fn limits(first: [f64; 3], second: [f64; 3]) -> RunView {
    let mut builder = Builder::new();
    for memory in ["8MiB", "16MiB"] {
        let changes: Factors<'_> = &[(&MEMORY, memory), (&POLICY, "lru")];
        builder = builder.cell("cache-policies", changes, (0.5, 0.5), 1e5, 6000.0);
    }
    for trial in &mut builder.run.trials {
        let hits = if trial.factors[MEMORY.name] == "8MiB" {
            first
        } else {
            second
        };
        for value in &mut trial.values {
            if value.metric == HIT_RATIO.name {
                value.value = Some(hits[trial.repetition as usize]);
            }
        }
    }
    builder.run
}

#[test]
fn more_memory_adds_next_to_nothing_only_where_whole_intervals_say_so() {
    let sure = claim(&limits([0.500, 0.501, 0.502], [0.501, 0.502, 0.503]), "Memory");
    assert!(sure.action.is_some(), "{}", sure.brief);
    let open = claim(&limits([0.482, 0.500, 0.516], [0.472, 0.500, 0.525]), "Memory");
    assert_eq!(open.action, None);
    assert!(
        open.brief.starts_with("not decided: 8 MiB of memory with lru")
            && open
                .brief
                .contains("16 MiB may add a percentage point and more (+0.00 points"),
        "{}",
        open.brief
    );
    // Hit ratios that lie apart leave it open too.
    let apart = claim(&limits([0.940, 0.9405, 0.941], [0.948, 0.9495, 0.9505]), "Memory").text;
    assert!(
        apart.contains("the interval of the gain reaches a point (94.0 % at 8 MiB")
            && !apart.contains("overlap"),
        "{apart}"
    );
}

#[test]
fn a_memory_limit_without_a_hit_ratio_or_with_one_that_is_not_settled_leaves_memory_open() {
    let mut run = limits([0.5; 3], [0.6; 3]);
    assert!(claim(&run, "Memory").brief.contains("the hit ratio still rises"));
    for trial in &mut run.trials {
        trial.values.push(Value::measured(ITEMS, 10_000.0));
        trial.values.push(Value::measured(WARM_UP_REQUESTS, 100.0));
        assert!(trial.values.iter().any(|value| value.metric == EVICTIONS.name));
    }
    let unsettled = claim(&run, "Memory").brief;
    assert!(unsettled.contains("are not settled"), "{unsettled}");
    let changes: Factors<'_> = &[(&MEMORY, "32MiB"), (&POLICY, "lru")];
    let mut builder = Builder {
        run: limits([0.5; 3], [0.5; 3]),
    };
    builder = builder.cell("cache-policies", changes, (0.5, 0.5), 1e5, 6000.0);
    for trial in &mut builder.run.trials {
        if trial.factors[MEMORY.name] == "32MiB" {
            trial.values.retain(|value| value.metric != HIT_RATIO.name);
            trial
                .values
                .push(Value::unavailable(HIT_RATIO, "no get was answered"));
        }
    }
    let silent = claim(&builder.run, "Memory");
    assert_eq!(silent.action, None);
    assert!(
        silent.brief.starts_with("not decided: 32 MiB has no hit ratio"),
        "{}",
        silent.brief
    );
    assert!(
        silent
            .text
            .contains("and may be enough, or hit more than the others: "),
        "{}",
        silent.text
    );
}

#[test]
fn threads_of_a_server_are_not_judged_where_the_driver_set_the_throughput() {
    let mut builder = Builder::new();
    for (threads, throughput) in [("1", 1e5), ("2", 1.9e5)] {
        let changes: Factors<'_> = &[(&SERVER_THREADS, threads)];
        builder = builder.cell("cache-threads", changes, (0.9, 0.9), throughput, 6000.0);
    }
    assert!(claim(&builder.run, "Threads").is_decided());
    for (remark, why) in [
        (SHARED_CPU, "shared a CPU"),
        (DRIVER_LIMIT, "no CPU time to spare"),
    ] {
        let mut run = builder.run.clone();
        run.trials[0].notes.push(remark.remark("it is so"));
        let brief = claim(&run, "Threads").brief;
        assert!(
            brief.starts_with("not decided: ") && brief.contains(why),
            "{brief}"
        );
    }
}

#[test]
fn a_trial_that_failed_by_a_wrong_value_contradicts_that_values_were_verified() {
    let mut run = loads(&[("poisson:40%", 8e4, 5e5)]);
    assert_eq!(verdict(&run, "cache-values-verified"), Verdict::Holds);
    run.trials[1].outcome = Outcome::Failed {
        message: format!("memcached 1.6: 3 {VALUES_DIFFERED}, the first: key oc-1"),
    };
    assert_eq!(verdict(&run, "cache-values-verified"), Verdict::DoesNotHold);
}

#[test]
fn a_refusal_is_an_answer_to_a_request() {
    let arrival = "poisson:20%";
    let mut run = loads(&[(arrival, 1e4, 5e5)]);
    set(&mut run, arrival, OFFERED, Ok([1e4; 3]));
    set(&mut run, arrival, ANSWERED, Ok([0.6e4; 3]));
    assert_eq!(verdict(&run, "cache-open-loop-answered"), Verdict::DoesNotHold);
    set(&mut run, arrival, REFUSED_SHARE, Ok([0.4; 3]));
    assert_eq!(verdict(&run, "cache-open-loop-answered"), Verdict::Holds);
}
