//! Effort that follows doubt: which of several contenders still need trials before one can be called the best, and which do not.
//!
//! Contenders are measured in rounds, one trial of each that is still in the race. The best is the one that saves the most space among those
//! whose throughput is within a margin of the highest. Throughputs are compared by the logarithms of their ratios within rounds, so that
//! what drifts from round to round cancels. After certain rounds, the looks, each ordered pair of contenders gets an upper bound on that
//! ratio (Student's t). All bounds of all looks hold together with [`CONFIDENCE`], so that it does no harm to look often and to stop early.
//!
//! It is a pure function of what was observed: [`Standing::after`] replays all looks, first time, resumed or in a report.
//!
//! *Source*: O. Maron, A. Moore, "The Racing Algorithm", Artificial Intelligence Review 11, 1997 (races; blocks of paired trials); E. Even-Dar,
//! S. Mannor, Y. Mansour, "Action Elimination and Stopping Conditions", JMLR 7, 2006 (successive elimination); S. Pocock, Biometrika
//! 64(2), 1977 (a bounded number of looks); S. Holm, Scandinavian Journal of Statistics 6(2), 1979 (pairs that are decided no longer count).

mod base;
mod bounds;

use base::{base, median_of, plain};
use bounds::Bounds;

/// Confidence that no bound of any look is wrong.
pub const CONFIDENCE: f64 = 0.95;
/// Rounds after which the race is judged. There are no more: each look costs a share of the error that may be made.
pub const LOOKS: [usize; 9] = [5, 7, 10, 14, 20, 28, 40, 56, 80];
/// Rounds that a race has at most.
pub const MOST_ROUNDS: usize = LOOKS[LOOKS.len() - 1];
/// Rounds in which a contender has to be measured once: one trial may fail by chance.
const CHANCES: usize = 2;

/// One of those that are compared. What it lacks was not measured in that round, or could not be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contender {
    /// Throughput by round.
    pub throughput: Vec<Option<f64>>,
    /// Bytes stored by round; the saving is the median of [`Standing::base`] over that of each.
    pub stored: Vec<Option<f64>>,
    /// The same without what does not grow with the data, by round; empty where that is nothing. What saves too little by `stored` alone
    /// stays in the race.
    pub least_stored: Vec<Option<f64>>,
    /// For each limit of the rules, by round, what is limited.
    pub limited: Vec<Vec<Option<f64>>>,
    /// Whether it compresses nothing.
    pub is_plain: bool,
}

/// What makes a contender the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// A throughput that is lower by at most this share counts as the same.
    pub margin: f64,
    /// So does a saving.
    pub same_saving: f64,
    /// Least saving, as a ratio.
    pub least_saving: Option<f64>,
    /// The most of each limited quantity.
    pub limits: Vec<f64>,
}

/// Why a contender gets no more trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// Its first two rounds gave no throughput, or no bytes stored.
    NotMeasured,
    /// It saves less than the rules want.
    SavesTooLittle {
        /// The ratio.
        saving: f64,
    },
    /// It breaks a limit.
    BreaksLimit {
        /// Which of the rules' limits.
        limit: usize,
        /// It is at least this.
        at_least: f64,
    },
    /// It cannot be the best: its throughput is beyond the margin below that of another.
    TooSlow {
        /// The other.
        than: usize,
        /// Its throughput is at most this share of the other's.
        at_most: f64,
    },
    /// It cannot be the best: another one's throughput ties with the highest, and that one saves more.
    SavesLess {
        /// The other.
        than: usize,
        /// Its throughput is at most this share of the other's.
        at_most: f64,
    },
}

/// What is known after some rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Why each contender gets no more trials; `None` while it may still be the best.
    pub stops: Vec<Option<Stop>>,
    /// Those that are clearly best: throughput within the margin of the highest, and nothing that saves more has that. More than one
    /// only where their savings are the same.
    pub clear: Vec<usize>,
    /// The ratio of space without compression to that of each, so far.
    pub savings: Vec<Option<f64>>,
    /// The plain contender that all savings are against: what one has otherwise. It is the fastest by its median so far, of those whose
    /// medians keep the limits where any do. What a look has shown to be slower than another plain one is none.
    pub base: Option<usize>,
    /// Plain contenders that no look has shown not to be the base.
    pub bases: Vec<usize>,
    /// Plain contenders that another round measures although they save too little: which of them is the base is open, and matters.
    pub held: Vec<usize>,
    /// Looks that were taken.
    pub looks: usize,
}

