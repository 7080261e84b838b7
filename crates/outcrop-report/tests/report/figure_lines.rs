//! What a figure calls its lines, and where its values come from: no two things have one name, and nothing that was not measured here is
//! called so.

use std::collections::BTreeSet;

use outcrop_measure::metric::Provenance;
use outcrop_report::section::{FigureSlot, Missing};
use outcrop_report::{Figure, FileFormat, Label, Report};
use outcrop_results::{RunView, Value};
use outcrop_schema::cache::{
    ARRIVAL, CONNECTIONS, LATENCY, MEMORY, PROTOCOL, SERVER_CPU, SERVER_THREADS, SIMULATED_HIT_RATIO,
};
use outcrop_schema::column::{BYTES_PER_ROW, FLOOR_BYTES, Index, LATENCY as SEARCH_LATENCY, ROW_COUNT};
use outcrop_schema::device::{DRIVES, IOPS, JOBS, QUEUE_DEPTH, READ_WRITE_MIX, SYNC};
use outcrop_schema::{FactorRef, kv};
use outcrop_workload::column::SearchMode;

use crate::cache_fixture::{Builder, Factors, policies};
use crate::column_fixture::{self, FileColumn, encoded, looked_up};
use crate::compression_fixture::{self, CODECS};
use crate::fixture::{self, RunBuilder};
use crate::kv_fixture::{self, Unusual};
use crate::other_values::{others_of, runs, with_other};
use crate::six_layers::six_layers;

fn figure(run: &RunView, id: &str) -> Figure {
    let report = Report::of(run);
    let figures = report.figures();
    let found = figures.iter().find(|figure| figure.id == id);
    (*found.unwrap_or_else(|| panic!("no {id}"))).clone()
}

/// The names of the series of a figure with one of their kind, and their places on the horizontal axis.
fn series(figure: &Figure) -> Vec<(String, String, Vec<f64>)> {
    let drawn = serde_json::to_value(figure).expect("the figure has it");
    let series = drawn["chart"]["series"].as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().expect("the figure has it").to_owned();
    let one = |line: &serde_json::Value| {
        let points = line["points"].as_array().expect("the figure has it").iter();
        let places = points
            .map(|point| point["x"].as_f64().expect("the figure has it"))
            .collect();
        (text(&line["name"]), text(&line["kind"]), places)
    };
    series.iter().map(one).collect()
}

fn names(figure: &Figure) -> Vec<String> {
    series(figure).into_iter().map(|(name, ..)| name).collect()
}

fn has_a_name_for_each_line(run: &RunView) {
    for figure in Report::of(run).figures() {
        let mut seen = BTreeSet::new();
        for (name, kind, places) in series(figure) {
            assert!(
                seen.insert((name.clone(), kind)),
                "{}: {name} is the name of two lines",
                figure.id
            );
            let is_by_factor = ["-by-depth", "-connections", "-hit-ratio"];
            let is_by_factor = is_by_factor.iter().any(|end| figure.id.contains(end));
            let apart: BTreeSet<u64> = places.iter().map(|place| place.to_bits()).collect();
            assert!(
                !is_by_factor || apart.len() == places.len(),
                "{}: {name} has two values at one place",
                figure.id
            );
        }
    }
}

#[test]
fn no_two_lines_of_a_figure_have_one_name_whichever_factors_cells_differ_in() {
    has_a_name_for_each_line(&six_layers());
    for (schema, run) in runs() {
        for (factor, value) in others_of(schema) {
            has_a_name_for_each_line(&with_other(run.clone(), factor, value));
        }
    }
    let run = RunBuilder::new(3)
        .cells(&[4096, 65_536], &[1, 4, 16], &[0, 100])
        .build();
    let run = with_other(with_other(run, &JOBS, "2"), &DRIVES, "2");
    has_a_name_for_each_line(&run);
    let others: [(FactorRef, &str); 2] = [(&SERVER_THREADS, "2"), (&PROTOCOL, "http")];
    for (factor, value) in others {
        has_a_name_for_each_line(&with_other(policies().run, factor, value));
        has_a_name_for_each_line(&with_other(crate::cache_fixture::peers().run, factor, value));
    }
}

