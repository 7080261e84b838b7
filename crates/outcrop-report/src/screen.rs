//! The summary on one screen, for somebody who reads nothing else.

mod bars;
mod beside;
mod decide;
mod figures;
mod stack;
mod warnings;

use std::collections::BTreeSet;

use outcrop_measure::metric::Provenance;

use bars::bars;
use decide::{next_of_all, says_to_resume, to_decide};
use figures::{Settings, capabilities, say_left_out, with_legend};
use warnings::{all_warnings, hidden, of_warnings, voids};

use crate::answer::{Claim, NO_ADVICE, ReadingOutcome};
use crate::finding::{About, Finding, Verdict, as_clause, failed_checks};
use crate::number::{LEAST_CONFIDENCE, counted};
use crate::placement::COLUMNS;
use crate::report::{LayerSection, Report};
use crate::wrap::{fitting, fitting_with_end, wrapped};

/// Most lines of the summary of a layer: a screen of 24, less the blank line and the report's path that the caller adds.
const MOST_LINES: usize = 22;
/// Narrowest terminal that is laid out for.
const LEAST_WIDTH: usize = 60;

/// Lines of where to compress, above a table of layers.
const MOST_OF_PLACEMENT: usize = 11;
/// And above the figures of one layer.
const MOST_OF_PLACEMENT_ALONE: usize = 6;

/// Lines that where to compress has in any case: the answer, what it costs, and how sure it is.
const LEAST_OF_PLACEMENT: usize = 5;
/// Lines that advice has in any case.
const LEAST_OF_ADVICE: usize = 3;
/// Rows of figures that are shown in any case, their heading included.
const LEAST_OF_FIGURES: usize = 2;

/// Blanks before what belongs to the line above.
const INDENT: usize = 2;
/// Lines that say which findings do not hold; one more where some are there by name alone.
const MOST_NAMED: usize = 2;
/// Lines that say in which ways checks failed.
const MOST_FAILURES: usize = 4;

