//! The token encoding: each integer in one to three bytes, small integers in few, and the blocks of a group one
//! behind the other in one body.
//!
//! It exists for zstd: a phrase that comes again is the same bytes again, where planes hold each of its words in
//! two or three places, and the group shows phrases of the blocks before. Searching one block takes decompressing
//! its group, so a [`Scratch`](super::Scratch) keeps the group for the blocks that follow.

use super::encoding;
use crate::error::{ColumnError, Result, corrupt};
use crate::format::{BLOCK_ROWS, Fields, push_u32};

/// Blocks that the writer joins to a group.
pub(crate) const GROUP_BLOCKS: usize = 8;

/// Blocks that a group may have: to find one of them, the lengths of all are added up.
const MOST_PARTS: u32 = 64;

/// First bytes that there are.
const FIRST_BYTES: u32 = 256;

/// How many first bytes are a token on their own, and how many begin one of two bytes. All others begin one of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lengths {
    ones: u32,
    twos: u32,
}

impl Lengths {
    /// The least number that has no token.
    fn limit(self) -> u32 {
        self.ones + (self.twos << 8) + ((FIRST_BYTES - self.ones - self.twos) << 16)
    }

    /// Lengths with which all numbers up to `greatest` have tokens; `None` where three bytes are too few.
    ///
    /// Where frequent numbers are small, three quarters of the first bytes that three bytes leave free are
    /// tokens on their own. Otherwise all tokens are of one length, so that no number is preferred.
    fn up_to(greatest: u32, by_frequency: bool) -> Option<Self> {
        if greatest < FIRST_BYTES {
            return Some(Self {
                ones: FIRST_BYTES,
                twos: 0,
            });
        }
        if !by_frequency {
            let twos = if greatest < 1 << 16 { FIRST_BYTES } else { 0 };
            return Some(Self { ones: 0, twos }).filter(|lengths| greatest < lengths.limit());
        }
        let of_threes = |threes: u32| {
            let free = FIRST_BYTES - threes;
            // Each first byte that begins two bytes instead of being a token adds 255 numbers.
            let needed = (greatest - (FIRST_BYTES - 1)).div_ceil(FIRST_BYTES - 1);
            let twos = (free / 4).min(needed);
            Self {
                ones: free - twos,
                twos,
            }
        };
        (0..FIRST_BYTES)
            .map(of_threes)
            .find(|lengths| greatest < lengths.limit())
    }

    fn push(self, values: &[u32], out: &mut Vec<u8>) {
        let Self { ones, twos } = self;
        for &value in values {
            if value < ones {
                out.push(value as u8);
            } else if value < ones + (twos << 8) {
                let rest = value - ones;
                out.extend_from_slice(&[(ones + (rest >> 8)) as u8, rest as u8]);
            } else {
                let rest = value - ones - (twos << 8);
                out.extend_from_slice(&[(ones + twos + (rest >> 16)) as u8, (rest >> 8) as u8, rest as u8]);
            }
        }
    }

    fn token(self, first: u8) -> Token {
        let (first, Self { ones, twos }) = (u32::from(first), self);
        let (bytes, offset) = if first < ones {
            (1, 0)
        } else if first < ones + twos {
            (2, (ones << 8) - ones)
        } else {
            (3, ((ones + twos) << 16) - ones - (twos << 8))
        };
        Token { bytes, offset }
    }
}

/// What a first byte says: the bytes of its token, and what these, read as a number with
/// the most significant byte first, are more than the number meant.
#[derive(Debug, Clone, Copy)]
struct Token {
    bytes: u8,
    offset: u32,
}

impl Token {
    /// The number of the token that `bytes` begin with.
    #[inline(always)]
    fn number(self, bytes: [u8; 4]) -> u32 {
        (u32::from_be_bytes(bytes) >> (32 - 8 * u32::from(self.bytes))) - self.offset
    }
}

/// The tokens of one block, of which nothing is read before it is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tokens<'a> {
    lengths: Lengths,
    bytes: &'a [u8],
    count: usize,
    /// Where they stand, for messages.
    offset: u64,
}

