//! Which codec and block size: the candidates of a run, and the best of them for three wishes.

use std::cmp::Reverse;

use outcrop_measure::metric::Metric;
use outcrop_schema::compression::{
    BLOCK_COUNT, ByDirection, CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO, COMPRESSION_RATIO_HIGH,
    COMPRESSION_RATIO_LOW, CONTENT, Direction, SAMPLED_SHARE, SPEED, UNCOMPRESSED_BYTES,
};

use super::cell::{CompressionCell, ends};
use super::pairs;
use crate::cell::{Cell, families};
use crate::layer::undecided::add_wide_rivals;
use crate::number::{Number, counted};

/// Ratios nearer than this are one ratio: a header's few bytes.
pub(super) const SAME_RATIO: f64 = 0.0005;
/// A tie with a ratio at least this share of the highest counts as equally small, whatever the sample leaves open.
const AS_SMALL: f64 = 0.995;
/// What is balanced is nearer to both bests than the smallest and the fastest are: at most this many times as far from them.
const NEARER: f64 = 0.95;
/// The balance of what is as far as that from both bests.
const AT_AN_END: f64 = 1.0 - NEARER * std::f64::consts::FRAC_1_SQRT_2;
/// The smallest is as fast as the fastest if that is at most this many times as fast.
const AS_FAST: f64 = 1.05;
/// The fastest is about as small as the smallest if the ratio of that is at most this many times its own.
const ABOUT_AS_SMALL: f64 = 1.02;
/// A codec that saves less than this does not compress the data.
pub(super) const LEAST_RATIO: f64 = 1.02;

/// A cell that may be recommended: it has a ratio and both speeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'c, 'a> {
    pub(super) cell: &'c Cell<'a>,
    pub(super) ratio: f64,
    pub(super) speed: ByDirection<&'c Number>,
}

/// Cells that differ in codec and block size only. The largest such set, natural content and fewest threads first.
pub(super) fn candidates<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<Candidate<'c, 'a>> {
    let able = cells.iter().filter(|cell| Candidate::of(cell).is_some());
    let sets = families(able, &[&CODEC, &COMPRESSION_BLOCK_SIZE]);
    let best = sets.into_iter().max_by_key(|set| {
        let first = set.first();
        let is_natural = first.is_some_and(|cell| cell.is_natural());
        let threads = first.map(|cell| cell.threads());
        (set.len() > 1, is_natural, set.len(), Reverse(threads))
    });
    best.into_iter().flatten().filter_map(Candidate::of).collect()
}

/// The candidates without those whose larger size cut the data into the very blocks of a smaller one: they are the same measurement.
pub(super) fn distinct<'c, 'a>(candidates: &[Candidate<'c, 'a>]) -> Vec<Candidate<'c, 'a>> {
    let is_own = |one: &&Candidate<'_, '_>| !candidates.iter().any(|other| one.repeats(other));
    candidates.iter().filter(is_own).copied().collect()
}

impl<'c, 'a> Candidate<'c, 'a> {
    fn of(cell: &'c Cell<'a>) -> Option<Self> {
        let speed = ByDirection {
            compress: cell.number(&SPEED.compress)?,
            decompress: cell.number(&SPEED.decompress)?,
        };
        let ratio = cell.value(&COMPRESSION_RATIO)?;
        cell.is_plain().then_some(Self { cell, ratio, speed })
    }

    /// Whether it makes this data smaller at all.
    pub(super) fn compresses(&self) -> bool {
        !self.cell.is_copy() && self.ratio >= LEAST_RATIO
    }

