//! Keyed requests against the figures that are derived from the published model.

use outcrop_measure::{Rate, Seed};
use outcrop_workload::keyed::distribution::{ETC_INTER_ARRIVAL_US, ETC_SMALL_VALUE_SHARES};
use outcrop_workload::keyed::{
    KEY_PREFIX, KeyPopularity, KeySize, KeySpace, KeyedWorkload, Preset, RequestKind, RequestMix, Trace,
    ValueSize, Values,
};
use outcrop_workload::{Arrival, Content, WorkloadError};
use proptest::prelude::*;

const KEYS: u64 = 1_000_000;

fn space(key_size: KeySize, value_size: ValueSize) -> KeySpace {
    KeySpace::new(KEYS, key_size, value_size).unwrap()
}

fn sorted(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sizes: Vec<usize> = sizes.collect();
    sizes.sort_unstable();
    sizes
}

fn mean(sizes: &[usize]) -> f64 {
    sizes.iter().sum::<usize>() as f64 / sizes.len() as f64
}

#[test]
fn etc_keys_have_the_derived_mean_median_and_99th_percentile() {
    let of = KeySize::Etc;
    assert!((of.quantile(0.5) - 33.85).abs() < 0.005);
    assert!((of.quantile(0.99) - 76.28).abs() < 0.005);
    let space = space(of, ValueSize::Etc);
    let sizes = sorted((0..KEYS).map(|id| space.key_size_bytes(id)));
    // The standard error of the mean is 0.014 at a deviation of 14.
    assert!((mean(&sizes) - 36.22).abs() < 0.07, "{}", mean(&sizes));
    assert_eq!(
        (sizes[KEYS as usize / 2], sizes[KEYS as usize * 99 / 100]),
        (34, 76)
    );
    assert!(*sizes.last().unwrap() <= 250);
}

#[test]
fn etc_values_have_the_derived_mean_median_and_percentiles() {
    let of = ValueSize::Etc;
    for (quantile, size) in [(0.5, 39.2), (0.9, 520.0), (0.99, 1899.0)] {
        let found = of.quantile(quantile);
        assert!((found / size - 1.0).abs() < 0.002, "{quantile}: {found}");
    }
    let space = space(KeySize::Etc, of);
    let sizes = sorted((0..KEYS).map(|id| space.value_size_bytes(id)));
    assert!((mean(&sizes) / 194.4 - 1.0).abs() < 0.01, "{}", mean(&sizes));
    assert!((sizes[KEYS as usize / 2] as f64 - 39.2).abs() < 1.5);
    assert!((sizes[KEYS as usize * 9 / 10] as f64 / 520.0 - 1.0).abs() < 0.02);
    assert!((sizes[KEYS as usize * 99 / 100] as f64 / 1899.0 - 1.0).abs() < 0.03);
}

#[test]
fn small_etc_values_come_as_often_as_published() {
    assert!((ETC_SMALL_VALUE_SHARES.iter().sum::<f64>() - 0.441_55).abs() < 1e-9);
    let space = space(KeySize::Etc, ValueSize::Etc);
    let mut seen = [0_u32; 15];
    for id in 0..KEYS {
        if let Some(seen) = seen.get_mut(space.value_size_bytes(id)) {
            *seen += 1;
        }
    }
    for (size, (seen, share)) in seen.iter().zip(ETC_SMALL_VALUE_SHARES).enumerate() {
        let deviation = (KEYS as f64 * share).sqrt();
        // Below a cell of the table (1 in 16384) shares are rounded to whole cells.
        let cell = KEYS as f64 / 16384.0;
        assert!(
            (f64::from(*seen) - KEYS as f64 * share).abs() < 5.0 * deviation + cell,
            "{size} B: {seen}"
        );
    }
}

#[test]
fn etc_arrivals_have_the_derived_mean_and_keep_it_when_rescaled() {
    assert!((ETC_INTER_ARRIVAL_US.mean() - 18.97).abs() < 0.005);
    for per_second in [1e6 / 18.968_75, 1000.0, 250_000.0] {
        let arrival = Arrival::Etc {
            per_second: Rate::new(per_second).unwrap(),
        };
        let starts: Vec<u64> = arrival.schedule(Seed(3)).unwrap().take(400_000).collect();
        let mean_ns = starts[399_999] as f64 / 400_000.0;
        assert!((mean_ns * per_second / 1e9 - 1.0).abs() < 0.01, "{mean_ns}");
    }
}

