//! What is filed where: against counts made the slow way.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::seed::Seed;
use outcrop_probe::clock::Clock;
use proptest::prelude::*;

use super::Recorder;
use crate::job::timeline::Timeline;
use crate::memory::{Buffer, BufferRegion};
use crate::slots::{Flight, Step};
use crate::spec::JobSpec;

fn spec(arrival: &str) -> JobSpec {
    JobSpec {
        arrival: arrival.parse().unwrap(),
        ..JobSpec::new(Seed(1))
    }
}

fn flight(buffer: Buffer, started: u64, due: u64, is_write: bool) -> Flight {
    Flight {
        buffer,
        region: 0,
        is_write,
        offset: 0,
        started,
        due,
        step: Step::Transfer,
    }
}

fn timeline(warm_up: u64, duration: u64, interval: u64) -> Timeline {
    Timeline {
        start: 1000,
        measure_from: 1000 + warm_up,
        measure_to: 1000 + warm_up + duration,
        interval_ticks: interval,
        interval_count: duration.div_ceil(interval),
    }
}

proptest! {
    #[test]
    fn a_closed_loop_files_each_request_under_the_interval_of_its_completion(
        warm_up in 0_u64..500, duration in 1_u64..5000, interval in 1_u64..2000,
        mut ends in proptest::collection::vec((1_u64..7000, any::<bool>()), 0..200),
    ) {
        ends.sort_unstable();
        let timeline = timeline(warm_up, duration, interval);
        let clock = Clock::new();
        let mut recorder = Recorder::new(&clock, timeline, &spec("closed"));
        let mut expected = vec![[0_u64; 2]; timeline.interval_count as usize];
        let mut drained = 0;
        for &(end, is_write) in &ends {
            let now = timeline.start + end;
            recorder.complete_closed(&flight(one_buffer(), timeline.start, 0, is_write), now);
            if now >= timeline.measure_to {
                drained += 1;
            } else if now >= timeline.measure_from {
                let index = (now - timeline.measure_from) / interval;
                expected[index as usize][usize::from(is_write)] += 1;
            }
        }
        let record = recorder.finish(timeline.measure_to + 10_000);
        let found: Vec<_> = record
            .intervals
            .iter()
            .map(|tally| [tally.reads.latency.count(), tally.writes.latency.count()])
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(record.drained.operations, drained);
        prop_assert_eq!(record.traffic.reads + record.traffic.writes, ends.len() as u64);
    }

    #[test]
    fn an_open_loop_counts_exactly_the_requests_that_were_due_in_the_measured_time(
        warm_up in 0_u64..500, duration in 1_u64..3000, interval in 1_u64..1000,
        requests in proptest::collection::vec((0_u64..4000, 0_u64..9000, any::<bool>()), 0..200),
    ) {
        let timeline = timeline(warm_up, duration, interval);
        let clock = Clock::new();
        let mut recorder = Recorder::new(&clock, timeline, &spec("constant:1000"));
        let mut requests: Vec<_> = requests
            .into_iter()
            .map(|(due, age, is_answered)| (timeline.start + due + age, timeline.start + due, is_answered))
            .collect();
        requests.sort_unstable();
        let (mut due_count, mut answered) = (0, 0);
        for &(now, due, is_answered) in &requests {
            recorder.take_due(due);
            let counts = due >= timeline.measure_from && due < timeline.measure_to;
            due_count += u64::from(counts);
            if is_answered {
                recorder.complete_open(&flight(one_buffer(), due, due, false), now);
                answered += u64::from(counts);
            } else {
                recorder.abandon(false, due, now);
            }
        }
        let record = recorder.finish(timeline.measure_to + 20_000);
        let sum = |of: fn(&super::Tally) -> u64| -> u64 {
            record.intervals.iter().map(|tally| of(&tally.reads)).sum()
        };
        prop_assert_eq!(record.due, due_count);
        prop_assert_eq!(sum(|tally| tally.latency.count()), due_count);
        prop_assert_eq!(sum(|tally| tally.unfinished), due_count - answered);
        let service = |tally: &super::Tally| tally.service.as_ref().map_or(0, LatencyHistogram::count);
        prop_assert_eq!(sum(service), answered);
        prop_assert!(record.intervals.len() as u64 <= timeline.interval_count);
    }

    #[test]
    fn the_depth_is_the_integral_of_what_was_in_flight_over_the_measured_time(
        warm_up in 0_u64..50, duration in 1_u64..200,
        steps in proptest::collection::vec((0_u64..40, 0_u32..9), 0..40),
    ) {
        let timeline = timeline(warm_up, duration, 1000);
        let clock = Clock::new();
        let mut recorder = Recorder::new(&clock, timeline, &spec("closed"));
        let (mut now, mut naive) = (timeline.start, 0);
        for (length, in_flight) in steps {
            for tick in now..now + length {
                let is_measured = tick >= timeline.measure_from && tick < timeline.measure_to;
                naive += u64::from(is_measured) * u64::from(in_flight);
            }
            now += length;
            recorder.observe_depth(now, in_flight);
        }
        prop_assert_eq!(recorder.finish(now).depth_ticks, naive);
    }
}

fn one_buffer() -> Buffer {
    BufferRegion::map(1, 1).unwrap().buffers().next().unwrap()
}
