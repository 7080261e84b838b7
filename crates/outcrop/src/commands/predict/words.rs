//! What stands below the table: what is missing, what was assumed, and how wrong the model is.

use std::collections::BTreeSet;

use outcrop_measure::{Interval, Unit};
use outcrop_predict::{CHECKED_ON, Case, Energy, Prediction, Study};
use outcrop_report::number::counted;

/// Lines in their order, each of them once.
#[derive(Default)]
struct Lines {
    text: String,
    said: BTreeSet<String>,
}

impl Lines {
    fn say(&mut self, line: String) {
        if !self.said.contains(&line) {
            self.text.push_str(&line);
            self.text.push('\n');
            self.said.insert(line);
        }
    }
}

/// All of it.
pub(super) fn below(study: &Study<'_>, libraries: &[String]) -> String {
    let mut lines = Lines::default();
    say_fastest(&mut lines, study);
    for case in &study.cases {
        match &case.outcome {
            Err(_) => lines.say(not_predictable(study, case)),
            Ok(found) => {
                if let Energy::NotPredictable(reason) = &found.energy {
                    lines.say(format!(
                        "{} with {}: energy is not predictable; {reason}.",
                        case.application.name,
                        name(case)
                    ));
                }
            }
        }
    }
    say_assumptions(&mut lines, study);
    say_error(&mut lines, study, libraries);
    format!("\n{}", lines.text)
}

/// Which component gives each application the highest throughput, for each number of clients; nothing where there is no choice.
fn say_fastest(lines: &mut Lines, study: &Study<'_>) {
    let predicted = || {
        let cases = study.cases.iter().filter(|case| case.component.is_some());
        cases.filter_map(|case| Some((case, case.outcome.as_ref().ok()?)))
    };
    for (case, found) in predicted() {
        let is_of_load = |(other, _): &(&Case<'_>, &Prediction)| is_of_one_load(other, case);
        let of_load = || predicted().filter(is_of_load);
        let is_fastest = of_load().all(|(_, other)| found.throughput >= other.throughput);
        if of_load().count() < 2 || !is_fastest {
            continue;
        }
        let clients = with_clients(study, case);
        let of_uncompressed = |value: f64| format!("{:.0}", value / found.uncompressed * 100.0);
        let share = of_uncompressed(found.throughput);
        let (range, certainty) = match &case.interval {
            Some(own) => {
                let others = of_load().filter(|(other, _)| !std::ptr::eq(*other, case));
                let range = format!(" ({}–{} %)", of_uncompressed(own.low), of_uncompressed(own.high));
                (
                    range,
                    beside(own, others.map(|(other, _)| other.interval.as_ref())),
                )
            }
            None => (
                String::new(),
                "; it has no interval, so others may be as fast".to_owned(),
            ),
        };
        lines.say(format!(
            "{}{clients}: {} gives the highest predicted throughput, {share} %{range} of that without compression{certainty}.",
            case.application.name,
            name(case),
        ));
    }
}

/// With how many the highest ties, and how many others may be as fast for all that is known of their error; empty where it is the highest for
/// certain.
fn beside<'i>(highest: &Interval, others: impl Iterator<Item = Option<&'i Interval>>) -> String {
    let (known, unknown): (Vec<_>, Vec<_>) = others.partition(Option::is_some);
    let ties = known
        .into_iter()
        .flatten()
        .filter(|other| other.overlaps(highest));
    let ties = match ties.count() {
        0 => String::new(),
        count => format!("; ties with {}", counted(count, "other")),
    };
    let unknown = match unknown.len() {
        0 => String::new(),
        1 => "; 1 other has no interval and may be as fast".to_owned(),
        count => format!("; {count} others have no interval and may be as fast"),
    };
    ties + &unknown
}

fn is_of_one_load(one: &Case<'_>, other: &Case<'_>) -> bool {
    std::ptr::eq(one.application, other.application) && one.load() == other.load()
}

/// The number of clients, where it was asked for or the application has other loads as well.
fn with_clients(study: &Study<'_>, case: &Case<'_>) -> String {
    let is_other =
        |other: &Case<'_>| other.application.name == case.application.name && other.load() != case.load();
    let is_named = case.clients.is_some() || study.cases.iter().any(is_other);
    case.load()
        .filter(|_| is_named)
        .map_or_else(String::new, |clients| {
            let plural = if clients == 1.0 { "" } else { "s" };
            format!(" with {} client{plural}", Unit::Count.format(clients))
        })
}

fn name<'a>(case: &Case<'a>) -> &'a str {
    case.component.map_or("none", |component| &component.name)
}

/// What is missing for an application, with the components that it is missing for; those are not named where they are all of them.
fn not_predictable(study: &Study<'_>, case: &Case<'_>) -> String {
    let Err(reason) = &case.outcome else {
        return String::new();
    };
    let application = &case.application.name;
    let of_all = || {
        study
            .cases
            .iter()
            .filter(|other| other.application.name == *application)
    };
    let own = || of_all().filter(|other| is_of_one_load(other, case));
    let is_alike = |other: &&Case<'_>| other.outcome.as_ref().err() == Some(reason);
    if of_all().all(|other| is_alike(&other)) {
        return format!("{application}: {reason}.");
    }
    let clients = with_clients(study, case);
    if own().all(|other| is_alike(&other)) {
        return format!("{application}{clients}: {reason}.");
    }
    let mut names: Vec<&str> = own().filter(is_alike).map(name).collect();
    names.dedup();
    let comma = if clients.is_empty() { "" } else { "," };
    format!(
        "{application}{clients}{comma} with {}: {reason}.",
        names.join(", ")
    )
}

