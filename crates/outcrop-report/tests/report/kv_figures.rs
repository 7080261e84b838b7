//! Figures of key-value engines by workload, threads, processes and parts of the space, drawn from runs whose truth is known.

use outcrop_measure::metric::Metric;
use outcrop_report::section::{FigureSlot, Missing};
use outcrop_report::{Figure, Report};
use outcrop_results::{DataIdentity, RunView, Value};
use outcrop_schema::kv::{
    COMPRESSION, CONTENT, DATA_BLOCK_BYTES, DATA_BLOCK_RATIO, ENERGY, ENGINE, FILTER_BYTES, INDEX_BYTES,
    KERNEL_CPU, LOG_BYTES, PROCESSES, THREADS, UPPER_LEVELS_SHARE, VERSIONS_PER_RECORD, WORKLOAD,
};

use crate::compression_fixture::{Builder, codec};
use crate::kv_fixture::{Stored, Unusual, codecs, of, of_settings};

/// The drawn figures whose identifier begins so.
fn figures(run: &RunView, id: &str) -> Vec<Figure> {
    let report = Report::of(run);
    let slots = report.layers.iter().flat_map(|layer| &layer.figures);
    let drawn = slots.filter_map(|slot| match slot {
        FigureSlot::Drawn(figure) if figure.id.starts_with(id) => Some(figure.clone()),
        _ => None,
    });
    drawn.collect()
}

fn missing(run: &RunView, title: &str) -> Option<Missing> {
    let report = Report::of(run);
    let slots = report.layers.iter().flat_map(|layer| &layer.figures);
    let mut found = slots.filter_map(|slot| match slot {
        FigureSlot::Missing(missing) if missing.title == title => Some(missing.clone()),
        _ => None,
    });
    found.next()
}

/// What the published study measured, as far as a small machine goes.
fn scaling() -> RunView {
    let mut cells: Vec<(Unusual, f64)> = Vec::new();
    for workload in ["ycsb-a", "ycsb-f"] {
        for compression in ["none", "lz4"] {
            for (threads, of_threads) in [("1", 1e5), ("10", 1.4e5)] {
                for (processes, of_processes) in [("1", 1.0), ("2", 1.6), ("4", 1.7)] {
                    let settings: Unusual = vec![
                        (&WORKLOAD, workload),
                        (&COMPRESSION, compression),
                        (&THREADS, threads),
                        (&PROCESSES, processes),
                    ];
                    cells.push((settings, of_threads * of_processes));
                }
            }
        }
    }
    of_settings(&cells)
}

#[test]
fn every_workload_and_number_of_threads_has_its_figure_by_processes() {
    let run = scaling();
    for base in ["kv-throughput", "kv-read-latency", "kv-cpu"] {
        let drawn = figures(&run, base);
        assert_eq!(drawn.len(), 4, "{base}");
        for workload in ["ycsb-a", "ycsb-f"] {
            for threads in ["1 thread", "10 threads"] {
                let words = format!("{workload}, {threads}");
                let id = format!("{base}-{}", words.replace(", ", "-").replace(' ', "-"));
                let figure = drawn.iter().find(|figure| figure.id == id);
                let figure = figure.unwrap_or_else(|| panic!("no {id}"));
                assert!(
                    figure.title.ends_with(&format!("by processes: {words}")),
                    "{}",
                    figure.title
                );
                assert!(figure.caption.contains(&words), "{}", figure.caption);
                let data = figure.to_csv().unwrap();
                for codec in ["rocksdb none 4KiB", "rocksdb lz4 4KiB"] {
                    assert!(data.contains(codec), "{id}: {data}");
                }
            }
        }
    }
    // Two codecs at three numbers of processes, and nothing of the other loads.
    let data = figures(&run, "kv-throughput-ycsb-f-10-threads")[0]
        .to_csv()
        .unwrap();
    assert_eq!(data.lines().count(), 1 + 2 * 3, "{data}");
    assert!(data.contains("140000") && !data.contains("100000,"), "{data}");
}

#[test]
fn threads_are_the_axis_where_they_alone_differ() {
    let cell = |threads| -> (Unusual, f64) { (vec![(&THREADS, threads)], 1e5) };
    let run = of_settings(&[cell("1"), cell("2"), cell("8")]);
    let drawn = figures(&run, "kv-throughput");
    let [figure] = drawn.as_slice() else {
        panic!("{} figures", drawn.len());
    };
    assert_eq!(
        (figure.id.as_str(), figure.title.as_str()),
        ("kv-throughput", "Throughput by threads: ycsb-a, 1 process")
    );
    assert!(figure.to_csv().unwrap().contains("Threads of each process"));
}

