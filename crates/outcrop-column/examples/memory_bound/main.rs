//! Holds three operations of the codec against programs that only touch the memory which they have to touch:
//! `memory_bound TEXT [THREADS [ROUNDS [FOLDER]]]`.
//!
//! Each round runs the codec and the bare accesses one after the other (A B A B …), so that both see the same hours of the machine. The result
//! is a Markdown table of medians with the ends of the samples. `benchmarks/column/bounds.sh` runs it.
//!
//! What is touched:
//! - *Encode*, twice. In the codec's layout: all text once; per row one slot of 16 bytes (a key of 12 bytes and a code) of a table that all
//!   threads read; one count of 4 bytes that each thread has for itself; one place of the map from provisional to final codes; the file's bytes
//!   once into a buffer. And the same without the counts, from which the classes and the floor in the footer are made: what would be left if
//!   they cost nothing. All accesses are independent of each other, on as many threads as the codec has, and nothing is split, hashed or
//!   compared.
//! - *Encode from a file to a file*, where a folder is named: the same accesses with counts, but the text is read from its file, and the bytes
//!   of the column file are written to a file in the folder, in pieces of 2 MiB as the codec's, by each thread for itself. Neither is synced.
//! - *Equality scan*, of columns without a class map: the first plane of all codes, and the second plane where the first matches.
//! - *Arrow arrays*: the file once, and four bytes a row into an array that stays in the cache.
#![expect(
    clippy::disallowed_methods,
    reason = "the clock of the workspace is of a higher rank than this crate; an example may read its own"
)]

mod files;
mod reads;

use std::io::Write;
use std::path::Path;
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use memmap2::{Advice, MmapMut};
use outcrop_column::storage::WriteAt;
use outcrop_column::{Column, EncodeOptions, Result, encode_lines};

/// Bytes of a slot with a key and a code, and of a count or a place of a map.
const SLOT: usize = 16;
const PLACE: usize = 4;
/// Rows at a time: what they write stays in the cache.
const STEP: usize = 1 << 16;

/// Drops what is written.
struct Dropped;

impl WriteAt for Dropped {
    fn write_all_at(&mut self, _: &[u8], _: u64) -> std::io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What the accesses go to.
struct Scene<'t> {
    text: &'t [u8],
    file: Vec<u8>,
    /// The code of each row: four of the bytes of its text, in what is read.
    codes: Vec<u32>,
    value_count: usize,
    threads: usize,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, rest @ ..] = arguments.as_slice() else {
        return Err(std::io::Error::other("usage: memory_bound TEXT [THREADS [ROUNDS [FOLDER]]]").into());
    };
    let folder = rest.get(2).map(Path::new);
    let path = Path::new(text);
    let number = |place: usize, default: usize| {
        rest.get(place)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (threads, rounds) = (number(0, 2), number(1, 7));
    let text = std::fs::read(text)?;
    let options = EncodeOptions {
        threads,
        ..EncodeOptions::default()
    };
    let mut file = Vec::new();
    let written = encode_lines(&text, options)?.finish(&mut file)?;
    let column = Column::open_in(file.clone())?;
    let mut codes = Vec::with_capacity(written.row_count as usize);
    column.for_each_batch(|batch| {
        codes.extend_from_slice(&batch.codes);
        Ok(())
    })?;
    let scene = Scene {
        text: &text,
        file,
        codes,
        value_count: written.value_count as usize,
        threads,
    };
    say(&format!(
        "{} rows, {} distinct values, {threads} threads to encode, {rounds} rounds; ends are the least and the greatest sample, which hold the \
         median with {:.1} % confidence.\n\n",
        written.row_count,
        written.value_count,
        100.0 * (1.0 - 0.5_f64.powi(rounds as i32 - 1))
    ));
    say(
        "| operation | unit | codec | necessary accesses alone | codec ÷ accesses |\n|---|---|---|---|---|\n",
    );
    encode_bound(&scene, options, rounds)?;
    if let Some(folder) = folder {
        files::file_bound(&scene, options, rounds, path, folder)?;
    }
    // With a class map a scan reads one class of the rows: it needs fewer bytes than the planes have.
    if written.class_map_bytes == 0 {
        reads::scan_bound(&scene, &column, rounds)?;
    }
    reads::arrow_bound(&scene, &column, rounds)
}

fn say(text: &str) {
    // Whoever closes the pipe early wants no more.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Runs both in turn, and prints medians and ends in the unit that `convert` gives.
fn compare(
    name: &str,
    unit: &str,
    rounds: usize,
    convert: impl Fn(f64) -> f64,
    mut codec: impl FnMut() -> Result<f64>,
    mut accesses: impl FnMut() -> Result<f64>,
) -> Result<()> {
    // Once before: pages come in.
    codec()?;
    accesses()?;
    let (mut of_codec, mut of_accesses) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        of_codec.push(codec()?);
        of_accesses.push(accesses()?);
    }
    let shown = |samples: &mut Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        let (median, last) = (samples[samples.len() / 2], samples[samples.len() - 1]);
        let mut ends = [convert(samples[0]), convert(last)];
        ends.sort_by(f64::total_cmp);
        (
            median,
            format!("{:.3} ({:.3}–{:.3})", convert(median), ends[0], ends[1]),
        )
    };
    let ((codec, of_codec), (accesses, of_accesses)) = (shown(&mut of_codec), shown(&mut of_accesses));
    say(&format!(
        "| {name} | {unit} | {of_codec} | {of_accesses} | {:.2} |\n",
        codec / accesses
    ));
    Ok(())
}

