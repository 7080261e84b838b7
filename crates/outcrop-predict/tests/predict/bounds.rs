//! What no prediction may exceed, and what it gives exactly.

use outcrop_predict::{
    Application, Bandwidth, Component, Curve, Device, Direction, Method, Place, Split, Station, predict,
};
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
        wake_ns: Some(0.0),
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

#[test]
fn full_cores_stay_full_while_a_card_is_waited_for() {
    // 64 clients keep 16 cores 98 % busy; a card has a unit for each of them.
    let own = Application {
        decompressed: Some(Split {
            foreground: 1.0,
            background: 0.0,
        }),
        compressed: None,
        cpu_ns: Some(Split {
            foreground: 100_000.0,
            background: 0.0,
        }),
        ..application(64.0, Some(156_000.0), 100_000.0, 0.0, 16.0)
    };
    let card = component(Place::Accelerator, 100_000.0, 100_000.0, 64.0);
    let of = |clients| predict(&own, Some(&card), Some(clients)).unwrap().throughput;
    let (less, here, more) = (of(63), of(64), of(65));
    assert!(less <= here && here <= more, "{less} {here} {more}");
    assert!((here / 156_000.0 - 1.0).abs() < 0.01, "{here}");
    // Where nobody knows how long an operation takes alone, the interval reaches that far.
    let by_load = Application {
        device_wait_ns: None,
        ..own
    };
    let found = predict(&by_load, Some(&card), None).unwrap();
    assert!(found.throughput < 130_000.0, "{found:?}");
    assert!((found.from_figures.1 / 160_000.0 - 1.0).abs() < 1e-9, "{found:?}");
    assert!(
        found
            .assumptions
            .iter()
            .any(|one| one.starts_with("the cores were full")),
        "{found:?}"
    );
}

#[test]
fn a_drive_that_was_full_of_writes_is_relieved_by_what_compression_saves() {
    // 4 KiB an operation at 410 MB/s are 100 k/s.
    let full = Application {
        clients: Some(16.0),
        throughput: Some(100_000.0),
        cpu_ns: Some(Split {
            foreground: 20_000.0,
            background: 10_000.0,
        }),
        cores: Some(64.0),
        decompressed: None,
        compressed: Some(Split {
            foreground: 0.0,
            background: 0.25,
        }),
        device_wait_ns: None,
        device_writes: Some(Device {
            requests: Split {
                foreground: 0.0,
                background: 0.25,
            },
            size_bytes: 16384.0,
        }),
        bandwidth: Bandwidth {
            read: None,
            write: Some(410e6),
        },
        ..application(16.0, None, 0.0, 0.0, 1.0)
    };
    let mut codec = component(Place::Cpu, 50_000.0, 20_000.0, 1.0);
    codec.ratio = Some(Curve::constant(2.5).unwrap());
    let found = predict(&full, Some(&codec), None).unwrap();
    let allowed = 2.5 * 410e6 / 4096.0;
    assert!(found.throughput > 1.5 * 100_000.0, "{found:?}");
    assert!(found.throughput <= allowed, "{found:?}");
    // How much of it comes back is not known.
    assert!((found.from_figures.0 / 100_000.0 - 1.0).abs() < 1e-9, "{found:?}");
    assert!(
        found
            .assumptions
            .iter()
            .any(|one| one.starts_with("writes to the drive limited")),
        "{found:?}"
    );
    // Where it is known how long an operation takes alone, the next station limits.
    let alone = Application {
        unloaded_latency_ns: Some(30_000.0),
        ..full.clone()
    };
    let found = predict(&alone, Some(&codec), None).unwrap();
    assert!((found.throughput / allowed - 1.0).abs() < 0.01, "{found:?}");
    // What saves nothing relieves nothing.
    let packed = component(Place::Cpu, 50_000.0, 20_000.0, 1.0);
    let found = predict(&full, Some(&packed), None).unwrap();
    assert!((found.throughput / 100_000.0 - 1.0).abs() < 0.01, "{found:?}");
}

#[test]
fn hostile_numbers_of_cores_take_no_memory() {
    let own = application(4.0, Some(10_000.0), 40_000.0, 60_000.0, 1e17);
    let card = component(Place::Accelerator, 5_000.0, 20_000.0, 1e17);
    assert!(
        predict(&own, Some(&card), Some(8))
            .unwrap()
            .throughput
            .is_finite()
    );
}

proptest! {
    #[test]
    fn more_clients_do_not_less_and_the_measured_number_is_no_exception(
        clients in 2u32..200,
        share in 0.3f64..1.0,
        cpu in 1e3f64..2e5,
        wait in 0.0f64..2e5,
        cores in 1u32..64,
        latency in 100.0f64..2e5,
        units in 1u32..64,
        place in 0usize..3,
    ) {
        // As many as the stations allow at most: figures that contradict each other fit no network.
        let alone = f64::from(clients) / (cpu + wait) * 1e9;
        let by_cores = f64::from(cores) / (1.1 * cpu) * 1e9;
        let own = application(f64::from(clients), Some(share * alone.min(by_cores)), cpu, wait, f64::from(cores));
        let place = Place::ALL[place].0;
        let engine = component(place, latency / 2.0, latency, f64::from(units));
        let of = |clients| predict(&own, Some(&engine), Some(clients)).unwrap().throughput;
        let (less, here, more) = (of(clients - 1), of(clients), of(clients + 1));
        prop_assert!(less <= here * (1.0 + 1e-9) && here <= more * (1.0 + 1e-9), "{less} {here} {more}");
    }

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
