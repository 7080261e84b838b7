//! A quick profile of all six layers: as many cells, trials and latencies as a real one has, so that what grows with them is seen here.

use std::path::Path;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_report::Report;
use outcrop_results::{HistogramEntry, RunView, TrialEntry};
use outcrop_schema::column::{DISTINCT, Index, LATENCY, SKEW};
use outcrop_schema::column::{FILE_BYTES, FLOOR_BYTES, SIZE_OVER_FLOOR, TEXT_BYTES};
use outcrop_schema::device::PAGE_CACHE;
use outcrop_workload::column::SearchMode;

use crate::column_fixture::{FileColumn, WholeColumn};
use crate::compression_fixture::CODECS;
use crate::kv_fixture::Stored;
use crate::markup::elements;
use crate::{cache_fixture, column_fixture, compression_fixture, filesystem, fixture, kv_fixture};

/// What a page may have: it is sent by mail and opened on phones.
const MOST_BYTES: usize = 400_000;

pub(crate) fn six_layers() -> RunView {
    let mut run = fixture::RunBuilder::new(3)
        .cells(&[4 << 10, 128 << 10], &[1, 8, 32, 256], &[100, 0])
        .cells(&[4 << 10], &[32], &[70, 50])
        .cells(&[1 << 20], &[1, 32], &[100, 0])
        .build();
    let compression = compression_fixture::Builder::new(3).speeds(&CODECS, &[4, 64], &[1]);
    let others = [
        filesystem::choice(),
        compression.build(),
        columns(),
        kv_fixture::of(&stores()),
        cache_fixture::peers().run,
    ];
    for other in others {
        run.trials.extend(other.trials);
    }
    for trial in &mut run.trials {
        spread_latencies(trial);
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1");
    let read = |name: &str| std::fs::read_to_string(kept.join(name)).expect("the kept run has it");
    run.environment = serde_json::from_str(&read("environment.json")).expect("an environment is JSON");
    run.plan = read("plan.toml").repeat(4);
    run
}

fn stores() -> Vec<Stored> {
    let store = |codec, block_size, filesystem, throughput, stored| Stored {
        codec,
        block_size,
        filesystem,
        throughput,
        stored,
    };
    vec![
        store("none", "4KiB", "as-is", 1e5, 1.1e8),
        store("none", "16KiB", "ext4", 9.5e4, 1.08e8),
        store("lz4", "4KiB", "as-is", 9e4, 5.5e7),
        store("lz4", "16KiB", "ext4", 7e4, 5e7),
        store("none", "16KiB", "btrfs", 8e4, 1.0e8),
        store("none", "16KiB", "btrfs zstd:1", 6e4, 4.4e7),
    ]
}

fn columns() -> RunView {
    let mut builder = column_fixture::Builder::new();
    for (step, distinct) in [100_u32, 10_000, 100_000].into_iter().enumerate() {
        for skew in [0.0, 0.8, 1.2] {
            let mut factors = column_fixture::encoded();
            factors.set(&DISTINCT, distinct);
            factors.set(&SKEW, skew);
            let bytes = 4e5 * (step + 1) as f64;
            let values = [
                (FILE_BYTES, bytes),
                (FLOOR_BYTES, bytes / 1.02),
                (SIZE_OVER_FLOOR, 1.02),
                (TEXT_BYTES, 8e6),
            ];
            builder = builder.generated(factors, &values);
        }
    }
    for index in [Index::None, Index::Postings] {
        for mode in [SearchMode::InMemory, SearchMode::OnDisk, SearchMode::Scan] {
            let p50 = if index == Index::Postings { 9e4 } else { 3e4 };
            let values = [(LATENCY.p50, p50), (LATENCY.p99, 3.0 * p50), (FILE_BYTES, 5e5)];
            builder = builder.generated(column_fixture::looked_up(index, mode), &values);
        }
    }
    builder.build()
}

/// Gives every interval the many different latencies that a device has: a few fixed ones would make short curves.
fn spread_latencies(trial: &mut TrialEntry) {
    const STEPS: u32 = 600;
    for entry in &mut trial.histograms {
        let mean_ns = entry.sum_ns as f64 / entry.count.max(1) as f64;
        let mut histogram = LatencyHistogram::new();
        for step in 1..STEPS {
            let share = f64::from(step) / f64::from(STEPS);
            let latency_ns = mean_ns * (0.3 * (share / (1.0 - share)).ln()).exp();
            histogram.record_many(latency_ns as u64, (entry.count / u64::from(STEPS)).max(1));
        }
        *entry = HistogramEntry::new(
            &entry.operation,
            entry.kind,
            entry.interval_index,
            entry.start_s,
            entry.duration_s,
            &histogram,
        );
    }
}

#[test]
fn a_page_of_six_layers_is_well_formed_and_small() {
    let report = Report::of(&quick(six_layers()));
    assert_eq!(report.layers.len(), 6);
    let html = report.to_html();
    elements(&html).unwrap();
    let one_page = report.to_one_page_html();
    elements(&one_page).unwrap();
    // The browser check reads them.
    if let Some(folder) = std::env::var_os("OUTCROP_WRITE_PAGES") {
        std::fs::write(Path::new(&folder).join("report.html"), &html).unwrap();
        std::fs::write(Path::new(&folder).join("one-page.html"), &one_page).unwrap();
    }
    assert!(html.len() <= MOST_BYTES, "{} bytes", html.len());
    let waiting = waiting(&report, &html);
    let are_elsewhere = waiting.iter().all(|id| id.contains("-by-size-of-"));
    assert!(are_elsewhere, "it has room for every other figure: {waiting:?}");
}

/// The figures of a report that its page names with their files instead of drawing them.
fn waiting(report: &Report, html: &str) -> Vec<String> {
    let named = |id: &str| html.contains(&format!("<code>figures/{id}.svg</code>"));
    let drawn = |id: &str| html.contains(&format!("<figure id=\"figure-{id}\">"));
    let figures = report.figures();
    for figure in &figures {
        assert!(drawn(&figure.id) != named(&figure.id), "{}", figure.id);
    }
    let ids = figures.into_iter().map(|figure| figure.id.clone());
    ids.filter(|id| named(id)).collect()
}

/// A quick profile of a folder: six layers, and sixty columns of several files with long names.
fn of_a_wide_folder() -> RunView {
    let mut run = six_layers();
    let mut builder = column_fixture::Builder::new();
    for place in 0..60_u32 {
        let name = format!(
            "table-of-many-columns-{}.csv/a_rather_long_column_name_{place}",
            place % 7
        );
        let (name, text) = (&*name.leak(), 2e6 + 1e4 * f64::from(place));
        builder = builder.of_table(
            "folder customers-and-orders",
            FileColumn {
                name,
                rows: 65_536.0,
                distinct: 500.0 + f64::from(place),
                text,
                balanced: text / 5.3,
                smallest: text / 6.1,
                zstd: text / 4.7,
                lookups: (3.1e4, 2.9e3),
            },
        );
        builder = builder.of_whole(WholeColumn {
            name,
            rows: 4e5,
            table_rows: 4e5,
            text: text * 6.0,
            ocol: text * 1.1,
            stored: text * 1.5,
            parquet: text * 1.2,
        });
    }
    run.trials.retain(|trial| trial.layer != "column");
    run.trials.extend(builder.build().trials);
    quick(run)
}

/// The same run as one of quick effort, with a plan of the same length.
fn quick(mut run: RunView) -> RunView {
    let as_comments = run.plan.lines().map(|line| format!("# {line}\n"));
    run.plan = format!("[run]\neffort = \"quick\"\n{}", as_comments.collect::<String>());
    run
}

#[test]
fn the_page_of_a_quick_profile_of_many_columns_is_small_and_says_what_it_leaves_to_the_files_of_the_run() {
    let report = Report::of(&of_a_wide_folder());
    let html = report.to_html();
    elements(&html).unwrap();
    assert!(html.len() <= MOST_BYTES, "{} bytes", html.len());
    assert!(html.contains("rows are on this page; cells.csv, in the folder of the run, has all of them."));
    assert!(html.contains("The plan with all defaults is in plan.toml"));
    assert_eq!(
        waiting(&report, &html),
        [
            "latency-by-size-of-reads",
            "latency-by-size-of-writes",
            "bandwidth-by-size-of-reads",
            "bandwidth-by-size-of-writes",
            "compress-speed-by-block-size",
            "decompress-speed-by-block-size"
        ]
    );
    // What is left out is what is elsewhere: answers, figures and findings stay.
    for part in [
        "column-answer",
        "column-cells",
        "column-figures",
        "column-findings",
        "cache-method",
    ] {
        assert!(html.contains(&format!("id=\"{part}\"")), "{part}");
    }
}

#[test]
fn the_page_begins_with_a_row_for_each_layer_and_the_contents() {
    let html = Report::of(&six_layers()).to_html();
    let places = [
        "class=\"stack\"",
        "href=\"#placement\"",
        "href=\"#cache-answer\"",
        "<nav",
        "id=\"placement\"",
        "<main",
    ];
    let places = places.map(|part| html.find(part).unwrap_or_else(|| panic!("no {part}")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_page_for_print_of_six_layers_says_what_it_leaves_to_the_report() {
    let html = Report::of(&six_layers()).to_one_page_html();
    assert!(html.contains("In report.html: "), "what is left out is said");
    assert_eq!(html.matches("<figure ").count(), 3);
}

/// A run on a loop device that the page cache answers, with another layer.
#[test]
fn what_voids_the_figures_of_a_layer_is_said_in_its_row_before_what_to_do() {
    let mut run = six_layers();
    let remark = "loop0 was attached without direct I/O, so the page cache answers instead of the disk";
    for trial in run.trials.iter_mut().filter(|trial| trial.layer == "device") {
        trial.notes.push(PAGE_CACHE.remark(remark));
    }
    let report = Report::of(&run);
    for width in [60, 80, 120] {
        let screen = report.screen(width, false);
        assert!(
            screen.lines().all(|line| line.chars().count() <= width),
            "{screen}"
        );
        let row = screen.lines().find(|line| line.starts_with("device")).unwrap();
        assert!(row.contains("Warning: "), "{screen}");
    }
    let screen = report.screen(120, false);
    assert!(screen.contains("memory answered, not the device"), "{screen}");
    let page = report.to_html();
    let stack = &page[..page.find("<nav").unwrap()];
    assert!(
        stack.contains("memory answered, not the device"),
        "the table of the page says it too"
    );
}

/// What to do in the row of a layer, in one line.
fn to_do(screen: &str, layer: &str) -> String {
    let mut lines = screen.lines().skip_while(|line| !line.starts_with("layer "));
    let head = lines.next().expect("the table has a head");
    let column = head.find("what to do").expect("the table has that column");
    let mut rows = lines.skip_while(|line| !line.starts_with(layer));
    let first = rows.next();
    let others = rows.take_while(|line| line.starts_with(' '));
    let cells = first.into_iter().chain(others).map(|line| {
        let letters: String = line.chars().skip(column).collect();
        letters.trim().to_owned()
    });
    cells.collect::<Vec<_>>().join(" ")
}

#[test]
fn advice_on_an_index_that_is_cut_says_which_lookup_is_which() {
    let report = Report::of(&six_layers());
    for width in [60, 80, 100, 120] {
        let said = to_do(&report.screen(width, false), "column");
        assert!(said.starts_with("Encode without an index"), "{width}: {said}");
        assert!(!said.contains(" µs instead of "), "{width}: {said}");
        if said.contains("90.1 µs") {
            let both = "takes 30.0 µs, with postings 90.1 µs";
            assert!(said.contains(both), "{width}: {said}");
        }
    }
}

#[test]
fn the_first_screen_of_six_layers_has_a_row_for_each_and_cuts_no_command() {
    let report = Report::of(&six_layers());
    for width in [80, 120] {
        let screen = report.screen(width, false);
        for layer in &report.layers {
            let row = screen.lines().find(|line| line.starts_with(&layer.layer));
            assert!(row.is_some(), "{}: {screen}", layer.layer);
        }
        assert!(
            screen.lines().all(|line| line.chars().count() <= width),
            "{screen}"
        );
        assert_eq!(screen.matches('`').count() % 2, 0, "{screen}");
        // A picture of where to compress: the answer and what it is compared with, the fastest first and its bar no shorter.
        let bars: Vec<&str> = screen.lines().filter(|line| line.contains('█')).collect();
        assert!(bars.len() >= 2, "{screen}");
        assert_eq!(
            bars.iter().filter(|line| line.contains("← the answer")).count(),
            1,
            "{screen}"
        );
        let lengths = bars.iter().map(|line| line.matches(['█', '▒']).count());
        assert!(lengths.clone().is_sorted_by(|one, next| one >= next), "{screen}");
        assert!(
            bars.iter().any(|line| line.contains("no compression")),
            "{screen}"
        );
    }
    insta::assert_snapshot!("six_layers", report.screen(80, false));
}

#[test]
fn the_picture_of_an_answer_that_is_not_decided_marks_no_answer() {
    let mut run = six_layers();
    let stores = run.trials.iter_mut().filter(|trial| trial.layer == "kv");
    for trial in stores {
        let factor = 1.0 + 0.9 * f64::from(trial.repetition);
        let per_second = trial
            .values
            .iter_mut()
            .filter(|value| value.unit == outcrop_measure::metric::Unit::PerSecond);
        per_second.for_each(|value| value.value = value.value.map(|value| value * factor));
    }
    let screen = Report::of(&run).screen(120, false);
    assert!(screen.starts_with("Not decided"), "{screen}");
    assert!(
        screen.contains("▒ from the low to the high end of the interval"),
        "{screen}"
    );
    assert!(
        screen.contains("← so far") && !screen.contains("← the answer"),
        "{screen}"
    );
}

#[test]
fn where_to_compress_says_that_columns_are_no_candidates_where_the_run_has_them() {
    const COLUMNS: &str = "Columns are not candidates: a column file takes no updates.";
    let report = Report::of(&six_layers());
    assert!(report.to_html().contains(COLUMNS));
    let json = report.to_json().expect("it is written").to_string();
    assert!(json.contains(COLUMNS), "{json}");
    for width in [60, 80, 200] {
        let screen = report.screen(width, false);
        assert!(!screen.contains("not candidates"), "{screen}");
    }
    let stores = Report::of(&kv_fixture::of(&stores()))
        .to_json()
        .unwrap()
        .to_string();
    assert!(!stores.contains(COLUMNS));
}
