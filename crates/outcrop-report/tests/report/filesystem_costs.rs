//! What filesystems cost besides cold reads: small files, ageing, offered load; and published figures in the charts.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_report::Report;
use outcrop_report::cell_table::markdown;
use outcrop_report::section::FigureSlot;
use outcrop_results::{CellTable, HistogramEntry, HistogramKind, RunView};
use outcrop_schema::filesystem::{
    AGE, ARRIVAL, COMPRESSION_BLOCK_SIZE, CREATE_RATE, EXTENTS, FILE_SIZE, FILES, FLUSHES_PER_OPERATION,
    IO_BLOCK_SIZE, IOPS, JOBS, LATENCY, LATENCY_TAIL, OPERATION, OPTIONS, REQUESTS_PER_OPERATION,
    SPACE_RATIO, SYNC,
};

use crate::filesystem::{Builder, Values};

/// A cell with the values of some factors; each with three trials.
pub(crate) fn cell(
    builder: Builder,
    name: (&str, &str),
    factors: &[(&str, &str)],
    changes: Values<'_>,
) -> Builder {
    let before = builder.run.trials.len();
    let mut builder = builder.cell(name.0, name.1, changes, &OPTIONS.remark("mounted with rw"));
    for trial in &mut builder.run.trials[before..] {
        for (factor, value) in factors {
            trial.factors.insert((*factor).to_owned(), (*value).to_owned());
        }
    }
    builder
}

/// The headings of the table of cells.
fn headings(run: &RunView) -> String {
    let table = markdown(&CellTable::of(run));
    let line = table.lines().find(|line| line.starts_with('|'));
    line.unwrap_or_default().to_owned()
}

#[test]
fn small_files_are_answered_in_space_requests_and_time() {
    let small = [(OPERATION.name, "small-files"), (FILE_SIZE.name, "1500")];
    let soon: Values<'_> = &[
        (SPACE_RATIO, 0.36),
        (REQUESTS_PER_OPERATION, 1.1),
        (IOPS, 9000.0),
        (CREATE_RATE, 40_000.0),
    ];
    let dense: Values<'_> = &[
        (SPACE_RATIO, 0.86),
        (REQUESTS_PER_OPERATION, 0.2),
        (IOPS, 7000.0),
        (CREATE_RATE, 30_000.0),
    ];
    let builder = cell(Builder::new(), ("ext4", "none"), &small, soon);
    let run = cell(builder, ("btrfs", "zstd:3"), &small, dense).run;
    let report = Report::of(&run);
    let answer = &report.layers[0].answer;
    let labels: Vec<&str> = answer.capabilities.iter().map(|row| row.label.as_str()).collect();
    for what in ["data ÷ space", "requests", "per second", "created"] {
        let is_said = |label: &&str| label.starts_with("Files of 1500 B") && label.contains(what);
        assert!(labels.iter().any(is_said), "{what}: {labels:?}");
    }
    let claim = answer
        .advice
        .iter()
        .find(|claim| claim.topic == "Files of 1500 B");
    let claim = claim.unwrap_or_else(|| panic!("{:?}", answer.advice));
    assert!(
        claim.brief.starts_with("ext4 none: 9.00 k read per second"),
        "{}",
        claim.brief
    );
    for what in [
        "1.10 device requests each",
        "least space: btrfs zstd:3",
        "data ÷ space 0.86",
    ] {
        assert!(claim.brief.contains(what), "{what}: {}", claim.brief);
    }
    let headings = headings(&run);
    assert!(
        headings.contains("requests") && headings.contains("created"),
        "{headings}"
    );
}

