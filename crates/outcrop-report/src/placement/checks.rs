//! Checks of the run that failed for the cells that an answer compares: how sure it is depends on them.

use outcrop_probe::OthersCpu;
use outcrop_results::RunView;

use super::candidate::Candidate;
use super::choice::Choice;
use super::doubt::identifier;
use super::words::as_name;
use crate::cell::Cell;
use crate::disturbed::others_share;
use crate::environment;
use crate::layer::kv::{FailedCheck, FailedChecks, failed_checks, machine};
use crate::number::counted;

/// What failed, of the answer, the second best, what takes less space, and no compression; and other work on the machine meanwhile.
#[derive(Debug, Default)]
pub(super) struct Checks {
    failed: FailedChecks,
    pub(super) other_work: Option<String>,
}

impl Checks {
    pub(super) fn of(run: &RunView, family: &[&Cell<'_>], candidates: &[Candidate], choice: &Choice) -> Self {
        let chosen = [choice.best, choice.second, choice.saves_more];
        let chosen = chosen
            .into_iter()
            .flatten()
            .map(|index| candidates[index].cell.as_str());
        let plain = candidates.iter().filter(|one| one.is_plain());
        let compared: Vec<&str> = chosen.chain(plain.map(|one| one.cell.as_str())).collect();
        let is_compared = |cell: &&&Cell<'_>| compared.contains(&identifier(cell).as_str());
        let cells: Vec<Cell<'_>> = family
            .iter()
            .filter(is_compared)
            .map(|cell| (**cell).clone())
            .collect();
        Self {
            failed: failed_checks(&cells, machine(run)),
            other_work: other_work(run, &cells, candidates),
        }
    }

    fn all(&self) -> impl Iterator<Item = &FailedCheck> {
        self.failed.of_throughput.iter().chain(&self.failed.others)
    }

    /// All that failed, each as a clause.
    pub(super) fn clauses(&self) -> Vec<String> {
        self.all().map(|check| check.clause.clone()).collect()
    }

    /// What to do about it, each as a sentence, in the same order.
    pub(super) fn remedies(&self) -> Vec<String> {
        self.all().map(|check| check.remedy.to_owned()).collect()
    }

    /// Whether what the choice rests on failed: then no interval makes it clear.
    pub(super) fn deny(&self) -> bool {
        !self.failed.of_throughput.is_empty()
    }

    /// What failed, and other work, in sentences, each with what to do; none where there is neither.
    pub(super) fn sentence(&self) -> Option<String> {
        let clauses = self.clauses();
        let named = clauses.join("; ");
        let remedies = self.remedies().join(" ");
        let failed = match clauses.len() {
            0 => None,
            1 => Some(format!(
                "A quality check failed for these cells: {named}. {remedies}"
            )),
            count => Some(format!(
                "{count} quality checks failed for these cells: {named}. {remedies}"
            )),
        };
        let other_work = self.other_work.as_ref();
        let other_work = other_work.map(|work| {
            format!("The machine was busy with other work: {work}. Stop the other programs before you measure again.")
        });
        let sentences: Vec<String> = [failed, other_work].into_iter().flatten().collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    /// The same in a few words.
    pub(super) fn in_short(&self) -> String {
        let failed = (!self.clauses().is_empty()).then_some("A quality check failed for these cells.");
        let other_work = self
            .other_work
            .is_some()
            .then_some("The machine was busy with other work.");
        let sentences: Vec<&str> = [failed, other_work].into_iter().flatten().collect();
        sentences.join(" ")
    }
}

/// How much the machine did for others while the cell that this disturbed most was measured; where that is not recorded, when the run began.
fn other_work(run: &RunView, cells: &[Cell<'_>], candidates: &[Candidate]) -> Option<String> {
    let of_cell = |cell: &Cell<'_>| {
        let share = others_share(cell)?;
        let id = identifier(cell);
        let candidate = candidates.iter().find(|one| one.cell == id);
        Some((share, candidate.map_or(id, as_name)))
    };
    let known = cells.iter().filter_map(of_cell);
    match known.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((share, name)) => (share > OthersCpu::MATTER).then(|| {
            format!(
                "{:.0} % of the CPUs while the most disturbed of these {} was measured ({name})",
                share * 100.0,
                counted(cells.len(), "cell")
            )
        }),
        None => environment::other_load(&run.environment).map(|load| format!("{load} when the run began")),
    }
}