/// Renders the summary: at most 22 lines for one layer, at most 3 for each of several and 2 more where its figures are void, none wider than
/// `width` columns (60 at least).
pub(crate) fn render(report: &Report, width: usize, colour: bool) -> String {
    let pen = Pen { colour };
    let width = width.max(LEAST_WIDTH);
    let lines = match report.layers.as_slice() {
        [] => nothing(report, width),
        [only] => alone(only, report, width, pen),
        several => together(several, report, width, pen),
    };
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// What there is to say of a run without a finished trial.
fn nothing(report: &Report, width: usize) -> Vec<String> {
    let first = format!("{}: no finished trial, nothing to report yet.", report.run.name);
    let mut lines = wrapped(&first, width, 0);
    lines.extend(wrapped(&report.trials.sentence(), width, 0));
    let failures = report.trials.failures.iter();
    lines.extend(failures.flat_map(|failure| wrapped(failure, width, 2)));
    lines
}

/// The whole screen for one layer.
fn alone(layer: &LayerSection, report: &Report, width: usize, pen: Pen) -> Vec<String> {
    let answer = &layer.answer;
    let subject = wrapped(&answer.subject, width, 0);
    let mut lines: Vec<String> = subject.into_iter().map(|line| pen.bold(&line)).collect();
    // Ahead of the figures that they void.
    let voids = voids(answer, width, pen);
    lines.extend(voids.iter().flatten().cloned());
    let rows = capabilities(answer, Settings::Whole, width, pen);
    let is_of_several = answer.capabilities.iter().any(|row| row.readings.len() > 1);
    let table = |rows: &[Vec<String>]| with_legend(rows, is_of_several);
    let of_one = std::slice::from_ref(layer);
    let to_decide = to_decide(of_one, report, width);
    let total = all_warnings(answer).count();
    // With the longest words that it may have.
    let summary_lines = summary(report, total, width).len();
    let fixed = lines.len() + table(&rows).len() + to_decide.len() + summary_lines;
    let of_placement = |warnings: &[Vec<String>]| {
        let room = MOST_LINES.saturating_sub(fixed + warnings.concat().len() + LEAST_OF_ADVICE + 1);
        placement(
            report,
            width,
            room.clamp(LEAST_OF_PLACEMENT, MOST_OF_PLACEMENT_ALONE),
            pen,
        )
    };
    // Where to compress gives way to what the layer itself advises, and warnings that leave the figures their meaning give way to both; how
    // many are in the report alone is said.
    let has_room = |warnings: &[Vec<String>]| {
        fixed + warnings.concat().len() + of_placement(warnings).len() + LEAST_OF_ADVICE <= MOST_LINES
    };
    let (least, warnings) = of_warnings(answer, says_to_resume(of_one, report), width, pen);
    let kept = (least..=warnings.len())
        .rev()
        .find(|kept| has_room(&warnings[..*kept]))
        .unwrap_or(least);
    let warnings = &warnings[..kept];
    lines.extend(of_placement(warnings));
    let summary = summary(report, total - voids.len() - kept, width);
    let last = [to_decide, warnings.concat(), summary].concat();
    // Without warnings there may still be no room for advice: then the last figures are in the report only.
    let least = LEAST_OF_ADVICE.min(answer.advice.len());
    let fits = |rows: &[Vec<String>]| lines.len() + table(rows).len() + last.len() + least <= MOST_LINES;
    // Every figure of each of several columns, such as engines, matters more than where it was reached, which the report has too.
    let mut chosen = (Settings::Whole, rows.clone());
    for settings in [Settings::Brief, Settings::Left] {
        if is_of_several && !fits(&chosen.1) {
            chosen = (settings, capabilities(answer, settings, width, pen));
        }
    }
    let (settings, rows_shown) = chosen;
    let mut shown = rows_shown.as_slice();
    while let ([fewer @ .., _], false) = (shown, fits(shown))
        && fewer.len() >= LEAST_OF_FIGURES
    {
        shown = fewer;
    }
    // The picture is shown where nothing gives way to it: the report has it too.
    let others =
        lines.len() + table(&rows).len() + last.len() + advice(&answer.advice, width, MOST_LINES, pen).len();
    let picture = report
        .placement
        .as_ref()
        .map(|placement| followed(bars(placement, width)));
    let picture = picture.filter(|picture| others + picture.len() <= MOST_LINES);
    lines.extend(picture.unwrap_or_default());
    lines.extend(with_left_out(table(shown), settings, rows.len() - shown.len()));
    let room = MOST_LINES.saturating_sub(lines.len() + last.len());
    lines.extend(advice(&answer.advice, width, room, pen));
    // Of several cells a reader expects some; the two variants of a comparison have a verdict.
    let is_expected = report.trials.cells > 1 && report.verdicts().is_none();
    if is_expected && answer.advice.is_empty() {
        lines.extend(fitting(NO_ADVICE, width, 0, room));
    }
    lines.extend(last);
    lines.truncate(MOST_LINES);
    lines
}

/// A table of figures and the blank line below it, with what is left to the report: settings in the heading, above the labels, where nothing
/// else stands; rows in place of the blank line.
fn with_left_out(mut table: Vec<String>, settings: Settings, rows_left: usize) -> Vec<String> {
    let words = ["settings in report.html", "settings in report", "rest in report"].map(str::to_owned);
    if let (Some(head), Settings::Left) = (table.first_mut(), settings) {
        say_left_out(head, &words);
    }
    if let (Some(blank), true) = (table.last_mut(), rows_left > 0) {
        let more = counted(rows_left, "more row");
        *blank = format!("and {more} of figures in report.html");
    }
    table
}

/// Several layers share the screen: a row for each, with what was measured and what to do.
fn together(layers: &[LayerSection], report: &Report, width: usize, pen: Pen) -> Vec<String> {
    let mut lines = placement(report, width, MOST_OF_PLACEMENT, pen);
    let picture = report.placement.as_ref().map(|placement| bars(placement, width));
    lines.extend(followed(picture.unwrap_or_default()));
    lines.extend(stack::table(layers, width, pen));
    lines.extend(to_decide(layers, report, width));
    lines.extend(summary(report, hidden(layers), width));
    lines
}

/// Where to compress, and a blank line; nothing where the run cannot tell. What does not fit is in the report, whole sentences of it; what
/// is not certain and which data it is about is said in any case, in a few words where the sentence does not fit.
fn placement(report: &Report, width: usize, most: usize, pen: Pen) -> Vec<String> {
    let Some(placement) = &report.placement else {
        return Vec::new();
    };
    // One command says what to measure next, for all layers.
    let joined = next_of_all(report).map(|next| next.sentence.as_str());
    let answer = placement.answer.iter().map(String::as_str);
    // Columns have a row of their own.
    let is_shown = |sentence: &&str| Some(*sentence) != joined && *sentence != COLUMNS;
    let answer: Vec<&str> = answer.filter(is_shown).collect();
    let mut sentences = answer.as_slice();
    let mut waiting = placement.essentials.iter().filter(|one| one.can_wait).count();
    let mut is_shortest = false;
    // The first sentence is the answer: it is never cut.
    let lines = loop {
        let unsaid = placement.essentials.iter();
        let unsaid = unsaid.filter(|kept| !sentences.contains(&kept.sentence.as_str()));
        let (waits, stays): (Vec<_>, Vec<_>) = unsaid.partition(|one| one.can_wait);
        let short = stays.into_iter().chain(waits.into_iter().take(waiting));
        let short = short.map(|kept| match &kept.shortest {
            Some(shortest) if is_shortest => shortest.as_str(),
            _ => kept.short.as_str(),
        });
        let said: Vec<&str> = sentences.iter().copied().chain(short).collect();
        let lines = wrapped(&said.join(" "), width, 0);
        match sentences {
            _ if lines.len() <= most => break lines.into_iter(),
            [shorter @ .., _] if !shorter.is_empty() => sentences = shorter,
            _ if waiting > 0 => waiting -= 1,
            _ if !is_shortest => is_shortest = true,
            _ => break lines.into_iter(),
        }
    };
    // What a reader copies is the command alone.
    let mut lines: Vec<String> = lines.map(|line| line.replace('`', "")).collect();
    if let Some(first) = lines.first_mut() {
        *first = pen.bold(first);
    }
    lines.push(String::new());
    lines
}

/// Lines with a blank one behind them; none where there are none.
fn followed(lines: Vec<String>) -> Vec<String> {
    let blank = (!lines.is_empty()).then(String::new);
    lines.into_iter().chain(blank).collect()
}

fn indented(line: &str) -> String {
    format!("{}{line}", " ".repeat(INDENT))
}

/// Writes with terminal colours, or without.
#[derive(Clone, Copy)]
struct Pen {
    colour: bool,
}

impl Pen {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }
}

