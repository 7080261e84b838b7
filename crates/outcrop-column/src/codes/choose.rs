//! Writing one code block: measures what each encoding would take and writes the smallest.

mod named;

use std::io::Write;

use super::classes::{ClassTable, Sorted};
use super::dealt::Dealt;
use super::encoding;
use super::local::{self, LocalDictionary};
use super::shrink_hint::ShrinkHint;
use super::tokens;
use crate::error::Result;
use crate::format::{CLASS_LIMIT, bits_of, packed_bytes, plane_bytes, plane_widths, push_u32, zigzag};
use crate::kernels::{Measured, measure};
use crate::planes::pack;

/// How hard to look for a smaller encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// zstd level; `None` never tries zstd.
    pub(crate) zstd_level: Option<i32>,
    /// Try zstd on every block, not only where a sample of it shrinks.
    pub(crate) exhaustive: bool,
    /// Consider differences of neighbours; never doing so only measures what they are worth.
    pub(crate) tries_deltas: bool,
    /// Try blocks joined to groups of tokens. Needs a zstd level.
    pub(crate) joins_blocks: bool,
}

/// Rows looked at to guess whether a block has few distinct values or compresses.
const SAMPLE_ROWS: usize = 4096;

/// zstd level that tells which forms of a block are worth the level asked for (those within 2 % of the plain
/// block), and how many of them are. On 39 real columns that gives the sizes that trying all forms gives.
const TRIAL_LEVEL: i32 = 6;
const FORMS_KEPT: usize = 6;

/// A group is worth a format that older readers refuse, and slower reads of one row, if it saves at least a twentieth
/// and at least this many bytes.
const GROUP_SAVES: (usize, usize) = (20, 64);

/// What joining blocks to a group gave.
pub(crate) enum Joined {
    Smaller(Vec<u8>),
    NotSmaller,
    /// Fewer blocks may fit.
    TooLong,
}

