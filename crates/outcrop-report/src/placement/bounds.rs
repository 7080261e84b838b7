//! The limits of where to compress, for all who advise: what a layer says keeps them, or names the one that it breaks.

use outcrop_measure::units::{format_nanoseconds, format_ratio};
use outcrop_schema::kv::{Constraints, READ_LATENCY, STORED_BYTES};

use super::Placement;
use crate::cell::Cell;

/// What limits bound, of one thing that may be advised; none where it is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounded {
    pub(crate) ratio: Option<f64>,
    pub(crate) p99_ns: Option<f64>,
    pub(crate) cpu_share: Option<f64>,
}

/// One limit, and the figure that it bounds.
struct Check {
    name: &'static str,
    limit: Option<f64>,
    figure: Option<f64>,
    is_least: bool,
    spell: fn(f64) -> String,
}

impl Check {
    fn all(constraints: &Constraints, bounded: Bounded) -> [Self; 3] {
        let most = |name, limit, figure, spell| Self {
            name,
            limit,
            figure,
            is_least: false,
            spell,
        };
        let ratio = Self {
            is_least: true,
            ..most("ratio", constraints.min_ratio, bounded.ratio, format_ratio)
        };
        [
            ratio,
            most("p99", constraints.p99_ns, bounded.p99_ns, format_nanoseconds),
            most("CPU share", constraints.cpu_share, bounded.cpu_share, |share| {
                format!("{:.0} %", share * 100.0)
            }),
        ]
    }

    fn is_unknown(&self) -> bool {
        self.limit.is_some() && self.figure.is_none()
    }

    /// `breaks the limit on the ratio (1.31 of at least 1.50)`.
    fn broken(&self) -> Option<String> {
        let (limit, figure) = (self.limit?, self.figure?);
        let (keeps, side) = match self.is_least {
            true => (figure >= limit, "at least"),
            false => (figure <= limit, "at most"),
        };
        let [shown, bound] = [figure, limit].map(self.spell);
        let how_far = match shown == bound {
            true => "narrowly".to_owned(),
            false => format!("{shown} of {side} {bound}"),
        };
        (!keeps).then(|| format!("breaks the limit on the {} ({how_far})", self.name))
    }
}

/// Which limit is broken by figures that are known; none where they keep all.
pub(crate) fn broken_by(constraints: &Constraints, bounded: Bounded) -> Option<String> {
    Check::all(constraints, bounded).iter().find_map(Check::broken)
}

/// The same, of what must be known to be advised.
pub(super) fn left_out(constraints: &Constraints, bounded: Bounded) -> Option<String> {
    Check::all(constraints, bounded)
        .iter()
        .find_map(|check| match check.is_unknown() {
            true => Some(format!("its {} is not known", check.name)),
            false => check.broken(),
        })
}

/// What the advice of every layer has to keep, or to say that it does not.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'b> {
    constraints: &'b Constraints,
    placement: Option<&'b Placement>,
}

impl<'b> Bounds<'b> {
    /// The limits of a run or of its report, and how the candidates of where to compress were judged by them.
    pub(crate) const fn new(constraints: &'b Constraints, placement: Option<&'b Placement>) -> Self {
        Self {
            constraints,
            placement,
        }
    }

    /// Which of them these figures break.
    pub(crate) fn broken_by(&self, bounded: Bounded) -> Option<String> {
        broken_by(self.constraints, bounded)
    }

    /// Which of them a store breaks: what the answer above the layers says of it, so that the two never differ. `plain` is the same store
    /// without compression.
    pub(crate) fn broken_by_store(&self, cell: &Cell<'_>, plain: &Cell<'_>) -> Option<String> {
        let candidates = self
            .placement
            .into_iter()
            .flat_map(|placement| &placement.candidates);
        let id = cell.view().map_or("", |view| view.id);
        let mut judged = candidates.filter(|candidate| !id.is_empty() && candidate.cell == id);
        match judged.next() {
            Some(candidate) => candidate.left_out.clone(),
            None => {
                let stored = plain.value(&STORED_BYTES).zip(cell.value(&STORED_BYTES));
                self.broken_by(Bounded {
                    ratio: stored.map(|(plain, own)| plain / own),
                    p99_ns: cell.value(&READ_LATENCY.p99),
                    cpu_share: None,
                })
            }
        }
    }
}
