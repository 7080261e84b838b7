//! Limits and prices that apply to nothing are said to, and those that apply are printed as they were given.

use outcrop_report::{Constraints, Placement, Prices, Report};
use outcrop_results::{RunView, Value};
use outcrop_schema::kv::{COMPRESSION, COMPRESSION_BLOCK_SIZE, CPU, ENGINE, READ_LATENCY, THREADS, WORKLOAD};

use crate::kv_fixture::{of, of_settings};
use crate::placement::{USUAL, least_ratio, stored};

fn prices() -> Prices {
    let text =
        "currency = \"EUR\"\ncpu_hour = 1\ngb_month = 1\ndata = \"1TB\"\noperations_per_second = 50000\n";
    Prices::read(text).expect("the figure has it")
}

/// What a screen says under limits and at prices.
fn screen(run: &RunView, constraints: &Constraints, prices: Option<&Prices>) -> String {
    let screen = Report::under(run, &[], constraints, prices).screen(120, false);
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_limit_on_a_run_of_one_cell_is_said_to_apply_to_nothing() {
    let one = of(&USUAL[..1]);
    let said = screen(&one, &least_ratio(2.0), None);
    assert!(
        said.contains("Warning: --min-ratio 2 does not apply to any layer of this run")
            && said.contains("with one and without compression (`--compression none,lz4`)"),
        "{said}"
    );
    let compressed = of(&[
        stored("none", "btrfs zstd:3", 100e3, 60e6),
        stored("lz4", "btrfs zstd:3", 99e3, 40e6),
    ]);
    let said = screen(&compressed, &least_ratio(2.0), None);
    assert!(
        said.contains("does not apply to any layer of this run")
            && said.contains("the latter, on a filesystem that does not compress"),
        "{said}"
    );
    let several = screen(&of(&USUAL), &least_ratio(2.0), None);
    assert!(!several.contains("does not apply"), "{several}");
}

#[test]
fn limits_and_prices_apply_to_nothing_where_stores_or_loads_are_compared_and_no_codecs() {
    let all = Constraints {
        min_ratio: Some(9.0),
        p99_ns: Some(100.0),
        cpu_share: Some(0.01),
    };
    let engines = of_settings(&[
        (vec![(&ENGINE, "fjall"), (&COMPRESSION, "none")], 1e5),
        (vec![(&ENGINE, "rocksdb"), (&COMPRESSION, "none")], 2e5),
    ]);
    let loads = of_settings(&[
        (vec![(&COMPRESSION, "lz4"), (&THREADS, "1")], 1e5),
        (vec![(&COMPRESSION, "lz4"), (&THREADS, "2")], 2e5),
    ]);
    for run in [engines, loads] {
        let said = screen(&run, &all, Some(&prices()));
        let expected = "Warning: --min-ratio 9, --p99 100ns, --cpu-share 1% and --prices do not apply to any layer of this run";
        assert!(said.contains(expected), "{said}");
        assert!(!screen(&run, &Constraints::default(), None).contains("not apply"));
    }
    // Block sizes are judged, and nothing has a price without a store that is not compressed.
    let sizes = of_settings(&[
        (
            vec![(&COMPRESSION, "lz4"), (&COMPRESSION_BLOCK_SIZE, "4KiB")],
            1e5,
        ),
        (
            vec![(&COMPRESSION, "lz4"), (&COMPRESSION_BLOCK_SIZE, "16KiB")],
            2e5,
        ),
    ]);
    let said = screen(&sizes, &all, Some(&prices()));
    assert!(
        said.contains("Warning: --prices does not apply to any layer of this run"),
        "{said}"
    );
    assert!(!screen(&of(&USUAL), &all, Some(&prices())).contains("not apply"));
}

#[test]
fn a_limit_is_printed_as_it_was_given_where_a_few_digits_are_not_all_of_it() {
    let run = of(&USUAL);
    let said = |constraints: &Constraints| {
        let placement = Placement::of(&run, constraints, None).unwrap();
        let candidates = placement.candidates.iter();
        let why = candidates.filter_map(|one| one.left_out.clone());
        why.collect::<Vec<_>>().join("; ")
    };
    let ratio = said(&least_ratio(2.945));
    assert!(ratio.contains("of at least 2.945)"), "{ratio}");
    assert!(said(&least_ratio(9.5)).contains("of at least 9.50)"));
    let p99 = said(&Constraints {
        p99_ns: Some(1234.0),
        ..Constraints::default()
    });
    assert!(p99.contains("of at most 1.234us)"), "{p99}");
}

#[test]
fn a_limit_on_the_p99_of_a_load_without_reads_asks_for_no_longer_trials() {
    let limit = Constraints {
        p99_ns: Some(1e6),
        ..Constraints::default()
    };
    let said = |workload: &str| {
        let mut run = of(&USUAL);
        for trial in &mut run.trials {
            trial
                .factors
                .insert(WORKLOAD.name.to_owned(), workload.to_owned());
            trial.values.retain(|value| value.metric != READ_LATENCY.p99.name);
            let why = "too few operations (0) for a p99";
            trial.values.push(Value::unavailable(READ_LATENCY.p99, why));
            trial.values.push(Value::measured(CPU, 1e3));
        }
        Placement::of(&run, &limit, None).unwrap().answer.join(" ")
    };
    let updates = said("update:100");
    assert!(
        updates.contains("This workload has no point reads, so --p99 cannot be checked."),
        "{updates}"
    );
    assert!(!updates.contains("Longer trials"), "{updates}");
    assert!(said("ycsb-a").contains("Longer trials (--duration)"));
}

#[test]
fn prices_without_a_candidate_that_they_give_a_cost_say_so() {
    let none = "Costs at your prices are given for candidates within the limits; none is.";
    let report = Report::under(&of(&USUAL), &[], &least_ratio(99.0), Some(&prices()));
    let json = report.to_json().expect("it is written").to_string();
    assert!(json.contains(none), "{json}");
    let said = screen(&of(&USUAL), &least_ratio(99.0), Some(&prices()));
    assert!(said.contains(none), "{said}");
    assert!(!screen(&of(&USUAL), &least_ratio(99.0), None).contains("Costs at your prices"));
    let mut run = of(&USUAL);
    for trial in &mut run.trials {
        trial.values.retain(|value| value.metric != CPU.name);
    }
    let said = screen(&run, &Constraints::default(), Some(&prices()));
    assert!(said.contains("The costs at your prices are unknown"), "{said}");
}
