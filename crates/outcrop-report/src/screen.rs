//! The summary on one screen, for somebody who reads nothing else.

use crate::answer::{Answer, ReadingOutcome, Severity};
use crate::number::{Number, counted};
use crate::report::{LayerSection, Report};
use crate::wrap::wrapped;

/// Most lines of the summary: a screen of 24, less the blank line and the report's path that the caller adds.
const MOST_LINES: usize = 22;
/// Narrowest terminal that is laid out for.
const LEAST_WIDTH: usize = 60;

/// Lines of advice that a layer keeps beside its table when several layers share the screen.
const LEAST_ADVICE: usize = 2;
/// Lines of a table that says something: the names of its columns and a row of values.
const LEAST_TABLE: usize = 2;

/// Renders the summary: at most 22 lines, none wider than `width` columns (60 at least).
pub(crate) fn render(report: &Report, width: usize, colour: bool) -> String {
    let pen = Pen { colour };
    let width = width.max(LEAST_WIDTH);
    let mut lines = match report.layers.as_slice() {
        [] => nothing(report, width),
        [only] => alone(only, report, width, pen),
        several => together(several, report, width, pen),
    };
    lines.truncate(MOST_LINES);
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
    lines.extend(capabilities(answer, width, Conditions::Shown, pen));
    lines.push(String::new());
    let mut last = warnings(answer, width, pen);
    last.extend(summary(report, width));
    let room = MOST_LINES.saturating_sub(lines.len() + last.len());
    lines.extend(advice(answer, width, room, pen));
    lines.extend(last);
    lines
}

/// Several layers share the screen: each gets as many lines as the others, the table first.
fn together(layers: &[LayerSection], report: &Report, width: usize, pen: Pen) -> Vec<String> {
    let last = summary(report, width);
    let blanks = layers.len() - 1;
    let room = MOST_LINES.saturating_sub(last.len() + blanks) / layers.len();
    let mut lines = Vec::new();
    for layer in layers {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(block(&layer.answer, width, room, pen));
    }
    lines.extend(last);
    lines
}

