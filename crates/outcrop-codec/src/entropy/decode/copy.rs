//! Carrying out a block's sequences: literals, then matches, copied sixteen bytes at a time.

use super::literals::Literals;
use super::memory::{Space, get, put};

/// Copy `match_length` bytes from `offset` back, after `literal_length` literals.
#[derive(Clone, Copy, Default)]
pub(super) struct Step {
    pub(super) literal_length: u32,
    pub(super) match_length: u32,
    pub(super) offset: u32,
}

/// Restores the `page_bytes` of `page`.
///
/// # Errors
/// When a sequence reaches outside what is there, or all of them make another length.
// On its own, its variables fit the registers.
#[inline(never)]
pub(super) fn restore(
    steps: &[Step],
    literals: Literals<'_>,
    page: &mut Space,
    page_bytes: usize,
) -> Result<(), &'static str> {
    let (mut written, mut used) = (0, 0);
    for step in steps {
        let (literal_length, offset) = (step.literal_length as usize, step.offset as usize);
        let match_at = written + literal_length;
        let end = match_at + step.match_length as usize;
        if used + literal_length > literals.count || end > page_bytes || offset.wrapping_sub(1) >= match_at {
            return Err("a sequence reaches outside the page");
        }
        copy_literals(literals.bytes, used, page, written, literal_length);
        copy_match(page, match_at, offset, end);
        used += literal_length;
        written = end;
    }
    let rest = literals.count - used;
    if written + rest != page_bytes {
        return Err("the block makes another length than the page's");
    }
    copy_literals(literals.bytes, used, page, written, rest);
    Ok(())
}

#[inline(always)]
fn copy_literals(literals: &Space, from: usize, page: &mut Space, to: usize, length: usize) {
    put::<16>(page, to, get(literals, from));
    let mut done = 16;
    while done < length {
        put::<16>(page, to + done, get(literals, from + done));
        done += 16;
    }
}

/// Copies a match to `to..end` from `offset` before, which is at least 1; touches up to 31 bytes behind it.
#[inline(always)]
fn copy_match(page: &mut Space, to: usize, offset: usize, end: usize) {
    let from = to.wrapping_sub(offset);
    if offset < 32 {
        return repeat(page, to, offset, end);
    }
    // One without asking: hardly a match is longer, and asking costs more where it is.
    put::<32>(page, to, get(page, from));
    let mut at = to + 32;
    while at < end {
        put::<32>(page, at, get(page, at.wrapping_sub(offset)));
        at += 32;
    }
}

/// As `copy_match`, for matches that may begin in what they repeat: offsets below 32.
#[inline(always)]
fn repeat(page: &mut Space, mut to: usize, offset: usize, end: usize) {
    /// What repeats the low 1 to 7 bytes of a word when it is multiplied with them.
    const REPEAT: [u64; 8] = [
        0,
        0x0101_0101_0101_0101,
        0x0001_0001_0001_0001,
        0x0001_0000_0100_0001,
        0x0000_0001_0000_0001,
        0x0000_0100_0000_0001,
        0x0001_0000_0000_0001,
        0x0100_0000_0000_0001,
    ];
    /// Whole repetitions of that many bytes in eight.
    const STEP: [u8; 8] = [8, 8, 8, 6, 8, 5, 6, 7];
    let from = to.wrapping_sub(offset);
    if offset >= 16 {
        while to < end {
            put::<16>(page, to, get(page, to.wrapping_sub(offset)));
            to += 16;
        }
        return;
    }
    if offset >= 8 {
        while to < end {
            put::<8>(page, to, get(page, to.wrapping_sub(offset)));
            to += 8;
        }
        return;
    }
    let offset = offset % 8;
    let pattern = u64::from_le_bytes(get(page, from)) & ((1 << (8 * offset)) - 1);
    let eight = pattern.wrapping_mul(REPEAT[offset]).to_le_bytes();
    while to < end {
        put(page, to, eight);
        to += usize::from(STEP[offset]);
    }
}
