//! What the terminal says of findings that do not hold and of checks that failed.

use outcrop_report::{About, Finding, Report, Verdict};

use crate::fixture::RunBuilder;

const FAILURES: [&str; 5] = [
    "The first is off by half",
    "The second too",
    "A third is late",
    "A fourth is lost",
    "A fifth fails",
];

#[test]
fn every_check_of_a_run_has_a_sentence_for_its_failure() {
    let runs = [
        crate::six_layers::six_layers(),
        RunBuilder::new(5).cells(&[4096], &[1, 8], &[100, 0]).build(),
        crate::compression_fixture::complete(),
        crate::cache_fixture::peers().run,
    ];
    let mut checked = 0;
    for run in runs {
        let findings = Report::of(&run)
            .layers
            .into_iter()
            .flat_map(|layer| layer.findings);
        for check in findings.filter(|finding| finding.about == About::Run) {
            checked += 1;
            let is_sentence = check.failure.contains(' ') && check.failure != check.sentence;
            assert!(is_sentence, "{}: {:?}", check.id, check.failure);
        }
    }
    assert!(checked > 20, "{checked} checks");
}

#[test]
fn every_finding_and_check_that_fails_is_named_however_many_there_are() {
    let run = RunBuilder::new(3).cells(&[4096], &[1, 8, 32], &[100, 0]).build();
    let mut report = Report::of(&run);
    let sample = report.layers[0].findings[0].clone();
    for (place, failure) in FAILURES.into_iter().enumerate() {
        let failed = |about: About, id: String| Finding {
            id,
            about,
            verdict: Verdict::DoesNotHold,
            sentence: format!(
                "Sentence {place} takes up about as much room on the terminal as such a sentence mostly does."
            ),
            failure,
            ..sample.clone()
        };
        let checks = [(About::Subject, "finding"), (About::Run, "check")];
        let failed = checks.map(|(about, what)| failed(about, format!("name-of-{what}-{place}")));
        report.layers[0].findings.extend(failed);
    }
    for width in [60, 80, 140] {
        let screen = report.screen(width, false);
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!words.contains("more."), "{screen}");
        for place in 0..5 {
            let in_words = words.contains(&format!("sentence {place} takes"));
            assert!(
                in_words || words.contains(&format!("name of finding {place}")),
                "{screen}"
            );
        }
        // Its name may be what should be the case, as `cpu-is-accounted` is.
        assert!(!words.contains("name of check"), "{screen}");
        for failure in FAILURES {
            assert!(words.contains(&failure[1..]), "{failure}: {screen}");
        }
    }
}

#[test]
fn findings_without_room_for_their_sentences_are_named_in_words_and_not_by_identifiers() {
    let report = Report::of(&crate::six_layers::six_layers());
    let mut is_any = false;
    for width in [60, 70, 80, 120] {
        let screen = report.screen(width, false);
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let findings = report.layers.iter().flat_map(|layer| &layer.findings);
        for finding in findings.filter(|finding| finding.id.contains('-')) {
            assert!(!screen.contains(&finding.id), "{width}, {}: {screen}", finding.id);
            let is_failing = finding.verdict == Verdict::DoesNotHold;
            is_any |= is_failing && words.contains(&finding.id.replace('-', " "));
        }
    }
    assert!(is_any, "no screen names a finding");
}
