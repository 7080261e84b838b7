//! A generated column as text, faster than a disk takes it.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;

use super::ColumnSpec;

/// Words drawn at a time.
const BATCH_ROWS: usize = 1 << 14;

/// A word and its newline are copied as one cell of this size; the last byte is their length.
const CELL_BYTES: usize = 16;

impl ColumnSpec {
    /// Writes the rows, a word and a newline each, and tells `progress` how many are written.
    ///
    /// With more than one of `threads`, words are drawn on a thread of their own; the text is the same.
    ///
    /// ```
    /// use outcrop_measure::Seed;
    /// use outcrop_workload::column::{ColumnSpec, RowOrder};
    /// let spec = ColumnSpec { row_count: 1000, distinct: 3, skew: 0.0, order: RowOrder::Sorted, seed: Seed(1) };
    /// let mut text = Vec::new();
    /// spec.write_text(&mut text, 1, |_| {})?;
    /// assert_eq!(text.split(|&byte| byte == b'\n').count(), 1001);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `out` reports.
    pub fn write_text(
        &self,
        out: &mut dyn Write,
        threads: usize,
        mut progress: impl FnMut(u64),
    ) -> io::Result<()> {
        let cells: Vec<[u8; CELL_BYTES]> = self.words().iter().map(|word| cell_of(word)).collect();
        let mut text = vec![0; BATCH_ROWS * CELL_BYTES];
        let mut done = 0;
        let mut write = |batch: &[u32]| {
            let mut length = 0;
            for &word in batch {
                let cell = &cells[word as usize];
                text[length..length + CELL_BYTES].copy_from_slice(cell);
                length += usize::from(cell[CELL_BYTES - 1]);
            }
            done += batch.len() as u64;
            progress(done);
            out.write_all(&text[..length])
        };
        let mut rows = self.rows();
        if threads <= 1 {
            let mut batch = Vec::with_capacity(BATCH_ROWS);
            loop {
                batch.clear();
                batch.extend(rows.by_ref().take(BATCH_ROWS));
                if batch.is_empty() {
                    return Ok(());
                }
                write(&batch)?;
            }
        }
        let (drawn, batches) = mpsc::sync_channel::<Vec<u32>>(8);
        let (used, empty) = mpsc::channel::<Vec<u32>>();
        thread::scope(|scope| {
            scope.spawn(move || {
                loop {
                    let mut batch = empty.try_recv().unwrap_or_default();
                    batch.clear();
                    batch.extend(rows.by_ref().take(BATCH_ROWS));
                    // The writer has gone where writing failed.
                    if batch.is_empty() || drawn.send(batch).is_err() {
                        return;
                    }
                }
            });
            for batch in batches {
                write(&batch)?;
                // At the end nobody wants the buffer any more.
                let _ = used.send(batch);
            }
            Ok(())
        })
    }
}

/// Words have 4 to 11 letters, so that a cell holds one with its newline and its length.
fn cell_of(word: &str) -> [u8; CELL_BYTES] {
    let mut cell = [0; CELL_BYTES];
    cell[..word.len()].copy_from_slice(word.as_bytes());
    cell[word.len()] = b'\n';
    cell[CELL_BYTES - 1] = word.len() as u8 + 1;
    cell
}

#[cfg(test)]
mod tests {
    use outcrop_measure::seed::Seed;

    use crate::column::{ColumnSpec, RowOrder};

    #[test]
    fn the_text_is_the_words_of_the_rows_with_one_thread_and_with_two() {
        for order in [RowOrder::Random, RowOrder::Clustered, RowOrder::Sorted] {
            let spec = ColumnSpec {
                row_count: 50_000,
                distinct: 700,
                skew: 0.8,
                order,
                seed: Seed(5),
            };
            let words = spec.words();
            let expected: String = spec
                .rows()
                .map(|row| words[row as usize].clone() + "\n")
                .collect();
            for threads in [1, 2] {
                let (mut text, mut last) = (Vec::new(), 0);
                spec.write_text(&mut text, threads, |done| last = done).unwrap();
                assert!(text == expected.as_bytes(), "{order}, {threads} threads");
                assert_eq!(last, 50_000);
            }
        }
    }

    #[test]
    fn a_reader_that_goes_away_ends_the_writing() {
        struct Closed;
        impl std::io::Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let spec = ColumnSpec {
            row_count: u64::MAX,
            distinct: 2,
            skew: 0.0,
            order: RowOrder::Random,
            seed: Seed(1),
        };
        assert!(spec.write_text(&mut Closed, 2, |_| {}).is_err());
    }
}
