//! Open loops at several rates: in tables, figures, warnings and advice.

use outcrop_report::Report;
use outcrop_results::RunView;
use outcrop_schema::device::{
    ARRIVAL, ARRIVAL_REQUESTED, BANDWIDTH, DEVICE_BYTES_RATIO, ERRORS, FOREIGN_BYTES_RATIO, IOPS, LATENCY,
    MISSING_BYTES_RATIO, REPLAY,
};

use crate::device_limits::{run_of, set, warnings};
use crate::fixture::RunBuilder;

/// A run of one depth at several rates; each answers `answered` of what is offered, with this p99 in nanoseconds.
fn at_rates(rates: &[(&str, f64, f64, f64)]) -> RunView {
    let mut all = run_of(100);
    all.trials.clear();
    for (rate, offered, answered, p99_ns) in rates {
        let mut run = RunBuilder::new(3).cells(&[4096], &[8], &[100]).build();
        for trial in &mut run.trials {
            trial
                .factors
                .insert(ARRIVAL.name.into(), format!("poisson:{rate}"));
            trial.cell = format!("poisson:{rate}");
            trial.trial = all.trials.len() as u32;
            set(trial, ARRIVAL_REQUESTED, *offered);
            set(trial, IOPS.both, *answered);
            set(trial, LATENCY.both.p99, *p99_ns);
            set(trial, LATENCY.read.p99, *p99_ns);
            all.trials.push(trial.clone());
        }
    }
    all
}

fn three_rates() -> RunView {
    at_rates(&[
        ("10k", 10e3, 10e3, 150e3),
        ("1k", 1e3, 1e3, 100e3),
        ("20k", 20e3, 12e3, 90e6),
    ])
}

#[test]
fn latency_is_drawn_against_the_offered_load_with_what_was_answered() {
    let report = Report::of(&three_rates());
    let figures = report.figures();
    let figure = figures
        .iter()
        .find(|figure| figure.id == "latency-by-offered-load")
        .expect("a figure");
    let csv = figure.to_csv().unwrap();
    let p99: Vec<&str> = csv.lines().filter(|line| line.starts_with("p99")).collect();
    assert_eq!(p99.len(), 3, "{csv}");
    for (line, rate) in p99.iter().zip(["1000,", "10000,", "20000,"]) {
        assert!(line.contains(&format!("measured,{rate}")), "{line}");
    }
    assert!(
        p99[2].contains("poisson:20k/s, 12.0 k IOPS answered, overloaded"),
        "{csv}"
    );
    assert!(figure.caption.contains("1 of 3 rates"), "{}", figure.caption);
    assert!(
        figures
            .iter()
            .any(|figure| figure.id == "answered-by-offered-load"),
        "what was answered has a figure"
    );
}

#[test]
fn shares_of_the_closed_loop_are_drawn_at_the_rates_that_they_were() {
    let report = Report::of(&at_rates(&[
        ("50%", 10e3, 10e3, 150e3),
        ("5%", 1e3, 1e3, 100e3),
        ("100%", 20e3, 12e3, 90e6),
    ]));
    let figures = report.figures();
    let figure = figures
        .iter()
        .find(|figure| figure.id == "latency-by-offered-load");
    let csv = figure.unwrap().to_csv().unwrap();
    let p99 = csv.lines().filter(|line| line.starts_with("p99"));
    for (line, rate) in p99.zip(["1000,", "10000,", "20000,"]) {
        assert!(line.contains(&format!("measured,{rate}")), "{line}");
    }
    let advice = &report.layers[0].answer.advice;
    let claim = advice.iter().find(|claim| claim.topic == "Offered load").unwrap();
    assert!(
        claim
            .brief
            .starts_with("50 % of the closed loop's rate (poisson): 10.0 k IOPS answered")
            && claim
                .brief
                .contains("100 % of the closed loop's rate (poisson) is too much"),
        "{}",
        claim.brief
    );
}

