//! Runs with several sync policies: what is said of writes names the policy, and without a word it is of those that wait for none.

use outcrop_report::Report;
use outcrop_report::answer::{Claim, ReadingOutcome};
use outcrop_results::{CellTable, RunView, Value};
use outcrop_schema::device::{
    BANDWIDTH, ENGINE, IOPS, LATENCY, QUEUE_DEPTH, READ_WRITE_MIX, SYNC, SYNC_LATENCY,
};

use crate::device_limits::{row, set, value};
use crate::fixture::RunBuilder;

/// Writes of two sizes at three depths, each without a sync and with two of them, which leave a fourth and a tenth of the IOPS. The cells with
/// a sync come first, and one of them has one depth more.
fn run() -> RunView {
    let plain = RunBuilder::new(3)
        .cells(&[4096, 65_536], &[1, 4, 16], &[0])
        .build();
    let mut run = RunBuilder::new(3).build();
    for (sync, left) in [("dsync", 0.1), ("each:fsync", 0.25), ("none", 1.0)] {
        for trial in &plain.trials {
            let mut trial = trial.clone();
            trial.cell = format!("{} {sync}", trial.cell);
            trial.factors.insert(SYNC.name.to_owned(), sync.to_owned());
            for metric in [IOPS.both, IOPS.write, BANDWIDTH.both, BANDWIDTH.write] {
                let scaled = value(&trial, &metric) * left;
                set(&mut trial, metric, scaled);
            }
            for metric in [
                LATENCY.both.mean,
                LATENCY.both.p50,
                LATENCY.both.p99,
                LATENCY.write.p50,
                LATENCY.write.p99,
            ] {
                let scaled = value(&trial, &metric) / left;
                set(&mut trial, metric, scaled);
            }
            trial.trial = run.trials.len() as u32;
            run.trials.push(trial);
        }
    }
    let deeper = run
        .trials
        .iter()
        .filter(|trial| trial.factors[QUEUE_DEPTH.name] == "16" && trial.factors[SYNC.name] == "dsync");
    let deeper: Vec<_> = deeper.cloned().collect();
    for mut trial in deeper {
        trial.cell = format!("{} deeper", trial.cell);
        trial.factors.insert(QUEUE_DEPTH.name.to_owned(), "64".to_owned());
        run.trials.push(trial);
    }
    run
}

fn claim<'r>(report: &'r Report, topic: &str) -> &'r Claim {
    let advice = &report.layers[0].answer.advice;
    let found = advice.iter().find(|claim| claim.topic == topic);
    found.unwrap_or_else(|| panic!("no {topic} in {advice:?}"))
}

#[test]
fn advice_on_depth_is_of_writes_that_wait_for_no_sync_and_says_so() {
    let report = Report::of(&run());
    for topic in [
        "Write throughput",
        "Write latency",
        "Knee of writes",
        "Access size",
    ] {
        let Claim {
            brief, text, action, ..
        } = claim(&report, topic);
        for said in [brief, text].into_iter().chain(action) {
            assert!(
                said.contains("sync none") && !said.contains("dsync"),
                "{topic}: {said}"
            );
        }
    }
}

#[test]
fn a_run_with_one_policy_names_it_only_where_it_is_unusual() {
    let mut alike = run();
    alike.trials.retain(|trial| trial.factors[SYNC.name] == "none");
    let report = Report::of(&alike);
    assert!(!claim(&report, "Write throughput").text.contains("sync"));
    assert!(
        report.layers[0]
            .answer
            .advice
            .iter()
            .all(|claim| claim.topic != "Durability")
    );
    let mut alike = run();
    alike.trials.retain(|trial| trial.factors[SYNC.name] == "dsync");
    let report = Report::of(&alike);
    assert!(claim(&report, "Write throughput").text.contains("sync dsync"));
}

#[test]
fn every_figure_of_the_first_screen_is_of_one_policy_and_names_it() {
    let report = Report::of(&run());
    for label in [
        "Highest IOPS",
        "QD 1 latency (4 KiB), p50",
        "QD 1 latency (4 KiB), p99",
    ] {
        match &row(&report, label).readings[1].outcome {
            ReadingOutcome::Measured { conditions, .. } => {
                assert!(conditions.ends_with(", sync none"), "{label}: {conditions}");
            }
            missing => panic!("{label}: {missing:?}"),
        }
    }
    let screen = report.screen(120, false);
    let names_it =
        |line: &&str| line.trim_start().starts_with("QD 1 latency") && line.ends_with("), sync none");
    assert_eq!(
        screen.lines().filter(names_it).count(),
        2,
        "beside the value of both rows: {screen}"
    );
    assert!(
        !screen.contains("QD 1, sync none"),
        "the label has said the depth: {screen}"
    );
}

