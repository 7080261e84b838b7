//! The plain implementation. Its body is also compiled with wider vectors by `x86`.

use crate::codes::CLASS_LIMIT;

/// Ranks classified at a time: they stay in registers for all comparisons.
const STEP: usize = 32;

pub(super) fn classify(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    body(ranks, firsts, classes);
}

#[inline(always)]
pub(super) fn body(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    let (ranks_whole, ranks_rest) = ranks.as_chunks::<STEP>();
    let (classes_whole, classes_rest) = classes.as_chunks_mut::<STEP>();
    for (ranks, classes) in ranks_whole.iter().zip(classes_whole) {
        let mut reached = [0_u32; STEP];
        for first in &firsts[1..] {
            for (count, rank) in reached.iter_mut().zip(ranks) {
                *count += u32::from(rank >= first);
            }
        }
        for (class, count) in classes.iter_mut().zip(reached) {
            *class = count as u8;
        }
    }
    for (rank, class) in ranks_rest.iter().zip(classes_rest) {
        *class = firsts[1..].iter().map(|first| u8::from(rank >= first)).sum();
    }
}
