//! The names of cells in a figure: the configuration, and whatever else the cells of that figure differ in.

use std::collections::BTreeSet;

use outcrop_schema::FactorRef;
use outcrop_schema::filesystem::SCHEMA;

use super::cell::{CONFIGURATION, configuration};
use crate::cell::Cell;

/// How the cells of one figure are named, so that no two unlike cells have one name.
#[derive(Clone)]
pub(super) struct Naming {
    /// The factors in which these cells differ.
    differing: Vec<FactorRef>,
    is_of_several: bool,
}

impl Naming {
    /// For these cells, whose figure says some factors otherwise.
    pub(super) fn among<'c, 'a: 'c>(
        cells: impl IntoIterator<Item = &'c Cell<'a>>,
        said: &[FactorRef],
    ) -> Self {
        let cells: Vec<&Cell<'_>> = cells.into_iter().collect();
        // What a cell does not have, as one without small files has no size of these, tells nothing apart.
        let differs = |factor: &FactorRef| {
            let values = cells.iter().map(|cell| cell.spelling(factor.about()));
            let values: BTreeSet<&str> = values.filter(|value| !value.is_empty()).collect();
            values.len() > 1
        };
        let is_said = |factor: &FactorRef| said.iter().any(|said| said.name == factor.name);
        let all = SCHEMA.workload.iter().copied();
        let subjects: BTreeSet<&str> = cells.iter().map(|cell| cell.subject()).collect();
        Self {
            differing: all.filter(|factor| !is_said(factor)).filter(differs).collect(),
            is_of_several: subjects.len() > 1,
        }
    }

    /// The configuration with the rest behind commas: `btrfs zstd:3, io block size 16KiB`.
    pub(super) fn name(&self, cell: &Cell<'_>) -> String {
        self.name_but(cell, &[])
    }

    /// The same without some factors.
    pub(super) fn name_but(&self, cell: &Cell<'_>, said: &[FactorRef]) -> String {
        configuration(cell) + &self.apart(cell, &[&CONFIGURATION[..], said].concat())
    }

    /// What tells the cell apart but for some factors, which its name says, each behind a comma.
    pub(super) fn apart(&self, cell: &Cell<'_>, said: &[FactorRef]) -> String {
        let is_said = |factor: &&FactorRef| said.iter().any(|said| said.name == factor.name);
        let apart = self.differing.iter().filter(|factor| !is_said(factor));
        let apart = apart.map(|factor| (factor.words(), factor.shown(cell.spelling(factor.about()))));
        let words = apart
            .filter(|(_, value)| !value.is_empty())
            .map(|(words, value)| format!(", {words} {value}"));
        let subject = self.is_of_several.then(|| format!(", on {}", cell.subject()));
        words.chain(subject).collect()
    }
}
