//! What is not predictable, and which condition is missing.

use outcrop_predict::{Energy, applications, components, predict};

fn missing(application: &str, component: &str) -> String {
    let application = applications(application).unwrap().remove(0);
    let component = components(component).unwrap().0.remove(0);
    predict(&application, Some(&component), None)
        .unwrap_err()
        .to_string()
}

const QAT: &str = "[[component]]\nname = 'QAT'\nplace = 'accelerator'\ncompress_latency = '27us@4KiB, 172us@64KiB'\n\
                   decompress_latency = '14us@4KiB, 63us@64KiB'\nunits = 30\n";

#[test]
fn a_throughput_that_includes_opening_is_no_operations_rate() {
    let text = "[[application]]\nname = 'store'\nclients = 8\nthroughput = '100k'\nincludes_opening = true\n\
                block_size = '4KiB'\ndecompressed_blocks = 1\n";
    assert!(missing(text, QAT).contains("opening_time, operations"));
    let stated = format!("{text}opening_time = '5s'\noperations = 1_000_000\n");
    let application = applications(&stated).unwrap().remove(0);
    let found = predict(&application, None, None).unwrap();
    // A million operations took 10 s with opening, 5 s without.
    assert!((found.throughput - 200_000.0).abs() < 1e-6);
}

#[test]
fn a_latency_without_clients_predicts_nothing() {
    let text =
        "[[application]]\nname = 'store'\nlatency = '60us'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n";
    assert!(missing(text, QAT).contains("number of clients"));
    let blocks = "[[application]]\nname = 'store'\nclients = 1\nlatency = '60us'\nblock_size = '4KiB'\n";
    assert!(missing(blocks, QAT).contains("decompressed_blocks"));
    let size = "[[application]]\nname = 'store'\nclients = 1\nlatency = '60us'\ndecompressed_blocks = 1\n";
    assert!(missing(size, QAT).contains("block_size"));
}

#[test]
fn a_component_that_says_nothing_of_a_direction_in_use_predicts_nothing() {
    let text = "[[application]]\nname = 'store'\nclients = 1\nlatency = '60us'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n";
    let half = "[[component]]\nname = 'QAT'\nplace = 'accelerator'\ncompress_latency = '27us'\n";
    assert!(missing(text, half).contains("decompress_latency"));
    let capacity =
        "[[component]]\nname = 'QAT'\nplace = 'accelerator'\ndecompress_throughput = '7GB/s@4KiB'\n";
    assert!(missing(text, capacity).contains("units"));
}

#[test]
fn another_number_of_clients_needs_to_know_what_queues() {
    let text = "[[application]]\nname = 'store'\nclients = 8\nthroughput = '100k'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n";
    let application = applications(text).unwrap().remove(0);
    let error = predict(&application, None, Some(16)).unwrap_err().to_string();
    assert!(error.contains("cpu, cores"), "{error}");
}

#[test]
fn power_in_coarse_steps_gives_no_joules() {
    let text = "[[application]]\nname = 'store'\nclients = 1\nthroughput = '10k'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n\
                power_idle = '755W'\npower_step = '12W'\n";
    let energy = |loaded: &str| {
        let application = applications(&format!("{text}power_loaded = '{loaded}'\n"))
            .unwrap()
            .remove(0);
        predict(&application, None, None).unwrap().energy
    };
    assert!(matches!(energy("790W"), Energy::NotPredictable(reason) if reason.contains("five steps")));
    assert_eq!(energy("855W"), Energy::PerOperation(0.01));
}