#[test]
fn the_highest_rate_that_keeps_its_latency_is_advised() {
    let report = Report::of(&three_rates());
    let advice = &report.layers[0].answer.advice;
    let claim = advice.iter().find(|claim| claim.topic == "Offered load").unwrap();
    assert!(
        claim.brief.starts_with("poisson:10k/s: 10.0 k IOPS answered")
            && claim.brief.contains("poisson:20k/s is too much"),
        "{}",
        claim.brief
    );
    // The lowest rate has too few operations for a p99: the next one takes its place.
    let mut few = three_rates();
    for trial in &mut few.trials {
        let is_lowest = trial.cell == "poisson:1k";
        let is_p99 = |name: &str| name == LATENCY.both.p99.name || name == LATENCY.read.p99.name;
        trial.values.retain(|value| !(is_lowest && is_p99(&value.metric)));
    }
    let report = Report::of(&few);
    let mut advice = report.layers[0].answer.advice.iter();
    let claim = advice.find(|claim| claim.topic == "Offered load").unwrap();
    assert!(
        claim.text.contains("within twice that of poisson:10k/s"),
        "{}",
        claim.text
    );
    let overloaded = at_rates(&[("10k", 10e3, 5e3, 9e6), ("20k", 20e3, 5e3, 9e7)]);
    assert_eq!(Report::of(&overloaded).layers[0].answer.advice, []);
}

#[test]
fn rates_are_sorted_by_value_and_have_a_column_of_numbers() {
    let table = outcrop_results::CellTable::of(&three_rates());
    let rates: Vec<&str> = table.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(rates, ["poisson:1k", "poisson:10k", "poisson:20k"]);
    let mut csv = Vec::new();
    outcrop_results::cells::write_csv(&table, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = head
        .iter()
        .position(|name| *name == ARRIVAL_REQUESTED.name)
        .expect("a column");
    let values: Vec<&str> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(column).unwrap())
        .collect();
    assert_eq!(values, ["1000", "10000", "20000"]);
}

#[test]
fn cells_that_differ_in_their_rate_are_told_apart_in_figures_and_warnings() {
    let mut run = three_rates();
    let shared = run.trials.len() - 1;
    for (index, trial) in run.trials.iter_mut().enumerate() {
        set(trial, DEVICE_BYTES_RATIO, 1.0);
        set(
            trial,
            FOREIGN_BYTES_RATIO,
            if index == shared { 1.65 } else { 0.0 },
        );
        set(trial, MISSING_BYTES_RATIO, 0.0);
    }
    let report = Report::of(&run);
    let text = warnings(&report).join("\n");
    assert!(text.contains("QD 8, poisson:20k/s, trial 3"), "{text}");
    let tail = report
        .figures()
        .into_iter()
        .find(|figure| figure.id == "latency-tail");
    let csv = tail.expect("a tail").to_csv().unwrap();
    assert!(
        csv.contains("read QD 8, poisson:"),
        "{}",
        csv.lines().take(3).collect::<String>()
    );
    let over_time = report
        .figures()
        .into_iter()
        .find(|figure| figure.id == "iops-over-time")
        .expect("a course of time");
    assert!(over_time.caption.contains("poisson:"), "{}", over_time.caption);
    assert!(!over_time.caption.contains("cache"), "{}", over_time.caption);
}

#[test]
fn requests_that_failed_are_a_warning_on_the_first_screen() {
    let mut run = run_of(100);
    assert!(!Report::of(&run).screen(400, false).contains("requests failed"));
    for (trial, errors) in run.trials.iter_mut().zip([3.0, 0.0, 1.0]) {
        set(trial, ERRORS, errors);
    }
    let report = Report::of(&run);
    let told = "4 requests failed in 2 trials, at ";
    assert!(warnings(&report)[0].starts_with(told), "{:?}", warnings(&report));
    assert!(report.screen(400, false).contains(told));
}

#[test]
fn lines_that_fall_may_be_a_full_cache_for_writes_alone() {
    let caption = |read_percent| {
        let report = Report::of(&run_of(read_percent));
        let mut figures = report.figures().into_iter();
        figures
            .find(|figure| figure.id == "iops-over-time")
            .unwrap()
            .caption
            .clone()
    };
    // The line of a quarter of a second does not show why it falls.
    assert!(
        caption(0).contains("may be a full write cache") && caption(0).contains("other load"),
        "{}",
        caption(0)
    );
    assert!(!caption(100).contains("cache"), "{}", caption(100));
}

/// Reads at depth 1 and 32 of what the trials wrote before, at depth 32 with 50 k writes a second.
fn replayed() -> RunView {
    let mut run = RunBuilder::new(3).cells(&[4096], &[1, 32], &[100]).build();
    for trial in &mut run.trials {
        let depth: f64 = trial.factors["queue_depth"].parse().expect("a depth");
        trial.factors.insert(REPLAY.name.into(), "written".into());
        let rate = if depth > 1.0 { 50e3 } else { 9e3 };
        set(trial, IOPS.write, rate);
        set(trial, BANDWIDTH.write, rate * 4096.0);
        set(trial, LATENCY.write.p50, 1e9 * depth / rate);
        set(trial, LATENCY.write.p99, 2e9 * depth / rate);
    }
    run
}