#[test]
fn a_line_of_two_drives_is_not_said_to_be_of_two_jobs() {
    let run = RunBuilder::new(3).cells(&[4096], &[1, 4], &[100]).build();
    let report = names(&figure(&with_other(run.clone(), &DRIVES, "2"), "iops-by-depth"));
    assert_eq!(report, ["4 KiB random read", "4 KiB random read, 2 drives"]);
    let both = with_other(with_other(run, &JOBS, "4"), &DRIVES, "2");
    let bandwidth = figure(&both, "bandwidth-vs-latency");
    assert!(
        bandwidth
            .caption
            .starts_with("Along each line, the queue depth rises.")
    );
    let drawn = names(&bandwidth);
    for words in [
        "read",
        "read, 4 jobs",
        "read, 2 drives",
        "read, 2 drives, 4 jobs each",
    ] {
        assert!(
            drawn.contains(&format!("4 KiB random {words}")),
            "{words}: {drawn:?}"
        );
    }
}

#[test]
fn a_line_of_caches_joins_only_cells_that_differ_in_what_its_axis_shows() {
    let mut builder = Builder::new();
    for (threads, throughput) in [("1", 8e3), ("2", 6e4)] {
        for connections in ["1", "50"] {
            let changes: Factors<'_> = &[(&SERVER_THREADS, threads), (&CONNECTIONS, connections)];
            builder = builder.cell("cache-peers", changes, (1.0, 1.0), throughput, 6e3);
        }
    }
    let lines = series(&figure(&builder.run, "cache-connections"));
    let names: Vec<&str> = lines.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "outcrop, server threads 1, closed loop",
            "outcrop, server threads 2, closed loop"
        ]
    );
    assert!(
        lines.iter().all(|(.., places)| places == &[1.0, 50.0]),
        "{lines:?}"
    );
    let hits = series(&figure(
        &with_other(policies().run, &SERVER_THREADS, "2"),
        "cache-hit-ratio",
    ));
    assert!(
        hits.iter().all(|(.., places)| places.len() == 3) && hits.len() == 8,
        "{hits:?}"
    );
}

#[test]
fn a_caption_tells_of_a_simulation_only_where_one_is_drawn() {
    const WORDS: &str = "a textbook simulation";
    let mut run = policies().run;
    let with = figure(&run, "cache-hit-ratio").caption;
    for trial in &mut run.trials {
        trial
            .values
            .retain(|value| value.metric != SIMULATED_HIT_RATIO.name);
    }
    let without = figure(&run, "cache-hit-ratio").caption;
    assert!(with.contains(WORDS) && !without.contains(WORDS), "{without}");
    assert!(
        without.starts_with("The limit is the configured one"),
        "{without}"
    );
}

