//! The summary on one screen.

use outcrop_measure::metric::Unit;
use outcrop_report::{About, Finding, Report, Verdict};
use outcrop_results::{Outcome, Value};
use outcrop_schema::device::LATENCY;

use crate::fixture::{RunBuilder, complete};

#[test]
fn the_screen_of_a_complete_run() {
    insta::assert_snapshot!("complete", Report::of(&complete()).screen(80, false));
}

#[test]
fn the_screen_of_a_run_without_a_finished_trial() {
    let run = RunBuilder::new(1)
        .lost(Outcome::Failed {
            message: "cannot open the file: O_DIRECT is not supported here".into(),
        })
        .build();
    insta::assert_snapshot!("empty", Report::of(&run).screen(80, false));
}

#[test]
fn it_fits_its_width_and_its_lines() {
    let shaky = RunBuilder {
        spread: 0.3,
        device_bytes_ratio: Some(1.5),
        ..RunBuilder::new(3)
    };
    let runs = [
        complete(),
        shaky.cells(&[4096, 16384], &[1, 8, 32], &[100, 0, 70]).build(),
        RunBuilder::new(1).build(),
    ];
    for run in &runs {
        for width in [60, 80, 120, 200] {
            let screen = Report::of(run).screen(width, false);
            assert!(screen.lines().count() <= 22, "{screen}");
            for line in screen.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn the_gravest_warnings_are_shown_and_the_others_are_counted() {
    let shaky = RunBuilder {
        spread: 0.3,
        device_bytes_ratio: Some(1.5),
        ..RunBuilder::new(3)
    };
    let report = Report::of(&shaky.cells(&[4096, 16384], &[1, 8, 32], &[100, 0, 70]).build());
    let cautions = &report.layers[0].answer.cautions;
    let warnings: Vec<&str> = cautions
        .iter()
        .filter(|caution| caution.severity == outcrop_report::answer::Severity::Warning)
        .map(|caution| caution.text.as_str())
        .collect();
    assert!(warnings[0].contains("more or fewer bytes"), "{warnings:#?}");
    assert!(
        warnings.last().unwrap().contains("the interval of"),
        "{warnings:#?}"
    );
    for width in [60, 80, 120] {
        let screen = report.screen(width, false);
        let shown = screen.matches("Warning: ").count();
        assert!(shown >= 1, "{screen}");
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("Warning: In 18 of 18 trials") || words.contains("more or fewer bytes"),
            "{screen}"
        );
        let hidden = warnings.len() - shown;
        assert_eq!(
            hidden > 0,
            words.contains(&format!("{hidden} more warning")),
            "{screen}"
        );
    }
}

#[test]
fn of_four_layers_each_has_a_row_with_what_was_measured_and_what_to_do() {
    let mut run = complete();
    for other in [
        crate::compression_fixture::complete(),
        crate::column::table(),
        crate::cache_fixture::peers().run,
    ] {
        run.trials.extend(other.trials);
    }
    let report = Report::of(&run);
    assert_eq!(report.layers.len(), 4);
    for width in [60, 80, 120] {
        let screen = report.screen(width, false);
        assert!(
            screen.lines().all(|line| line.chars().count() <= width),
            "{screen}"
        );
        assert!(screen.lines().count() <= 22, "{screen}");
    }
    insta::assert_snapshot!("four_layers", report.screen(100, false));
    let screen = report.screen(100, false);
    for layer in &report.layers {
        let row = screen.lines().find(|line| line.starts_with(&layer.layer));
        assert!(row.is_some(), "{}: {screen}", layer.layer);
    }
}

#[test]
fn an_interval_is_written_as_its_ends_with_its_true_confidence() {
    let screen =
        Report::of(&RunBuilder::new(3).cells(&[4096], &[1, 8, 32], &[100, 0]).build()).screen(80, false);
    assert!(screen.contains("75 % intervals"), "{screen}");
    assert!(!screen.contains('±') && !screen.contains(" !"), "{screen}");
    assert!(screen.contains("(") && screen.contains("–"), "{screen}");
}

#[test]
fn findings_that_do_not_hold_are_named() {
    let run = RunBuilder {
        device_bytes_ratio: Some(1.5),
        ..RunBuilder::new(3)
    };
    let report = Report::of(&run.cells(&[4096], &[1, 8, 32], &[100, 0]).build());
    let findings = report.layers.iter().flat_map(|layer| &layer.findings);
    let failing = findings.filter(|finding| finding.verdict == Verdict::DoesNotHold);
    let checks: Vec<_> = failing.filter(|finding| finding.about == About::Run).collect();
    assert!(!checks.is_empty(), "the counters disagree");
    let screen = report.screen(200, false);
    // A check that failed is told as what is the case, not as the statement that it contradicts.
    let failure = checks[0].failure.to_lowercase();
    assert!(screen.to_lowercase().contains(&failure), "{screen}");
    assert!(checks.iter().all(|check| !check.failure.is_empty()));
    assert!(
        !screen.contains(&checks[0].sentence.trim_end_matches('.')[1..]),
        "{screen}"
    );
}

#[test]
fn a_failed_check_of_the_run_does_not_count_as_a_finding() {
    let contaminated = RunBuilder {
        device_bytes_ratio: Some(1.5),
        ..RunBuilder::new(3)
    };
    let report = Report::of(&contaminated.cells(&[4096], &[1, 8, 32], &[100, 0]).build());
    let failing = |about: About| {
        let findings = report.layers.iter().flat_map(|layer| &layer.findings);
        let is_failing =
            |finding: &&Finding| finding.about == about && finding.verdict == Verdict::DoesNotHold;
        findings.filter(is_failing).count()
    };
    let (findings, checks) = (failing(About::Subject), failing(About::Run));
    assert!(checks > 0, "the counters disagree");
    let screen = report.screen(200, false);
    let said = format!(
        "{checks} quality check{} failed: ",
        if checks == 1 { "" } else { "s" }
    );
    assert!(screen.contains(&said), "{said}: {screen}");
    let is_said = screen.contains("not hold: ");
    assert_eq!(is_said, findings > 0, "{findings} findings: {screen}");
}

#[test]
fn findings_of_every_layer_say_what_they_are_about() {
    let about = |run: &outcrop_results::RunView, id: &str| {
        let report = Report::of(run);
        let mut findings = report.layers.iter().flat_map(|layer| &layer.findings);
        findings
            .find(|finding| finding.id == id)
            .map(|finding| finding.about)
    };
    let device = complete();
    let compression = crate::compression_fixture::complete();
    let cache = crate::cache_fixture::peers().run;
    for (run, id, expected) in [
        (&device, "littles-law", About::Run),
        (&device, "repetitions-agree", About::Run),
        (&compression, "copy-is-fastest", About::Run),
        (&compression, "stage-sums", About::Run),
        (&compression, "dpzip-curve", About::Publication),
        (&compression, "lz-share-published", About::Publication),
        (&compression, "larger-blocks-save-more", About::Subject),
        (&cache, "cache-values-verified", About::Run),
        (&cache, "cache-littles-law", About::Run),
        (&cache, "cache-less-cpu-than-peers", About::Subject),
    ] {
        assert_eq!(about(run, id), Some(expected), "{id}");
    }
}

#[test]
fn advice_on_an_interval_wider_than_30_per_cent_is_withheld_and_says_what_to_repeat() {
    let at = |spread: f64| {
        let run = RunBuilder {
            spread,
            ..RunBuilder::new(3)
        };
        let report = Report::of(&run.cells(&[4096, 65536], &[1, 8, 32], &[100, 0]).build());
        let advice = report.layers.into_iter().flat_map(|layer| layer.answer.advice);
        advice.collect::<Vec<_>>()
    };
    let (calm, shaky) = (at(0.01), at(1.5));
    assert!(
        calm.iter().all(|claim| !claim.brief.contains("not decided")),
        "{calm:?}"
    );
    let throughput = shaky
        .iter()
        .find(|claim| claim.topic == "Read throughput")
        .expect("it is still named");
    assert!(throughput.brief.starts_with("not decided"), "{throughput:?}");
    assert!(
        throughput
            .text
            .contains("Run `outcrop run runs/20261121T020000Z-example/plan.toml --repetitions 9`"),
        "{throughput:?}"
    );
}

#[test]
fn what_is_not_decided_is_no_choice_in_the_table_above_it_and_its_command_stands_once() {
    let mut run = crate::compression_fixture::complete();
    for trial in &mut run.trials {
        let factor = 1.0 + 0.9 * f64::from(trial.repetition);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.unit == Unit::BytesPerSecond);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * factor));
    }
    let report = Report::of(&run);
    let answer = &report.layers[0].answer;
    let undecided = answer.advice.iter().filter(|claim| !claim.is_decided());
    let topics: Vec<&String> = undecided.map(|claim| &claim.topic).collect();
    assert!(topics.iter().any(|topic| *topic == "Balanced"), "{topics:?}");
    let readings = answer.capabilities.iter().flat_map(|row| &row.readings);
    for reading in readings {
        let is_of = |topic: &&&String| reading.column == format!("of the {}", topic.to_lowercase());
        assert_eq!(topics.iter().find(is_of), None, "{reading:?}");
    }
    let screen = report.screen(80, false);
    assert!(
        screen.contains("of the balanced,") && screen.contains("undecided"),
        "{screen}"
    );
    assert_eq!(screen.matches("--repetitions").count(), 1, "{screen}");
    for width in 60..=140 {
        let screen = report.screen(width, false);
        assert!(
            !screen.contains("undecided of the "),
            "two columns run together: {screen}"
        );
    }
    run.trials.extend(complete().trials);
    let several = Report::of(&run).screen(80, false);
    assert!(!several.contains("alanced"), "{several}");
    assert!(
        several.contains("`outcrop run runs/20261121T020000Z-codecs/plan.toml --repetitions"),
        "{several}"
    );
}

