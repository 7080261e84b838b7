//! A comparison in 80 columns: who is compared, one line per metric, the rows of the headline metrics, and what could not be compared.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::words_of;
use outcrop_results::compare::{Comparison, ComparisonRow, Figure, Undecided, Verdict};
use outcrop_schema::{Setting, Vocabulary};

use super::checks::{FailedCheck, GraveWarning};
use super::head::{head, head_in_markdown, of_subjects};
use super::labels::Labels;
use super::left_out::{failed, not_compared, not_compared_in_markdown};
use super::{is_set_by_factor, verdict_name};
use crate::number::{counted, given_percent};

/// Widest label of a cell that shares its line with the figures.
const LABEL_WIDTH: usize = 22;

/// The rows of one metric.
struct OfMetric<'c> {
    layer: &'c str,
    metric: &'c str,
    rows: Vec<&'c ComparisonRow>,
}

/// What is shown of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// Every metric.
    pub is_all: bool,
    /// Metrics that were asked about: they are shown in any case.
    pub named: BTreeSet<String>,
    /// The quality checks that the two runs failed; none where they were not examined.
    pub failed_checks: Option<Vec<FailedCheck>>,
    /// The gravest warnings of their reports.
    pub warnings: Vec<GraveWarning>,
}

/// A screen of 80 columns: rows of headline metrics, those of all metrics on request, and the reasons of what cannot be compared, counted.
pub fn comparison_text(comparison: &Comparison, detail: &Detail) -> String {
    let mut text = head(comparison, detail);
    let (shown, rest) = by_metric(comparison, detail);
    if comparison.comparable().next().is_none() {
        text.push_str("\nNothing can be compared.\n");
    }
    let labels = Labels::of(comparison);
    for of_metric in &shown {
        text.push_str(&format!("\n{}\n", summary(of_metric, shown.len() > 1)));
        for row in &of_metric.rows {
            text.push_str(&line(row, &labels));
        }
    }
    text.push_str(&not_shown(comparison, &shown, &rest));
    text.push_str(&how_to_read(comparison, &shown));
    text.push_str(&not_compared(comparison, detail.is_all));
    text.push_str(&failed(comparison));
    text
}

/// What was compared besides, counted: with the rows that are shown and those that are not comparable it makes all rows.
fn not_shown(comparison: &Comparison, shown: &[OfMetric<'_>], rest: &[OfMetric<'_>]) -> String {
    let others: Vec<&ComparisonRow> = rest.iter().flat_map(|of| of.rows.iter().copied()).collect();
    let mut parts = Vec::new();
    if !rest.is_empty() {
        parts.push(format!(
            "{}, {}: {}",
            counted(rest.len(), "other metric"),
            counted(others.len(), "row"),
            tally(&others)
        ));
    }
    let told = shown.iter().map(|of| of.rows.len()).sum::<usize>() + others.len();
    // What says again what another row says decides nothing of its own.
    match comparison.comparable().count() - told {
        0 => {}
        1 => parts.push("1 row repeats another (they follow from the same measurement)".to_owned()),
        repeated => parts.push(format!(
            "{repeated} rows repeat others (they follow from the same measurement)"
        )),
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!(
            "\n{}",
            wrapped("", &format!("{}; --all shows them", parts.join("; ")))
        ),
    }
}

