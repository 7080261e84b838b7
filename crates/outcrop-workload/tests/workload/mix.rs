//! Read:write mixes.

use outcrop_measure::Seed;
use outcrop_workload::ReadWriteMix;

#[test]
fn the_share_of_reads_is_the_one_asked_for() {
    let draws = 100_000;
    for percent in 0..=100 {
        let mut operations = ReadWriteMix::of_reads(percent)
            .unwrap()
            .operations(Seed(u64::from(percent)));
        let reads = (0..draws).filter(|_| operations.next_is_read()).count() as f64;
        let share = f64::from(percent) / 100.0;
        let deviation = (share * (1.0 - share) * f64::from(draws)).sqrt();
        // Five standard deviations; of the pure mixes, exact.
        assert!(
            (reads - share * f64::from(draws)).abs() <= 5.0 * deviation,
            "{percent} %: {reads}"
        );
    }
}

#[test]
fn reads_and_writes_are_not_periodic() {
    let mut operations = "50:50".parse::<ReadWriteMix>().unwrap().operations(Seed(1));
    let sequence: Vec<bool> = (0..10_000).map(|_| operations.next_is_read()).collect();
    for lag in 1..50 {
        let agreeing = sequence
            .iter()
            .zip(&sequence[lag..])
            .filter(|(a, b)| a == b)
            .count() as f64;
        let expected = (sequence.len() - lag) as f64 / 2.0;
        assert!(
            (agreeing - expected).abs() < 5.0 * (expected / 2.0).sqrt(),
            "lag {lag}"
        );
    }
}

#[test]
fn a_mix_knows_what_it_contains() {
    assert!(ReadWriteMix::READ_ONLY.has_reads() && !ReadWriteMix::READ_ONLY.has_writes());
    assert!(!ReadWriteMix::WRITE_ONLY.has_reads() && ReadWriteMix::WRITE_ONLY.has_writes());
    assert!(ReadWriteMix::of_reads(101).is_err());
}
