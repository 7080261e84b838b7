//! The answer in sentences: what to do, what it gives and costs, what would change it, how sure it is.

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_ratio;

use super::PLANS;
use super::candidate::{Candidate, CompressedAt, Modelled};
use super::choice::{Choice, Constraints, MARGIN, Sureness, ratio};
use crate::finding::as_sentence;

/// A throughput that is known less well than this decides nothing.
const UNCERTAIN_PERCENT: f64 = 30.0;

/// The sentences, the most important first.
pub(super) fn answer(
    subject: &str,
    candidates: &[Candidate],
    choice: &Choice,
    constraints: &Constraints,
    modelled: &Modelled,
) -> Vec<String> {
    let (Some(best), Some(fastest)) = (choice.best, choice.fastest) else {
        return vec![nothing(candidates, constraints)];
    };
    let (best, fastest) = (&candidates[best], &candidates[fastest]);
    let plain = candidates
        .iter()
        .find(|candidate| candidate.place == CompressedAt::Nowhere);
    let more = choice.saves_more.map(|more| &candidates[more]);
    let sentences = [
        Some(instruction(best, more.is_some())),
        plain
            .filter(|plain| plain.place != best.place)
            .map(|plain| gives(best, plain)),
        second(best, fastest, more),
        more.map(|more| change(more, constraints)),
        choice.sureness.map(|sureness| sure(best, fastest, sureness)),
        hardware(best, modelled),
        Some(format!("Measured: {subject}.")),
    ];
    sentences.into_iter().flatten().collect()
}

fn nothing(candidates: &[Candidate], constraints: &Constraints) -> String {
    let asked = asked(constraints).join(", ");
    let closest = candidates
        .iter()
        .max_by(|one, other| ratio(one).total_cmp(&ratio(other)))
        .map_or_else(String::new, |most| {
            format!(
                " The least space is taken by {}: ratio {}.",
                most.name(),
                format_ratio(ratio(most))
            )
        });
    format!("Nothing that was measured meets {asked}.{closest}")
}

/// The constraints as they are given on the command line.
fn asked(constraints: &Constraints) -> Vec<String> {
    let ratio = constraints.min_ratio.map(|least| format!("--min-ratio {least}"));
    let p99 = constraints
        .p99_ns
        .map(|most| format!("--p99 {}", Unit::Nanoseconds.format(most)));
    let share = constraints
        .cpu_share
        .map(|most| format!("--cpu-share {:.0}%", most * 100.0));
    [ratio, p99, share].into_iter().flatten().collect()
}

fn instruction(best: &Candidate, saves_more: bool) -> String {
    let what = match best.place {
        CompressedAt::Nowhere if saves_more => {
            "do not compress where throughput matters: whatever saves space costs throughput".to_owned()
        }
        CompressedAt::Nowhere => "do not compress: nothing here saves space".to_owned(),
        CompressedAt::Store => format!("compress in the store's own blocks with {}", best.what),
        CompressedAt::Filesystem => format!("compress in the filesystem with {}", best.what),
        CompressedAt::Accelerator | CompressedAt::Drive => format!("compress in the {}", best.name()),
    };
    // Figures that are too uncertain to act on come before what they would say.
    match best.throughput.plus_minus_percent() {
        Some(percent) if percent > 100.0 => {
            format!("Not decided: the throughput differs too much between trials. As far as they go, {what}.")
        }
        Some(percent) if percent > UNCERTAIN_PERCENT => format!(
            "Not decided: the throughput is known only to ± {percent:.0} %. As far as these trials go, {what}."
        ),
        _ => format!("{}.", as_sentence(&what).trim_end_matches('.')),
    }
}