impl Tokens<'_> {
    /// Calls `action` with each number in order.
    #[inline(always)]
    fn for_each(&self, mut action: impl FnMut(usize, u32)) -> Result<()> {
        let table: [Token; FIRST_BYTES as usize] =
            std::array::from_fn(|first| self.lengths.token(first as u8));
        let mut rest = self.bytes;
        for index in 0..self.count {
            // Four bytes are read wherever there are as many: the length then costs no branch.
            let mut padded = [0; 4];
            let bytes = match rest.first_chunk() {
                Some(bytes) => bytes,
                None => {
                    padded[..rest.len()].copy_from_slice(rest);
                    &padded
                }
            };
            let token = table[usize::from(bytes[0])];
            rest = rest.get(usize::from(token.bytes)..).ok_or_else(|| self.wrong())?;
            action(index, token.number(*bytes));
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(self.wrong())
        }
    }

    /// All numbers, into `out`, which has their count's length.
    pub(super) fn decode(&self, out: &mut [u32]) -> Result<()> {
        self.for_each(|index, number| out[index] = number)
    }

    /// Appends the positions, ascending, of the numbers that are `wanted`, in one pass over the tokens.
    #[inline]
    pub(crate) fn find(&self, wanted: impl Fn(u32) -> bool, found: &mut Vec<u32>) -> Result<()> {
        self.for_each(|index, number| {
            if wanted(number) {
                found.push(index as u32);
            }
        })
    }

    /// Number `index`, which must be less than the count. *Cost*: a step for each token before it, and none behind it.
    pub(super) fn get(&self, index: usize) -> Result<u32> {
        let lengths: [u8; FIRST_BYTES as usize] =
            std::array::from_fn(|first| self.lengths.token(first as u8).bytes);
        let mut at = 0;
        for _ in 0..index {
            let &first = self.bytes.get(at).ok_or_else(|| self.wrong())?;
            at += usize::from(lengths[usize::from(first)]);
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        let &first = rest.first().ok_or_else(|| self.wrong())?;
        let token = self.lengths.token(first);
        let bytes = rest.get(..usize::from(token.bytes)).ok_or_else(|| self.wrong())?;
        let mut padded = [0; 4];
        padded[..bytes.len()].copy_from_slice(bytes);
        Ok(token.number(padded))
    }

    fn wrong(&self) -> ColumnError {
        corrupt(
            "code block",
            self.offset,
            format!(
                "{} bytes are not the tokens of {} rows",
                self.bytes.len(),
                self.count
            ),
        )
    }
}

/// The group of `values`, block by block, without zstd; `None` where a number has no token.
pub(super) fn group(values: &[u32], by_frequency: bool) -> Option<Vec<u8>> {
    let greatest = values.iter().fold(0, |greatest, &value| greatest.max(value));
    let lengths = Lengths::up_to(greatest, by_frequency)?;
    let mut tokens = Vec::with_capacity(2 * values.len());
    let blocks = values.chunks(BLOCK_ROWS);
    let mut group = vec![encoding::TOKENS];
    group.extend_from_slice(&(lengths.ones as u16).to_le_bytes());
    group.extend_from_slice(&(lengths.twos as u16).to_le_bytes());
    push_u32(&mut group, blocks.len() as u32);
    for block in blocks {
        let start = tokens.len();
        lengths.push(block, &mut tokens);
        push_u32(&mut group, (tokens.len() - start) as u32);
    }
    group.append(&mut tokens);
    Some(group)
}

