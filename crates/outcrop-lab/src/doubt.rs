//! Effort that follows doubt, while a run goes on: which of its trials are still worth their time.
//!
//! The order of trials is that of any other run, repetition by repetition, with as many repetitions as a race can have. Before each of
//! them the race is judged by what was measured, and trials of cells that can no longer be the answer are left out. So a resumed run, which
//! reads its trials from the journal, decides as one that was never interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use outcrop_measure::race::{Contender, Standing};
use outcrop_probe::environment::Environment;
use outcrop_results::{RunFolder, TrialEntry};
use outcrop_schema::Settings;
use outcrop_schema::kv::{self, Figures, IN_WHAT_CANDIDATES_DIFFER};

use crate::cell::{Cell, Subject};
use crate::error::LabError;
use crate::order::Trial;
use crate::plan::{FollowDoubt, PlanSet};

/// What is known of the cells in doubt, and what is left of the budget.
pub(crate) struct Doubt<'s> {
    set: &'s PlanSet,
    follow: &'s FollowDoubt,
    cpus: Option<u64>,
    /// Cells that are compared with each other.
    families: Vec<Vec<usize>>,
    seen: BTreeMap<usize, Seen>,
    /// Time of the trials of earlier sessions.
    earlier: Duration,
    /// Trials that are measured in any case.
    others: Vec<Trial>,
    /// The repetition that was judged last, and the cells that it measures.
    judged: Option<(u32, BTreeSet<usize>)>,
    stopped: BTreeSet<usize>,
    is_spent: bool,
    is_told: bool,
}

/// What was measured of one cell.
#[derive(Default)]
struct Seen {
    trials: BTreeMap<u32, Figures>,
    is_compressed_below: bool,
    took: Duration,
    count: u32,
}

impl<'s> Doubt<'s> {
    /// With the trials that the folder has; none where the plans do not follow doubt.
    pub(crate) fn of(
        set: &'s PlanSet,
        folder: &RunFolder,
        pending: &[Trial],
    ) -> Result<Option<Self>, LabError> {
        let Some(follow) = set.follows_doubt() else {
            return Ok(None);
        };
        let mut doubt = Self {
            set,
            follow,
            cpus: cpus(folder),
            families: families(set.cells()),
            seen: BTreeMap::new(),
            earlier: Duration::ZERO,
            others: pending
                .iter()
                .filter(|trial| !set.cells()[trial.cell].follows_doubt)
                .copied()
                .collect(),
            judged: None,
            stopped: BTreeSet::new(),
            is_spent: false,
            is_told: false,
        };
        for entry in folder.trials()? {
            let took =
                Duration::try_from_secs_f64(entry.took_s.unwrap_or(entry.duration_s)).unwrap_or_default();
            doubt.earlier += took;
            if let Some(cell) = set.cells().iter().position(|cell| cell.id == entry.cell) {
                doubt.observe(cell, &entry, took);
            }
        }
        Ok(Some(doubt))
    }

    /// Takes note of a trial, however it ended.
    pub(crate) fn observe(&mut self, cell: usize, entry: &TrialEntry, took: Duration) {
        self.others
            .retain(|trial| (trial.cell, trial.repetition) != (cell, entry.repetition));
        let seen = self.seen.entry(cell).or_default();
        seen.took += took;
        seen.count += 1;
        if !entry.is_completed() {
            return;
        }
        let value = |metric: &outcrop_measure::Metric| entry.number(metric);
        let figures = Figures::of(&self.set.cells()[cell].factors, value, self.cpus);
        seen.trials.insert(entry.repetition, figures);
        seen.is_compressed_below |= entry
            .notes
            .iter()
            .any(|note| kv::COMPRESSED_BELOW.is_kind_of(note) || kv::COMPRESSION_UNKNOWN.is_kind_of(note));
    }

