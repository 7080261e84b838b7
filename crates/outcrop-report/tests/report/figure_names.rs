//! Figures of runs whose cells differ in one factor more: no two things in a figure have one name, and a caption says what is left out,
//! whichever factor that is.

use std::collections::BTreeSet;

use outcrop_report::{Figure, Report};
use outcrop_results::RunView;
use outcrop_schema::column::{
    BYTES_PER_ROW, DISTINCT, ENCODE_SPEED, FLOOR_BYTES, ORDER, ROW_COUNT, ROWS, SKEW, THREADS,
};
use outcrop_schema::filesystem::{self as fs, BANDWIDTH, FOREIGN_CPU_SHARE, WRITE_AMPLIFICATION};
use outcrop_schema::{FactorRef, cache, compression, kv};
use outcrop_workload::column::RowOrder;
use serde_json::Value;

use crate::column_fixture::{self, encoded};
use crate::compression_fixture::{self, CODECS};
use crate::filesystem::Builder;
use crate::filesystem_costs::cell;
use crate::kv_fixture;

/// The run with each cell that has a factor once more under another value of it.
fn under_other(mut run: RunView, factor: FactorRef, value: &str) -> RunView {
    let has = |trial: &&_| {
        let trial: &&outcrop_results::TrialEntry = trial;
        trial.factors.get(factor.name).is_some_and(|usual| usual != value)
    };
    let mut others: Vec<_> = run.trials.iter().filter(has).cloned().collect();
    assert!(!others.is_empty(), "{}", factor.name);
    for trial in &mut others {
        trial.cell.push_str("-other");
        trial.factors.insert(factor.name.to_owned(), value.to_owned());
    }
    run.trials.extend(others);
    run
}

fn figure(run: &RunView, id: &str) -> Figure {
    let report = Report::of(run);
    let figures = report.figures();
    let found = figures.iter().find(|figure| figure.id == id);
    (*found.unwrap_or_else(|| panic!("no {id}"))).clone()
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().into_iter().flatten()
}

/// What the lines, bars and points of a figure are called.
fn names(figure: &Figure) -> Vec<String> {
    let drawn = serde_json::to_value(figure).expect("the figure has it");
    let chart = &drawn["chart"];
    let lines = list(chart, "series").map(|line| format!("{} {}", line["name"], line["kind"]));
    let points = list(chart, "groups").flat_map(|group| {
        let names = list(group, "points").map(|point| point["cell"].to_string());
        names.collect::<Vec<_>>()
    });
    let bars = list(chart, "facets").flat_map(|facet| {
        let of_group = |group: &Value| {
            let parts = |bar: &Value| {
                let parts: Vec<String> = list(bar, "segments")
                    .map(|segment| segment["part"].to_string())
                    .collect();
                format!("{} {} {} {parts:?}", facet["title"], group["label"], bar["kind"])
            };
            list(group, "bars").map(parts).collect::<Vec<_>>()
        };
        list(facet, "groups").flat_map(of_group).collect::<Vec<_>>()
    });
    lines.chain(points).chain(bars).collect()
}

/// The names that several things in a figure have.
fn twins(figure: &Figure) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let names = names(figure).into_iter();
    names.filter(|name| !seen.insert(name.clone())).collect()
}

fn has_no_twins(run: &RunView, what: &str) {
    for figure in Report::of(run).figures() {
        let twins = twins(figure);
        assert!(twins.is_empty(), "{what}: {}: {twins:#?}", figure.id);
    }
}

/// Cold reads, small files, writes, ageing and loads: a run with every figure of filesystems.
fn filesystems() -> RunView {
    let names = [("ext4", "none"), ("btrfs", "zstd:3")];
    let all: [(&[(&str, &str)], f64); 8] = [
        (&[], 1.0),
        (&[("jobs", "4")], 3.0),
        (&[("arrival", "constant:1000")], 0.5),
        (&[("arrival", "constant:2000")], 0.7),
        (&[("operation", "small-files"), ("file_size", "1500")], 1.0),
        (&[("operation", "overwrite")], 1.0),
        (&[("operation", "sequential-read")], 1.0),
        (
            &[("operation", "sequential-read"), ("age", "overwritten:25%")],
            1.0,
        ),
    ];
    let mut builder = Builder::new();
    for (place, name) in names.into_iter().enumerate() {
        for (factors, rate) in all {
            let rate = rate * (place + 1) as f64;
            let values = [
                (BANDWIDTH, 1e9 / rate),
                (WRITE_AMPLIFICATION, 1.5 * rate),
                (fs::IOPS, 1e3 * rate),
                (fs::SPACE_RATIO, rate),
                (fs::LATENCY.p50, 1e5 * rate),
            ];
            builder = cell(builder, name, factors, &values);
        }
    }
    for size in ["16KiB", "128KiB"] {
        let factors = [("compression_block_size", size)];
        builder = cell(builder, ("squashfs", "zstd:3"), &factors, &[]);
    }
    builder.run
}

