//! What no prediction may exceed, and what it gives exactly.

use outcrop_predict::{Application, Component, Curve, Direction, Method, Place, Split, Station, predict};
use proptest::prelude::*;

/// A program with both parts of CPU time, one block each way per operation.
fn application(clients: f64, throughput: Option<f64>, cpu_ns: f64, wait_ns: f64, cores: f64) -> Application {
    Application {
        name: "store".to_owned(),
        clients: Some(clients),
        throughput,
        cpu_ns: Some(Split {
            foreground: cpu_ns,
            background: 0.1 * cpu_ns,
        }),
        device_wait_ns: Some(wait_ns),
        cores: Some(cores),
        block_size_bytes: Some(16384.0),
        decompressed: Some(Split {
            foreground: 0.7,
            background: 0.2,
        }),
        compressed: Some(Split {
            foreground: 0.0,
            background: 0.3,
        }),
        ..Application::default()
    }
}

fn component(place: Place, compress_ns: f64, decompress_ns: f64, units: f64) -> Component {
    let way = |ns| Direction {
        latency: Some(Curve::constant(ns).unwrap()),
        throughput: None,
        units: Some(units),
    };
    Component {
        name: "engine".to_owned(),
        place,
        compress: way(compress_ns),
        decompress: way(decompress_ns),
        ..Component::default()
    }
}

#[test]
fn with_one_client_the_prediction_is_exact() {
    // 40 µs of CPU and 60 µs of device; 0.7 blocks of 20 µs each.
    let own = application(1.0, Some(10_000.0), 40_000.0, 60_000.0, 2.0);
    for place in [Place::Cpu, Place::Accelerator] {
        let found = predict(&own, Some(&component(place, 5_000.0, 20_000.0, 4.0)), None).unwrap();
        assert!((found.throughput - 1e9 / 114_000.0).abs() < 1e-6, "{found:?}");
        assert!((found.latency_ns - 114_000.0).abs() < 1e-6);
        assert_eq!((found.binding, found.method), (Station::Clients, Method::Ratio));
        let unmeasured = Application {
            throughput: None,
            ..own.clone()
        };
        let solved = predict(
            &unmeasured,
            Some(&component(place, 5_000.0, 20_000.0, 4.0)),
            Some(1),
        )
        .unwrap();
        assert_eq!(solved.method, Method::Network);
        assert!((solved.throughput - found.throughput).abs() < 1e-6, "{solved:?}");
    }
}

#[test]
fn the_station_that_is_full_is_named() {
    let busy = application(64.0, Some(600_000.0), 40_000.0, 60_000.0, 64.0);
    let slow = predict(
        &busy,
        Some(&component(Place::Accelerator, 5_000.0, 20_000.0, 2.0)),
        None,
    )
    .unwrap();
    assert_eq!(slow.binding, Station::Decompress);
    assert!((slow.throughput - 2.0 / 20_000.0 / 0.9 * 1e9).abs() < 1e-6);
    let on_cores = predict(
        &busy,
        Some(&component(Place::Cpu, 900_000.0, 20_000.0, 1.0)),
        None,
    )
    .unwrap();
    assert_eq!(on_cores.binding, Station::Cpu);
    assert!((on_cores.cpu_share.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn units_that_both_directions_share_are_one_station() {
    let busy = application(64.0, Some(600_000.0), 40_000.0, 60_000.0, 64.0);
    let mut engine = component(Place::Accelerator, 30_000.0, 20_000.0, 4.0);
    engine.is_shared = true;
    let shared = predict(&busy, Some(&engine), None).unwrap();
    assert_eq!(shared.binding, Station::Component);
    assert!((shared.throughput - 4e9 / (0.9 * 20_000.0 + 0.3 * 30_000.0)).abs() < 1e-6);
}

proptest! {
    #[test]
    fn no_prediction_exceeds_its_bounds_nor_falls_with_a_faster_component(
        clients in 1u32..400,
        share in 0.05f64..1.0,
        cpu in 500.0f64..2e5,
        wait in 0.0f64..1e6,
        cores in 1u32..128,
        latency in 100.0f64..1e6,
        units in 1u32..64,
        place in 0usize..3,
        is_measured in any::<bool>(),
    ) {
        let alone = f64::from(clients) / (cpu + wait) * 1e9;
        let throughput = is_measured.then_some(alone * share);
        let own = application(f64::from(clients), throughput, cpu, wait, f64::from(cores));
        let place = Place::ALL[place].0;
        let found = predict(&own, Some(&component(place, latency / 2.0, latency, f64::from(units))), None).unwrap();
        let with = cpu + wait + 0.7 * latency;
        prop_assert!(found.throughput <= f64::from(clients) / with * 1e9 * (1.0 + 1e-9));
        for load in &found.stations {
            prop_assert!(found.throughput <= 1e9 / load.demand_ns * (1.0 + 1e-9), "{load:?}");
        }
        prop_assert!(found.throughput > 0.0 && found.throughput.is_finite());
        prop_assert!(found.from_figures.0 <= found.throughput && found.throughput <= found.from_figures.1);
        let faster = component(place, latency / 4.0, latency / 2.0, f64::from(units));
        let faster = predict(&own, Some(&faster), None).unwrap();
        prop_assert!(faster.throughput >= found.throughput * (1.0 - 1e-9));
    }
}

#[test]
fn nothing_is_predicted_of_a_drive_where_nobody_knows_what_reaches_it() {
    let own = Application {
        device_unknown: Some("the device has no counters".to_owned()),
        ..application(4.0, Some(50_000.0), 40_000.0, 10_000.0, 4.0)
    };
    let drive = component(Place::Drive, 5_000.0, 2_000.0, 4.0);
    let refused = predict(&own, Some(&drive), None).unwrap_err();
    assert_eq!(
        refused.missing,
        ["the bytes of an operation that reach the drive (the device has no counters)"]
    );
    // What works on the blocks themselves needs no device.
    let card = component(Place::Accelerator, 5_000.0, 2_000.0, 4.0);
    let found = predict(&own, Some(&card), None).unwrap();
    assert!(found.throughput <= found.at_most);
    // What a file does not say is assumed, and said.
    let by_hand = Application {
        device_unknown: None,
        ..own
    };
    let found = predict(&by_hand, Some(&drive), None).unwrap();
    assert!(
        found
            .assumptions
            .iter()
            .any(|one| one.contains("each block counts as one"))
    );
}
