//! Figures of engines that are servers, next to embedded ones, drawn from a run whose truth is known.

use outcrop_report::Report;
use outcrop_report::section::FigureSlot;
use outcrop_results::{RunView, Value};
use outcrop_schema::FactorRef;
use outcrop_schema::kv::{
    BLOCK_CACHE, COMPRESSION, DURABILITY, ENGINE, SERVER_MEMORY, VALUE_SIZE, WORKLOAD, lacked_by,
};
use outcrop_workload::store::StoreEngine;

use crate::kv_fixture::{Unusual, of_settings};

const ENGINES: [(&str, &str, f64); 3] = [
    ("fjall", "logged", 3e5),
    ("redis", "logged", 2e4),
    ("memcached", "unlogged", 3e4),
];
const SIZES: [(&str, f64); 2] = [("fixed:100B", 1.0), ("fixed:1000B", 0.5)];

/// What the plan `kv-network` measures, by engine, workload and size of values.
fn network() -> RunView {
    let mut cells: Vec<(Unusual, f64)> = Vec::new();
    for workload in ["ycsb-a", "ycsb-c", "ycsb-d"] {
        for (engine, durability, throughput) in ENGINES {
            for (size, of_size) in SIZES {
                let settings: Unusual = vec![
                    (&WORKLOAD, workload),
                    (&COMPRESSION, "none"),
                    (&ENGINE, engine),
                    (&DURABILITY, durability),
                    (&VALUE_SIZE, size),
                    (&BLOCK_CACHE, "8MiB"),
                ];
                cells.push((settings, throughput * of_size));
            }
        }
    }
    let mut run = of_settings(&cells);
    for trial in &mut run.trials {
        let engine: StoreEngine = trial.factors[ENGINE.name].parse().expect("an engine");
        if [StoreEngine::Redis, StoreEngine::Memcached].contains(&engine) {
            let lacked: Vec<FactorRef> = lacked_by(engine).collect();
            trial
                .factors
                .retain(|name, _| lacked.iter().all(|factor| factor.name != name));
            trial.values.push(Value::measured(SERVER_MEMORY, 50e6));
        }
    }
    run
}

#[test]
fn engines_behind_sockets_are_drawn_for_each_size_of_values_with_what_their_writes_have_reached() {
    let report = Report::of(&network());
    let mut slots = report.layers[0].figures.iter();
    let figure = slots.find_map(|slot| match slot {
        FigureSlot::Drawn(figure) if figure.id == "kv-workloads" => Some(figure),
        _ => None,
    });
    let figure = figure.expect("the run has several workloads");
    let data = figure.to_csv().unwrap();
    assert!(data.find("of 100 B") < data.find("of 1.00 kB"), "{data}");
    for size in ["values of 100 B", "values of 1.00 kB"] {
        for (engine, durability, _) in ENGINES {
            let settings = if engine == "fjall" { " none 4KiB" } else { "" };
            let name = format!("{engine}{settings}, {durability}");
            let rows = data
                .lines()
                .filter(|row| row.contains(size) && row.contains(&name));
            assert_eq!(rows.count(), 3, "{name} at {size}: {data}");
        }
    }
    for words in [
        "Closed loop, 1 thread.",
        "memory alone (unlogged)",
        "Servers are queried over a Unix socket, one request at a time per thread; embedded engines are called in the process.",
    ] {
        assert!(figure.caption.contains(words), "{words}: {}", figure.caption);
    }
    assert!(!figure.caption.contains("Not drawn"), "{}", figure.caption);
    // A figure of one load names the engines and loads that it leaves out, and not the settings that only those engines have.
    let mut slots = report.layers[0].figures.iter();
    let caption = slots.find_map(|slot| match slot {
        FigureSlot::Drawn(figure) if figure.id == "kv-space" => Some(&figure.caption),
        _ => None,
    });
    let caption = caption.expect("Redis and fjall have files");
    assert!(
        caption.contains("Not drawn: ") && caption.contains("; workload ycsb-"),
        "{caption}"
    );
    assert!(
        !caption.contains("(bloom") && !caption.contains("; bloom"),
        "{caption}"
    );
}

#[test]
fn engines_that_do_the_same_are_not_named_by_it_and_without_servers_nothing_is_said_of_sockets() {
    let mut run = network();
    run.trials
        .retain(|trial| trial.factors[ENGINE.name] == StoreEngine::Fjall.name());
    let report = Report::of(&run);
    let drawn = report.layers[0].figures.iter().filter_map(|slot| match slot {
        FigureSlot::Drawn(figure) => Some(figure),
        FigureSlot::Missing(_) => None,
    });
    for figure in drawn {
        let said = format!("{} {}", figure.caption, figure.to_csv().unwrap_or_default());
        for words in ["(unlogged)", ", logged", "socket"] {
            assert!(!said.contains(words), "{words}: {said}");
        }
    }
}
