//! Findings on caches that intervals decide: medians of a few trials flip from run to run.

use outcrop_report::{Finding, Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::cache::{HIT_RATIO, MEMORY, POLICY, SERVER, SIMULATED_HIT_RATIO};
use outcrop_schema::metrics::Metric;

use crate::cache_fixture::{Builder, Factors, peers, policies};

fn finding(run: &RunView, id: &str) -> Finding {
    let findings = Report::of(run).layers.remove(0).findings;
    findings.into_iter().find(|finding| finding.id == id).expect(id)
}

/// A run of one policy at 1 MiB, with these values of a metric.
fn of(changes: Factors<'_>, values: &[(Metric, &[f64])]) -> Builder {
    let mut builder = Builder::new().cell("cache-policies", changes, (0.9, 0.9), 1e5, 6000.0);
    let trials = values[0].1.len();
    builder.run.trials.truncate(trials);
    for trial in &mut builder.run.trials {
        for (metric, values) in values {
            let mut own = trial
                .values
                .iter_mut()
                .filter(|value| value.metric == metric.name);
            own.next().expect("a trial has it").value = Some(values[trial.repetition as usize]);
        }
    }
    builder
}

fn simulated(hits: &[f64], simulated: &[f64]) -> Verdict {
    let changes: Factors<'_> = &[(&MEMORY, "1MiB"), (&POLICY, "sieve")];
    let run = of(changes, &[(HIT_RATIO, hits), (SIMULATED_HIT_RATIO, simulated)]).run;
    finding(&run, "cache-hits-as-simulated").verdict
}

#[test]
fn a_store_is_not_its_policy_only_where_the_whole_interval_is_beyond_a_point() {
    // One of two runs of the same plan had its median beyond, and the other had not.
    let steady = [0.9065, 0.9062, 0.9055];
    for trials in [[0.884, 0.887, 0.909], [0.884, 0.903, 0.909]] {
        let verdict = simulated(&trials, &steady);
        let Verdict::NotTestable(why) = &verdict else {
            panic!("{verdict:?}")
        };
        assert!(why.contains("sieve at 1 MiB: "), "{why}");
    }
    assert_eq!(simulated(&[0.904, 0.905, 0.909], &steady), Verdict::Holds);
    assert_eq!(simulated(&[0.884, 0.887, 0.889], &steady), Verdict::DoesNotHold);
    // One trial has no interval.
    for hits in [0.906, 0.8] {
        assert!(matches!(
            simulated(&[hits], &steady[..1]),
            Verdict::NotTestable(_)
        ));
    }
}

#[test]
fn a_policy_is_behind_another_only_where_the_whole_interval_is() {
    let verdict = |s3_fifo: &[f64]| {
        let of_policy = |policy, hits| {
            let changes: Factors<'_> = &[(&MEMORY, "1MiB"), (&POLICY, policy)];
            of(changes, &[(HIT_RATIO, hits)]).run
        };
        let mut run = of_policy("lru", &[0.90, 0.90, 0.90]);
        run.trials.extend(of_policy("s3-fifo", s3_fifo).trials);
        finding(&run, "cache-s3-fifo-beside-lru").verdict
    };
    assert_eq!(verdict(&[0.91, 0.92, 0.93]), Verdict::Holds);
    assert_eq!(verdict(&[0.87, 0.88, 0.89]), Verdict::DoesNotHold);
    assert!(matches!(verdict(&[0.87, 0.88, 0.92]), Verdict::NotTestable(_)));
}

#[test]
fn more_hits_than_a_peer_are_not_claimed_of_intervals_that_overlap() {
    let verdict = |ours: &[f64]| {
        let mut run = of(&[(&MEMORY, "1MiB")], &[(HIT_RATIO, ours)]).run;
        let peer: Factors<'_> = &[(&MEMORY, "1MiB"), (&SERVER, "memcached")];
        run.trials
            .extend(of(peer, &[(HIT_RATIO, &[0.90, 0.91, 0.92])]).run.trials);
        finding(&run, "cache-hits-more-than-peers").verdict
    };
    assert_eq!(verdict(&[0.93, 0.94, 0.95]), Verdict::Holds);
    assert_eq!(verdict(&[0.87, 0.88, 0.89]), Verdict::DoesNotHold);
    assert!(matches!(verdict(&[0.90, 0.93, 0.94]), Verdict::NotTestable(_)));
}

#[test]
fn throughput_and_latencies_beside_other_programs_come_with_a_warning_on_the_screen() {
    let mut run = policies().run;
    let warning = "Other programs used up to 66 % of the CPUs in 1 of ";
    let flowing = |run: &RunView| {
        let screen = Report::of(run).screen(200, false);
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!flowing(&run).contains("Other programs used"));
    // One cell's, not all: how many they are is said.
    let disturbed = run.trials[0].factors.clone();
    for trial in run.trials.iter_mut().filter(|trial| trial.factors == disturbed) {
        trial.others_cpu_share = Some(0.66);
    }
    assert!(flowing(&run).contains(warning), "{}", flowing(&run));
}

#[test]
fn cpu_time_beside_peers_is_not_judged_where_the_advice_on_it_is_withheld_as_others_used_the_cpus() {
    let mut run = peers().run;
    assert_eq!(finding(&run, "cache-less-cpu-than-peers").verdict, Verdict::Holds);
    for trial in &mut run.trials {
        trial.others_cpu_share = Some(0.39);
    }
    let Verdict::NotTestable(why) = finding(&run, "cache-less-cpu-than-peers").verdict else {
        panic!("it is judged")
    };
    assert!(why.contains("39 % of the CPUs"), "{why}");
    // What intervals do not depend on is judged all the same.
    assert_eq!(
        finding(&policies().run, "cache-hits-as-simulated").verdict,
        Verdict::Holds
    );
}
