//! Encoding from a file to a file, and the accesses that it cannot do without.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use outcrop_column::storage::WriteAt;
use outcrop_column::{EncodeOptions, Result, encode_text};

use super::{PLACE, SLOT, STEP, Scene, compare, joined, seconds, sum, table, touch_as_encoding};

/// Bytes of a file read and written at a time.
const READ: usize = 128 << 10;
const WRITE: usize = 2 << 20;

/// Written to, and never synced: how fast the device is does not belong to the codec.
struct Unsynced(File);

impl WriteAt for Unsynced {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// From the file of the text to a file in `folder`.
pub(super) fn file_bound(
    scene: &Scene<'_>,
    options: EncodeOptions,
    rounds: usize,
    text: &Path,
    folder: &Path,
) -> Result<()> {
    let slots = scene.value_count.next_power_of_two();
    let (shared, map) = (table(slots * SLOT)?, table(slots * PLACE)?);
    let (shared, map) = (&shared[..], &map[..]);
    let mut counts = Vec::new();
    for _ in 0..scene.threads {
        counts.push(table(slots * PLACE)?);
    }
    let share = scene.codes.len().div_ceil(scene.threads).max(1);
    let unread = (scene.codes.len() * 4).min(scene.text.len()) as u64;
    let text_share = (scene.text.len() as u64 - unread)
        .div_ceil(scene.threads as u64)
        .max(1);
    let file_step = scene.file.len() * STEP / scene.codes.len().max(1);
    let to = folder.join("written");
    compare(
        "encode without index, from a file to a file; 16 B a value in one table for all threads, counts for each",
        "GB/s of text",
        rounds,
        |seconds| scene.text.len() as f64 / seconds / 1e9,
        || {
            let written = seconds(|| {
                let mut out = Unsynced(File::create(&to)?);
                encode_text(File::open(text)?, options)?
                    .finish(&mut out)
                    .map(drop)
            })?;
            std::fs::remove_file(&to)?;
            Ok(written)
        },
        || {
            let written = seconds(|| {
                let (text, out) = (&File::open(text)?, &File::create(&to)?);
                std::thread::scope(|scope| {
                    let spawned = (0_u64..).zip(scene.codes.chunks(share).zip(&mut counts)).map(
                        |(number, (codes, counts))| {
                            let touch = move |slot: usize| {
                                std::hint::black_box(shared[slot * SLOT]);
                                let count = &mut counts[slot * PLACE];
                                *count = count.wrapping_add(1);
                            };
                            let mut reader = FromFile::of(text, unread + number * text_share, text_share);
                            let first = number * (scene.file.len() as u64).div_ceil(scene.threads as u64);
                            let mut writer = ToFile::behind(out, first.next_multiple_of(WRITE as u64));
                            scope.spawn(move || {
                                touch_as_encoding(
                                    codes,
                                    |rows| reader.read(rows, codes.len()),
                                    (slots, touch),
                                    map,
                                    |total| writer.write(total, file_step),
                                )?;
                                writer.flush()
                            })
                        },
                    );
                    joined(spawned.collect())
                })
            })?;
            std::fs::remove_file(&to)?;
            Ok(written)
        },
    )
}

/// A thread's share of the text, read from its file.
struct FromFile<'f> {
    file: &'f File,
    offset: u64,
    length: u64,
    read: u64,
    buffer: Vec<u8>,
}

impl<'f> FromFile<'f> {
    fn of(file: &'f File, offset: u64, length: u64) -> Self {
        Self {
            file,
            offset,
            length,
            read: 0,
            buffer: vec![0; READ],
        }
    }

    /// Reads on to what belongs to the first `rows` of `row_count`.
    fn read(&mut self, rows: usize, row_count: usize) -> Result<()> {
        let end = (u128::from(self.length) * rows as u128 / row_count.max(1) as u128) as u64;
        while self.read < end {
            let wanted = (end - self.read).min(READ as u64) as usize;
            let read = self
                .file
                .read_at(&mut self.buffer[..wanted], self.offset + self.read)?;
            if read == 0 {
                break;
            }
            std::hint::black_box(sum(&self.buffer[..read]));
            self.read += read as u64;
        }
        Ok(())
    }
}

/// A thread's share of the column file.
struct ToFile<'f> {
    file: &'f File,
    offset: u64,
    piece: Vec<u8>,
}

impl<'f> ToFile<'f> {
    fn behind(file: &'f File, offset: u64) -> Self {
        Self {
            file,
            offset,
            piece: Vec::with_capacity(WRITE),
        }
    }

    fn write(&mut self, total: u32, mut bytes: usize) -> Result<()> {
        while bytes > 0 {
            let room = bytes.min(WRITE - self.piece.len());
            self.piece.resize(self.piece.len() + room, total as u8);
            bytes -= room;
            if self.piece.len() == WRITE {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all_at(&self.piece, self.offset)?;
        self.offset += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }
}