impl Standing {
    /// What is known after `rounds` whole rounds. With `is_last` there is a look after the last of them in any case.
    pub fn after(rounds: usize, is_last: bool, contenders: &[Contender], rules: &Rules) -> Self {
        let mut looks: Vec<usize> = LOOKS.into_iter().filter(|look| *look <= rounds).collect();
        if is_last && rounds > LOOKS[0] && rounds < MOST_ROUNDS && looks.last() != Some(&rounds) {
            looks.push(rounds);
        }
        let share = (1.0 - CONFIDENCE) / LOOKS.len() as f64;
        Self::by(rounds, &looks, share, contenders, rules)
    }

    /// What equal effort knows: all contenders have these rounds, whose number was fixed before, and there is one look at their end.
    pub fn of_equal_effort(rounds: usize, contenders: &[Contender], rules: &Rules) -> Self {
        Self::by(rounds, &[rounds], 1.0 - CONFIDENCE, contenders, rules)
    }

    fn by(rounds: usize, looks: &[usize], share: f64, contenders: &[Contender], rules: &Rules) -> Self {
        let mut race = Race {
            contenders,
            rules,
            bounds: Bounds::new(contenders.len(), rules.limits.len(), share),
            stops: vec![None; contenders.len()],
            clear: Vec::new(),
            savings: vec![None; contenders.len()],
            of_more_data: vec![None; contenders.len()],
            bases: Vec::new(),
        };
        for round in 1..=rounds.min(CHANCES) {
            race.begin(round);
        }
        for look in looks {
            race.look(*look);
        }
        let base = base(contenders, rules, &race.bases);
        Self {
            held: race.held(),
            savings: race.savings_against(base, rounds),
            stops: race.stops,
            clear: race.clear,
            bases: race.bases,
            base,
            looks: looks.len(),
        }
    }

    /// Whether more trials can change nothing.
    pub fn is_decided(&self) -> bool {
        !self.clear.is_empty() || self.stops.iter().all(Option::is_some)
    }

    /// Those that another round measures; none where the race is decided.
    pub fn in_doubt(&self) -> Vec<usize> {
        if self.is_decided() {
            return Vec::new();
        }
        (0..self.stops.len())
            .filter(|index| self.is_still_measured(*index))
            .collect()
    }

    /// Whether the next round, if there is one, measures it: it may be the best, it may be the base, or it is the base and saves less than the
    /// rules want. Such a base cannot win and is not judged; it gets as many trials as its rivals because the cost of compression is measured
    /// against it.
    pub fn is_still_measured(&self, index: usize) -> bool {
        match self.stops[index] {
            None => true,
            Some(Stop::SavesTooLittle { .. }) if self.base == Some(index) => true,
            Some(_) => self.held.contains(&index),
        }
    }

    /// How many may still be the best; none where the race is decided.
    pub fn open(&self) -> usize {
        match self.is_decided() {
            true => 0,
            false => self.stops.iter().filter(|stop| stop.is_none()).count(),
        }
    }
}

/// The saving of a contender against each plain one that may be the base.
#[derive(Clone, Copy, Debug)]
struct Saving {
    least: f64,
    most: f64,
}

struct Race<'r> {
    contenders: &'r [Contender],
    rules: &'r Rules,
    bounds: Bounds,
    stops: Vec<Option<Stop>>,
    clear: Vec<usize>,
    savings: Vec<Option<Saving>>,
    /// The same of more data.
    of_more_data: Vec<Option<Saving>>,
    /// Plain contenders that may be the base: one noisy trial does not choose between them, bounds do.
    bases: Vec<usize>,
}

