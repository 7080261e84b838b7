//! The class table: ranks cut into at most 16 consecutive ranges, so that a row costs a 4-bit class and only the bits that its class
//! needs. With ranks ordered by frequency this comes within a percent of the entropy, and every class can still be searched alone.

use crate::error::Result;
use crate::format::{Fields, push_u32};
use crate::planes::bits_of;

/// Classes fit four bits.
pub(crate) const CLASS_LIMIT: usize = 16;

/// Ranges of ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ClassTable {
    /// First rank of each class, and one past the last rank of the last.
    firsts: Vec<u32>,
    widths: Vec<u8>,
}

impl ClassTable {
    /// Classes of the given sizes, in order.
    pub(crate) fn of_sizes(sizes: &[u32]) -> Self {
        let mut firsts = vec![0];
        firsts.extend(sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        }));
        let widths = sizes
            .iter()
            .map(|&size| bits_of(size.saturating_sub(1)))
            .collect();
        Self { firsts, widths }
    }

    /// Number of classes; 0 where the section has none.
    pub(crate) fn len(&self) -> usize {
        self.widths.len()
    }

    /// Class `class`: its first rank, its size, its width in bits. A class that does not exist is empty.
    pub(crate) fn class(&self, class: usize) -> (u32, u32, u8) {
        match self.widths.get(class) {
            Some(&width) => (
                self.firsts[class],
                self.firsts[class + 1] - self.firsts[class],
                width,
            ),
            None => (0, 0, 0),
        }
    }

    /// First rank of each class; of one that does not exist, a number that no rank reaches.
    pub(crate) fn firsts(&self) -> [u32; CLASS_LIMIT] {
        std::array::from_fn(|class| {
            if class < self.len() {
                self.firsts[class]
            } else {
                u32::MAX
            }
        })
    }

    pub(crate) fn push_to(&self, out: &mut Vec<u8>) {
        push_u32(out, self.len() as u32);
        push_u32(out, 0);
        for class in 0..self.len() {
            let (_, size, width) = self.class(class);
            push_u32(out, size);
            push_u32(out, u32::from(width));
        }
    }

    /// Reads the table; the sizes must add up to `symbol_count` unless there are no classes.
    pub(crate) fn read(fields: &mut Fields<'_>, symbol_count: u64) -> Result<Self> {
        let class_count = fields.u32()? as usize;
        let _reserved = fields.u32()?;
        if class_count == 0 {
            return Ok(Self::default());
        }
        if class_count > CLASS_LIMIT {
            return Err(fields.wrong(format!("{class_count} classes, at most {CLASS_LIMIT} allowed")));
        }
        let mut table = Self {
            firsts: vec![0],
            widths: Vec::new(),
        };
        let mut sum = 0_u32;
        for _ in 0..class_count {
            let (size, width) = (fields.u32()?, fields.u32()?);
            sum = sum
                .checked_add(size)
                .ok_or_else(|| fields.wrong("class sizes overflow"))?;
            if width > 32 || u64::from(size) > 1 << width {
                return Err(fields.wrong(format!("a class of {size} symbols in {width} bits")));
            }
            table.firsts.push(sum);
            table.widths.push(width as u8);
        }
        if u64::from(sum) != symbol_count {
            return Err(fields.wrong(format!("classes of {sum} symbols, {symbol_count} expected")));
        }
        Ok(table)
    }
}

/// Chooses the widths of 16 classes for symbols of the given counts, descending, and gives them with the
/// bits that all rows then take, tags included.
///
/// Classes hold 2^width symbols (the last ones maybe fewer). The search starts from equal widths and from a
/// ramp and takes the best single step (some classes narrower, one wider) while one helps.
pub(crate) fn plan_widths(descending_counts: &[u32]) -> (Vec<u8>, u64) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::plan_widths;

    proptest! {
        #[test]
        fn planned_classes_hold_all_symbols_and_never_cost_more_than_equal_ones(mut counts in proptest::collection::vec(1_u32..10_000, 1..3000)) {
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let (widths, bits) = plan_widths(&counts);
            prop_assert!(widths.iter().map(|&width| 1_u64 << width).sum::<u64>() >= counts.len() as u64);
            let rows: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            let equal = u64::from(crate::planes::bits_of((counts.len() as u32).div_ceil(16) - 1));
            prop_assert!(bits <= rows * (4 + equal));
        }
    }
}
