//! Measures the codec on a text file, one row of `metric,value,unit` each: `measure_column TEXT FOLDER [THREADS]`.
//!
//! FOLDER receives the three column files. `benchmarks/column/README.md` says how its records were made.
#![expect(
    clippy::disallowed_methods,
    reason = "the clock of the workspace is of a higher rank than this crate; an example may read its own"
)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use outcrop_column::{Column, EncodeOptions, EncodeReport, Index, Profile, Result, encode_text};

/// Repetitions of each measurement; the median is printed.
const REPETITIONS: usize = 7;

fn report(metric: &str, value: f64, unit: &str) {
    let row = format!("{metric},{value:.4},{unit}\n");
    // Whoever closes the pipe early wants no more rows.
    let _ = std::io::stdout().write_all(row.as_bytes());
}

/// Median seconds of `work`.
fn seconds(repetitions: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..repetitions {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn encode(text: &Path, out: &Path, options: EncodeOptions) -> Result<(EncodeReport, f64)> {
    let start = Instant::now();
    let written = encode_text(File::open(text)?, options)?.write(out)?;
    Ok((written, start.elapsed().as_secs_f64()))
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, folder, rest @ ..] = arguments.as_slice() else {
        return Err(std::io::Error::other("usage: measure_column TEXT FOLDER [THREADS]").into());
    };
    let (text, folder) = (Path::new(text), Path::new(folder));
    let threads = rest.first().and_then(|threads| threads.parse().ok()).unwrap_or(2);
    let text_bytes = std::fs::metadata(text)?.len() as f64;
    let mut paths = Vec::new();
    for (name, index) in [
        ("none", Index::None),
        ("postings", Index::Postings),
        ("only", Index::Only),
    ] {
        let path = folder.join(format!("{name}.ocol"));
        let (written, time) = encode(
            text,
            &path,
            EncodeOptions {
                index,
                threads,
                profile: Profile::Balanced,
            },
        )?;
        if index == Index::None {
            report("text bytes", text_bytes, "B");
            report("rows", written.row_count as f64, "rows");
            report("distinct values", written.value_count as f64, "values");
            report("floor of the codes", written.floor_bytes as f64, "B");
            report("dictionary", written.dictionary_bytes as f64, "B");
            report("class map", written.class_map_bytes as f64, "B");
            let floor = (written.floor_bytes + written.dictionary_bytes) as f64;
            report(
                "file, over floor and dictionary",
                written.file_bytes as f64 / floor,
                "ratio",
            );
        }
        report(&format!("file, index {name}"), written.file_bytes as f64, "B");
        report(
            &format!("encode, index {name}, {threads} threads"),
            text_bytes / time / 1e9,
            "GB/s",
        );
        paths.push(path);
    }
    let (codes, postings) = (Column::open(&paths[0])?, Column::open(&paths[1])?);
    for (name, encoding) in &codes.report()?.segments[0].encodings {
        report(
            &format!("blocks in {name}"),
            encoding.block_count as f64,
            "blocks",
        );
    }
    let words = sample_words(&codes)?;
    measure_scans(&codes, &words)?;
    measure_lookups("postings", &postings, &words)?;
    let mut preloaded = Column::open(&paths[1])?;
    preloaded.preload()?;
    measure_lookups("postings, preloaded", &preloaded, &words)?;
    let mut in_memory = Column::open(&paths[0])?;
    report(
        "building postings in memory",
        seconds(1, || in_memory.preload())?,
        "s",
    );
    measure_lookups("postings in memory", &in_memory, &words)?;
    measure_decode(&codes, text_bytes)
}

/// Words spread over the dictionary, skipping those of more than 1000 rows.
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
    let time = seconds(REPETITIONS, || {
        chosen
            .next()
            .map_or(Ok(()), |word| column.find(word)?.rows_by_scan().map(drop))
    })?;
    report("equality scan, 1 thread", time * 1e3, "ms");
    let time = seconds(REPETITIONS, || {
        chosen.next().map_or(Ok(()), |word| {
            column
                .find_prefix(&word[..word.len().min(3)])?
                .rows_by_scan()
                .map(drop)
        })
    })?;
    report("prefix scan, 3 letters, 1 thread", time * 1e3, "ms");
    Ok(())
}

fn measure_lookups(name: &str, column: &Column, words: &[Vec<u8>]) -> Result<()> {
    let mut rows = Vec::new();
    let mut find_all = || {
        rows.clear();
        for word in words {
            rows.push(column.find(word)?.rows()?.len());
        }
        Ok(())
    };
    let time = seconds(REPETITIONS, &mut find_all)?;
    let mut counts = rows.clone();
    counts.sort_unstable();
    report(&format!("lookup, {name}"), time / words.len() as f64 * 1e6, "µs");
    report(
        &format!("lookup, {name}: median hits"),
        counts[counts.len() / 2] as f64,
        "rows",
    );
    report(
        &format!("lookup, {name}: mean hits"),
        rows.iter().sum::<usize>() as f64 / rows.len() as f64,
        "rows",
    );
    let prefixes: Vec<&[u8]> = words
        .iter()
        .step_by(20)
        .map(|word| &word[..word.len().min(3)])
        .collect();
    let mut found = 0;
    let time = seconds(REPETITIONS, || {
        found = 0;
        for prefix in &prefixes {
            found += column.find_prefix(prefix)?.rows_by_value()?.len();
        }
        Ok(())
    })?;
    report(
        &format!("prefix, {name}"),
        time / prefixes.len() as f64 * 1e6,
        "µs",
    );
    report(
        &format!("prefix, {name}: mean hits"),
        found as f64 / prefixes.len() as f64,
        "rows",
    );
    Ok(())
}

fn measure_decode(column: &Column, text_bytes: f64) -> Result<()> {
    let time = seconds(3, || column.decode_text(&mut std::io::sink()))?;
    report("decode to text, 1 thread", text_bytes / time / 1e9, "GB/s");
    let mut codes = 0;
    let time = seconds(3, || {
        codes = 0;
        column.for_each_batch(|batch| {
            codes += batch.codes.len();
            Ok(())
        })?;
        Ok(())
    })?;
    report("decode to codes, 1 thread", time / codes as f64 * 1e9, "ns/row");
    Ok(())
}