#[test]
fn the_latency_of_a_lone_write_is_of_a_cell_that_has_it_even_where_one_without_comes_first() {
    let imported = |lacking: &str| {
        let mut run = run();
        run.trials
            .retain(|trial| trial.factors[QUEUE_DEPTH.name] == "1" && trial.factors[SYNC.name] != "none");
        for trial in &mut run.trials {
            let lacks = lacking == "both" || trial.factors[SYNC.name] == lacking;
            for value in trial.values.iter_mut().filter(|_| lacks) {
                for metric in [LATENCY.both, LATENCY.write]
                    .into_iter()
                    .flat_map(|of| [of.p50, of.p99])
                {
                    if value.metric == metric.name {
                        *value = Value::unavailable(metric, "fio reports the time of fsync separately");
                    }
                }
            }
        }
        let report = Report::of(&run);
        ["p50", "p99"].map(|percentile| {
            let reading = &row(&report, &format!("QD 1 latency (4 KiB), {percentile}")).readings[1];
            reading.outcome.clone()
        })
    };
    for (lacking, has) in [("dsync", "each:fsync"), ("each:fsync", "dsync")] {
        for outcome in imported(lacking) {
            match outcome {
                ReadingOutcome::Measured { conditions, .. } => {
                    assert!(conditions.ends_with(&format!(", sync {has}")), "{conditions}");
                }
                missing => panic!("{lacking}: {missing:?}"),
            }
        }
    }
    for outcome in imported("both") {
        assert!(
            matches!(outcome, ReadingOutcome::Missing(absence) if absence.reason.contains("fsync separately"))
        );
    }
}

#[test]
fn a_tail_that_is_known_badly_does_not_hide_what_a_sync_costs() {
    let mut run = run();
    for trial in &mut run.trials {
        let scattered = value(trial, &LATENCY.write.p99) * (1.0 + 0.6 * f64::from(trial.repetition));
        set(trial, LATENCY.write.p99, scattered);
    }
    let report = Report::of(&run);
    let brief = &claim(&report, "Durability").brief;
    assert!(
        brief.starts_with("QD 1, 4 KiB: fsync after each write 25 % of the unsynced IOPS, p99 "),
        "{brief}"
    );
}

#[test]
fn that_a_sync_is_slower_is_decided_where_only_how_much_is_not() {
    let with_dsync = |factors: [f64; 3]| {
        let mut run = run();
        for trial in &mut run.trials {
            if trial.factors[SYNC.name] == "dsync" {
                let scattered = value(trial, &IOPS.both) * factors[trial.repetition as usize];
                set(trial, IOPS.both, scattered);
            }
        }
        claim(&Report::of(&run), "Durability").clone()
    };
    // A tenth of the IOPS, give or take a factor of two.
    let wide = with_dsync([0.6, 1.0, 1.9]);
    assert!(
        wide.brief.starts_with(
            "QD 1, 4 KiB: fsync after each write about 4 times slower than without a sync; O_DSYNC 5 to 17; how much is not \
             decided (IOPS with O_DSYNC ÷ unsynced IOPS: 0.100 (0.0"
        ),
        "{}",
        wide.brief
    );
    assert!(
        wide.is_decided() && wide.brief.contains("--repetitions"),
        "{wide:?}"
    );
    // From a third to as many: nothing is decided of that one, and the other is what it was.
    let open = with_dsync([3.0, 6.0, 9.8]);
    assert!(
        open.brief.starts_with(
            "QD 1, 4 KiB: fsync after each write about 4 times slower than without a sync; O_DSYNC not decided; how much is not decided"
        ),
        "{}",
        open.brief
    );
}

#[test]
fn there_is_a_matrix_for_each_policy_with_the_policy_in_its_heading() {
    let report = Report::of(&run());
    let titles = report.layers[0]
        .matrices
        .iter()
        .map(|matrix| matrix.title.as_str());
    assert_eq!(
        titles.collect::<Vec<_>>(),
        [
            "0:100, writes only, sync none",
            "0:100, writes only, sync dsync",
            "0:100, writes only, sync each:fsync"
        ]
    );
    let page = report.to_html();
    assert!(
        page.contains("4 KiB random write, sync none"),
        "the lines of figures too"
    );
}

