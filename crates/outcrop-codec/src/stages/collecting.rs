//! What `ZSTD_generateSequences` does besides finding matches, done once more so that it can be timed and taken off.
//!
//! Its steps are those of the library's `ZSTD_copyBlockSequences`: a sequence is read in the form in which match finders
//! store it (lengths of 16 bits, an offset or the number of the repeat), its true offset is looked up among the last three, and
//! both go out in the public form. Two departures: lengths beyond 16 bits, of which a block has one at most, are cut, and a block that
//! the library splits in two goes through as one.

use zstd_sys::ZSTD_Sequence;

/// Numbers below this name a repeat; an offset is stored plus three.
const FIRST_OFFSET: u32 = 4;
/// Lengths of matches are stored less this.
const LEAST_MATCH: u32 = 3;
/// What offsets repeat at the start of a frame (RFC 8878, section 3.1.1.5).
const FIRST_REPEATS: [u32; 3] = [1, 4, 8];

/// A sequence as match finders store it.
struct Stored {
    offset_or_repeat: u32,
    literals: u16,
    match_less_least: u16,
}

/// The sequences of a block in both forms.
#[derive(Default)]
pub(super) struct Collector {
    stored: Vec<Stored>,
    public: Vec<ZSTD_Sequence>,
}

impl Collector {
    /// Takes the sequences that were found, in public form; not timed.
    pub(super) fn prepare(&mut self, found: &[ZSTD_Sequence]) {
        self.public.clear();
        self.public.extend_from_slice(found);
        self.stored.clear();
        let matches = found.iter().filter(|sequence| sequence.matchLength > 0);
        self.stored.extend(matches.map(|sequence| Stored {
            offset_or_repeat: match sequence.rep {
                0 => sequence.offset + FIRST_OFFSET - 1,
                repeat => repeat,
            },
            literals: sequence.litLength as u16,
            match_less_least: (sequence.matchLength - LEAST_MATCH) as u16,
        }));
    }

    /// Allocates a target of `target_bytes` for `block`, copies it there, writes the sequences out and frees the target.
    pub(super) fn collect(&mut self, block: &[u8], target_bytes: usize) {
        let mut unpacked = Vec::with_capacity(target_bytes);
        unpacked.extend_from_slice(block);
        std::hint::black_box(&unpacked);
        write_out(&self.stored, &mut self.public);
        std::hint::black_box(&self.public);
    }
}

/// The library's loop over sequences.
fn write_out(stored: &[Stored], public: &mut [ZSTD_Sequence]) {
    let mut repeats = FIRST_REPEATS;
    for (stored, public) in stored.iter().zip(public) {
        let (number, after_match) = (stored.offset_or_repeat, stored.literals == 0);
        public.litLength = u32::from(stored.literals);
        public.matchLength = u32::from(stored.match_less_least) + LEAST_MATCH;
        public.rep = if number < FIRST_OFFSET { number } else { 0 };
        public.offset = recall(&mut repeats, number, after_match);
    }
}

/// The offset that `number` stands for; it becomes the latest one. Without literals in front, the numbers mean
/// the second, the third, and the first less one.
#[inline]
fn recall(repeats: &mut [u32; 3], number: u32, after_match: bool) -> u32 {
    if number >= FIRST_OFFSET {
        let offset = number + 1 - FIRST_OFFSET;
        *repeats = [offset, repeats[0], repeats[1]];
        return offset;
    }
    let index = number as usize - 1 + usize::from(after_match);
    let [first, second, third] = *repeats;
    let offset = match index {
        0 => return first,
        1 => second,
        2 => third,
        _ => first.wrapping_sub(1),
    };
    *repeats = [offset, first, if index == 1 { third } else { second }];
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(literals: u32, matched: u32, offset: u32, rep: u32) -> ZSTD_Sequence {
        ZSTD_Sequence {
            offset,
            litLength: literals,
            matchLength: matched,
            rep,
        }
    }

    #[test]
    fn sequences_come_out_as_they_went_in() {
        // Each repeat by each of its numbers, with and without literals ahead of it.
        let found = [
            sequence(5, 4, 100, 0),
            sequence(1, 8, 200, 0),
            sequence(2, 3, 300, 0),
            sequence(3, 9, 300, 1),
            sequence(0, 7, 200, 1),
            sequence(0, 7, 100, 2),
            sequence(1, 5, 200, 2),
            sequence(0, 6, 199, 3),
            sequence(4, 0, 0, 0),
        ];
        let mut collector = Collector::default();
        collector.prepare(&found);
        for public in &mut collector.public[..found.len() - 1] {
            *public = sequence(0, 0, 0, 0);
        }
        collector.collect(&[0; 128], 256);
        let key = |sequence: &ZSTD_Sequence| {
            let lengths = (sequence.litLength, sequence.matchLength);
            (lengths, sequence.offset, sequence.rep)
        };
        let (found, public): (Vec<_>, Vec<_>) = (
            found.iter().map(key).collect(),
            collector.public.iter().map(key).collect(),
        );
        assert_eq!(public, found);
    }
}
