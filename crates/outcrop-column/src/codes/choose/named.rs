//! The short way to a block in classes, for rows that name theirs: taken where samples say that no other encoding
//! is smaller, and the block is the same.

use super::{BlockEncoder, SAMPLE_ROWS, deltas_choice, planes_choice, runs_choice};
use crate::codes::encoding;
use crate::error::Result;
use crate::format::bits_of;
use crate::kernels::{Measured, measure};

/// Blocks that took the long way after this one in a row until it is tried for one in as many only.
const WAYS_BACK: u32 = 8;

impl BlockEncoder<'_> {
    /// The block of rows that are [named](super::ClassTable::named) and measured so, in classes, and in the memory of `spare`. `None`
    /// where [`BlockEncoder::encode_measured`] would look further than its samples of their ranks: only it can tell what is
    /// smallest then. Not for an exhaustive effort, which always looks further.
    pub(crate) fn encode_named(
        &mut self,
        named: &[u32],
        measured: &Measured,
        spare: &mut Vec<u8>,
    ) -> Result<Option<Vec<u8>>> {
        let (count, Some(classes)) = (named.len(), self.classes) else {
            return Ok(None);
        };
        if count < 2 * SAMPLE_ROWS || measured.least == measured.greatest || !self.is_worth_it() {
            return Ok(None);
        }
        self.ways_back += 1;
        let (least, greatest) = (classes.rank(measured.least), classes.rank(measured.greatest));
        let width = bits_of(greatest - least);
        let sample = &named[count / 2..][..SAMPLE_ROWS];
        let sample: Vec<u32> = sample.iter().map(|&named| classes.rank(named)).collect();
        self.dealt.fill(named, classes);
        let bytes = self.dealt.encoded_bytes(classes);
        // All deltas have at least the bits of those of some rows.
        let delta_width = bits_of(measure(&sample).delta_bits);
        let others = [
            planes_choice(count, width),
            runs_choice(measured.run_count, width),
            deltas_choice(count, delta_width),
        ];
        let is_beaten = others[..2 + usize::from(self.effort.tries_deltas)]
            .iter()
            .any(|&other| other < (bytes, encoding::CLASSES));
        let rank = |row: usize| classes.rank(named[row]);
        if is_beaten || self.local.fill(count, rank, least, width, bytes) {
            return Ok(None);
        }
        for other in [encoding::PLANES, encoding::DELTAS] {
            let is_tried = other == encoding::PLANES || self.effort.tries_deltas;
            if is_tried && self.rows_shrink(other, sample.clone(), count, bytes)? {
                return Ok(None);
            }
        }
        self.ways_back = 0;
        let mut out = std::mem::take(spare);
        out.clear();
        out.reserve_exact(bytes + 1);
        out.push(encoding::CLASSES);
        self.dealt.push_to(classes, &mut out);
        Ok(Some(out))
    }

    /// Whether the last blocks did not all take the long way after this one: then it is only tried now and then.
    fn is_worth_it(&mut self) -> bool {
        let is_worth_it = self.ways_back < WAYS_BACK || self.ways_back.is_multiple_of(WAYS_BACK);
        self.ways_back += u32::from(!is_worth_it);
        is_worth_it
    }

    /// The least and the greatest rank of each class that the block of [`BlockEncoder::encode_named`] has rows of.
    pub(crate) fn class_extremes(&self) -> impl Iterator<Item = [u32; 2]> {
        let extremes = self.classes.map(|classes| {
            let extremes = self.dealt.extremes(classes);
            extremes.map(|ends| ends.map(|named| classes.rank(named)))
        });
        extremes.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codes::{ClassTable, Effort};

    /// Ranks of several shapes, each by its parameters: skewed, ascending, in runs, few, noise.
    fn ranks_of(shape: u32, seed: u64, count: usize, symbols: u32) -> Vec<u32> {
        let mut state = seed | 1;
        let mut next = || {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as u32
        };
        let mut before = 0;
        let rank = |row: usize| {
            let noise = next();
            before = match shape {
                0 => ((u64::from(symbols) * u64::from(noise >> 16) * u64::from(next() >> 16)) >> 30) as u32,
                1 => row as u32 / 3,
                2 if !noise.is_multiple_of(7) => before,
                3 => noise % 40 * 1000,
                4 => before + noise % 5,
                _ => noise,
            } % symbols;
            before
        };
        (0..count).map(rank).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 64 }))]

        #[test]
        fn the_short_way_leads_to_the_same_block_or_nowhere(
            shape in 0_u32..6, seed: u64, count in prop_oneof![1_usize..100, 8000_usize..20_000], small in 1_u32..40, widest in 4_u32..18,
            tries_deltas: bool, has_zstd: bool,
        ) {
            let sizes: Vec<u32> = (0..16).map(|class| if class < 8 { small } else { 1 << (widest * class / 15) }).collect();
            let table = ClassTable::of_sizes(&sizes);
            let ranks = ranks_of(shape, seed, count, sizes.iter().sum());
            let named: Vec<u32> = ranks.iter().map(|&rank| table.find_named(rank)).collect();
            let effort = Effort { zstd_level: has_zstd.then_some(3), exhaustive: false, tries_deltas, joins_blocks: false };
            let mut encoder = BlockEncoder::new(Some(&table), effort).expect("zstd has memory");
            let block = encoder.encode_named(&named, &measure(&named), &mut Vec::new()).expect("zstd has memory");
            let expected = encoder.encode(&ranks).expect("zstd has memory");
            prop_assert!(block.is_none_or(|block| block == expected));
        }
    }

    #[test]
    fn skewed_rows_go_the_short_way() {
        let sizes: Vec<u32> = (0..16).map(|class| 1 << class).collect();
        let table = ClassTable::of_sizes(&sizes);
        let mut state = 1_u64;
        let rows: Vec<u32> = (0..1 << 16)
            .map(|_| {
                state = state
                    .wrapping_mul(0x5851_f42d_4c95_7f2d)
                    .wrapping_add(0x1405_7b7e_f767_814f);
                // Each class as often as each other one, and its ranks as often as each other.
                let (class, offset) = ((state >> 60) as usize, (state >> 33) as u32);
                table.find_named(table.class(class).0 + offset % sizes[class])
            })
            .collect();
        let effort = Effort {
            zstd_level: Some(3),
            exhaustive: false,
            tries_deltas: true,
            joins_blocks: false,
        };
        let mut encoder = BlockEncoder::new(Some(&table), effort).expect("zstd has memory");
        let block = encoder
            .encode_named(&rows, &measure(&rows), &mut Vec::new())
            .expect("zstd has memory");
        assert_eq!(block.as_deref().and_then(<[u8]>::first), Some(&encoding::CLASSES));
    }
}
