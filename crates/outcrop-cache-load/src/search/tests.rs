//! The search on a server made of arithmetic: arrivals are drawn, time is counted, and nothing waits for a clock.

use outcrop_measure::Seed;

use super::*;
use crate::report::Tally;
use crate::verdict::{Failure, Shortage};

/// So many connections, each of which answers its requests one after the other in the same time.
struct Model {
    connections: usize,
    service_ns: u64,
    seed: Seed,
    steps: u64,
}

impl Model {
    /// The audit's server: 16 connections, 5.4 ms a request.
    fn new(seed: u64) -> Self {
        Self {
            connections: 16,
            service_ns: 5_400_000,
            seed: Seed(seed),
            steps: 0,
        }
    }

    fn capacity(&self) -> f64 {
        self.connections as f64 * 1e9 / self.service_ns as f64
    }

    /// What the driver would report of an open loop.
    fn measure(&mut self, objective: Objective, arrival: Arrival, duration: Duration) -> LoadReport {
        self.steps += 1;
        let end = duration.as_nanos() as u64;
        let mut tally = Tally::default();
        let mut free = vec![0_u64; self.connections];
        let schedule = arrival.schedule(self.seed.derive_index(self.steps)).unwrap();
        for due in schedule.take_while(|due| *due < end) {
            let next = (0..free.len()).min_by_key(|lane| free[*lane]).unwrap();
            let answered = due.max(free[next]) + self.service_ns;
            free[next] = answered;
            let latency = answered - due;
            tally.due += 1;
            tally.kinds[0].operations += 1;
            tally.kinds[0].latency.record(latency);
            let is_in_time = answered < end;
            tally.completed_in_time += u64::from(is_in_time);
            let is_good = is_in_time && latency < objective.limit.as_nanoseconds();
            tally.within_objective += u64::from(is_good);
            tally.waiting_half_way += u64::from(due < end / 2 && answered >= end / 2);
            tally.waiting_at_end += u64::from(!is_in_time);
        }
        let requested = arrival.per_second().map(Rate::per_second);
        LoadReport::of_open_loop(objective, requested, end, tally)
    }

    fn search(&mut self, objective: &str, least: Duration) -> SearchReport {
        let objective: Objective = objective.parse().unwrap();
        let ceiling = self.capacity();
        let closed_loop = self.measure(objective, "constant:100".parse().unwrap(), least);
        let mut measure = |rate: f64, duration| {
            let per_second = Rate::new(rate).unwrap();
            Ok(self.measure(objective, Arrival::Poisson { per_second }, duration))
        };
        let (steps, end) = bisect(objective, ceiling, least, &mut measure).unwrap();
        SearchReport {
            objective,
            closed_loop,
            steps,
            end,
        }
    }
}

#[test]
fn a_search_gives_the_same_rate_within_a_step_whatever_the_seed() {
    for objective in ["p95<50ms", "p50<20ms"] {
        let rates: Vec<f64> = (1..=20)
            .map(|seed| {
                let found = Model::new(seed).search(objective, Duration::from_secs(1));
                assert_eq!(found.end, SearchEnd::Found, "seed {seed}");
                found.best().unwrap().requested_per_second
            })
            .collect();
        let mut sorted = rates.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted[sorted.len() / 2];
        let capacity = Model::new(1).capacity();
        assert!(
            (middle / capacity - 1.0).abs() < RESOLUTION,
            "{middle} of {capacity}"
        );
        for rate in &rates {
            assert!((rate / middle - 1.0).abs() < RESOLUTION, "{objective}: {rates:?}");
        }
    }
}

#[test]
fn a_step_that_failed_says_why() {
    let found = Model::new(3).search("p95<50ms", Duration::from_secs(1));
    let refuted = found.refuted().unwrap();
    let mut tries = found
        .steps
        .iter()
        .filter(|step| step.requested_per_second == refuted.requested_per_second);
    let why = tries.find_map(|step| match step.verdict {
        Verdict::NotKept(why) => Some(why),
        _ => None,
    });
    let why = why.unwrap();
    assert!(
        matches!(why, Failure::Latency { .. } | Failure::Backlog { .. }),
        "{why:?}"
    );
    assert!(!why.to_string().is_empty());
}