/// Encodes blocks one after the other, reusing its buffers.
pub(crate) struct BlockEncoder<'a> {
    classes: Option<&'a ClassTable>,
    effort: Effort,
    sorted: Sorted,
    dealt: Dealt,
    /// Blocks in a row for which the short way led nowhere.
    ways_back: u32,
    local: LocalDictionary,
    hint: ShrinkHint,
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl<'a> BlockEncoder<'a> {
    pub(crate) fn new(classes: Option<&'a ClassTable>, effort: Effort) -> Result<Self> {
        let compressor = effort.zstd_level.map(zstd::bulk::Compressor::new).transpose()?;
        Ok(Self {
            classes,
            effort,
            sorted: Sorted::default(),
            dealt: Dealt::default(),
            ways_back: 0,
            local: LocalDictionary::default(),
            hint: ShrinkHint::default(),
            compressor,
        })
    }

    /// The encoded block of `values` (at least one).
    pub(crate) fn encode(&mut self, values: &[u32]) -> Result<Vec<u8>> {
        self.encode_measured(values, &measure(values), Vec::new())
    }

    /// The values of the block that was encoded last, class by class; meaningless if it was
    /// constant or there are no classes.
    pub(crate) fn class_streams(&self) -> impl Iterator<Item = &[u32]> {
        self.sorted.streams()
    }

    /// [`BlockEncoder::encode`] of values that were measured, in the memory of `spare`.
    pub(crate) fn encode_measured(
        &mut self,
        values: &[u32],
        measured: &Measured,
        mut spare: Vec<u8>,
    ) -> Result<Vec<u8>> {
        spare.clear();
        let (width, delta_width) = (width_of(measured), bits_of(measured.delta_bits));
        if width == 0 {
            spare.push(encoding::CONSTANT);
            push_u32(&mut spare, measured.least);
            return Ok(spare);
        }
        let count = values.len();
        let mut choices = vec![
            planes_choice(count, width),
            runs_choice(measured.run_count, width),
        ];
        if self.effort.tries_deltas {
            choices.push(deltas_choice(count, delta_width));
        }
        if let Some(classes) = self.classes {
            self.sorted.fill(values, classes);
            choices.push((self.sorted.encoded_bytes(classes), encoding::CLASSES));
        }
        let least_bytes = choices.iter().map(|&(bytes, _)| bytes).min().unwrap_or(0);
        let value = |row: usize| values[row];
        if self.local.fill(count, value, measured.least, width, least_bytes) {
            let bytes = local::encoded_bytes(self.local.values().len(), width, count);
            choices.push((bytes, encoding::LOCAL));
        }
        let (plain_bytes, plain) = choices.iter().min().copied().unwrap_or((0, encoding::PLANES));
        let plain_form = Form::tight(plain, measured);
        spare.reserve_exact(plain_bytes + 1);
        let best = self.write_to(spare, plain_form, values, measured);
        debug_assert_eq!(best.len(), plain_bytes + 1);
        if self.effort.exhaustive {
            return self.smallest_form(best, plain_form, values, measured);
        }
        self.likely_form(best, plain_form, values, measured)
    }

    /// `plain`, or the smallest of the zstd forms that a sample says will be smaller.
    fn likely_form(
        &mut self,
        plain: Vec<u8>,
        plain_form: Form,
        values: &[u32],
        measured: &Measured,
    ) -> Result<Vec<u8>> {
        let plain_bytes = plain.len() - 1;
        let mut best = plain;
        for other in [encoding::PLANES, encoding::DELTAS, plain_form.encoding] {
            let form = Form::tight(other, measured);
            // Deltas of unordered rows are wider and as random: only narrower ones are worth a try.
            let is_worth_it = self.effort.tries_deltas && form.width <= width_of(measured) + 1;
            let hopeless = other == encoding::DELTAS && !is_worth_it;
            if hopeless || !self.sample_shrinks(other, values, plain_bytes)? {
                continue;
            }
            let body = self.write(form, values, measured);
            if let Some(level) = self.effort.zstd_level
                && let Some(packed) = compress(&body, &form.parts(body.len() - 1, values.len()), level)?
                && packed.len() < best.len()
            {
                best = packed;
            }
        }
        Ok(best)
    }

    /// `plain`, or the smallest of all forms that zstd may be asked for.
    ///
    /// A last plane of 4, 2 or 1 bits is small as it is, but hides repeats from zstd:
    /// planes of whole bytes are tried too.
    fn smallest_form(
        &self,
        plain: Vec<u8>,
        plain_form: Form,
        values: &[u32],
        measured: &Measured,
    ) -> Result<Vec<u8>> {
        let Some(level) = self.effort.zstd_level else {
            return Ok(plain);
        };
        let mut forms = vec![plain_form];
        let others = [encoding::PLANES, encoding::RUNS, encoding::DELTAS];
        for &choice in &others[..2 + usize::from(self.effort.tries_deltas)] {
            let tight = Form::tight(choice, measured);
            forms.extend([tight, tight.in_whole_bytes()]);
        }
        forms.sort_unstable();
        forms.dedup();
        // A quick level tells which are worth the slow one. Similar planes do better with common statistics.
        let mut tried = Vec::with_capacity(2 * forms.len());
        for form in forms {
            let body = self.write(form, values, measured);
            let body_bytes = body.len() - 1;
            for parts in [vec![body_bytes], form.parts(body_bytes, values.len())] {
                if let Some(packed) = compress(&body, &parts, TRIAL_LEVEL)?
                    && packed.len() * 50 < plain.len() * 51
                {
                    tried.push((packed.len(), form, parts));
                }
            }
        }
        tried.sort_unstable();
        tried.dedup();
        let mut best = plain;
        for (_, form, parts) in tried.iter().take(FORMS_KEPT) {
            if let Some(packed) = compress(&self.write(*form, values, measured), parts, level)?
                && packed.len() < best.len()
            {
                best = packed;
            }
        }
        Ok(best)
    }

    /// The blocks of `values` as a group, if it saves enough of `bytes`, which they take on their own.
    pub(crate) fn join(&self, values: &[u32], bytes: usize) -> Result<Joined> {
        let (Some(level), true) = (self.effort.zstd_level, self.effort.joins_blocks) else {
            return Ok(Joined::NotSmaller);
        };
        let Some(group) = tokens::group(values, self.classes.is_some()) else {
            return Ok(Joined::NotSmaller);
        };
        let body_bytes = group.len() - 1;
        if body_bytes > encoding::RAW_BYTES_LIMIT {
            return Ok(Joined::TooLong);
        }
        // The slow level saves about a tenth of what a quick one leaves.
        let shrunk = |level, most_bytes| -> Result<Option<Vec<u8>>> {
            let packed = compress(&group, &[body_bytes], level)?;
            Ok(packed.filter(|packed| packed.len() <= most_bytes))
        };
        if shrunk(TRIAL_LEVEL, bytes + bytes / 8)?.is_none() {
            return Ok(Joined::NotSmaller);
        }
        let saved = (bytes / GROUP_SAVES.0).max(GROUP_SAVES.1);
        let packed = shrunk(level, bytes.saturating_sub(saved))?;
        Ok(packed.map_or(Joined::NotSmaller, Joined::Smaller))
    }

    fn write(&self, form: Form, values: &[u32], measured: &Measured) -> Vec<u8> {
        self.write_to(Vec::new(), form, values, measured)
    }

    /// The block in a given form, behind nothing in `out`.
    fn write_to(&self, mut out: Vec<u8>, form: Form, values: &[u32], measured: &Measured) -> Vec<u8> {
        let Form {
            encoding: choice,
            width,
        } = form;
        out.push(choice);
        match (choice, self.classes) {
            (encoding::CLASSES, Some(classes)) => self.sorted.push_to(classes, &mut out),
            (encoding::RUNS, ..) => push_runs(values, width, measured.least, measured.run_count, &mut out),
            (encoding::DELTAS, ..) => {
                out.push(width);
                push_u32(&mut out, values[0]);
                pack(&deltas(values), 0, width, &mut out);
            }
            (encoding::LOCAL, _) => self.local.push_to(values, width, &mut out),
            _ => {
                out[0] = encoding::PLANES;
                out.push(width);
                push_u32(&mut out, measured.least);
                pack(values, measured.least, width, &mut out);
            }
        }
        out
    }

    /// Whether zstd makes a sample of the block smaller than its share of the best plain encoding.
    fn sample_shrinks(&mut self, choice: u8, values: &[u32], plain_bytes: usize) -> Result<bool> {
        if self.compressor.is_none() {
            return Ok(false);
        }
        if values.len() < 2 * SAMPLE_ROWS {
            return Ok(true);
        }
        if choice == encoding::CLASSES || choice == encoding::LOCAL {
            // Their planes hold values that zstd was tried on already, in an order that hides repeats.
            return Ok(false);
        }
        let sample = values[values.len() / 2..][..SAMPLE_ROWS].to_vec();
        self.rows_shrink(choice, sample, values.len(), plain_bytes)
    }

    /// Whether zstd makes `sample`, in this encoding, smaller than its share of `plain_bytes` for `count` rows.
    fn rows_shrink(
        &mut self,
        choice: u8,
        mut sample: Vec<u32>,
        count: usize,
        plain_bytes: usize,
    ) -> Result<bool> {
        let Some(compressor) = &mut self.compressor else {
            return Ok(false);
        };
        if choice == encoding::DELTAS {
            sample = deltas(&sample);
        }
        let measured = measure(&sample);
        let width = width_of(&measured);
        let mut planes = Vec::new();
        pack(&sample, measured.least, width, &mut planes);
        let share = plain_bytes * SAMPLE_ROWS / count;
        let parts = part_lengths(planes.len(), sample.len(), width);
        // A look at the bytes rules out most blocks that cannot shrink, for a tenth
        // of what asking zstd costs.
        if !self.hint.may_shrink(&planes, &parts, share - share / 40) {
            return Ok(false);
        }
        let mut rest = planes.as_slice();
        let mut packed_bytes = 0;
        for length in parts {
            let (part, after) = rest.split_at(length);
            packed_bytes += compressor.compress(part)?.len().min(part.len());
            rest = after;
        }
        Ok(packed_bytes * 20 < share * 19)
    }
}

