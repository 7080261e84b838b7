//! Limits that the figures do not decide: unknown, within their intervals, or hidden by the store's log.

use outcrop_report::placement::Sureness;
use outcrop_report::{Constraints, Placement, Prices, Report};
use outcrop_results::{RunView, TrialEntry, Value};
use outcrop_schema::filesystem;
use outcrop_schema::kv::{ENGINE, FILESYSTEM, LOG_BYTES, READ_LATENCY, RECORDS, STORED_BYTES, THROUGHPUT};
use outcrop_schema::metrics::Metric;

use crate::filesystem::choice;
use crate::kv_fixture::{Stored, of};
use crate::placement::{USUAL, least_ratio, stored};

fn most_p99(p99_ns: f64) -> Constraints {
    Constraints {
        p99_ns: Some(p99_ns),
        ..Constraints::default()
    }
}

/// A run with a metric of the trials of one codec changed.
fn changed(mut run: RunView, codec: &str, value: impl Fn(&TrialEntry) -> Value) -> RunView {
    for trial in run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors["compression"] == codec)
    {
        let value = value(trial);
        trial.values.retain(|known| known.metric != value.metric);
        trial.values.push(value);
    }
    run
}

fn without_p99(cells: &[Stored], codec: &str) -> RunView {
    changed(of(cells), codec, |_| {
        Value::unavailable(READ_LATENCY.p99, "too few operations (47) for a p99")
    })
}

/// Of one codec the p99 of a read in microseconds, by trial.
fn with_p99(p99_us: [f64; 3]) -> RunView {
    changed(of(&USUAL), "lz4", |trial| {
        Value::measured(READ_LATENCY.p99, p99_us[trial.repetition as usize] * 1e3)
    })
}

fn answer(run: &RunView, constraints: &Constraints) -> Placement {
    Placement::of(run, constraints, None).expect("the run has stores with and without compression")
}

#[test]
fn what_would_be_the_answer_but_for_an_unknown_figure_leaves_it_undecided() {
    let run = without_p99(&USUAL, "lz4");
    let placement = answer(&run, &most_p99(1e6));
    let text = placement.answer.join(" ");
    assert!(
        text.starts_with(
            "Not decided: lz4, blocks of 16 KiB in the store would be the answer if it met the limits given for this report (--p99 1ms); it may \
             break the limit on the p99, which is not known. So far: do not compress"
        ),
        "{text}"
    );
    assert!(text.contains("Longer trials (--duration)"), "{text}");
    assert_eq!(placement.sureness, Some(Sureness::NotClear));
    let mut candidates = placement.candidates.iter();
    let lz4 = candidates.find(|one| one.name().contains("lz4")).unwrap();
    assert!(lz4.may_keep && lz4.left_out.is_some());
    // The layer says the same, and as no instruction.
    let report = Report::under(&run, &[], &most_p99(1e6), None);
    let claim = &report.layers[0].answer.advice[0];
    assert!(
        claim
            .brief
            .contains("may break the limit on the p99, which is not known; without limits, "),
        "{}",
        claim.brief
    );
    assert_eq!(claim.action, None);
    for width in [60, 100] {
        let screen = report.screen(width, false);
        assert!(screen.contains("Not decided"), "{screen}");
    }
}

#[test]
fn nothing_meets_a_limit_only_where_every_figure_is_known() {
    let impossible = most_p99(1e3);
    let text = answer(&of(&USUAL), &impossible).answer.join(" ");
    assert_eq!(
        text,
        "None of the cells compared meets the limits given for this report (--p99 1us). No compression (blocks of 16 KiB, ext4) has the lowest p99 of a read: 40.0 µs; ties with 1 other."
    );
    let text = answer(&without_p99(&USUAL, "lz4"), &impossible).answer.join(" ");
    assert!(
        text.starts_with(
            "Not decided: it is not known whether any of the cells compared meets the limits given for this report (--p99 1us). lz4, blocks"
        ),
        "{text}"
    );
    assert!(
        text.contains("may break the limit on the p99, which is not known"),
        "{text}"
    );
}

#[test]
fn the_lowest_p99_is_that_of_all_cells_also_of_one_without_compression_that_nothing_is_compared_with() {
    let slower = changed(of(&USUAL), "none", |trial| {
        let is_left_over = trial.factors["filesystem"] == "btrfs";
        Value::measured(READ_LATENCY.p99, if is_left_over { 20e3 } else { 60e3 })
    });
    let text = answer(&slower, &most_p99(1e3)).answer.join(" ");
    assert!(
        text.contains("No compression (blocks of 16 KiB, btrfs) has the lowest p99 of a read: 20.0 µs."),
        "{text}"
    );
}

