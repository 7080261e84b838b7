//! What the screen says of a run that is not finished.

use outcrop_report::Report;

use crate::compression_fixture::{self, CODECS};
use crate::fixture::RunBuilder;

#[test]
fn a_run_that_lacks_trials_is_to_be_resumed_and_not_repeated() {
    let shaky = RunBuilder {
        spread: 1.5,
        ..RunBuilder::new(3)
    };
    let mut run = shaky.cells(&[4096], &[1, 8, 32], &[100]).build();
    let screen = |run: &outcrop_results::RunView| {
        let screen = Report::of(run).screen(200, false);
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    run.plan.push_str("\n[plan.trial]\nrepetitions = 3\n");
    assert!(screen(&run).contains("To decide the rest, run `outcrop run "));
    run.plan = run.plan.replace("repetitions = 3", "repetitions = 5");
    let unfinished = screen(&run);
    assert!(
        unfinished.contains(
            "To decide the rest, resume the run, which is not finished, with `outcrop run --resume runs/"
        ) && !unfinished.contains("--repetitions"),
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
        incomplete.contains("better than these. `outcrop run --resume ")
            && incomplete.contains("` measures the rest."),
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
    let smallest = |run: &outcrop_results::RunView| {
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
