//! The summary on one screen, for somebody who reads nothing else.

use crate::answer::{Answer, ReadingOutcome, Severity};
use crate::number::Number;
use crate::report::Report;

/// Most lines of the summary: a screen of 24, less the blank line and the report's path that the caller adds.
const MOST_LINES: usize = 22;
/// Narrowest terminal that is laid out for.
const LEAST_WIDTH: usize = 60;

/// Renders the summary: at most 22 lines, none wider than `width` columns (60 at least).
pub(crate) fn render(report: &Report, width: usize, colour: bool) -> String {
    let pen = Pen { colour };
    let width = width.max(LEAST_WIDTH);
    let mut lines = Vec::new();
    for layer in &report.layers {
        lines.extend(
            wrapped(&layer.answer.subject, width, 0)
                .into_iter()
                .map(|line| pen.bold(&line)),
        );
        lines.extend(capabilities(&layer.answer, width, pen));
        lines.push(String::new());
        let cautions = cautions(&layer.answer, report, width, pen);
        let room = MOST_LINES.saturating_sub(lines.len() + cautions.len());
        lines.extend(advice(&layer.answer, width, room, pen));
        lines.extend(cautions);
    }
    if report.layers.is_empty() {
        lines.extend(wrapped(
            &format!("{}: no finished trial, nothing to report yet.", report.run.name),
            width,
            0,
        ));
        lines.extend(wrapped(&report.trials.sentence(), width, 0));
        lines.extend(
            report
                .trials
                .failures
                .iter()
                .flat_map(|failure| wrapped(failure, width, 2)),
        );
    }
    lines.truncate(MOST_LINES);
    let mut text = lines.join("\n");
    text.push('\n');
    text
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

/// The table of what the subject can do: a line of values, and one of conditions where they differ by row.
fn capabilities(answer: &Answer, width: usize, pen: Pen) -> Vec<String> {
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
    for capability in &answer.capabilities {
        let values: Vec<String> = capability
            .readings
            .iter()
            .map(|reading| value(&reading.outcome))
            .collect();
        lines.push(row(&capability.label, &values, label_width, column_width));
        if !capability.label.contains("QD") {
            let conditions: Vec<String> = capability
                .readings
                .iter()
                .map(|reading| conditions(&reading.outcome))
                .collect();
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

/// Warnings in full, and one line that says how much else there is to know.
fn cautions(answer: &Answer, report: &Report, width: usize, pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    let warnings = answer
        .cautions
        .iter()
        .filter(|caution| caution.severity == Severity::Warning);
    for caution in warnings.take(2) {
        let block = wrapped(&format!("Warning: {}", caution.text), width, 2);
        lines.extend(block.into_iter().map(|line| pen.warning(&line)));
    }
    lines.truncate(6);
    let failing = report
        .layers
        .iter()
        .flat_map(|layer| &layer.findings)
        .filter(|finding| finding.verdict == crate::finding::Verdict::DoesNotHold)
        .count();
    let trials = &report.trials;
    let mark = if is_any_marked(answer) {
        " · ! interval over 10 % wide"
    } else {
        ""
    };
    let verb = if failing == 1 { "does" } else { "do" };
    let summary = format!(
        "{} in {} · {} {verb} not hold{mark}",
        counted(trials.completed, "trial"),
        counted(trials.cells, "cell"),
        counted(failing, "finding")
    );
    lines.extend(wrapped(&summary, width, 2));
    lines
}

/// `1 cell`, `84 cells`.
fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
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

/// Text in lines of at most `width` columns; every line but the first is indented.
fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let room = line.chars().count() + 1 + word.chars().count() <= width;
        if !line.trim().is_empty() && !room {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        }
        if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
    lines
}

fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}