#[test]
fn checks_and_findings_are_clauses_of_one_sentence() {
    let screen = Report::of(&complete()).screen(200, false);
    assert!(
        screen.contains("quality checks failed: the submitting threads")
            && screen.contains("; some cells have too few"),
        "{screen}"
    );
}

#[test]
fn a_percentile_that_has_too_few_operations_is_not_called_unmeasured() {
    let mut run = RunBuilder::new(3).cells(&[4096], &[1, 8], &[100]).build();
    for trial in &mut run.trials {
        for metric in [LATENCY.both.p99, LATENCY.read.p99] {
            trial.values.retain(|value| value.metric != metric.name);
            let reason = "too few operations (900 of at least 1000) for a p99";
            trial.values.push(Value::unavailable(metric, reason));
        }
    }
    let report = Report::of(&run);
    let screen = report.screen(100, false);
    let row = screen
        .lines()
        .find(|line| line.starts_with("QD 1 latency, p99"))
        .unwrap();
    // Nothing was written, which is another reason.
    assert!(
        row.contains("too few operations") && row.contains("not measured"),
        "{row}"
    );
    let page = report.to_html();
    assert!(
        page.contains("<span>too few operations (900 of at least 1000) for a p99"),
        "the page has the numbers"
    );
    let command = "<code>outcrop device /mnt/data --size 1GiB --read-write-mix 0:100";
    assert!(page.contains(command), "commands are code, without grave accents");
}

