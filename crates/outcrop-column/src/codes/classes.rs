//! The class encoding of a block: a plane of 4-bit tags, and per class the planes of its rows' offsets.

use super::block::take_planes;
use super::class_table::{CLASS_LIMIT, ClassTable};
use crate::error::{Result, corrupt};
use crate::format::{BLOCK_ROWS, Fields, push_u32};
use crate::kernels;
use crate::planes::{Planes, pack, packed_bytes};

const PART: &str = "code block (classes)";

/// A parsed block in classes.
#[derive(Debug)]
pub(crate) struct Classes<'a> {
    tags: Planes<'a>,
    streams: Vec<Stream<'a>>,
}

#[derive(Debug)]
struct Stream<'a> {
    class: u8,
    first: u32,
    size: u32,
    offsets: Planes<'a>,
}

impl<'a> Classes<'a> {
    pub(super) fn parse(fields: &mut Fields<'a>, count: usize, table: &ClassTable) -> Result<Self> {
        let mut counts = [0_usize; CLASS_LIMIT];
        for class_rows in &mut counts {
            *class_rows = fields.u32()? as usize;
        }
        if counts.iter().map(|&rows| rows as u64).sum::<u64>() != count as u64 {
            return Err(fields.wrong(format!("classes of {counts:?} rows in a block of {count}")));
        }
        let tags = take_planes(fields, count, 4)?;
        let mut streams = Vec::with_capacity(CLASS_LIMIT);
        for (class, &rows) in counts.iter().enumerate() {
            let (first, size, width) = table.class(class);
            if rows > 0 && size == 0 {
                return Err(fields.wrong(format!("rows of class {class}, which has no symbols")));
            }
            streams.push(Stream {
                class: class as u8,
                first,
                size,
                offsets: take_planes(fields, rows, width)?,
            });
        }
        Ok(Self { tags, streams })
    }

    /// Decodes each class on its own, then deals the integers out in the order of the tags.
    pub(super) fn decode(&self, out: &mut [u32]) -> Result<()> {
        let mut by_class = vec![0_u32; BLOCK_ROWS.max(out.len())];
        let mut next = [0_u32; CLASS_LIMIT];
        let mut start = 0;
        for (stream, next) in self.streams.iter().zip(&mut next) {
            let end = start + stream.offsets.count();
            let part = &mut by_class[start..end];
            stream.offsets.unpack(part);
            part.iter_mut()
                .for_each(|value| *value = value.wrapping_add(stream.first));
            *next = start as u32;
            start = end;
        }
        let mut ends = next;
        for (end, stream) in ends.iter_mut().zip(&self.streams) {
            *end += stream.offsets.count() as u32;
        }
        let by_class = by_class.first_chunk().ok_or_else(wrong_tags)?;
        if deal(self.tags.bytes(), by_class, next, out) == ends {
            Ok(())
        } else {
            Err(wrong_tags())
        }
    }

    pub(super) fn find_within(&self, least: u32, greatest: u32, found: &mut Vec<u32>) -> Result<()> {
        let already = found.len();
        let mut parts = 0;
        let mut positions = Vec::new();
        for stream in &self.streams {
            let Some(last) = stream.size.checked_sub(1) else {
                continue;
            };
            if greatest < stream.first || least > stream.first + last {
                continue;
            }
            positions.clear();
            stream.offsets.find_within(
                least.saturating_sub(stream.first),
                (greatest - stream.first).min(last),
                &mut positions,
            );
            if !positions.is_empty() {
                self.rows_of(stream.class, &positions, found)?;
                parts += 1;
            }
        }
        if parts > 1 {
            found[already..].sort_unstable();
        }
        Ok(())
    }

    /// Rows of the `positions`-th (ascending) rows of a class.
    fn rows_of(&self, class: u8, positions: &[u32], found: &mut Vec<u32>) -> Result<()> {
        let mut mask = [0_u64; 64];
        let mut wanted = positions.iter().copied().peekable();
        let mut seen = 0_u32;
        for (step, plane) in self.tags.bytes().chunks(32 * 64).enumerate() {
            let mask = &mut mask[..plane.len().div_ceil(32)];
            kernels::tags(plane, class, mask);
            for (index, &word) in mask.iter().enumerate() {
                let here = word.count_ones();
                let mut rest = word;
                let mut passed = seen;
                while let Some(position) = wanted.next_if(|&position| position < seen + here) {
                    while passed < position {
                        rest &= rest - 1;
                        passed += 1;
                    }
                    found.push(((step * 64 + index) * 64) as u32 + rest.trailing_zeros());
                }
                seen += here;
            }
            if wanted.peek().is_none() {
                return Ok(());
            }
        }
        Err(wrong_tags())
    }

    pub(super) fn get(&self, index: usize) -> Result<u32> {
        let class = self.tags.get(index) as u8;
        let mut position = 0;
        let mut mask = [0_u64; 64];
        let plane = &self.tags.bytes()[..index.div_ceil(2)];
        for (step, plane) in plane.chunks(32 * 64).enumerate() {
            let mask = &mut mask[..plane.len().div_ceil(32)];
            kernels::tags(plane, class, mask);
            let rows_before = index - step * 64 * 64;
            // The last byte may hold the tag of row `index` itself.
            if let Some(word) = mask.get_mut(rows_before / 64) {
                *word &= (1 << (rows_before % 64)) - 1;
            }
            position += mask.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        }
        let stream = &self.streams[usize::from(class)];
        if position >= stream.offsets.count() {
            return Err(wrong_tags());
        }
        Ok(stream.first.wrapping_add(stream.offsets.get(position)))
    }
}

/// Rows dealt out side by side, each from its own part of the block: the places of one part wait for each other, those of
/// different parts do not.
const LANES: usize = 4;

