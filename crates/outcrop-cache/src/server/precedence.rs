//! Who goes first where buffers are short.

use std::collections::BTreeSet;

/// What a connection holds memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holding {
    /// Replies that are not read.
    Replies,
    /// A request that is not complete, or the requests of a transaction.
    Request,
    /// Nothing but its own state.
    Rest,
}

/// Nanoseconds of the server's clock, a little more where two connections acted at once: no two moments of a worker are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    /// The next one, at the time `now_ns`.
    pub(super) const fn next(self, now_ns: u64) -> Self {
        Self(self.0 + 1).or_later(now_ns)
    }

    /// The later of this and the time `now_ns`.
    pub(super) const fn or_later(self, now_ns: u64) -> Self {
        Self(if self.0 > now_ns { self.0 } else { now_ns })
    }

    /// More than `grace_ns` had passed since at `now`.
    pub(super) const fn is_past(self, grace_ns: u64, now: Self) -> bool {
        self.0.saturating_add(grace_ns) < now.0
    }
}

/// A connection's place among those that hold memory: what for, and since when it has been silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) holding: Holding,
    pub(super) progress: Moment,
}

/// The connections of one worker that hold memory.
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

    /// Who has been silent longest of those that hold memory for this, without `but`.
    fn first_of(&self, holding: Holding, but: Option<usize>) -> Option<(Place, usize)> {
        let progress = Moment::default();
        let of_kind = self.places.range((Place { holding, progress }, 0)..);
        of_kind
            .take_while(|(place, _)| place.holding == holding)
            .find(|(_, number)| Some(*number) != but)
            .copied()
    }

    /// Who goes before all others but `asker`, of those that are silent: who has been so longest, however little that one
    /// holds, since many small halves are as much as a few large ones. Those that hold nothing but their own state are last.
    pub(super) fn first_silent(
        &self,
        asker: Option<usize>,
        is_silent: impl Fn(Moment) -> bool,
    ) -> Option<usize> {
        let first = |holding| {
            let first = self.first_of(holding, asker);
            first.filter(|(place, _)| is_silent(place.progress))
        };
        let waiting = first(Holding::Replies).into_iter().chain(first(Holding::Request));
        waiting
            .min_by_key(|(place, _)| place.progress)
            .or_else(|| first(Holding::Rest))
            .map(|(_, number)| number)
    }

    /// Whose replies have been unread longest.
    pub(super) fn first_unread(&self) -> Option<usize> {
        self.first_of(Holding::Replies, None).map(|(_, number)| number)
    }

    /// Anybody: who has been silent longest of those with replies, else of those with requests, else of all.
    pub(super) fn first(&self) -> Option<usize> {
        self.places.first().map(|(_, number)| *number)
    }
}
