//! Writing one code block: measures what each encoding would take and writes the smallest.

use std::io::Write;

use super::class_table::Classifier;
use super::classes::Sorted;
use super::local::LocalDictionary;
use super::{encoding, zigzag};
use crate::error::Result;
use crate::format::push_u32;
use crate::planes::{bits_of, pack, packed_bytes, plane_bytes, plane_widths};

/// How hard to look for a smaller encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// zstd level; `None` never tries zstd.
    pub(crate) zstd_level: Option<i32>,
    /// Try zstd on every block, not only where a sample of it shrinks.
    pub(crate) exhaustive: bool,
}

/// Rows looked at to guess whether a block has few distinct values or compresses.
const SAMPLE_ROWS: usize = 4096;

/// What the plain encodings of a block would take, in bytes after byte 0.
#[derive(Debug)]
struct Measured {
    least: u32,
    greatest: u32,
    run_count: usize,
    delta_width: u8,
}

impl Measured {
    fn of(values: &[u32]) -> Self {
        let (mut least, mut greatest) = (u32::MAX, 0);
        for &value in values {
            least = least.min(value);
            greatest = greatest.max(value);
        }
        let pairs = || values.windows(2).map(|pair| (pair[0], pair[1]));
        let run_count = 1 + pairs().filter(|(before, after)| before != after).count();
        let delta_bits = pairs().fold(0, |bits, (before, after)| {
            bits | zigzag(after.wrapping_sub(before))
        });
        Self {
            least,
            greatest,
            run_count,
            delta_width: bits_of(delta_bits),
        }
    }

    fn width(&self) -> u8 {
        bits_of(self.greatest - self.least)
    }
}

