//! Published systems: read latency of btrfs (arXiv 2509.23693, figure 16) as the uncompressed one and a decompression of 128 KiB.

use outcrop_predict::{applications, components, predict};

/// Figures 8 and 9 of the same publication.
const COMPONENTS: &str = include_str!("../../../../references/placement/asic-components.csv");

/// A cold 4 KiB read decompresses one extent.
const BTRFS: &str = "[[application]]\nname = 'btrfs read'\nclients = 1\nlatency = '60us'\nblock_size = '128KiB'\n\
                     decompressed_blocks = 1\n";

#[test]
fn reads_of_btrfs_are_predicted_within_a_fifth() {
    let application = applications(BTRFS).unwrap().remove(0);
    let (components, notes) = components(COMPONENTS).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    let published_us = [
        ("Deflate (CPU)", 572.0),
        ("QAT 8970", 236.0),
        ("QAT 4XXX", 151.0),
        ("DPZip", 65.0),
    ];
    let errors = published_us.map(|(name, published_us)| {
        let component = components
            .iter()
            .find(|component| component.name == name)
            .unwrap();
        let found = predict(&application, Some(component), None).unwrap();
        let error = found.latency_ns / 1e3 / published_us - 1.0;
        println!(
            "{name}: {:.0} µs predicted, {published_us} µs published, {:+.0} %",
            found.latency_ns / 1e3,
            error * 100.0
        );
        error.abs()
    });
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean <= 0.20, "{errors:?}");
}