    /// Whether it compressed the same blocks as another whose size is smaller, because no file is as long as either.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let same = |metric: &Metric| {
            let values = self.cell.value(metric).zip(other.cell.value(metric));
            values.is_some_and(|(own, others)| own == others)
        };
        self.cell.size_bytes() > other.cell.size_bytes()
            && self.cell.spelling(&CODEC) == other.cell.spelling(&CODEC)
            && [UNCOMPRESSED_BYTES, BLOCK_COUNT, COMPRESSION_RATIO]
                .iter()
                .all(same)
    }

    /// Ratio and both speeds: `2.31, 320 MB/s in, 900 MB/s out`; a speed that is known too badly is left out.
    pub(super) fn figures(&self) -> String {
        let ByDirection { compress, decompress } = self.speed;
        let speeds = match (compress.told_beside(), decompress.told_beside()) {
            (Some(compress), Some(decompress)) => format!("{compress} in, {decompress} out"),
            (Some(compress), None) => format!("{compress} in, decompression speed not decided"),
            (None, Some(decompress)) => format!("compression speed not decided, {decompress} out"),
            (None, None) => "speeds not decided".to_owned(),
        };
        let ends = self
            .cell
            .number(&COMPRESSION_RATIO)
            .filter(|number| number.is_wide());
        let ends = ends.and_then(Number::ends_in_parentheses);
        let ends = ends.map_or_else(String::new, |ends| format!(" {ends}"));
        format!("{:.2}{ends}, {speeds}", self.ratio)
    }

    /// The numbers that its figures state, each named with the cell.
    pub(super) fn stated(&self) -> Vec<Number> {
        let words = self.cell.words();
        let ratio = self.cell.number(&COMPRESSION_RATIO);
        let all = ratio
            .into_iter()
            .chain([self.speed.compress, self.speed.decompress]);
        let stated = all.filter(|number| number.told_beside().is_some());
        stated
            .map(|number| number.clone().named(format!("{} of {words}", number.name)))
            .collect()
    }

    /// How many times as fast it is as another, through both directions, by the medians.
    pub(super) fn speed_over(&self, other: &Self) -> f64 {
        self.round_trip().value / other.round_trip().value
    }

    /// Uncompressed bytes a second through both directions, one after the other: at the medians, and from the low to
    /// the high ends of both intervals.
    fn round_trip(&self) -> Score {
        let both = |compress: f64, decompress: f64| 1.0 / (1.0 / compress + 1.0 / decompress);
        let ByDirection { compress, decompress } = self.speed;
        Score {
            value: both(compress.value, decompress.value),
            low: both(ends(compress).0, ends(decompress).0),
            high: both(ends(compress).1, ends(decompress).1),
        }
    }

    /// The ratio, with the interval of the ratio of all the data where only a sample was taken; one without bounds where the sample
    /// supports none.
    fn ratio_score(&self) -> Score {
        let end = |metric: &Metric, unknown: f64| match self.is_sampled() {
            true => self.cell.value(metric).unwrap_or(unknown),
            false => self.ratio,
        };
        Score {
            value: self.ratio,
            low: end(&COMPRESSION_RATIO_LOW, 0.0) * (1.0 - SAME_RATIO / 2.0),
            high: end(&COMPRESSION_RATIO_HIGH, f64::INFINITY) * (1.0 + SAME_RATIO / 2.0),
        }
    }

    /// Whether only a part of the data was taken.
    pub(super) fn is_sampled(&self) -> bool {
        self.cell.value(&SAMPLED_SHARE).is_some_and(|share| share < 1.0)
    }

    /// Its ratio over that of another: the 95 % interval for all the data; one point where all of them were taken.
    /// None where the two did not compress the same bytes, or the sample supports no interval.
    pub(super) fn gain_over(&self, other: &Self) -> Option<(f64, f64)> {
        if !self.is_sampled() && !other.is_sampled() {
            let gain = self.ratio / other.ratio;
            return Some((gain, gain));
        }
        pairs::quotient_of_sizes(self.cell, other.cell)
    }

    /// Whether it surely compresses all the data better than another, by more than a header's bytes: by the same clusters where both
    /// compressed them, or else by the intervals of the two.
    pub(super) fn is_surely_smaller(&self, other: &Self) -> bool {
        match self.gain_over(other) {
            Some((low, _)) => low > 1.0 + SAME_RATIO,
            None => self.ratio_score().low > other.ratio_score().high,
        }
    }

    /// Whether its ratio surely is that of another, but for a header's bytes.
    pub(super) fn is_surely_as_small(&self, other: &Self) -> bool {
        let same = (1.0 - SAME_RATIO)..=(1.0 + SAME_RATIO);
        let gain = self.gain_over(other);
        gain.is_some_and(|(low, high)| same.contains(&low) && same.contains(&high))
    }

    /// The numbers that a wish is decided by: what is wide elsewhere is no doubt about it.
    pub(super) fn decisive(&self, wish: Wish) -> Vec<Number> {
        match wish {
            Wish::Smallest => self
                .cell
                .number(&COMPRESSION_RATIO)
                .cloned()
                .into_iter()
                .collect(),
            Wish::Balanced | Wish::Fastest => {
                vec![self.speed.compress.clone(), self.speed.decompress.clone()]
            }
        }
    }
}

/// What somebody may want most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// The highest ratio.
    Smallest,
    /// Nearest to the best ratio and the best speed at once.
    Balanced,
    /// The most bytes a second through both directions.
    Fastest,
}

