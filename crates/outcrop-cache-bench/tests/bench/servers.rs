//! Servers are started, asked, and gone.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{
    BenchReport, BenchSpec, CacheBenchError, Offered, Program, Running, ServerKind, ServerSpec, run,
};
use outcrop_cache_load::{LoadSpec, RequestSource, Target, WarmUp};
use outcrop_measure::{Seed, TimeSpan};
use outcrop_probe::Clock;

/// A short load on 20,000 keys, about 4.6 MB of them.
fn spec(server: ServerSpec) -> BenchSpec {
    let mut spec = BenchSpec::new(server, Seed(11));
    if let RequestSource::Generated { key_count, .. } = &mut spec.load.source {
        *key_count = 20_000;
    }
    spec.load = LoadSpec {
        connections: 8,
        pipeline: 16,
        warm_up: WarmUp::Fill(TimeSpan::milliseconds(100)),
        duration: Duration::from_millis(200),
        ..spec.load
    };
    spec
}

fn measured(spec: &BenchSpec) -> BenchReport {
    let report = run(spec, &Clock::new(), &AtomicBool::new(false)).unwrap();
    assert_eq!(report.load.problems(), Vec::<String>::new(), "{}", report.server);
    report
}

/// Kinds that this machine has; what it lacks is said.
fn installed() -> Vec<ServerKind> {
    let mut kinds = vec![ServerKind::Embedded];
    for program in [Program::Memcached, Program::Redis] {
        match program.check() {
            Ok(()) => kinds.push(ServerKind::Program(program)),
            Err(why) => println!("skipped: tests with {program:?}: {why}; scripts/setup.sh test installs it"),
        }
    }
    kinds
}

#[test]
fn every_server_answers_says_what_it_holds_and_is_gone_afterwards() {
    for kind in installed() {
        let server = ServerSpec {
            kind: kind.clone(),
            ..ServerSpec::default()
        };
        let running = Running::start(&server, 1, &Clock::new()).unwrap();
        let address: SocketAddr = running.target().addresses().unwrap()[0];
        assert!(address.ip().is_loopback() && TcpStream::connect(address).is_ok());
        let is_ours = kind == ServerKind::Embedded;
        assert_eq!(running.resident_bytes().is_ok(), !is_ours, "{running}");
        running.stop().unwrap();
        assert!(TcpStream::connect(address).is_err(), "{kind:?} is still there");

        let report = measured(&spec(server));
        let held = report.held.unwrap();
        assert_eq!((held.items, held.evictions), (20_000, 0), "{}", report.server);
        assert_eq!(report.load.tally.hit_ratio(), Some(1.0));
        assert!(held.memory_bytes.unwrap() > 4_000_000);
        assert!(report.load.server_cpu.unwrap().total_ns > 0);
        assert!(
            report.server.chars().any(|letter| letter.is_ascii_digit()),
            "{}",
            report.server
        );
    }
}

/// A killed lab ends all its threads, and no destructor runs.
#[test]
fn a_server_whose_lab_is_gone_ends_by_itself() {
    for kind in installed()
        .into_iter()
        .filter(|kind| *kind != ServerKind::Embedded)
    {
        let server = ServerSpec {
            kind,
            ..ServerSpec::default()
        };
        let clock = Clock::new();
        let start = || Running::start(&server, 1, &clock).unwrap();
        let running = std::thread::scope(|scope| scope.spawn(start).join()).unwrap();
        let address: SocketAddr = running.target().addresses().unwrap()[0];
        let started_ns = clock.now_ns();
        while TcpStream::connect(address).is_ok() {
            assert!(
                clock.now_ns() - started_ns < 10_000_000_000,
                "{running} is still there"
            );
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_server_too_small_hits_as_often_as_its_policy_simulated() {
    for policy in [
        PolicyKind::Fifo,
        PolicyKind::Lru,
        PolicyKind::Sieve,
        PolicyKind::S3Fifo,
    ] {
        let spec = BenchSpec {
            is_simulated: true,
            ..spec(ServerSpec {
                policy,
                memory_bytes: 2 << 20,
                ..ServerSpec::default()
            })
        };
        let report = measured(&spec);
        let held = report.held.unwrap();
        assert!(held.evictions > 0 && held.items < 15_000, "{held:?}");
        let ours = report.load.tally.hit_ratio().unwrap();
        let simulated = report.simulated_hit_ratio.unwrap().unwrap();
        assert!(
            (ours - simulated).abs() < 0.03,
            "{policy}: {ours}, simulated {simulated}"
        );
    }
}

#[test]
fn a_cache_that_refuses_keeps_what_came_first() {
    let mut spec = spec(ServerSpec {
        policy: PolicyKind::None,
        memory_bytes: 2 << 20,
        ..ServerSpec::default()
    });
    spec.is_simulated = true;
    let report = run(&spec, &Clock::new(), &AtomicBool::new(false)).unwrap();
    assert!(report.load.warm_up.refused > 0);
    let (ours, simulated) = (
        report.load.tally.hit_ratio().unwrap(),
        report.simulated_hit_ratio.unwrap().unwrap(),
    );
    // The fill ends with the most popular keys, which found no room.
    assert!(
        ours < 0.2 && (ours - simulated).abs() < 0.05,
        "{ours} {simulated}"
    );
}

#[test]
fn a_share_of_the_closed_loop_is_offered_and_answered() {
    let mut spec = spec(ServerSpec::default());
    (spec.load.pipeline, spec.load.arrival) = (1, "poisson:1".parse().unwrap());
    spec.offered = Offered::ShareOfClosedLoop(0.2);
    let report = measured(&spec);
    let (closed, offered) = (
        report.closed_loop_per_second.unwrap(),
        report.load.requested_per_second.unwrap(),
    );
    assert!(
        report.load.is_open_loop && (offered / closed - 0.2).abs() < 0.001,
        "{offered} {closed}"
    );
    assert_eq!(report.load.tally.hit_ratio(), Some(1.0));
    let warm_up = &report.load.warm_up;
    assert_eq!(warm_up.sets, 20_000, "the first load set every key");
    assert!(
        warm_up.operations > 0,
        "the closed loop counts as warm-up: {warm_up:?}"
    );
}

#[test]
fn our_server_is_asked_by_http_too() {
    let mut spec = spec(ServerSpec {
        is_http: true,
        ..ServerSpec::default()
    });
    spec.load.pipeline = 1;
    let report = measured(&spec);
    assert_eq!(report.load.tally.hit_ratio(), Some(1.0));
}

#[test]
fn a_server_that_runs_already_is_measured_and_left_running() {
    let running = Running::start(&ServerSpec::default(), 1, &Clock::new()).unwrap();
    let target: Target = running.target().clone();
    let report = measured(&spec(ServerSpec {
        kind: ServerKind::At(target.clone()),
        ..ServerSpec::default()
    }));
    assert_eq!(report.server, target.to_string());
    assert_eq!(report.held.unwrap().items, 20_000);
    assert_eq!(running.held().unwrap().items, 20_000);
}

#[test]
fn what_is_not_on_this_machine_is_absent_with_what_to_do() {
    let build = Program::Build("no-such-profile".to_owned());
    let Err(error @ CacheBenchError::Absent { .. }) = build.check() else {
        panic!("there is no such build");
    };
    assert!(
        error
            .to_string()
            .contains("cargo build --profile no-such-profile"),
        "{error}"
    );
    if std::env::var_os("MEMCACHED").is_none() {
        let error = Program::Named.check().unwrap_err().to_string();
        assert!(error.starts_with("$MEMCACHED is not set"), "{error}");
    }
}
