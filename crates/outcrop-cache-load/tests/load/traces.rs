//! Traces that are replayed: request by request, and how much of them.

use std::sync::Arc;
use std::time::Duration;

use outcrop_cache_load::{CacheLoadError, LoadSpec, RequestSource};
use outcrop_workload::keyed::Trace;

use crate::driver::{both, run, spec};

#[test]
fn a_trace_is_replayed_entry_by_entry() {
    let text = "0,a,get,8,0,0\n0.01,a,set,8,40,0\n0.02,a,get,8,0,0\n0.03,b,set,9,100,60\n0.04,b,get,9,0,0\n\
                0.05,b,delete,9,0,0\n0.06,b,get,9,0,0\n0.07,a,set,8,7,0\n0.08,a,get,8,0,0\n";
    let trace = Arc::new(Trace::read(text.as_bytes()).unwrap());
    for server in both() {
        for keeps_times in [false, true] {
            let mut spec = LoadSpec {
                source: RequestSource::Trace {
                    trace: Arc::clone(&trace),
                    keeps_times,
                    is_whole: false,
                },
                sets_on_miss: false,
                connections: 1,
                flushes_first: true,
                ..spec(server.target.clone())
            };
            let report = run(&spec).unwrap();
            assert_eq!(report.problems(), Vec::<String>::new());
            assert_eq!((report.tally.hits, report.tally.misses), (3, 2));
            assert_eq!(report.tally.hit_bytes, 147);
            assert_eq!(report.is_open_loop, keeps_times);
            assert!(!keeps_times || report.duration_ns >= 80_000_000);
            assert_eq!(report.part_of_trace(), None);
            spec.arrival = "constant:10".parse().unwrap();
            assert!(matches!(
                run(&spec),
                Err(CacheLoadError::Spec { field: "arrival", .. })
            ));
        }
    }
}

#[test]
fn a_whole_trace_is_replayed_whatever_the_duration_and_a_part_of_one_is_counted() {
    let text: String = (0..40)
        .map(|number| format!("{:.2},k{number},set,8,10,0\n", f64::from(number) / 100.0))
        .collect();
    let trace = Arc::new(Trace::read(text.as_bytes()).unwrap());
    for server in both() {
        for is_whole in [false, true] {
            let spec = LoadSpec {
                source: RequestSource::Trace {
                    trace: Arc::clone(&trace),
                    keeps_times: true,
                    is_whole,
                },
                connections: 1,
                flushes_first: true,
                // The times of the trace take 0.4 s.
                duration: Duration::from_millis(50),
                ..spec(server.target.clone())
            };
            let report = run(&spec).unwrap();
            match is_whole {
                true => assert_eq!((report.tally.operations(), report.part_of_trace()), (40, None)),
                false => {
                    let (made, all) = report.part_of_trace().unwrap();
                    assert!(made < 40 && all == 40, "{made} of {all}");
                }
            }
        }
    }
}
