//! Published figures of filesystems in the charts, where a reader asked for them.

use outcrop_measure::metric::Metric;
use outcrop_results::Reference;
use outcrop_schema::FactorRef;
use outcrop_schema::filesystem::SCHEMA;

use super::references;
use crate::cell::Cell;
use crate::chart::{Point, Series, SeriesKind};
use crate::finding::{Finding, Verdict};
use crate::layer::published;

/// How a published line is drawn, as captions say it.
pub(super) const DASHED: &str = "Dashed";

/// The references that a reader named, with their rows as cells.
pub(super) struct Published(Vec<(Reference, Vec<Cell<'static>>)>);

/// Whether a cell has a metric at a place of a factor.
pub(super) fn has(along: FactorRef, metric: &'static Metric) -> impl Fn(&Cell<'_>) -> bool {
    move |cell| cell.place(along).is_some() && cell.value(metric).is_some()
}

impl Published {
    /// Those of this layer among the names.
    pub(super) fn beside(names: &[String]) -> Self {
        let mut shipped = published(&SCHEMA);
        shipped.retain(|reference| names.contains(&reference.name));
        let with_cells = |reference: Reference| {
            let cells = Cell::published(&SCHEMA, &reference);
            (reference, cells)
        };
        Self(shipped.into_iter().map(with_cells).collect())
    }

    /// The cells that are wanted, by subject.
    pub(super) fn by_subject(
        &self,
        is_wanted: impl Fn(&Cell<'_>) -> bool,
    ) -> Vec<(&str, Vec<&Cell<'static>>)> {
        let mut subjects: Vec<(&str, Vec<&Cell<'static>>)> = Vec::new();
        let all = self.0.iter().flat_map(|(_, cells)| cells);
        for cell in all.filter(|cell| is_wanted(cell)) {
            match subjects.iter_mut().find(|(name, _)| *name == cell.subject()) {
                Some((_, of_subject)) => of_subject.push(cell),
                None => subjects.push((cell.subject(), vec![cell])),
            }
        }
        subjects
    }

    /// Lines of a metric along a factor, one for each subject; `first_hue` is the colour of the first.
    pub(super) fn lines(&self, along: FactorRef, metric: &'static Metric, first_hue: usize) -> Vec<Series> {
        let subjects = self.by_subject(has(along, metric)).into_iter().enumerate();
        let line = |(index, (subject, cells)): (usize, (&str, Vec<&Cell<'static>>))| {
            let place = |cell: &Cell<'static>| cell.place(along);
            let words = |cell: &Cell<'static>| cell.subject().to_owned();
            let points = Point::of_cells(cells, place, metric, words);
            let name = format!("published: {subject}");
            Series::new(name, first_hue + index, SeriesKind::Published, points)
        };
        subjects.map(line).collect()
    }

    /// What a caption says of the references with such cells: how they are drawn, whose they are, what to know before relying on them,
    /// and how they came out of the checks. Empty where there are none.
    pub(super) fn caption(&self, how: &str, is_drawn: impl Fn(&Cell<'_>) -> bool) -> String {
        let drawn = self.0.iter().filter(|(_, cells)| cells.iter().any(&is_drawn));
        let sentence = |(reference, cells): &(Reference, Vec<Cell<'static>>)| {
            let checks: String = references::findings(cells).iter().map(verdict).collect();
            format!(
                " {how}: published, of another machine: {}. {} Checks of the publication.{checks}",
                reference.title,
                reference.caveats.join(" ")
            )
        };
        drawn.map(sentence).collect()
    }
}

/// How a check came out, as the findings of the page say it: with what is wrong where it does not hold.
fn verdict(finding: &Finding) -> String {
    let words = format!(" {}: {}", finding.verdict.words(), finding.sentence);
    match finding.verdict {
        Verdict::DoesNotHold => format!("{words} {}", finding.meaning),
        _ => words,
    }
}
