//! Which codec and block size: the candidates of a run, their front, and the best of them for three wishes.

use std::collections::BTreeMap;

use outcrop_measure::metric::Better;

use super::cell::{Cell, Content, Direction};
use crate::chart::pareto_front;
use crate::number::{Number, counted};

/// Ratios nearer than this are one ratio: a header's few bytes.
const SAME_RATIO: f64 = 0.0005;
/// A codec that saves less than this does not compress the data.
const LEAST_RATIO: f64 = 1.02;

/// A cell that may be recommended: it has a ratio and both speeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'c, 'a> {
    pub(super) cell: &'c Cell<'a>,
    pub(super) ratio: f64,
    pub(super) compress: &'c Number,
    pub(super) decompress: &'c Number,
}

/// Cells that differ in codec and block size only: one subject, one content, one number of threads. The largest
/// such set, natural content and fewest threads first.
pub(super) fn candidates<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<Candidate<'c, 'a>> {
    let mut sets: BTreeMap<(&str, &str, u32), Vec<Candidate<'c, 'a>>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.is_plain()) {
        let Some(candidate) = Candidate::of(cell) else {
            continue;
        };
        let content = cell.view.factor("content").unwrap_or("natural");
        sets.entry((cell.view.subject, content, cell.threads))
            .or_default()
            .push(candidate);
    }
    let best = sets.into_iter().max_by_key(|((_, content, threads), set)| {
        (
            set.len() > 1,
            *content == "natural",
            set.len(),
            std::cmp::Reverse(*threads),
        )
    });
    best.map(|(_, set)| set).unwrap_or_default()
}

impl<'c, 'a> Candidate<'c, 'a> {
    fn of(cell: &'c Cell<'a>) -> Option<Self> {
        Some(Self {
            cell,
            ratio: cell.value("compression_ratio")?,
            compress: cell.speed(Direction::Compress)?,
            decompress: cell.speed(Direction::Decompress)?,
        })
    }

    /// The speed of one direction.
    pub(super) fn speed(&self, direction: Direction) -> &'c Number {
        match direction {
            Direction::Compress => self.compress,
            Direction::Decompress => self.decompress,
        }
    }

    /// What reading one block back takes, in the middle.
    pub(super) fn read_latency(&self) -> Option<&'c Number> {
        let metrics = ["decompress_latency_p50", "decompress_latency_mean"];
        metrics.iter().find_map(|metric| self.cell.number(metric))
    }

    /// Whether it makes this data smaller at all.
    pub(super) fn compresses(&self) -> bool {
        !self.cell.is_copy() && self.ratio >= LEAST_RATIO
    }

    /// Uncompressed bytes a second through both directions, one after the other: at the medians, and from the low to
    /// the high ends of both intervals.
    fn round_trip(&self) -> Score {
        let both = |compress: f64, decompress: f64| 1.0 / (1.0 / compress + 1.0 / decompress);
        let ends = |number: &Number| {
            number.interval.map_or((number.value, number.value), |interval| {
                (interval.low, interval.high)
            })
        };
        let (compress, decompress) = (ends(self.compress), ends(self.decompress));
        Score {
            value: both(self.compress.value, self.decompress.value),
            low: both(compress.0, decompress.0),
            high: both(compress.1, decompress.1),
        }
    }

    /// The ratio, with the interval of the ratio of all the data where only a sample was taken.
    fn ratio_score(&self) -> Score {
        let end = |name: &str| self.cell.value(name).unwrap_or(self.ratio);
        Score {
            value: self.ratio,
            low: end("compression_ratio_low") * (1.0 - SAME_RATIO),
            high: end("compression_ratio_high") * (1.0 + SAME_RATIO),
        }
    }
}

