//! Rows sorted by code in two steps, each of which writes to few places at a time: dealing all rows straight to their codes' places
//! would miss cache and TLB with nearly each of them.

use super::frames::Rows;
use crate::error::Result;
use crate::format::BLOCK_ROWS;
use crate::huge::HugeMap;
use crate::planes::bits_of;

/// Log2 of the parts that codes are dealt into first: as many streams of writes as the TLB follows.
const PART_BITS: u8 = 8;

/// Calls `action` with the ascending rows of each of the codes from `first` on, code by code; those of code `first + i` are
/// number `starts[i]` to `starts[i + 1]` of all.
///
/// *Cost*: eight bytes a row of these codes, and a pass over all rows.
pub(super) fn for_each_list(
    rows: &Rows,
    maps: &[Vec<HugeMap>],
    first: usize,
    starts: &[u64],
    mut action: impl FnMut(&[u32]) -> Result<()>,
) -> Result<()> {
    let Some((&total, starts_of_codes)) = starts.split_last() else {
        return Ok(());
    };
    let code_count = starts_of_codes.len();
    let shift = bits_of(code_count as u32).saturating_sub(PART_BITS);
    let mut next: Vec<u64> = starts_of_codes.iter().step_by(1 << shift).copied().collect();
    let mut dealt = vec![0_u64; total as usize];
    let row_count = rows.row_count();
    let mut codes = vec![0; BLOCK_ROWS.min(row_count as usize)];
    for first_row in (0..row_count).step_by(BLOCK_ROWS) {
        let codes = &mut codes[..(row_count - first_row).min(BLOCK_ROWS as u64) as usize];
        rows.mapped(first_row, maps, codes);
        for (row, &code) in (first_row..).zip(&*codes) {
            let relative = (code as usize).wrapping_sub(first);
            if relative < code_count {
                let place = &mut next[relative >> shift];
                dealt[*place as usize] = (relative as u64) << 32 | row;
                *place += 1;
            }
        }
    }
    let mut sorted = Vec::new();
    for (part, bounds) in starts_of_codes.chunks(1 << shift).enumerate() {
        let first_of_part = part << shift;
        let (begin, end) = (bounds[0], starts[first_of_part + bounds.len()]);
        let mut next: Vec<u64> = bounds.iter().map(|start| start - begin).collect();
        sorted.resize((end - begin) as usize, 0);
        for &pair in &dealt[begin as usize..end as usize] {
            let place = &mut next[(pair >> 32) as usize - first_of_part];
            sorted[*place as usize] = pair as u32;
            *place += 1;
        }
        // Each place has moved on to the end of its list.
        let mut start = 0;
        for end in next {
            action(&sorted[start as usize..end as usize])?;
            start = end;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{HugeMap, for_each_list};
    use crate::encode::frames::{Collector, Rows};

    proptest! {
        #[test]
        fn lists_are_those_of_a_naive_search(
            codes in proptest::collection::vec(0_u32..1000, 1..3000), first in 0_usize..1000, count in 1_usize..1000,
        ) {
            let mut collector = Collector::default();
            collector.extend(&codes);
            let mut rows = Rows::default();
            collector.take_frames().into_iter().for_each(|frame| rows.push(0, frame));
            rows.push_worker(collector.into_parts().1);
            let maps = [vec![HugeMap::of(0..1000)]];
            let lists: Vec<Vec<u32>> = (first..first + count)
                .map(|code| (0..).zip(&codes).filter(|&(_, &other)| other as usize == code).map(|(row, _)| row).collect())
                .collect();
            let mut starts = vec![0];
            starts.extend(lists.iter().scan(0, |sum, list| {
                *sum += list.len() as u64;
                Some(*sum)
            }));
            let mut seen = Vec::new();
            for_each_list(&rows, &maps, first, &starts, |list| {
                seen.push(list.to_vec());
                Ok(())
            }).expect("nothing here fails");
            prop_assert_eq!(seen, lists);
        }
    }
}
