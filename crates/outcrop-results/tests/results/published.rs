//! References: those that ship, and files of users with and without faults.

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_results::references::{NOT_STATED, load, parse, shipped};
use outcrop_results::{CompareOptions, Reference, ReferenceKind, ResultsError, compare_with, export};
use proptest::prelude::*;

use crate::samples::{IOPS, run_of, trial};

const HEADER: &str =
    "subject,access_pattern,read_write_mix,io_block_size_kib,queue_depth,metric,unit,value,source\n";

fn complaint(csv: &str) -> String {
    match parse("mine", "mine", &[], csv.as_bytes()) {
        Err(error @ ResultsError::BadReference { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn reference(name: &str) -> Reference {
    shipped()
        .unwrap()
        .into_iter()
        .find(|reference| reference.name == name)
        .unwrap()
}

#[test]
fn what_ships_is_read_whole_and_in_base_units() {
    let matrix = reference("toshiba-kxg60znv256g-fio");
    assert_eq!(
        (matrix.kind, matrix.rows.len()),
        (ReferenceKind::Measurement, 240)
    );
    let first = &matrix.rows[0];
    assert_eq!(
        (first.line, first.metric.as_str(), first.unit, first.value),
        (2, "bandwidth", Unit::BytesPerSecond, 33.67e6)
    );
    assert_eq!(
        (
            first.factors["io_block_size"].as_str(),
            first.factors["queue_depth"].as_str()
        ),
        ("4KiB", "1")
    );
    let latency = &matrix.rows[2];
    assert_eq!(
        (latency.metric.as_str(), latency.unit, latency.value),
        ("latency_mean_as_published", Unit::Nanoseconds, 57690.0)
    );
    assert_eq!(
        (first.factors["span"].as_str(), first.factors["state"].as_str()),
        ("512MB", NOT_STATED)
    );

    let claims = reference("datasheets");
    assert_eq!((claims.kind, claims.rows.len()), (ReferenceKind::Datasheet, 15));
    assert!(
        claims
            .rows
            .iter()
            .all(|row| row.provenance == Provenance::Published && !row.source.is_empty())
    );
    assert_eq!(claims.rows[0].factors["queue_depth"], NOT_STATED);
    assert_eq!(claims.rows[1].factors["span"], "full");
    assert_eq!(claims.rows[14].factors["span"], "2GiB");
    assert_eq!(claims.rows[14].factors["io_block_size"], "16MiB");
}

#[test]
fn the_published_latencies_break_littles_law_by_two_for_pure_loads_only() {
    let matrix = reference("toshiba-kxg60znv256g-fio");
    let value = |factors: &std::collections::BTreeMap<String, String>, metric: &str| {
        matrix
            .rows
            .iter()
            .find(|row| row.metric == metric && row.factors == *factors)
            .unwrap()
            .value
    };
    for row in matrix
        .rows
        .iter()
        .filter(|row| row.metric == "iops" && row.factors["queue_depth"] == "256")
    {
        let mean_s = value(&row.factors, "latency_mean_as_published") / 1e9;
        let ratio = outcrop_measure::littles_law::check(256.0, row.value, mean_s, 0.1).ratio;
        let mix = row.factors["read_write_mix"].as_str();
        let expected = if mix == "100:0" || mix == "0:100" {
            0.5
        } else {
            1.0
        };
        assert!(
            (ratio / expected - 1.0).abs() < 0.15,
            "{mix} {}: {ratio}",
            row.factors["io_block_size"]
        );
    }
}

#[test]
fn a_users_file_is_loaded_by_path_and_other_columns_are_factors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("our-lab.csv");
    std::fs::write(
        &path,
        "layer,subject,level,metric,unit,value,source\ncodec,zstd,3,bandwidth,MiB/s,2,notes\n",
    )
    .unwrap();
    let mine = load(path.to_str().unwrap()).unwrap();
    assert_eq!(
        (mine.name.as_str(), mine.rows[0].layer.as_str()),
        ("our-lab", "codec")
    );
    assert_eq!(mine.rows[0].factors["level"], "3");
    assert!(
        !mine.rows[0].factors.contains_key("queue_depth"),
        "what devices must state, codecs need not"
    );
    assert_eq!(mine.rows[0].value, 2_097_152.0);
}

#[test]
fn an_unknown_name_lists_those_that_ship() {
    let message = load("samsung-990").unwrap_err().to_string();
    assert!(
        message.contains("toshiba-kxg60znv256g-fio, datasheets"),
        "{message}"
    );
}

#[test]
fn every_fault_is_named_with_its_line_and_what_belongs_there() {
    let row = "X,random,100:0,4,32,iops,1/s,100,me\n";
    let cases = [
        (
            format!("{HEADER}{row}X,random,100:0,4,32,iops,1/s,many,me\n"),
            "mine:3: the value \"many\" is not a number",
        ),
        (
            format!("{HEADER}{row}{row}X,random,100:0,4,32,iops,furlongs,1,me\n"),
            "mine:4: unknown unit \"furlongs\"",
        ),
        (
            format!("{HEADER}X,random,100:0,4,32,iops,1/s,-5,me\n"),
            "mine:2: the value \"-5\" is not a figure",
        ),
        (
            format!("{HEADER}X,random,100:0,4,32,iops,1/s,inf,me\n"),
            "mine:2: the value \"inf\" is not a figure",
        ),
        (
            format!("{HEADER}X,random,70:40,4,32,iops,1/s,5,me\n"),
            "mine:2: read_write_mix \"70:40\": read:write mix `70:40`: reads and writes add up to 110",
        ),
        (
            format!("{HEADER}X,random,100:0,four,32,iops,1/s,5,me\n"),
            "mine:2: io_block_size_kib \"four\" is not a size",
        ),
        (
            format!("{HEADER}X,random,100:0,4,32,iops,1/s,5,\n"),
            "mine:2: the column source is empty",
        ),
        (
            format!("{HEADER}{row}X,random\n"),
            "mine:3: 2 columns, but the header has 9",
        ),
        (
            "subject,metric,value,source\n".to_owned(),
            "mine:1: the header lacks unit",
        ),
        (HEADER.to_owned(), "mine:1: there are no rows below the header"),
        (String::new(), "mine:1: the header lacks subject"),
        (
            format!("subject,{HEADER}"),
            "mine:1: the header has the column \"subject\" twice",
        ),
    ];
    for (csv, expected) in cases {
        let message = complaint(&csv);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_reference_that_is_exported_loads_as_itself() {
    let folder = tempfile::tempdir().unwrap();
    for original in shipped().unwrap() {
        let path = folder.path().join(format!("{}.csv", original.name));
        export::write_reference_csv(&original, std::fs::File::create(&path).unwrap()).unwrap();
        let copy = load(path.to_str().unwrap()).unwrap();
        assert_eq!((copy.rows, copy.kind), (original.rows, original.kind));
    }
}

#[test]
fn lines_are_counted_with_any_line_ending_and_over_blank_lines() {
    for ending in ["\n", "\r\n", "\n\n", "\r\n\r\n"] {
        let csv =
            format!("{HEADER}X,random,100:0,4,32,iops,1/s,1,me\nX,random,100:0,4,32,iops,1/s,many,me\n");
        let step = ending.matches('\n').count();
        let message = complaint(&csv.replace('\n', ending));
        assert!(
            message.starts_with(&format!("mine:{}:", 1 + 2 * step)),
            "{ending:?}: {message}"
        );
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_no_reference_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(parse("mine", "mine", &[], &bytes).is_err());
        let behind_header = [HEADER.as_bytes(), &bytes].concat();
        let _ = parse("mine", "mine", &[], &behind_header);
    }
}

#[test]
fn ratios_published_as_sizes_are_inverted_with_their_percentiles() {
    let percentiles = reference("asic-ratio-percentiles");
    let row = |codec: &str, size: &str, metric: &str| {
        let found = percentiles.rows.iter().find(|row| {
            row.factors["codec"] == codec
                && row.factors["compression_block_size"] == size
                && row.metric == metric
        });
        found.unwrap().value
    };
    // 722 B of 4096 B at the first percentile of sizes: the best compressible hundredth of the blocks.
    assert!((row("snappy", "4KiB", "block_ratio_p99") - 4096.0 / 722.0).abs() < 1e-4);
    // One page after the other: the device's 64 KiB are its 4 KiB, 16 times.
    for percentile in [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99] {
        let metric = format!("block_ratio_p{percentile}");
        let (page, request) = (row("dpzip", "4KiB", &metric), row("dpzip", "64KiB", &metric));
        assert!((page / request - 1.0).abs() < 1e-3, "{metric}: {page} {request}");
    }
    // Whoever is compressed better in the worse half is a mistake of ours.
    for codec in [
        "snappy",
        "lz4:not stated",
        "deflate:not stated",
        "zstd:not stated",
        "dpzip",
    ] {
        let curve: Vec<f64> = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99]
            .map(|percentile| row(codec, "4KiB", &format!("block_ratio_p{percentile}")))
            .to_vec();
        assert!(curve.is_sorted(), "{codec}: {curve:?}");
    }
}

#[test]
fn each_figure_of_the_cache_study_says_how_many_requests_were_measured_and_whose_hit_ratio_it_is() {
    let study = reference("etc-lite-study");
    assert_eq!(study.rows.len(), 48);
    for row in &study.rows {
        for says in ["7,000 of 15,000 requests measured", "hit ratios as published"] {
            assert!(row.source.contains(says), "{row:?}");
        }
        assert_eq!(row.factors["requests"], "15000", "{row:?}");
    }
}

#[test]
fn published_stage_shares_add_up_and_every_shipped_reference_has_its_caveats() {
    let stages = reference("asic-stages");
    let mut sums = std::collections::BTreeMap::new();
    for row in stages.rows.iter().filter(|row| row.metric.contains("share")) {
        *sums.entry(format!("{:?}", row.factors)).or_insert(0.0) += row.value;
    }
    assert_eq!(sums.len(), 27);
    assert!(sums.values().all(|sum| (sum - 1.0).abs() < 2e-4), "{sums:?}");
    assert!(
        shipped()
            .unwrap()
            .iter()
            .all(|reference| !reference.caveats.is_empty())
    );
}

#[test]
fn a_column_that_its_layer_has_no_factor_for_is_named_and_another_provenance_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.csv");
    let load = |header: &str, row: &str| {
        let text = format!("subject,{header},metric,unit,value,source\nA,{row},iops,1/s,1000,here\n");
        std::fs::write(&path, text).unwrap();
        load(path.to_str().unwrap())
    };
    let good = load("queue_depth,provenance", "4,published").unwrap();
    assert_eq!(good.rows[0].factors["queue_depth"], "4");
    assert!(
        good.caveats.is_empty() && !good.rows[0].factors.contains_key("provenance"),
        "{good:?}"
    );
    let slip = load("queue_dept", "4").unwrap();
    assert!(
        slip.caveats
            .iter()
            .any(|caveat| caveat.contains("no factor queue_dept.")),
        "{slip:?}"
    );
    let error = load("provenance", "measured").unwrap_err().to_string();
    assert!(error.contains("expected published"), "{error}");
}

#[test]
fn what_a_publication_has_no_cells_of_is_not_said_to_be_stated_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of(
        folder.path(),
        "ours",
        &[trial(1, 0, &[outcrop_results::Value::measured(IOPS, 1e5)])],
    );
    let mut options = CompareOptions::default();
    options.assumed.insert("corpus".to_owned(), "silesia".to_owned());
    let devices = reference("toshiba-kxg60znv256g-fio");
    let said = compare_with(&devices, &run, &options).unwrap_err().to_string();
    assert!(
        said.contains("the publication has no cells with a corpus"),
        "{said}"
    );
}