/// What a candidate gives and costs beside no compression.
fn gives(candidate: &Candidate, plain: &Candidate) -> String {
    let mut parts = vec![space(candidate, plain)];
    let throughput = candidate.throughput.with_ends();
    parts.push(match ties(candidate, plain) {
        true => format!("no measurable difference in throughput ({throughput})"),
        false => format!(
            "{} throughput ({throughput})",
            changed(candidate.throughput.value, plain.throughput.value)
        ),
    });
    let figures = [
        ("read p99", &candidate.p99, &plain.p99),
        ("CPU per operation", &candidate.cpu, &plain.cpu),
    ];
    for (name, own, other) in figures {
        if let (Some(own), Some(other)) = (own, other) {
            parts.push(format!("{name} {}", changed(own.value, other.value)));
        }
    }
    format!(
        "Beside no compression: {} ({}).",
        parts.join(", "),
        candidate.throughput.with_ends()
    )
}

fn space(candidate: &Candidate, plain: &Candidate) -> String {
    format!("{:.0} % of the space", ratio(plain) / ratio(candidate) * 100.0)
}

/// Whether neither interval shows a difference.
fn ties(one: &Candidate, other: &Candidate) -> bool {
    match (one.throughput.interval, other.throughput.interval) {
        (Some(one), Some(other)) => one.overlaps(&other),
        _ => (one.throughput.value / other.throughput.value - 1.0).abs() <= MARGIN,
    }
}

/// By how much one number is another, as `+12 %` or `−8 %`.
fn changed(one: f64, other: f64) -> String {
    format!("{:+.0} %", (one / other - 1.0) * 100.0).replace('-', "−")
}

/// The candidate that comes next: the fastest of those that save more, else the fastest of all.
fn second(best: &Candidate, fastest: &Candidate, more: Option<&Candidate>) -> Option<String> {
    let second = match more {
        Some(more) => more,
        None if fastest.name() != best.name() => fastest,
        None => return None,
    };
    Some(format!(
        "Second best is {}: {}, {} throughput.",
        second.name(),
        space(second, best),
        changed(second.throughput.value, best.throughput.value)
    ))
}

/// What would make the second best the best.
fn change(more: &Candidate, constraints: &Constraints) -> String {
    // Rounded down, so that the candidate itself meets it.
    let least = (ratio(more) * 100.0).floor() / 100.0;
    let mut asked = asked(&Constraints {
        min_ratio: Some(least),
        ..constraints.clone()
    });
    asked.dedup();
    format!(
        "It would be the answer if you need a ratio of {least} (`outcrop report RUN {}`).",
        asked.join(" ")
    )
}

fn sure(best: &Candidate, fastest: &Candidate, sureness: Sureness) -> String {
    match sureness {
        Sureness::Clear => format!(
            "This is clear: its throughput is within {:.0} % of the highest, intervals included.",
            MARGIN * 100.0
        ),
        Sureness::NotClear => {
            let low = best
                .throughput
                .interval
                .map_or(best.throughput.value, |interval| interval.low);
            format!(
                "This is not clear: its throughput may be {:.0} % below the highest ({}). This would settle it: \
                 `outcrop run {PLANS} --repetitions 15`.",
                (1.0 - low / fastest.throughput.value) * 100.0,
                fastest.name()
            )
        }
    }
}

/// The fastest of the modelled candidates, and how far the model is to be trusted here.
fn hardware(best: &Candidate, modelled: &Modelled) -> Option<String> {
    let fastest = modelled.candidates.first()?;
    let trust = match (modelled.error.mean(), modelled.error.worst()) {
        (Some(mean), Some(worst)) => format!(
            "the model was {:.0} % off on average and {:.0} % at worst in {} checks here",
            mean * 100.0,
            worst * 100.0,
            modelled.error.checked().len()
        ),
        _ => "unvalidated here: `outcrop run predict-software predict-codecs` checks the model".to_owned(),
    };
    Some(format!(
        "Of the published hardware, {} would be the fastest: {}, {} throughput compared with the answer. That is modelled; {trust}.",
        fastest.what,
        fastest.throughput.with_ends(),
        changed(fastest.throughput.value, best.throughput.value)
    ))
}
