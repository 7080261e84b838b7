//! Code blocks: up to 65,536 integers, each block in the encoding that suits it.
//!
//! Useful for: scanning a block for a range of values without decoding it, decoding, one value. Not useful
//! for: anything that crosses blocks; that is [`section`].

mod block;
mod choose;
mod classes;
mod dealt;
mod local;
pub(crate) mod section;
mod shrink_hint;
mod tokens;

pub(crate) use block::{Block, Unwrapped, inflate, unwrap};
pub(crate) use choose::{BlockEncoder, Effort, Joined};
pub(crate) use classes::ClassTable;
pub(crate) use tokens::GROUP_BLOCKS;

use crate::kernels::MergeMemory;

/// Memory that decoding a block needs beside its output; blocks of one file decoded one after the other share it.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// For blocks in classes.
    merge: MergeMemory,
    /// The group of blocks that was decompressed last: its offset in the file, length and checksum, and what it
    /// became. At most a megabyte.
    group: Option<((u64, u32, u32), Unwrapped<'static>)>,
}

/// Byte 0 of a block.
pub(crate) mod encoding {
    pub(crate) const CONSTANT: u8 = 0;
    pub(crate) const RUNS: u8 = 1;
    pub(crate) const LOCAL: u8 = 2;
    pub(crate) const PLANES: u8 = 3;
    pub(crate) const CLASSES: u8 = 4;
    pub(crate) const DELTAS: u8 = 5;
    pub(crate) const TOKENS: u8 = 6;
    /// Set where the rest is a zstd frame.
    pub(crate) const ZSTD: u8 = 0x80;
    /// Whether several blocks may share the bytes of a block that begins with `byte`.
    pub(crate) fn is_group(byte: u8) -> bool {
        byte & !ZSTD == TOKENS
    }

    /// Largest `raw_length` of a zstd frame.
    pub(crate) const RAW_BYTES_LIMIT: usize = 1 << 20;

    /// The name that reports use.
    pub(crate) fn name(byte: u8) -> &'static str {
        match byte {
            CONSTANT => "constant",
            RUNS => "runs",
            LOCAL => "local dictionary",
            PLANES => "planes",
            CLASSES => "classes",
            DELTAS => "deltas",
            TOKENS => "tokens",
            0x81 => "runs + zstd",
            0x82 => "local dictionary + zstd",
            0x83 => "planes + zstd",
            0x84 => "classes + zstd",
            0x85 => "deltas + zstd",
            0x86 => "tokens + zstd",
            _ => "unknown",
        }
    }
}