/// Memory on huge pages where the kernel has them, as the codec's tables are. All of it is written to: memory that never was is one page of
/// zeros, however much of it is read.
fn table(bytes: usize) -> Result<MmapMut> {
    let mut table = MmapMut::map_anon(bytes)?;
    // Without them the accesses only take longer, as the codec's would.
    let _ = table.advise(Advice::HugePage);
    table.fill(1);
    Ok(table)
}

fn encode_bound(scene: &Scene<'_>, options: EncodeOptions, rounds: usize) -> Result<()> {
    let slots = scene.value_count.next_power_of_two();
    let gigabytes_per_second = |seconds: f64| scene.text.len() as f64 / seconds / 1e9;
    let encode = || seconds(|| encode_lines(scene.text, options)?.finish(&mut Dropped).map(drop));
    let (shared, map) = (table(slots * SLOT)?, table(slots * PLACE)?);
    let (shared, map) = (&shared[..], &map[..]);
    let mut counts = Vec::new();
    for _ in 0..scene.threads {
        counts.push(table(slots * PLACE)?);
    }
    compare(
        "encode without index; 16 B a value in one table for all threads, counts for each",
        "GB/s of text",
        rounds,
        gigabytes_per_second,
        encode,
        || {
            let touched = counts.iter_mut().map(|counts| {
                let count = move |slot: usize| {
                    std::hint::black_box(shared[slot * SLOT]);
                    let count = &mut counts[slot * PLACE];
                    *count = count.wrapping_add(1);
                };
                (count, map)
            });
            seconds(|| touch_on_threads(scene, slots, touched))
        },
    )?;
    compare(
        "encode without index; 16 B a value in one table for all threads, no counts",
        "GB/s of text",
        rounds,
        gigabytes_per_second,
        encode,
        || {
            let look = |slot: usize| {
                std::hint::black_box(shared[slot * SLOT]);
            };
            seconds(|| touch_on_threads(scene, slots, std::iter::repeat_n((look, map), scene.threads)))
        },
    )
}

/// Each thread with its share of the rows: what it does with the place of a row, and its map.
fn touch_on_threads<'m>(
    scene: &Scene<'_>,
    slots: usize,
    touched: impl Iterator<Item = (impl FnMut(usize) + Send, &'m [u8])>,
) -> Result<()> {
    let share = scene.codes.len().div_ceil(scene.threads).max(1);
    let unread = &scene.text[(scene.codes.len() * 4).min(scene.text.len())..];
    let text_share = unread.len().div_ceil(scene.threads).max(1);
    let file_share = scene.file.len() * STEP / scene.codes.len().max(1);
    std::thread::scope(|scope| {
        let texts = unread.chunks(text_share).map(Some).chain(std::iter::repeat(None));
        let parts = scene.codes.chunks(share).zip(texts).zip(touched);
        let spawned = parts.map(|((codes, text), (touch, map))| {
            scope.spawn(move || {
                let text = text.unwrap_or_default();
                let mut read = 0;
                let read_on = |rows: usize| {
                    let end = text.len() * rows / codes.len().max(1);
                    std::hint::black_box(sum(&text[read..end]));
                    read = end;
                    Ok(())
                };
                let mut block = vec![0_u8; file_share];
                let write = |total: u32| {
                    block.fill(total as u8);
                    std::hint::black_box(&block);
                    Ok(())
                };
                touch_as_encoding(codes, read_on, (slots, touch), map, write)
            })
        });
        joined(spawned.collect())
    })
}

fn joined(threads: Vec<ScopedJoinHandle<'_, Result<()>>>) -> Result<()> {
    for thread in threads {
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    }
    Ok(())
}

/// A row's place: the multiplier spreads neighbouring codes over all of them, as a hash does.
fn slot_of(code: u32, slots: usize) -> usize {
    (code.wrapping_mul(0x9e37_79b1) as usize) & (slots - 1)
}

/// Touches what encoding `codes` touches. `read` reads the text of the first so many rows, as far as it is not read yet; `write`
/// writes a block.
fn touch_as_encoding(
    codes: &[u32],
    mut read: impl FnMut(usize) -> Result<()>,
    (slots, mut touch): (usize, impl FnMut(usize)),
    map: &[u8],
    mut write: impl FnMut(u32) -> Result<()>,
) -> Result<()> {
    let mut packed = vec![0_u8; codes.len() / 2 * 5 + 5];
    for (index, rows) in codes.chunks(STEP).enumerate() {
        read(index * STEP + rows.len())?;
        let out = packed[index * STEP / 2 * 5..].as_chunks_mut::<5>().0;
        for (pair, out) in rows.chunks(2).zip(out) {
            let mut both = 0;
            for (shift, &code) in [0, 20].into_iter().zip(pair) {
                let slot = slot_of(code, slots);
                touch(slot);
                both |= (slot as u64) << shift;
            }
            out.copy_from_slice(&both.to_le_bytes()[..5]);
        }
    }
    // The second half: rows as they were packed, the final code of each, and the bytes of the file.
    let place = map.len() / slots;
    for rows in packed.chunks(STEP / 2 * 5) {
        let mut total = 0_u32;
        for pair in rows.as_chunks::<5>().0 {
            let both = u64::from_le_bytes([pair[0], pair[1], pair[2], pair[3], pair[4], 0, 0, 0]);
            for provisional in [both & 0xf_ffff, both >> 20] {
                total = total.wrapping_add(u32::from(map[provisional as usize % slots * place]));
            }
        }
        write(total)?;
    }
    Ok(())
}

fn sum(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks();
    words
        .iter()
        .fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}
