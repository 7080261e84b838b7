//! The plans that ship: they parse, they say what the list says, they share cells, and they fit their time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use outcrop_lab::{Effort, PlanOptions, PlanSet, PlanSource, profile_layers, profile_plans, shipped_plans};
use outcrop_results::{
    CompareOptions, Outcome, RunView, TrialEntry, Value, Verdict, compare_with, references,
};
use outcrop_schema::{Vocabulary, device};

fn profile_of(layers: &[&str], effort: Effort) -> PlanSet {
    let options = PlanOptions {
        effort: Some(effort),
        ..PlanOptions::default()
    };
    PlanSet::from_sources(
        &profile_plans(layers, None, Path::new(".")).unwrap().plans,
        &options,
    )
    .unwrap()
}

fn profile(effort: Effort) -> PlanSet {
    profile_of(&[], effort)
}

#[test]
fn every_file_in_plans_ships_and_has_its_line_in_the_readme() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let files: BTreeSet<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".toml")
                .map(str::to_owned)
        })
        .collect();
    let shipped: BTreeSet<String> = shipped_plans().iter().map(|plan| plan.name.to_owned()).collect();
    assert_eq!(files, shipped);
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for plan in shipped_plans() {
        assert!(
            readme.contains(&format!("[{0}]({0}.toml) | {1} |", plan.name, plan.question)),
            "{}",
            plan.name
        );
    }
}

#[test]
fn every_shipped_plan_parses_at_every_effort_and_says_what_the_list_says() {
    for plan in shipped_plans() {
        for effort in Effort::ALL {
            let options = PlanOptions {
                effort: Some(effort),
                ..PlanOptions::default()
            };
            let set = PlanSet::from_sources(&[plan.source()], &options).unwrap();
            assert_eq!(
                (set.plans()[0].name.as_str(), set.plans()[0].question.as_str()),
                (plan.name, plan.question)
            );
        }
    }
}

#[test]
fn each_layer_of_the_profile_fits_its_time_and_all_together_the_commands_promise() {
    for (effort, promised_s) in [(Effort::Quick, 90), (Effort::Default, 600)] {
        let mut budgets_s = 0;
        for (name, profile) in profile_layers() {
            let budget_s = if effort == Effort::Quick {
                profile.quick_s
            } else {
                profile.default_s
            };
            let takes = profile_of(&[name], effort).estimate().total();
            println!("{effort} {name}: {takes:?} of {budget_s} s");
            assert!(takes.as_secs() < budget_s, "{effort} {name}: {takes:?}");
            budgets_s += budget_s;
        }
        assert!(budgets_s <= promised_s, "{effort}: {budgets_s} s");
    }
}

#[test]
fn no_trial_of_a_device_plan_is_shorter_than_the_requests_in_flight_take_on_sata() {
    const SATA_BYTES_PER_SECOND: f64 = 600e6;
    for plan in shipped_plans()
        .iter()
        .filter(|plan| plan.name.starts_with("ssd-"))
    {
        for effort in Effort::ALL {
            let options = PlanOptions {
                effort: Some(effort),
                ..PlanOptions::default()
            };
            let set = PlanSet::from_sources(&[plan.source()], &options).unwrap();
            for cell in set.cells() {
                let in_flight = u64::from(*cell.factors.value(&device::QUEUE_DEPTH))
                    * u64::from(*cell.factors.value(&device::JOBS))
                    * cell.factors.value(&device::IO_BLOCK_SIZE).0;
                let (needed_s, measured_s) = (
                    in_flight as f64 / SATA_BYTES_PER_SECOND,
                    cell.trial.duration.0.as_secs_f64(),
                );
                assert!(
                    needed_s <= measured_s,
                    "{} {effort}: {in_flight} B in {measured_s} s",
                    plan.name
                );
            }
        }
    }
}

#[test]
fn every_layer_of_the_profile_has_plans_that_ship_and_measure_it() {
    for (name, profile) in profile_layers() {
        let set = profile_of(&[name], Effort::Quick);
        let chosen = profile_plans(&[name], None, Path::new(".")).unwrap();
        assert_eq!(set.plans().len(), chosen.plans.len(), "{name}");
        assert!(
            chosen.notes.len() == 1 || set.plans().len() == profile.plans.len(),
            "{name}"
        );
        assert!(set.cells().iter().all(|cell| cell.layer.name() == name), "{name}");
    }
    let refused = profile_plans(&["compresion"], None, Path::new(".")).unwrap_err();
    assert!(refused.contains("did you mean `compression`?"), "{refused}");
}

#[test]
fn the_profile_repeats_each_cell_at_least_three_times_quick_and_five_times_otherwise() {
    for (effort, least) in [(Effort::Quick, 3), (Effort::Default, 5), (Effort::Full, 5)] {
        assert!(
            profile(effort)
                .cells()
                .iter()
                .all(|cell| cell.trial.repetitions >= least),
            "{effort}"
        );
    }
}

#[test]
fn plans_share_their_cells() {
    let set = profile_of(&["device"], Effort::Quick);
    let asked: usize = set
        .plans()
        .iter()
        .map(|plan| plan.factors.values().map(Vec::len).product::<usize>())
        .sum();
    assert!(
        set.cells().len() < asked,
        "{} cells, {asked} asked for",
        set.cells().len()
    );
    let shared = set
        .cells()
        .iter()
        .find(|cell| cell.plans.len() == 4)
        .expect("4 KiB random reads at depth 32");
    assert_eq!(
        shared.plans,
        [
            "ssd-access-size",
            "ssd-read-write-mix",
            "ssd-queue-depth",
            "ssd-matrix"
        ]
    );
    let (ids, subjects): (BTreeSet<_>, BTreeSet<_>) =
        set.cells().iter().map(|cell| (&cell.id, &cell.subject)).unzip();
    assert_eq!((ids.len(), subjects.len()), (set.cells().len(), 1));
}