/// The recommendations in brief, as many lines as there is room for; how many are left to the report is said.
fn advice(claims: &[Claim], width: usize, room: usize, pen: Pen) -> Vec<String> {
    let topics = claims.iter().map(|claim| claim.topic.chars().count());
    let topic_width = topics.max().unwrap_or(0) + 2;
    let mut lines: Vec<String> = Vec::new();
    for (index, claim) in claims.iter().enumerate() {
        // A line is kept to say that there are more.
        let is_last = index + 1 == claims.len();
        let left = room.saturating_sub(lines.len() + usize::from(!is_last));
        let mut topic = pad(&claim.topic, topic_width);
        let (line, room_beside) = (claim.in_a_line(), width.saturating_sub(topic_width));
        let of_claim = match claim.ends_with_caveat() {
            true => fitting_with_end(line, room_beside, left),
            false => fitting(line, room_beside, 0, left),
        };
        if of_claim.is_empty() {
            let more = counted(claims.len() - index, "more piece");
            let more = format!("and {more} of advice in report.html, and with --format json");
            if lines.len() < room {
                lines.extend(fitting(&more, width, 0, 1));
            }
            break;
        }
        for part in of_claim {
            lines.push(pen.bold(&topic) + &part);
            topic = " ".repeat(topic_width);
        }
    }
    lines
}

/// How much was measured, which intervals those are, and which findings do not hold.
fn summary(report: &Report, hidden: usize, width: usize) -> Vec<String> {
    let trials = &report.trials;
    let mut text = format!(
        "{} in {}",
        counted(trials.completed, "trial"),
        counted(trials.cells, "cell"),
    );
    if let Some(unmeasured) = trials.unmeasured() {
        text.push_str(&format!(" · {unmeasured}"));
    }
    if let Some(percents) = confidences(report) {
        text.push_str(&format!(" · in parentheses: {percents}"));
    }
    if hidden > 0 {
        // One layer has the gravest above.
        let what = match report.layers.as_slice() {
            [only] if all_warnings(&only.answer).count() > hidden => "more warning",
            _ => "warning",
        };
        text.push_str(&format!(" · {} in the report", counted(hidden, what)));
    }
    if let Some(figures) = report.wide_figures() {
        text.push_str(&format!(" · {}", figures.total.in_words("figures")));
    }
    let mut lines = wrapped(&text, width, 2);
    let findings = failing(report);
    let verb = if findings.len() == 1 { "does" } else { "do" };
    let count = counted(findings.len(), "finding");
    let sentence = |finding: &Finding| finding.sentence.trim_end_matches('.').to_owned();
    lines.extend(named(
        &format!("{count} {verb} not hold"),
        &findings,
        sentence,
        width,
    ));
    let (checks, ways) = failed_checks(report.layers.iter().flat_map(|layer| &layer.findings));
    lines.extend(failures_of(checks, &ways, width));
    lines
}