#[test]
fn figures_from_memory_are_said_to_be_so_also_where_nothing_meets_the_limits() {
    const FROM_MEMORY: &str = "Reads came from memory, where a filesystem keeps its files decompressed";
    let kept = |page_cache: &str| {
        let mut run = of(&USUAL);
        for trial in &mut run.trials {
            trial
                .factors
                .insert("page_cache".to_owned(), page_cache.to_owned());
        }
        run
    };
    let said = |page_cache: &str| {
        let report = Report::under(&kept(page_cache), &[], &most_p99(1e3), None);
        let text = answer(&kept(page_cache), &most_p99(1e3)).answer.join(" ");
        assert!(text.starts_with("None of the cells compared meets"), "{text}");
        let screen = report.screen(80, false);
        assert_eq!(
            screen.contains("Reads came from memory"),
            text.contains(FROM_MEMORY),
            "{screen}"
        );
        text.contains(FROM_MEMORY)
    };
    assert!(said("kept") && !said("dropped"));
}

#[test]
fn an_interval_that_reaches_beyond_a_limit_is_said_whichever_side_the_figure_is_on() {
    let run = with_p99([20.0, 40.0, 80.0]);
    let placement = answer(&run, &most_p99(50e3));
    let text = placement.answer.join(" ");
    assert!(
        text.contains("compress in the store's own blocks with lz4"),
        "{text}"
    );
    let why = "may break the limit on the p99 (40.0 µs, 20.0 µs to 80.0 µs, of at most 50.0 µs)";
    assert!(text.contains(&format!("This is not clear: it {why}.")), "{text}");
    let report = Report::under(&run, &[], &most_p99(50e3), None);
    let claim = &report.layers[0].answer.advice[0];
    assert!(claim.brief.ends_with(why), "{}", claim.brief);
    assert!(claim.action.as_ref().unwrap().contains(why), "{claim:?}");
    let flowing = |screen: String| screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let screen = flowing(report.screen(80, false));
    assert!(
        screen.contains(&format!("This is not clear: it {why}.")),
        "{screen}"
    );
    // Nor is it left to a table where the throughput leaves the answer undecided besides.
    let noisy = changed(run.clone(), "lz4", |trial| {
        let noise = [0.5, 1.0, 1.6][trial.repetition as usize];
        Value::measured(THROUGHPUT, 99e3 * noise)
    });
    let report = Report::under(&noisy, &[], &most_p99(50e3), None);
    let first = &report.placement.as_ref().unwrap().answer[0];
    assert!(
        first.starts_with("Not decided: the throughput differs too much"),
        "{first}"
    );
    assert!(first.ends_with(&format!("; it {why}.")), "{first}");
    // With the whole interval within the limit there is nothing to say.
    let text = answer(&run, &most_p99(90e3)).answer.join(" ");
    assert!(!text.contains("may break"), "{text}");
    // Beyond it by its median alone, it is no answer, and nothing else is known to meet the limit.
    let text = answer(&run, &most_p99(30e3)).answer.join(" ");
    assert!(text.starts_with("Not decided: it is not known whether"), "{text}");
    assert!(text.contains("may meet the limit on the p99 (40.0 µs"), "{text}");
}

/// Stores of 28 MB of data without compression and 10 MB with it, each with a log of so many bytes, and a filesystem that compresses both.
fn with_log(log: f64) -> RunView {
    let mut run = of(&[
        stored("none", "ext4", 100e3, 28e6 + log),
        stored("lz4", "ext4", 99e3, 10e6 + log),
        stored("none", "btrfs zstd:1", 75e3, 0.36 * (28e6 + log)),
    ]);
    for trial in &mut run.trials {
        trial.values.push(Value::measured(LOG_BYTES, log));
        trial.factors.insert(RECORDS.name.to_owned(), "20000".to_owned());
    }
    run
}

