//! The dictionary: distinct values, sorted by bytes, front-coded in buckets of 16, found through fences.
//!
//! Useful for: value → code, prefix or range → code range, code → value, all values in order. Not useful for:
//! insertion; a dictionary is written once. During encoding, [`Interner`] collects values.

mod block;
mod heads;
mod interner;
mod key;
mod merge;
mod reader;
mod slots;
mod sorted;
mod writer;

pub(crate) use interner::Interner;
pub(crate) use key::Key;
pub(crate) use merge::{Merged, merge};
pub(crate) use reader::Dictionary;
pub(crate) use slots::{Later, Slots, TEXT_AHEAD};
pub(crate) use writer::{
    BlockMaker, DictionaryOptions, DictionaryWriter, MadeBlock, ValuesInOrder, WrittenValues,
};

/// Values of one front-coded bucket.
pub(crate) const BUCKET_VALUES: usize = 16;

/// Largest log2 of the values of one block.
pub(crate) const BLOCK_SHIFT_LIMIT: u32 = 10;