    /// Whether a trial is still worth its time, `elapsed` after the session's start.
    pub(crate) fn wants(&mut self, trial: &Trial, elapsed: Duration) -> bool {
        if !self.set.cells()[trial.cell].follows_doubt {
            return true;
        }
        if self
            .judged
            .as_ref()
            .is_none_or(|(repetition, _)| *repetition != trial.repetition)
        {
            let next = self.in_doubt(trial.repetition);
            let cost: Duration = next.iter().map(|cell| self.time_of(*cell)).sum();
            let is_over = self.earlier + elapsed + cost + self.rest() > self.follow.budget.0;
            self.is_spent |= is_over && trial.repetition > 0 && !next.is_empty();
            self.judged = Some((trial.repetition, next));
        }
        let (_, next) = self.judged.as_ref().expect("it was judged just now");
        !self.is_spent && next.contains(&trial.cell)
    }

    /// Takes note that a trial that is wanted does not fit into the time of the whole run; whether the budget has ended with that. The first
    /// round is not ended by it: a later session measures what is left of it.
    pub(crate) fn ends_with(&mut self, trial: &Trial) -> bool {
        let ends = self.set.cells()[trial.cell].follows_doubt && trial.repetition > 0;
        self.is_spent |= ends;
        ends
    }

    /// Why no more trials are measured.
    pub(crate) fn end(&self) -> String {
        if self.is_spent {
            format!("the budget of {} is spent", self.follow.budget)
        } else {
            "no cell needs more trials".to_owned()
        }
    }

    /// Whether any of these trials is still worth its time.
    pub(crate) fn wants_any(&mut self, pending: &[Trial]) -> bool {
        pending.iter().any(|trial| self.wants(trial, Duration::ZERO))
    }

    /// Sentences for the cells that stopped since the last call.
    pub(crate) fn news(&mut self) -> Vec<String> {
        let Some((repetition, _)) = self.judged else {
            return Vec::new();
        };
        let (set, follow) = (self.set, self.follow);
        let mut news = Vec::new();
        if self.is_spent && !std::mem::replace(&mut self.is_told, true) {
            let trials: usize = self.seen.values().map(|seen| seen.trials.len()).sum();
            news.push(format!(
                "{} after {trials} trials; a longer budget may decide what is open",
                self.end()
            ));
        }
        for family in self.raced(repetition) {
            let standing = self.standing(&family, repetition);
            let name = |place: usize| set.cells()[family[place]].label();
            for (place, stop) in standing.stops.iter().enumerate() {
                // The base that ratios are against, and what may be it, can be measured although they are not the answer.
                let goes_on = standing.is_still_measured(place);
                if let Some(stop) = stop.filter(|_| !goes_on && self.stopped.insert(family[place])) {
                    let reason = follow.constraints.reason(&stop, name);
                    news.push(format!("{}: no more trials: {reason}", name(place)));
                }
            }
        }
        news
    }

    /// The time that the run will still take at most, and the trials that fit into it.
    pub(crate) fn left(&self, elapsed: Duration) -> (Duration, usize) {
        let fixed = self.rest();
        let is_over = self.is_spent || matches!(&self.judged, Some((_, next)) if next.is_empty());
        if is_over {
            return (fixed, self.others.len());
        }
        let left = self
            .follow
            .budget
            .0
            .saturating_sub(self.earlier + elapsed)
            .max(fixed);
        let next: Vec<usize> = match &self.judged {
            Some((_, next)) => next.iter().copied().collect(),
            None => self.families.iter().flatten().copied().collect(),
        };
        let round: Duration = next.iter().map(|cell| self.time_of(*cell)).sum();
        let rounds = left.saturating_sub(fixed).as_secs_f64() / round.as_secs_f64().max(1e-3);
        (left, self.others.len() + (rounds * next.len() as f64) as usize)
    }

    /// The cells that a repetition measures.
    fn in_doubt(&self, repetition: u32) -> BTreeSet<usize> {
        if repetition == 0 {
            return self.families.iter().flatten().copied().collect();
        }
        let raced = self.raced(repetition);
        if raced.is_empty() {
            // Nothing to compare: as often as the plans say.
            return self.planned(repetition);
        }
        let of_family = |family: &Vec<usize>| {
            let next = self.standing(family, repetition).in_doubt();
            next.into_iter().map(|place| family[place]).collect::<Vec<_>>()
        };
        raced.iter().flat_map(of_family).collect()
    }