#[test]
fn jobs_take_turns_at_the_arrivals_of_etc() {
    let arrival: Arrival = "etc:7k".parse().unwrap();
    let mut union: Vec<u64> = (0..3)
        .flat_map(|job| arrival.schedule_of_job(job, 3, Seed(0)).unwrap().take(100))
        .collect();
    union.sort_unstable();
    assert_eq!(
        union,
        arrival.schedule(Seed(0)).unwrap().take(300).collect::<Vec<_>>()
    );
    assert_eq!(arrival.to_string(), "etc:7k/s");
}

/// The share of requests for the keys of `range`, in thousandths of all keys.
fn share(popularity: KeyPopularity, key_count: u64, range: std::ops::Range<u64>) -> f64 {
    let workload = KeyedWorkload {
        popularity,
        ..KeyedWorkload::of(Preset::Etc)
    };
    let space = KeySpace::new(key_count, KeySize::Etc, ValueSize::Etc).unwrap();
    let draws = 400_000;
    let inside = workload
        .requests(&space, Seed(5))
        .take(draws)
        .filter(|request| range.contains(&(request.key_id * 1000 / key_count)))
        .count();
    inside as f64 / draws as f64
}

#[test]
fn etc_popularity_passes_through_the_published_points() {
    for key_count in [1000, 100_000, 1 << 30] {
        let of = |range| share(KeyPopularity::Etc, key_count, range);
        assert!((of(0..10) - 0.55).abs() < 0.005);
        assert!((of(0..100) - 0.90).abs() < 0.005);
        assert!((of(500..1000) - 0.01).abs() < 0.001);
    }
}

#[test]
fn half_of_the_keys_of_etc_lite_get_a_hundredth_of_the_requests() {
    assert!((share(KeyPopularity::EtcLite, 10_000, 500..1000) - 0.01).abs() < 0.001);
    assert!((share(KeyPopularity::EtcLite, 10_000, 0..250) - 0.495).abs() < 0.005);
}

#[test]
fn etc_lite_has_its_recipes_sizes() {
    let space = space(KeySize::EtcLite, ValueSize::EtcLite);
    let keys = sorted((0..KEYS).map(|id| space.key_size_bytes(id)));
    let up_to_40 = keys.iter().filter(|size| **size <= 40).count();
    assert!((up_to_40 as f64 / KEYS as f64 - 0.7).abs() < 0.003);
    assert_eq!(keys.last(), Some(&80));
    let values = sorted((0..KEYS).map(|id| space.value_size_bytes(id)));
    let up_to_10 = values.iter().filter(|size| **size <= 10).count();
    assert!((up_to_10 as f64 / KEYS as f64 - 0.5).abs() < 0.003);
    assert_eq!((values.first(), values.last()), (Some(&1), Some(&500)));
}

#[test]
fn a_mix_draws_its_parts() {
    for (text, parts) in [
        ("30:1", [30, 1, 0]),
        ("30:1:15", [30, 1, 15]),
        ("50:22:1", [50, 22, 1]),
    ] {
        let mix: RequestMix = text.parse().unwrap();
        assert_eq!((mix.parts(), mix.to_string()), (parts, text.to_owned()));
        let workload = KeyedWorkload {
            mix,
            ..KeyedWorkload::of(Preset::Etc)
        };
        let space = KeySpace::new(10, KeySize::Etc, ValueSize::Etc).unwrap();
        let mut seen = [0_u32; 3];
        for request in workload.requests(&space, Seed(1)).take(100_000) {
            seen[request.kind as usize] += 1;
        }
        let sum: u32 = parts.iter().sum();
        for (kind, seen) in RequestKind::ALL.into_iter().zip(seen) {
            let wanted = 1e5 * f64::from(parts[kind as usize]) / f64::from(sum);
            assert!(
                (f64::from(seen) - wanted).abs() <= 5.0 * wanted.sqrt(),
                "{text} {seen}"
            );
        }
    }
}

