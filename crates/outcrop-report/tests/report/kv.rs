//! What the report says of key-value engines whose truth is known.

use outcrop_report::section::FigureSlot;
use outcrop_report::{Report, Verdict};
use outcrop_results::{HistogramEntry, Value};
use outcrop_schema::kv::{
    ARRIVAL, BETWEEN, IO, LATENCY, LOAD_WRITES_DEVICE, LOG_AFTER_BYTES, LOG_BYTES, MEMORY_LIMIT, MISMATCHES,
    OFFERED, READ_LATENCY, READS_DEVICE, READS_ENGINE, SERVER_MEMORY, STALLED, STALLED_TIME,
    STORED_AFTER_BYTES, STORED_BYTES, UNFINISHED, USER_READ, USER_WRITTEN, WRITES_DEVICE, WRITES_ENGINE,
};

use crate::kv_fixture::codecs;

fn verdict(report: &Report, id: &str) -> Verdict {
    let findings = report.layers[0].findings.iter();
    let found = findings.clone().find(|finding| finding.id == id);
    found.map_or_else(|| panic!("no finding {id}"), |finding| finding.verdict.clone())
}

#[test]
fn the_advice_says_what_compressing_costs_and_saves() {
    let run = codecs();
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let of = |topic: &str| {
        let claim = advice.iter().find(|claim| claim.topic == topic);
        claim.unwrap_or_else(|| panic!("no advice on {topic}"))
    };
    let blocks = of("Compress blocks");
    assert!(blocks.brief.contains("lz4 4KiB"), "{}", blocks.brief);
    assert!(
        blocks.brief.contains("takes 50 % of the space"),
        "{}",
        blocks.brief
    );
    assert!(blocks.brief.contains("throughput −10 %"), "{}", blocks.brief);
    let size = of("Block size");
    assert!(size.brief.starts_with("rocksdb lz4: 4KiB"), "{}", size.brief);
    let action = advice.iter().find_map(|claim| claim.action.as_deref());
    let action = action.expect("one instruction for the first screen");
    assert!(
        action.starts_with(
            "Compress blocks with rocksdb lz4 4KiB where space matters: takes 50 % of the space; throughput −10 %"
        ),
        "{action}"
    );
    assert!(of("Block cache").brief.contains("75 %"));
    // Where the first screen of a page has room for all of it.
    assert!(
        action.ends_with("; the block cache answers 75 % of block reads)"),
        "{action}"
    );
}

#[test]
fn a_stall_is_said_in_seconds() {
    let cautions = |run: &outcrop_results::RunView| {
        let report = Report::of(run);
        let cautions = report.layers[0].answer.cautions.iter();
        cautions.map(|caution| caution.text.clone()).collect::<String>()
    };
    let mut run = codecs();
    // One trial of three: the median of its cell is nothing.
    let stalled = &mut run.trials[1];
    stalled.notes.push(STALLED.remark("for 2.00 s of the run"));
    stalled.values.push(Value::measured(STALLED_TIME, 2e9));
    let said = cautions(&run);
    assert!(
        said.contains("In 1 cell, throughput fell below a tenth of the median for up to 2.00 s of a trial (rocksdb none 4KiB, ycsb-a"),
        "{said}"
    );
    assert!(!cautions(&codecs()).contains("fell below a tenth"));
}

#[test]
fn values_that_repeat_are_said_with_how_often() {
    let said = |taken_bytes: u64| {
        let mut run = codecs();
        for trial in &mut run.trials {
            trial.data = Some(outcrop_results::DataIdentity {
                whole: "f00d".to_owned(),
                taken: "feed".to_owned(),
                taken_bytes,
            });
        }
        let report = Report::of(&run);
        let cautions = report.layers[0].answer.cautions.iter();
        cautions.map(|caution| caution.text.clone()).collect::<String>()
    };
    // Databases of 100 MB.
    let few = said(4_000_000);
    assert!(
        few.contains("cut from 4.00 MB of data") && few.contains("up to 25 times"),
        "{few}"
    );
    assert!(!said(64_000_000).contains("are cut from"));
    // Generated values.
    assert!(!said(0).contains("are cut from"));
}

