//! The exact solution of a network against a simulation and its bounds.

use crate::simulation;
use outcrop_predict::Network;
use proptest::prelude::*;

/// Time of an operation at each station, and its servers.
type Stations<'a> = &'a [(f64, u32)];

fn network(delay_ns: f64, stations: Stations<'_>) -> Network {
    let network = Network::with_delay(delay_ns);
    stations.iter().fold(network, |network, (demand, servers)| {
        network.with_station(*demand, *servers)
    })
}

#[test]
fn the_exact_solution_is_within_three_percent_of_a_simulation() {
    let cases: [(u32, f64, Stations<'_>); 7] = [
        (1, 10_000.0, &[(5_000.0, 1), (8_000.0, 2)]),
        (4, 10_000.0, &[(5_000.0, 1)]),
        (8, 20_000.0, &[(15_000.0, 4), (3_000.0, 1)]),
        (32, 50_000.0, &[(40_000.0, 16), (12_000.0, 10)]),
        (64, 5_000.0, &[(30_000.0, 24), (27_000.0, 30), (900.0, 1)]),
        (100, 0.0, &[(20_000.0, 48), (9_000.0, 10)]),
        (200, 1_000_000.0, &[(4_000.0, 1)]),
    ];
    for (seed, (clients, delay, stations)) in (17..).zip(cases) {
        let simulated = simulation::throughput(clients, delay, stations, 200_000, seed);
        let exact = network(delay, stations).throughput(clients);
        let error = exact / simulated - 1.0;
        assert!(
            error.abs() < 0.03,
            "{clients} clients, {stations:?}: {exact} and {simulated}"
        );
    }
}

#[test]
fn one_client_never_waits() {
    let alone = network(10_000.0, &[(5_000.0, 3), (35_000.0, 1)]).throughput(1);
    assert!((alone - 20_000.0).abs() < 1e-6, "{alone}");
}

#[test]
fn thousands_of_clients_and_hundreds_of_servers_stay_finite() {
    let most = network(1e6, &[(250_000.0, 256), (100.0, 1)]).throughput(outcrop_predict::MOST_CLIENTS);
    assert!((most / (256.0 / 250_000.0 * 1e9) - 1.0).abs() < 0.01, "{most}");
}

proptest! {
    #[test]
    fn throughput_keeps_below_both_bounds_and_grows_with_clients(
        clients in 1u32..300,
        delay in 0.0f64..1e6,
        stations in proptest::collection::vec((1.0f64..1e5, 1u32..64), 1..4),
    ) {
        let network = network(delay, &stations);
        let now = network.throughput(clients);
        let unloaded: f64 = delay + stations.iter().map(|(demand, _)| demand).sum::<f64>();
        let longest = stations.iter().map(|(demand, servers)| demand / f64::from(*servers)).fold(0.0, f64::max);
        prop_assert!(now <= f64::from(clients) / unloaded * 1e9 * (1.0 + 1e-9));
        prop_assert!(now <= 1e9 / longest * (1.0 + 1e-9));
        prop_assert!(network.throughput(clients + 1) >= now * (1.0 - 1e-9));
    }
}