#[test]
fn spellings_of_keyed_workloads_read_back() {
    for text in ["etc", "etc-lite", "zipfian:0.99", "uniform"] {
        assert_eq!(text.parse::<KeyPopularity>().unwrap().to_string(), text);
    }
    for text in ["etc", "etc-lite", "fixed:64", "fixed:1KiB"] {
        assert_eq!(text.parse::<ValueSize>().unwrap().to_string(), text);
    }
    for text in ["etc", "etc-lite"] {
        assert_eq!(text.parse::<Preset>().unwrap().to_string(), text);
    }
    for wrong in ["zipf:0.99", "zipfian:-1", "", "etc:1"] {
        assert!(wrong.parse::<KeyPopularity>().is_err(), "{wrong}");
    }
    for wrong in ["30", "0:0", "1:2:3:4", "a:b", "-1:2"] {
        assert!(wrong.parse::<RequestMix>().is_err(), "{wrong}");
    }
    for wrong in ["fixed:0", "fixed:251", "fixed"] {
        assert!(wrong.parse::<KeySize>().is_err(), "{wrong}");
    }
}

#[test]
fn too_short_a_fixed_key_is_refused() {
    let fixed = "fixed:4".parse().unwrap();
    let refused = KeySpace::new(10_000, fixed, ValueSize::Etc);
    assert!(matches!(refused, Err(WorkloadError::OutOfRange { .. })));
    assert!(KeySpace::new(64, fixed, ValueSize::Etc).is_ok());
    assert!(KeySpace::new(0, fixed, ValueSize::Etc).is_err());
}

#[test]
fn keys_differ_and_can_be_sent_in_every_protocol() {
    let space = KeySpace::new(70_000, KeySize::EtcLite, ValueSize::Etc).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for id in 0..70_000 {
        let mut key = Vec::new();
        space.write_key(id, &mut key);
        assert_eq!(key.len(), space.key_size_bytes(id));
        assert!(key.starts_with(KEY_PREFIX.as_bytes()));
        assert!(
            key.iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
        );
        assert!(seen.insert(key));
    }
}

proptest! {
    #[test]
    fn values_are_recognised_and_nothing_else_is(
        stamp in any::<u64>(), other in any::<u64>(), size in 0..5000_usize, flip in any::<prop::sample::Index>(),
        content in prop_oneof![Just("zeros"), Just("random"), Just("compressible:4")],
    ) {
        let values = Values::new(content.parse::<Content>().unwrap(), 5000);
        let mut bytes = Vec::new();
        values.write(stamp, size, &mut bytes);
        prop_assert_eq!(bytes.len(), size);
        prop_assert!(values.matches(stamp, &bytes));
        if size >= 8 && other != stamp {
            prop_assert!(!values.matches(other, &bytes));
        }
        if size > 0 {
            let at = flip.index(size);
            bytes[at] ^= 1;
            prop_assert!(!values.matches(stamp, &bytes));
        }
    }

    #[test]
    fn no_text_makes_a_trace_panic(text in "[0-9a-z,.\n\"-]{0,200}") {
        let _ = Trace::read(text.as_bytes());
    }
}

#[test]
fn a_trace_is_read_with_its_keys_numbered() {
    let text =
        "time,key,op,key_size,value_size,ttl\n10.5,a,get,3,0,0\n10.75,b,set,1,7,60\n11,a,delete,3,0,0\n";
    let trace = Trace::read(text.as_bytes()).unwrap();
    assert_eq!((trace.key_count(), trace.longest_value_bytes()), (2, 7));
    assert_eq!((trace.key(0), trace.key(1)), (&b"a.."[..], &b"b"[..]));
    let second = trace.entries()[1];
    assert_eq!(
        (second.at_ns, second.kind, second.key_id),
        (250_000_000, RequestKind::Set, 1)
    );
    assert_eq!((second.value_size_bytes, second.ttl_s), (7, 60));
}

