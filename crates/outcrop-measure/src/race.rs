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

mod bounds;

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
    /// medians keep the limits where any do.
    pub base: Option<usize>,
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
        };
        for round in 1..=rounds.min(CHANCES) {
            race.begin(round);
        }
        for look in looks {
            race.look(*look);
        }
        Self {
            stops: race.stops,
            clear: race.clear,
            savings: race.savings,
            base: base(contenders, usize::MAX, rules),
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
        let stops = self.stops.iter().enumerate();
        stops
            .filter(|(_, stop)| stop.is_none())
            .map(|(index, _)| index)
            .collect()
    }
}

struct Race<'r> {
    contenders: &'r [Contender],
    rules: &'r Rules,
    bounds: Bounds,
    stops: Vec<Option<Stop>>,
    clear: Vec<usize>,
    savings: Vec<Option<f64>>,
}

impl Race<'_> {
    /// What saves too little needs one trial, and what could not be measured two.
    fn begin(&mut self, rounds: usize) {
        self.savings = self.savings(rounds, |one| &one.stored);
        let of_more_data = self.savings(rounds, |one| match one.least_stored.as_slice() {
            [] => &one.stored,
            _ => &one.least_stored,
        });
        for index in self.open() {
            let most = self.savings[index].zip(of_more_data[index]);
            let most = most.map(|(one, other)| one.max(other));
            let mut throughputs = self.contenders[index].throughput.iter().take(rounds);
            let is_measured = throughputs.any(Option::is_some) && self.savings[index].is_some();
            self.stops[index] = match (most, self.rules.least_saving) {
                _ if rounds >= CHANCES && !is_measured => Some(Stop::NotMeasured),
                // What is near the limit may be beyond it in the next trial.
                (Some(most), Some(least)) if most * (1.0 + self.rules.same_saving) < least => {
                    let saving = self.savings[index].unwrap_or(most);
                    Some(Stop::SavesTooLittle { saving })
                }
                _ => None,
            };
        }
    }

    /// The space of the base over that of each, by the medians of some rounds.
    fn savings(
        &self,
        rounds: usize,
        stored_by_round: fn(&Contender) -> &Vec<Option<f64>>,
    ) -> Vec<Option<f64>> {
        let stored = |one: &Contender| median_of(stored_by_round(one), rounds);
        let base = base(self.contenders, rounds, self.rules).and_then(|base| stored(&self.contenders[base]));
        let saving = |one: &Contender| match one.is_plain {
            true => stored(one).map(|_| 1.0),
            false => Some(base? / stored(one)?),
        };
        self.contenders.iter().map(saving).collect()
    }

    fn look(&mut self, rounds: usize) {
        if !self.clear.is_empty() {
            return;
        }
        let open = self.open();
        self.savings = self.savings(rounds, |one| &one.stored);
        self.bounds.look(self.contenders, &open, rounds);
        for &index in &open {
            self.stops[index] = self.breaks_limit(index).or_else(|| self.too_slow(index, &open));
        }
        let settled: Vec<usize> = self
            .open()
            .into_iter()
            .filter(|index| self.is_settled(*index))
            .collect();
        let is_best = |index: &usize| {
            let mut open = self.open().into_iter();
            self.saves_enough(*index) && !open.any(|other| self.saves_more(other, *index))
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
        least.is_none_or(|least| self.savings[index].is_some_and(|saving| saving >= least))
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

    fn saves_more(&self, one: usize, other: usize) -> bool {
        let saving = |index: usize| self.savings[index].unwrap_or(0.0);
        saving(one) > saving(other) * (1.0 + self.rules.same_saving)
    }

    /// It is not the best where a settled one saves more; and nobody needs to be measured by it where all others tie with it.
    fn saves_less(&self, index: usize, settled: &[usize]) -> Option<Stop> {
        let mut others = self.clear.iter().chain(settled);
        let than = *others.find(|other| self.saves_more(**other, index))?;
        let mut others = self.open().into_iter().filter(|other| *other != index);
        others
            .all(|other| self.ties(other, index))
            .then(|| Stop::SavesLess {
                than,
                at_most: self.bounds.ratio_at_most(index, than),
            })
    }
}

/// The plain contender that savings are against, by the medians of some rounds.
fn base(contenders: &[Contender], rounds: usize, rules: &Rules) -> Option<usize> {
    let keeps = |one: &Contender| {
        let mut limits = one.limited.iter().zip(&rules.limits);
        limits.all(|(values, most)| median_of(values, rounds).is_some_and(|value| value <= *most))
    };
    let plain = contenders.iter().enumerate().filter(|(_, one)| one.is_plain);
    let known = plain.filter_map(|(index, one)| {
        median_of(&one.stored, rounds)?;
        let throughput = median_of(&one.throughput, rounds).unwrap_or(0.0);
        Some((keeps(one), throughput, index))
    });
    // The first among equals.
    let best = known.reduce(|best, next| match (next.0, next.1) > (best.0, best.1) {
        true => next,
        false => best,
    });
    best.map(|(.., index)| index)
}

/// The median of what some rounds gave; what is not above 0 was not measured.
fn median_of(by_round: &[Option<f64>], rounds: usize) -> Option<f64> {
    let known = by_round.iter().take(rounds).flatten().copied();
    median(known.filter(|value| *value > 0.0).collect())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}