    fn planned(&self, repetition: u32) -> BTreeSet<usize> {
        let plans = self.set.plans();
        let is_planned = |cell: &&usize| {
            let names = &self.set.cells()[**cell].plans;
            let mut own = plans.iter().filter(|plan| names.contains(&plan.name));
            own.any(|plan| plan.trial.repetitions > repetition)
        };
        self.families
            .iter()
            .flatten()
            .filter(is_planned)
            .copied()
            .collect()
    }

    fn standing(&self, family: &[usize], rounds: u32) -> Standing {
        let contenders: Vec<Contender> = family.iter().map(|cell| self.contender(*cell)).collect();
        let rules = self.follow.constraints.rules();
        Standing::after(rounds as usize, false, &contenders, &rules)
    }

    fn contender(&self, cell: usize) -> Contender {
        let nothing = BTreeMap::new();
        let trials = self.seen.get(&cell).map_or(&nothing, |seen| &seen.trials);
        kv::contender(self.is_plain(cell), &self.follow.constraints, trials)
    }

    fn is_plain(&self, cell: usize) -> bool {
        let is_compressed_below = self.seen.get(&cell).is_some_and(|seen| seen.is_compressed_below);
        kv::is_plain(&self.set.cells()[cell].factors) && !is_compressed_below
    }

    /// The largest of the families that have figures both with and without compression: those that the answer is about.
    fn raced(&self, rounds: u32) -> Vec<Vec<usize>> {
        // The first two rounds decide, so that the families stay the same from there on.
        let has_figures = |cell: &&usize| {
            let seen = self.seen.get(*cell);
            let mut trials = seen
                .into_iter()
                .flat_map(|seen| seen.trials.range(..rounds.min(2)));
            trials.any(|(_, trial)| trial.throughput.is_some() && trial.stored.is_some())
        };
        let size = |family: &Vec<usize>| {
            let known: Vec<&usize> = family.iter().filter(has_figures).collect();
            let plain = known.iter().filter(|cell| self.is_plain(***cell)).count();
            if plain == 0 || plain == known.len() {
                0
            } else {
                known.len()
            }
        };
        let most = self.families.iter().map(size).max().unwrap_or(0);
        let largest = self
            .families
            .iter()
            .filter(|family| most > 0 && size(family) == most);
        largest.cloned().collect()
    }

    /// What a trial takes: as those before it, else as forecast.
    fn time_of(&self, cell: usize) -> Duration {
        match self.seen.get(&cell) {
            Some(seen) if seen.count > 0 => seen.took / seen.count,
            _ => {
                let cell = &self.set.cells()[cell];
                cell.layer.forecast_trial(cell).time
            }
        }
    }

    fn rest(&self) -> Duration {
        self.others.iter().map(|trial| self.time_of(trial.cell)).sum()
    }
}

/// The CPUs that this process may use, as the run's environment has them.
fn cpus(folder: &RunFolder) -> Option<u64> {
    let environment: Environment = serde_json::from_value(folder.environment().ok()?).ok()?;
    environment.cpu.allowed_cpu_count.known().copied()
}

/// Cells that follow doubt and differ in nothing but how they compress.
fn families(cells: &[Cell]) -> Vec<Vec<usize>> {
    let mut families: Vec<((&Subject, Settings), Vec<usize>)> = Vec::new();
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.follows_doubt) {
        let mut common = cell.factors.clone();
        for factor in IN_WHAT_CANDIDATES_DIFFER {
            common.remove(factor.about());
        }
        let key = (&cell.subject, common);
        match families.iter_mut().find(|(known, _)| *known == key) {
            Some((_, family)) => family.push(index),
            None => families.push((key, vec![index])),
        }
    }
    families.into_iter().map(|(_, family)| family).collect()
}
