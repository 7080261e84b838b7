//! The rows of a block by class, where each row names its class: what [`super::classes`] writes of ranks, without
//! looking for classes and with the rows' bytes apart from the start.

use super::classes::ClassTable;
use crate::format::{CLASS_LIMIT, packed_bytes, plane_bytes, plane_widths, push_u32};
use crate::kernels::{self, CLASS_PLANE_BYTES, ROW_PLANES};

/// The rows of a block, ready to be measured or written. It reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Dealt {
    /// Class by class its planes: memory that is never written to is never taken from the system.
    planes: Vec<u8>,
    tags: Vec<u8>,
    counts: [usize; CLASS_LIMIT],
}

impl Dealt {
    /// Deals out rows that are [`ClassTable::named`], at most a block of them.
    pub(super) fn fill(&mut self, named: &[u32], table: &ClassTable) {
        if self.planes.is_empty() {
            self.planes = vec![0; CLASS_LIMIT * ROW_PLANES * CLASS_PLANE_BYTES];
        }
        self.tags.resize(plane_bytes(named.len(), 4), 0);
        let wide = [0, 8, 16].map(|bits| {
            (0..CLASS_LIMIT).fold(0, |wide, class| {
                wide | u16::from(table.class(class).2 > bits) << class
            })
        });
        let (planes, _) = self.planes.as_chunks_mut::<CLASS_PLANE_BYTES>();
        if let Some(planes) = planes.as_chunks_mut::<ROW_PLANES>().0.first_chunk_mut() {
            self.counts = kernels::by_class(named, wide, &mut self.tags, planes);
        }
    }

    /// Bytes after the encoding byte.
    pub(super) fn encoded_bytes(&self, table: &ClassTable) -> usize {
        let streams = self.counts.iter().enumerate();
        let streams = streams.map(|(class, &count)| packed_bytes(count, table.class(class).2));
        4 * CLASS_LIMIT + self.tags.len() + streams.sum::<usize>()
    }

    /// Appends what stands after the encoding byte.
    pub(super) fn push_to(&self, table: &ClassTable, out: &mut Vec<u8>) {
        for &count in &self.counts {
            push_u32(out, count as u32);
        }
        out.extend_from_slice(&self.tags);
        for class in 0..CLASS_LIMIT {
            let mut bits_before = 0;
            for bits in plane_widths(table.class(class).2) {
                let plane = self.plane(class, usize::from(bits_before / 8));
                bits_before += bits;
                if bits == 8 {
                    out.extend_from_slice(plane);
                } else {
                    let start = out.len();
                    out.resize(start + plane_bytes(plane.len(), bits), 0);
                    kernels::pack_bytes(plane, (8 - bits_before % 8) % 8, bits, &mut out[start..]);
                }
            }
        }
    }

    /// The least and the greatest row of each class that has rows, named.
    pub(super) fn extremes(&self, table: &ClassTable) -> impl Iterator<Item = [u32; 2]> {
        let filled = (0..CLASS_LIMIT).filter(|&class| self.counts[class] > 0);
        filled.map(move |class| {
            let planes = std::array::from_fn(|plane| {
                if usize::from(table.class(class).2) > 8 * plane {
                    self.plane(class, plane)
                } else {
                    &[]
                }
            });
            kernels::extremes(planes).map(|offset| (class as u32) << (8 * ROW_PLANES) | offset)
        })
    }

    fn plane(&self, class: usize, plane: usize) -> &[u8] {
        let start = (class * ROW_PLANES + plane) * CLASS_PLANE_BYTES;
        &self.planes[start..start + self.counts[class]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Dealt;
    use crate::codes::ClassTable;
    use crate::codes::classes::Sorted;

    proptest! {
        #[test]
        fn blocks_of_named_rows_are_those_of_ranks(
            sizes in proptest::collection::vec((0_u32..=24, any::<u32>()), 1..17), ranks in proptest::collection::vec(any::<u32>(), 1..700),
        ) {
            let sizes: Vec<u32> = sizes.iter().map(|&(width, size)| size % (1 << width) + 1).collect();
            let table = ClassTable::of_sizes(&sizes);
            let total: u32 = sizes.iter().sum();
            let ranks: Vec<u32> = ranks.iter().map(|rank| rank % total).collect();
            let named: Vec<u32> = ranks.iter().map(|&rank| table.find_named(rank)).collect();
            let (mut dealt, mut sorted) = (Dealt::default(), Sorted::default());
            dealt.fill(&named, &table);
            sorted.fill(&ranks, &table);
            let (mut of_named, mut of_ranks) = (vec![7], vec![7]);
            dealt.push_to(&table, &mut of_named);
            sorted.push_to(&table, &mut of_ranks);
            prop_assert_eq!(&of_named, &of_ranks);
            prop_assert_eq!((dealt.encoded_bytes(&table), sorted.encoded_bytes(&table)), (of_named.len() - 1, of_ranks.len() - 1));
            let extremes: Vec<[u32; 2]> = dealt.extremes(&table).map(|ends| ends.map(|named| table.rank(named))).collect();
            let filled = sorted.streams().filter(|stream| !stream.is_empty());
            let expected: Vec<[u32; 2]> = filled.map(|stream| [stream.iter().min(), stream.iter().max()].map(|end| end.copied().unwrap_or(0))).collect();
            prop_assert_eq!(extremes, expected);
        }
    }
}
