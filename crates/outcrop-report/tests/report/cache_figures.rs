//! Figures of the cache layer on runs whose truth is known: nothing here was measured.

use std::collections::BTreeSet;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_report::section::FigureSlot;
use outcrop_report::{FileFormat, Label, Report, latency_figure, miss_ratio_figure};
use outcrop_results::RunView;
use outcrop_schema::cache::{ARRIVAL, LATENCY, POLICY, SERVER, SERVER_THREADS};

use crate::cache_fixture::{Builder, Factors, peers, policies};

#[test]
fn distributions_of_several_servers_are_those_under_the_same_loads() {
    let mut builder = Builder::new();
    for server in ["outcrop", "memcached", "redis"] {
        // By their spelling the last would come before the second.
        for (arrival, throughput) in [
            ("closed", 2e5),
            ("poisson:30%", 6e4),
            ("poisson:60%", 1.2e5),
            ("poisson:100%", 2e5),
        ] {
            let changes: Factors<'_> = &[(&SERVER, server), (&ARRIVAL, arrival)];
            builder = builder.cell("cache-peers", changes, (1.0, 1.0), throughput, 6000.0);
        }
    }
    let report = Report::of(&builder.run);
    let page = report.layers[0].figures.iter().find_map(|slot| match slot {
        FigureSlot::Drawn(figure) if figure.id == "cache-latency-cdf" => Some(figure.to_page_svg()),
        _ => None,
    });
    let page = page.expect("it is drawn");
    let lines = |words: &str| {
        ["outcrop", "memcached", "redis"].map(|server| {
            page.split("<text")
                .filter(|line| line.contains(server) && line.contains(words))
                .count()
                > 0
        })
    };
    assert_eq!(lines("closed loop"), [true; 3], "{page}");
    assert_eq!(lines("poisson:30%"), [true; 3], "{page}");
    assert!(
        !page.contains("poisson:100%") && !page.contains("poisson:60%"),
        "{page}"
    );
}

#[test]
fn no_two_lines_of_loads_have_one_colour_and_lines_beyond_the_colours_are_named_as_not_drawn() {
    let mut builder = Builder::new();
    for server in ["outcrop", "memcached", "redis"] {
        for threads in ["1", "2"] {
            for (arrival, rate) in [("closed", 2e5), ("poisson:30%", 6e4), ("poisson:60%", 1.2e5)] {
                let changes: Factors<'_> =
                    &[(&SERVER, server), (&SERVER_THREADS, threads), (&ARRIVAL, arrival)];
                builder = builder.cell("cache-peers", changes, (1.0, 1.0), rate, 6000.0);
            }
        }
    }
    let colours = |run: &RunView| {
        let report = Report::of(run);
        let figures = report.figures();
        let figure = figures.iter().find(|figure| figure.id == "cache-offered-load");
        let figure = figure.expect("it is drawn");
        let drawn = serde_json::to_value(figure).expect("the figure has it");
        let series = drawn["chart"]["series"].as_array().expect("the figure has it");
        let hue = |line: &serde_json::Value| line["hue"].as_u64().expect("the figure has it") % 8;
        let hues: BTreeSet<u64> = series.iter().map(hue).collect();
        (series.len(), hues.len(), figure.caption.clone())
    };
    let (lines, hues, caption) = colours(&builder.run);
    assert_eq!((lines, hues), (8, 8), "{caption}");
    // Each server has one.
    let names = "Not drawn: 2 lines (memcached, server threads 2; redis, server threads 2).";
    assert!(caption.ends_with(names), "{caption}");
    builder
        .run
        .trials
        .retain(|trial| trial.factors[SERVER.name] != "redis");
    let (lines, hues, caption) = colours(&builder.run);
    assert_eq!((lines, hues), (8, 8), "{caption}");
    assert!(!caption.contains("Not drawn"), "{caption}");
}

