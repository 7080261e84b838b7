//! Warnings on the screen: what voids figures stands before them, the gravest of the others below, and the rest are counted.

use super::Pen;
use crate::answer::{Answer, Caution, Gravity};
use crate::report::LayerSection;
use crate::wrap::{fitting, wrapped};

/// Warnings of one layer that leave its figures their meaning.
const MOST_WARNINGS: usize = 2;
/// Lines of a warning.
const MOST_LINES: usize = 3;
/// Lines of warnings in the row of a layer in a table.
const MOST_LINES_OF_A_ROW: usize = 2;

/// Every warning, the gravest first.
pub(super) fn all_warnings(answer: &Answer) -> impl Iterator<Item = &Caution> {
    answer.cautions.iter().filter(|caution| caution.is_warning())
}

/// The lines of each warning that voids figures: shown in any case.
pub(super) fn voids(answer: &Answer, width: usize, pen: Pen) -> Vec<Vec<String>> {
    let voids = all_warnings(answer).filter(|caution| caution.void_in_brief().is_some());
    voids.map(|caution| lines(&caution.text, width, pen)).collect()
}

/// The lines of each of the gravest other warnings, and how many of them figures give way to. The command that resumes the run is not repeated
/// where the screen has it.
pub(super) fn of_warnings(
    answer: &Answer,
    has_command: bool,
    width: usize,
    pen: Pen,
) -> (usize, Vec<Vec<String>>) {
    let others = all_warnings(answer).filter(|caution| caution.void_in_brief().is_none());
    let shown: Vec<&Caution> = others.take(MOST_WARNINGS).collect();
    let is_grave = |caution: &&&Caution| caution.gravity >= Gravity::Late;
    let grave = shown.iter().filter(is_grave).count();
    let text = |caution: &'_ Caution| match has_command {
        true => caution.without_command().to_owned(),
        false => caution.text.clone(),
    };
    let lines = shown.into_iter().map(|caution| lines(&text(caution), width, pen));
    (grave, lines.collect())
}

/// Warnings that a table of layers has no room for: all that have no brief form.
pub(super) fn hidden(layers: &[LayerSection]) -> usize {
    let warnings = layers.iter().flat_map(|layer| all_warnings(&layer.answer));
    let hidden = warnings.filter(|caution| caution.in_brief().is_none());
    hidden.count()
}

/// What voids the figures of a layer, and what stood still, in its row.
pub(super) fn of_row(answer: &Answer, width: usize) -> Vec<String> {
    let briefs: Vec<&str> = all_warnings(answer).filter_map(Caution::in_brief).collect();
    if briefs.is_empty() {
        return Vec::new();
    }
    fitting(
        &format!("Warning: {}.", briefs.join("; ")),
        width,
        0,
        MOST_LINES_OF_A_ROW,
    )
}

/// As many whole sentences as there is room for: the report has the others. None where not even one has room.
fn whole_sentences(text: &str, width: usize) -> Option<Vec<String>> {
    let ends = text.match_indices(". ").map(|(at, _)| at + 1);
    let mut ends: Vec<usize> = ends.chain([text.len()]).collect();
    ends.reverse();
    let is_whole = |end: &usize| text[..*end].matches('`').count().is_multiple_of(2);
    let mut lines = ends
        .into_iter()
        .filter(is_whole)
        .map(|end| wrapped(&text[..end], width, 2));
    lines.find(|lines| lines.len() <= MOST_LINES)
}

fn lines(text: &str, width: usize, pen: Pen) -> Vec<String> {
    let text = format!("Warning: {text}");
    let lines = whole_sentences(&text, width).unwrap_or_else(|| fitting(&text, width, 2, MOST_LINES));
    lines.into_iter().map(|line| pen.warning(&line)).collect()
}
