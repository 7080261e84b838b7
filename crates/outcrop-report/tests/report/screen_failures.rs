//! What the terminal says of findings that do not hold and of checks that failed.

use std::collections::BTreeSet;

use outcrop_report::{About, Finding, Report, Verdict};

use crate::fixture::RunBuilder;

const FAILURES: [&str; 5] = [
    "The first counter is off by half of what the trials requested",
    "The second counter differs as much as the first one, in most cells",
    "A third of the trials began later than their schedule says",
    "A fourth of the samples is lost between the driver and the record",
    "A fifth cell fails to verify what it wrote before",
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
fn findings_that_fail_are_all_named_and_checks_are_named_in_four_lines_or_counted() {
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
    let checks = report.layers.iter().flat_map(|layer| &layer.findings);
    let failed =
        checks.filter(|finding| finding.about == About::Run && finding.verdict == Verdict::DoesNotHold);
    let failed_ways = failed
        .map(|finding| finding.failure)
        .collect::<BTreeSet<_>>()
        .len();
    let (mut is_any_counted, mut is_all_named) = (false, false);
    for width in [60, 80, 140, 400] {
        let screen = report.screen(width, false);
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        for place in 0..5 {
            let in_words = words.contains(&format!("sentence {place} takes"));
            assert!(
                in_words || words.contains(&format!("name of finding {place}")),
                "{screen}"
            );
        }
        // Its name may be what should be the case, as `cpu-is-accounted` is.
        assert!(!words.contains("name of check"), "{screen}");
        let lines = screen
            .lines()
            .skip_while(|line| !line.contains("quality checks failed: "));
        let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        assert!((1..=4).contains(&lines.len()), "{width}: {screen}");
        let said = lines.join(" ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let named = said.matches(';').count() + 1;
        match said.split_once(" more in the report.") {
            Some((before, _)) => {
                let more: usize = before.rsplit(' ').next().unwrap().parse().unwrap();
                assert_eq!(named - 1 + more, failed_ways, "{width}: {screen}");
            }
            None => assert_eq!(named, failed_ways, "{width}: {screen}"),
        }
        is_any_counted |= said.contains(" more in the report.");
        is_all_named |= FAILURES.iter().all(|failure| words.contains(&failure[1..]));
    }
    assert!(is_any_counted && is_all_named);
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
