//! Collected rows become one segment: dictionary, class map, codes, postings, and the footer's entry. Files
//! are written this way, and a packed one is opened this way, too.

mod blocks;
mod frames;
mod options;
mod row_sort;
mod side_by_side;

use std::thread;

pub(crate) use frames::{Collector, Frame, KnownCodes};
pub(crate) use options::Techniques;
pub use options::{EncodeOptions, Index, Profile, Technique};

use crate::codes::{ClassTable, Effort};
use crate::dictionary::{DictionaryOptions, DictionaryWriter, Interner, Merged, SortedValues, merge};
use crate::error::{ColumnError, Result};
use crate::format::{
    Footer, HEADER_BYTES, SEGMENT_ROWS_LIMIT, Section, SectionKind, SectionWriter, SegmentEntry,
};
use crate::huge::HugeMap;
use crate::postings::PostingsWriter;
use crate::progress::{Step, Watch};
use crate::ranking::RankPlan;
use crate::storage::WriteAt;
use blocks::{CodeSource, class_map_bytes, estimated_bytes, write_class_map, write_codes};
use frames::{CodedRows, Rows};
use row_sort::for_each_list;
use side_by_side::side_by_side;

/// Passes in which rows are sorted by code: each takes eight bytes per row that it sorts, which costs
/// less than memory for all rows.
const PASSES: u64 = 8;

/// Rows sorted in a pass, at least.
const FEWEST_ROWS_PER_PASS: u64 = 1 << 22;

/// Values from which on a thread pays for what is done with their counts.
const LONG_DICTIONARY: usize = 1 << 14;

/// Rows as they were collected: each worker with the values that it met.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    rows: Rows,
    interners: Vec<Interner>,
}

impl Collected {
    /// Adds the rows of `collector` behind the others.
    pub(crate) fn push(&mut self, mut collector: Collector) {
        let frames = collector.take_frames();
        let worker = self.push_worker(collector);
        self.push_frames(worker, frames);
    }

    /// Adds a worker, whose frames were taken; gives its number.
    pub(crate) fn push_worker(&mut self, collector: Collector) -> usize {
        let (interner, packed) = collector.into_parts();
        self.interners.push(interner);
        self.rows.push_worker(packed);
        self.interners.len() - 1
    }

    /// Adds rows of a worker behind the others.
    pub(crate) fn push_frames(&mut self, worker: usize, frames: Vec<Frame>) {
        frames.into_iter().for_each(|frame| self.rows.push(worker, frame));
    }

    pub(crate) fn row_count(&self) -> u64 {
        self.rows.row_count()
    }

    /// Sorts the values and numbers them.
    pub(crate) fn numbered(self, threads: usize) -> Result<NumberedRows> {
        let Self { rows, interners } = self;
        if rows.row_count() >= SEGMENT_ROWS_LIMIT {
            return Err(ColumnError::Limit {
                what: "rows of a segment",
                seen: rows.row_count(),
                limit: SEGMENT_ROWS_LIMIT - 1,
                hint: "write the rest as a further segment with `append`",
            });
        }
        let values = merge(sorted(interners, threads));
        Ok(NumberedRows {
            rows,
            values,
            left_out: Techniques::default(),
            name: None,
        })
    }
}

/// Rows with their values in byte order, whose codes are those of the file.
#[derive(Debug)]
pub(crate) struct NumberedRows {
    pub(crate) rows: Rows,
    pub(crate) values: Merged,
    /// What the file is written without.
    pub(crate) left_out: Techniques,
    /// What the column is called.
    pub(crate) name: Option<String>,
}

impl NumberedRows {
    /// Writes a file of the ordinary form: the rows as a segment behind those of `existing`, if there
    /// is such a file, of which that is the footer and where its segments end. Gives the footer's
    /// entry and the size of the file.
    pub(crate) fn write_file(
        mut self,
        options: &EncodeOptions,
        watch: &Watch,
        existing: Option<(Footer, u64)>,
        out: &mut dyn WriteAt,
    ) -> Result<(SegmentEntry, u64)> {
        let replaces = existing.is_some();
        let (mut footer, end) = existing.unwrap_or((Footer::default(), HEADER_BYTES as u64));
        let mut sections = SectionWriter::new(out, end);
        let name = self.name.take();
        let name = name.map(|name| sections.finish(SectionKind::Name, name.as_bytes(), 0));
        let name = name.transpose()?;
        let mut entry = self.write(options, watch, &mut sections)?;
        entry.sections.extend(name);
        footer.segments.push(entry.clone());
        Ok((entry, sections.write_footer(&footer, replaces)?))
    }

