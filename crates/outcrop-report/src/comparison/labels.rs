//! What the rows of a comparison call their cells.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_results::compare::{Comparison, ComparisonRow, NotComparable, Verdict};
use outcrop_results::factors::varying;
use outcrop_schema::Vocabulary;

use super::spell;

/// What all rows have in common, and what tells those of a layer apart although labels leave it out.
pub(super) struct Labels {
    common: BTreeMap<String, String>,
    /// By layer, the factors of which its rows have several values.
    varying: BTreeMap<String, BTreeSet<String>>,
    /// Layers whose rows are of several subjects, or of several pairs of them.
    of_several: BTreeSet<String>,
}

impl Labels {
    pub(super) fn of(comparison: &Comparison) -> Self {
        let mut subjects: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
        for row in comparison.comparable() {
            let of_layer = subjects.entry(&row.layer).or_default();
            of_layer.insert((&row.baseline_subject, &row.candidate_subject));
        }
        let of_several = subjects.into_iter().filter(|(_, pairs)| pairs.len() > 1);
        Self {
            of_several: of_several.map(|(layer, _)| layer.to_owned()).collect(),
            common: common_factors(comparison),
            varying: varying(
                comparison
                    .rows
                    .iter()
                    .map(|row| (row.layer.as_str(), &row.factors)),
            ),
        }
    }

    /// A cell in the words of its layer, by the factors that vary, and by its subject where there are several.
    pub(super) fn of_row(&self, row: &ComparisonRow) -> String {
        let label = self.without_subject(row);
        if !self.of_several.contains(&row.layer) {
            return label;
        }
        let subject = match (&row.baseline_subject, &row.candidate_subject) {
            (Some(one), Some(other)) if one != other => format!("{one} and {other}"),
            (one, other) => one.as_ref().or(other.as_ref()).cloned().unwrap_or_default(),
        };
        match label.is_empty() || label == subject {
            true => subject,
            false => format!("{label}, {subject}"),
        }
    }

    fn without_subject(&self, row: &ComparisonRow) -> String {
        let own = row
            .factors
            .iter()
            .filter(|(name, _)| !self.common.contains_key(*name));
        let own: BTreeMap<String, String> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let schema = Vocabulary::default().layer(&row.layer);
        let words = schema
            .map(|schema| schema.label(&schema.read(&own)))
            .unwrap_or_default();
        if words.is_empty() {
            return match own.is_empty() {
                true => row.candidate_subject.clone().unwrap_or_default(),
                false => spell(&own),
            };
        }
        // What has no word in labels is spelled where rows differ in it.
        let has_words = |name: &str| {
            let factor = schema.and_then(|schema| schema.factor(name));
            factor.is_some_and(|factor| factor.is_labelled())
        };
        let varies = |name: &String| {
            self.varying
                .get(&row.layer)
                .is_some_and(|names| names.contains(name))
        };
        let unsaid: BTreeMap<String, String> = own
            .into_iter()
            .filter(|(name, _)| varies(name) && !has_words(name))
            .collect();
        match unsaid.is_empty() {
            true => words,
            false => format!("{words} {}", spell(&unsaid)),
        }
    }
}

/// Factors that have the same value in every row: they are said once.
pub(super) fn common_factors(comparison: &Comparison) -> BTreeMap<String, String> {
    let mut rows = comparison.rows.iter().map(|row| &row.factors);
    let Some(first) = rows.next() else {
        return BTreeMap::new();
    };
    let mut common = first.clone();
    for factors in rows {
        common.retain(|name, value| factors.get(name) == Some(value));
    }
    if common.len() == first.len() {
        // One cell: its factors name it.
        return BTreeMap::new();
    }
    // What keeps a row from being compared is no common value, though the rows name it by one of the sides.
    for row in &comparison.rows {
        if let Verdict::NotComparable(reasons) = &row.verdict {
            for reason in reasons {
                if let NotComparable::ConditionDiffers { condition, .. } = reason {
                    common.remove(condition);
                }
            }
        }
    }
    common
}