/// Applications that are named with what was assumed for them; of more than that their number is.
const MOST_NAMED: usize = 3;

/// What was assumed, once for all applications that it was assumed for.
fn say_assumptions(lines: &mut Lines, study: &Study<'_>) {
    let mut assumed: Vec<(&str, Vec<&str>)> = Vec::new();
    for case in &study.cases {
        let own = case.outcome.iter().flat_map(|found| &found.assumptions);
        for assumption in own {
            let application = case.application.name.as_str();
            match assumed.iter_mut().find(|(known, _)| known == assumption) {
                Some((_, applications)) if applications.contains(&application) => {}
                Some((_, applications)) => applications.push(application),
                None => assumed.push((assumption, vec![application])),
            }
        }
    }
    for (assumption, applications) in assumed {
        let of = match applications.len() {
            count if count > MOST_NAMED => format!("{count} applications"),
            _ => applications.join(", "),
        };
        lines.say(format!("Assumed for {of}: {assumption}."));
    }
}

/// How wrong the model is where it was checked, or what would check it.
fn say_error(lines: &mut Lines, study: &Study<'_>, libraries: &[String]) {
    let predicted = || {
        let cases = study.cases.iter().filter(|case| case.outcome.is_ok());
        cases.filter(|case| case.component.is_some())
    };
    match (study.error.mean(), study.error.worst()) {
        (Some(mean), Some(worst)) => {
            let pairs = match study.error.checked().len() {
                1 => "1 measured pair".to_owned(),
                pairs => format!("{pairs} measured pairs"),
            };
            lines.say(format!(
                "Error of the model here: {:.0} % mean, {:.0} % worst, {pairs}.",
                mean * 100.0,
                worst * 100.0
            ));
            libraries.iter().for_each(|sentence| lines.say(sentence.clone()));
            say_ranking(lines, study);
            if let Some(coverage) = study.coverage() {
                lines.say(format!(
                    "Intervals: {coverage}, each with its own component left out of the error."
                ));
            }
        }
        _ if predicted().next().is_some() => {
            lines.say(
                "Unvalidated: the model's error on this system is unknown. --measured FILE or --run RUN gives it.".to_owned(),
            );
        }
        _ => {}
    }
    let mut bare: Vec<&str> = predicted()
        .filter(|case| case.interval.is_none())
        .map(name)
        .collect();
    bare.sort_unstable();
    bare.dedup();
    if !bare.is_empty() {
        lines.say(format!(
            "No interval for {}: no measurement checks the model there, and the published checks cover only hardware.",
            bare.join(", ")
        ));
    }
    let has_hardware = predicted().any(|case| case.interval.is_some());
    if let Some((mean, worst)) = study.published.mean().zip(study.published.worst())
        && has_hardware
    {
        lines.say(format!(
            "Intervals for hardware include at least the model's error on published hardware: {:.0} % mean, {:.0} % worst, {} pairs of \
             {CHECKED_ON}.",
            mean * 100.0,
            worst * 100.0,
            study.published.checked().len()
        ));
    }
}

/// Whether the model puts components in their order; nothing where no two of them differ.
fn say_ranking(lines: &mut Lines, study: &Study<'_>) {
    let ranking = study.error.ranking();
    if ranking.pairs > 0 {
        lines.say(format!(
            "Order: right for {} of {} pairs that differ by more than 10 %.",
            ranking.right, ranking.pairs
        ));
    }
    if ranking.choices > 0 {
        lines.say(format!(
            "Taking the predicted best loses {:.0} % on average.",
            ranking.regret * 100.0
        ));
    }
}

#[cfg(test)]
mod tests {
    use outcrop_measure::Interval;

    use super::beside;

    #[test]
    fn the_highest_names_how_many_it_ties_with_and_how_many_are_not_known() {
        let interval = |low: f64, high: f64| Interval {
            estimate: (low + high) / 2.0,
            low,
            high,
            confidence: 0.9,
            n: 9,
        };
        let (highest, near, far) = (
            interval(309.0, 537.0),
            interval(270.0, 486.0),
            interval(100.0, 200.0),
        );
        let said = |others: &[Option<&Interval>]| beside(&highest, others.iter().copied());
        assert_eq!(said(&[Some(&far)]), "");
        assert_eq!(said(&[Some(&near), Some(&far)]), "; ties with 1 other");
        assert_eq!(
            said(&[Some(&near), Some(&near), None, None]),
            "; ties with 2 others; 2 others have no interval and may be as fast"
        );
        assert_eq!(
            said(&[None, Some(&far)]),
            "; 1 other has no interval and may be as fast"
        );
    }
}