#[test]
fn a_limit_on_the_ratio_that_the_log_alone_breaks_is_undecided() {
    let run = with_log(84e6);
    let placement = answer(&run, &least_ratio(2.0));
    let text = placement.answer.join(" ");
    let why =
        "may meet the limit on the ratio (1.19 with the store's log and 2.80 without it, of at least 2.00)";
    assert!(
        text.starts_with("Not decided: lz4, blocks of 16 KiB in the store would be the answer if it met"),
        "{text}"
    );
    assert!(
        text.contains(&format!(
            "it {why}. So far: compress in the filesystem with btrfs zstd:1."
        )),
        "{text}"
    );
    assert!(text.contains("More records would decide it"), "{text}");
    // The run's own plan has its load and its data; a plan that ships may have others.
    let how = "Copy the plan of this run (`cp runs/20261121T020000Z-kv/plan.toml changed.toml`), raise `records` in the copy, for example to \
        200000, and measure it: `outcrop run changed.toml --min-ratio 2`.";
    assert!(text.contains(how), "{text}");
    let report = Report::under(&run, &[], &least_ratio(2.0), None);
    assert!(report.to_html().contains("2.80 without the log"));
    // Without a log to speak of the limit is kept, and one that both ratios break is broken.
    let small = answer(&with_log(1e6), &least_ratio(2.0));
    assert!(
        small.answer[0].contains("compress in the store's own blocks with lz4"),
        "{:?}",
        small.answer
    );
    let strict = answer(&run, &least_ratio(2.9)).answer.join(" ");
    assert!(!strict.contains("may keep"), "{strict}");
}

#[test]
fn a_log_that_hides_what_codecs_save_decides_nothing() {
    let text = answer(&with_log(2e9), &Constraints::default()).answer.join(" ");
    assert!(
        text.starts_with(
            "Not decided: by the space with the store's log, do not compress where throughput matters: everything compared that saves space was slower in \
             these trials; by the space without it, the answer would be lz4, blocks of 16 KiB in the store."
        ),
        "{text}"
    );
    let small = answer(&with_log(1e6), &Constraints::default()).answer.join(" ");
    assert!(small.starts_with("Compress in the store's own blocks"), "{small}");
}

#[test]
fn prices_are_those_of_data_and_not_of_the_log_which_does_not_grow_with_them() {
    let text =
        "currency = \"EUR\"\ncpu_hour = 0\ngb_month = 1\ndata = \"1TB\"\noperations_per_second = 50000\n";
    let prices = Prices::read(text).unwrap();
    for (log, said) in [
        (
            84e6,
            "given for this report, by the space without the store's log, the cheapest is store: lz4, blocks of 16 KiB: 357.14 EUR",
        ),
        (
            1e5,
            "given for this report, the cheapest is store: lz4, blocks of 16 KiB: 359.43 EUR",
        ),
    ] {
        let placement = Placement::of(&with_log(log), &Constraints::default(), Some(&prices)).unwrap();
        let text = placement.answer.join(" ");
        assert!(text.contains(said), "{log}: {text}");
    }
}

#[test]
fn figures_of_the_answers_store_stand_before_the_name_of_another_store() {
    let mut run = with_log(84e6);
    run.trials
        .retain(|trial| trial.factors[FILESYSTEM.name] == "ext4");
    let second = of(&[
        stored("none", "ext4", 120e3, 110e6),
        stored("lz4", "ext4", 119e3, 40e6),
    ]);
    let first_trials = second.trials.into_iter().filter(|trial| trial.repetition == 0);
    run.trials.extend(first_trials.map(|mut trial| {
        trial.factors.insert(ENGINE.name.to_owned(), "fjall".to_owned());
        trial.cell += " fjall";
        trial
    }));
    let limits = least_ratio(2.0);
    let answer = answer(&run, &limits).answer.join(" ");
    let screen = Report::under(&run, &[], &limits, None).screen(120, false);
    for text in [answer, screen.split_whitespace().collect::<Vec<_>>().join(" ")] {
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        let other = place("fjall with lz4, blocks of 16 KiB in the store meets");
        assert!(place("takes 84 % of the space") < other, "{text}");
    }
}

#[test]
fn advice_that_is_not_decided_is_not_decided_without_the_limits_that_it_breaks_either() {
    let mut noisy = of(&USUAL);
    for trial in &mut noisy.trials {
        let noise = 1.0 + 0.9 * f64::from(trial.repetition);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * noise));
    }
    let report = Report::under(&noisy, &[], &least_ratio(40.0), None);
    for claim in &report.layers[0].answer.advice {
        if claim.brief.contains("breaks the limit") {
            assert!(
                claim.brief.contains("; without limits, not decided ("),
                "{}",
                claim.brief
            );
            assert_eq!(claim.action, None);
        }
    }
    let first = &report.layers[0].answer.advice[0].brief;
    assert!(first.contains("breaks the limit on the ratio"), "{first}");
}