impl Wish {
    /// All three, in the order of the page.
    pub(super) const ALL: [Self; 3] = [Self::Smallest, Self::Balanced, Self::Fastest];

    /// Its name, the topic of the claim about it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Smallest => "Smallest",
            Self::Balanced => "Balanced",
            Self::Fastest => "Fastest",
        }
    }

    fn score(self, one: &Candidate<'_, '_>, scale: &[Candidate<'_, '_>]) -> Score {
        match self {
            Self::Smallest => one.ratio_score(),
            Self::Fastest => one.round_trip(),
            Self::Balanced => balance(one, scale),
        }
    }
}

/// A score, the higher the better, with the range that the intervals leave it.
#[derive(Clone, Copy, Debug)]
struct Score {
    value: f64,
    low: f64,
    high: f64,
}

/// The best candidate for a wish, and those that it cannot be told from.
#[derive(Clone, Debug)]
pub(super) struct Choice<'c, 'a> {
    pub(super) wish: Wish,
    pub(super) best: Candidate<'c, 'a>,
    /// Candidates that the data do not tell from the best one, the nearest first: their intervals overlap. For the size: those that no other
    /// candidate surely beats, so that none of them surely beats another.
    pub(super) ties: Vec<Candidate<'c, 'a>>,
    /// The best one that is no tie.
    pub(super) next: Option<Candidate<'c, 'a>>,
}

impl Choice<'_, '_> {
    /// Adds the speeds of ties that are known too badly to decide anything and may be those of the best: of these the choice is not decided. How
    /// many bytes come out is known of all.
    pub(super) fn add_wide_ties(&self, numbers: &mut Vec<Number>) {
        if self.wish == Wish::Smallest {
            return;
        }
        for direction in Direction::ALL {
            let speeds = self.ties.iter().map(|one| {
                let number = one.speed.of(direction);
                (format!("{} of {}", number.name, one.cell.words()), number)
            });
            add_wide_rivals(numbers, speeds, self.best.speed.of(direction));
        }
    }
}

/// The best candidate for each wish; empty where nothing compresses. Nothing is balanced where no candidate is nearer to both bests than the
/// smallest and the fastest are, as with two codecs of which each is best in one, and neither of these is as good as the other in what it is not
/// the best in.
pub(super) fn choices<'c, 'a>(candidates: &[Candidate<'c, 'a>]) -> Vec<Choice<'c, 'a>> {
    let able: Vec<_> = candidates.iter().copied().filter(Candidate::compresses).collect();
    let choices = Wish::ALL.into_iter();
    let mut choices: Vec<_> = choices.filter_map(|wish| choose(wish, &able)).collect();
    if let [smallest, fastest] = &choices[..]
        && let Some(balanced) = of_ends(smallest, fastest)
    {
        choices.insert(1, balanced);
    }
    choices
}

/// Of the smallest and the fastest, the one that is about as good as the other in what that one is best in.
fn of_ends<'c, 'a>(smallest: &Choice<'c, 'a>, fastest: &Choice<'c, 'a>) -> Option<Choice<'c, 'a>> {
    let (small, fast) = (smallest.best, fastest.best);
    let is = |one: &Candidate<'_, '_>, other: &Candidate<'_, '_>| std::ptr::eq(one.cell, other.cell);
    let is_one = is(&small, &fast);
    let is_tie = fastest.ties.iter().any(|tie| is(tie, &small));
    let is_as_fast = is_one || is_tie || fast.speed_over(&small) <= AS_FAST;
    let is_about_as_small = fast.ratio * ABOUT_AS_SMALL >= small.ratio;
    let (best, other) = match (is_as_fast, is_about_as_small) {
        (true, _) => (small, fast),
        (false, true) => (fast, small),
        (false, false) => return None,
    };
    let (ties, next) = match (is_one, is_tie) {
        (true, _) => (fastest.ties.clone(), fastest.next),
        (false, true) => (vec![other], fastest.next),
        (false, false) => (Vec::new(), Some(other)),
    };
    Some(Choice {
        wish: Wish::Balanced,
        best,
        ties,
        next,
    })
}