#[test]
fn what_ageing_leaves_is_said_and_shown_where_files_were_aged() {
    let reads = |age| [(OPERATION.name, "sequential-read"), (AGE.name, age)];
    let written: Values<'_> = &[(EXTENTS, 128.0), (SPACE_RATIO, 3.52)];
    let scattered: Values<'_> = &[(EXTENTS, 640.0), (SPACE_RATIO, 2.11)];
    let fresh = || cell(Builder::new(), ("btrfs", "zstd:3"), &reads("fresh"), written);
    let run = cell(fresh(), ("btrfs", "zstd:3"), &reads("overwritten:25%"), scattered).run;
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let claim = advice.iter().find(|claim| claim.topic == "After ageing");
    let claim = claim.unwrap_or_else(|| panic!("{advice:?}"));
    assert_eq!(
        claim.brief,
        "btrfs zstd:3: 128 → 640 extents, data ÷ space 3.52 → 2.11"
    );
    assert!(headings(&run).contains("extents"), "{}", headings(&run));
    // Of files that were all written at once the count says little.
    let run = fresh().run;
    assert!(!headings(&run).contains("extents"), "{}", headings(&run));
    let report = Report::of(&run);
    assert!(
        report.layers[0]
            .answer
            .advice
            .iter()
            .all(|claim| claim.topic != "After ageing")
    );
}

#[test]
fn flushes_stand_in_the_table_where_syncs_vary() {
    let writes = |sync| [(OPERATION.name, "overwrite"), (SYNC.name, sync)];
    let flushed: Values<'_> = &[(FLUSHES_PER_OPERATION, 1.0)];
    let at_end = cell(Builder::new(), ("ext4", "none"), &writes("end"), flushed);
    assert!(!headings(&at_end.run).contains("flushes"));
    let both = cell(at_end, ("ext4", "none"), &writes("each:1"), flushed);
    assert!(headings(&both.run).contains("flushes"));
}

/// Cells under two shares of the highest rate, with so many reads in each of the three trials.
fn offered(reads: u64) -> RunView {
    let mut builder = Builder::new();
    for arrival in ["poisson:50%", "poisson:90%"] {
        builder = cell(builder, ("btrfs", "zstd:3"), &[(ARRIVAL.name, arrival)], &[]);
    }
    let mut histogram = LatencyHistogram::new();
    (0..reads).for_each(|read| histogram.record(200_000 + 100 * read));
    for trial in &mut builder.run.trials {
        trial.histograms = vec![HistogramEntry::new(
            "random-read",
            HistogramKind::Latency,
            0,
            0.0,
            0.4,
            &histogram,
        )];
        trial.values.retain(|value| value.metric != LATENCY.p99.name);
        trial
            .values
            .push(outcrop_results::Value::unavailable(LATENCY_TAIL, "too few"));
    }
    builder.run
}

#[test]
fn the_tail_under_load_is_of_all_trials_together_and_says_which_percentile_it_is() {
    let caption = |run: &RunView| {
        let report = Report::of(run);
        let figures = report.figures().into_iter();
        let mut tails = figures.filter(|figure| figure.id == "fs-tail-by-load");
        tails.next().map(|figure| figure.caption.clone())
    };
    let of_few = caption(&offered(400)).unwrap();
    assert!(
        of_few.starts_with("p99 − p50") && of_few.contains("fewer than 10,000"),
        "{of_few}"
    );
    let of_many = caption(&offered(4000)).unwrap();
    assert!(of_many.starts_with("p99.9 − p50"), "{of_many}");
    assert_eq!(caption(&offered(300)), None);
    assert!(headings(&offered(4000)).contains("p99.9 − p50"));
}

/// Identifier, caption and values of each figure with published values, where these references are asked for.
fn with_published(run: &RunView, names: &[&str]) -> Vec<(String, String, String)> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let report = Report::beside(run, &names);
    let slots = report.layers[0].figures.clone().into_iter();
    let of_slot = |slot| match slot {
        FigureSlot::Drawn(figure) => Some((
            figure.id.clone(),
            figure.caption.clone(),
            figure.to_csv().expect("its values are text"),
        )),
        FigureSlot::Missing(_) => None,
    };
    let figures = slots.filter_map(of_slot);
    figures
        .filter(|(_, _, csv)| csv.contains(",published,"))
        .collect()
}

