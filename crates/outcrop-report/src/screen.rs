//! The summary on one screen, for somebody who reads nothing else.

use crate::answer::{Answer, Capability, ReadingOutcome, Severity};
use crate::number::Number;
use crate::report::Report;

/// Most lines of the summary.
const MOST_LINES: usize = 24;
/// Narrowest terminal that is laid out for.
const LEAST_WIDTH: usize = 60;

/// Renders the summary: at most 24 lines, none wider than `width` columns (60 at least).
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

/// The table of what the subject can do.
fn capabilities(answer: &Answer, width: usize, pen: Pen) -> Vec<String> {
    let Some(first) = answer.capabilities.first() else {
        return Vec::new();
    };
    let label_width = answer
        .capabilities
        .iter()
        .map(|row| row.label.chars().count())
        .max()
        .unwrap_or(0)
        + 2;
    let column_width = (width - label_width) / first.readings.len().max(1);
    let mut head = pad("", label_width);
    for reading in &first.readings {
        head.push_str(&pad(&reading.column, column_width));
    }
    let mut lines = vec![pen.bold(head.trim_end())];
    for row in &answer.capabilities {
        lines.push(capability(row, label_width, column_width));
    }
    lines
}

fn capability(row: &Capability, label_width: usize, column_width: usize) -> String {
    let mut line = pad(&row.label, label_width);
    for reading in &row.readings {
        let text = match &reading.outcome {
            ReadingOutcome::Measured { number, conditions } => {
                let value = format!("{number}{}", margin(number));
                // The latency rows all have the same conditions, which the row's label says.
                if row.label.starts_with("Latency") {
                    value
                } else {
                    format!("{value}  {conditions}")
                }
            }
            ReadingOutcome::Missing { .. } => "not measured".to_owned(),
        };
        line.push_str(&pad(&text, column_width));
    }
    line.trim_end().to_owned()
}

/// How far the number may be off: ` ±3 %`, with a mark where that is much.
fn margin(number: &Number) -> String {
    match number.plus_minus_percent() {
        Some(percent) if number.is_wide() => format!(" ±{percent:.0} %!"),
        Some(percent) if percent < 0.5 => " ±<1 %".to_owned(),
        Some(percent) => format!(" ±{percent:.0} %"),
        None => String::new(),
    }
}

fn advice(answer: &Answer, width: usize, room: usize, pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    for claim in &answer.advice {
        let block = wrapped(&format!("{}: {}", claim.topic, claim.text), width, 2);
        if lines.len() + block.len() > room {
            break;
        }
        let head = format!("{}:", claim.topic);
        lines.extend(
            block
                .into_iter()
                .map(|line| line.replacen(&head, &pen.bold(&head), 1)),
        );
    }
    lines
}

/// Warnings in full, and one line that says how much else there is to know.
fn cautions(answer: &Answer, report: &Report, width: usize, pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    let warnings = answer
        .cautions
        .iter()
        .filter(|caution| caution.severity == Severity::Warning);
    for caution in warnings.take(3) {
        let block = wrapped(&format!("Warning: {}", caution.text), width, 2);
        lines.extend(block.into_iter().map(|line| pen.warning(&line)));
    }
    lines.truncate(7);
    let notes = answer
        .cautions
        .iter()
        .filter(|caution| caution.severity == Severity::Note)
        .count();
    let failing = report
        .layers
        .iter()
        .flat_map(|layer| &layer.findings)
        .filter(|finding| finding.verdict == crate::finding::Verdict::DoesNotHold)
        .count();
    let trials = &report.trials;
    let summary = format!(
        "{} trials over {} cells; {failing} checks do not hold; {notes} notes in the report.",
        trials.completed, trials.cells
    );
    lines.extend(wrapped(&summary, width, 2));
    lines
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