/// An LSM tree that is ahead under one workload, and a B-tree that is under another.
fn trees() -> RunView {
    let cell = |engine, workload, throughput| -> (Unusual, f64) {
        let compression = if engine == "redb" { "none" } else { "lz4" };
        let settings: Unusual = vec![
            (&ENGINE, engine),
            (&WORKLOAD, workload),
            (&COMPRESSION, compression),
        ];
        (settings, throughput)
    };
    of_settings(&[
        cell("rocksdb", "ycsb-a", 1e5),
        cell("redb", "ycsb-a", 4e4),
        cell("rocksdb", "ycsb-c", 1e5),
        cell("redb", "ycsb-c", 3e5),
    ])
}

#[test]
fn engines_are_compared_under_every_workload() {
    let run = trees();
    let drawn = figures(&run, "kv-workloads");
    let [figure] = drawn.as_slice() else {
        panic!("{} figures", drawn.len());
    };
    let data = figure.to_csv().unwrap();
    for words in [
        "ycsb-a",
        "ycsb-c",
        "rocksdb lz4 4KiB",
        "redb none 4KiB",
        "300000",
        "40000",
    ] {
        assert!(data.contains(words), "{words}: {data}");
    }
    assert!(missing(&codecs(), "Engines by workload").is_some());
}

#[test]
fn the_answer_can_be_not_an_lsm_tree() {
    let claim = |run: &RunView| {
        let report = Report::of(run);
        let mut advice = report.layers[0].answer.advice.iter();
        let found = advice.find(|claim| claim.topic == "LSM tree or B-tree").cloned();
        found.expect("both are in the run")
    };
    let mixed = claim(&trees());
    assert_eq!(
        mixed.brief,
        "LSM tree ahead in 1 of 2 loads, B-tree in 1, a tie in 0"
    );
    assert_eq!(mixed.action, None);
    let mut run = trees();
    run.trials
        .retain(|trial| trial.factors[WORKLOAD.name] == "ycsb-c");
    let action = claim(&run).action.expect("one winner");
    assert!(action.starts_with("Use the B-tree (redb)"), "{action}");
    run = trees();
    run.trials
        .retain(|trial| trial.factors[WORKLOAD.name] == "ycsb-a");
    let action = claim(&run).action.expect("one winner");
    assert!(action.starts_with("Use an LSM tree"), "{action}");
}

/// The same run with values added to each trial.
fn with(mut run: RunView, values: &[(Metric, Result<f64, &str>)]) -> RunView {
    for trial in &mut run.trials {
        let values = values.iter().map(|(metric, value)| match value {
            Ok(value) => Value::measured(*metric, *value),
            Err(why) => Value::unavailable(*metric, *why),
        });
        trial.values.extend(values);
    }
    run
}

#[test]
fn what_an_operation_takes_is_drawn_and_without_energy_the_reason_stands_in_its_place() {
    const TITLE: &str = "Operations per joule";
    let run = with(
        scaling(),
        &[(KERNEL_CPU, Ok(700.0)), (ENERGY, Err("no counter here"))],
    );
    let cpu = figures(&run, "kv-cpu-ycsb-a-1-thread")[0].to_csv().unwrap();
    for words in [
        "4 processes",
        "the engine's own threads",
        "in the kernel, of both",
        "700",
    ] {
        assert!(cpu.contains(words), "{words}: {cpu}");
    }
    let reason = missing(&run, TITLE).expect("there is no energy").reason;
    assert!(
        reason.starts_with("no counter here; CPU time per operation is shown instead"),
        "{reason}"
    );
    let page = Report::of(&run).to_html();
    assert!(page.contains("engine's own CPU") && page.contains("energy is unavailable: no counter here"));

    let run = with(scaling(), &[(ENERGY, Ok(0.0005))]);
    assert_eq!(missing(&run, TITLE), None);
    let energy = figures(&run, "kv-operations-per-joule");
    assert_eq!(energy.len(), 4);
    assert!(energy[0].to_csv().unwrap().contains(",2000,"));
}

