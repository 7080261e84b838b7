//! Measures the codec on a text file, one row of `metric,value,unit` each:
//! `measure_column TEXT FOLDER [THREADS [PART…]]`.
//!
//! PART is encode (or one of encode-none, encode-postings, encode-only), scan, lookup or decode; all of them
//! where none is named. FOLDER receives the three column files, and has them already where encode is left
//! out. `benchmarks/column/run.sh` runs it.
#![expect(
    clippy::disallowed_methods,
    reason = "the clock of the workspace is of a higher rank than this crate; an example may read its own"
)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use outcrop_column::storage::{AtomicFile, MappedFile, ReadAt, WriteAt};
use outcrop_column::{BLOCK_ROWS, Column, EncodeOptions, Index, Profile, Result, encode_text};
use rustix::time::{ClockId, clock_gettime};

/// Repetitions of each measurement; the median is printed.
const REPETITIONS: usize = 7;

/// Elapsed and CPU time in seconds. On a machine that others use too, the second is what the work took.
#[derive(Debug, Clone, Copy)]
struct Times {
    elapsed: f64,
    cpu: f64,
}

impl Times {
    fn of(work: impl FnOnce() -> Result<()>) -> Result<Self> {
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        work()?;
        Ok(Self {
            elapsed: start.elapsed().as_secs_f64(),
            cpu: cpu_seconds() - cpu_start,
        })
    }

    fn report(self, metric: &str, unit: &str, convert: impl Fn(f64) -> f64) {
        report(metric, convert(self.elapsed), unit);
        report(&format!("{metric} (by CPU time)"), convert(self.cpu), unit);
    }
}

/// CPU time of the process, all threads, in seconds.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn report(metric: &str, value: f64, unit: &str) {
    let row = format!("{metric},{value:.4},{unit}\n");
    // Whoever closes the pipe early wants no more rows.
    let _ = std::io::stdout().write_all(row.as_bytes());
}

/// Medians over the repetitions of `work`.
fn median(repetitions: usize, mut work: impl FnMut() -> Result<()>) -> Result<Times> {
    let times = (0..repetitions)
        .map(|_| Times::of(&mut work))
        .collect::<Result<Vec<_>>>()?;
    Ok(middle_of(&times))
}

fn middle_of(times: &[Times]) -> Times {
    let middle = |part: fn(&Times) -> f64| {
        let mut parts: Vec<f64> = times.iter().map(part).collect();
        parts.sort_by(f64::total_cmp);
        parts[parts.len() / 2]
    };
    Times {
        elapsed: middle(|times| times.elapsed),
        cpu: middle(|times| times.cpu),
    }
}

/// The file being written, with the time that making it durable takes: that is the disk's, not the codec's.
struct TimedFile {
    file: AtomicFile,
    sync_s: f64,
}

impl WriteAt for TimedFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        let start = Instant::now();
        let synced = self.file.sync();
        self.sync_s += start.elapsed().as_secs_f64();
        synced
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, folder, rest @ ..] = arguments.as_slice() else {
        let usage = "usage: measure_column TEXT FOLDER [THREADS [encode|scan|lookup|decode…]]";
        return Err(std::io::Error::other(usage).into());
    };
    let threads = rest.first().and_then(|threads| threads.parse().ok()).unwrap_or(2);
    let parts = rest.get(1..).unwrap_or_default();
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let (text, folder) = (Path::new(text), Path::new(folder));
    let text_bytes = std::fs::metadata(text)?.len() as f64;
    report("text", text_bytes, "B");
    let path_of = |index: Index| folder.join(format!("{index:?}.ocol").to_lowercase());
    for index in [Index::None, Index::Postings, Index::Only] {
        if wants("encode") || wants(&format!("encode-{index:?}").to_lowercase()) {
            let options = EncodeOptions {
                index,
                threads,
                profile: Profile::Balanced,
            };
            measure_encode(text, &path_of(index), options)?;
        }
    }
    if !["scan", "lookup", "decode"].into_iter().any(wants) {
        return Ok(());
    }
    let (codes, mut postings) = (
        Column::open(path_of(Index::None))?,
        Column::open(path_of(Index::Postings))?,
    );
    for (name, encoding) in &codes.report()?.segments[0].encodings {
        report(
            &format!("blocks in {name}"),
            encoding.block_count as f64,
            "blocks",
        );
    }
    let words = sample_words(&codes)?;
    if wants("scan") {
        measure_scans(&codes, &words)?;
        measure_streaming(&path_of(Index::None), codes.row_count())?;
    }
    if wants("lookup") {
        measure_lookups("postings", &postings, &words)?;
        postings.preload()?;
        measure_lookups("postings, preloaded", &postings, &words)?;
    }
    if wants("decode") {
        measure_decode(&codes, text_bytes)?;
    }
    if wants("lookup") {
        let mut in_memory = codes;
        Times::of(|| in_memory.preload())?.report("building postings in memory", "s", |seconds| seconds);
        measure_lookups("postings in memory", &in_memory, &words)?;
    }
    Ok(())
}

