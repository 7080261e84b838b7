//! Collected rows become one segment: dictionary, class map, codes, postings, and the footer's entry.

use std::thread;

use super::blocks::{CodeSource, class_map_bytes, estimated_bytes, write_class_map, write_codes};
use super::frames::Rows;
use super::options::{EncodeOptions, Index};
use super::row_sort::for_each_list;
use super::sections::SectionWriter;
use crate::codes::Effort;
use crate::dictionary::{DictionaryWriter, Interner, Merged, SortedValues, merge};
use crate::error::{ColumnError, Result};
use crate::format::{SEGMENT_ROWS_LIMIT, Section, SegmentEntry};
use crate::huge::HugeMap;
use crate::postings::PostingsWriter;
use crate::progress::{Step, Watch};
use crate::ranking::RankPlan;

/// Rows sorted by code at a time, at least; a pass more over the rows costs less than memory for all of them.
const FEWEST_ROWS_PER_PASS: u64 = 1 << 22;

/// What the encoder holds when the last row is in.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) rows: Rows,
    pub(super) interners: Vec<Interner>,
}

impl Collected {
    /// Estimate from above, in bytes, of what the segment takes; decides the alignment only.
    pub(super) fn estimated_bytes(&self) -> u64 {
        let values: usize = self
            .interners
            .iter()
            .map(|interner| interner.value_bytes() + interner.value_count())
            .sum();
        values as u64 + self.rows.row_count() * 6
    }

    /// Writes the sections; gives the footer's entry.
    pub(super) fn write(
        self,
        options: &EncodeOptions,
        watch: &Watch,
        out: &mut SectionWriter<'_>,
    ) -> Result<SegmentEntry> {
        let Self { rows, interners } = self;
        if rows.row_count() >= SEGMENT_ROWS_LIMIT {
            return Err(ColumnError::Limit {
                what: "rows of a segment",
                seen: rows.row_count(),
                limit: SEGMENT_ROWS_LIMIT - 1,
                hint: "write the rest as a further segment with `append`",
            });
        }
        let mut merged = merge(sorted(interners, options.threads));
        let (value_bytes, text_bytes) = merged.value_bytes();
        let mut entry = SegmentEntry {
            row_count: rows.row_count(),
            value_count: merged.value_count() as u64,
            null_count: merged.null_count,
            text_bytes,
            floor_bits: floor_bits(&merged.counts),
            sections: Vec::new(),
        };
        entry
            .sections
            .push(write_dictionary(&merged, value_bytes, options, out)?);
        merged.forget_values();
        let plan = if options.index == Index::Only {
            RankPlan::default()
        } else {
            RankPlan::of_counts(&merged.counts)
        };
        let maps = std::mem::take(&mut merged.codes);
        if options.index != Index::Only {
            let effort = options.effort();
            let mut source = CodeSource {
                rows: &rows,
                maps: &maps,
                ranks: plan.ranks().map(|ranks| HugeMap::of(ranks.into_iter())),
                classes: plan.map.as_ref().map(|(_, table)| table),
                null: (merged.null_count > 0).then_some(entry.value_count as u32),
            };
            if let Some((classes, _)) = &plan.map {
                if effort.exhaustive && !pays(classes, &source, effort)? {
                    (source.ranks, source.classes) = (None, None);
                } else {
                    entry.sections.push(write_class_map(classes, effort, out)?);
                }
            }
            entry
                .sections
                .push(write_codes(&source, effort, options.threads, watch, out)?);
        }
        if options.index != Index::None {
            entry
                .sections
                .push(write_postings(&rows, &maps, &merged.counts, watch, out)?);
        }
        Ok(entry)
    }
}

