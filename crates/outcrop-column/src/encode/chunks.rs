//! Text cut into pieces that workers take, each ending with a newline: of what a reader gives, or of what is in memory.

use std::io::Read;

use crate::error::{ColumnError, Result};

/// Bytes of text that a worker takes at a time: they stay in its second-level
/// cache from reading to splitting.
const CHUNK_BYTES: usize = 1 << 18;

/// Cuts the input into numbered chunks that end with a newline, the last one perhaps without.
#[derive(Debug)]
pub(super) struct Chunks {
    longest_row: usize,
    carried: Vec<u8>,
    index: usize,
    is_over: bool,
}

impl Chunks {
    pub(super) const fn new(longest_row: usize) -> Self {
        Self {
            longest_row,
            carried: Vec::new(),
            index: 0,
            is_over: false,
        }
    }

    /// The next chunk with its number, in the memory of `buffer`.
    pub(super) fn next(
        &mut self,
        input: &mut impl Read,
        mut buffer: Vec<u8>,
    ) -> Result<Option<(usize, Vec<u8>)>> {
        if self.is_over {
            return Ok(None);
        }
        buffer.clear();
        buffer.append(&mut self.carried);
        // A row longer than a chunk makes the chunk grow until its end is found.
        let cut = loop {
            let before = buffer.len();
            // What is here has no newline yet: it is one row.
            check_row(before, self.longest_row)?;
            if buffer.capacity() < before + CHUNK_BYTES {
                // By an eighth at a time: doubled, a long row would take twice its bytes.
                buffer.reserve_exact(CHUNK_BYTES.max(before / 8));
            }
            // Positions in a chunk have 32 bits: a value and a chunk more are within them.
            let read = input.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut buffer)?;
            if read < CHUNK_BYTES {
                self.is_over = true;
                break buffer.len();
            }
            if let Some(newline) = memchr::memrchr(b'\n', &buffer[before..]) {
                break before + newline + 1;
            }
        };
        self.carried.extend_from_slice(&buffer[cut..]);
        buffer.truncate(cut);
        // A chunk without more bytes than a row may have has no longer row.
        if cut > self.longest_row {
            let mut rows = buffer.split(|byte| *byte == b'\n');
            rows.try_for_each(|row| check_row(row.len(), self.longest_row))?;
        }
        let index = self.index;
        self.index += 1;
        Ok((!buffer.is_empty()).then_some((index, buffer)))
    }
}

/// Text that nobody has taken yet, cut into numbered chunks that end with a newline, the last one perhaps without.
#[derive(Debug)]
pub(super) struct SliceChunks<'a> {
    rest: &'a [u8],
    index: usize,
}

impl<'a> SliceChunks<'a> {
    pub(super) const fn of(text: &'a [u8]) -> Self {
        Self { rest: text, index: 0 }
    }

    /// The next chunk with its number.
    pub(super) fn next(&mut self, longest_row: usize) -> Result<Option<(usize, &'a [u8])>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (first, behind) = self.rest.split_at(self.rest.len().min(CHUNK_BYTES));
        let cut = match memchr::memrchr(b'\n', first) {
            Some(newline) => newline + 1,
            // A row longer than a chunk makes the chunk grow to its end.
            None => first.len() + memchr::memchr(b'\n', behind).map_or(behind.len(), |newline| newline + 1),
        };
        let (chunk, rest) = self.rest.split_at(cut);
        if cut > CHUNK_BYTES {
            check_row(cut - 1, longest_row).inspect_err(|_| self.end())?;
        }
        self.rest = rest;
        self.index += 1;
        Ok(Some((self.index - 1, chunk)))
    }

    /// No more chunks come.
    pub(super) const fn end(&mut self) {
        self.rest = &[];
    }
}

/// Refuses a row that is longer than a value may be before any more of it is read.
fn check_row(bytes: usize, longest: usize) -> Result<()> {
    if bytes <= longest {
        return Ok(());
    }
    Err(ColumnError::TooLong {
        what: "a line of the input".to_owned(),
        limit: longest as u64,
        question: "is this text with newlines?",
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{CHUNK_BYTES, Chunks, SliceChunks};
    use crate::error::ColumnError;
    use crate::format::VALUE_BYTES_LIMIT;

    /// Counts what is read of a line without end.
    struct Endless(usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            self.0 += buffer.len();
            Ok(buffer.len())
        }
    }

    #[test]
    fn chunks_of_a_slice_are_the_text_cut_behind_newlines_and_a_row_that_is_too_long_is_refused_and_ends_them()
     {
        let long = "x".repeat(3 * CHUNK_BYTES);
        let text = format!(
            "{}{long}\n{}last",
            "short\n".repeat(CHUNK_BYTES / 4),
            "y\n".repeat(CHUNK_BYTES)
        );
        let mut chunks = SliceChunks::of(text.as_bytes());
        let mut taken = Vec::new();
        while let Some((index, chunk)) = chunks.next(VALUE_BYTES_LIMIT).expect("no row is too long") {
            assert_eq!(index, taken.len());
            taken.push(chunk);
        }
        assert_eq!(taken.concat(), text.as_bytes());
        let (last, others) = taken.split_last().expect("there are chunks");
        assert!(
            others
                .iter()
                .all(|chunk| chunk.ends_with(b"\n") && !last.is_empty())
        );
        assert!(others.len() > 4);
        let mut chunks = SliceChunks::of(long.as_bytes());
        assert!(matches!(
            chunks.next(2 * CHUNK_BYTES),
            Err(ColumnError::TooLong { .. })
        ));
        assert!(matches!(chunks.next(2 * CHUNK_BYTES), Ok(None)));
    }

    #[test]
    fn a_line_without_end_is_refused_when_it_is_longer_than_a_value_may_be() {
        let (mut endless, limit) = (Endless(0), 3 << 20);
        let refused = Chunks::new(limit).next(&mut endless, Vec::new());
        assert!(matches!(refused, Err(ColumnError::TooLong { .. })), "{refused:?}");
        assert!(endless.0 <= limit + CHUNK_BYTES, "{} bytes were read", endless.0);
    }
}