/// The same run, with a log of these bytes in each database: after the load, and at the end.
fn with_logs(after_load: f64, at_end: f64) -> outcrop_results::RunView {
    let mut run = codecs();
    for trial in &mut run.trials {
        for value in &mut trial.values {
            let log = match value.metric.as_str() {
                name if name == STORED_BYTES.name => after_load,
                name if name == STORED_AFTER_BYTES.name => at_end,
                _ => continue,
            };
            value.value = value.value.map(|stored| stored + log);
        }
        let logs = [(LOG_BYTES, after_load), (LOG_AFTER_BYTES, at_end)];
        trial
            .values
            .extend(logs.map(|(metric, bytes)| Value::measured(metric, bytes)));
    }
    run
}

/// The same of as many bytes at both times.
fn with_log(bytes: f64) -> outcrop_results::RunView {
    with_logs(bytes, bytes)
}

#[test]
fn a_log_that_the_run_alone_wrote_is_said_of_the_space_at_the_end() {
    let notes = |run: &outcrop_results::RunView| {
        let report = Report::of(run);
        let cautions = report.layers[0].answer.cautions.iter();
        cautions.map(|caution| caution.text.clone()).collect::<String>()
    };
    let said = notes(&with_logs(0.0, 50e6));
    assert!(
        said.contains("takes up to 50 % of what is on disk at the end (rocksdb lz4 16KiB"),
        "{said}"
    );
    assert!(!said.contains("chooses codecs"), "{said}");
    assert!(!notes(&with_logs(0.0, 1e6)).contains("at the end"));
}

#[test]
fn a_log_that_is_much_of_the_space_is_left_out_of_the_comparison_and_said() {
    let said = |run: &outcrop_results::RunView| {
        let report = Report::of(run);
        let answer = &report.layers[0].answer;
        let mut advice = answer.advice.iter();
        let blocks = advice.find(|claim| claim.topic == "Compress blocks").unwrap();
        let cautions = answer.cautions.iter();
        let cautions: Vec<String> = cautions.map(|caution| caution.text.clone()).collect();
        let ratio = blocks.numbers.last().unwrap().name.clone();
        (blocks.brief.clone(), cautions.join(" "), ratio)
    };
    let (brief, cautions, ratio) = said(&with_log(100e6));
    assert_eq!(ratio, "space without the log, without ÷ with compression");
    assert!(
        brief.contains("takes 74 % of the space (50 % without the store's log)"),
        "{brief}"
    );
    assert!(
        cautions.contains("and up to 67 % of what is on disk at the end"),
        "{cautions}"
    );
    assert!(
        cautions.contains("log, which no codec compresses, takes up to 67 % of the space"),
        "{cautions}"
    );
    // A log that is hardly there changes nothing.
    let (brief, cautions, ratio) = said(&with_log(1e6));
    assert_eq!(ratio, "space without ÷ with compression");
    assert!(brief.contains("takes 50 % of the space;"), "{brief}");
    assert!(!cautions.contains("log, which"), "{cautions}");
    let placed = Report::of(&with_log(100e6)).placement.unwrap().answer.join(" ");
    assert!(placed.contains("takes up to 67 % of the space (lz4"), "{placed}");
    assert!(placed.contains("(50 % without the store's log)"), "{placed}");
    // It changes what is chosen, so a screen has it however little room there is.
    for width in [60, 80, 100] {
        let screen = Report::of(&with_log(100e6)).screen(width, false);
        let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let whole = "takes up to 67 % of the space (lz4";
        let short = "og is up to 67 % of the space: less with more records.";
        let is_said = flowing.contains(whole) || flowing.contains(short);
        assert!(is_said, "{width}: {screen}");
    }
    let placed = Report::of(&with_log(1e6)).placement.unwrap().answer.join(" ");
    assert!(!placed.contains("The store's log"), "{placed}");
}

#[test]
fn what_a_faster_store_wrote_more_during_the_run_does_not_count_against_its_codec() {
    let mut run = codecs();
    for trial in &mut run.trials {
        let is_compressed = trial.factors["compression"] != "none";
        for value in &mut trial.values {
            if is_compressed && value.metric == STORED_AFTER_BYTES.name {
                value.value = value.value.map(|stored| stored + 900e6);
            }
        }
    }
    let answer = |run: &outcrop_results::RunView| Report::of(run).placement.unwrap().answer.join(" ");
    assert_eq!(answer(&run), answer(&codecs()));
}

#[test]
fn checks_that_fail_in_the_same_way_are_said_once() {
    let mut run = codecs();
    for trial in &mut run.trials {
        let pairs = [
            (WRITES_ENGINE, 2.0),
            (WRITES_DEVICE, 9.0),
            (READS_ENGINE, 1.0),
            (READS_DEVICE, 9.0),
        ];
        trial
            .values
            .extend(pairs.map(|(metric, value)| Value::measured(metric, value)));
    }
    let report = Report::of(&run);
    let screen = report.screen(200, false);
    let failure = "failed: the engine and the block device count different bytes";
    assert_eq!(screen.matches(failure).count(), 1, "{screen}");
    let meanings = report.layers[0]
        .findings
        .iter()
        .filter(|finding| finding.meaning.contains("other processes"));
    assert_eq!(meanings.count(), 1);
}

