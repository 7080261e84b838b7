//! Dealing the values of a block out to their classes: what writing a block in classes costs most.

use super::class_table::{CLASS_LIMIT, ClassTable};
use crate::format::push_u32;
use crate::kernels;
use crate::planes::{pack, packed_bytes};

/// Rows dealt out side by side, each from its own part of the block: the places of one part wait for each other, those of
/// different parts do not.
const LANES: usize = 4;

/// The values of a block class by class, ready to be measured or written. It reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    tags: Vec<u8>,
    dealt: Vec<u32>,
    counts: [usize; CLASS_LIMIT],
}

impl Sorted {
    /// Finds the class of each of `values`, and deals them out.
    pub(super) fn fill(&mut self, values: &[u32], table: &ClassTable) {
        self.tags.resize(values.len(), 0);
        self.dealt.resize(values.len(), 0);
        kernels::classify(values, &table.firsts(), &mut self.tags);
        self.counts = deal_out(values, &self.tags, &mut self.dealt);
    }

    /// The values of each class, in the order of their rows.
    pub(super) fn streams(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.dealt.as_slice();
        self.counts.iter().map(move |&count| {
            let (stream, after) = rest.split_at(count);
            rest = after;
            stream
        })
    }

    /// Bytes after the encoding byte.
    pub(super) fn encoded_bytes(&self, table: &ClassTable) -> usize {
        let streams = self
            .counts
            .iter()
            .enumerate()
            .map(|(class, &count)| packed_bytes(count, table.class(class).2));
        4 * CLASS_LIMIT + packed_bytes(self.tags.len(), 4) + streams.sum::<usize>()
    }

    /// Appends what stands after the encoding byte.
    pub(super) fn push_to(&self, table: &ClassTable, out: &mut Vec<u8>) {
        for &count in &self.counts {
            push_u32(out, count as u32);
        }
        let (pairs, last) = self.tags.as_chunks::<2>();
        out.extend(pairs.iter().map(|&[low, high]| low | high << 4));
        out.extend(last);
        for (class, stream) in self.streams().enumerate() {
            let (first, _, width) = table.class(class);
            pack(stream, first, width, out);
        }
    }
}

/// Sorts `values` by their tags into `dealt`, equal tags in order; gives the number of each tag.
fn deal_out(values: &[u32], tags: &[u8], dealt: &mut [u32]) -> [usize; CLASS_LIMIT] {
    let lane_rows = values.len() / LANES;
    let (in_lanes, last_tags) = tags.split_at(LANES * lane_rows);
    let (first, second) = in_lanes.split_at(2 * lane_rows);
    let ((tags0, tags1), (tags2, tags3)) = (first.split_at(lane_rows), second.split_at(lane_rows));
    let lanes_of_tags = || tags0.iter().zip(tags1).zip(tags2.iter().zip(tags3));
    // Counts of each lane, and of the rows behind the last; then the places of their next values.
    let mut next = [[0_u32; CLASS_LIMIT]; LANES + 1];
    for ((tag0, tag1), (tag2, tag3)) in lanes_of_tags() {
        for (counts, tag) in next.iter_mut().zip([tag0, tag1, tag2, tag3]) {
            counts[usize::from(tag & 15)] += 1;
        }
    }
    for tag in last_tags {
        next[LANES][usize::from(tag & 15)] += 1;
    }
    let mut place = 0;
    let counts = std::array::from_fn(|class| {
        let start = place;
        for lane in &mut next {
            place += std::mem::replace(&mut lane[class], place);
        }
        (place - start) as usize
    });
    let mut put = |next: &mut [u32; CLASS_LIMIT], tag: u8, value: u32| {
        let place = &mut next[usize::from(tag & 15)];
        dealt[*place as usize] = value;
        *place += 1;
    };
    let (in_lanes, last) = values.split_at(LANES * lane_rows);
    let (first, second) = in_lanes.split_at(2 * lane_rows);
    let ((values0, values1), (values2, values3)) = (first.split_at(lane_rows), second.split_at(lane_rows));
    let [next0, next1, next2, next3, next_of_last] = &mut next;
    let lanes_of_values = values0.iter().zip(values1).zip(values2.iter().zip(values3));
    for (((value0, value1), (value2, value3)), ((&tag0, &tag1), (&tag2, &tag3))) in
        lanes_of_values.zip(lanes_of_tags())
    {
        put(next0, tag0, *value0);
        put(next1, tag1, *value1);
        put(next2, tag2, *value2);
        put(next3, tag3, *value3);
    }
    for (&value, &tag) in last.iter().zip(last_tags) {
        put(next_of_last, tag, value);
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::deal_out;

    proptest! {
        #[test]
        fn dealing_out_is_a_stable_sort_by_tag(rows in proptest::collection::vec((any::<u32>(), 0_u8..16), 0..500)) {
            let (values, tags): (Vec<u32>, Vec<u8>) = rows.iter().copied().unzip();
            let mut sorted = rows;
            sorted.sort_by_key(|&(_, tag)| tag);
            let mut dealt = vec![0; values.len()];
            let counts = deal_out(&values, &tags, &mut dealt);
            prop_assert_eq!(dealt, sorted.iter().map(|&(value, _)| value).collect::<Vec<_>>());
            for (class, count) in (0..).zip(counts) {
                prop_assert_eq!(count, tags.iter().filter(|&&tag| tag == class).count());
            }
        }
    }
}
