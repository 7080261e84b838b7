//! Published figures of filesystems, run through checks that need nothing but the figures themselves.

mod tail;

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::Unit;
use outcrop_results::{Reference, ReferenceRow};
use outcrop_schema::filesystem::{
    BANDWIDTH, COMPRESSION, LOGGED_INTERVAL, LOGGED_READ_BANDWIDTH, LOGGED_WRITE_BANDWIDTH, OFFERED,
    OPERATION, PUBLISHED_LATENCY, PUBLISHED_READ_BANDWIDTH, PUBLISHED_UPDATE_LATENCY,
    PUBLISHED_WRITE_BANDWIDTH, RECORD_SIZE, SCHEMA, SPACE_RATIO, WRITE_THROUGHPUT,
};
use outcrop_workload::filesystem::{Algorithm, FileCompression, FileOperation};

use crate::cell::Cell;
use crate::finding::{About, Finding};
use crate::layer::published;
use crate::number::Number;
use crate::section::{ReferenceSection, Table};
use tail::tail_is_of_completion;

/// A plotted figure may be so much above the highest that was logged: rounding.
const ROUNDING: f64 = 1.02;
/// Bytes of a published update: a record of this size is written whole, and not read.
pub(super) const UPDATE_BYTES: u64 = 4096;
/// Bytes of a read behind the latencies by offered load.
const READ_BYTES: f64 = 8_388_608.0;
/// Requests that one of its jobs has in flight.
const QUEUE: f64 = 128.0;
/// Above this many times the latency of a light load it is waiting that is measured.
const WAITING: f64 = 10.0;

/// What the page says about each reference.
pub(super) fn sections() -> Vec<ReferenceSection> {
    let section = |reference: Reference| {
        let cells = Cell::published(&SCHEMA, &reference);
        let findings = findings(&cells)
            .into_iter()
            .map(|finding| finding.about(About::Publication));
        let findings = findings.collect();
        let table = table(&reference);
        ReferenceSection::of(reference, findings, table)
    };
    published(&SCHEMA).into_iter().map(section).collect()
}

