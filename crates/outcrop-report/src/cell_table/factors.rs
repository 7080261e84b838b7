//! The values of factors as tables have them: those that are the same in all cells stand above.

use std::collections::BTreeSet;

use outcrop_results::{CellGroup, CellRow};
use outcrop_schema::FactorRef;

use super::NONE;
use crate::layer::ReportedLayer;
use crate::number::counted;

/// How a layer has the value of a factor in a row where that is not as it is spelled.
pub(super) fn shown_otherwise(
    layer: Option<&ReportedLayer>,
    factor: FactorRef,
    row: &CellRow,
) -> Option<String> {
    let shown = layer?.shown?;
    shown(factor, row)
}

/// The value of a factor in a row, as tables have it.
pub(super) fn shown(layer: Option<&ReportedLayer>, factor: FactorRef, row: &CellRow) -> String {
    let spelled = || Some(factor.shown(row.setting(factor)?.spelling()));
    let own = shown_otherwise(layer, factor, row);
    own.or_else(spelled).unwrap_or_else(|| NONE.to_owned())
}

/// Factors that have one value in all cells, with that value; then those whose one value is shown in several ways.
pub(super) fn constants(
    group: &CellGroup<'_>,
    layer: Option<&ReportedLayer>,
) -> (Vec<(FactorRef, String)>, Vec<FactorRef>) {
    let (mut constants, mut apart) = (Vec::new(), Vec::new());
    for (factor, _) in &group.constants {
        let values: BTreeSet<String> = group.rows.iter().map(|row| shown(layer, *factor, row)).collect();
        match values.len() {
            1 => constants.extend(values.into_iter().map(|value| (*factor, value))),
            _ => apart.push(*factor),
        }
    }
    (constants, apart)
}

/// What is the same in all cells.
pub(super) fn head(group: &CellGroup<'_>, constants: &[(FactorRef, String)]) -> Vec<String> {
    let subject = group.subject.unwrap_or("several subjects");
    let trials: BTreeSet<usize> = group.rows.iter().map(|row| row.trials).collect();
    let trials = match (trials.first(), trials.last()) {
        (Some(least), Some(most)) if least == most => format!(", {} each", counted(*most, "trial")),
        _ => String::new(),
    };
    let mut head = vec![format!(
        "{} · {subject} · {}{trials}",
        group.layer.name,
        counted(group.rows.len(), "cell")
    )];
    let usual = group.usual.iter();
    let usual: Vec<(FactorRef, String)> = usual
        .map(|(factor, value)| (*factor, factor.shown(value.spelling())))
        .collect();
    for (which, settings) in [("All cells", constants), ("Cells that have them", &usual[..])] {
        let words = settings.iter();
        let words: Vec<String> = words
            .map(|(factor, value)| format!("{} {value}", factor.words()))
            .collect();
        if !words.is_empty() {
            head.push(format!("{which}: {}.", words.join(", ")));
        }
    }
    head
}
