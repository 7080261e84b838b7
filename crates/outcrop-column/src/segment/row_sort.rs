//! Rows sorted by code in two steps, each of which writes to few places at a time: dealing all rows straight
//! to their codes' places would miss cache and TLB on nearly every row.

use std::sync::mpsc::sync_channel;
use std::thread;

use super::frames::CodedRows;
use super::side_by_side::side_by_side;
use crate::error::Result;
use crate::format::bits_of;

/// Log2 of the parts that codes are dealt into first: as many streams of writes as the TLB follows.
const PART_BITS: u8 = 8;

/// Parts that are sorted before they are wanted.
const PARTS_AHEAD: usize = 2;

/// Calls `action` with the ascending rows of each of the codes from `first` on, code by code; those of code
/// `first + i` are number `starts[i]` to `starts[i + 1]` of all.
///
/// The consecutive parts of `rows` are dealt on this many threads; where there are several, lists are sorted
/// while `action` has those before them.
///
/// *Cost*: eight bytes a row of these codes, and a pass over all rows.
pub(super) fn for_each_list(
    rows: &[CodedRows],
    threads: usize,
    first: usize,
    starts: &[u64],
    mut action: impl FnMut(&[u32]) -> Result<()>,
) -> Result<()> {
    let Some(code_count) = starts.len().checked_sub(1) else {
        return Ok(());
    };
    let shift = bits_of(code_count as u32).saturating_sub(PART_BITS);
    let codes = Codes { first, starts, shift };
    let shares = rows.chunks(rows.len().div_ceil(threads.max(1)).max(1));
    let mut dealt = side_by_side(shares, |share| codes.deal(share, row_count(rows)));
    let parts = (0..code_count).step_by(1 << shift).enumerate();
    let mut sorted = parts.map(|(part, start)| {
        let of_part = dealt.iter_mut().map(|parts| std::mem::take(&mut parts[part]));
        Lists::of(
            of_part,
            &starts[start..=(start + (1 << shift)).min(code_count)],
            start,
        )
    });
    if threads <= 1 {
        return sorted.try_for_each(|lists| lists.for_each(&mut action));
    }
    thread::scope(|scope| {
        let (sender, lists) = sync_channel(PARTS_AHEAD);
        // Ends when all are sent, or nobody wants them any more.
        scope.spawn(move || sorted.try_for_each(|lists| sender.send(lists)));
        lists
            .iter()
            .try_for_each(|lists: Lists| lists.for_each(&mut action))
    })
}

fn row_count(rows: &[CodedRows]) -> u64 {
    rows.iter().map(CodedRows::row_count).sum()
}

/// The codes whose rows are sorted.
#[derive(Debug, Clone, Copy)]
struct Codes<'a> {
    first: usize,
    starts: &'a [u64],
    /// Log2 of the codes of a part.
    shift: u8,
}

impl Codes<'_> {
    /// For each part the rows with a code of it, in order, each behind its code. They are some of `all` rows.
    fn deal(&self, rows: &[CodedRows], all: u64) -> Vec<Vec<u64>> {
        let (code_count, dealt) = (self.starts.len() - 1, row_count(rows));
        let expected = |start: usize| {
            let end = (start + (1 << self.shift)).min(code_count);
            let expected = (self.starts[end] - self.starts[start]) * dealt / all.max(1);
            // In random order a part has hardly more, and in another one it grows.
            expected + expected / 16 + 16
        };
        let mut parts: Vec<Vec<u64>> = (0..code_count)
            .step_by(1 << self.shift)
            .map(|start| Vec::with_capacity(expected(start) as usize))
            .collect();
        for rows in rows {
            rows.for_each_run(|first_row, codes| {
                for (row, &code) in (first_row..).zip(codes) {
                    let relative = (code as usize).wrapping_sub(self.first);
                    if relative < code_count {
                        parts[relative >> self.shift].push((relative as u64) << 32 | row);
                    }
                }
            });
        }
        parts
    }
}

/// The ascending rows of each of consecutive codes.
struct Lists {
    rows: Vec<u32>,
    ends: Vec<u64>,
}

impl Lists {
    /// Sorts dealt rows by code, where those of code `first + i` are number `starts[i]` to `starts[i + 1]`.
    fn of(dealt: impl Iterator<Item = Vec<u64>>, starts: &[u64], first: usize) -> Self {
        let mut next: Vec<u64> = starts.iter().map(|start| start - starts[0]).collect();
        let mut rows = vec![0; next.pop().unwrap_or(0) as usize];
        for pair in dealt.flatten() {
            let place = &mut next[(pair >> 32) as usize - first];
            rows[*place as usize] = pair as u32;
            *place += 1;
        }
        // Each place has moved on to the end of its list.
        Self { rows, ends: next }
    }

    fn for_each(&self, mut action: impl FnMut(&[u32]) -> Result<()>) -> Result<()> {
        let mut start = 0;
        for &end in &self.ends {
            action(&self.rows[start..end as usize])?;
            start = end as usize;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::for_each_list;
    use crate::format::BLOCK_ROWS;
    use crate::huge::HugeMap;
    use crate::segment::frames::{Framer, Rows};

    proptest! {
        #[test]
        fn lists_are_those_of_a_naive_search(
            codes in proptest::collection::vec(0_u32..1000, 1..3000), times in prop_oneof![Just(1), Just(BLOCK_ROWS / 500)],
            first in 0_usize..1000, count in 1_usize..1000, threads in 0_usize..4,
        ) {
            let codes: Vec<u32> = codes.iter().cycle().take(codes.len() * times).copied().collect();
            let mut framer = Framer::default();
            framer.extend(&codes);
            let mut rows = Rows::default();
            framer.take_frames().into_iter().for_each(|frame| rows.push(0, frame));
            rows.push_worker(framer.into_parts().0, 0);
            let rows = rows.coded(&[HugeMap::of((0..1000).rev())], threads);
            let mut lists = vec![Vec::new(); 2000];
            (0..).zip(&codes).for_each(|(row, &code)| lists[999 - code as usize].push(row));
            let lists = lists[first..first + count].to_vec();
            let mut starts = vec![0];
            starts.extend(lists.iter().scan(0, |sum, list| {
                *sum += list.len() as u64;
                Some(*sum)
            }));
            let mut seen = Vec::new();
            for_each_list(&rows, threads, first, &starts, |list| {
                seen.push(list.to_vec());
                Ok(())
            }).expect("nothing here fails");
            prop_assert_eq!(seen, lists);
        }
    }
}
