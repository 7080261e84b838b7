//! The arrays that decoding reads and writes: a position in one is masked, not checked.

/// Bytes that positions are masked for: a power of two that twice a page fits in.
pub(super) const SPACE: usize = 8192;
/// Bytes behind them that copies of fixed size may touch.
pub(super) const SLACK: usize = 64;
/// An array of that kind.
pub(super) type Space = [u8; SPACE + SLACK];
pub(super) const EMPTY: Space = [0; SPACE + SLACK];

/// `N` bytes, at most `SLACK`, at a position below `SPACE`.
#[inline(always)]
pub(super) fn get<const N: usize>(from: &Space, at: usize) -> [u8; N] {
    *from[at % SPACE..].first_chunk().expect("the slack is longer")
}

/// Puts `N` bytes, at most `SLACK`, to a position below `SPACE`.
#[inline(always)]
pub(super) fn put<const N: usize>(to: &mut Space, at: usize, bytes: [u8; N]) {
    let at = at % SPACE;
    to[at..at + N].copy_from_slice(&bytes);
}
