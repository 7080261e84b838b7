//! Servers that hold more than their memory limit: their hit ratios are those of more memory.

use outcrop_report::section::FigureSlot;
use outcrop_report::{Report, cell_table};
use outcrop_results::{CellTable, RunView, Value};
use outcrop_schema::cache::{MEMORY, SERVER, STORE_BYTES};

use crate::cache_fixture::{Builder, Factors};

/// Ours and memcached under two limits, of which memcached keeps the second alone.
fn peers() -> RunView {
    let mut builder = Builder::new();
    for memory in ["8MiB", "32MiB"] {
        for (server, hits) in [("outcrop", 0.9), ("memcached", 0.98)] {
            let changes: Factors<'_> = &[(&SERVER, server), (&MEMORY, memory)];
            let hits = if memory == "8MiB" { hits } else { hits - 0.1 };
            builder = builder.cell("cache-peers", changes, (hits, hits), 1e5, 6000.0);
        }
    }
    let mut run = builder.run;
    for trial in &mut run.trials {
        let is_ours = trial.factors[SERVER.name] == "outcrop";
        let held = match (is_ours, trial.factors[MEMORY.name].as_str()) {
            (true, _) => 7e6,
            (false, "8MiB") => 16.86e6,
            (false, _) => 30e6,
        };
        trial.values.push(Value::measured(STORE_BYTES, held));
    }
    run
}

/// The figure of hit ratios against memory: its caption, or why it is missing, and the plan that would fill it.
fn by_memory(run: &RunView) -> (String, Option<String>) {
    let slots = Report::of(run).layers.remove(0).figures;
    let found = slots.into_iter().find_map(|slot| match slot {
        FigureSlot::Drawn(figure) if figure.id == "cache-hit-ratio" => Some((figure.caption, None)),
        FigureSlot::Missing(missing) if missing.title == "Hit ratio against memory" => {
            Some((missing.reason, Some(missing.plan)))
        }
        _ => None,
    });
    found.expect("the layer has the figure")
}

#[test]
fn a_hit_ratio_that_a_figure_leaves_out_because_its_limit_is_not_kept_is_named_there() {
    let mut run = peers();
    let (caption, _) = by_memory(&run);
    let left_out = "Not drawn: 1 hit ratio (memcached, memory 8 MiB (holds 16.9 MB)).";
    assert!(caption.ends_with(left_out), "{caption}");
    run.trials
        .retain(|trial| trial.factors[SERVER.name] == "memcached");
    for trial in &mut run.trials {
        if trial.factors[MEMORY.name] == "32MiB" {
            trial.factors.insert(MEMORY.name.to_owned(), "12MiB".to_owned());
        }
    }
    // It was measured under two limits, and another plan does not measure it.
    let (reason, plan) = by_memory(&run);
    assert!(
        reason.starts_with("no server that keeps to its memory limit has a hit ratio at two or more. Not drawn: 2 hit ratios ("),
        "{reason}"
    );
    assert_eq!(plan.as_deref(), Some(""));
    let screen = Report::of(&run).screen(120, false);
    let row = screen.lines().find(|line| line.contains("Highest hit ratio"));
    assert!(
        row.is_some_and(|row| row.contains("not that of the limit")),
        "{screen}"
    );
}

#[test]
fn a_hit_ratio_of_more_memory_than_the_limit_stands_beside_no_other_and_says_so_everywhere_else() {
    let mut run = peers();
    let answer = |run: &RunView| Report::of(run).layers.remove(0).answer;
    let hits = |run: &RunView| format!("{:?}", answer(run).capabilities[0]);
    // 98 % at 8 MiB would be the highest.
    let highest = hits(&run);
    assert!(
        highest.contains("value: 0.88") && !highest.contains("8 MiB (holds"),
        "{highest}"
    );
    let table = cell_table::text(&CellTable::of(&run), None);
    assert!(table.contains("8MiB (holds 16.9 MB)"), "{table}");
    assert_eq!(table.matches("holds").count(), 1, "{table}");
    run.trials.retain(|trial| trial.factors[MEMORY.name] == "8MiB");
    let none = hits(&run);
    assert!(
        none.contains("memory 8 MiB (holds 16.9 MB) is not kept, so the hit ratio is not that of the limit"),
        "{none}"
    );
    let claims = answer(&run).advice;
    let peers = claims
        .iter()
        .find(|claim| claim.topic == "Compared with peers")
        .unwrap();
    assert!(
        peers
            .text
            .contains("the same memory limit (memcached holds 16.9 MB under it)"),
        "{}",
        peers.text
    );
}