/// Bytes of a block behind the encoding byte, and that byte: what is least is chosen.
type Choice = (usize, u8);

fn planes_choice(count: usize, width: u8) -> Choice {
    (5 + packed_bytes(count, width), encoding::PLANES)
}

fn runs_choice(run_count: usize, width: u8) -> Choice {
    let bytes = packed_bytes(run_count, 16) + packed_bytes(run_count, width);
    (9 + bytes, encoding::RUNS)
}

fn deltas_choice(count: usize, delta_width: u8) -> Choice {
    (5 + packed_bytes(count - 1, delta_width), encoding::DELTAS)
}

/// An encoding and the bits of its integers: those of the values, or of the deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    encoding: u8,
    width: u8,
}

impl Form {
    /// The fewest bits that hold all integers of the block.
    fn tight(encoding: u8, measured: &Measured) -> Self {
        let width = match encoding {
            encoding::DELTAS => bits_of(measured.delta_bits),
            _ => width_of(measured),
        };
        Self { encoding, width }
    }

    fn in_whole_bytes(self) -> Self {
        Self {
            width: self.width.next_multiple_of(8),
            ..self
        }
    }

    /// Lengths of those parts of a block's body that compress better with statistics of their own:
    /// what precedes its planes, then each plane; for a block in classes the tags and the streams,
    /// which are noise. One part for others.
    fn parts(self, body_bytes: usize, count: usize) -> Vec<usize> {
        match self.encoding {
            encoding::DELTAS => part_lengths(body_bytes, count - 1, self.width),
            encoding::PLANES => part_lengths(body_bytes, count, self.width),
            encoding::CLASSES => {
                let tags_end = 4 * CLASS_LIMIT + plane_bytes(count, 4);
                vec![tags_end, body_bytes - tags_end]
            }
            _ => vec![body_bytes],
        }
    }
}