/// The same rows as one table in Markdown.
pub fn comparison_markdown(comparison: &Comparison, detail: &Detail) -> String {
    let (shown, _) = by_metric(comparison, detail);
    let mut text = format!(
        "Baseline: {}. Candidate: {}.\n\n",
        of_subjects(
            &comparison.baseline,
            &comparison.baseline_settings,
            &comparison.baseline_subjects
        ),
        of_subjects(
            &comparison.candidate,
            &comparison.candidate_settings,
            &comparison.candidate_subjects
        )
    );
    if comparison.is_paired {
        text.push_str(&format!("{OF_PAIRS}\n\n"));
    }
    text.push_str(&head_in_markdown(comparison, detail));
    text.push_str(
        "| metric | cell | baseline | candidate | ratio | interval | confidence | verdict | reason |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|---|---|\n");
    let labels = Labels::of(comparison);
    for row in shown.iter().flat_map(|of_metric| &of_metric.rows) {
        let (interval, confidence) = row.interval.map_or_else(Default::default, |interval| {
            let ends = format!("{:.3} to {:.3}", interval.low, interval.high);
            (ends, percent(interval.confidence))
        });
        let cells = [
            words_of(&row.metric),
            labels.of_row(row).replace('|', "\\|"),
            spell_figure(row.baseline.as_ref()),
            spell_figure(row.candidate.as_ref()),
            row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}")),
            interval,
            confidence,
            verdict_name(&row.verdict).to_owned(),
            row.why().join("; ").replace('|', "\\|"),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let shown: Vec<&ComparisonRow> = shown
        .iter()
        .flat_map(|of_metric| of_metric.rows.iter().copied())
        .collect();
    if !shown.is_empty() {
        text.push_str(&format!("\n{}\n", rule(comparison, &shown).join(" ")));
    }
    text.push_str(&not_compared_in_markdown(comparison, detail.is_all));
    text.push_str(&failed(comparison));
    text
}

/// How the ratio of variants comes about, as it is not what a reader works out from the two medians.
const OF_PAIRS: &str = "Ratio: the median of the ratios of the pairs, not the ratio of the two medians.";

/// Rows by metric, those that matter first; without those that repeat another, and the metrics that are left out.
fn by_metric<'c>(comparison: &'c Comparison, detail: &Detail) -> (Vec<OfMetric<'c>>, Vec<OfMetric<'c>>) {
    let mut metrics: Vec<OfMetric<'c>> = Vec::new();
    let is_wanted =
        |row: &&ComparisonRow| detail.is_all || !row.is_repeated || detail.named.contains(&row.metric);
    for row in comparison.comparable().filter(is_wanted) {
        match metrics
            .iter_mut()
            .find(|of| of.layer == row.layer && of.metric == row.metric)
        {
            Some(of_metric) => of_metric.rows.push(row),
            None => metrics.push(OfMetric {
                layer: &row.layer,
                metric: &row.metric,
                rows: vec![row],
            }),
        }
    }
    for of_metric in &mut metrics {
        // Within a verdict, in the order of the cells, so that a reader finds one.
        of_metric
            .rows
            .sort_by_cached_key(|row| (weight(&row.verdict), in_order(row)));
    }
    // Figures of all requests mix what two mixes have in different parts: reads and writes alone come first there.
    let is_of_two_mixes = comparison.rows.iter().any(is_set_by_factor);
    metrics.sort_by_key(|of| {
        let place = place(of.layer, of.metric, is_of_two_mixes);
        (place, weight(&of.rows[0].verdict))
    });
    // A publication names the metrics that are of interest.
    let has_headline = metrics.iter().any(|of| of.rows[0].is_headline);
    let is_shown = |of: &OfMetric<'_>| {
        detail.is_all
            || !has_headline
            || place(of.layer, of.metric, is_of_two_mixes) != NOWHERE
            || detail.named.contains(of.metric)
    };
    metrics.into_iter().partition(is_shown)
}

/// The values of a row's factors in the order of its layer's tables: by value, not by spelling, as 8 comes before 16.
fn in_order(row: &ComparisonRow) -> Vec<Option<Setting>> {
    let Some(schema) = Vocabulary::default().layer(&row.layer) else {
        return Vec::new();
    };
    let known = schema.read(&row.factors);
    let factors = schema.workload.iter();
    factors
        .map(|factor| known.setting(factor.name).cloned())
        .collect()
}

/// The place of a metric that comparisons do not show unasked.
const NOWHERE: usize = usize::MAX;

/// The place of a metric among those of its layer that comparisons show: the headline ones first, or those of parts of the requests.
fn place(layer: &str, metric: &str, is_of_parts_first: bool) -> usize {
    let schema = Vocabulary::default().layer(layer);
    let shown = schema.into_iter().flat_map(|schema| {
        let (first, second) = match is_of_parts_first {
            true => (schema.compared, schema.headline),
            false => (schema.headline, schema.compared),
        };
        first.iter().chain(second)
    });
    shown
        .map(|known| known.name)
        .position(|known| known == metric)
        .unwrap_or(NOWHERE)
}

const fn weight(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Worse => 0,
        Verdict::Better => 1,
        Verdict::Different => 2,
        Verdict::Undecided(_) => 3,
        Verdict::Same => 4,
        Verdict::NotComparable(_) => 5,
    }
}

/// `IOPS: 1 worse of 4, 3 same`.
fn summary(of_metric: &OfMetric<'_>, has_others: bool) -> String {
    let layer = if has_others {
        format!("{}, ", of_metric.layer)
    } else {
        String::new()
    };
    let first = &of_metric.rows[0].verdict;
    let count = of_metric
        .rows
        .iter()
        .filter(|row| weight(&row.verdict) == weight(first))
        .count();
    let name = words_of(of_metric.metric);
    let head = format!(
        "{layer}{name}: {count} {} of {}",
        verdict_name(first),
        of_metric.rows.len()
    );
    let rest: Vec<&ComparisonRow> = of_metric
        .rows
        .iter()
        .copied()
        .filter(|row| weight(&row.verdict) != weight(first))
        .collect();
    if rest.is_empty() {
        head
    } else {
        format!("{head}, {}", tally(&rest))
    }
}

/// `2 better, 3 same`.
fn tally(rows: &[&ComparisonRow]) -> String {
    let mut counts: BTreeMap<(u8, &str), usize> = BTreeMap::new();
    for row in rows {
        *counts
            .entry((weight(&row.verdict), verdict_name(&row.verdict)))
            .or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|((_, verdict), count)| format!("{count} {verdict}"))
        .collect();
    parts.join(", ")
}