#[test]
fn a_trace_of_keys_or_of_keys_and_sizes_is_one_of_gets() {
    let keys = Trace::read("rock\nsand\nrock\n".as_bytes()).unwrap();
    assert_eq!((keys.entries().len(), keys.key_count()), (3, 2));
    assert!(!keys.has_times() && !keys.has_sizes());
    let named = Trace::read("key\nrock\n".as_bytes()).unwrap();
    assert_eq!(named.entries().len(), 1);
    let sized = Trace::read("time,key,size\n0.5,rock,100\n1,sand,7\n".as_bytes()).unwrap();
    assert!(sized.has_times() && sized.has_sizes());
    let sizes = sized
        .entries()
        .iter()
        .map(|entry| (entry.kind, entry.value_size_bytes));
    assert_eq!(
        sizes.collect::<Vec<_>>(),
        [(RequestKind::Get, 100), (RequestKind::Get, 7)]
    );
    let first = Trace::read_first("a\nb\nc\n".as_bytes(), 2).unwrap();
    assert_eq!(first.entries().len(), 2);
    for (text, said) in [("0,a\n", "time, key, size"), ("0,a,3\n1,b\n", "first line has 3")] {
        let error = Trace::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_line_or_a_quotation_without_an_end_is_refused_before_it_fills_the_memory() {
    for byte in [b'x', b'"', b'\0'] {
        let error = Trace::read(std::io::repeat(byte)).unwrap_err().to_string();
        assert_eq!(error, "line 1 of the trace: it has more than 1 MiB");
    }
    let opened = std::io::Read::chain(&b"\"a"[..], std::io::repeat(b'\n'));
    assert!(Trace::read(opened).is_err());
    // Many lines, each of which has an end, are another matter.
    let lines = "rock\n".repeat(1 << 20);
    assert_eq!(Trace::read(lines.as_bytes()).unwrap().key_count(), 1);
}

#[test]
fn a_get_without_a_size_has_the_one_that_is_known_of_its_key() {
    let text = "0,a,get,1,0,0\n1,a,set,1,40,0\n2,a,get,1,0,0\n3,a,set,1,9,0\n4,a,get,1,0,0\n5,b,get,1,0,0\n";
    let trace = Trace::read(text.as_bytes()).unwrap();
    let sizes: Vec<u32> = trace
        .entries()
        .iter()
        .map(|entry| entry.value_size_bytes)
        .collect();
    assert_eq!(sizes, [40, 40, 40, 9, 9, 0]);
}

#[test]
fn a_get_without_a_time_to_live_has_that_of_its_keys_sets() {
    let text = "0,a,get,1,0,0\n1,a,set,1,4,60\n2,a,get,1,0,0\n3,a,delete,1,0,0\n4,a,get,1,0,0\n5,a,set,1,4,0\n6,a,get,1,0,0\n\
                7,a,get,1,0,9\n8,a,get,1,0,0\n9,b,get,1,0,0\n";
    let trace = Trace::read(text.as_bytes()).unwrap();
    let ttls: Vec<u32> = trace.entries().iter().map(|entry| entry.ttl_s).collect();
    assert_eq!(ttls, [60, 60, 60, 0, 60, 0, 0, 9, 0, 0]);
}

#[test]
fn times_that_cannot_be_seconds_are_refused_and_those_of_any_other_origin_are_not() {
    for first in ["1795332180000", "1795332180000000", "1795332180000000000"] {
        for rest in ["a,get,1,1,0", "a,10"] {
            let error = Trace::read(format!("{first},{rest}\n").as_bytes()).unwrap_err();
            assert!(error.to_string().contains("to seconds"), "{error}");
        }
    }
    for first in ["-5", "0", "86400.25", "1795332180", "1795332180.125"] {
        assert!(
            Trace::read(format!("{first},a,10\n").as_bytes()).is_ok(),
            "{first}"
        );
    }
}

#[test]
fn a_time_to_live_that_is_too_large_is_refused_with_the_limit() {
    let read = |ttl: &str| Trace::read(format!("1,a,set,1,1,{ttl}\n").as_bytes());
    assert!(read("4294967295").is_ok());
    let error = read("4294967296").unwrap_err().to_string();
    let limit = "a ttl of 4294967296 s is above the limit of 4294967295 s";
    assert!(error.contains(limit), "{error}");
    let error = read("1.5").unwrap_err().to_string();
    assert!(error.contains("is not ttl in whole seconds"), "{error}");
}

#[test]
fn a_wrong_line_of_a_trace_is_named() {
    for (text, line) in [
        ("", 1),
        ("1,a,get,3,0\n", 1),
        ("1,a,get,3,0,0\n0.5,a,get,3,0,0\n", 2),
        ("1,a,get,3,0,0\n2,a,get,3,0,0\n1.5,a,get,3,0,0\n", 3),
        ("1,a,incr,3,0,0\n", 1),
        ("1,a b,get,3,0,0\n", 1),
        ("1,a,get,251,0,0\n", 1),
        ("time,key,op,key size,value size,ttl\nx,a,get,1,0,0\n", 2),
    ] {
        match Trace::read(text.as_bytes()) {
            Err(WorkloadError::Trace { line: seen, .. }) => assert_eq!(seen, line, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}