#[test]
fn no_two_things_in_a_figure_of_filesystems_have_one_name_whichever_factor_cells_differ_in() {
    let others: [(FactorRef, &str); 10] = [
        (&fs::IO_BLOCK_SIZE, "16KiB"),
        (&fs::FILE_SIZE, "8KiB"),
        (&fs::ACCESS, "direct"),
        (&fs::SYNC, "each:64"),
        (&fs::FILES, "4"),
        (&fs::QUEUE_DEPTH, "4"),
        (&fs::JOBS, "2"),
        (&fs::ENGINE, "io_uring"),
        (&fs::CHECKSUM, "xxhash"),
        (&fs::COMPRESS_POLICY, "heuristic"),
    ];
    let run = filesystems();
    assert!(Report::of(&run).figures().len() > 6);
    has_no_twins(&run, "as it is");
    for (factor, value) in others {
        has_no_twins(&under_other(run.clone(), factor, value), factor.name);
    }
    let sizes = under_other(run.clone(), &fs::FILE_SIZE, "8KiB");
    let small = names(&figure(&sizes, "fs-small-files"));
    assert!(
        small
            .iter()
            .any(|name| name.contains("ext4 none, file size 8KiB")),
        "{small:?}"
    );
}

#[test]
fn a_figure_of_cold_reads_compares_reads_of_one_size_and_says_which() {
    let run = under_other(filesystems(), &fs::IO_BLOCK_SIZE, "16KiB");
    let choice = figure(&run, "fs-space-against-latency");
    assert!(
        choice
            .caption
            .contains("Not drawn: 16 cells (io block size 16 KiB; jobs 4; arrival constant"),
        "{}",
        choice.caption
    );
    assert!(
        choice.caption.starts_with("Cold 4 KiB reads. "),
        "{}",
        choice.caption
    );
    let caption = |run: &RunView| figure(run, "fs-latency-by-size").caption;
    assert!(caption(&filesystems()).contains("One cold 4 KiB read in each extent."));
    assert!(
        caption(&run).contains("One cold read in each extent."),
        "{}",
        caption(&run)
    );
    let mut larger = filesystems();
    for trial in &mut larger.trials {
        trial
            .factors
            .insert(fs::IO_BLOCK_SIZE.name.to_owned(), "8KiB".to_owned());
    }
    assert!(
        caption(&larger).contains("One cold 8 KiB read"),
        "{}",
        caption(&larger)
    );
}

#[test]
fn cells_outside_the_accounts_of_the_cpu_are_named_apart() {
    let mut builder = Builder::new();
    for size in ["4KiB", "16KiB"] {
        let factors = [("io_block_size", size)];
        builder = cell(builder, ("ext4", "none"), &factors, &[(FOREIGN_CPU_SHARE, 9.0)]);
    }
    let tested = crate::filesystem::finding(&builder.run, "cpu-is-accounted").tested;
    assert!(
        tested.contains("ext4 none, io block size 16KiB: 900 % more"),
        "{tested}"
    );
}

#[test]
fn no_two_bars_of_stores_have_one_name_where_workloads_have_several_kinds_of_requests() {
    let mut cells = Vec::new();
    for workload in ["ycsb-b", "ycsb-c"] {
        for (codec, throughput) in [("none", 1e5), ("lz4", 9e4)] {
            let settings: kv_fixture::Unusual = vec![(&kv::WORKLOAD, workload), (&kv::COMPRESSION, codec)];
            cells.push((settings, throughput));
        }
    }
    let run = under_other(kv_fixture::of_settings(&cells), &kv::REQUESTS, "uniform");
    has_no_twins(&run, "requests");
    let bars = names(&figure(&run, "kv-workloads"));
    let has = |words: &str| bars.iter().any(|name| name.contains(words));
    assert!(has("ycsb-b uniform") && has("ycsb-b zipfian"), "{bars:?}");
}

