//! The plain implementation, in four lanes.

use crate::codes::CLASS_LIMIT;
use crate::format::BLOCK_ROWS;

/// Rows dealt out side by side, each from its own part of the block: the places of one part wait for each other, those of
/// different parts do not.
const LANES: usize = 4;

/// Takes the integer at the next place for `tag`.
#[inline(always)]
pub(super) fn take(by_class: &[u32; BLOCK_ROWS], next: &mut [u16; CLASS_LIMIT], tag: u8) -> u32 {
    let place = &mut next[usize::from(tag & 15)];
    let value = by_class[usize::from(*place)];
    *place = place.wrapping_add(1);
    value
}

pub(super) fn deal(
    tags: &[u8],
    by_class: &[u32; BLOCK_ROWS],
    next: [u16; CLASS_LIMIT],
    out: &mut [u32],
) -> [u16; CLASS_LIMIT] {
    let lane_bytes = out.len() / (2 * LANES);
    let (in_lanes, rest) = out.split_at_mut(2 * LANES * lane_bytes);
    let (tags_in_lanes, last_tags) = tags.split_at(LANES * lane_bytes);
    let mut lanes = [next; LANES];
    for lane in 1..LANES {
        lanes[lane] = lanes[lane - 1];
        count_tags(
            &tags_in_lanes[(lane - 1) * lane_bytes..lane * lane_bytes],
            &mut lanes[lane],
        );
    }
    let [next0, next1, next2, next3] = &mut lanes;
    let (pairs, _) = in_lanes.as_chunks_mut::<2>();
    let (first, second) = pairs.split_at_mut(2 * lane_bytes);
    let ((out0, out1), (out2, out3)) = (first.split_at_mut(lane_bytes), second.split_at_mut(lane_bytes));
    let (first, second) = tags_in_lanes.split_at(2 * lane_bytes);
    let ((tags0, tags1), (tags2, tags3)) = (first.split_at(lane_bytes), second.split_at(lane_bytes));
    let outs = out0.iter_mut().zip(out1).zip(out2.iter_mut().zip(out3));
    let tags = tags0.iter().zip(tags1).zip(tags2.iter().zip(tags3));
    let take = |next: &mut [u16; CLASS_LIMIT], tag: u8| take(by_class, next, tag);
    for (((out0, out1), (out2, out3)), ((tag0, tag1), (tag2, tag3))) in outs.zip(tags) {
        *out0 = [take(next0, tag0 & 15), take(next0, tag0 >> 4)];
        *out1 = [take(next1, tag1 & 15), take(next1, tag1 >> 4)];
        *out2 = [take(next2, tag2 & 15), take(next2, tag2 >> 4)];
        *out3 = [take(next3, tag3 & 15), take(next3, tag3 >> 4)];
    }
    // The last lane goes on behind its part.
    let mut next = lanes[LANES - 1];
    for (index, value) in rest.iter_mut().enumerate() {
        *value = take(&mut next, last_tags[index / 2] >> (4 * (index % 2)));
    }
    next
}

/// Adds the number of each tag in `tags`, two a byte, to `counts`.
fn count_tags(tags: &[u8], counts: &mut [u16; CLASS_LIMIT]) {
    // Pairs are counted first, with neighbours apart so that equal ones do not wait for each other.
    let mut pairs = [[0_u32; 256]; 4];
    let (groups, rest) = tags.as_chunks::<4>();
    for group in groups {
        for (pairs, &byte) in pairs.iter_mut().zip(group) {
            pairs[usize::from(byte)] += 1;
        }
    }
    rest.iter().for_each(|&byte| pairs[0][usize::from(byte)] += 1);
    for byte in 0..256 {
        let count: u32 = pairs.iter().map(|pairs| pairs[byte]).sum();
        for tag in [byte & 15, byte >> 4] {
            counts[tag] = counts[tag].wrapping_add(count as u16);
        }
    }
}
