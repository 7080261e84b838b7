//! Collected rows become one segment: dictionary, class map, codes, postings, and the footer's entry. Files
//! are written this way, and a packed one is opened this way, too.

mod blocks;
mod dictionary;
mod frames;
mod options;
mod row_sort;
mod side_by_side;
mod without_index;
mod zone;

use std::ops::Range;
use std::sync::{PoisonError, RwLock};

pub(crate) use frames::{Collector, Frame, Framer, KnownCodes};
pub(crate) use options::Techniques;
pub use options::{EncodeOptions, Index, Profile, Technique};

use crate::codes::{ClassTable, Effort};
use crate::dictionary::{Interner, Merged, merge};
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
use dictionary::write_dictionary;
use frames::{CodedRows, Rows};
use row_sort::for_each_list;
pub(crate) use side_by_side::side_by_side;

/// Passes in which rows are sorted by code: each takes eight bytes per row that it sorts, which costs
/// less than memory for all rows.
const PASSES: u64 = 8;

/// Rows sorted in a pass, at least.
const FEWEST_ROWS_PER_PASS: u64 = 1 << 22;

/// Values from which on a thread pays for what is done with their counts.
const LONG_DICTIONARY: usize = 1 << 14;

/// Rows as they were collected, with the values that they name.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    rows: Rows,
    /// Each with the rows of each of its codes.
    interners: Vec<(Interner, Vec<u32>)>,
}

impl Collected {
    /// Adds the rows of `collector` behind the others.
    pub(crate) fn push(&mut self, collector: Collector) {
        let (interner, mut framer) = collector.into_parts();
        let frames = framer.take_frames();
        let workers = self.push_workers(interner, [framer]);
        self.push_frames(workers.start, frames);
    }

    /// Adds workers whose rows name values of the same interner, and whose frames were taken; gives their numbers.
    pub(crate) fn push_workers(
        &mut self,
        interner: Interner,
        framers: impl IntoIterator<Item = Framer>,
    ) -> Range<usize> {
        let mut counts = vec![0_u32; interner.value_count()];
        let first = self.rows.worker_count();
        for framer in framers {
            let (packed, of_worker) = framer.into_parts();
            for (count, of_worker) in counts.iter_mut().zip(of_worker) {
                // More rows than a segment may have are refused before the counts are used.
                *count = count.wrapping_add(of_worker);
            }
            self.rows.push_worker(packed, self.interners.len());
        }
        self.interners.push((interner, counts));
        first..self.rows.worker_count()
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
        let sorted = interners
            .into_iter()
            .map(|(interner, counts)| interner.into_sorted(counts, threads));
        let values = merge(sorted.collect());
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
        let counts = &merged.counts;
        let plan = || match options.index {
            Index::Only => RankPlan::default(),
            _ if left_out.has(Technique::Classes) => RankPlan::default(),
            _ => RankPlan::of_counts(counts),
        };
        // How values are numbered is planned while the dictionary is written.
        let ((plan, floor_bits), dictionary) = write_dictionary(
            &merged,
            value_bytes,
            options.dictionary(left_out),
            options.threads,
            || (plan(), floor_bits(counts)),
            out,
        )?;
        let mut entry = SegmentEntry {
            row_count: rows.row_count(),
            value_count: merged.value_count() as u64,
            null_count: merged.null_count,
            text_bytes,
            floor_bits,
            sections: vec![dictionary],
        };
        merged.forget_values();
        let (mut maps, rows) = (std::mem::take(&mut merged.codes), RwLock::new(rows));
        if options.index != Index::Only {
            let null = (merged.null_count > 0).then_some(entry.value_count as u32);
            let mut codes = Codes {
                rows: &rows,
                row_count: entry.row_count,
                maps: &mut maps,
                null,
                options,
                effort: options.effort(left_out),
            };
            entry.sections.extend(codes.write(&plan, watch, out)?);
        }
        if options.index != Index::None {
            let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
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

/// What forward codes are written from.
struct Codes<'a> {
    rows: &'a RwLock<Rows>,
    row_count: u64,
    /// For each dictionary the code of each provisional one: while ranks are written, their ranks.
    maps: &'a mut [HugeMap],
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
        if let (Some((classes, table)), Some(mut ranks)) = (&plan.map, plan.ranks()) {
            let codes = HugeMap::inverse(&ranks);
            let null = self.null.map(|null| ranks[null as usize]);
            let bytes_in_codes = if effort.exhaustive {
                Some(estimated_bytes(&self.source(None), effort)?)
            } else {
                None
            };
            // Rows that name their classes need not be asked for them. Where other encodings than classes are tried on
            // each block, and where null is looked for, ranks are needed.
            let is_named = table.can_name() && null.is_none() && !effort.exhaustive;
            if is_named {
                for (rank, &class) in ranks.iter_mut().zip(classes) {
                    *rank = table.named(class, *rank);
                }
            }
            self.translate(codes.len(), |code| ranks[code as usize]);
            let source = CodeSource {
                null,
                is_named,
                ..self.source(Some((table, &codes)))
            };
            let pays = pays(classes, &source, bytes_in_codes, effort)?;
            let sections = if pays {
                vec![
                    write_class_map(classes, effort, out)?,
                    write_codes(&source, effort, threads, watch, out)?,
                ]
            } else {
                Vec::new()
            };
            if !pays || self.options.index != Index::None {
                let rank = |number| if is_named { table.rank(number) } else { number };
                self.translate(codes.len(), |number| codes.get(rank(number)));
            }
            if pays {
                return Ok(sections);
            }
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
            row_count: self.row_count,
            forgets_rows: self.options.index == Index::None,
            maps: self.maps,
            is_named: false,
            classes,
            null: self.null,
        }
    }

    /// Makes the maps lead to what `by` says of what they lead to, for `symbols` symbols.
    fn translate(&mut self, symbols: usize, by: impl Fn(u32) -> u32 + Sync) {
        if self.options.threads <= 1 || symbols < LONG_DICTIONARY {
            self.maps.iter_mut().for_each(|map| map.translate(&by));
        } else {
            side_by_side(self.maps.iter_mut(), |map| map.translate(&by));
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