/// The values of each worker in byte order, sorted on as many threads as there are workers if the caller allows more than one.
fn sorted(interners: Vec<Interner>, threads: usize) -> Vec<SortedValues> {
    if threads <= 1 || interners.len() <= 1 {
        return interners.into_iter().map(Interner::into_sorted).collect();
    }
    thread::scope(|scope| {
        let running: Vec<_> = interners
            .into_iter()
            .map(|interner| scope.spawn(|| interner.into_sorted()))
            .collect();
        running
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}

fn write_dictionary(
    merged: &Merged,
    value_bytes: usize,
    options: &EncodeOptions,
    out: &mut SectionWriter<'_>,
) -> Result<Section> {
    let mut dictionary = DictionaryWriter::new(options.dictionary(), merged.value_count(), value_bytes)?;
    merged.for_each_value(|value| dictionary.push(value, out))?;
    dictionary.finish(out)
}

/// Whether sampled blocks are smaller in ranks, the map of `classes` included, than in codes: ranks hide the order that zstd and
/// deltas live on.
fn pays(classes: &[u32], in_ranks: &CodeSource<'_>, effort: Effort) -> Result<bool> {
    let in_codes = CodeSource {
        ranks: None,
        classes: None,
        ..*in_ranks
    };
    let with_map = estimated_bytes(in_ranks, effort)? + class_map_bytes(classes, effort)?;
    Ok(with_map < estimated_bytes(&in_codes, effort)?)
}

/// Sorts rows by code, a range of codes at a time, and writes their lists.
fn write_postings(
    rows: &Rows,
    maps: &[Vec<HugeMap>],
    counts: &[u32],
    watch: &Watch,
    out: &mut SectionWriter<'_>,
) -> Result<Section> {
    let row_count = rows.row_count();
    let mut writer = PostingsWriter::new(counts, row_count as u32);
    let per_pass = FEWEST_ROWS_PER_PASS.max(row_count / 4);
    let mut first = 0;
    let mut done = 0;
    while first < counts.len() {
        let mut starts = vec![0_u64];
        let mut total = 0;
        for &count in &counts[first..] {
            if total > 0 && total + u64::from(count) > per_pass {
                break;
            }
            total += u64::from(count);
            starts.push(total);
        }
        for_each_list(rows, maps, first, &starts, |list| writer.push(list, out))?;
        first += starts.len() - 1;
        done += total;
        watch.report(Step::Postings, done, row_count);
    }
    writer.finish(out)
}

/// Counts whose ln n! is computed once.
const SMALL_COUNTS: u64 = 1024;

/// log2 of the multinomial coefficient of `counts`, rounded up.
fn floor_bits(counts: &[u32]) -> u64 {
    let rows: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    // Most counts of a long dictionary are small, and a logarithm takes as long as several rows.
    let small: Vec<f64> = (0..SMALL_COUNTS).map(ln_factorial).collect();
    let of_count = |&count: &u32| match small.get(count as usize) {
        Some(&known) => known,
        None => ln_factorial(u64::from(count)),
    };
    let of_counts: f64 = counts.iter().map(of_count).sum();
    ((ln_factorial(rows) - of_counts) / std::f64::consts::LN_2)
        .max(0.0)
        .ceil() as u64
}

/// ln n!: the sum for small n, Stirling's series with two terms of correction (error below 10^-9) for others.
fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|factor| (factor as f64).ln()).sum();
    }
    let n = n as f64;
    n * n.ln() - n + 0.5 * (std::f64::consts::TAU * n).ln() + 1.0 / (12.0 * n) - 1.0 / (360.0 * n * n * n)
}

#[cfg(test)]
mod tests {
    use super::floor_bits;

    #[test]
    fn the_floor_is_the_logarithm_of_the_number_of_orders() {
        assert_eq!(floor_bits(&[]), 0);
        assert_eq!(floor_bits(&[1000]), 0);
        // 4! / (1! 1! 2!) = 12 orders.
        assert_eq!(floor_bits(&[1, 1, 2]), 4);
        // Two equal halves of 2n rows: about 2n − log2(√(πn)) bits.
        let expected = 2.0 * 1e6 - (std::f64::consts::PI * 1e6).sqrt().log2();
        assert!((floor_bits(&[1_000_000, 1_000_000]) as f64 - expected).abs() <= 1.0);
    }
}