#[test]
fn the_writes_that_a_replay_reads_back_stand_in_the_answer_with_their_conditions() {
    let text = Report::of(&replayed()).screen(110, false);
    let row = |label: &str| {
        let mut lines = text.lines().map(str::trim_start);
        let found = lines.find(|line| line.starts_with(label));
        found.unwrap_or_else(|| panic!("no {label} in {text}")).to_owned()
    };
    assert!(row("Highest IOPS").contains("50.0 k"), "{text}");
    assert!(row("Highest bandwidth").contains("205 MB/s"), "{text}");
    assert!(row("QD 1 latency, p99").contains("222"), "{text}");
    let (capabilities, _) = text.split_once("Read throughput").expect("advice");
    assert!(!capabilities.contains("not measured"), "{text}");
    assert!(text.contains("replay written"), "{text}");
    // Writes that were measured alone come first.
    let mut both = replayed();
    both.trials
        .extend(RunBuilder::new(3).cells(&[4096], &[32], &[0]).build().trials);
    let reading = format!(
        "{:?}",
        Report::of(&both).layers[0].answer.capabilities[0].readings[1]
    );
    assert!(
        reading.contains("conditions: \"4 KiB random, QD 32\""),
        "{reading}"
    );
}

#[test]
fn an_interval_in_which_nothing_completed_is_drawn_as_zero() {
    let rates_of = |run: &RunView| {
        let report = Report::of(run);
        let mut figures = report.figures().into_iter();
        let figure = figures.find(|figure| figure.id == "iops-over-time");
        let csv = figure.expect("a course of time").to_csv().unwrap();
        let third = csv.lines().filter(|line| line.starts_with("trial 3,"));
        let rates = third.map(|line| line.split(',').nth(3).unwrap().parse::<f64>().unwrap());
        rates.collect::<Vec<f64>>()
    };
    let mut run = run_of(0);
    let whole = rates_of(&run);
    assert!(whole.iter().all(|rate| *rate > 0.0), "{whole:?}");
    for trial in run.trials.iter_mut().filter(|trial| trial.repetition == 2) {
        // The first three, one between others, and the last.
        trial
            .histograms
            .retain(|entry| ![0, 1, 2, 5, 7].contains(&entry.interval_index));
    }
    let stalled = rates_of(&run);
    let zeros: Vec<usize> = (0..stalled.len())
        .filter(|place| stalled[*place] == 0.0)
        .collect();
    assert_eq!(
        (stalled.len(), zeros),
        (whole.len(), vec![0, 1, 2, 5, 7]),
        "{stalled:?}"
    );
}

#[test]
fn intervals_without_a_p99_are_counted_and_called_slow_only_where_a_request_follows_another() {
    let caption = |mut run: RunView, idle: &[u32]| {
        for trial in run.trials.iter_mut().filter(|trial| trial.repetition == 2) {
            trial
                .histograms
                .retain(|entry| !idle.contains(&entry.interval_index));
        }
        let report = Report::of(&run);
        let mut figures = report.figures().into_iter();
        let figure = figures.find(|figure| figure.id == "p99-over-time");
        figure.expect("a course of time").caption.clone()
    };
    for (idle, closed, open) in [
        (&[][..], "", ""),
        (
            &[2],
            "intervals is not drawn, because too few operations completed in it. It is a slow one",
            "completed in it.",
        ),
        (
            &[2, 5],
            "intervals are not drawn, because too few operations completed in them. These are the slow ones",
            "completed in them.",
        ),
    ] {
        let told = caption(run_of(0), idle);
        assert!(
            told.contains(closed) && told.contains("drawn") != idle.is_empty(),
            "{told}"
        );
        let told = caption(three_rates(), idle);
        assert!(told.ends_with(open) && !told.contains("slow one"), "{told}");
    }
}

#[test]
fn a_course_of_time_says_how_many_trials_it_leaves_out() {
    let caption = |repetitions: u32| {
        let run = RunBuilder::new(repetitions).cells(&[4096], &[1, 8], &[0]).build();
        let report = Report::of(&run);
        let mut figures = report.figures().into_iter();
        let figure = figures.find(|figure| figure.id == "iops-over-time");
        figure.expect("a course of time").caption.clone()
    };
    assert!(caption(9).contains("the first 5 of 9 trials"), "{}", caption(9));
    assert!(!caption(5).contains("the first"), "{}", caption(5));
}
