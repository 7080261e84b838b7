//! Published systems (arXiv 2509.23693, figures 16 and 18): reads of btrfs, and reads and updates of ZFS, as the uncompressed ones and one block of
//! the components of figures 8 and 9. All errors are those of throughput, as `outcrop predict --measured` prints them.

use outcrop_predict::{
    Application, Component, Measured, ModelError, Place, Study, applications, components, measured,
    published_error,
};

const COMPONENTS: &str = include_str!("../../../../references/placement/asic-components.csv");
const SYSTEMS: &str = include_str!("../../../../references/placement/asic-systems.csv");
const MEASURED: &str = include_str!("../../../../references/placement/asic-checked.csv");

fn shipped() -> (Vec<Application>, Vec<Component>, Vec<Measured>) {
    let (components, notes) = components(COMPONENTS).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    (
        applications(SYSTEMS).unwrap(),
        components,
        measured(MEASURED).unwrap(),
    )
}

#[test]
fn published_systems_are_predicted_within_a_fifth_and_in_their_order() {
    let (systems, components, measured) = shipped();
    let study = Study::of(&systems, &components, &measured).unwrap();
    assert_eq!(study.error.checked().len(), measured.len());
    for (begins, pairs) in [
        ("btrfs, cold reads", 4),
        ("ZFS, 4 KiB reads", 15),
        ("ZFS, 4 KiB updates", 15),
        ("", 34),
    ] {
        let own = study.error.checked().iter();
        let own = ModelError::of(own.filter(|pair| pair.application.starts_with(begins)).cloned());
        assert_eq!(own.checked().len(), pairs);
        let (mean, worst, ranking) = (own.mean().unwrap(), own.worst().unwrap(), own.ranking());
        println!(
            "{begins}: {:.0} % mean, {:.0} % worst, {ranking:?}",
            mean * 100.0,
            worst * 100.0
        );
        assert!(mean <= 0.20, "{begins}: {mean}");
        assert!(
            ranking.right as f64 >= 0.9 * ranking.pairs as f64,
            "{begins}: {ranking:?}"
        );
        assert!(ranking.regret <= 0.12, "{begins}: {ranking:?}");
    }
    let coverage = study.coverage().unwrap();
    assert!(coverage.share() >= 0.8, "{coverage}");
}

#[test]
fn the_error_on_published_hardware_is_that_of_its_pairs_alone() {
    let (systems, components, measured) = shipped();
    let hardware: Vec<Component> = components
        .into_iter()
        .filter(|component| component.place != Place::Cpu)
        .collect();
    let is_of_hardware = |one: &&Measured| hardware.iter().any(|known| known.name == one.component);
    let pairs = measured.iter().filter(is_of_hardware).count();
    assert_eq!(published_error().checked().len(), pairs);
    // It stands with predictions of hardware that nobody checked here, and of no codec.
    let study = Study::of(&systems, &hardware, &[]).unwrap();
    for case in study.cases.iter().filter(|case| case.component.is_some()) {
        let interval = case.interval.expect("it is hardware");
        assert!(interval.high > 1.1 * interval.estimate, "{interval:?}");
        assert!(!case.is_validated);
    }
}

#[test]
fn a_record_that_is_not_compressed_takes_no_longer() {
    // ZFS stores records of 4 KiB as they are where sectors have 4 KiB.
    let plain = "name,clients,latency,block_size,decompressed_blocks\nrecords of 4 KiB,1,86.3us,4KiB,0\n";
    let application = applications(plain).unwrap().remove(0);
    let (_, components, _) = shipped();
    for component in components.iter().filter(|one| one.place != Place::Drive) {
        let found = outcrop_predict::predict(&application, Some(component), None).unwrap();
        assert!((found.latency_ns - 86_300.0).abs() < 1e-6, "{found:?}");
    }
}