#[test]
fn figures_that_decide_nothing_are_counted_on_both_first_screens() {
    let shaky = RunBuilder {
        spread: 0.8,
        ..RunBuilder::new(3)
    };
    let shaky = shaky.cells(&[4096], &[1, 8, 32], &[100, 0]).build();
    let report = Report::of(&shaky);
    let said = "figures are uncertain by more than ± 30 %";
    assert!(report.screen(200, false).contains(said));
    assert!(
        report
            .to_html()
            .contains("figures of the answers are uncertain by more than ± 30 %: device ")
    );
    assert!(!Report::of(&complete()).screen(200, false).contains(said));
}

#[test]
fn colour_codes_appear_only_when_asked_for() {
    let report = Report::of(&complete());
    assert!(!report.screen(80, false).contains('\u{1b}'));
    let coloured = report.screen(80, true);
    assert!(coloured.contains("\u{1b}[1m"));
    let stripped = coloured
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[33m", "")
        .replace("\u{1b}[0m", "");
    assert_eq!(stripped, report.screen(80, false));
}

#[test]
fn however_long_the_answer_and_its_doubts_there_is_room_for_the_answer_figures_and_advice() {
    let report = Report::of(&crate::kv_fixture::of_wide_speeds());
    let advice = &report.layers[0].answer.advice;
    assert!(advice.iter().any(|claim| !claim.is_decided()), "{advice:?}");
    for width in [60, 70, 80, 100, 140] {
        let screen = report.screen(width, false);
        assert!(screen.lines().count() <= 22, "{screen}");
        let has = |text: &str| screen.lines().any(|line| line.starts_with(text));
        let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flowing.contains("ompress in the store's own blocks with lz4"),
            "{width}: {screen}"
        );
        assert!(
            has(&report.layers[0].answer.capabilities[0].label),
            "{width}: {screen}"
        );
        assert!(has(&advice[0].topic), "{width}: {screen}");
        assert!(has("More measurements"), "{width}: {screen}");
        assert!(!screen.contains("← the answer"), "{width}: {screen}");
    }
}

