//! Between which codes the rows of a block lie: what lets a search pass it by.

use crate::huge::HugeMap;

/// Least and greatest code that is not null, and the number of nulls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zone {
    pub(super) least: u32,
    pub(super) greatest: u32,
    pub(super) null_count: u32,
}

impl Zone {
    pub(super) const EMPTY: Self = Self {
        least: u32::MAX,
        greatest: 0,
        null_count: 0,
    };

    pub(super) fn of(codes: &[u32], null: Option<u32>) -> Self {
        let mut zone = Self::EMPTY;
        let Some(null) = null else {
            zone.least = codes.iter().fold(u32::MAX, |least, &code| least.min(code));
            zone.greatest = codes.iter().fold(0, |greatest, &code| greatest.max(code));
            return zone;
        };
        for &code in codes {
            if code == null {
                zone.null_count += 1;
            } else {
                zone.least = zone.least.min(code);
                zone.greatest = zone.greatest.max(code);
            }
        }
        zone
    }

    /// The zone of rows, none of them null, of which these are the least and the greatest rank in each class.
    pub(super) fn of_extremes(extremes: impl Iterator<Item = [u32; 2]>, codes: &HugeMap) -> Self {
        extremes.fold(Self::EMPTY, |zone, [least, greatest]| Self {
            least: zone.least.min(codes.get(least)),
            greatest: zone.greatest.max(codes.get(greatest)),
            null_count: 0,
        })
    }

    /// The zone of ranks, of which each stream holds those of one class: ranks in a class
    /// are in the order of their codes.
    pub(super) fn of_streams<'r>(
        streams: impl Iterator<Item = &'r [u32]>,
        null: Option<u32>,
        codes: &HugeMap,
    ) -> Self {
        streams.fold(Self::EMPTY, |mut zone, stream| {
            let ranks = Self::of(stream, null);
            if ranks.least <= ranks.greatest {
                zone.least = zone.least.min(codes.get(ranks.least));
                zone.greatest = zone.greatest.max(codes.get(ranks.greatest));
            }
            zone.null_count += ranks.null_count;
            zone
        })
    }
}
