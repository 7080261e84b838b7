//! Ranks: the numbers that forward codes store. Either the codes themselves, or, with a class map, the
//! position in class-major order, so that frequent symbols get small numbers.

use crate::codes::ClassTable;
use crate::error::{Result, corrupt};
use crate::format::{CLASS_LIMIT, bits_of};
use crate::huge::HugeMap;

/// How a segment's ranks are laid out.
#[derive(Debug, Default)]
pub(crate) struct RankPlan {
    /// Classes of the codes, in code order, and the table of their sizes; `None`: rank = code.
    pub(crate) map: Option<(Vec<u32>, ClassTable)>,
}

/// Fewest symbols for which classes are considered: below, planes and zstd do as well.
const FEWEST_SYMBOLS: usize = 32;

impl RankPlan {
    /// Orders the symbols by frequency where that saves at least 2 % of the forward codes, its map included.
    pub(crate) fn of_counts(counts: &[u32]) -> Self {
        if counts.len() < FEWEST_SYMBOLS {
            return Self::default();
        }
        // Count descending, then code ascending, in one integer.
        let mut order: Vec<u64> = (0_u64..)
            .zip(counts)
            .map(|(code, &count)| u64::from(!count) << 32 | code)
            .collect();
        order.sort_unstable();
        let descending: Vec<u32> = order.iter().map(|key| !((key >> 32) as u32)).collect();
        let (widths, bits) = plan_widths(&descending);
        let rows: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let plain_bits = rows * u64::from(bits_of(counts.len() as u32 - 1));
        let map_bits = 4 * counts.len() as u64;
        if (bits + map_bits) * 100 > plain_bits * 98 {
            return Self::default();
        }
        let mut classes = vec![0_u32; counts.len()];
        let mut sizes = Vec::with_capacity(CLASS_LIMIT);
        let mut rest = order.as_slice();
        for (class, width) in (0_u32..).zip(&widths) {
            let size = rest.len().min(1 << width);
            let (members, after) = rest.split_at(size);
            for key in members {
                classes[*key as u32 as usize] = class;
            }
            sizes.push(size as u32);
            rest = after;
        }
        Self {
            map: Some((classes, ClassTable::of_sizes(&sizes))),
        }
    }

    /// Rank of each code, in order; `None` where they are the same.
    pub(crate) fn ranks(&self) -> Option<Vec<u32>> {
        let (classes, table) = self.map.as_ref()?;
        let mut next: Vec<u32> = (0..CLASS_LIMIT).map(|class| table.class(class).0).collect();
        let rank_of = |&class: &u32| {
            let rank = next[class as usize];
            next[class as usize] += 1;
            rank
        };
        Some(classes.iter().map(rank_of).collect())
    }
}

/// Chooses the widths of 16 classes for symbols of the given counts, descending, and gives them with the
/// bits that all rows then take, tags included.
///
/// Classes hold 2^width symbols (the last ones maybe fewer). The search starts from equal widths and from a
/// ramp and takes the best single step (some classes narrower, one wider) while one helps.
fn plan_widths(descending_counts: &[u32]) -> (Vec<u8>, u64) {
    let mut mass = Vec::with_capacity(descending_counts.len() + 1);
    mass.push(0_u64);
    mass.extend(descending_counts.iter().scan(0, |sum, &count| {
        *sum += u64::from(count);
        Some(*sum)
    }));
    let symbols = descending_counts.len() as u64;
    let equal_width = bits_of(symbols.div_ceil(CLASS_LIMIT as u64).saturating_sub(1) as u32);
    let equal = [equal_width; CLASS_LIMIT];
    let ramp = feasible_ramp(symbols);
    let (widths, bits) = [equal, ramp]
        .into_iter()
        .map(|start| descend(start, &mass, symbols))
        .min_by_key(|&(_, bits)| bits)
        .unwrap_or((equal, u64::MAX));
    (widths.to_vec(), bits)
}

fn capacity(widths: &[u8]) -> u64 {
    widths.iter().map(|&width| 1_u64 << width).sum()
}