#[test]
fn figures_of_cost_space_and_time_are_drawn_and_others_name_their_plan() {
    let run = codecs();
    let report = Report::of(&run);
    let mut drawn = Vec::new();
    let mut missing = Vec::new();
    for slot in &report.layers[0].figures {
        match slot {
            FigureSlot::Drawn(figure) => drawn.push(figure.id.as_str()),
            FigureSlot::Missing(figure) => missing.push(figure.plan.as_str()),
        }
    }
    assert_eq!(
        drawn,
        ["kv-codec-throughput", "kv-space", "kv-cpu", "kv-over-time"]
    );
    assert_eq!(missing, ["kv-scaling", "kv-energy", "kv-ycsb"]);
}

#[test]
fn findings_hold_on_a_sound_run_and_not_on_a_broken_one() {
    let run = codecs();
    let report = Report::of(&run);
    for id in [
        "kv-values-verified",
        "kv-settled",
        "kv-load-writes-agree",
        "kv-codecs-save-space",
        "kv-littles-law",
    ] {
        assert_eq!(verdict(&report, id), Verdict::Holds, "{id}");
    }
    assert!(matches!(
        verdict(&report, "kv-reads-agree"),
        Verdict::NotTestable(_)
    ));
    let mut broken = run.clone();
    for value in broken.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        if value.metric == MISMATCHES.name {
            value.value = Some(1.0);
        }
        if value.metric == LOAD_WRITES_DEVICE.name {
            value.value = Some(3.0);
        }
    }
    let report = Report::of(&broken);
    for id in ["kv-values-verified", "kv-load-writes-agree"] {
        assert_eq!(verdict(&report, id), Verdict::DoesNotHold, "{id}");
    }
}

/// The same run with values of a metric added to each trial.
fn with(values: &[(outcrop_measure::metric::Metric, f64)]) -> outcrop_results::RunView {
    let mut run = codecs();
    for trial in &mut run.trials {
        let values = values
            .iter()
            .map(|(metric, value)| Value::measured(*metric, *value));
        trial.values.extend(values);
    }
    run
}

#[test]
fn few_bytes_are_not_held_against_what_a_filesystem_writes_for_itself() {
    let written = |user_bytes: f64| {
        let run = with(&[
            (WRITES_ENGINE, 2.0),
            (WRITES_DEVICE, 9.0),
            (USER_WRITTEN, user_bytes),
        ]);
        verdict(&Report::of(&run), "kv-run-writes-agree")
    };
    assert_eq!(written(100e6), Verdict::DoesNotHold);
    let Verdict::NotTestable(why) = written(1e6) else {
        panic!("few bytes were compared");
    };
    assert!(why.contains("more records or a longer duration"), "{why}");
}

#[test]
fn reads_that_the_page_cache_serves_are_not_missed_at_the_device() {
    let reads = [(READS_ENGINE, 2.0), (READS_DEVICE, 0.1), (USER_READ, 100e6)];
    // Databases of 50 to 110 MB.
    let with_limit = |limit: &str, io: &str| {
        let mut run = with(&reads);
        for trial in &mut run.trials {
            trial
                .factors
                .insert(MEMORY_LIMIT.name.to_owned(), limit.to_owned());
            trial.factors.insert(IO.name.to_owned(), io.to_owned());
        }
        verdict(&Report::of(&run), "kv-reads-agree")
    };
    let Verdict::NotTestable(why) = with_limit("1GiB", "buffered") else {
        panic!("the page cache was taken for an error");
    };
    assert!(why.contains("fit into memory"), "{why}");
    assert_eq!(with_limit("16MiB", "buffered"), Verdict::DoesNotHold);
    assert_eq!(with_limit("1GiB", "direct"), Verdict::DoesNotHold);
}