#[test]
fn what_a_sync_costs_is_said_for_each_policy_beside_writes_without_one() {
    let report = Report::of(&run());
    let Claim {
        brief, text, numbers, ..
    } = claim(&report, "Durability");
    assert!(
        brief.starts_with("QD 1, 4 KiB: fsync after each write 25 % of the unsynced IOPS, p99 ")
            && brief.contains("; O_DSYNC 10 % of the unsynced IOPS, p99 "),
        "{brief}"
    );
    assert!(
        text.starts_with(
            "fsync after each write: 25 % of the IOPS of unsynced 4 KiB random writes at QD 1 ("
        ),
        "{text}"
    );
    assert_eq!(numbers.len(), 3);
    assert_eq!(
        report.layers[0].answer.advice[0].topic, "Durability",
        "the question of such a run"
    );
    assert!(report.screen(120, false).contains("Durability "));
    // Reads and mixes have no such cost.
    let mut mixed = run();
    for trial in &mut mixed.trials {
        trial
            .factors
            .insert(READ_WRITE_MIX.name.to_owned(), "70:30".to_owned());
    }
    let report = Report::of(&mixed);
    assert!(
        report.layers[0]
            .answer
            .advice
            .iter()
            .all(|claim| claim.topic != "Durability")
    );
}

#[test]
fn a_table_of_cells_that_sync_has_the_mean_time_of_a_sync_where_its_p99_is_withheld() {
    let mut run = run();
    for trial in &mut run.trials {
        if trial.factors[SYNC.name] == "each:fsync" {
            let few = "too few operations (220 of at least 1000) for a p99";
            trial.values.extend([
                Value::measured(SYNC_LATENCY.mean, 4.2e6),
                Value::unavailable(SYNC_LATENCY.p99, few),
            ]);
        }
    }
    let table = CellTable::of(&run);
    let screen = outcrop_report::cell_table::text(&table, None);
    assert!(
        screen.contains("sync mean") && screen.contains("4.20 ms"),
        "{screen}"
    );
    let mut csv = Vec::new();
    outcrop_results::cells::write_csv(&table, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.lines().next().unwrap().contains("sync_latency_mean"), "{csv}");
}

#[test]
fn the_best_measured_beside_a_datasheets_claim_names_its_sync_and_its_engine() {
    let mut run = run();
    run.trials
        .retain(|trial| trial.factors[SYNC.name] == "each:fsync");
    for trial in &mut run.trials {
        trial.factors.insert(ENGINE.name.to_owned(), "psync".to_owned());
    }
    let report = Report::of(&run);
    let mut tables = report.layers[0].references.iter().map(|section| &section.table);
    let is_own = |head: &String| head == "best measured here";
    let (table, own) = tables
        .find_map(|table| Some((table, table.head.iter().position(is_own)?)))
        .expect("a datasheet");
    let mut claims = table.rows.iter();
    let claim = claims.find(|row| row[0] == "Intel D7-P5600" && row[2] == "random" && row[3] == "0:100");
    let best = &claim.expect("its random writes")[own];
    assert!(
        best.contains("4 KiB random, QD") && best.contains(", sync each:fsync, psync)"),
        "{best}"
    );
}

#[test]
fn what_syncs_cost_is_drawn_with_a_bar_for_each_policy() {
    let report = Report::of(&run());
    let figures = report.figures();
    let figure = figures.iter().find(|figure| figure.id == "iops-by-sync");
    let csv = figure.expect("several policies were measured").to_csv().unwrap();
    for policy in [",none,", ",dsync,", ",each:fsync,"] {
        assert!(csv.contains(policy), "{policy}: {csv}");
    }
}

#[test]
fn the_latency_tail_of_writes_at_one_depth_has_a_line_for_each_sync_policy() {
    let mut run = run();
    run.trials
        .retain(|trial| trial.factors[QUEUE_DEPTH.name] == "4" && trial.factors["io_block_size"] == "4KiB");
    let report = Report::of(&run);
    let figures = report.figures();
    let tail = figures.iter().find(|figure| figure.id == "latency-tail").unwrap();
    let data = tail.to_csv().unwrap();
    for policy in ["sync dsync", "sync each:fsync"] {
        assert!(data.contains(policy), "{policy}: {data}");
    }
    assert!(!tail.caption.contains("Not drawn"), "{}", tail.caption);
}
