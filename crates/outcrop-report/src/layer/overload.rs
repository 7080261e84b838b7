//! Open loops that asked for more than was answered: their latencies are of no load that lasts.

use outcrop_measure::metric::Unit;

use crate::answer::Caution;
use crate::cell::Cell;

/// Below this share of what was due, answers are behind; the draw of a random schedule, or a last stall before the end, is not.
const BEHIND: f64 = 0.9;

/// What an overloaded open loop asked for and what was answered, in operations per second.
#[derive(Clone, Debug)]
pub(super) struct Overload {
    offered: f64,
    answered: f64,
    /// What became of the rest, behind a comma; may be empty.
    rest: String,
}

/// The overload of a cell; none of a closed loop, and of an open one that kept up.
pub(super) type OverloadOf = fn(&Cell<'_>) -> Option<Overload>;

impl Overload {
    /// Of these rates; none where as good as all was answered.
    pub(super) fn of(offered: f64, answered: f64) -> Option<Self> {
        (answered < BEHIND * offered).then_some(Self {
            offered,
            answered,
            rest: String::new(),
        })
    }

    /// The same with what became of the rest: `25.0 k operations never begun`.
    pub(super) fn with_rest(self, rest: &str) -> Self {
        Self {
            rest: format!(", {rest}"),
            ..self
        }
    }

    fn share(&self) -> f64 {
        self.answered / self.offered
    }

    /// `100 k/s offered, 70.0 k/s answered, 25.0 k operations never begun`.
    fn in_words(&self) -> String {
        let [offered, answered] = [self.offered, self.answered].map(|rate| Unit::PerSecond.format(rate));
        format!("{offered} offered, {answered} answered{}", self.rest)
    }
}

/// Said before all else: the latencies of an overload are not those of the subject (`device`). The cells are the open loops of a layer.
pub(super) fn caution<'c, 'a: 'c>(
    subject: &str,
    open: impl IntoIterator<Item = &'c Cell<'a>>,
    overload: OverloadOf,
    words: fn(&Cell<'_>) -> String,
) -> Option<Caution> {
    let open: Vec<&Cell<'_>> = open.into_iter().collect();
    let behind = open.iter().filter_map(|cell| Some((overload(cell)?, *cell)));
    let mut behind: Vec<(Overload, &Cell<'_>)> = behind.collect();
    behind.sort_by(|one, other| one.0.share().total_cmp(&other.0.share()));
    let (worst, cell) = behind.first()?;
    let (count, total, what) = (behind.len(), open.len(), worst.in_words());
    let effect =
        format!("latency includes queueing, grows with trial length and says nothing about the {subject}");
    let text = match total {
        1 => format!("Overloaded: {what}; {effect}."),
        _ => format!(
            "{count} of {total} open-loop cells are overloaded (worst: {what}, {}); there {effect}.",
            words(cell)
        ),
    };
    let which = if count == total { "the" } else { "some" };
    let brief = format!("{which} latencies are of an overload, not of the {subject}");
    Some(Caution::void(brief, text))
}

/// The cells whose latencies are of their subject: those that kept up, closed loops among them; all where none did.
pub(super) fn kept_up<'c, 'a>(cells: Vec<&'c Cell<'a>>, overload: OverloadOf) -> Vec<&'c Cell<'a>> {
    let keeps_up = |cell: &&Cell<'_>| overload(cell).is_none();
    match cells.iter().any(keeps_up) {
        true => cells.into_iter().filter(keeps_up).collect(),
        false => cells,
    }
}
