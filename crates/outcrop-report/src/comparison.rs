//! What `outcrop compare` found, as a table for a terminal, as CSV and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_results::compare::{Comparison, ComparisonRow, EnvironmentDifference, Figure, Side, Verdict};

use outcrop_schema::Vocabulary;

use crate::error::ReportError;

/// One metric of a comparison as a line of text would have it.
struct Line {
    cell: String,
    metric: String,
    baseline: String,
    candidate: String,
    ratio: String,
    verdict: String,
}

/// A table for a terminal: comparable rows by metric, then what cannot be compared with the reasons counted.
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut text = format!(
        "baseline:  {}\ncandidate: {}\n",
        comparison.baseline, comparison.candidate
    );
    for difference in &comparison.environment_differences {
        let EnvironmentDifference {
            path,
            baseline,
            candidate,
            ..
        } = difference;
        text.push_str(&format!(
            "differs:   {path}: {baseline} in the baseline, {candidate} in the candidate\n"
        ));
    }
    if comparison.is_different_machine {
        text.push_str("These are two machines: every ratio compares machines, not only configurations.\n");
    }
    let common = common_factors(comparison);
    if !common.is_empty() {
        text.push_str(&format!("in all:    {}\n", spell(&common)));
    }
    let comparable: Vec<&ComparisonRow> = comparison
        .rows
        .iter()
        .filter(|row| !matches!(row.verdict, Verdict::NotComparable(_)) && !repeats_another(row))
        .collect();
    let lines: Vec<Line> = comparable.iter().map(|row| line(row, &common)).collect();
    text.push('\n');
    if lines.is_empty() {
        text.push_str("Nothing can be compared.\n");
    } else {
        text.push_str(&tally(&comparable));
        text.push_str(&table(&lines));
    }
    text.push_str(&not_compared(comparison));
    text
}

/// One line per row, with a header; ratio and interval empty where there is none.
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut text = "layer,factors,metric,unit,baseline,baseline_n,candidate,candidate_n,ratio,ratio_low,ratio_high,verdict,reason\n"
        .to_owned();
    for row in &comparison.rows {
        let figure = |figure: &Option<Figure>| {
            figure.as_ref().map_or([String::new(), String::new()], |f| {
                [f.median.to_string(), f.n.to_string()]
            })
        };
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let unit = row
            .baseline
            .as_ref()
            .or(row.candidate.as_ref())
            .map_or("", |figure| figure.unit.symbol());
        let ([baseline, baseline_n], [candidate, candidate_n]) =
            (figure(&row.baseline), figure(&row.candidate));
        let fields = [
            row.layer.clone(),
            spell(&row.factors),
            row.metric.clone(),
            unit.to_owned(),
            baseline,
            baseline_n,
            candidate,
            candidate_n,
            number(row.ratio),
            number(row.interval.map(|interval| interval.low)),
            number(row.interval.map(|interval| interval.high)),
            verdict_name(&row.verdict).to_owned(),
            reasons(&row.verdict).join("; "),
        ];
        text.push_str(&fields.map(|field| quoted(&field)).join(","));
        text.push('\n');
    }
    text
}

/// The whole comparison as JSON.
///
/// # Errors
/// [`ReportError::Json`] if a value cannot be written, which none should be.
pub fn comparison_json(comparison: &Comparison) -> Result<serde_json::Value, ReportError> {
    Ok(serde_json::to_value(comparison)?)
}

fn line(row: &ComparisonRow, common: &BTreeMap<String, String>) -> Line {
    let own: BTreeMap<String, String> = row
        .factors
        .iter()
        .filter(|(name, _)| !common.contains_key(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let figure = |figure: &Option<Figure>| figure.as_ref().map_or_else(|| "–".to_owned(), spell_figure);
    let ratio = match (row.ratio, row.interval) {
        (Some(ratio), Some(interval)) => format!("{ratio:.3} ({:.3} to {:.3})", interval.low, interval.high),
        (Some(ratio), None) => format!("{ratio:.3}"),
        (None, _) => "–".to_owned(),
    };
    Line {
        cell: spell(&own),
        metric: row.metric.clone(),
        baseline: figure(&row.baseline),
        candidate: figure(&row.candidate),
        ratio,
        verdict: verdict_name(&row.verdict).to_owned(),
    }
}

fn spell_figure(figure: &Figure) -> String {
    let published = if figure.provenance == outcrop_measure::Provenance::Published {
        " (published)"
    } else {
        ""
    };
    format!("{}{published}", figure.unit.format(figure.median))
}

/// What says again what another row says, as `read_iops` does in a cell of reads alone: the table has it once.
fn repeats_another(row: &ComparisonRow) -> bool {
    let layer = Vocabulary::default().layer(&row.layer);
    layer.is_some_and(|layer| (layer.repeats)(&row.factors, &row.metric))
}

/// How many rows came out how, so that nobody has to count.
fn tally(rows: &[&ComparisonRow]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(verdict_name(&row.verdict)).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    format!("{} rows: {}\n", rows.len(), parts.join(", "))
}

/// Factors that have the same value in every row: they are said once.
fn common_factors(comparison: &Comparison) -> BTreeMap<String, String> {
    let mut rows = comparison.rows.iter().map(|row| &row.factors);
    let Some(first) = rows.next() else {
        return BTreeMap::new();
    };
    if comparison.rows.iter().all(|row| row.factors == *first) {
        // One cell: its factors name it.
        return BTreeMap::new();
    }
    let mut common = first.clone();
    for factors in rows {
        common.retain(|name, value| factors.get(name) == Some(value));
    }
    common
}

fn spell(factors: &BTreeMap<String, String>) -> String {
    factors
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn table(lines: &[Line]) -> String {
    let head = Line {
        cell: "cell".to_owned(),
        metric: "metric".to_owned(),
        baseline: "baseline".to_owned(),
        candidate: "candidate".to_owned(),
        ratio: "ratio (95 % interval)".to_owned(),
        verdict: "verdict".to_owned(),
    };
    let rows: Vec<[&str; 6]> = std::iter::once(&head).chain(lines).map(columns).collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let padded = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn columns(line: &Line) -> [&str; 6] {
    [
        &line.cell,
        &line.metric,
        &line.baseline,
        &line.candidate,
        &line.ratio,
        &line.verdict,
    ]
}

/// Reasons, each with the number of rows it stands for, and the cells that met no other.
fn not_compared(comparison: &Comparison) -> String {
    let mut rows_by_reason: BTreeMap<String, usize> = BTreeMap::new();
    for reason in comparison
        .rows
        .iter()
        .flat_map(|row| reasons(&row.verdict).into_iter().collect::<BTreeSet<_>>())
    {
        *rows_by_reason.entry(reason).or_default() += 1;
    }
    let mut text = String::new();
    if !rows_by_reason.is_empty() {
        text.push_str("\nnot comparable:\n");
        for (reason, rows) in rows_by_reason {
            text.push_str(&format!("  {rows} rows: {reason}\n"));
        }
    }
    for side in [Side::Baseline, Side::Candidate] {
        let count = comparison
            .unmatched
            .iter()
            .filter(|cell| cell.side == side)
            .count();
        if count > 0 {
            text.push_str(&format!("  {count} cells are only in the {}\n", side.name()));
        }
    }
    text
}

fn reasons(verdict: &Verdict) -> Vec<String> {
    match verdict {
        Verdict::NotComparable(reasons) => reasons.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

const fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::Different => "different",
        Verdict::Undecided => "undecided",
        Verdict::NotComparable(_) => "not comparable",
    }
}

/// A CSV field, quoted where it has to be.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