/// Deals `by_class`, the integers class by class from `next` on, out to `out` in the order of its tags; gives where each class ended.
fn deal(
    tags: &[u8],
    by_class: &[u32; BLOCK_ROWS],
    next: [u32; CLASS_LIMIT],
    out: &mut [u32],
) -> [u32; CLASS_LIMIT] {
    let take = |next: &mut [u32; CLASS_LIMIT], tag: u8| {
        let position = &mut next[usize::from(tag & 15)];
        let value = by_class[*position as usize % BLOCK_ROWS];
        *position = position.wrapping_add(1);
        value
    };
    let lane_bytes = out.len() / (2 * LANES);
    let (in_lanes, rest) = out.split_at_mut(2 * LANES * lane_bytes);
    let (tags_in_lanes, last_tags) = tags.split_at(LANES * lane_bytes);
    let mut lanes = [next; LANES];
    for lane in 1..LANES {
        lanes[lane] = lanes[lane - 1];
        count_tags(
            &tags_in_lanes[(lane - 1) * lane_bytes..lane * lane_bytes],
            &mut lanes[lane],
        );
    }
    let [next0, next1, next2, next3] = &mut lanes;
    let (pairs, _) = in_lanes.as_chunks_mut::<2>();
    let (first, second) = pairs.split_at_mut(2 * lane_bytes);
    let ((out0, out1), (out2, out3)) = (first.split_at_mut(lane_bytes), second.split_at_mut(lane_bytes));
    let (first, second) = tags_in_lanes.split_at(2 * lane_bytes);
    let ((tags0, tags1), (tags2, tags3)) = (first.split_at(lane_bytes), second.split_at(lane_bytes));
    let outs = out0.iter_mut().zip(out1).zip(out2.iter_mut().zip(out3));
    let tags = tags0.iter().zip(tags1).zip(tags2.iter().zip(tags3));
    for (((out0, out1), (out2, out3)), ((tag0, tag1), (tag2, tag3))) in outs.zip(tags) {
        *out0 = [take(next0, tag0 & 15), take(next0, tag0 >> 4)];
        *out1 = [take(next1, tag1 & 15), take(next1, tag1 >> 4)];
        *out2 = [take(next2, tag2 & 15), take(next2, tag2 >> 4)];
        *out3 = [take(next3, tag3 & 15), take(next3, tag3 >> 4)];
    }
    // The last lane goes on behind its part.
    let mut next = lanes[LANES - 1];
    for (index, value) in rest.iter_mut().enumerate() {
        *value = take(&mut next, last_tags[index / 2] >> (4 * (index % 2)));
    }
    next
}

/// Adds the number of each tag in `tags`, two a byte, to `counts`.
fn count_tags(tags: &[u8], counts: &mut [u32; CLASS_LIMIT]) {
    // Pairs are counted first, with neighbours apart so that equal ones do not wait for each other.
    let mut pairs = [[0_u32; 256]; 4];
    let (groups, rest) = tags.as_chunks::<4>();
    for group in groups {
        for (pairs, &byte) in pairs.iter_mut().zip(group) {
            pairs[usize::from(byte)] += 1;
        }
    }
    rest.iter().for_each(|&byte| pairs[0][usize::from(byte)] += 1);
    for byte in 0..256 {
        let count: u32 = pairs.iter().map(|pairs| pairs[byte]).sum();
        counts[byte & 15] += count;
        counts[byte >> 4] += count;
    }
}

fn wrong_tags() -> crate::ColumnError {
    corrupt(PART, 0, "the tags disagree with the counts of rows by class")
}

/// The classes of a block's values, ready to be measured or written.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    tags: Vec<u32>,
    counts: [usize; CLASS_LIMIT],
}

impl Sorted {
    /// Finds the class of each of `values`, reusing the buffer.
    pub(super) fn fill(&mut self, values: &[u32], table: &ClassTable) {
        self.tags.resize(values.len(), 0);
        kernels::classify(values, &table.firsts(), &mut self.tags);
        // Four histograms: equal neighbours do not wait for each other's increment.
        let mut counts = [[0_usize; CLASS_LIMIT]; 4];
        for (index, &tag) in self.tags.iter().enumerate() {
            counts[index % 4][tag as usize % CLASS_LIMIT] += 1;
        }
        self.counts = std::array::from_fn(|class| counts.iter().map(|counts| counts[class]).sum());
    }

    /// Bytes after the encoding byte.
    pub(super) fn encoded_bytes(&self, table: &ClassTable) -> usize {
        let streams = self
            .counts
            .iter()
            .enumerate()
            .map(|(class, &count)| packed_bytes(count, table.class(class).2));
        4 * CLASS_LIMIT + packed_bytes(self.tags.len(), 4) + streams.sum::<usize>()
    }

    /// Appends what stands after the encoding byte, for the values that [`Sorted::fill`] saw last.
    pub(super) fn push_to(&self, values: &[u32], table: &ClassTable, out: &mut Vec<u8>) {
        let mut next = [0; CLASS_LIMIT];
        let mut start = 0;
        for (next, &count) in next.iter_mut().zip(&self.counts) {
            push_u32(out, count as u32);
            *next = start;
            start += count;
        }
        pack(&self.tags, 0, 4, out);
        let mut dealt = vec![0; values.len()];
        for (&value, &tag) in values.iter().zip(&self.tags) {
            let next = &mut next[tag as usize % CLASS_LIMIT];
            dealt[*next] = value;
            *next += 1;
        }
        let mut rest = dealt.as_slice();
        for (class, &count) in self.counts.iter().enumerate() {
            let (stream, after) = rest.split_at(count);
            let (first, _, width) = table.class(class);
            pack(stream, first, width, out);
            rest = after;
        }
    }
}
