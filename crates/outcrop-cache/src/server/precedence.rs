//! Who goes first where buffers are short.

use std::collections::BTreeSet;

/// What a connection holds memory for. Where buffers are short, the first goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holding {
    /// Replies that are not read.
    Replies,
    /// A request that is not complete, or the requests of a transaction.
    Request,
    /// Nothing but its own state.
    Rest,
}

const HOLDINGS: [Holding; 3] = [Holding::Replies, Holding::Request, Holding::Rest];

/// When a connection last got on: with a request, or with a good part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Counts what connections of this worker were let do.
    pub(super) turn: u64,
    pub(super) at_ns: u64,
}

/// A connection's place among those that hold memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    holding: Holding,
    rank: u64,
}

impl Place {
    /// Of those that do not read replies, who holds most goes first: a slow reader is left few at such a time. Of all
    /// others it is who has been silent longest, however little that is: many small halves are as much as a few large ones.
    pub(super) const fn new(holding: Holding, held_bytes: usize, progress: Moment) -> Self {
        let rank = match holding {
            Holding::Replies => u64::MAX - held_bytes as u64,
            Holding::Request | Holding::Rest => progress.turn,
        };
        Self { holding, rank }
    }
}

/// The connections of one worker that hold memory, in the order in which they go.
///
/// *Cost*: a change of place and the choice of who goes take logarithmic time.
#[derive(Debug, Default)]
pub(super) struct Precedence {
    places: BTreeSet<(Place, usize)>,
}

impl Precedence {
    /// A connection's place has changed; one that holds nothing has none.
    pub(super) fn change(&mut self, number: usize, from: Option<Place>, to: Option<Place>) {
        if from == to {
            return;
        }
        if let Some(from) = from {
            self.places.remove(&(from, number));
        }
        if let Some(to) = to {
            self.places.insert((to, number));
        }
    }

    /// Who goes before all others.
    pub(super) fn first(&self) -> Option<usize> {
        self.places.first().map(|(_, number)| *number)
    }

    /// The first connection of each kind of holding, in the order in which they go; of those with requests, none is `active`.
    pub(super) fn firsts(&self, active: Option<usize>) -> impl Iterator<Item = (Holding, usize)> + '_ {
        HOLDINGS.into_iter().filter_map(move |holding| {
            let least = Place { holding, rank: 0 };
            let of_kind = self.places.range((least, 0)..);
            of_kind
                .take_while(|(place, _)| place.holding == holding)
                .map(|(_, number)| (holding, *number))
                .find(|(_, number)| holding == Holding::Replies || Some(*number) != active)
        })
    }
}