#[test]
fn on_a_busy_machine_what_is_not_decided_needs_a_quiet_one_before_it_needs_more_trials() {
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1");
    let environment = std::fs::read_to_string(kept.join("environment.json")).expect("the kept run has it");
    let screen = |load: f64| {
        let shaky = RunBuilder {
            spread: 1.5,
            ..RunBuilder::new(3)
        };
        let mut run = shaky.cells(&[4096, 65536], &[1, 8, 32], &[100, 0]).build();
        run.environment = serde_json::from_str(&environment).expect("an environment is JSON");
        run.environment["load"]["average"] = serde_json::json!([load, load, load]);
        let screen = Report::of(&run).screen(120, false);
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let busy = screen(20.0);
    assert!(
        busy.contains("on a quiet machine (there was other work: load average 20.0 on 2 CPUs)."),
        "{busy}"
    );
    assert!(screen(0.1).contains("More measurements may decide the rest: run `outcrop run "));
    assert!(
        !busy.contains("run more trials") && busy.matches(": run `").count() == 1,
        "said once: {busy}"
    );
}

#[test]
fn the_confidences_on_a_screen_are_those_of_its_reasons_too() {
    let shaky = RunBuilder {
        spread: 1.5,
        ..RunBuilder::new(3)
    };
    let run = shaky.cells(&[4096, 65536], &[1, 8, 32], &[100, 0]).build();
    let report = Report::of(&run);
    let screen = report.screen(200, false);
    // The predicted knee is computed of several numbers, which are within their intervals together less often.
    let is_less_sure = |number: &outcrop_report::Number| {
        let interval = number.interval.filter(|interval| interval.confidence < 0.75);
        interval.is_some() && screen.contains(&number.with_ends())
    };
    let mut numbers = report.layers[0]
        .answer
        .advice
        .iter()
        .flat_map(|claim| &claim.numbers);
    assert_eq!(
        numbers.any(is_less_sure),
        !screen.contains("in parentheses: 75 % intervals"),
        "{screen}"
    );
}