/// How many checks failed, and in which ways: as many of them as fit, at least one, and how many more there are.
fn failures_of(checks: usize, ways: &[String], width: usize) -> Vec<String> {
    let lines = |told: usize| {
        let untold = ways.len() - told;
        let more = (untold > 0).then(|| format!("{untold} more in the report"));
        let parts: Vec<String> = ways[..told].iter().cloned().chain(more).collect();
        let count = counted(checks, "quality check");
        wrapped(&format!("{count} failed: {}.", parts.join("; ")), width, INDENT)
    };
    let fits = |told: &usize| lines(*told).len() <= MOST_FAILURES;
    match ways.len() {
        0 => Vec::new(),
        all => lines((1..=all).rev().find(fits).unwrap_or(1)),
    }
}

/// What does not hold of what was measured. What a publication does not hold to is no fault of it.
fn failing(report: &Report) -> Vec<&Finding> {
    let findings = report.layers.iter().flat_map(|layer| &layer.findings);
    findings
        .filter(|finding| finding.about == About::Subject && finding.verdict == Verdict::DoesNotHold)
        .collect()
}

/// How many findings there are, and which: as many in a clause each as fit, and the others by name; nothing if there are none.
fn named(count: &str, findings: &[&Finding], words: fn(&Finding) -> String, width: usize) -> Vec<String> {
    if findings.is_empty() {
        return Vec::new();
    }
    let lines = |told: usize| {
        let clauses = findings[..told].iter().map(|finding| as_clause(&words(finding)));
        // An identifier in words.
        let names: Vec<String> = findings[told..]
            .iter()
            .map(|finding| finding.id.replace('-', " "))
            .collect();
        let names = Some(names.join(", ")).filter(|names| !names.is_empty());
        let parts: Vec<String> = clauses.chain(names).collect();
        wrapped(&format!("{count}: {}.", parts.join("; ")), width, INDENT)
    };
    let most = |told: usize| MOST_NAMED + usize::from(told < findings.len());
    let fits = |told: &usize| lines(*told).len() <= most(*told);
    lines((1..=findings.len()).rev().find(fits).unwrap_or(0))
}

/// The confidences of the intervals that a summary may show: `75 % intervals`, `75 to 95 % intervals`. What is computed from several
/// figures has less confidence than each of them, which no table states: `94 % intervals, 88 % where computed from several figures`.
fn confidences(report: &Report) -> Option<String> {
    let answers = report.layers.iter().map(|layer| &layer.answer);
    let readings = answers
        .flat_map(|answer| &answer.capabilities)
        .flat_map(|row| &row.readings);
    let of_readings = readings.filter_map(|reading| match &reading.outcome {
        ReadingOutcome::Measured { number, .. } => {
            Some((number.interval?, number.provenance == Provenance::Derived))
        }
        ReadingOutcome::Missing(_) => None,
    });
    // What is not decided has an interval in its reason, which may be that of several numbers together.
    let claims = report.layers.iter().flat_map(|layer| &layer.answer.advice);
    let of_doubts = claims.filter_map(|claim| Some((claim.doubt.as_ref()?.interval?, false)));
    let all: Vec<_> = of_readings
        .chain(of_doubts)
        .filter(|(interval, _)| interval.confidence >= LEAST_CONFIDENCE)
        .map(|(interval, is_computed)| ((interval.confidence * 100.0).round() as u32, is_computed))
        .collect();
    let of = |is_computed: bool| -> BTreeSet<u32> {
        let wanted = all.iter().filter(|(_, computed)| *computed == is_computed);
        wanted.map(|(percent, _)| *percent).collect()
    };
    let (own, mut computed) = (of(false), of(true));
    computed.retain(|percent| !own.contains(percent));
    match (in_percent(&own), in_percent(&computed)) {
        (Some(own), Some(computed)) => Some(format!(
            "{own} intervals, {computed} where computed from several figures"
        )),
        (own, computed) => own.or(computed).map(|percents| format!("{percents} intervals")),
    }
}

/// `75 %`, `75 to 95 %`; nothing of nothing.
fn in_percent(percents: &BTreeSet<u32>) -> Option<String> {
    let (least, most) = (percents.first()?, percents.last()?);
    Some(match least == most {
        true => format!("{most} %"),
        false => format!("{least} to {most} %"),
    })
}

fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}