#[test]
fn what_a_driver_does_between_operations_is_in_littles_law() {
    // Each operation takes twice as long as the engine needs for it.
    let mut run = with(&[]);
    for trial in &mut run.trials {
        let latency = trial
            .values
            .iter_mut()
            .find(|value| value.metric == LATENCY.mean.name);
        let latency_ns = latency.unwrap().value.as_mut().unwrap();
        *latency_ns /= 2.0;
        let between = Value::measured(BETWEEN, *latency_ns);
        trial.values.retain(|value| value.metric != BETWEEN.name);
        trial.values.push(between);
    }
    assert_eq!(verdict(&Report::of(&run), "kv-littles-law"), Verdict::Holds);
    for value in run.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        if value.metric == BETWEEN.name {
            value.value = Some(0.0);
        }
    }
    assert_eq!(verdict(&Report::of(&run), "kv-littles-law"), Verdict::DoesNotHold);
    // As a run of an earlier version, which did not measure it.
    for trial in &mut run.trials {
        trial.values.retain(|value| value.metric != BETWEEN.name);
    }
    let of_old = verdict(&Report::of(&run), "kv-littles-law");
    assert!(matches!(of_old, Verdict::NotTestable(_)), "{of_old:?}");
}

#[test]
fn a_last_window_that_the_end_cuts_short_is_no_dip() {
    let of_last = |share: f64| {
        let mut run = codecs();
        for trial in &mut run.trials {
            let whole = trial.histograms[1].clone();
            trial.histograms.push(HistogramEntry {
                interval_index: 2,
                start_s: 1.0,
                duration_s: whole.duration_s * share,
                ..whole
            });
        }
        let report = Report::of(&run);
        let figure = report.layers[0].figures.iter().find_map(|slot| match slot {
            FigureSlot::Drawn(figure) if figure.id == "kv-over-time" => Some(figure),
            _ => None,
        });
        figure.expect("it is drawn").to_csv().unwrap()
    };
    assert_eq!(of_last(0.1).lines().count(), of_last(0.8).lines().count() - 4);
}

/// The same run as an open loop that offers so many operations per second, of which so many were never begun.
fn offering(per_second: f64, unfinished: f64) -> outcrop_results::RunView {
    let mut run = codecs();
    for trial in &mut run.trials {
        let arrival = format!("constant:{per_second}");
        trial.factors.insert(ARRIVAL.name.to_owned(), arrival);
        let values = [(OFFERED, per_second), (UNFINISHED, unfinished)];
        trial
            .values
            .extend(values.map(|(metric, value)| Value::measured(metric, value)));
    }
    run
}

#[test]
fn a_rate_that_an_engine_could_not_bear_is_said_with_what_was_never_begun() {
    let cautions = |run: &outcrop_results::RunView| {
        let report = Report::of(run);
        let cautions = report.layers[0].answer.cautions.iter();
        cautions
            .map(|caution| caution.text.clone())
            .collect::<Vec<_>>()
            .join(" ")
    };
    // One of the four does 70,000 per second; the others are as good as in time.
    let said = cautions(&offering(100e3, 25_000.0));
    let words = "1 of 4 open-loop cells are overloaded (worst: 100 k/s offered, 70.0 k/s answered, 25.0 k operations never begun, rocksdb lz4 16KiB";
    assert!(said.contains(words), "{said}");
    let said = cautions(&offering(60e3, 0.0));
    assert!(!said.contains("overloaded"), "{said}");
}

#[test]
fn a_figure_that_every_cell_of_an_engine_lacks_has_the_reason_of_the_cells() {
    const WHY: &str = "fewer than 1,000 operations";
    let mut run = codecs();
    for value in run.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        if value.metric == READ_LATENCY.p99.name {
            *value = Value::unavailable(READ_LATENCY.p99, WHY);
        }
    }
    // A second engine has the figure, so that the row is shown.
    let mut other = codecs().trials;
    for trial in &mut other {
        trial.factors.insert("engine".to_owned(), "fjall".to_owned());
        trial.cell.push_str(" of fjall");
    }
    run.trials.extend(other);
    let report = Report::of(&run);
    let rows = &report.layers[0].answer.capabilities;
    let row = rows.iter().find(|row| row.label.starts_with("Lowest read p99"));
    let said = format!("{:?}", row.expect("the row is shown").readings);
    assert!(said.contains(WHY) && !said.contains("no such cell"), "{said}");
}

#[test]
fn a_run_with_servers_says_that_their_capacity_was_not_measured() {
    let is_said = |run: &outcrop_results::RunView| {
        let report = Report::of(run);
        let mut cautions = report.layers[0].answer.cautions.iter();
        cautions.any(|caution| caution.text.contains("not the capacity of the servers"))
    };
    assert!(is_said(&with(&[(SERVER_MEMORY, 50e6)])));
    assert!(!is_said(&codecs()));
}