fn measure_encode(text: &Path, path: &Path, options: EncodeOptions) -> Result<()> {
    let index = options.index;
    let text_bytes = std::fs::metadata(text)?.len() as f64;
    let (mut encoder, mut written, mut sync_s) = (None, None, 0.0);
    let reading = Times::of(|| {
        encoder = Some(encode_text(File::open(text)?, options)?);
        Ok(())
    })?;
    let mut writing = Times::of(|| {
        let mut out = TimedFile {
            file: AtomicFile::create(path)?,
            sync_s: 0.0,
        };
        written = encoder
            .take()
            .map(|encoder| encoder.finish(&mut out))
            .transpose()?;
        let start = Instant::now();
        out.file.commit()?;
        sync_s = out.sync_s + start.elapsed().as_secs_f64();
        Ok(())
    })?;
    writing.elapsed -= sync_s;
    let Some(written) = written else { return Ok(()) };
    let name = format!("encode, index {index:?}, {} threads", options.threads);
    let both = Times {
        elapsed: reading.elapsed + writing.elapsed,
        cpu: reading.cpu + writing.cpu,
    };
    report(&name, text_bytes / both.elapsed / 1e9, "GB/s");
    both.report(&name, "s", |seconds| seconds);
    writing.report(&format!("{name}: encoding and writing alone"), "s", |seconds| {
        seconds
    });
    report(&format!("{name}: fsync, not in these times"), sync_s, "s");
    report(&format!("{name}: most memory so far"), peak_bytes() / 1e6, "MB");
    report(&format!("file, index {index:?}"), written.file_bytes as f64, "B");
    if index == Index::None {
        report("rows", written.row_count as f64, "rows");
        report("distinct values", written.value_count as f64, "values");
        report("floor of the codes", written.floor_bytes as f64, "B");
        report("dictionary", written.dictionary_bytes as f64, "B");
        report("class map", written.class_map_bytes as f64, "B");
        let floor = (written.floor_bytes + written.dictionary_bytes) as f64;
        report(
            "file ÷ (floor + dictionary)",
            written.file_bytes as f64 / floor,
            "ratio",
        );
    }
    Ok(())
}

/// Largest resident memory of the process so far, in bytes; not a number where the system does not tell.
fn peak_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) * 1024.0
}

/// Words spread evenly over the dictionary.
fn sample_words(column: &Column) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    column.for_each_value(|_, _, value| {
        all.push(value.to_vec());
        Ok(())
    })?;
    let step = (all.len() / 2003).max(1);
    Ok(all.into_iter().step_by(step).collect())
}

fn measure_scans(column: &Column, words: &[Vec<u8>]) -> Result<()> {
    let mut chosen = words
        .iter()
        .step_by(words.len().div_ceil(REPETITIONS).max(1))
        .cycle();
    let mut next = || chosen.next().map_or(&[][..], Vec::as_slice);
    // Once before: pages come in and checksums are compared on first touch.
    let first = Times::of(|| column.find(next())?.rows_by_scan().map(drop))?;
    first.report("equality scan, first", "ms", |seconds| seconds * 1e3);
    let equality = median(REPETITIONS, || column.find(next())?.rows_by_scan().map(drop))?;
    equality.report("equality scan, 1 thread", "ms", |seconds| seconds * 1e3);
    let mut prefix_of = || &next()[..3];
    let prefix = median(REPETITIONS, || {
        column.find_prefix(prefix_of())?.rows_by_scan().map(drop)
    })?;
    prefix.report("prefix scan, 3 letters, 1 thread", "ms", |seconds| seconds * 1e3);
    Ok(())
}

