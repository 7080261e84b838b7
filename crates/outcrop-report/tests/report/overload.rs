//! Open loops that asked for more than was answered: what is said of them, and which figures they do not give.

use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_report::cell_table;
use outcrop_results::{CellTable, RunView, TrialEntry};
use outcrop_schema::{cache, device, filesystem, kv};

use crate::cache_fixture::peers;
use crate::device_limits::{set, value};
use crate::kv_fixture::codecs;
use crate::six_layers::six_layers;

/// A trial as an open loop that was offered far more than it answered.
fn overload(trial: &mut TrialEntry) {
    let mut arrives = |factor: &str| {
        let arrival = "constant:20000000".to_owned();
        trial.factors.insert(factor.to_owned(), arrival);
    };
    match trial.layer.as_str() {
        "device" => {
            arrives(device::ARRIVAL.name);
            set(trial, device::ARRIVAL_REQUESTED, 20e6);
        }
        "filesystem" => {
            arrives(filesystem::ARRIVAL.name);
            set(trial, filesystem::ARRIVAL_REQUESTED, 20e6);
            set(trial, filesystem::SERVICE_LATENCY.p50, 100.0);
        }
        "kv" => {
            arrives(kv::ARRIVAL.name);
            set(trial, kv::OFFERED, 20e6);
            set(trial, kv::UNFINISHED, 1e6);
        }
        "cache" => {
            arrives(cache::ARRIVAL.name);
            set(trial, cache::OFFERED, 20e6);
            set(trial, cache::UNFINISHED, 1e6);
        }
        _ => {}
    }
}

#[test]
fn an_overload_is_said_in_the_row_of_its_layer_before_what_to_do() {
    for (layer, subject) in [
        ("device", "device"),
        ("filesystem", "filesystem"),
        ("kv", "engine"),
        ("cache", "cache"),
    ] {
        let mut run = six_layers();
        run.trials
            .iter_mut()
            .filter(|trial| trial.layer == layer)
            .for_each(overload);
        let report = Report::of(&run);
        for width in [60, 80, 120] {
            let screen = report.screen(width, false);
            // A picture of where to compress, which names layers too, stands above the table.
            let mut rows = screen.lines().skip_while(|line| !line.starts_with("layer "));
            let row = rows.find(|line| line.starts_with(layer)).unwrap();
            assert!(row.contains("Warning: "), "{width}: {screen}");
        }
        let page = report.to_html();
        let stack = &page[..page.find("<nav").unwrap()];
        let brief = format!("the latencies are of an overload, not of the {subject}");
        assert!(
            stack.contains(&brief),
            "{layer}: the table of the page says it too"
        );
    }
}

/// Where the figure of a row was reached, for the first column.
fn conditions(run: &RunView, label: &str) -> String {
    let report = Report::of(run);
    let row = report.layers[0]
        .answer
        .capabilities
        .iter()
        .find(|row| row.label == label)
        .expect("the row is shown");
    match &row.readings[0].outcome {
        ReadingOutcome::Measured { conditions, .. } => conditions.clone(),
        ReadingOutcome::Missing(absence) => panic!("{}", absence.reason),
    }
}

#[test]
fn the_lowest_latency_of_open_loops_is_of_one_that_kept_up() {
    const LOWEST: &str = "Lowest p99, open loop";
    // An operation that failed to begin has no latency but its age, which a short trial keeps low.
    let mut stores = codecs();
    for trial in &mut stores.trials {
        let is_behind = trial.factors["compression"] == "none";
        let (offered, waiting) = if is_behind { (20e6, 1e6) } else { (1e3, 0.0) };
        overload(trial);
        set(trial, kv::OFFERED, offered);
        set(trial, kv::UNFINISHED, waiting);
        set(trial, kv::LATENCY.p99, if is_behind { 1e3 } else { 1e6 });
    }
    let place = conditions(&stores, LOWEST);
    assert!(place.contains("lz4"), "{place}");
    let mut caches = peers().run;
    let open = |trial: &&mut TrialEntry| trial.factors["arrival"] != "closed";
    for trial in caches.trials.iter_mut().filter(open) {
        let is_behind = trial.factors["arrival"] == "poisson:60%";
        if is_behind {
            set(trial, cache::OFFERED, 20e6);
            set(trial, cache::UNFINISHED, 1e6);
        }
        set(trial, cache::LATENCY.p99, if is_behind { 1e3 } else { 1e6 });
    }
    let place = conditions(&caches, LOWEST);
    assert!(place.contains("poisson:30%"), "{place}");
}

#[test]
fn an_overload_of_a_cache_is_said_with_what_was_offered_and_answered() {
    let mut run = peers().run;
    run.trials
        .retain(|trial| trial.factors["arrival"] == "poisson:60%");
    run.trials.iter_mut().for_each(overload);
    let report = Report::of(&run);
    let first = &report.layers[0].answer.cautions[0].text;
    assert!(
        first.contains("open-loop cells are overloaded (worst: 20.0 M/s offered, 60.0 k/s answered, 1.00 M requests never answered"),
        "{first}"
    );
}

#[test]
fn a_row_of_a_cache_that_was_overloaded_is_marked_though_all_was_answered_in_the_end() {
    let mut run = peers().run;
    for trial in &mut run.trials {
        if trial.factors["arrival"] == "poisson:60%" {
            let offered = 1.3 * value(trial, &cache::ANSWERED);
            set(trial, cache::OFFERED, offered);
        }
    }
    let report = Report::of(&run);
    let first = &report.layers[0].answer.cautions[0].text;
    assert!(first.contains("open-loop cells are overloaded"), "{first}");
    let table = cell_table::markdown(&CellTable::of(&run));
    assert!(
        table.contains("poisson:60% (overloaded)") && !table.contains("poisson:30% (overloaded)"),
        "{table}"
    );
}
