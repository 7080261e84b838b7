//! The sequences section of a block: ⟨literal length, match length, offset⟩ through three FSE tables.

pub(super) mod codes;

pub(crate) use codes::Sequence;
use codes::{Field, Fields};

use super::bits::BitWriter;
use super::fse::{self, COST_ONE_BIT, Encoder, Normalized, Tables};

/// Fewer sequences than this use the predefined tables unasked: no own one could repay its description.
const OWN_TABLES_FROM: usize = 64;
/// What a symbol takes in the description of a table, on average of those that occur and those that do not.
const DESCRIBED_SYMBOL: u32 = 9 * COST_ONE_BIT / 2;
/// What an own table has to save at least: making it takes both sides as long as some dozens of sequences.
const LEAST_SAVING: u32 = 16 * 8 * COST_ONE_BIT;

/// Writes sequences sections; keeps its tables between pages.
pub(super) struct SequencesEncoder {
    fields: Fields,
    encoders: [Encoder; 3],
    predefined: [Encoder; 3],
    /// What each symbol costs with the predefined tables.
    predefined_costs: [[u32; 64]; 3],
}

impl SequencesEncoder {
    pub(super) fn new() -> Self {
        Self {
            fields: Fields::new(),
            encoders: [Encoder::new(), Encoder::new(), Encoder::new()],
            predefined: Field::ALL.map(|field| {
                let mut encoder = Encoder::new();
                encoder.build(&field.predefined());
                encoder
            }),
            predefined_costs: Field::ALL.map(|field| field.predefined().costs()),
        }
    }

    /// Writes the section of `sequences`; `None` when `target` is too small.
    #[inline(always)]
    pub(super) fn encode(
        &mut self,
        sequences: &[Sequence],
        tables: Tables,
        target: &mut [u8],
    ) -> Option<usize> {
        let count = sequences.len();
        let mut end = if count < 128 {
            *target.first_mut()? = count as u8;
            1
        } else {
            target
                .get_mut(..2)?
                .copy_from_slice(&[(count >> 8) as u8 + 128, count as u8]);
            2
        };
        if count == 0 {
            return Some(end);
        }
        self.fields.split(sequences);
        let modes_at = end;
        end += 1;
        let mut modes = 0;
        let mut own = [false; 3];
        for (index, field) in Field::ALL.into_iter().enumerate() {
            let (mode, described) = self.choose_table(index, field, tables, count, target.get_mut(end..)?)?;
            modes |= mode << (6 - 2 * index);
            own[index] = mode != 0;
            end += described;
        }
        target[modes_at] = modes;
        let encoders = [0, 1, 2].map(|index| {
            if own[index] {
                &self.encoders[index]
            } else {
                &self.predefined[index]
            }
        });
        Some(end + self.fields.encode(encoders, target.get_mut(end..)?)?)
    }

    /// Picks the cheapest table for one field and describes it: predefined (0), a single symbol (1) or own (2).
    #[inline(always)]
    fn choose_table(
        &mut self,
        index: usize,
        field: Field,
        tables: Tables,
        count: usize,
        target: &mut [u8],
    ) -> Option<(u8, usize)> {
        let all = self.fields.counts(field);
        let max_symbol = all[..=field.max_symbol()].iter().rposition(|&count| count > 0)?;
        let counts = &all[..=max_symbol];
        let total = count as u32;
        if count > 2 && counts[max_symbol] == total {
            *target.first_mut()? = max_symbol as u8;
            self.encoders[index].build_single();
            return Some((1, 1));
        }
        if tables == Tables::Quick || count < OWN_TABLES_FROM {
            return Some((0, 0));
        }
        // What an own table would save is estimated before it is made: most of the work is in making it.
        let described = (max_symbol as u32 + 1) * DESCRIBED_SYMBOL;
        let own = fse::entropy_cost(counts, total) + described + LEAST_SAVING;
        let costs = all.iter().zip(&self.predefined_costs[index]);
        if costs.map(|(&count, &cost)| count * cost).sum::<u32>() < own {
            return Some((0, 0));
        }
        let log = fse::suitable_log(field.max_log(), total, max_symbol);
        let normalized = Normalized::scale(counts, total, log);
        let described = normalized.describe(target)?;
        self.encoders[index].build(&normalized);
        Some((2, described))
    }
}

impl Fields {
    /// Writes the bit stream, last sequence first.
    #[inline(always)]
    fn encode(&self, [literal, offset, matched]: [&Encoder; 3], target: &mut [u8]) -> Option<usize> {
        let mut writer = BitWriter::new(target);
        let (last, before) = self.entries().split_last()?;
        let mut states = [
            literal.start(last.literal_code),
            offset.start(last.offset_code),
            matched.start(last.match_code),
        ];
        last.push_extra(&mut writer);
        for entry in before.iter().rev() {
            states[1] = offset.encode(states[1], entry.offset_code, &mut writer);
            states[2] = matched.encode(states[2], entry.match_code, &mut writer);
            states[0] = literal.encode(states[0], entry.literal_code, &mut writer);
            entry.push_extra(&mut writer);
        }
        matched.finish(states[2], &mut writer);
        offset.finish(states[1], &mut writer);
        literal.finish(states[0], &mut writer);
        writer.close()
    }
}