#[test]
fn figures_of_one_policy_or_one_memory_of_several_name_it() {
    let figure = |run: &RunView, id: &str| {
        let report = Report::of(run);
        let figures = report.figures();
        (*figures
            .iter()
            .find(|figure| figure.id == id)
            .expect("it is drawn"))
        .clone()
    };
    let run = policies().run;
    let cpu = figure(&run, "cache-cpu-per-request").caption;
    assert!(
        cpu.ends_with("Shown: policy s3-fifo (of 2 measured), memory 8 MiB (of 3 measured)."),
        "{cpu}"
    );
    // Its lines have the memory.
    let latencies = figure(&run, "cache-latency-cdf").caption;
    assert!(
        latencies.ends_with("Shown: policy s3-fifo (of 2 measured)."),
        "{latencies}"
    );
    // The data behind them have no caption.
    for id in ["cache-cpu-per-request", "cache-latency-cdf"] {
        let csv = figure(&run, id).to_csv().unwrap();
        let mut rows = csv.lines().skip(1);
        assert!(
            rows.all(|row| row.contains("s3-fifo") && row.contains("MiB")),
            "{csv}"
        );
    }
    // Peers have no policy; where there is no other, there is nothing to say.
    let cpu = figure(&peers().run, "cache-cpu-per-request").caption;
    assert!(!cpu.contains("Shown:"), "{cpu}");
    let mut both = peers().run;
    both.trials.extend(policies().run.trials);
    let cpu = figure(&both, "cache-cpu-per-request").caption;
    assert!(
        cpu.ends_with("Shown: policy s3-fifo of outcrop (of 2 measured), memory 64 MiB (of 4 measured)."),
        "{cpu}"
    );
    // Without the default policy there is a bar for each.
    let mut builder = Builder::new();
    for policy in ["lru", "sieve"] {
        builder = builder.cell("cache-policies", &[(&POLICY, policy)], (0.9, 0.9), 1e5, 6000.0);
    }
    let page = figure(&builder.run, "cache-cpu-per-request").to_page_svg();
    assert!(
        page.contains("outcrop, lru") && page.contains("outcrop, sieve"),
        "{page}"
    );
}

#[test]
fn a_file_of_simulated_lines_does_not_say_that_operations_were_recorded() {
    let label = Label {
        subject: "a trace".to_owned(),
        origin: "simulated".to_owned(),
    };
    let curves = [("lru".to_owned(), vec![(1 << 20, 0.5), (2 << 20, 0.25)])];
    let simulated = miss_ratio_figure("Simulated.", &curves).unwrap();
    let mut latencies = LatencyHistogram::new();
    (1..100).for_each(|step| latencies.record(step * 1000));
    let recorded = latency_figure("Measured.", &[("get".to_owned(), &latencies)]).unwrap();
    for (figure, says) in [(simulated, false), (recorded, true)] {
        let file = figure.to_file(FileFormat::Svg, 200.0, &label).unwrap();
        let words = String::from_utf8(file).unwrap();
        assert_eq!(words.contains("from all recorded operations"), says, "{words}");
    }
}

#[test]
fn a_figure_of_loads_names_its_policy_and_the_servers_without_a_line() {
    let mut builder = Builder::new();
    for (server, policy) in [("outcrop", "s3-fifo"), ("outcrop", "lru"), ("memcached", "lru")] {
        for (arrival, rate) in [("closed", 2e5), ("poisson:30%", 6e4), ("poisson:60%", 1.2e5)] {
            let changes: Factors<'_> = &[(&SERVER, server), (&POLICY, policy), (&ARRIVAL, arrival)];
            builder = builder.cell("cache-peers", changes, (1.0, 1.0), rate, 6000.0);
        }
    }
    // One of its loads has too few requests for a p99.
    for trial in &mut builder.run.trials {
        if trial.factors[SERVER.name] == "memcached" && trial.factors[ARRIVAL.name] == "poisson:30%" {
            trial.values.retain(|value| value.metric != LATENCY.p99.name);
        }
    }
    let report = Report::of(&builder.run);
    let figures = report.figures();
    let figure = figures.iter().find(|figure| figure.id == "cache-offered-load");
    let caption = &figure.expect("it is drawn").caption;
    assert!(
        caption.ends_with(
            " Shown: policy s3-fifo (of 2 measured). Not drawn, without a p99 at two loads: memcached."
        ),
        "{caption}"
    );
}