fn missing(run: &RunView, title: &str) -> Missing {
    let report = Report::of(run);
    let mut slots = report.layers.iter().flat_map(|layer| layer.figures.clone());
    let found = slots.find_map(|slot| match slot {
        FigureSlot::Missing(missing) if missing.title == title => Some(missing),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{title} is drawn"))
}

#[test]
fn a_cache_that_was_offered_loads_is_not_said_to_have_been_offered_none() {
    let mut builder = Builder::new();
    for (arrival, throughput) in [("poisson:1000", 1e3), ("poisson:3000", 3e3)] {
        let changes: Factors<'_> = &[(&ARRIVAL, arrival)];
        builder = builder.cell("cache-peers", changes, (1.0, 1.0), throughput, 3.5e4);
    }
    let mut run = builder.run;
    for trial in &mut run.trials {
        trial.values.retain(|value| value.metric != LATENCY.p99.name);
        let few = Value::unavailable(LATENCY.p99, "n = 60 supports no p99");
        trial.values.push(few);
        assert!(trial.values.iter().any(|value| value.metric == SERVER_CPU.name));
    }
    let by_load = missing(&run, "p99 latency by requests answered per second").reason;
    assert!(
        by_load.starts_with("no server has a p99 latency at two or more"),
        "{by_load}"
    );
    let cpu = missing(&run, "CPU time per request").reason;
    assert_eq!(cpu, "no cell of a closed loop gave a CPU time.");
    let one = Builder::new().cell("cache-peers", &[(&MEMORY, "8MiB")], (1.0, 1.0), 1e3, 3e4);
    let never = missing(&one.run, "p99 latency by requests answered per second").reason;
    assert_eq!(never, "no server was offered two or more loads in an open loop.");
}

#[test]
fn a_caption_does_not_name_a_point_of_its_line_as_not_drawn() {
    let run = RunBuilder::new(3)
        .cells(&[4096, 65_536], &[1, 8, 32], &[100, 70, 0])
        .build();
    for id in ["iops-by-mix", "bandwidth-by-mix", "latency-by-mix"] {
        let caption = figure(&run, id).caption;
        assert!(
            caption.contains("Not drawn: 5 curves (io block size 64 KiB; queue depth "),
            "{id}: {caption}"
        );
        assert!(
            !caption.contains(READ_WRITE_MIX.words().as_str()),
            "{id}: {caption}"
        );
    }
}

#[test]
fn a_policy_without_iops_counts_as_not_drawn() {
    let run = RunBuilder::new(3).cells(&[4096], &[1], &[0]).build();
    let run = with_other(run, &SYNC, "each");
    let mut run = with_other(run, &SYNC, "dsync");
    assert!(!figure(&run, "iops-by-sync").caption.contains("Not drawn"));
    for trial in &mut run.trials {
        if trial.factors[SYNC.name] == "dsync" {
            trial
                .values
                .retain(|value| !value.metric.contains(IOPS.both.name));
            trial
                .values
                .push(Value::unavailable(IOPS.both, "a trial completed none"));
        }
    }
    let caption = figure(&run, "iops-by-sync").caption;
    // Each of the two before once more.
    assert!(caption.contains("Not drawn: 2 cells (sync dsync)."), "{caption}");
}

#[test]
fn a_figure_of_one_searched_column_counts_the_others_and_tells_of_no_search_that_was_not_made() {
    let column = |name, rows| FileColumn {
        name,
        rows,
        distinct: 1e3,
        text: 1e7,
        balanced: 2e6,
        smallest: 1.8e6,
        zstd: 1.5e6,
        lookups: (1e6, 5e4),
    };
    let of = |columns: &[&'static str]| {
        let all = columns.iter().fold(column_fixture::Builder::new(), |run, name| {
            run.of_file(column(name, 1e6))
        });
        figure(&all.build(), "column-search").caption
    };
    let two = of(&["city", "status"]);
    assert!(two.starts_with("Time from a value to the row numbers: "), "{two}");
    assert!(two.ends_with(" Not drawn: 2 cells (column city)."), "{two}");
    assert!(!of(&["city"]).contains("Not drawn"));
}

/// The values of the column `provenance` in the data of a figure, each once.
fn provenances(figure: &Figure) -> BTreeSet<String> {
    let data = figure.to_csv().expect("the figure has it");
    let mut rows = csv::Reader::from_reader(data.as_bytes());
    let place = rows
        .headers()
        .expect("it has headers")
        .iter()
        .position(|name| name == "provenance");
    let place = place.expect("every figure has it");
    rows.records()
        .map(|row| row.expect("the figure has it")[place].to_owned())
        .collect()
}

#[test]
fn figures_of_imported_results_say_so_and_whose_they_are() {
    let mut run = fixture::complete();
    run.environment = serde_json::json!({ "imported": { "from": "fio-3.33", "files": 2 } });
    for trial in &mut run.trials {
        trial.histograms.clear();
        for value in &mut trial.values {
            value.provenance = Provenance::Imported;
        }
    }
    let report = Report::of(&run);
    for figure in report.figures() {
        // A weighted mean is computed from them.
        let all = provenances(figure);
        assert!(
            all.contains("imported") && !all.contains("measured"),
            "{}: {all:?}",
            figure.id
        );
        let origin = report.label_of(&figure.id).origin;
        assert!(origin.contains("imported from fio-3.33 by outcrop"), "{origin}");
    }
    let page = report.to_html();
    assert!(page.contains("\"provenance\":\"imported\""));
    let ours = Report::of(&fixture::complete());
    assert!(!ours.origin().contains("imported") && !ours.to_html().contains("\"provenance\":\"imported\""));
}

#[test]
fn a_quotient_of_measured_values_is_derived() {
    let codecs = compression_fixture::complete();
    assert_eq!(
        provenances(&figure(&codecs, "dpzip-over-zstd-4k")),
        BTreeSet::from(["derived".to_owned()])
    );
    let values = [(BYTES_PER_ROW, 1.5), (FLOOR_BYTES, 1.2e6), (ROW_COUNT, 1e6)];
    let column = column_fixture::Builder::new().generated(encoded(), &values);
    let searched = looked_up(Index::Postings, SearchMode::OnDisk);
    let column = column.generated(searched, &[(SEARCH_LATENCY.p50, 1e4)]);
    let all = provenances(&figure(&column.build(), "column-size"));
    assert_eq!(all, BTreeSet::from(["derived".to_owned()]));
}

#[test]
fn only_distributions_and_courses_of_time_are_said_to_be_of_all_operations() {
    const WORDS: &str = "from all recorded operations";
    let mut codecs = compression_fixture::Builder::new(3)
        .speeds(&CODECS, &[4, 64], &[1])
        .build();
    codecs.trials.extend(compression_fixture::complete().trials);
    for run in [six_layers(), codecs] {
        let report = Report::of(&run);
        for figure in report.figures() {
            // Short, so that the words are in one line.
            let label = Label {
                subject: String::new(),
                origin: String::new(),
            };
            let file = figure.to_file(FileFormat::Svg, 200.0, &label).unwrap();
            let is_dense = series(figure).iter().any(|(_, kind, _)| kind == "dense");
            let said = String::from_utf8(file).unwrap().contains(WORDS);
            assert_eq!(said, is_dense, "{}", figure.id);
        }
    }
}

#[test]
fn an_engine_that_does_not_say_what_its_space_goes_to_is_counted_as_not_drawn() {
    let cell = |engine| -> (Unusual, f64) { (vec![(&kv::ENGINE, engine)], 1e5) };
    let mut run = kv_fixture::of_settings(&["rocksdb", "redb"].map(cell));
    for trial in &mut run.trials {
        if trial.factors[kv::ENGINE.name] == "rocksdb" {
            let parts = [
                kv::DATA_BLOCK_BYTES,
                kv::INDEX_BYTES,
                kv::FILTER_BYTES,
                kv::LOG_BYTES,
            ];
            trial.values.extend(parts.map(|part| Value::measured(part, 1e6)));
        }
    }
    let caption = figure(&run, "kv-space-parts").caption;
    assert!(caption.contains("Not drawn: 1 cell (engine redb"), "{caption}");
}

#[test]
fn a_page_says_of_intervals_what_is_drawn_of_them() {
    let mut run = RunBuilder::new(3).cells(&[4096], &[1, 4, 16], &[100]).build();
    let page = Report::of(&run).to_html();
    assert!(page.contains("Shaded: 75 % interval of the median."), "{page}");
    // One depth alone has more than one trial, and so a bar.
    run.trials
        .retain(|trial| trial.repetition == 0 || trial.factors[QUEUE_DEPTH.name] == "4");
    let page = Report::of(&run).to_html();
    assert!(page.contains("Bars: 75 % interval of the median; values without a bar have no interval."));
    assert!(!page.contains("Shaded"));
}