#[test]
fn the_matrix_has_every_cell_of_the_published_one() {
    let set = profile(Effort::Default);
    for mix in ["100:0", "0:100", "50:50", "70:30"] {
        for size in ["4KiB", "16KiB", "32KiB", "128KiB"] {
            for depth in ["1", "8", "32", "256", "1024"] {
                let wanted = [
                    ("read_write_mix", mix),
                    ("io_block_size", size),
                    ("queue_depth", depth),
                    ("access_pattern", "random"),
                ];
                let has = |cell: &&outcrop_lab::Cell| {
                    wanted
                        .iter()
                        .all(|(name, value)| super::scene::factor(cell, name) == *value)
                };
                assert!(set.cells().iter().any(|cell| has(&cell)), "{wanted:?}");
            }
        }
    }
}

#[test]
fn the_matrix_as_its_comment_changes_it_is_compared_with_every_cell_of_the_published_one() {
    let plan = shipped_plans()
        .iter()
        .find(|plan| plan.name == "ssd-matrix")
        .unwrap();
    let (engine, size) = ("engine = \"libaio\"", "size = \"512MB\"");
    assert!(plan.text.contains(&format!("set {engine} and {size}")));
    let is_size = |line: &&str| line.starts_with("size = ");
    let sizes = plan.text.lines().find(is_size).unwrap();
    let text = plan
        .text
        .replace("engine = \"io_uring\"", engine)
        .replace(sizes, size);
    let source = PlanSource {
        name: "mine.toml".to_owned(),
        text,
    };
    let set = PlanSet::from_sources(&[source], &PlanOptions::default()).unwrap();
    let trial = |cell: &outcrop_lab::Cell, repetition: u32| TrialEntry {
        trial: 0,
        cell: cell.id.clone(),
        layer: device::SCHEMA.name.to_owned(),
        subject: cell.subject.label.clone(),
        plans: cell.plans.clone(),
        repetition,
        seed: 0,
        factors: cell.factors.spellings(),
        data: None,
        variant: None,
        started_at: "2026-11-21T02:00:00.123456Z".to_owned(),
        duration_s: 1.0,
        took_s: None,
        others_cpu_share: None,
        outcome: Outcome::Completed,
        values: vec![Value::measured(device::IOPS.both, 1e5 + f64::from(repetition))],
        histograms: Vec::new(),
        notes: Vec::new(),
    };
    let cells = set.cells().iter();
    let run = RunView {
        dir: PathBuf::new(),
        name: "mine".to_owned(),
        plan: String::new(),
        environment: serde_json::Value::Null,
        trials: cells
            .flat_map(|cell| (0..5).map(move |repetition| trial(cell, repetition)))
            .collect(),
        torn_bytes: 0,
        vocabulary: Vocabulary::default(),
    };
    let options = CompareOptions {
        assumed: [("state".to_owned(), "as found".to_owned())].into(),
        ..CompareOptions::default()
    };
    let reference = references::load("toshiba-kxg60znv256g-fio").unwrap();
    let comparison = compare_with(&reference, &run, &options).unwrap();
    let rows = comparison
        .rows
        .iter()
        .filter(|row| row.metric == device::IOPS.both.name);
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 80);
    for row in rows {
        assert!(!matches!(row.verdict, Verdict::NotComparable(_)), "{row:?}");
    }
}

/// Cells whose throughput `outcrop predict --run` predicts: what compresses, of layers that are more than a codec.
#[test]
fn the_plans_that_check_predictions_have_at_least_20_predicted_cells_with_five_trials_of_two_seconds() {
    const PLANS: [&str; 3] = ["predict-software", "predict-codecs", "predict-filesystem"];
    for effort in [Effort::Default, Effort::Full] {
        let options = PlanOptions {
            effort: Some(effort),
            ..PlanOptions::default()
        };
        let shipped = shipped_plans().iter();
        let plans: Vec<_> = shipped
            .filter(|plan| PLANS.contains(&plan.name))
            .map(outcrop_lab::ShippedPlan::source)
            .collect();
        let set = PlanSet::from_sources(&plans, &options).unwrap();
        let (mut predicted, mut threads) = (0, BTreeSet::new());
        for cell in set
            .cells()
            .iter()
            .filter(|cell| cell.layer.name() != "compression")
        {
            let factor = |name| super::scene::factor(cell, name);
            // fjall does not count what compactions read: nothing would be predicted from its cells.
            if cell.layer.name() == "kv" {
                assert_eq!(factor("engine"), "rocksdb", "{effort}");
                threads.insert(factor("threads").to_owned());
            }
            let is_compressed = factor("compression") != "none";
            predicted += usize::from(is_compressed);
            assert!(
                cell.trial.repetitions >= 5 && cell.trial.duration.0.as_secs() >= 2,
                "{effort}: {:?}",
                cell.trial
            );
        }
        assert!(predicted >= 20, "{effort}: {predicted}");
        assert_eq!(threads.into_iter().collect::<Vec<_>>(), ["1", "2"], "{effort}");
    }
}
