//! Findings with their verdicts and numbers.

use maud::{Markup, html};

use super::answer::prose;
use crate::finding::{About, Finding, Verdict};
use crate::number::Number;

pub(super) fn body(findings: &[Finding]) -> Markup {
    let of = |about: About| -> Vec<&Finding> {
        findings.iter().filter(|finding| finding.about == about).collect()
    };
    html! {
        (group("What was measured", &of(About::Subject)))
        (group("Quality of this run", &of(About::Run)))
        (group("Against publications", &of(About::Publication)))
    }
}

/// How many hold, do not hold, and cannot be tested.
fn counts(findings: &[&Finding]) -> [usize; 3] {
    let count = |wanted: fn(&Verdict) -> bool| findings.iter().filter(|f| wanted(&f.verdict)).count();
    [
        count(|verdict| matches!(verdict, Verdict::Holds)),
        count(|verdict| matches!(verdict, Verdict::DoesNotHold)),
        count(|verdict| matches!(verdict, Verdict::NotTestable(_))),
    ]
}

/// Findings of one kind, with how they came out.
fn group(title: &str, findings: &[&Finding]) -> Markup {
    let [holds, fails, untested] = counts(findings);
    html! {
        @if !findings.is_empty() {
            h3 { (title) }
            p { "Statements checked against the records. Holds: " (holds) "; does not hold: " (fails) "; not testable: "
                (untested) "." }
            @for finding in findings { (article(finding)) }
        }
    }
}

/// Findings behind a line that says how they came out: those of a publication are no fault of this run.
pub(super) fn folded(findings: &[Finding]) -> Markup {
    let [holds, fails, untested] = counts(&findings.iter().collect::<Vec<_>>());
    html! {
        @if !findings.is_empty() {
            details {
                summary { "Checks of the publication. Holds: " (holds) "; does not hold: " (fails) "; not testable: " (untested) "." }
                @for finding in findings { (article(finding)) }
            }
        }
    }
}

fn article(finding: &Finding) -> Markup {
    let class = match finding.verdict {
        Verdict::Holds => "finding holds",
        Verdict::DoesNotHold => "finding fails",
        Verdict::NotTestable(_) => "finding untested",
    };
    html! {
        article class=(class) {
            h4 { span.verdict { (finding.verdict.words()) ": " } (finding.sentence) }
            @if let Verdict::NotTestable(reason) = &finding.verdict { p { (prose(reason)) } }
            @if !finding.meaning.is_empty() { p { (prose(&finding.meaning)) } }
            @if finding.verdict == Verdict::DoesNotHold && !finding.remedy.is_empty() { p { (prose(finding.remedy)) } }
            @if !finding.tested.is_empty() { p.soft { "Tested: " (prose(&finding.tested)) } }
            @if !finding.numbers.is_empty() {
                ul.numbers { @for number in &finding.numbers { li { (entry(number)) } } }
            }
        }
    }
}

fn entry(number: &Number) -> Markup {
    html! { (number.name) ": " b { (number) } span.soft { " (" (number.certainty()) ")" } }
}