fn feasible_ramp(symbols: u64) -> [u8; CLASS_LIMIT] {
    let mut widths = [0; CLASS_LIMIT];
    let mut top = bits_of(symbols.min(u64::from(u32::MAX)) as u32);
    loop {
        for (index, width) in widths.iter_mut().enumerate() {
            *width = (usize::from(top) * index / (CLASS_LIMIT - 1)) as u8;
        }
        if capacity(&widths) >= symbols {
            return widths;
        }
        top += 1;
    }
}

/// Bits of all rows: four for the tag, and the width of each row's class.
fn cost(widths: &[u8], mass: &[u64]) -> u64 {
    let last = mass.len() - 1;
    let mut start = 0_usize;
    let mut bits = 4 * mass[last];
    for &width in widths {
        let end = start.saturating_add(1 << width).min(last);
        bits += u64::from(width) * (mass[end] - mass[start]);
        start = end;
    }
    bits
}

fn descend(start: [u8; CLASS_LIMIT], mass: &[u64], symbols: u64) -> ([u8; CLASS_LIMIT], u64) {
    let mut best = start;
    best.sort_unstable();
    let mut best_cost = cost(&best, mass);
    loop {
        let mut improved = None;
        for wider in 0..=CLASS_LIMIT {
            for narrower in 0..CLASS_LIMIT {
                for by in 1..=6 {
                    let mut widths = best;
                    if let Some(width) = widths.get_mut(wider) {
                        *width = (*width + 1).min(31);
                    }
                    widths[narrower] = widths[narrower].saturating_sub(by);
                    widths.sort_unstable();
                    let bits = cost(&widths, mass);
                    if bits < best_cost && capacity(&widths) >= symbols {
                        best_cost = bits;
                        improved = Some(widths);
                    }
                }
            }
        }
        match improved {
            Some(widths) => best = widths,
            None => return (best, best_cost),
        }
    }
}

/// The map of an opened segment: which code each rank stands for.
#[derive(Debug)]
pub(crate) struct Ranking {
    table: ClassTable,
    codes: HugeMap,
}

impl Ranking {
    /// Builds the map from the class of each code; the number of codes in each
    /// class must be that of the table.
    pub(crate) fn from_classes(classes: &[u32], table: &ClassTable, offset: u64) -> Result<Self> {
        let wrong = || corrupt("class map", offset, "the classes disagree with the class table");
        let mut next: Vec<usize> = (0..CLASS_LIMIT)
            .map(|class| table.class(class).0 as usize)
            .collect();
        let mut codes = vec![u32::MAX; classes.len()];
        for (code, &class) in (0_u32..).zip(classes) {
            let position = next.get_mut(class as usize).ok_or_else(wrong)?;
            *codes.get_mut(*position).ok_or_else(wrong)? = code;
            *position += 1;
        }
        let full = next.iter().enumerate().all(|(class, &end)| {
            let (first, size, _) = table.class(class);
            size == 0 || end == (first + size) as usize
        });
        if full && !codes.contains(&u32::MAX) {
            Ok(Self {
                table: table.clone(),
                codes: HugeMap::of(codes.into_iter()),
            })
        } else {
            Err(wrong())
        }
    }

    /// Code of each rank.
    pub(crate) fn codes(&self) -> &HugeMap {
        &self.codes
    }

    /// The ranges of ranks (inclusive) that hold the codes `first ..= last`: at most one a class.
    pub(crate) fn ranges(&self, first: u32, last: u32) -> Vec<(u32, u32)> {
        let mut ranges = Vec::new();
        for class in 0..self.table.len() {
            let (start, size, _) = self.table.class(class);
            let below = |limit| {
                let members = start as usize..(start + size) as usize;
                self.codes.count_below(members, limit) as u32
            };
            let (from, to) = (below(u64::from(first)), below(u64::from(last) + 1));
            if from < to {
                ranges.push((start + from, start + to - 1));
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{bits_of, plan_widths};

    proptest! {
        #[test]
        fn planned_classes_hold_all_symbols_and_never_cost_more_than_equal_ones(mut counts in proptest::collection::vec(1_u32..10_000, 1..3000)) {
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let (widths, bits) = plan_widths(&counts);
            prop_assert!(widths.iter().map(|&width| 1_u64 << width).sum::<u64>() >= counts.len() as u64);
            let rows: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            let equal = u64::from(bits_of((counts.len() as u32).div_ceil(16) - 1));
            prop_assert!(bits <= rows * (4 + equal));
        }
    }
}
