//! The naive implementation: the oracle, and what machines without a faster one run.

use crate::codes::CLASS_LIMIT;
use crate::format::BLOCK_ROWS;

pub(super) fn deal(
    tags: &[u8],
    by_class: &[u32; BLOCK_ROWS],
    mut next: [u16; CLASS_LIMIT],
    out: &mut [u32],
) -> [u16; CLASS_LIMIT] {
    let (pairs, rest) = out.as_chunks_mut::<2>();
    let mut take = |tag: u8| {
        let place = &mut next[usize::from(tag & 15)];
        let value = by_class[usize::from(*place)];
        *place = place.wrapping_add(1);
        value
    };
    for (pair, &byte) in pairs.iter_mut().zip(tags) {
        *pair = [take(byte), take(byte >> 4)];
    }
    if let (Some(last), Some(&byte)) = (rest.first_mut(), tags.get(pairs.len())) {
        *last = take(byte);
    }
    next
}