/// The checks that these figures have what it takes for.
pub(super) fn findings(cells: &[Cell<'_>]) -> Vec<Finding> {
    let found = [
        plotted_is_logged(cells),
        units(cells),
        latency_is_the_queue(cells),
        tail_is_of_completion(cells),
        paced_not_saturated(cells),
        update_contains_its_read(cells),
        level_trades_speed_for_space(cells),
        compressed_reads_wait_for_cpu(cells),
    ];
    found.into_iter().flatten().collect()
}

/// What is plotted is at most what was logged.
fn plotted_is_logged(cells: &[Cell<'_>]) -> Option<Finding> {
    let pairs = [
        (PUBLISHED_READ_BANDWIDTH, LOGGED_READ_BANDWIDTH, "read"),
        (PUBLISHED_WRITE_BANDWIDTH, LOGGED_WRITE_BANDWIDTH, "write"),
    ];
    let ratios: Vec<(String, f64)> = pairs
        .iter()
        .flat_map(|(plotted, logged, what)| {
            cells.iter().filter_map(move |cell| {
                let ratio = cell.value(plotted)? / cell.value(logged)?;
                Some((format!("{} {what}", cell.subject()), ratio))
            })
        })
        .collect();
    if ratios.is_empty() {
        return None;
    }
    let above: Vec<&(String, f64)> = ratios.iter().filter(|(_, ratio)| *ratio > ROUNDING).collect();
    let words: Vec<String> = above
        .iter()
        .map(|(name, ratio)| format!("{name} {ratio:.2} ×"))
        .collect();
    let tested = format!(
        "plotted bandwidth over the highest in the logs that the publication ships, in {} pairs; above 1.02: {}.",
        ratios.len(),
        if words.is_empty() {
            "none".to_owned()
        } else {
            words.join(", ")
        }
    );
    let sentence = "What is plotted is at most what was logged.";
    let finding = Finding::tested("plotted-is-logged", sentence, above.is_empty(), tested);
    let numbers = ratios
        .iter()
        .map(|(name, ratio)| Number::derived(name.clone(), *ratio, Unit::Ratio, 1));
    Some(finding.numbers(numbers).otherwise(
        "No log that was shipped reaches these figures; the drawing script has an older set of them in its comments.",
    ))
}

/// Decimal megabytes would not be round in units of 1024.
fn units(cells: &[Cell<'_>]) -> Option<Finding> {
    const MEGA: f64 = 1e6;
    let plotted = cells
        .iter()
        .filter_map(|cell| cell.value(&PUBLISHED_READ_BANDWIDTH));
    let figures: Vec<f64> = plotted.map(|value| value / MEGA).collect();
    if figures.is_empty() {
        return None;
    }
    // With a fraction as it is printed, and two decimals at most when divided by 1024.
    let is_binary = |value: &&f64| {
        let hundredths = **value / 1024.0 * 100.0;
        value.fract() != 0.0 && (hundredths - hundredths.round()).abs() < 0.02
    };
    let binary: Vec<&f64> = figures.iter().filter(is_binary).collect();
    let words: Vec<String> = binary
        .iter()
        .map(|value| format!("{value} = {:.2} × 1024", **value / 1024.0))
        .collect();
    let tested = format!(
        "figures in MB/s that are whole hundredths of 1024 of it: {} of {}{}.",
        binary.len(),
        figures.len(),
        if words.is_empty() {
            String::new()
        } else {
            format!(" ({})", words.join(", "))
        }
    );
    let finding = Finding::tested(
        "units-are-decimal",
        "Bandwidths in MB/s are decimal.",
        binary.is_empty(),
        tested,
    );
    Some(
        finding
            .otherwise("These are GiB/s times 1024, called MB/s: in decimal megabytes they are 7 % higher."),
    )
}

/// At the highest offered load the latency is that of a full queue.
fn latency_is_the_queue(cells: &[Cell<'_>]) -> Option<Finding> {
    let mut by_subject: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for cell in cells {
        if let (Some(offered), Some(latency)) = (cell.get(&OFFERED), cell.value(&PUBLISHED_LATENCY)) {
            by_subject
                .entry(cell.subject())
                .or_default()
                .push((*offered, latency));
        }
    }
    let ends = by_subject.into_iter().filter_map(|(subject, mut points)| {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (lightest, heaviest) = (*points.first()?, *points.last()?);
        let in_flight = heaviest.0 * 1e6 / READ_BYTES * heaviest.1 / 1e9;
        Some((subject.to_owned(), heaviest.1 / lightest.1, in_flight))
    });
    let ends: Vec<(String, f64, f64)> = ends.collect();
    if ends.is_empty() {
        return None;
    }
    let holds = ends
        .iter()
        .all(|(_, growth, in_flight)| *growth > WAITING && *in_flight > QUEUE);
    let words: Vec<String> = ends
        .iter()
        .map(|(subject, growth, in_flight)| format!("{subject} {growth:.0} ×, {in_flight:.0} in flight"))
        .collect();
    let tested = format!(
        "latency at the highest offered load over that at the lightest (above {WAITING:.0}), and offered load × latency ÷ 8 MiB (above \
         one job's queue of {QUEUE:.0}): {}.",
        words.join("; ")
    );
    let sentence = "At the highest offered loads the latency is that of a full queue, not that of a read.";
    let numbers = ends.iter().map(|(subject, _, in_flight)| {
        Number::derived(
            format!("in flight by Little's law, {subject}"),
            *in_flight,
            Unit::Count,
            1,
        )
    });
    let finding = Finding::tested("latency-is-the-queue", sentence, holds, tested).numbers(numbers);
    Some(finding.meaning(
        "Buffered reads by libaio are synchronous: of 128 queued reads of 8 MiB all but one wait. The figures are right but measure the \
         length of the queue; more than 384 in flight is more than six jobs have, so the offered load was not reached.",
    ))
}

/// A read starts when the trace says so, however soon the one before was answered.
fn paced_not_saturated(cells: &[Cell<'_>]) -> Option<Finding> {
    let (logged, interval) = cells
        .iter()
        .find_map(|cell| Some((cell, cell.value(&LOGGED_INTERVAL)?)))?;
    let of_subject = cells.iter().filter(|cell| cell.subject() == logged.subject());
    let latencies: Vec<f64> = of_subject
        .filter_map(|cell| cell.value(&PUBLISHED_LATENCY))
        .collect();
    if latencies.is_empty() {
        return None;
    }
    let (least, most) = latencies
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), latency| {
            (least.min(*latency), most.max(*latency))
        });
    let tested = format!(
        "latencies of {} from {:.0} to {:.0} µs at depth 1, against {:.0} µs from read to read in its logs: the device waits for {:.0} to {:.0} % \
         of the time.",
        logged.subject(),
        least / 1e3,
        most / 1e3,
        interval / 1e3,
        (1.0 - most / interval) * 100.0,
        (1.0 - least / interval) * 100.0
    );
    let sentence = "The reads were paced by a trace, and did not follow each other immediately.";
    let finding = Finding::tested("paced-not-saturated", sentence, most < interval, tested);
    Some(
        finding.meaning(
            "The latencies are valid; operations per second of the same runs are those of the trace.",
        ),
    )
}

/// An update of a part of a record reads the record first.
fn update_contains_its_read(cells: &[Cell<'_>]) -> Option<Finding> {
    let larger = cells
        .iter()
        .filter(|cell| cell.get(&RECORD_SIZE).is_some_and(|size| size.0 > UPDATE_BYTES));
    let pairs = larger.filter_map(|cell| {
        let (read, update) = (
            cell.value(&PUBLISHED_LATENCY)?,
            cell.value(&PUBLISHED_UPDATE_LATENCY)?,
        );
        Some((cell, read, update))
    });
    let pairs: Vec<_> = pairs.collect();
    if pairs.is_empty() {
        return None;
    }
    let shorter: Vec<String> = pairs
        .iter()
        .filter(|(_, read, update)| update < read)
        .map(|(cell, read, update)| {
            let size = cell.spelling(&RECORD_SIZE);
            format!(
                "{} at {size}: {:.0} µs, read {:.0} µs",
                cell.subject(),
                update / 1e3,
                read / 1e3
            )
        })
        .collect();
    let tested = format!(
        "latency of a 4 KiB update against that of a read, in {} pairs of records larger than that; shorter: {}.",
        pairs.len(),
        if shorter.is_empty() {
            "none".to_owned()
        } else {
            shorter.join("; ")
        }
    );
    let sentence = "An update of a part of a record takes at least as long as the read that it contains.";
    let finding = Finding::tested("update-contains-its-read", sentence, shorter.is_empty(), tested);
    Some(finding.otherwise("These reads and updates cannot have been measured in the same cache state."))
}

/// A higher level of the same algorithm stores less, and is written more slowly.
fn level_trades_speed_for_space(cells: &[Cell<'_>]) -> Option<Finding> {
    let mut by_algorithm: BTreeMap<Algorithm, Vec<(i32, f64, f64)>> = BTreeMap::new();
    for cell in cells {
        let compression = cell.get(&COMPRESSION);
        if let (
            Some(FileCompression {
                algorithm,
                level: Some(level),
            }),
            Some(ratio),
            Some(write),
        ) = (
            compression,
            cell.value(&SPACE_RATIO),
            cell.value(&WRITE_THROUGHPUT),
        ) {
            by_algorithm
                .entry(*algorithm)
                .or_default()
                .push((*level, ratio, write));
        }
    }
    let mut words = Vec::new();
    let mut holds = true;
    for (algorithm, mut levels) in by_algorithm {
        levels.sort_by_key(|(level, ..)| *level);
        for pair in levels.windows(2) {
            let [(low, low_ratio, low_write), (high, high_ratio, high_write)] = pair else {
                continue;
            };
            holds &= high_ratio >= low_ratio && high_write <= low_write;
            words.push(format!(
                "{algorithm}:{low} to {algorithm}:{high}: ratio {low_ratio} to {high_ratio}, write {:.0} to {:.0} MB/s",
                low_write / 1e6,
                high_write / 1e6
            ));
        }
    }
    if words.is_empty() {
        return None;
    }
    let tested = format!(
        "ratio and write throughput from each level of an algorithm to its next: {}.",
        words.join("; ")
    );
    let sentence = "A higher level stores less, and is written more slowly.";
    Some(Finding::tested(
        "level-trades-speed-for-space",
        sentence,
        holds,
        tested,
    ))
}

/// What a compressed read fetches per second is less than the same device gave without compression.
fn compressed_reads_wait_for_cpu(cells: &[Cell<'_>]) -> Option<Finding> {
    let reads = || {
        cells
            .iter()
            .filter(|cell| cell.is(&OPERATION, &FileOperation::SequentialRead))
    };
    let plain = reads()
        .find(|cell| cell.is(&COMPRESSION, &FileCompression::NONE))?
        .value(&BANDWIDTH)?;
    // Ratio and read are of the same configuration, in cells of their own.
    let ratio_of = |read: &Cell<'_>| {
        let same = |cell: &&Cell<'_>| cell.get(&COMPRESSION) == read.get(&COMPRESSION);
        cells
            .iter()
            .filter(same)
            .find_map(|cell| cell.value(&SPACE_RATIO))
    };
    let shares = reads()
        .filter(|cell| !cell.is(&COMPRESSION, &FileCompression::NONE))
        .filter_map(|cell| {
            let fetched = cell.value(&BANDWIDTH)? / ratio_of(cell)?;
            Some((cell.spelling(&COMPRESSION).to_owned(), fetched))
        });
    let shares: Vec<(String, f64)> = shares.collect();
    if shares.is_empty() {
        return None;
    }
    let words: Vec<String> = shares
        .iter()
        .map(|(name, fetched)| format!("{name} {:.0} MB/s", fetched / 1e6))
        .collect();
    let tested = format!(
        "read bandwidth ÷ ratio, which is what the device gave, against {:.0} MB/s of the same device without compression: {}.",
        plain / 1e6,
        words.join(", ")
    );
    let sentence =
        "Compressed files were read as fast as the CPUs decompressed, and not as fast as the device read.";
    let holds = shares.iter().all(|(_, fetched)| *fetched < plain);
    let finding = Finding::tested("compressed-reads-wait-for-cpu", sentence, holds, tested);
    Some(
        finding.meaning(
            "A faster device would not have read these files faster; more or faster CPUs would have.",
        ),
    )
}

/// The rows as they were published, in the order of the source.
fn table(reference: &Reference) -> Table {
    let ours = |row: &&ReferenceRow| row.layer == SCHEMA.name;
    let rows = || reference.rows.iter().filter(ours);
    let factors: BTreeSet<&str> = rows()
        .flat_map(|row| row.factors.keys().map(String::as_str))
        .collect();
    let names: Vec<String> = factors.iter().map(|name| name.replace('_', " ")).collect();
    let mut head = vec!["what"];
    head.extend(names.iter().map(String::as_str));
    head.extend(["figure", "value"]);
    let row = |row: &ReferenceRow| {
        let mut words = vec![row.subject.clone()];
        words.extend(
            factors
                .iter()
                .map(|name| row.factors.get(*name).cloned().unwrap_or_default()),
        );
        let value = match SCHEMA.metric(&row.metric) {
            Some(metric) => [metric.words(), metric.format(row.value)],
            None => [row.metric.clone(), row.unit.format(row.value)],
        };
        words.extend(value);
        words
    };
    Table::new(
        "Published figures, of other machines, data and versions: compare the shapes, not the ratio to this run.",
        &head,
        rows().map(row),
    )
}
