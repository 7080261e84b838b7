//! What a comparison tells besides its rows: what the reports of its sides warn of, subjects, and the same in Markdown.

use outcrop_measure::metric::Provenance;
use outcrop_report::Report;
use outcrop_report::comparison::{Detail, comparison_csv, comparison_markdown, comparison_text, examined};
use outcrop_results::compare::Side;
use outcrop_results::{RunView, Value, compare};
use outcrop_schema::device::ERRORS;
use outcrop_schema::remark::RESUMED_ELSEWHERE;

use crate::fixture::RunBuilder;

fn of_two_depths() -> RunView {
    RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build()
}

/// A reader of an import was slowed down by another program, and Outcrop was called 1.9 times as fast.
#[test]
fn of_a_side_that_another_program_measured_it_is_said_that_a_busy_machine_would_explain_what_is_worse() {
    let of = |others: Option<f64>, factor: f64, provenance: Provenance| {
        let mut run = of_two_depths();
        for trial in &mut run.trials {
            trial.others_cpu_share = others;
            for value in &mut trial.values {
                value.provenance = provenance;
                let is_scaled = value.metric == "iops";
                value.value = value
                    .value
                    .map(|number| if is_scaled { number * factor } else { number });
            }
        }
        run
    };
    let ours = of(Some(0.02), 1.0, Provenance::Measured);
    let theirs = of(None, 0.5, Provenance::Imported);
    let words = |a: &RunView, b: &RunView| in_words(&comparison_text(&compare(a, b), &Detail::default()));
    for (text, side) in [
        (
            words(&theirs, &ours),
            "the baseline, which another program measured",
        ),
        (
            words(&ours, &theirs),
            "the candidate, which another program measured",
        ),
        (
            words(&theirs, &of(None, 1.0, Provenance::Imported)),
            "either side, which another program measured",
        ),
    ] {
        assert!(
            text.contains(side) && text.contains("measure both again, in turn"),
            "{text}"
        );
    }
    let own = of(Some(0.03), 0.5, Provenance::Measured);
    assert!(!words(&ours, &own).contains("another program"));
}

fn in_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What text and Markdown say of two runs whose reports were examined.
fn told(a: &RunView, b: &RunView) -> [String; 2] {
    let mut seen = examined(Side::Baseline, a);
    seen.extend([examined(Side::Candidate, b)]);
    let detail = Detail {
        failed_checks: Some(seen.failed_checks),
        warnings: seen.warnings,
        ..Detail::default()
    };
    let comparison = compare(a, b);
    [
        comparison_text(&comparison, &detail),
        comparison_markdown(&comparison, &detail),
    ]
    .map(|text| in_words(&text))
}

#[test]
fn failed_requests_a_torn_journal_and_sessions_on_two_machines_are_told_above_the_rows_of_their_side() {
    let calm = of_two_depths();
    let (mut failing, mut torn, mut resumed) = (calm.clone(), calm.clone(), calm.clone());
    for trial in &mut failing.trials {
        trial.values.retain(|value| value.metric != ERRORS.name);
        trial.values.push(Value::measured(ERRORS, 150.0));
    }
    torn.torn_bytes = 7;
    let elsewhere =
        "resumed after the CPU changed from A to B: trials before and after may not be comparable";
    resumed.trials[5].notes.push(RESUMED_ELSEWHERE.remark(elsewhere));
    for (run, said) in [
        (&failing, "1500 requests failed in 10 trials"),
        (&torn, "The journal ends in the middle of a line"),
        (
            &resumed,
            "The run was not measured in one piece: resumed after the CPU changed",
        ),
    ] {
        for text in told(&calm, run) {
            assert!(
                text.contains(&format!("warning: in the candidate: {said}")),
                "{text}"
            );
        }
        for text in told(run, &calm) {
            assert!(
                text.contains(&format!("warning: in the baseline: {said}")),
                "{text}"
            );
        }
        let screen = Report::of(run).screen(80, false);
        assert!(in_words(&screen).contains(said), "{screen}");
    }
    for text in told(&calm, &calm) {
        assert!(!text.contains("warning: "), "{text}");
    }
}