/// Encodes blocks one after the other, reusing its buffers.
pub(crate) struct BlockEncoder<'a> {
    classifier: Option<&'a Classifier>,
    effort: Effort,
    sorted: Sorted,
    local: LocalDictionary,
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl<'a> BlockEncoder<'a> {
    pub(crate) fn new(classifier: Option<&'a Classifier>, effort: Effort) -> Result<Self> {
        let compressor = effort.zstd_level.map(zstd::bulk::Compressor::new).transpose()?;
        Ok(Self {
            classifier,
            effort,
            sorted: Sorted::default(),
            local: LocalDictionary::default(),
            compressor,
        })
    }

    /// The encoded block of `values` (at least one).
    pub(crate) fn encode(&mut self, values: &[u32]) -> Result<Vec<u8>> {
        let measured = Measured::of(values);
        let width = measured.width();
        if width == 0 {
            let mut out = vec![encoding::CONSTANT];
            push_u32(&mut out, measured.least);
            return Ok(out);
        }
        let count = values.len();
        let mut choices = vec![
            (5 + packed_bytes(count, width), encoding::PLANES),
            (
                9 + packed_bytes(measured.run_count, 16) + packed_bytes(measured.run_count, width),
                encoding::RUNS,
            ),
            (
                5 + packed_bytes(count - 1, measured.delta_width),
                encoding::DELTAS,
            ),
        ];
        if let Some(classifier) = self.classifier {
            self.sorted.fill(values, classifier);
            choices.push((self.sorted.encoded_bytes(classifier.table()), encoding::CLASSES));
        }
        if self.local.fill(values, measured.least, width) {
            let size = self.local.values().len();
            let index_width = bits_of(size as u32 - 1);
            choices.push((
                9 + packed_bytes(size, width) + packed_bytes(count, index_width),
                encoding::LOCAL,
            ));
        }
        let (plain_bytes, plain) = choices.iter().min().copied().unwrap_or((0, encoding::PLANES));
        let mut best = self.write(plain, values, &measured);
        debug_assert_eq!(best.len(), plain_bytes + 1);
        for other in [encoding::PLANES, encoding::DELTAS, plain] {
            // Deltas of unordered rows are wider and as random: only narrower ones are worth a try.
            let hopeless = other == encoding::DELTAS && measured.delta_width > width + 1;
            if hopeless || !self.sample_shrinks(other, values, plain_bytes)? {
                continue;
            }
            let body = self.write(other, values, &measured);
            let planes = match other {
                encoding::DELTAS => (count - 1, measured.delta_width),
                encoding::PLANES => (count, width),
                _ => (0, 0),
            };
            if let Some(packed) = self.compress(&body, planes)?
                && packed.len() < best.len()
            {
                best = packed;
            }
        }
        Ok(best)
    }

    fn write(&self, choice: u8, values: &[u32], measured: &Measured) -> Vec<u8> {
        let mut out = vec![choice];
        let width = measured.width();
        match (choice, self.classifier) {
            (encoding::CLASSES, Some(classifier)) => self.sorted.push_to(classifier.table(), &mut out),
            (encoding::RUNS, ..) => push_runs(values, width, measured.least, measured.run_count, &mut out),
            (encoding::DELTAS, ..) => {
                out.push(measured.delta_width);
                push_u32(&mut out, values[0]);
                let deltas: Vec<u32> = values
                    .windows(2)
                    .map(|pair| zigzag(pair[1].wrapping_sub(pair[0])))
                    .collect();
                pack(&deltas, measured.delta_width, &mut out);
            }
            (encoding::LOCAL, _) => push_local(values, &self.local, width, measured.least, &mut out),
            _ => {
                out[0] = encoding::PLANES;
                out.push(width);
                push_u32(&mut out, measured.least);
                pack(&relative(values, measured.least), width, &mut out);
            }
        }
        out
    }

    /// Whether zstd makes a sample of the block smaller than its share of the best plain encoding.
    fn sample_shrinks(&mut self, choice: u8, values: &[u32], plain_bytes: usize) -> Result<bool> {
        let Some(compressor) = &mut self.compressor else {
            return Ok(false);
        };
        if self.effort.exhaustive || values.len() < 2 * SAMPLE_ROWS {
            return Ok(true);
        }
        if choice == encoding::CLASSES || choice == encoding::LOCAL {
            // Their planes are those of values that zstd was tried on already, in an order that hides repeats.
            return Ok(false);
        }
        let middle = values.len() / 2;
        let sample = &values[middle..middle + SAMPLE_ROWS];
        let measured = Measured::of(sample);
        let sample: Vec<u32> = match choice {
            encoding::DELTAS => sample
                .windows(2)
                .map(|pair| zigzag(pair[1].wrapping_sub(pair[0])))
                .collect(),
            _ => relative(sample, measured.least),
        };
        let width = bits_of(sample.iter().fold(0, |bits, value| bits | value));
        let mut planes = Vec::new();
        pack(&sample, width, &mut planes);
        let mut rest = planes.as_slice();
        let mut packed_bytes = 0;
        for length in part_lengths(planes.len(), sample.len(), width) {
            let (part, after) = rest.split_at(length);
            packed_bytes += compressor.compress(part)?.len().min(part.len());
            rest = after;
        }
        let share = plain_bytes * SAMPLE_ROWS / values.len();
        Ok(packed_bytes * 20 < share * 19)
    }

    /// The zstd form of a block; `None` where the format does not allow one.
    ///
    /// A zstd block ends with each plane, so that each has its own statistics: the first plane may shrink while the last is noise.
    fn compress(&self, block: &[u8], planes: (usize, u8)) -> Result<Option<Vec<u8>>> {
        let Some(level) = self.effort.zstd_level else {
            return Ok(None);
        };
        let mut body = &block[1..];
        if body.len() > encoding::RAW_BYTES_LIMIT {
            return Ok(None);
        }
        let mut out = vec![block[0] | encoding::ZSTD];
        push_u32(&mut out, body.len() as u32);
        let mut frame = zstd::stream::write::Encoder::new(out, level)?;
        frame.set_pledged_src_size(Some(body.len() as u64))?;
        let (count, width) = planes;
        for length in part_lengths(body.len(), count, width) {
            let (part, rest) = body.split_at(length);
            frame.write_all(part)?;
            frame.flush()?;
            body = rest;
        }
        Ok(Some(frame.finish()?))
    }
}

/// Lengths of the parts of a block's body: what precedes its planes, then each plane. One part where the body is not of that form.
fn part_lengths(body_bytes: usize, count: usize, width: u8) -> Vec<usize> {
    let planes: Vec<usize> = plane_widths(width).map(|bits| plane_bytes(count, bits)).collect();
    match body_bytes.checked_sub(planes.iter().sum()) {
        Some(before) => [before].into_iter().chain(planes).collect(),
        None => vec![body_bytes],
    }
}

fn relative(values: &[u32], base: u32) -> Vec<u32> {
    values.iter().map(|value| value - base).collect()
}

fn push_runs(values: &[u32], width: u8, base: u32, run_count: usize, out: &mut Vec<u8>) {
    let (mut lengths, mut of) = (Vec::with_capacity(run_count), Vec::with_capacity(run_count));
    for run in values.chunk_by(|before, after| before == after) {
        lengths.push(run.len() as u32 - 1);
        of.push(run[0] - base);
    }
    out.push(width);
    push_u32(out, base);
    push_u32(out, run_count as u32);
    pack(&lengths, 16, out);
    pack(&of, width, out);
}

fn push_local(values: &[u32], local: &LocalDictionary, width: u8, base: u32, out: &mut Vec<u8>) {
    let dictionary = local.values();
    out.push(width);
    push_u32(out, base);
    push_u32(out, dictionary.len() as u32);
    pack(&relative(dictionary, base), width, out);
    let indexes: Vec<u32> = values.iter().map(|&value| local.index_of(value)).collect();
    pack(&indexes, bits_of(dictionary.len() as u32 - 1), out);
}