#[test]
fn both_bounds_of_an_answer_are_tried_more_than_once() {
    for seed in 1..=20 {
        let found = Model::new(seed).search("p95<50ms", Duration::from_secs(1));
        let (best, refuted) = (found.best().unwrap(), found.refuted().unwrap());
        assert!(
            best.kept >= 2 && best.kept > best.not_kept,
            "seed {seed}: {best:?}"
        );
        assert!(
            refuted.not_kept >= 2 && refuted.not_kept > refuted.kept,
            "seed {seed}: {refuted:?}"
        );
    }
}

#[test]
fn a_rate_that_kept_the_objective_once_by_luck_is_no_answer() {
    let objective: Objective = "p95<50ms".parse().unwrap();
    let mut model = Model::new(1);
    let mut luck = 1;
    // The server bears 500 a second, and once, when it is asked for a little more, that too.
    let mut measure = |rate: f64, duration| {
        let is_lucky = luck > 0 && rate > 500.0 && rate < 600.0;
        luck -= i32::from(is_lucky);
        model.service_ns = if rate <= 500.0 || is_lucky {
            1_000_000
        } else {
            200_000_000
        };
        let per_second = Rate::new(rate).unwrap();
        Ok(model.measure(objective, Arrival::Poisson { per_second }, duration))
    };
    let (steps, end) = bisect(objective, 1_000.0, Duration::from_secs(1), &mut measure).unwrap();
    assert_eq!((luck, end), (0, SearchEnd::Found));
    let found = SearchReport {
        objective,
        closed_loop: Model::new(2).measure(
            objective,
            "constant:100".parse().unwrap(),
            Duration::from_secs(1),
        ),
        steps,
        end,
    };
    let (best, refuted) = (found.best().unwrap(), found.refuted().unwrap());
    assert!(
        best.requested_per_second <= 500.0 && best.requested_per_second > 480.0,
        "{best:?}"
    );
    assert!(
        refuted.requested_per_second > 500.0 && refuted.not_kept >= 2,
        "{refuted:?}"
    );
    assert_eq!((best.kept, best.not_kept), (2, 0));
    let mut above = found
        .steps
        .iter()
        .filter(|step| step.requested_per_second > 500.0);
    assert!(above.any(SearchStep::is_kept), "the luck was met");
}

#[test]
fn what_others_used_of_the_cpus_counts_in_the_steps_that_the_answer_rests_on() {
    let mut found = Model::new(1).search("p95<50ms", Duration::from_secs(1));
    assert_eq!(found.disturbance(), None, "no one knows");
    let bounds = [found.best(), found.refuted()].map(|bound| bound.unwrap().requested_per_second);
    let mut share = |at_bounds: f64, elsewhere: f64| {
        for step in &mut found.steps {
            let is_bound = bounds.contains(&step.requested_per_second);
            step.report.others_cpu_share = Some(if is_bound { at_bounds } else { elsewhere });
        }
        found.disturbance()
    };
    assert_eq!(share(0.02, 0.9), None);
    assert_eq!(share(0.4, 0.0), Some(0.4));
    assert_eq!(found.steps[0].report.disturbance(), None);
}

