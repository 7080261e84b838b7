//! `outcrop predict`: one application under several loads.

use serde_json::Value;

use crate::harness::{Seen, outcrop, workplace};

/// The same application under two loads; lz4 is better for few clients, and the card for many.
const LOADS: &str = "name,clients,throughput,block_size,decompressed_blocks,compressed_blocks_background,unloaded_latency,cpu,cores\n\
    store,4,21k,16KiB,1,0.05,180us,60us,16\nstore,64,258k,16KiB,1,0.05,180us,60us,16\n";
const CODEC_AND_CARD: &str = "[[component]]\nname = \"lz4\"\nplace = \"cpu\"\ndecompress_throughput = \"0.6GB/s\"\n\
    compress_throughput = \"400MB/s\"\n[[component]]\nname = \"card\"\nplace = \"accelerator\"\n\
    decompress_latency = \"40us@16KiB\"\ncompress_latency = \"40us@16KiB\"\ndecompress_throughput = \"12GB/s\"\n\
    compress_throughput = \"8GB/s\"\n";

fn predict_loads(loads: &str, more: &[&str]) -> Seen {
    let dir = workplace();
    std::fs::write(dir.path().join("loads.csv"), loads).unwrap();
    std::fs::write(dir.path().join("cc.toml"), CODEC_AND_CARD).unwrap();
    let usual = ["predict", "--application", "loads.csv", "--components", "cc.toml"];
    outcrop(dir.path(), &[&usual[..], more].concat())
}

#[test]
fn each_load_of_an_application_has_its_own_fastest_component() {
    let seen = predict_loads(LOADS, &[]);
    let said = |start: &str| {
        let lines: Vec<&str> = seen
            .stdout
            .lines()
            .filter(|line| line.starts_with(start))
            .collect();
        assert_eq!(lines.len(), 1, "{start}: {seen:?}");
        lines[0].to_owned()
    };
    said("store with 4 clients: lz4 gives the highest predicted throughput");
    let of_many = said("store with 64 clients: card gives the highest predicted throughput");
    assert!(
        of_many.ends_with("; 1 other has no interval and may be as fast."),
        "{of_many}"
    );
    // One load need not be named.
    let one: String = LOADS.lines().take(2).map(|line| format!("{line}\n")).collect();
    let seen = predict_loads(&one, &[]);
    assert!(seen.stdout.contains("\nstore: lz4 gives"), "{seen:?}");
}

#[test]
fn a_load_that_is_given_twice_is_refused() {
    let twice = format!("{LOADS}store,64,200k,16KiB,1,0.05,180us,60us,16\n");
    let one: String = LOADS.lines().take(2).map(|line| format!("{line}\n")).collect();
    let cases: [(&str, &[&str], &str); 3] = [
        (&twice, &[], "\"store\" with 64 clients is given twice"),
        (
            LOADS,
            &["--clients", "8"],
            "\"store\" with 8 clients would be predicted from two of its entries; leave out --clients",
        ),
        (&one, &["--clients", "40,8,40"], "--clients 40 is given twice"),
    ];
    for (loads, more, words) in cases {
        let seen = predict_loads(loads, more);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.sentence().contains(words), "{}", seen.stderr);
    }
}

#[test]
fn a_row_that_cannot_be_predicted_has_the_number_of_clients_that_was_asked_for() {
    // Without the figures of a lone operation, nothing is predicted for other numbers.
    let bare = "name,clients,throughput,block_size,decompressed_blocks,compressed_blocks_background\nstore,4,21k,16KiB,1,0.05\n";
    let seen = predict_loads(bare, &["--clients", "4,64", "--format", "csv"]);
    let clients: Vec<&str> = seen
        .stdout
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    assert_eq!(clients, ["4", "4", "4", "64", "64", "64"], "{seen:?}");
}

#[test]
fn figures_of_another_load_than_the_measured_one_are_not_called_given() {
    let one: String = LOADS.lines().take(2).map(|line| format!("{line}\n")).collect();
    // 16 cores have time for 267 k/s.
    let contradicting = one.replace(",21k,", ",900k,");
    for (loads, clients, provenance) in [
        (&one, "4", "as given"),
        (&one, "1", "modelled, unvalidated"),
        (&one, "64", "modelled, unvalidated"),
        (&contradicting, "4", "modelled, unvalidated"),
    ] {
        let seen = predict_loads(loads, &["--clients", clients, "--format", "json"]);
        let answer: Value = serde_json::from_str(&seen.stdout).unwrap();
        let rows = answer["rows"].as_array().unwrap();
        let plain = rows.iter().find(|row| row["component"] == "none").unwrap();
        assert_eq!(plain["provenance"], provenance, "{clients}: {plain}");
    }
}
