//! Energy counters in directory trees of the powercap framework's form.

use std::fs;
use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::energy::{EnergyReport, Joules, Meter};
use proptest::prelude::*;
use tempfile::TempDir;

const RANGE_UJ: u64 = 262_143_328_850;

fn domain(root: &Path, directory: &str, name: &str, energy_uj: u64) {
    let directory = root.join(directory);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("name"), format!("{name}\n")).unwrap();
    fs::write(directory.join("max_energy_range_uj"), format!("{RANGE_UJ}\n")).unwrap();
    set(&directory, energy_uj);
}

fn set(directory: &Path, energy_uj: u64) {
    fs::write(directory.join("energy_uj"), format!("{energy_uj}\n")).unwrap();
}

/// Two packages with parts, the second interface to the first package, the platform, and the control type itself.
fn two_packages() -> TempDir {
    let root = TempDir::new().unwrap();
    let path = root.path();
    fs::create_dir(path.join("intel-rapl")).unwrap();
    domain(path, "intel-rapl:0", "package-0", 1_000_000);
    domain(path, "intel-rapl:0:0", "core", 0);
    domain(path, "intel-rapl:0:1", "dram", 0);
    domain(path, "intel-rapl:1", "package-1", 0);
    domain(path, "intel-rapl:2", "psys", 0);
    domain(path, "intel-rapl-mmio:0", "package-0", 1_000_000);
    root
}

fn energy_of(report: &EnergyReport, name: &str) -> f64 {
    report
        .domains
        .iter()
        .find(|domain| domain.name == name)
        .unwrap()
        .energy
        .0
}

fn reason(result: Result<impl std::fmt::Debug, Unavailable>) -> String {
    result.unwrap_err().reason
}

#[test]
fn packages_and_their_memory_add_up_and_nothing_counts_twice() {
    let root = two_packages();
    let meter = Meter::start_at(root.path()).unwrap();
    for (directory, energy_uj) in [
        ("intel-rapl:0", 11_000_000),
        ("intel-rapl:0:0", 7_000_000),
        ("intel-rapl:0:1", 2_000_000),
        ("intel-rapl:1", 5_000_000),
        ("intel-rapl:2", 40_000_000),
        ("intel-rapl-mmio:0", 11_000_000),
    ] {
        set(&root.path().join(directory), energy_uj);
    }
    let report = meter.stop().unwrap();
    assert_eq!(report.total, Joules(10.0 + 2.0 + 5.0));
    assert_eq!(energy_of(&report, "package-0/core"), 7.0);
    assert_eq!(energy_of(&report, "psys"), 40.0);
    assert_eq!(report.domains.len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_counter_that_wraps_between_samples_loses_nothing(
        start_uj in 0..=RANGE_UJ,
        steps_uj in prop::collection::vec(0..RANGE_UJ, 1..6),
    ) {
        let root = TempDir::new().unwrap();
        domain(root.path(), "intel-rapl:0", "package-0", start_uj);
        let mut meter = Meter::start_at(root.path()).unwrap();
        let mut counter_uj = start_uj;
        for step_uj in &steps_uj {
            counter_uj += step_uj;
            // The highest value and 0 are the same point of the circle.
            if counter_uj > RANGE_UJ {
                counter_uj -= RANGE_UJ;
            }
            set(&root.path().join("intel-rapl:0"), counter_uj);
            meter.sample().unwrap();
        }
        let used_uj: u64 = steps_uj.iter().sum();
        prop_assert_eq!(meter.stop().unwrap().total, Joules(used_uj as f64 / 1e6));
    }

    #[test]
    fn garbage_in_a_counter_is_a_reason_and_no_panic(content in prop::collection::vec(any::<u8>(), 0..30)) {
        let root = two_packages();
        let file = root.path().join("intel-rapl:1/energy_uj");
        let meter = Meter::start_at(root.path()).unwrap();
        fs::write(&file, &content).unwrap();
        let is_number = String::from_utf8_lossy(&content).trim().parse::<u64>().is_ok();
        prop_assert_eq!(meter.stop().is_ok(), is_number);
        prop_assert_eq!(Meter::start_at(root.path()).is_ok(), is_number);
    }
}

#[test]
fn a_machine_without_counters_says_so() {
    let root = TempDir::new().unwrap();
    assert!(reason(Meter::start_at(&root.path().join("powercap"))).contains("no energy counters"));
    assert!(reason(Meter::start_at(root.path())).contains("no CPU package"));
    domain(root.path(), "intel-rapl:0", "psys", 0);
    assert!(
        reason(Meter::start_at(root.path())).contains("no CPU package"),
        "psys alone is no package"
    );
}

#[test]
fn files_that_vanish_or_run_backwards_are_unavailable_and_never_zero() {
    let root = two_packages();
    let meter = Meter::start_at(root.path()).unwrap();
    fs::remove_file(root.path().join("intel-rapl:1/energy_uj")).unwrap();
    assert!(reason(meter.stop()).contains("cannot be read"));

    let root = two_packages();
    fs::write(root.path().join("intel-rapl:0/max_energy_range_uj"), "1000").unwrap();
    let meter = Meter::start_at(root.path()).unwrap();
    set(&root.path().join("intel-rapl:0"), 5);
    assert!(reason(meter.stop()).contains("beyond its range"));

    let root = two_packages();
    fs::remove_file(root.path().join("intel-rapl:0/name")).unwrap();
    assert!(Meter::start_at(root.path()).is_err());
}

#[test]
fn counters_that_only_root_may_read_come_with_the_remedy() {
    let root = two_packages();
    let file = root.path().join("intel-rapl:0/energy_uj");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    if rustix::process::geteuid().is_root() {
        // Root reads regardless, so another user has to try: this thread alone becomes `nobody`.
        fs::set_permissions(root.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = root.path().to_owned();
        let attempt = std::thread::spawn(move || outcome_as_nobody(|| Meter::start_at(&path)));
        assert!(reason(attempt.join().unwrap()).contains("chmod a+r"));
    } else {
        assert!(reason(Meter::start_at(root.path())).contains("chmod a+r"));
    }
}

/// Runs with the filesystem rights of user 65534; for a thread that ends afterwards.
fn outcome_as_nobody<T>(action: impl FnOnce() -> T) -> T {
    let mut capabilities = rustix::thread::capabilities(None).unwrap();
    capabilities.effective = rustix::thread::CapabilitySet::empty();
    rustix::thread::set_capabilities(None, capabilities).unwrap();
    action()
}