#[test]
fn published_latencies_are_drawn_beside_ours_on_request_with_whose_they_are() {
    let mut builder = Builder::new();
    for size in ["16KiB", "128KiB"] {
        let factors = [(COMPRESSION_BLOCK_SIZE.name, size)];
        builder = cell(builder, ("squashfs", "zstd:3"), &factors, &[]);
    }
    let run = builder.run;
    let drawn = |names: &[&str]| with_published(&run, names);
    assert!(drawn(&[]).is_empty());
    // Each with whose it is, and with what the checks of the publication found wrong.
    let expected: [(&str, &[&str], &[&str]); 4] = [
        (
            "asic-zfs",
            &["fs-latency-by-size", "fs-update-over-read-published"],
            &[
                "figure 18",
                "Holds: The reads were paced",
                "Does not hold: An update",
            ],
        ),
        (
            "asic-btrfs-load",
            &["fs-latency-by-load-published", "fs-tail-by-load-published"],
            &[
                "figure 17",
                "Holds: At the highest offered loads the latency is that of a full queue",
            ],
        ),
        (
            "asic-btrfs",
            &["fs-bandwidth-published", "fs-latency-published"],
            &[
                "figure 16",
                "Does not hold: Bandwidths in MB/s are decimal.",
                "GiB/s times 1024",
            ],
        ),
        ("btrfs-zstd-2017", &["fs-space-against-writing"], &["2017"]),
    ];
    for (name, ids, words) in expected {
        let figures = drawn(&[name]);
        let found: Vec<&str> = figures.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(found, ids, "{name}");
        for (id, caption, _) in &figures {
            assert!(caption.contains("of another machine"), "{id}: {caption}");
            for word in words {
                assert!(caption.contains(word), "{id}: no {word:?}: {caption}");
            }
        }
    }
    let by_size = drawn(&["asic-zfs"]).remove(0).2;
    assert!(
        by_size.contains("published: DP-CSD") && by_size.contains(",measured,"),
        "{by_size}"
    );
}

#[test]
fn loads_are_drawn_in_one_chart_with_what_was_published_of_such() {
    let ids = |run: &RunView, names: &[&str]| -> Vec<String> {
        let figures = with_published(run, names).into_iter();
        let measured = figures.inspect(|(id, _, csv)| {
            assert!(
                id.ends_with("-published") || csv.contains(",measured,"),
                "{id}: {csv}"
            );
        });
        measured.map(|(id, ..)| id).collect()
    };
    // The setting of the study's figure: large reads from end to end, offered in bytes per second.
    let mut builder = Builder::new();
    for rate in ["constant:400MB/s", "constant:800MB/s"] {
        let factors = [
            (OPERATION.name, "sequential-read"),
            (IO_BLOCK_SIZE.name, "8MiB"),
            (JOBS.name, "6"),
            (FILES.name, "6"),
            (ARRIVAL.name, rate),
        ];
        builder = cell(builder, ("btrfs", "zstd:3"), &factors, &[]);
    }
    let run = builder.run;
    let report = Report::of(&run);
    let figures = report.figures();
    let ours = figures.iter().find(|figure| figure.id == "fs-latency-by-bytes");
    let csv = ours
        .expect("it is drawn without a reference too")
        .to_csv()
        .unwrap();
    assert!(
        csv.contains("btrfs zstd:3, sequential reads of 8 MiB, offered to 6 jobs"),
        "{csv}"
    );
    assert_eq!(
        ids(&run, &["asic-btrfs-load"]),
        ["fs-latency-by-bytes", "fs-tail-by-load-published"]
    );
    assert_eq!(
        ids(&offered(4000), &["asic-btrfs-load"]),
        ["fs-tail-by-load", "fs-latency-by-load-published"]
    );
    // Another percentile than the published one is no company for it.
    assert_eq!(
        ids(&offered(400), &["asic-btrfs-load"]),
        ["fs-latency-by-load-published", "fs-tail-by-load-published"]
    );
}
