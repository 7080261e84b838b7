//! What publications give: how busy the cores were, bytes per second, latencies, and several loads.

use outcrop_predict::{
    Measured, MeasuredFigure, Place, Study, Unmatched, applications, components, measured, predict,
};

const CODEC: &str = "name,place,decompress_throughput\nzstd,cpu,1GB/s\n";

#[test]
fn how_busy_the_cores_were_gives_the_cpu_time_of_an_operation() {
    // 35 % of 16 cores at 100 k/s are 56 µs; 8 clients have 80 µs.
    let text = "name,clients,throughput,cores,cpu_utilisation,block_size,decompressed_blocks\n\
                a,8,100k,16,35%,4096,0\n";
    let application = applications(text).unwrap().remove(0);
    let found = predict(&application, None, None).unwrap();
    assert!((found.cpu_share.unwrap() - 0.35).abs() < 1e-9, "{found:?}");
    assert!(
        found
            .assumptions
            .iter()
            .any(|one| one.contains("56.0 µs an operation")),
        "{found:?}"
    );
    let by_fraction = applications(&text.replace("35%", "0.35")).unwrap();
    assert_eq!(by_fraction[0], application);
    let slip = applications(&text.replace("35%", "35")).unwrap_err().to_string();
    assert!(slip.contains("35% or 0.35"), "{slip}");
}

#[test]
fn more_cpu_time_than_an_operation_lasts_is_in_the_background() {
    // 80 % of 16 cores at 100 k/s are 128 µs, and an operation lasts 80.
    let text =
        "name,clients,throughput,cores,cpu_usage,block_size,decompressed_blocks\na,8,100k,16,80%,100000,1\n";
    let application = applications(text).unwrap().remove(0);
    let (components, _) = components(CODEC).unwrap();
    let found = predict(&application, Some(&components[0]), None).unwrap();
    // 100 µs more on the cores: 228 µs of 16, which is less than 8 ÷ 180 µs would take.
    assert!((found.throughput - 8.0 / 180e-6).abs() < 1e-6, "{found:?}");
    let crowded = applications(&text.replace("a,8,", "a,12,")).unwrap();
    let found = predict(&crowded[0], Some(&components[0]), None).unwrap();
    assert!(found.throughput <= 16.0 / 228e-6 * (1.0 + 1e-9), "{found:?}");
}

#[test]
fn bytes_per_second_are_operations_where_an_operation_has_a_size() {
    let text = "name,clients,throughput,operation_size,block_size,decompressed_blocks\n\
                a,8,1000 MB/s,100000,4KiB,1\n";
    let own = applications(text).unwrap();
    assert_eq!(own[0].throughput, Some(10_000.0));
    let (codecs, _) = components(CODEC).unwrap();
    let seen = measured("application,component,throughput\na,zstd,500MB/s\n").unwrap();
    assert_eq!(seen[0].figure, MeasuredFigure::Bandwidth(5e8));
    let study = Study::of(&own, &codecs, &seen).unwrap();
    assert_eq!(study.cases[1].measured, Some(5000.0));
    let without = text.replace("1000 MB/s,100000", "10k,");
    let without = applications(&without).unwrap();
    let error = Study::of(&without, &codecs, &seen).unwrap_err();
    assert!(matches!(error, Unmatched::NoOperationSize { .. }), "{error}");
    let error = applications(&text.replace(",100000,", ",,"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("operation_size"), "{error}");
}

#[test]
fn a_measured_latency_is_that_of_the_applications_clients() {
    let own = applications("name,clients,throughput,block_size,decompressed_blocks\nstore,8,40k,16KiB,1\n")
        .unwrap();
    let (codecs, _) = components(CODEC).unwrap();
    let seen = measured("application,component,latency_us\nstore,zstd,220\n").unwrap();
    let study = Study::of(&own, &codecs, &seen).unwrap();
    // Eight clients of 220 µs.
    assert!((study.cases[1].measured.unwrap() - 8.0 / 220e-6).abs() < 1e-6);
}

#[test]
fn a_measurement_says_which_of_several_loads_it_is_of_and_is_there_once() {
    let text = "[[application]]\nname = 'store'\nclients = 8\nthroughput = '40k'\nblock_size = '16KiB'\n\
                decompressed_blocks = 1\ncpu = '50us'\ndevice_wait = '140us'\ncores = 16\npredict_clients = '1, 8, 16'\n";
    let own = applications(text).unwrap();
    let (codecs, _) = components(CODEC).unwrap();
    let of = |clients| Measured {
        application: "store".to_owned(),
        component: "zstd".to_owned(),
        clients,
        figure: MeasuredFigure::Throughput(70e3),
    };
    let error = Study::of(&own, &codecs, &[of(None)]).unwrap_err();
    assert!(
        matches!(&error, Unmatched::WhichLoad { loads, .. } if loads == "1, 8, 16"),
        "{error}"
    );
    let study = Study::of(&own, &codecs, &[of(Some(16))]).unwrap();
    let known: Vec<f64> = study
        .cases
        .iter()
        .filter(|case| case.measured.is_some())
        .map(|case| case.outcome.as_ref().unwrap().clients)
        .collect();
    assert_eq!(known, [16.0]);
    let error = Study::of(&own, &codecs, &[of(Some(16)), of(Some(16))]).unwrap_err();
    assert!(matches!(error, Unmatched::Twice { .. }), "{error}");
    let error = Study::of(&own, &codecs, &[of(Some(4))]).unwrap_err();
    assert!(matches!(error, Unmatched::Unknown { .. }), "{error}");
}

#[test]
fn a_throughput_of_unknown_threads_counts_as_one_cores() {
    let own =
        applications("name,clients,latency,block_size,decompressed_blocks\na,1,100us,100000,1\n").unwrap();
    let (codecs, _) = components(CODEC).unwrap();
    assert_eq!(codecs[0].place, Place::Cpu);
    let found = predict(&own[0], Some(&codecs[0]), None).unwrap();
    assert!((found.latency_ns - 200_000.0).abs() < 1e-6, "{found:?}");
    assert!(
        found
            .assumptions
            .iter()
            .any(|one| one.contains("is that of one core")),
        "{found:?}"
    );
}

#[test]
fn a_latency_that_contradicts_throughput_and_clients_is_said_not_to_be_used() {
    let of = |latency| {
        let text = format!(
            "name,clients,throughput,latency,block_size,decompressed_blocks\na,8,100k,{latency},4KiB,1\n"
        );
        let application = applications(&text).unwrap().remove(0);
        predict(&application, None, None).unwrap().assumptions
    };
    assert!(of("80us").iter().all(|one| !one.contains("in flight")));
    // Reads alone take 40 µs, say, where half of the operations write.
    assert!(
        of("40us").iter().any(|one| one.contains("is not used")),
        "{:?}",
        of("40us")
    );
}
