//! The class encoding: ranks cut into at most 16 consecutive ranges, so that a row costs a 4-bit class and
//! only the bits that its class needs. With ranks ordered by frequency this comes within a percent of the
//! entropy, and every class can still be searched alone. A block is a plane of 4-bit tags, and for each class
//! the planes of its rows' offsets.

use super::Scratch;
use crate::error::{Result, corrupt};
use crate::format::{CLASS_LIMIT, Fields, bits_of, packed_bytes, push_u32};
use crate::kernels;
use crate::planes::{Planes, pack};

const PART: &str = "code block (classes)";

/// Bits of an offset that stands behind the name of its class.
const NAMED_BITS: u8 = 8 * kernels::ROW_PLANES as u8;

/// Ranges of ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ClassTable {
    /// First rank of each class, and one past the last rank of the last.
    firsts: Vec<u32>,
    widths: Vec<u8>,
}

impl ClassTable {
    /// Classes of the given sizes, in order.
    pub(crate) fn of_sizes(sizes: &[u32]) -> Self {
        let mut firsts = vec![0];
        firsts.extend(sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        }));
        let widths = sizes
            .iter()
            .map(|&size| bits_of(size.saturating_sub(1)))
            .collect();
        Self { firsts, widths }
    }

    /// Number of classes; 0 where the section has none.
    pub(crate) fn len(&self) -> usize {
        self.widths.len()
    }

    /// Class `class`: its first rank, its size, its width in bits. A class that does not exist is empty.
    pub(crate) fn class(&self, class: usize) -> (u32, u32, u8) {
        match self.widths.get(class) {
            Some(&width) => (
                self.firsts[class],
                self.firsts[class + 1] - self.firsts[class],
                width,
            ),
            None => (0, 0, 0),
        }
    }

    /// First rank of each class; of one that does not exist, a number that no rank reaches.
    pub(crate) fn firsts(&self) -> [u32; CLASS_LIMIT] {
        std::array::from_fn(|class| {
            if class < self.len() {
                self.firsts[class]
            } else {
                u32::MAX
            }
        })
    }

    /// Whether [`ClassTable::named`] can name each rank.
    pub(crate) fn can_name(&self) -> bool {
        self.len() > 0 && self.widths.iter().all(|&width| width <= NAMED_BITS)
    }

    /// A rank with its class before it, so that rows need not be asked for theirs: the class in the highest byte,
    /// then the offset in it, from the highest bit on. Such numbers are in the order of the ranks.
    pub(crate) fn named(&self, class: u32, rank: u32) -> u32 {
        let (first, width) = (self.firsts[class as usize], self.widths[class as usize]);
        class << NAMED_BITS | (rank - first) << (NAMED_BITS - width)
    }

    /// [`ClassTable::named`], of a rank alone.
    #[cfg(test)]
    pub(crate) fn find_named(&self, rank: u32) -> u32 {
        let class = self.firsts[1..self.len()].partition_point(|&first| first <= rank);
        self.named(class as u32, rank)
    }

    /// The rank that was [`ClassTable::named`].
    pub(crate) fn rank(&self, named: u32) -> u32 {
        let (class, offset) = ((named >> NAMED_BITS) as usize, named & ((1 << NAMED_BITS) - 1));
        self.firsts[class] + (offset >> (NAMED_BITS - self.widths[class]))
    }

    pub(crate) fn push_to(&self, out: &mut Vec<u8>) {
        push_u32(out, self.len() as u32);
        push_u32(out, 0);
        for class in 0..self.len() {
            let (_, size, width) = self.class(class);
            push_u32(out, size);
            push_u32(out, u32::from(width));
        }
    }

    /// Reads the table; the sizes must add up to `symbol_count` unless there are no classes.
    pub(crate) fn read(fields: &mut Fields<'_>, symbol_count: u64) -> Result<Self> {
        let class_count = fields.u32()? as usize;
        let _reserved = fields.u32()?;
        if class_count == 0 {
            return Ok(Self::default());
        }
        if class_count > CLASS_LIMIT {
            return Err(fields.wrong(format!("{class_count} classes, at most {CLASS_LIMIT} allowed")));
        }
        let mut table = Self {
            firsts: vec![0],
            widths: Vec::new(),
        };
        let mut sum = 0_u32;
        for _ in 0..class_count {
            let (size, width) = (fields.u32()?, fields.u32()?);
            sum = sum
                .checked_add(size)
                .ok_or_else(|| fields.wrong("class sizes overflow"))?;
            if width > 32 || u64::from(size) > 1 << width {
                return Err(fields.wrong(format!("a class of {size} symbols in {width} bits")));
            }
            table.firsts.push(sum);
            table.widths.push(width as u8);
        }
        if u64::from(sum) != symbol_count {
            return Err(fields.wrong(format!("classes of {sum} symbols, {symbol_count} expected")));
        }
        Ok(table)
    }
}