#[test]
fn the_space_is_drawn_by_what_it_is_for_and_what_an_engine_does_not_say_is_named() {
    // Of 55 MB of the cells with LZ4 and 4 KiB.
    let parts = [
        (DATA_BLOCK_BYTES, Ok(44e6)),
        (INDEX_BYTES, Ok(2.2e6)),
        (FILTER_BYTES, Ok(1.1e6)),
        (LOG_BYTES, Ok(1.1e6)),
        (DATA_BLOCK_RATIO, Ok(2.25)),
        (VERSIONS_PER_RECORD, Ok(1.25)),
        (UPPER_LEVELS_SHARE, Ok(0.2)),
    ];
    let run = with(codecs(), &parts);
    let ratios = &figures(&run, "kv-space")[0];
    let said = "Of the space of rocksdb lz4 4KiB: data blocks 80 %, indexes 4.0 %, bloom filters 2.0 %, log 2.0 %, the rest 12 %; its files hold \
                each record 1.25 times; 20 % of the files' bytes lie above the deepest level.";
    assert!(ratios.caption.contains(said), "{}", ratios.caption);
    let data = ratios.to_csv().unwrap();
    assert!(
        data.contains("data blocks alone, by the engine's statistics") && data.contains("2.25"),
        "{data}"
    );
    let data = figures(&run, "kv-space-parts")[0].to_csv().unwrap();
    for words in ["bloom filters", "0.44", "0.022", "0.011"] {
        assert!(data.contains(words), "{words}: {data}");
    }
    // What the others leave was not measured.
    let of = |part: &str| -> Vec<&str> { data.lines().filter(|row| row.contains(part)).collect() };
    assert!(
        !of("the rest").is_empty() && of("the rest").iter().all(|row| row.contains("derived")),
        "{data}"
    );
    assert!(of("indexes").iter().all(|row| row.contains("measured")), "{data}");
    let run = with(codecs(), &[(DATA_BLOCK_BYTES, Err("it does not say"))]);
    let why = missing(&run, "What the space goes to")
        .expect("there are no parts")
        .reason;
    assert_eq!(why, "it does not say.");
    let ratios = figures(&run, "kv-space")[0].to_csv().expect("a chart has data");
    assert!(!ratios.contains("data blocks"), "{ratios}");
}

#[test]
fn parts_that_exceed_the_space_are_said_and_leave_no_rest() {
    // Of 55 MB.
    let parts = [
        (DATA_BLOCK_BYTES, Ok(50e6)),
        (INDEX_BYTES, Ok(2.2e6)),
        (FILTER_BYTES, Ok(1.1e6)),
        (LOG_BYTES, Ok(5.0e6)),
    ];
    let run = with(of_settings(&[(vec![], 1e5)]), &parts);
    let figure = &figures(&run, "kv-space-parts")[0];
    assert!(
        figure
            .caption
            .contains("In 1 cell the parts exceed the space, by up to 6.0 %, and leave no rest"),
        "{}",
        figure.caption
    );
    let data = figure.to_csv().unwrap();
    assert!(!data.contains("the rest"), "{data}");
    let ratios = &figures(&run, "kv-space")[0].caption;
    assert!(
        ratios.contains("log 9.1 %, together 6.0 % more than the space"),
        "{ratios}"
    );
    assert!(!ratios.contains("the rest"), "{ratios}");
}

#[test]
fn loads_without_a_figure_are_counted_in_the_last_caption() {
    const LOADS: usize = 14;
    let mut cells: Vec<(Unusual, f64)> = Vec::new();
    for workload in [
        "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f", "mixgraph",
    ] {
        for threads in ["1", "10"] {
            for processes in ["1", "2"] {
                let settings: Unusual = vec![
                    (&WORKLOAD, workload),
                    (&THREADS, threads),
                    (&PROCESSES, processes),
                ];
                cells.push((settings, 1e5));
            }
        }
    }
    let run = of_settings(&cells);
    for base in ["kv-throughput", "kv-read-latency", "kv-cpu"] {
        let drawn = figures(&run, base);
        let left_out = format!("Not drawn: {} loads (ycsb-f, 1 thread", LOADS - drawn.len());
        let (last, others) = drawn.split_last().unwrap();
        assert!(last.caption.contains(&left_out), "{base}: {}", last.caption);
        assert!(
            others.iter().all(|figure| !figure.caption.contains("Not drawn")),
            "{base}"
        );
    }
    let few = figures(&scaling(), "kv-cpu");
    assert!(few.iter().all(|figure| !figure.caption.contains("Not drawn")));
}