fn line(row: &ComparisonRow, labels: &Labels) -> String {
    let label = labels.of_row(row);
    let ratio = match (row.ratio, row.interval) {
        (Some(ratio), Some(interval)) => {
            let [ratio, low, high] = [ratio, interval.low, interval.high].map(factor);
            format!("{ratio} ({low} to {high})")
        }
        (Some(ratio), None) => factor(ratio),
        (None, _) => "–".to_owned(),
    };
    let figures = format!(
        "{:>10} {:>10}  {ratio:<22} {}",
        spell_figure(row.baseline.as_ref()),
        spell_figure(row.candidate.as_ref()),
        verdict_name(&row.verdict)
    );
    if label.chars().count() > LABEL_WIDTH {
        format!("  {label}\n  {:LABEL_WIDTH$} {figures}\n", "")
    } else {
        format!("  {label:LABEL_WIDTH$} {figures}\n")
    }
}

/// A ratio in five characters, as long as it is below 100,000.
fn factor(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 9.9995 => format!("{ratio:.3}"),
        ratio if ratio < 999.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    }
}

fn spell_figure(figure: Option<&Figure>) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| figure.unit.format(figure.median))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// By which rule the rows are judged, a sentence for each verdict.
fn rule(comparison: &Comparison, rows: &[&ComparisonRow]) -> Vec<String> {
    let margin = given_percent(comparison.margin);
    let mut sentences = vec![format!("Same: the interval lies within ± {margin}.")];
    if rows.iter().any(|row| row.drift > 0.0) {
        let drift = given_percent(comparison.drift);
        sentences.push(format!(
            "Better or worse: it lies beyond ± {drift}, by which two separate runs may differ."
        ));
        if rows.iter().any(|row| row.drift > comparison.drift) {
            sentences.push(
                "Where other processes used more than 10 % of the CPUs: beyond 1 ÷ the share of a CPU that they may have left (a factor of 2 from 25 % on)."
                    .to_owned(),
            );
        }
        sentences.push("Same has no such allowance: drift may also hide a change.".to_owned());
    }
    sentences
}

/// What the figures are, with the confidence that the intervals have, and why rows are undecided.
fn how_to_read(comparison: &Comparison, shown: &[OfMetric<'_>]) -> String {
    let rows: Vec<&ComparisonRow> = shown.iter().flat_map(|of| of.rows.iter().copied()).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "\nColumns: cell, baseline, candidate, ratio (interval), verdict.\n".to_owned();
    for sentence in rule(comparison, &rows) {
        text.push_str(&format!("{sentence}\n"));
    }
    let is_exact = |row: &&ComparisonRow| {
        row.interval.is_none()
            && matches!(
                row.verdict,
                Verdict::Same | Verdict::Better | Verdict::Worse | Verdict::Different
            )
    };
    if rows.iter().copied().any(|row| is_exact(&row)) {
        text.push_str(
            "Rows without an interval are the same in every repetition (sizes, ratios):\nany difference, however small, is better or worse.\n",
        );
    }
    let confidences: BTreeSet<String> = rows
        .iter()
        .filter_map(|row| Some((row.interval?.n, row.interval?.confidence)))
        .map(|(n, confidence)| format!("{} (n = {n})", percent(confidence)))
        .collect();
    if !confidences.is_empty() {
        let confidences: Vec<String> = confidences.into_iter().collect();
        text.push_str(&wrapped(
            "Intervals: ",
            &format!("confidence {}.", confidences.join(", ")),
        ));
    }
    if comparison.is_paired {
        text.push_str(&format!("{OF_PAIRS}\n"));
    }
    if !comparison.is_paired && comparison.assumed.is_empty() && rows.iter().any(|row| row.p_value.is_some())
    {
        text.push_str("The intervals do not include drift between two runs.\nWhere a factor differs, `outcrop ab` excludes it.\n");
    }
    let mut why: BTreeMap<Undecided, Vec<&ComparisonRow>> = BTreeMap::new();
    for row in rows {
        if let Verdict::Undecided(reason) = &row.verdict {
            why.entry(*reason).or_default().push(row);
        }
    }
    for (reason, rows) in why {
        let why = reason.with_remedy(&rows);
        text.push_str(&wrapped(
            "Undecided: ",
            &format!("{}: {why}.", counted(rows.len(), "row")),
        ));
    }
    text
}

/// Words in lines of 80 columns; lines after the first are indented as far as `head` reaches.
pub(super) fn wrapped(head: &str, words: &str) -> String {
    const WIDTH: usize = 80;
    let indent = " ".repeat(head.chars().count());
    let (mut text, mut line) = (String::new(), head.to_owned());
    let mut is_empty = true;
    for word in words.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line.clone_from(&indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    format!("{text}{line}\n")
}
