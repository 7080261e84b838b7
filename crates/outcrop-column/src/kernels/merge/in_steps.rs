//! Merging classes with the kernels that unpack planes and deal rows out, some rows at a time.

use super::{MergeMemory, Stream};
use crate::format::{BLOCK_ROWS, CLASS_LIMIT};
use crate::kernels::{deal, unpack};

/// Rows dealt out, and integers of a class unpacked, at a time: few enough to stay in the
/// second-level cache with the output.
const DEALT_ROWS: usize = 1024;

/// Places of a class's integers that come next: as many as the next rows can need, and as many more. Those
/// of two classes begin at different distances from a page's start, where they would share the few cache
/// lines that such a distance has.
const CLASS_PLACES: usize = 2 * DEALT_ROWS + 80;

/// How far a class is unpacked and dealt out.
#[derive(Debug, Default)]
struct Ahead {
    unpacked: usize,
    dealt: usize,
    /// End of what is unpacked in the class's places.
    end: usize,
}

impl Ahead {
    /// Unpacks more of the class if the next rows may need more than `places` has left; what is
    /// left moves to their start: `true`.
    fn unpack_more(&mut self, stream: &Stream<'_>, places: &mut [u32]) -> bool {
        // Wrong tags may have dealt out more than there is: nothing is left then, and it is seen in the end.
        let ready = self.unpacked.saturating_sub(self.dealt);
        let length = (stream.count - self.unpacked).min(DEALT_ROWS);
        if length == 0 || ready >= DEALT_ROWS {
            return false;
        }
        places.copy_within(self.end - ready..self.end, 0);
        self.end = ready + length;
        let part = (stream.count, self.unpacked);
        unpack(
            stream.planes,
            stream.width,
            part,
            stream.base,
            &mut places[ready..self.end],
        );
        self.unpacked += length;
        true
    }
}

/// Unpacks each class as far as the next rows may need it, and deals the integers out in tag order.
pub(super) fn merge(
    tags: &[u8],
    streams: &[Stream<'_>; CLASS_LIMIT],
    memory: &mut MergeMemory,
    out: &mut [u32],
) -> [usize; CLASS_LIMIT] {
    let mut ahead: [Ahead; CLASS_LIMIT] = Default::default();
    memory.by_class.resize(BLOCK_ROWS, 0);
    if let Some(by_class) = memory.by_class.first_chunk_mut() {
        let mut next: [u16; CLASS_LIMIT] = std::array::from_fn(|class| (class * CLASS_PLACES) as u16);
        for (rows, tags) in out.chunks_mut(DEALT_ROWS).zip(tags.chunks(DEALT_ROWS / 2)) {
            for (class, (stream, ahead)) in streams.iter().zip(&mut ahead).enumerate() {
                let start = class * CLASS_PLACES;
                if ahead.unpack_more(stream, &mut by_class[start..start + CLASS_PLACES]) {
                    next[class] = start as u16;
                }
            }
            let after = deal(tags, by_class, next, rows);
            for (ahead, (after, next)) in ahead.iter_mut().zip(after.iter().zip(next)) {
                ahead.dealt += usize::from(after.wrapping_sub(next));
            }
            next = after;
        }
    }
    ahead.map(|ahead| ahead.dealt)
}