/// Time to read as many bytes as an equality scan of planes has to look at: one per row, 64 KiB at a time.
fn measure_streaming(path: &Path, row_count: u64) -> Result<()> {
    let file = MappedFile::open(path)?;
    let bytes = file.as_bytes().unwrap_or_default();
    let block_count = (row_count as usize).div_ceil(BLOCK_ROWS).max(1);
    let mut total = 0_u64;
    let streaming = median(REPETITIONS, || {
        for block in bytes.chunks(bytes.len().div_ceil(block_count).max(1)) {
            let (words, _) = block[..block.len().min(BLOCK_ROWS)].as_chunks();
            total = words
                .iter()
                .fold(total, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
        }
        std::hint::black_box(total);
        Ok(())
    })?;
    streaming.report("adding up a byte of each row, 1 thread", "ms", |seconds| {
        seconds * 1e3
    });
    Ok(())
}

fn measure_lookups(name: &str, column: &Column, words: &[Vec<u8>]) -> Result<()> {
    let mut hits = 0;
    let lookups = median(REPETITIONS, || {
        hits = 0;
        for word in words {
            hits += column.find(word)?.rows()?.len();
        }
        Ok(())
    })?;
    lookups.report(&format!("lookup, {name}"), "µs", |seconds| {
        seconds / words.len() as f64 * 1e6
    });
    report(
        &format!("lookup, {name}: mean hits"),
        hits as f64 / words.len() as f64,
        "rows",
    );
    let prefixes: Vec<&[u8]> = words
        .iter()
        .step_by(20)
        .map(|word| &word[..word.len().min(3)])
        .collect();
    let prefix = median(REPETITIONS, || {
        hits = 0;
        for prefix in &prefixes {
            hits += column.find_prefix(prefix)?.rows_by_value()?.len();
        }
        Ok(())
    })?;
    prefix.report(&format!("prefix, 3 letters, {name}"), "µs", |seconds| {
        seconds / prefixes.len() as f64 * 1e6
    });
    report(
        &format!("prefix, 3 letters, {name}: mean hits"),
        hits as f64 / prefixes.len() as f64,
        "rows",
    );
    Ok(())
}

fn measure_decode(column: &Column, text_bytes: f64) -> Result<()> {
    let text = median(3, || column.decode_text(&mut std::io::sink()))?;
    text.report("decode to text, 1 thread", "GB/s", |seconds| {
        text_bytes / seconds / 1e9
    });
    let mut rows = 0;
    let codes = median(3, || {
        rows = 0;
        column.for_each_batch(|batch| {
            rows += batch.codes.len();
            Ok(())
        })
    })?;
    codes.report("decode to codes, 1 thread", "ns/row", |seconds| {
        seconds / rows as f64 * 1e9
    });
    #[cfg(feature = "arrow")]
    measure_arrow(column)?;
    Ok(())
}

#[cfg(feature = "arrow")]
fn measure_arrow(column: &Column) -> Result<()> {
    use outcrop_column::arrow::DictionaryOrder;
    for (order, name) in [
        (DictionaryOrder::Stored, "as stored"),
        (DictionaryOrder::Bytes, "in byte order"),
    ] {
        let dictionary = median(3, || column.scan_in(order).map(drop))?;
        let mut arrays = Vec::new();
        for _ in 0..REPETITIONS {
            let mut scan = column.scan_in(order)?;
            arrays.push(Times::of(|| {
                scan.try_for_each(|array| {
                    std::hint::black_box(array?);
                    Ok(())
                })
            })?);
        }
        let a_row = |seconds: f64| seconds / column.row_count() as f64 * 1e9;
        let what = format!("decode to Arrow arrays, dictionary {name}, 1 thread");
        middle_of(&arrays).report(&what, "ns/row", a_row);
        let least = arrays.iter().map(|times| times.cpu).fold(f64::INFINITY, f64::min);
        report(
            &format!("{what} (least CPU time of {REPETITIONS})"),
            a_row(least),
            "ns/row",
        );
        dictionary.report(
            &format!("the dictionary of these arrays, {name}"),
            "ms",
            |seconds| seconds * 1e3,
        );
    }
    Ok(())
}