impl Race<'_> {
    /// What saves too little against every possible base needs one trial, and what could not be measured two.
    fn begin(&mut self, rounds: usize) {
        self.bases = plain(self.contenders)
            .filter(|index| median_of(&self.contenders[*index].stored, rounds).is_some())
            .collect();
        self.weigh(rounds);
        for index in self.open() {
            let mut throughputs = self.contenders[index].throughput.iter().take(rounds);
            let is_measured = throughputs.any(Option::is_some) && self.savings[index].is_some();
            self.stops[index] = match rounds >= CHANCES && !is_measured {
                true => Some(Stop::NotMeasured),
                false => self.saves_too_little(index),
            };
        }
    }

    fn weigh(&mut self, rounds: usize) {
        self.savings = self.savings(rounds, |one| &one.stored);
        self.of_more_data = self.savings(rounds, |one| match one.least_stored.as_slice() {
            [] => &one.stored,
            _ => &one.least_stored,
        });
    }

    /// Whether it does against every possible base, and of more data too.
    fn saves_too_little(&self, index: usize) -> Option<Stop> {
        let (saving, of_more_data) = self.savings[index].zip(self.of_more_data[index])?;
        let most = saving.most.max(of_more_data.most);
        // What is near the limit may be beyond it in the next trial.
        let is_below = |least: f64| most * (1.0 + self.rules.same_saving) < least;
        let stop = Stop::SavesTooLittle { saving: saving.most };
        self.rules.least_saving.is_some_and(is_below).then_some(stop)
    }

    /// The space of each possible base over that of each contender, by the medians of some rounds.
    fn savings(
        &self,
        rounds: usize,
        stored_by_round: fn(&Contender) -> &Vec<Option<f64>>,
    ) -> Vec<Option<Saving>> {
        let stored = |one: &Contender| median_of(stored_by_round(one), rounds);
        let bases = self
            .bases
            .iter()
            .filter_map(|base| stored(&self.contenders[*base]));
        let bases: Vec<f64> = bases.collect();
        let smallest = bases.iter().copied().reduce(f64::min);
        let largest = bases.iter().copied().reduce(f64::max);
        let saving = |one: &Contender| {
            let own = stored(one)?;
            let (least, most) = match one.is_plain {
                true => (1.0, 1.0),
                false => (smallest? / own, largest? / own),
            };
            Some(Saving { least, most })
        };
        self.contenders.iter().map(saving).collect()
    }

    /// The same against the one that is the base so far.
    fn savings_against(&self, base: Option<usize>, rounds: usize) -> Vec<Option<f64>> {
        let stored = |one: &Contender| median_of(&one.stored, rounds);
        let of_base = base.and_then(|base| stored(&self.contenders[base]));
        let saving = |one: &Contender| match one.is_plain {
            true => stored(one).map(|_| 1.0),
            false => Some(of_base? / stored(one)?),
        };
        self.contenders.iter().map(saving).collect()
    }

    /// Plain contenders that are measured on although they save too little: those that may be the base, while something saves enough against one
    /// of them and not against another.
    fn held(&self) -> Vec<usize> {
        let depends = |index: usize| {
            let (saving, wanted) = self.savings[index].zip(self.rules.least_saving)?;
            Some(saving.least < wanted && wanted <= saving.most)
        };
        match self.open().into_iter().any(|index| depends(index) == Some(true)) {
            true => self.bases.clone(),
            false => Vec::new(),
        }
    }

    /// Drops what cannot be the base: another one surely is instead.
    fn narrow_bases(&mut self) {
        let is_base_instead = |other: usize, one: usize| {
            let mut limits = self.rules.limits.iter().enumerate();
            let keeps = limits
                .clone()
                .all(|(limit, most)| self.bounds.most(other, limit) <= *most);
            let breaks = limits.any(|(limit, most)| self.bounds.least(one, limit) > *most);
            let is_slower = self.bounds.ratio_at_most(one, other) < 1.0;
            // The other is faster, or keeps the limits and this one does not: any two of these say so.
            [keeps, breaks, is_slower]
                .into_iter()
                .filter(|holds| *holds)
                .count()
                > 1
        };
        let may_be = |one: &usize| !self.bases.iter().any(|other| is_base_instead(*other, *one));
        self.bases = self.bases.iter().copied().filter(may_be).collect();
    }

    fn look(&mut self, rounds: usize) {
        if !self.clear.is_empty() {
            return;
        }
        let open = self.open();
        let held = self.held();
        let is_measured = |index: &usize| open.contains(index) || held.contains(index);
        let measured: Vec<usize> = (0..self.stops.len()).filter(is_measured).collect();
        self.bounds.look(self.contenders, &measured, rounds);
        self.narrow_bases();
        self.weigh(rounds);
        for &index in &open {
            let stop = self.saves_too_little(index).or_else(|| self.breaks_limit(index));
            self.stops[index] = stop.or_else(|| self.too_slow(index, &open));
        }
        let settled: Vec<usize> = self
            .open()
            .into_iter()
            .filter(|index| self.is_settled(*index))
            .collect();
        let is_best = |index: &usize| {
            let mut open = self.open().into_iter();
            self.saves_enough(*index) && !open.any(|other| self.may_save_more(other, *index))
        };
        self.clear = settled.iter().copied().filter(is_best).collect();
        for index in self.open() {
            self.stops[index] = self.saves_less(index, &settled);
        }
    }

    /// Those that may still be the best.
    fn open(&self) -> Vec<usize> {
        let is_open = |index: &usize| self.stops[*index].is_none();
        (0..self.stops.len()).filter(is_open).collect()
    }

    fn margin(&self) -> f64 {
        1.0 - self.rules.margin
    }

    fn breaks_limit(&self, index: usize) -> Option<Stop> {
        let mut limits = self.rules.limits.iter().enumerate();
        limits.find_map(|(limit, most)| {
            let at_least = self.bounds.least(index, limit);
            (at_least > *most).then_some(Stop::BreaksLimit { limit, at_least })
        })
    }

    /// Whether it meets all limits and the least saving for sure, so that others can be measured by it.
    fn is_allowed(&self, index: usize) -> bool {
        let mut limits = self.rules.limits.iter().enumerate();
        self.saves_enough(index) && limits.all(|(limit, most)| self.bounds.most(index, limit) <= *most)
    }

    fn saves_enough(&self, index: usize) -> bool {
        let least = self.rules.least_saving;
        least.is_none_or(|least| self.savings[index].is_some_and(|saving| saving.least >= least))
    }

    fn too_slow(&self, index: usize, open: &[usize]) -> Option<Stop> {
        let others = open
            .iter()
            .filter(|other| **other != index && self.is_allowed(**other));
        let least = others
            .map(|other| (*other, self.bounds.ratio_at_most(index, *other)))
            .min_by(|one, other| one.1.total_cmp(&other.1))?;
        let (than, at_most) = least;
        (at_most < self.margin()).then_some(Stop::TooSlow { than, at_most })
    }

    /// Whether its throughput is within the margin of everything that may be the fastest, and it is allowed.
    fn is_settled(&self, index: usize) -> bool {
        let others = (0..self.stops.len()).filter(|other| *other != index);
        let mut may_be_fastest =
            others.filter(|other| matches!(self.stops[*other], None | Some(Stop::SavesLess { .. })));
        self.is_allowed(index) && may_be_fastest.all(|other| self.ties(index, other))
    }

    /// Whether one throughput is within the margin of another, or higher.
    fn ties(&self, one: usize, other: usize) -> bool {
        self.bounds.ratio_at_most(other, one) * self.margin() <= 1.0
    }

    /// Whether one saves more than another against the smallest of the possible bases, and against the largest: between two that compress
    /// the base makes no difference.
    fn saves_more(&self, one: usize, other: usize) -> [bool; 2] {
        [|saving: Saving| saving.least, |saving: Saving| saving.most].map(|against| {
            let saving = |index: usize| self.savings[index].map_or(0.0, against);
            saving(one) > saving(other) * (1.0 + self.rules.same_saving)
        })
    }

    fn may_save_more(&self, one: usize, other: usize) -> bool {
        self.saves_more(one, other).contains(&true)
    }

    /// It is not the best where a settled one saves more; and nobody needs to be measured by it where all others tie with it.
    fn saves_less(&self, index: usize, settled: &[usize]) -> Option<Stop> {
        let mut others = self.clear.iter().chain(settled);
        let than = *others.find(|other| self.saves_more(**other, index) == [true; 2])?;
        let mut others = self.open().into_iter().filter(|other| *other != index);
        others
            .all(|other| self.ties(other, index))
            .then(|| Stop::SavesLess {
                than,
                at_most: self.bounds.ratio_at_most(index, than),
            })
    }
}