/// The `count` integers of block `part` of a group.
pub(super) fn parse<'a>(fields: &mut Fields<'a>, count: usize, part: u32) -> Result<Tokens<'a>> {
    let (ones, twos) = (u32::from(fields.u16()?), u32::from(fields.u16()?));
    if ones + twos > FIRST_BYTES {
        return Err(fields.wrong(format!(
            "{ones} + {twos} first bytes of short tokens, at most {FIRST_BYTES} expected"
        )));
    }
    let parts = fields.u32()?;
    if parts > MOST_PARTS {
        return Err(fields.wrong(format!("a group of {parts} blocks, at most {MOST_PARTS} allowed")));
    }
    if part >= parts {
        return Err(fields.wrong(format!("block {part} of a group of {parts}")));
    }
    let mut lengths = Fields::new("code block", 0, fields.take((parts as usize).saturating_mul(4))?);
    let (mut start, mut length, mut total) = (0, 0, 0_u64);
    for index in 0..parts {
        let bytes = u64::from(lengths.u32()?);
        if index == part {
            (start, length) = (total, bytes);
        }
        total += bytes;
    }
    let offset = fields.offset();
    let tokens = fields.rest();
    if total != tokens.len() as u64 {
        return Err(fields.wrong(format!("{} bytes of tokens, {total} expected", tokens.len())));
    }
    // Both are at most `total`, which is a length in memory.
    let tokens = Tokens {
        lengths: Lengths { ones, twos },
        bytes: &tokens[start as usize..(start + length) as usize],
        count,
        offset: offset + start,
    };
    // A token has a byte at least, and three at most.
    if (count..=3 * count).contains(&tokens.bytes.len()) {
        Ok(tokens)
    } else {
        Err(tokens.wrong())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lengths, MOST_PARTS, group, parse};
    use crate::format::{BLOCK_ROWS, Fields};

    /// The block `part` of `group`, which begins with its encoding.
    fn read(group: &[u8], count: usize, part: u32) -> crate::Result<Vec<u32>> {
        let tokens = parse(&mut Fields::new("test", 0, &group[1..]), count, part)?;
        let mut values = vec![0; count];
        tokens.decode(&mut values)?;
        // What is read without the others is the same.
        let mut found = Vec::new();
        tokens.find(|number| (100..=70_000).contains(&number), &mut found)?;
        let inside = (0..count as u32).filter(|&index| (100..=70_000).contains(&values[index as usize]));
        assert!(found.into_iter().eq(inside));
        for index in [0, count / 3, count.saturating_sub(1)] {
            if let Some(&value) = values.get(index) {
                assert_eq!(tokens.get(index).ok(), Some(value));
            }
        }
        Ok(values)
    }

    proptest! {
        #[test]
        fn every_number_up_to_the_greatest_has_a_token(greatest in 0_u32..(1 << 24) - 1, by_frequency in any::<bool>()) {
            let lengths = Lengths::up_to(greatest, by_frequency);
            // With short tokens there are a few numbers fewer than three bytes have.
            prop_assert!(lengths.is_some() || by_frequency && greatest > 190 << 16);
            prop_assert!(lengths.is_none_or(|lengths| greatest < lengths.limit()));
        }

        #[test]
        fn a_group_becomes_the_numbers_that_it_was_made_of(
            mut values in proptest::collection::vec(prop_oneof![0_u32..300, 0_u32..70_000, 0_u32..12_000_000], 1..400), by_frequency in any::<bool>(), blocks in 0_usize..3,
        ) {
            values.resize(values.len() + blocks * BLOCK_ROWS, 257);
            let group = group(&values, by_frequency).expect("three bytes are enough");
            for (part, block) in values.chunks(BLOCK_ROWS).enumerate() {
                prop_assert_eq!(&read(&group, block.len(), part as u32).expect("the group is sound"), block);
                prop_assert!(read(&group, block.len() + 1, part as u32).is_err());
                prop_assert!(read(&group, block.len() - 1, part as u32).is_err());
            }
            prop_assert!(read(&group, 1, values.len().div_ceil(BLOCK_ROWS) as u32).is_err());
        }

        #[test]
        fn bytes_without_sense_are_an_error_or_one_number_of_tokens(tokens in proptest::collection::vec(any::<u8>(), 0..40), ones in 0_u16..200, twos in 0_u16..120, cut in 0_usize..41, second in 0_u32..3) {
            let cut = cut.min(tokens.len());
            let mut bytes = [&[6][..], &ones.to_le_bytes(), &twos.to_le_bytes(), &2_u32.to_le_bytes()].concat();
            for length in [cut as u32, (tokens.len() - cut) as u32 + second / 2] {
                bytes.extend_from_slice(&length.to_le_bytes());
            }
            bytes.extend_from_slice(&tokens);
            for part in 0..3 {
                let counts: Vec<usize> = (0..42).filter(|&count| read(&bytes, count, part).is_ok_and(|values| values.len() == count)).collect();
                prop_assert!(counts.len() <= 1);
                prop_assert!(counts.is_empty() || part < 2 && second < 2 && ones + twos <= 256);
            }
        }
    }

    #[test]
    fn a_group_of_more_parts_than_allowed_is_refused() {
        for (parts, is_sound) in [(MOST_PARTS, true), (MOST_PARTS + 1, false)] {
            let mut bytes = [
                &[6][..],
                &256_u16.to_le_bytes(),
                &0_u16.to_le_bytes(),
                &parts.to_le_bytes(),
            ]
            .concat();
            (0..parts).for_each(|_| bytes.extend_from_slice(&1_u32.to_le_bytes()));
            bytes.extend((0..parts).map(|part| part as u8));
            assert_eq!(read(&bytes, 1, 5).ok(), is_sound.then(|| vec![5]));
        }
    }

    #[test]
    fn numbers_of_more_than_three_bytes_have_no_token() {
        for by_frequency in [false, true] {
            assert_eq!(Lengths::up_to(1 << 24, by_frequency), None);
            assert_eq!(group(&[7, u32::MAX], by_frequency), None);
        }
        assert_eq!(
            Lengths::up_to((1 << 24) - 1, false),
            Some(Lengths { ones: 0, twos: 0 })
        );
    }
}