/// One of several layers in at most `room` lines.
fn block(answer: &Answer, width: usize, room: usize, pen: Pen) -> Vec<String> {
    let subject: String = answer.subject.chars().take(width).collect();
    let mut lines = vec![pen.bold(&subject)];
    let kept = answer.advice.len().min(LEAST_ADVICE);
    let for_table = room.saturating_sub(1 + kept);
    if for_table >= LEAST_TABLE {
        let mut table = capabilities(answer, width, Conditions::Shown, pen);
        if table.len() > for_table {
            table = capabilities(answer, width, Conditions::OfFirstRow, pen);
        }
        table.truncate(for_table);
        lines.extend(table);
    }
    let rest = room.saturating_sub(lines.len());
    lines.extend(advice(answer, width, rest, pen));
    lines
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

/// Whether the table says where each number was reached.
#[derive(Clone, Copy, PartialEq)]
enum Conditions {
    /// Below every row that has conditions of its own.
    Shown,
    /// Below the first row only.
    OfFirstRow,
}

/// The table of what the subject can do: a line of values, and one of conditions where they differ by row.
fn capabilities(answer: &Answer, width: usize, shown: Conditions, pen: Pen) -> Vec<String> {
    let Some(first) = answer.capabilities.first() else {
        return Vec::new();
    };
    let labels = answer.capabilities.iter().map(|row| row.label.chars().count());
    let label_width = labels.max().unwrap_or(0) + 2;
    let column_width = (width - label_width) / first.readings.len().max(1);
    let columns: Vec<&str> = first
        .readings
        .iter()
        .map(|reading| reading.column.as_str())
        .collect();
    let mut lines = vec![pen.bold(&row("", &columns, label_width, column_width))];
    for (index, capability) in answer.capabilities.iter().enumerate() {
        let values: Vec<String> = capability
            .readings
            .iter()
            .map(|reading| value(&reading.outcome))
            .collect();
        lines.push(row(&capability.label, &values, label_width, column_width));
        let conditions: Vec<String> = capability
            .readings
            .iter()
            .map(|reading| conditions(&reading.outcome))
            .collect();
        let is_shown = shown == Conditions::Shown || index == 0;
        // A label that says the depth has said where.
        let is_said = capability.label.contains("QD") || conditions.iter().all(String::is_empty);
        // Half a condition misleads; the report has it whole.
        let fits = conditions
            .iter()
            .all(|condition| condition.chars().count() < column_width);
        if is_shown && !is_said && fits {
            lines.push(row("", &conditions, label_width, column_width));
        }
    }
    lines
}

fn value(outcome: &ReadingOutcome) -> String {
    match outcome {
        ReadingOutcome::Measured { number, .. } => format!("{number}{}", margin(number)),
        ReadingOutcome::Missing { .. } => "not measured".to_owned(),
    }
}

fn conditions(outcome: &ReadingOutcome) -> String {
    match outcome {
        ReadingOutcome::Measured { conditions, .. } if conditions.is_empty() => String::new(),
        ReadingOutcome::Measured { conditions, .. } => format!("  {}", conditions.replace(" jobs × ", "×")),
        ReadingOutcome::Missing { .. } => String::new(),
    }
}

/// A label and its columns, with at least a blank between them.
fn row<T: AsRef<str>>(label: &str, columns: &[T], label_width: usize, column_width: usize) -> String {
    let mut line = pad(label, label_width);
    for column in columns {
        let fitting: String = column.as_ref().chars().take(column_width - 1).collect();
        line.push_str(&pad(&fitting, column_width));
    }
    line.trim_end().to_owned()
}

/// How far the number may be off: ` ±3 %`, with a mark where that is much.
fn margin(number: &Number) -> String {
    match number.plus_minus_percent() {
        Some(percent) if number.is_wide() => format!(" ±{percent:.0} % !"),
        Some(percent) if percent < 0.5 => " ±<1 %".to_owned(),
        Some(percent) => format!(" ±{percent:.0} %"),
        None if number.no_interval.is_some() => " (no interval)".to_owned(),
        None => String::new(),
    }
}

/// The recommendations in brief, as many lines as there is room for.
fn advice(answer: &Answer, width: usize, room: usize, pen: Pen) -> Vec<String> {
    let topics = answer.advice.iter().map(|claim| claim.topic.chars().count());
    let topic_width = topics.max().unwrap_or(0) + 2;
    let mut lines = Vec::new();
    for claim in &answer.advice {
        let mut topic = pad(&claim.topic, topic_width);
        for part in wrapped(&claim.brief, width.saturating_sub(topic_width), 0) {
            lines.push(pen.bold(&topic) + &part);
            topic = " ".repeat(topic_width);
        }
    }
    lines.truncate(room);
    lines
}

/// Warnings in full, as many as there is room for.
fn warnings(answer: &Answer, width: usize, pen: Pen) -> Vec<String> {
    let warnings = answer
        .cautions
        .iter()
        .filter(|caution| caution.severity == Severity::Warning);
    let mut lines = Vec::new();
    for caution in warnings.take(2) {
        let block = wrapped(&format!("Warning: {}", caution.text), width, 2);
        lines.extend(block.into_iter().map(|line| pen.warning(&line)));
    }
    lines.truncate(6);
    lines
}

/// How much was measured and how much else there is to know, in a line.
fn summary(report: &Report, width: usize) -> Vec<String> {
    let findings = report.layers.iter().flat_map(|layer| &layer.findings);
    let failing = findings
        .filter(|finding| finding.verdict == crate::finding::Verdict::DoesNotHold)
        .count();
    let trials = &report.trials;
    let is_marked = report.layers.iter().any(|layer| is_any_marked(&layer.answer));
    let mark = if is_marked {
        " · ! interval over 10 % wide"
    } else {
        ""
    };
    // One layer has its warnings above; several have no room for them.
    let cautions = report.layers.iter().flat_map(|layer| &layer.answer.cautions);
    let warnings = cautions
        .filter(|caution| caution.severity == Severity::Warning)
        .count();
    let warned = if report.layers.len() > 1 && warnings > 0 {
        format!(" · {} in the report", counted(warnings, "warning"))
    } else {
        String::new()
    };
    let verb = if failing == 1 { "does" } else { "do" };
    let text = format!(
        "{} in {} · {} {verb} not hold{warned}{mark}",
        counted(trials.completed, "trial"),
        counted(trials.cells, "cell"),
        counted(failing, "finding")
    );
    wrapped(&text, width, 2)
}

/// Whether the summary shows a number that is marked.
fn is_any_marked(answer: &Answer) -> bool {
    let readings = answer.capabilities.iter().flat_map(|row| &row.readings);
    let numbers = readings.filter_map(|reading| match &reading.outcome {
        ReadingOutcome::Measured { number, .. } => Some(number),
        ReadingOutcome::Missing { .. } => None,
    });
    numbers
        .chain(answer.advice.iter().flat_map(|claim| &claim.numbers))
        .any(Number::is_wide)
}

fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}