#[test]
fn a_percentile_that_needs_more_requests_gets_longer_steps_or_the_time_that_it_needs() {
    // 10,000 requests at 1,955 per second are five seconds.
    let found = Model::new(1).search("p99.9<500ms", Duration::from_secs(1));
    assert!(found.best().is_some(), "{:?}", found.end);
    assert!(found.steps[0].report.duration_ns > 5_000_000_000);
    // 100,000 requests at 20 per second are an hour and a half.
    let mut slow = Model::new(1);
    (slow.connections, slow.service_ns) = (1, 50_000_000);
    let found = slow.search("p99.99<500ms", Duration::from_secs(1));
    assert!(found.steps.is_empty());
    match found.end {
        SearchEnd::TooSlow { needed, longest, .. } => {
            assert!(needed > Duration::from_secs(5_000) && longest == LONGEST_STEP);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_keeps_an_objective_at_low_rates_alone_is_found() {
    // One connection of 5 ms: the mean wait at load ρ is ρ/(1 − ρ) × 2.5 ms, so that p95 < 8 ms asks for a low ρ.
    let mut one = Model::new(5);
    (one.connections, one.service_ns) = (1, 5_000_000);
    let found = one.search("p95<8ms", Duration::from_secs(1));
    let best = found.best().unwrap().requested_per_second;
    assert!(best > 5.0 && best < one.capacity() * 0.4, "{best}");
}

#[test]
fn where_no_rate_keeps_an_objective_the_search_says_so() {
    let found = Model::new(1).search("p50<1ms", Duration::from_secs(1));
    assert!(found.best().is_none());
    // Each step lower takes longer; whichever comes first ends it, and every rate that was tried failed.
    assert!(
        matches!(found.end, SearchEnd::NothingKept | SearchEnd::TooSlow { .. }),
        "{:?}",
        found.end
    );
    assert!(found.steps.iter().all(SearchStep::has_failed));
}

#[test]
fn goodput_is_a_part_of_throughput_and_an_overload_is_never_kept() {
    for (limit, duration_s) in [("p95<10s", 2), ("p95<10s", 20), ("p95<1s", 2), ("p95<200ms", 1)] {
        let objective: Objective = limit.parse().unwrap();
        for share in [1.1, 1.5, 2.0] {
            let mut model = Model::new(1);
            let per_second = Rate::new(model.capacity() * share).unwrap();
            let duration = Duration::from_secs(duration_s);
            let report = model.measure(objective, Arrival::Constant { per_second }, duration);
            let goodput = report.goodput_per_second().unwrap();
            assert!(goodput <= report.throughput_per_second());
            let verdict = report.verdict().unwrap();
            assert_ne!(verdict, Verdict::Kept, "{limit} {duration_s} s × {share}");
            // A second half of at least one limit shows that it is an overload.
            if duration >= time_needed(objective) {
                assert!(matches!(verdict, Verdict::NotKept(_)), "{verdict:?}");
            }
        }
    }
}

#[test]
fn a_sample_too_small_for_the_percentile_is_neither_kept_nor_failed() {
    let objective: Objective = "p99.9<500ms".parse().unwrap();
    let arrival: Arrival = "constant:1000".parse().unwrap();
    let report = Model::new(1).measure(objective, arrival, Duration::from_secs(1));
    let short = Shortage::Requests {
        seen: 1000,
        needed: 10_000,
    };
    assert_eq!(report.verdict(), Some(Verdict::Undecided(short)));
}

#[test]
fn a_latency_that_falls_at_twice_the_rate_is_no_answer_about_the_rate() {
    let objective: Objective = "p95<8ms".parse().unwrap();
    // Slow at first, as if something else ran; then as fast as ever.
    let mut model = Model::new(1);
    let mut calls = 0;
    let mut measure = |rate: f64, duration| {
        calls += 1;
        model.service_ns = if calls < 4 {
            9_000_000 - calls * 10_000
        } else {
            20_000_000
        };
        let per_second = Rate::new(rate).unwrap();
        Ok(model.measure(objective, Arrival::Poisson { per_second }, duration))
    };
    let (steps, end) = bisect(objective, 1_000.0, Duration::from_secs(1), &mut measure).unwrap();
    let closed_loop =
        Model::new(2).measure(objective, "constant:100".parse().unwrap(), Duration::from_secs(1));
    let found = SearchReport {
        objective,
        closed_loop,
        steps,
        end,
    };
    let (lowest, sooner) = found
        .contradiction()
        .expect("two steps that no overload explains");
    assert!(sooner.requested_per_second >= 2.0 * lowest.requested_per_second);
    // A server that only the rate slows down has none.
    for seed in 1..=20 {
        let found = Model::new(seed).search("p95<50ms", Duration::from_secs(1));
        assert!(found.contradiction().is_none(), "seed {seed}");
    }
}