    /// Writes the sections; gives the footer's entry.
    fn write(
        self,
        options: &EncodeOptions,
        watch: &Watch,
        out: &mut SectionWriter<'_>,
    ) -> Result<SegmentEntry> {
        let Self {
            rows,
            values: mut merged,
            left_out,
            ..
        } = self;
        let (value_bytes, text_bytes) = merged.value_bytes();
        // The dictionary is written while another thread, if there is one, plans how its values are numbered.
        let (counts, is_long) = (&merged.counts, merged.value_count() >= LONG_DICTIONARY);
        let plan = || match options.index {
            Index::Only => RankPlan::default(),
            _ if left_out.has(Technique::Classes) => RankPlan::default(),
            _ => RankPlan::of_counts(counts),
        };
        let ((plan, floor_bits), dictionary) = both(
            is_long && options.threads > 1,
            || (plan(), floor_bits(counts)),
            || write_dictionary(&merged, value_bytes, options.dictionary(left_out), out),
        );
        let mut entry = SegmentEntry {
            row_count: rows.row_count(),
            value_count: merged.value_count() as u64,
            null_count: merged.null_count,
            text_bytes,
            floor_bits,
            sections: vec![dictionary?],
        };
        merged.forget_values();
        let mut maps = std::mem::take(&mut merged.codes);
        if options.index != Index::Only {
            let null = (merged.null_count > 0).then_some(entry.value_count as u32);
            let mut codes = Codes {
                rows: &rows,
                maps: &mut maps,
                null,
                options,
                effort: options.effort(left_out),
            };
            entry.sections.extend(codes.write(&plan, watch, out)?);
        }
        if options.index != Index::None {
            let rows = rows.coded(&maps, options.threads);
            drop(maps);
            entry.sections.push(write_postings(
                &rows,
                options.threads,
                &merged.counts,
                watch,
                out,
            )?);
        }
        Ok(entry)
    }
}

/// Runs both, side by side or one after the other.
fn both<A: Send, B>(
    side_by_side: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if !side_by_side {
        return (first(), second());
    }
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        let first = first
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (first, second)
    })
}

/// The values of each worker in byte order, sorted on a thread per worker if the caller allows more than one.
fn sorted(interners: Vec<Interner>, threads: usize) -> Vec<SortedValues> {
    if threads <= 1 {
        return interners.into_iter().map(Interner::into_sorted).collect();
    }
    side_by_side(interners, Interner::into_sorted)
}

fn write_dictionary(
    merged: &Merged,
    value_bytes: usize,
    options: DictionaryOptions,
    out: &mut SectionWriter<'_>,
) -> Result<Section> {
    let mut dictionary = DictionaryWriter::new(options, merged.value_count(), value_bytes)?;
    merged.for_each_value(|value| dictionary.push(value, out))?;
    dictionary.finish(out)
}

/// What forward codes are written from.
struct Codes<'a> {
    rows: &'a Rows,
    /// For each worker and epoch the code of each provisional one: while ranks are written, their ranks.
    maps: &'a mut [Vec<HugeMap>],
    /// The code of null, if there is one.
    null: Option<u32>,
    options: &'a EncodeOptions,
    effort: Effort,
}

impl Codes<'_> {
    /// Writes the class map, if ranks pay, and the codes. Afterwards the maps lead to codes
    /// again if more is to be written.
    fn write(&mut self, plan: &RankPlan, watch: &Watch, out: &mut SectionWriter<'_>) -> Result<Vec<Section>> {
        let (effort, threads) = (self.effort, self.options.threads);
        if let (Some((classes, table)), Some(ranks)) = (&plan.map, plan.ranks()) {
            let codes = HugeMap::inverse(&ranks);
            let ranks = HugeMap::of(ranks.into_iter());
            let bytes_in_codes = if effort.exhaustive {
                Some(estimated_bytes(&self.source(None), effort)?)
            } else {
                None
            };
            self.translate(&ranks);
            let source = CodeSource {
                null: self.null.map(|null| ranks.get(null)),
                ..self.source(Some((table, &codes)))
            };
            if pays(classes, &source, bytes_in_codes, effort)? {
                let sections = vec![
                    write_class_map(classes, effort, out)?,
                    write_codes(&source, effort, threads, watch, out)?,
                ];
                if self.options.index != Index::None {
                    self.translate(&codes);
                }
                return Ok(sections);
            }
            self.translate(&codes);
        }
        Ok(vec![write_codes(
            &self.source(None),
            effort,
            threads,
            watch,
            out,
        )?])
    }

    fn source<'a>(&'a self, classes: Option<(&'a ClassTable, &'a HugeMap)>) -> CodeSource<'a> {
        CodeSource {
            rows: self.rows,
            maps: self.maps,
            classes,
            null: self.null,
        }
    }

    /// Makes the maps lead to what `by` says of what they lead to.
    fn translate(&mut self, by: &HugeMap) {
        let translate = |maps: &mut Vec<HugeMap>| maps.iter_mut().for_each(|map| map.translate(by));
        if self.options.threads <= 1 || by.len() < LONG_DICTIONARY {
            self.maps.iter_mut().for_each(translate);
        } else {
            side_by_side(self.maps.iter_mut(), translate);
        }
    }
}

/// Whether sampled blocks are smaller in ranks, the map of `classes` included, than in codes: ranks hide the
/// order that zstd and deltas live on. `true` if the bytes in codes were not asked for.
fn pays(
    classes: &[u32],
    in_ranks: &CodeSource<'_>,
    bytes_in_codes: Option<u64>,
    effort: Effort,
) -> Result<bool> {
    let Some(bytes_in_codes) = bytes_in_codes else {
        return Ok(true);
    };
    Ok(estimated_bytes(in_ranks, effort)? + class_map_bytes(classes, effort)? < bytes_in_codes)
}

/// Sorts rows by code, a range of codes at a time, and writes their lists.
fn write_postings(
    rows: &[CodedRows],
    threads: usize,
    counts: &[u32],
    watch: &Watch,
    out: &mut SectionWriter<'_>,
) -> Result<Section> {
    let row_count: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let mut writer = PostingsWriter::new(counts, row_count as u32);
    let per_pass = FEWEST_ROWS_PER_PASS.max(row_count / PASSES);
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
        for_each_list(rows, threads, first, &starts, |list| writer.push(list, out))?;
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