#[test]
fn the_only_candidate_that_surely_keeps_the_limits_is_clear_however_fast_it_is() {
    let placement = answer(&of(&USUAL), &least_ratio(2.4));
    assert_eq!(placement.sureness, Some(Sureness::Clear));
    let text = placement.answer.join(" ");
    assert!(
        text.contains("This is clear: nothing else that was compared meets the limits."),
        "{text}"
    );
    // Space that differs from trial to trial, and only three of them, is not sure.
    let unsure = changed(of(&USUAL), "lz4", |trial| {
        Value::measured(STORED_BYTES, 60e6 + 1e6 * f64::from(trial.repetition))
    });
    let unsure = answer(&unsure, &least_ratio(2.4));
    assert_eq!(unsure.sureness, Some(Sureness::NotClear));
}

#[test]
fn a_store_that_is_not_compared_above_the_layers_keeps_no_limit_in_silence() {
    // Codecs alone do not say where to compress, and how many CPUs the machine has is not recorded.
    let run = of(&[
        stored("lz4", "ext4", 100e3, 60e6),
        stored("zstd:3", "ext4", 99e3, 40e6),
    ]);
    let first = |constraints: Constraints| {
        let report = Report::under(&run, &[], &constraints, None);
        report.layers[0].answer.advice[0].clone()
    };
    let of_cpus = first(Constraints {
        cpu_share: Some(0.01),
        ..Constraints::default()
    });
    let way_out = " (it is against the store without compression, which is measured with `--compression none,…`, or the same in the plan)";
    let unknown = [
        ("CPU share", of_cpus, ""),
        ("ratio", first(least_ratio(1.5)), way_out),
    ];
    for (limit, claim, way_out) in unknown {
        let said = format!("may break the limit on the {limit}, which is not known{way_out}");
        assert!(
            claim.brief.contains(&format!("{said}; without limits, ")),
            "{}",
            claim.brief
        );
        assert!(
            claim.text.contains(&format!("{said}. Without limits: ")),
            "{}",
            claim.text
        );
        assert_eq!(claim.action, None);
    }
    // On a filesystem that compresses, no compression in the engine alone is none.
    let below = of(&[
        stored("lz4", "btrfs zstd:3", 100e3, 60e6),
        stored("zstd:3", "btrfs zstd:3", 99e3, 40e6),
    ]);
    let report = Report::under(&below, &[], &least_ratio(1.5), None);
    let text = &report.layers[0].answer.advice[0].text;
    let how = "with `--compression none,…` on a filesystem that does not compress (`--filesystem ext4,…`)";
    assert_eq!(text.matches(how).count(), 2, "{text}");
    let broken = first(most_p99(1e3));
    assert!(
        broken.brief.contains("breaks the limit on the p99"),
        "{}",
        broken.brief
    );
    assert!(first(most_p99(1e9)).action.is_some());
}

/// A run of filesystems in which one configuration lacks a figure.
fn lacking(metric: Metric, compression: &str) -> RunView {
    changed(choice(), compression, |_| {
        Value::unavailable(metric, "too few operations (224) for a p99")
    })
}

#[test]
fn a_filesystem_whose_p99_is_unknown_does_not_keep_a_limit_on_it_in_silence() {
    let run = changed(lacking(filesystem::LATENCY.p99, "zstd:3"), "zstd:3", |_| {
        Value::measured(filesystem::SPACE_RATIO, 4.0)
    });
    let report = Report::under(&run, &[], &most_p99(1e9), None);
    let answer = &report.layers[0].answer;
    let smallest = answer
        .advice
        .iter()
        .find(|claim| claim.topic == "Smallest")
        .unwrap();
    assert!(smallest.brief.starts_with("btrfs zstd:1"), "{}", smallest.brief);
    let said = answer.cautions.iter().any(|caution| {
        caution
            .text
            .contains("btrfs zstd:3 may break the limit on the p99, which is not known")
    });
    assert!(said, "{:?}", answer.cautions);
    let free = Report::of(&run);
    let answer = &free.layers[0].answer;
    let smallest = answer
        .advice
        .iter()
        .find(|claim| claim.topic == "Smallest")
        .unwrap();
    assert!(smallest.brief.starts_with("btrfs zstd:3"), "{}", smallest.brief);
    // What was not measured is no dash in a sentence.
    assert!(!smallest.text.contains('–'), "{}", smallest.text);
    assert!(!smallest.text.contains("p99"), "{}", smallest.text);
}