#[test]
fn a_caption_of_stores_states_no_setting_in_which_its_bars_differ() {
    let others: [(FactorRef, &str); 4] = [
        (&kv::DURABILITY, "unlogged"),
        (&kv::BLOOM_BITS, "0"),
        (&kv::WRITE_BUFFER, "1MiB"),
        (&kv::COMPACTION, "universal"),
    ];
    let mut run = kv_fixture::codecs();
    for trial in &mut run.trials {
        let stated = trial.factors.entry(kv::DURABILITY.name.to_owned());
        stated.or_insert_with(|| "logged".to_owned());
    }
    for (factor, value) in others {
        let run = under_other(run.clone(), factor, value);
        for id in ["kv-space", "kv-cpu"] {
            let figure = figure(&run, id);
            let load = figure.caption.split(". ").next().unwrap_or_default();
            assert!(!load.contains(&factor.words()), "{id}: {}", figure.caption);
            assert!(twins(&figure).is_empty(), "{id}: {:?}", twins(&figure));
        }
    }
}

/// Columns of a few kinds, each encoded by one thread and by two.
fn columns() -> RunView {
    let mut builder = column_fixture::Builder::new();
    for (distinct, order) in [
        (100, RowOrder::Random),
        (10_000, RowOrder::Random),
        (100, RowOrder::Sorted),
    ] {
        for threads in [1, 2] {
            let mut factors = encoded();
            factors.set(&DISTINCT, distinct);
            factors.set(&ORDER, order);
            factors.set(&THREADS, threads);
            let values = [
                (ENCODE_SPEED, 1e8),
                (BYTES_PER_ROW, 1.0),
                (FLOOR_BYTES, 1e6),
                (ROW_COUNT, 1e6),
            ];
            builder = builder.generated(factors, &values);
        }
    }
    builder.build()
}

#[test]
fn figures_of_generated_columns_tell_columns_apart_and_say_how_many_rows_they_are_of() {
    for (factor, value) in [(&ROWS as FactorRef, "50000"), (&SKEW, "1.2")] {
        let run = under_other(columns(), factor, value);
        has_no_twins(&run, factor.name);
    }
    let run = under_other(columns(), &ROWS, "50000");
    let size = figure(&run, "column-size").caption;
    let is_told =
        size.contains("1.00 M rows in random order") && size.contains("Not drawn: 2 cells (rows 50000)");
    assert!(is_told, "{size}");
    let run = under_other(run, &SKEW, "1.2");
    let encode = figure(&run, "column-encode").caption;
    assert!(
        encode.contains("Not drawn: 6 generated columns (") && encode.contains("skew 1.2"),
        "{encode}"
    );
}

#[test]
fn figures_of_speed_by_block_and_threads_say_of_which_content_and_caches_they_are() {
    let mut builder = compression_fixture::Builder::new(5);
    for codec in CODECS {
        for threads in [1, 2] {
            builder = builder.speed(codec, 4, threads, "natural", 1.0);
        }
    }
    let run = builder.run;
    let others: [(FactorRef, &str, &str); 3] = [
        (&compression::CONTENT, "natural:6", "content natural:6"),
        (&compression::CACHES, "cold", "caches cold"),
        (&compression::CONTEXT, "fresh", "context fresh"),
    ];
    for (factor, value, name) in others {
        let run = under_other(run.clone(), factor, value);
        for id in ["compress-throughput", "decompress-latency"] {
            let caption = figure(&run, id).caption;
            assert!(caption.contains("contexts reused, caches warm"), "{caption}");
            assert!(caption.contains(name), "{name}: {caption}");
        }
    }
}

#[test]
fn figures_of_caches_say_of_which_load_they_are() {
    let run = crate::cache_fixture::policies().run;
    let hits = figure(
        &under_other(run.clone(), &cache::PIPELINE, "3"),
        "cache-hit-ratio",
    )
    .caption;
    assert!(hits.contains("pipeline 1 (of 2 measured)"), "{hits}");
    let hits = figure(&under_other(run, &cache::CONNECTIONS, "7"), "cache-hit-ratio").caption;
    assert!(hits.contains("connections 7 (of 2 measured)"), "{hits}");
}

#[test]
fn a_figure_of_several_numbers_of_threads_is_not_said_to_be_of_one() {
    let subject = |threads: &[u32], id: &str| {
        let run = compression_fixture::Builder::new(3).speeds(&CODECS, &[4, 16], threads);
        Report::of(&run.build()).label_of(id).subject
    };
    let both = "Compression of sample 1.66MiB, contexts reused, caches warm";
    assert_eq!(subject(&[1, 2], "compress-throughput"), both);
    for (threads, id) in [
        (&[1][..], "compress-throughput"),
        (&[1, 2], "ratio-by-block-size"),
    ] {
        assert!(subject(threads, id).contains(", 1 thread, "), "{id}");
    }
}
