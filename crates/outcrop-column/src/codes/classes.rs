//! The class encoding of a block: a plane of 4-bit tags, and per class the planes of its rows' offsets.

use super::Scratch;
use super::block::take_planes;
use super::class_table::{CLASS_LIMIT, ClassTable};
use crate::error::{Result, corrupt};
use crate::format::{BLOCK_ROWS, Fields};
use crate::kernels;
use crate::planes::Planes;

const PART: &str = "code block (classes)";

/// Rows dealt out at a time, and integers of a class unpacked at a time: few enough to stay in the second-level cache together with the output.
const DEALT_ROWS: usize = 1024;

/// Places of a class's integers that come next: as many as the next rows can need, and as many more. Those of two classes begin at different
/// distances from a page's start, where they would share the few cache lines that such a distance has.
const CLASS_PLACES: usize = 2 * DEALT_ROWS + 80;

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

/// How far a class is unpacked and dealt out.
#[derive(Debug, Default)]
struct Ahead {
    unpacked: usize,
    dealt: usize,
    /// End of what is unpacked in the class's places.
    end: usize,
}

impl Ahead {
    /// Unpacks more of the class where the next rows may need more than is left of it in `places`; that is then moved to their start: `true`.
    fn unpack_more(&mut self, stream: &Stream<'_>, places: &mut [u32]) -> bool {
        // Wrong tags may have dealt out more than there is: nothing is left then, and it is seen in the end.
        let ready = self.unpacked.saturating_sub(self.dealt);
        let length = (stream.offsets.count() - self.unpacked).min(DEALT_ROWS);
        if length == 0 || ready >= DEALT_ROWS {
            return false;
        }
        places.copy_within(self.end - ready..self.end, 0);
        self.end = ready + length;
        stream
            .offsets
            .unpack_part(self.unpacked, stream.first, &mut places[ready..self.end]);
        self.unpacked += length;
        true
    }
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

    /// Unpacks each class as far as the next rows may need it, and deals the integers out in the order of the tags.
    pub(super) fn decode(&self, out: &mut [u32], scratch: &mut Scratch) -> Result<()> {
        scratch.by_class.resize(BLOCK_ROWS, 0);
        let by_class = scratch.by_class.first_chunk_mut().ok_or_else(wrong_tags)?;
        let mut ahead: [Ahead; CLASS_LIMIT] = Default::default();
        let mut next: [u16; CLASS_LIMIT] = std::array::from_fn(|class| (class * CLASS_PLACES) as u16);
        let tags = self.tags.bytes().chunks(DEALT_ROWS / 2);
        for (rows, tags) in out.chunks_mut(DEALT_ROWS).zip(tags) {
            for (class, (stream, ahead)) in self.streams.iter().zip(&mut ahead).enumerate() {
                let start = class * CLASS_PLACES;
                if ahead.unpack_more(stream, &mut by_class[start..start + CLASS_PLACES]) {
                    next[class] = start as u16;
                }
            }
            let after = kernels::deal(tags, by_class, next, rows);
            for (ahead, (after, next)) in ahead.iter_mut().zip(after.iter().zip(next)) {
                ahead.dealt += usize::from(after.wrapping_sub(next));
            }
            next = after;
        }
        let counts = self.streams.iter().map(|stream| stream.offsets.count());
        if counts.eq(ahead.iter().map(|ahead| ahead.dealt)) {
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

fn wrong_tags() -> crate::ColumnError {
    corrupt(PART, 0, "the tags disagree with the counts of rows by class")
}