#[test]
fn cells_without_a_bar_or_a_line_are_counted_in_the_caption() {
    const LEVELS: [&str; 18] = [
        "zstd:1", "zstd:2", "zstd:3", "zstd:4", "zstd:5", "zstd:6", "zstd:7", "zstd:8", "zstd:9", "zstd:10",
        "zstd:11", "zstd:12", "zstd:13", "zstd:14", "zstd:15", "zstd:16", "zstd:17", "zstd:18",
    ];
    let cells = |processes: &[&'static str]| -> Vec<(Unusual, f64)> {
        let of_level = |level: &'static str| processes.iter().map(move |count| (level, *count));
        let cell = |(level, count): (&'static str, &'static str)| {
            let settings: Unusual = vec![(&COMPRESSION, level), (&PROCESSES, count)];
            (settings, 1e5)
        };
        LEVELS.into_iter().flat_map(of_level).map(cell).collect()
    };
    let parts = [DATA_BLOCK_BYTES, INDEX_BYTES, FILTER_BYTES, LOG_BYTES].map(|metric| (metric, Ok(1e6)));
    let run = with(of_settings(&cells(&["1"])), &parts);
    for (id, left_out) in [
        ("kv-codec-throughput", 2),
        ("kv-space", 2),
        ("kv-space-parts", 2),
        ("kv-cpu", 2),
        ("kv-over-time", 12),
    ] {
        let caption = &figures(&run, id)[0].caption;
        let said = format!("Not drawn: {left_out} cells (compression zstd:");
        assert!(caption.contains(&said), "{id}: {caption}");
    }
    // In each of the two panels.
    let of_two = of_settings(&cells(&["1", "2"]));
    let caption = &figures(&of_two, "kv-cpu")[0].caption;
    assert!(
        caption.contains("Not drawn: 4 cells (compression zstd:17, zstd:18)."),
        "{caption}"
    );
    // All of the second number of processes, and the last two levels of the first.
    let caption = &figures(&of_two, "kv-codec-throughput")[0].caption;
    let said = "Not drawn: 20 cells (compression zstd:17, zstd:18; processes 2).";
    assert!(caption.contains(said), "{caption}");
}

/// A run of both layers on the same data: blocks of 4 KiB have these ratios in the compression layer.
fn of_two_layers(store_codec: &'static str, kv: &DataIdentity, compression: &DataIdentity) -> String {
    let mut run = of(&[Stored {
        codec: store_codec,
        block_size: "4KiB",
        filesystem: "as-is",
        throughput: 1e5,
        stored: 55e6,
    }]);
    for trial in &mut run.trials {
        trial.data = Some(kv.clone());
    }
    let ratios = [
        codec("lz4", 1.61, 7e8, 3e9),
        codec("zstd:1", 2.21, 3e8, 9e8),
        codec("zstd:3", 2.31, 2e8, 9e8),
        codec("lz4hc:9", 1.91, 3e7, 3e9),
        codec("deflate-zlib:6", 2.41, 3e7, 3e8),
        codec("snappy", 1.51, 6e8, 1e9),
    ];
    let mut blocks = Builder::new(3).speeds(&ratios, &[4, 64], &[1]).build();
    for trial in &mut blocks.trials {
        trial.data = Some(compression.clone());
    }
    run.trials.extend(blocks.trials);
    figures(&run, "kv-space")[0].to_csv().expect("a chart has data")
}

fn data(whole: &str, taken: &str) -> DataIdentity {
    DataIdentity {
        whole: whole.to_owned(),
        taken: taken.to_owned(),
        taken_bytes: 0,
    }
}

#[test]
fn the_ratio_of_blocks_alone_stands_next_to_the_engines_on_the_same_data() {
    const BLOCKS: &str = "\"blocks alone, as the compression layer has it\"";
    let file = data("f00d", "feed");
    let generated = data("generated", "generated-compressible:2");
    let made = data("generated-compressible:2", "beef");
    // A name without a level means the level that the codec's own library takes.
    for (codec, ratio) in [
        ("lz4", "1.61"),
        ("snappy", "1.51"),
        ("zstd:1", "2.21"),
        ("zstd", "2.31"),
        ("lz4hc", "1.91"),
        ("zlib", "2.41"),
        ("zlib:6", "2.41"),
    ] {
        for (kv, compression) in [(&file, &file), (&generated, &made)] {
            let data = of_two_layers(codec, kv, compression);
            let row = data.lines().find(|line| line.contains(BLOCKS));
            let row = row.unwrap_or_else(|| panic!("{codec}: {data}"));
            assert!(row.contains(ratio), "{codec}: {row}");
        }
    }
    // Neither other data, nor another level.
    let other = data("generated-random", "beef");
    for (codec, kv, compression) in [
        ("lz4", &generated, &other),
        ("lz4", &file, &made),
        ("zstd:9", &file, &file),
    ] {
        let data = of_two_layers(codec, kv, compression);
        assert!(!data.contains(BLOCKS), "{codec}: {data}");
    }
}

#[test]
fn the_run_that_has_the_ratio_of_blocks_too_is_named_for_the_data_of_the_values() {
    let caption = |run: &RunView| figures(run, "kv-space")[0].caption.clone();
    let mut run = codecs();
    let said = caption(&run);
    assert!(
        said.contains(": outcrop run kv-compression predict-codecs."),
        "{said}"
    );
    for trial in &mut run.trials {
        trial.factors.remove(CONTENT.name);
    }
    run.plan =
        "[run]\ndata = \"/srv/dump\"\n[[plan]]\nlayer = \"kv\"\n[plan.subject]\ndata = \"/srv/dump\"\n"
            .into();
    let said = caption(&run);
    let words = ": outcrop run kv-compression codec-choice --data /srv/dump.";
    assert!(said.contains(words), "{said}");
}