#[test]
fn the_table_in_markdown_says_what_makes_its_verdicts_doubtful_and_what_it_leaves_out() {
    let mut before = of_two_depths();
    let mut after = of_two_depths();
    before.environment = serde_json::json!({"cpu": {"model": "A"}});
    after.environment = serde_json::json!({"cpu": {"model": "B"}});
    for (run, others, factor) in [(&mut before, 0.02, 1.0), (&mut after, 0.8, 2.0)] {
        for trial in &mut run.trials {
            trial.others_cpu_share = Some(others);
            trial.duration_s *= factor;
        }
    }
    after.trials.retain(|trial| trial.factors["queue_depth"] == "8");
    let [_, text] = told(&before, &after);
    for said in [
        "differs: `cpu.model`: A in the baseline, B in the candidate.",
        "The machines differ: every ratio compares machines",
        "trials: ",
        "load: other processes used 2 % of the CPUs in the baseline, 80 % in the candidate",
        "- 1 cell is only in the baseline",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn rows_of_several_subjects_are_named_by_them_and_csv_has_them_in_any_case() {
    let one = RunBuilder::new(5).cells(&[4096], &[8], &[100]).build();
    let mut both = one.clone();
    let mut other = one.trials.clone();
    for trial in &mut other {
        trial.subject = "/mnt/b/f".to_owned();
        trial.cell.push_str("-b");
    }
    both.trials.extend(other);
    let comparison = compare(&both, &both);
    let text = comparison_text(&comparison, &Detail::default());
    let own = &one.trials[0].subject;
    assert!(
        text.contains(", /mnt/b/f\n") && text.contains(&format!(", {own}\n")),
        "{text}"
    );
    assert!(comparison_csv(&comparison).contains("\ndevice,/mnt/b/f,/mnt/b/f,"));
    let alone = comparison_text(&compare(&one, &one), &Detail::default());
    assert!(!alone.contains(&format!(", {own}")), "{alone}");
}

#[test]
fn text_and_markdown_say_what_was_measured_and_what_all_cells_have() {
    let run = of_two_depths();
    let mut other = run.clone();
    for trial in &mut other.trials {
        trial.started_at = "2026-11-22T02:00:00.5Z".into();
    }
    for text in told(&run, &other) {
        assert!(text.contains("scratch-file 512MiB"), "{text}");
        assert!(text.contains("read_write_mix=100:0"), "{text}");
    }
}

#[test]
fn results_of_files_that_fio_may_not_have_written_name_the_option_that_has_them_written() {
    let with = |name: &str, factors: &[(&str, &str)]| {
        let mut run = RunBuilder::new(5).cells(&[4096], &[1], &[0]).build();
        run.name = name.into();
        for trial in &mut run.trials {
            for (factor, value) in factors {
                trial.factors.insert((*factor).to_owned(), (*value).to_owned());
            }
        }
        run
    };
    let synced = ("sync", "each");
    let theirs = with("theirs", &[synced, ("fio_layout", "perhaps not written before")]);
    let said = |ours: &RunView| in_words(&comparison_text(&compare(ours, &theirs), &Detail::default()));
    let of_file = said(&with("ours", &[synced]));
    assert!(
        of_file
            .contains("written in full first in the baseline, perhaps not written before in the candidate")
            && of_file.contains("add overwrite=1 to the job"),
        "{of_file}"
    );
    let mut device = with("device", &[synced]);
    for trial in &mut device.trials {
        trial.subject = "/dev/sdb".to_owned();
    }
    let of_device = said(&device);
    assert!(
        of_device.contains("a block device in the baseline, perhaps not written before in the candidate"),
        "{of_device}"
    );
    // Of a file that is written without syncs it is not known how it came to be.
    let unsynced = said(&with("unsynced", &[("sync", "none")]));
    assert!(
        unsynced.contains("no match in sync: none in the baseline") && !unsynced.contains("written"),
        "{unsynced}"
    );
}
