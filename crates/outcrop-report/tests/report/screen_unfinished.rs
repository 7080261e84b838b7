//! What a report says of a run that is not finished.

use outcrop_report::Report;
use outcrop_results::RunView;

use crate::cache_fixture::policies;
use crate::compression_fixture::{self, CODECS};
use crate::fixture::RunBuilder;

#[test]
fn a_run_that_lacks_trials_is_to_be_resumed_and_not_repeated() {
    let shaky = RunBuilder {
        spread: 1.5,
        ..RunBuilder::new(3)
    };
    let mut run = shaky.cells(&[4096], &[1, 8, 32], &[100]).build();
    let screen = |run: &RunView| {
        let screen = Report::of(run).screen(200, false);
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    run.plan.push_str("\n[plan.trial]\nrepetitions = 3\n");
    assert!(screen(&run).contains("More measurements may decide the rest: run `outcrop run "));
    run.plan = run.plan.replace("repetitions = 3", "repetitions = 5");
    let unfinished = screen(&run);
    assert!(
        unfinished.contains(
            "More measurements may decide the rest: resume the run, which is not finished, with `outcrop run --resume runs/"
        ) && !unfinished.contains("--repetitions"),
        "{unfinished}"
    );
    assert_eq!(unfinished.matches("--resume").count(), 1, "{unfinished}");
    assert!(
        unfinished.contains("Warning: The run is not finished: its plan asks"),
        "{unfinished}"
    );
    // Cells may be missing until each has been measured once.
    const MISSING: &str = "its first round may not have measured every cell";
    let mut begun = RunBuilder::new(1).cells(&[4096], &[1, 8], &[100]).build();
    assert!(!unfinished.contains(MISSING) && !screen(&begun).contains(MISSING));
    begun.plan.push_str("\n[plan.trial]\nrepetitions = 3\n");
    let incomplete = screen(&begun);
    assert!(incomplete.contains(MISSING), "{incomplete}");
    assert!(
        incomplete.contains("better than these.")
            && incomplete.matches("`outcrop run --resume ").count() == 1,
        "{incomplete}"
    );
    let of_one_trial = begun.plan.replace("repetitions = 3", "repetitions = 1");
    for (cells, is_missing) in [(2, false), (3, true)] {
        begun.plan = of_one_trial.replace("[[plan]]\n", &format!("[[plan]]\ncells = {cells}\n"));
        assert_eq!(screen(&begun).contains(MISSING), is_missing, "{cells}");
    }
}

#[test]
fn no_codec_is_clearly_the_best_where_cells_may_be_missing() {
    let mut builder = compression_fixture::Builder::new(1);
    for codec in CODECS {
        builder = builder.speed(codec, 4, 1, "natural", 1.0);
    }
    let mut run = builder.run;
    let smallest = |run: &RunView| {
        let advice = Report::of(run).layers.remove(0).answer.advice;
        let claim = advice.into_iter().find(|claim| claim.topic == "Smallest");
        let claim = claim.expect("it is known");
        format!("{} {}", claim.brief, claim.text)
    };
    assert!(smallest(&run).contains("(clear)"), "{}", smallest(&run));
    run.plan.push_str(
        "\n[[plan]]\nname = \"throughput-latency\"\nlayer = \"compression\"\n\n[plan.trial]\nrepetitions = 3\n",
    );
    let begun = smallest(&run);
    assert!(
        begun.contains("(the best so far)") && !begun.contains("clear"),
        "{begun}"
    );
}

/// Policies of a cache with three trials each. The plan asks for this number.
fn caches_asked_for(repetitions: u32) -> RunView {
    let mut run = policies().run;
    run.plan.push_str(&format!(
        "\n[[plan]]\nname = \"cache-policies\"\nlayer = \"cache\"\n\n[plan.trial]\nrepetitions = {repetitions}\n"
    ));
    run
}

#[test]
fn whatever_its_layers_a_run_that_lacks_trials_says_once_that_it_is_not_finished_and_how_to_go_on() {
    const UNFINISHED: &str = "The run is not finished: its plan asks for more trials than it has.";
    let cautions = |report: &Report| {
        let layers = report.layers.iter();
        let texts = layers.flat_map(|layer| layer.answer.cautions.iter().map(|caution| caution.text.clone()));
        texts
            .filter(|text| text.contains("not finished"))
            .collect::<Vec<_>>()
    };
    let complete = Report::of(&caches_asked_for(3));
    assert_eq!(cautions(&complete), Vec::<String>::new());
    let run = caches_asked_for(6);
    let report = Report::of(&run);
    let command = "outcrop run --resume runs/20261121T020000Z-caches";
    let caution = format!("{UNFINISHED} `{command}` measures the rest.");
    assert_eq!(cautions(&report), std::slice::from_ref(&caution));
    let screen = report.screen(80, false);
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains(&format!("Warning: {caution}")), "{screen}");
    let json = report.to_json().expect("it is written").to_string();
    assert!(json.contains(UNFINISHED) && json.contains(command), "{json}");
    let page = report.to_html();
    assert!(page.contains(UNFINISHED) && page.contains(command), "{page}");
    // The first of several layers says it, whichever lacks them.
    let mut both = run;
    both.trials.extend(crate::kv_fixture::codecs().trials);
    let report = Report::of(&both);
    assert_eq!((report.layers.len(), cautions(&report)), (2, vec![caution]));
    let screen = report.screen(80, false);
    assert!(screen.contains("Warning: the run is not finished."), "{screen}");
}
