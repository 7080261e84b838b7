//! What the Python package does, done by Rust, for `benchmarks/python/run.py`: `timed_column TABLE WORDS COLUMN`.
//!
//! TABLE is an Arrow file with one column of strings, WORDS has a word to look up in each line, COLUMN is the `.ocol` file that is
//! written and read. Each line of standard input names one thing to do, and is answered by the seconds of CPU time that it took: what
//! other programs do at the same time is not in it.

use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;

use arrow_array::ArrayRef;
use outcrop_column::arrow::ArrowStrings;
use outcrop_column::{Column, EncodeOptions, Encoder, Index, InputColumn, Profile, Result};
use rustix::time::{ClockId, clock_gettime};

/// Rows of an array of the Python package's stream.
const BATCH_ROWS: usize = 1 << 20;

/// CPU time of the process, all threads, in seconds.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, words, path] = arguments.as_slice() else {
        return Err(std::io::Error::other("usage: timed_column TABLE WORDS COLUMN").into());
    };
    let arrays: Vec<ArrayRef> =
        ArrowStrings::open(File::open(table)?, InputColumn::Only)?.collect::<Result<_>>()?;
    let words = std::fs::read_to_string(words)?;
    let words: Vec<&str> = words.lines().collect();
    let mut column = None;
    for line in std::io::stdin().lines() {
        let action = line?;
        let start = cpu_seconds();
        match action.as_str() {
            "encode" => encode(&arrays, path.as_ref())?,
            "open" => {
                let mut opened = Column::open(path)?;
                opened.preload()?;
                column = Some(opened);
            }
            reading => read(
                column
                    .as_ref()
                    .ok_or_else(|| std::io::Error::other("open first"))?,
                reading,
                &words,
            )?,
        }
        let answer = format!("{:.9}\n", cpu_seconds() - start);
        std::io::stdout().write_all(answer.as_bytes())?;
    }
    Ok(())
}

fn encode(arrays: &[ArrayRef], path: &Path) -> Result<()> {
    let mut encoder = Encoder::new(EncodeOptions {
        index: Index::Postings,
        profile: Profile::Balanced,
        threads: 1,
    });
    for array in arrays {
        encoder.push_array(array)?;
    }
    encoder.write(path).map(drop)
}

fn read(column: &Column, action: &str, words: &[&str]) -> Result<()> {
    match action {
        "find" => {
            for word in words {
                black_box(column.find(word.as_bytes())?);
            }
        }
        "find and rows" => {
            for word in words {
                black_box(column.find(word.as_bytes())?.rows()?);
            }
        }
        "decode" => {
            let scan = column.scan()?.with_batch_rows(BATCH_ROWS);
            let arrays = scan.collect::<Result<Vec<_>>>()?;
            black_box(arrays);
        }
        other => {
            let message = format!("{other:?}: expected encode, open, find, find and rows or decode");
            return Err(std::io::Error::other(message).into());
        }
    }
    Ok(())
}