/// The candidates that no other beats on ratio and on the speed of one direction.
pub(super) fn front(candidates: &[Candidate<'_, '_>], direction: Direction) -> Vec<bool> {
    let points: Vec<(f64, f64)> = candidates
        .iter()
        .map(|one| {
            if one.compresses() {
                (one.speed(direction).value, one.ratio)
            } else {
                (f64::NAN, f64::NAN)
            }
        })
        .collect();
    pareto_front(&points, Better::Higher, Better::Higher)
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

    /// The column's name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Smallest => "Smallest",
            Self::Balanced => "Balanced",
            Self::Fastest => "Fastest",
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

impl Score {
    fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// The best candidate for a wish, and those that it cannot be told from.
#[derive(Clone, Debug)]
pub(super) struct Choice<'c, 'a> {
    pub(super) wish: Wish,
    pub(super) best: Candidate<'c, 'a>,
    /// Candidates whose intervals overlap with the best one's, the nearest first.
    pub(super) ties: Vec<Candidate<'c, 'a>>,
    /// The best one that is no tie.
    pub(super) next: Option<Candidate<'c, 'a>>,
}

/// The best candidate for each wish; empty where nothing compresses.
pub(super) fn choices<'c, 'a>(candidates: &[Candidate<'c, 'a>]) -> Vec<Choice<'c, 'a>> {
    let able: Vec<Candidate<'c, 'a>> = candidates.iter().copied().filter(Candidate::compresses).collect();
    Wish::ALL
        .into_iter()
        .filter_map(|wish| choose(wish, &able))
        .collect()
}

fn choose<'c, 'a>(wish: Wish, able: &[Candidate<'c, 'a>]) -> Option<Choice<'c, 'a>> {
    let mut scored: Vec<(Score, Candidate<'c, 'a>)> =
        able.iter().map(|one| (score(wish, one, able), *one)).collect();
    // Of equal scores the faster one: a ratio is often the same to the byte.
    scored.sort_by(|(one, first), (other, second)| {
        let by_score = other.value.total_cmp(&one.value);
        by_score.then(second.round_trip().value.total_cmp(&first.round_trip().value))
    });
    let ((top, best), rest) = scored.split_first()?;
    let (ties, others): (Vec<_>, Vec<_>) = rest.iter().partition(|(score, _)| score.overlaps(top));
    Some(Choice {
        wish,
        best: *best,
        ties: ties.into_iter().map(|(_, one)| one).collect(),
        next: others.first().map(|(_, one)| *one),
    })
}

fn score(wish: Wish, one: &Candidate<'_, '_>, able: &[Candidate<'_, '_>]) -> Score {
    match wish {
        Wish::Smallest => one.ratio_score(),
        Wish::Fastest => one.round_trip(),
        Wish::Balanced => balance(one, able),
    }
}

/// How near a candidate comes to the best ratio and the best speed of all, each on a logarithmic scale from the worst
/// candidate (0) to the best (1); the score is 1 minus the distance to (1, 1), over √2.
fn balance(one: &Candidate<'_, '_>, able: &[Candidate<'_, '_>]) -> Score {
    let range = |value: fn(&Candidate<'_, '_>) -> f64| {
        let logs = able.iter().map(|other| value(other).ln());
        logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (low.min(log), high.max(log))
        })
    };
    let place = |value: f64, (low, high): (f64, f64)| {
        if high > low {
            (value.ln() - low) / (high - low)
        } else {
            1.0
        }
    };
    let ratios = range(|other| other.ratio);
    let speeds = range(|other| other.round_trip().value);
    let ratio = place(one.ratio, ratios);
    let score_at = |speed: f64| {
        let missing = (1.0 - ratio).hypot(1.0 - place(speed, speeds));
        1.0 - missing / 2.0_f64.sqrt()
    };
    let speed = one.round_trip();
    Score {
        value: score_at(speed.value),
        low: score_at(speed.low),
        high: score_at(speed.high),
    }
}

/// What the candidates have in common, in words: `natural content, 1 thread`.
pub(super) fn held_fixed(candidates: &[Candidate<'_, '_>]) -> String {
    let Some(first) = candidates.first() else {
        return String::new();
    };
    let cell = first.cell;
    let content = match &cell.content {
        Content::Natural => cell.view.subject.to_owned(),
        _ => format!(
            "{}, content {}",
            cell.view.subject,
            cell.view.factor("content").unwrap_or("")
        ),
    };
    let threads = counted(cell.threads as usize, "thread");
    format!("{content}, {threads}, contexts reused, caches warm")
}