fn choose<'c, 'a>(wish: Wish, able: &[Candidate<'c, 'a>]) -> Option<Choice<'c, 'a>> {
    let scale = scale(able);
    let mut scored: Vec<_> = able.iter().map(|one| (wish.score(one, &scale), *one)).collect();
    // Of equal scores the faster one: a ratio is often the same to the byte.
    scored.sort_by(|(one, first), (other, second)| {
        let by_score = other.value.total_cmp(&one.value);
        by_score.then(second.round_trip().value.total_cmp(&first.round_trip().value))
    });
    let ((top, best), rest) = scored.split_first()?;
    if wish == Wish::Balanced && top.value <= AT_AN_END {
        return None;
    }
    let is_tie = |(score, one): &&(Score, Candidate<'_, '_>)| match wish {
        // What shares no clusters with the best one may share them with another that beats it.
        Wish::Smallest => !able.iter().any(|other| other.is_surely_smaller(one)),
        Wish::Balanced | Wish::Fastest => score.low <= top.high && top.low <= score.high,
    };
    let (ties, others): (Vec<_>, Vec<_>) = rest.iter().partition(is_tie);
    let mut ties: Vec<_> = ties.into_iter().map(|(_, one)| one).collect();
    let mut best = *best;
    // Of those that are equally small as far as the data tell, nobody wants a slower one.
    if wish == Wish::Smallest
        && let Some(faster) = fastest(&ties, best)
    {
        std::mem::swap(&mut best, &mut ties[faster]);
    }
    Some(Choice {
        wish,
        best,
        ties,
        next: others.first().map(|(_, one)| *one),
    })
}

/// The place of the fastest of some candidates, where it surely is faster than a given one.
fn fastest(ties: &[Candidate<'_, '_>], than: Candidate<'_, '_>) -> Option<usize> {
    let speed = |place: &usize| ties[*place].round_trip();
    let as_small = |place: &usize| ties[*place].ratio >= than.ratio * AS_SMALL;
    let as_small = (0..ties.len()).filter(as_small);
    let surely = as_small.filter(|place| speed(place).low > than.round_trip().high);
    surely.max_by(|one, other| speed(one).value.total_cmp(&speed(other).value))
}

/// What a balance is measured on: those that no other beats in both ratio and speed, by the medians; all where one beats the others.
fn scale<'c, 'a>(able: &[Candidate<'c, 'a>]) -> Vec<Candidate<'c, 'a>> {
    let is_beaten = |one: &&Candidate<'_, '_>| {
        able.iter().any(|other| {
            let (ratio, speed) = (other.ratio / one.ratio, other.speed_over(one));
            ratio >= 1.0 && speed >= 1.0 && (ratio > 1.0 || speed > 1.0)
        })
    };
    let front: Vec<_> = able.iter().filter(|one| !is_beaten(one)).copied().collect();
    if front.len() > 1 { front } else { able.to_vec() }
}

/// How near a candidate comes to the best ratio and the best speed, each on a logarithmic scale from its worst candidate (0) to its best (1);
/// the score is 1 minus the distance to (1, 1), over √2.
fn balance(one: &Candidate<'_, '_>, scale: &[Candidate<'_, '_>]) -> Score {
    let place = |value: f64, of: fn(&Candidate<'_, '_>) -> f64| {
        let logs = || scale.iter().map(|other| of(other).ln());
        let low = logs().fold(f64::INFINITY, f64::min);
        let high = logs().fold(f64::NEG_INFINITY, f64::max);
        if high > low {
            (value.ln() - low) / (high - low)
        } else if value.ln() < low {
            0.0
        } else {
            1.0
        }
    };
    let ratio = place(one.ratio, |other| other.ratio);
    let score_at = |speed: f64| {
        let missing = (1.0 - ratio).hypot(1.0 - place(speed, |other| other.round_trip().value));
        1.0 - missing / 2.0_f64.sqrt()
    };
    let speed = one.round_trip();
    Score {
        value: score_at(speed.value),
        low: score_at(speed.low),
        high: score_at(speed.high),
    }
}

/// What the candidates have in common, in words: `sample 2.93 MB, 1 thread, contexts reused, caches warm`.
pub(super) fn held_fixed(candidates: &[Candidate<'_, '_>]) -> Option<String> {
    let cell = candidates.first()?.cell;
    let threads = counted(cell.threads() as usize, "thread");
    Some(format!("{}, {threads}, {}", data_of(cell), CONDITIONS))
}

/// The conditions of every candidate.
pub(super) const CONDITIONS: &str = "contexts reused, caches warm";

/// What a cell compresses: `sample 2.93 MB, content natural:6`.
pub(super) fn data_of(cell: &Cell<'_>) -> String {
    match cell.is_natural() {
        true => cell.subject().to_owned(),
        false => format!("{}, content {}", cell.subject(), cell.spelling(&CONTENT)),
    }
}