/// A parsed block in classes.
#[derive(Debug)]
pub(crate) struct Classes<'a> {
    tags: Planes<'a>,
    streams: Vec<ClassRows<'a>>,
}

#[derive(Debug)]
struct ClassRows<'a> {
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
        let tags = Planes::take(fields, count, 4)?;
        let mut streams = Vec::with_capacity(CLASS_LIMIT);
        for (class, &rows) in counts.iter().enumerate() {
            let (first, size, width) = table.class(class);
            if rows > 0 && size == 0 {
                return Err(fields.wrong(format!("rows of class {class}, which has no symbols")));
            }
            streams.push(ClassRows {
                class: class as u8,
                first,
                size,
                offsets: Planes::take(fields, rows, width)?,
            });
        }
        Ok(Self { tags, streams })
    }

    /// All integers, in the order of their rows.
    pub(super) fn decode(&self, out: &mut [u32], scratch: &mut Scratch) -> Result<()> {
        let mut streams = [kernels::Stream::default(); CLASS_LIMIT];
        for (stream, rows) in streams.iter_mut().zip(&self.streams) {
            *stream = rows.offsets.stream(rows.first);
        }
        let counts = kernels::merge(self.tags.bytes(), &streams, &mut scratch.merge, out);
        if counts == streams.map(|stream| stream.count) {
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

/// Rows dealt out side by side, each from its own part of the block: the places of one part wait for each
/// other, those of different parts do not.
const LANES: usize = 4;

/// The values of a block class by class, ready to be measured or written. It reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    tags: Vec<u8>,
    dealt: Vec<u32>,
    counts: [usize; CLASS_LIMIT],
}

impl Sorted {
    /// Finds the class of each of `values`, and deals them out.
    pub(super) fn fill(&mut self, values: &[u32], table: &ClassTable) {
        self.tags.resize(values.len(), 0);
        self.dealt.resize(values.len(), 0);
        kernels::classify(values, &table.firsts(), &mut self.tags);
        self.counts = deal_out(values, &self.tags, &mut self.dealt);
    }

    /// The values of each class, in the order of their rows.
    pub(super) fn streams(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.dealt.as_slice();
        self.counts.iter().map(move |&count| {
            let (stream, after) = rest.split_at(count);
            rest = after;
            stream
        })
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

    /// Appends what stands after the encoding byte.
    pub(super) fn push_to(&self, table: &ClassTable, out: &mut Vec<u8>) {
        for &count in &self.counts {
            push_u32(out, count as u32);
        }
        let (pairs, last) = self.tags.as_chunks::<2>();
        out.extend(pairs.iter().map(|&[low, high]| low | high << 4));
        out.extend(last);
        for (class, stream) in self.streams().enumerate() {
            let (first, _, width) = table.class(class);
            pack(stream, first, width, out);
        }
    }
}

/// Sorts `values` by their tags into `dealt`, equal tags in order; gives the number of each tag.
fn deal_out(values: &[u32], tags: &[u8], dealt: &mut [u32]) -> [usize; CLASS_LIMIT] {
    let lane_rows = values.len() / LANES;
    let (in_lanes, last_tags) = tags.split_at(LANES * lane_rows);
    let (first, second) = in_lanes.split_at(2 * lane_rows);
    let ((tags0, tags1), (tags2, tags3)) = (first.split_at(lane_rows), second.split_at(lane_rows));
    let lanes_of_tags = || tags0.iter().zip(tags1).zip(tags2.iter().zip(tags3));
    // Counts of each lane, and of the rows behind the last; then the places of their next values.
    let mut next = [[0_u32; CLASS_LIMIT]; LANES + 1];
    for ((tag0, tag1), (tag2, tag3)) in lanes_of_tags() {
        for (counts, tag) in next.iter_mut().zip([tag0, tag1, tag2, tag3]) {
            counts[usize::from(tag & 15)] += 1;
        }
    }
    for tag in last_tags {
        next[LANES][usize::from(tag & 15)] += 1;
    }
    let mut place = 0;
    let counts = std::array::from_fn(|class| {
        let start = place;
        for lane in &mut next {
            place += std::mem::replace(&mut lane[class], place);
        }
        (place - start) as usize
    });
    let mut put = |next: &mut [u32; CLASS_LIMIT], tag: u8, value: u32| {
        let place = &mut next[usize::from(tag & 15)];
        dealt[*place as usize] = value;
        *place += 1;
    };
    let (in_lanes, last) = values.split_at(LANES * lane_rows);
    let (first, second) = in_lanes.split_at(2 * lane_rows);
    let ((values0, values1), (values2, values3)) = (first.split_at(lane_rows), second.split_at(lane_rows));
    let [next0, next1, next2, next3, next_of_last] = &mut next;
    let lanes_of_values = values0.iter().zip(values1).zip(values2.iter().zip(values3));
    for (((value0, value1), (value2, value3)), ((&tag0, &tag1), (&tag2, &tag3))) in
        lanes_of_values.zip(lanes_of_tags())
    {
        put(next0, tag0, *value0);
        put(next1, tag1, *value1);
        put(next2, tag2, *value2);
        put(next3, tag3, *value3);
    }
    for (&value, &tag) in last.iter().zip(last_tags) {
        put(next_of_last, tag, value);
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ClassTable, deal_out};

    proptest! {
        #[test]
        fn names_lead_back_to_ranks_and_are_in_their_order(sizes in proptest::collection::vec((0_u32..=24, 0_u32..1 << 24), 1..16), ranks: [u32; 20]) {
            let sizes: Vec<u32> = sizes.iter().map(|&(width, size)| size % (1 << width) + 1).collect();
            let table = ClassTable::of_sizes(&[sizes.as_slice(), &[0]].concat());
            prop_assert!(table.can_name());
            let total: u32 = sizes.iter().sum();
            let mut ranks = ranks.map(|rank| rank % total);
            ranks.sort_unstable();
            let named = ranks.map(|rank| table.find_named(rank));
            prop_assert!(named.is_sorted());
            prop_assert_eq!(named.map(|named| table.rank(named)), ranks);
            for (rank, named) in ranks.iter().zip(named) {
                let (first, size, _) = table.class((named >> 24) as usize);
                prop_assert!((first..first + size).contains(rank));
            }
        }

        #[test]
        fn dealing_out_is_a_stable_sort_by_tag(rows in proptest::collection::vec((any::<u32>(), 0_u8..16), 0..500)) {
            let (values, tags): (Vec<u32>, Vec<u8>) = rows.iter().copied().unzip();
            let mut sorted = rows;
            sorted.sort_by_key(|&(_, tag)| tag);
            let mut dealt = vec![0; values.len()];
            let counts = deal_out(&values, &tags, &mut dealt);
            prop_assert_eq!(dealt, sorted.iter().map(|&(value, _)| value).collect::<Vec<_>>());
            for (class, count) in (0..).zip(counts) {
                prop_assert_eq!(count, tags.iter().filter(|&&tag| tag == class).count());
            }
        }
    }
}