/// The zstd form of a block; `None` where the format does not allow one.
///
/// A zstd block ends with each of `parts` of its body, so that each has its own statistics: the first plane
/// may shrink while the last is noise.
fn compress(block: &[u8], parts: &[usize], level: i32) -> Result<Option<Vec<u8>>> {
    let mut body = &block[1..];
    if body.len() > encoding::RAW_BYTES_LIMIT {
        return Ok(None);
    }
    let mut out = vec![block[0] | encoding::ZSTD];
    push_u32(&mut out, body.len() as u32);
    let mut frame = zstd::stream::write::Encoder::new(out, level)?;
    frame.set_pledged_src_size(Some(body.len() as u64))?;
    for &length in parts {
        let (part, rest) = body.split_at(length);
        frame.write_all(part)?;
        if parts.len() > 1 {
            frame.flush()?;
        }
        body = rest;
    }
    Ok(Some(frame.finish()?))
}

/// Lengths of the parts of a block's body: what precedes its planes, then each plane. One part
/// where the body is not of that form.
fn part_lengths(body_bytes: usize, count: usize, width: u8) -> Vec<usize> {
    let planes: Vec<usize> = plane_widths(width).map(|bits| plane_bytes(count, bits)).collect();
    match body_bytes.checked_sub(planes.iter().sum()) {
        Some(before) => [before].into_iter().chain(planes).collect(),
        None => vec![body_bytes],
    }
}

fn deltas(values: &[u32]) -> Vec<u32> {
    values
        .windows(2)
        .map(|pair| zigzag(pair[1].wrapping_sub(pair[0])))
        .collect()
}

fn width_of(measured: &Measured) -> u8 {
    bits_of(measured.greatest - measured.least)
}

fn push_runs(values: &[u32], width: u8, base: u32, run_count: usize, out: &mut Vec<u8>) {
    let (mut lengths, mut of) = (Vec::with_capacity(run_count), Vec::with_capacity(run_count));
    for run in values.chunk_by(|before, after| before == after) {
        lengths.push(run.len() as u32);
        of.push(run[0]);
    }
    out.push(width);
    push_u32(out, base);
    push_u32(out, run_count as u32);
    pack(&lengths, 1, 16, out);
    pack(&of, base, width, out);
}
