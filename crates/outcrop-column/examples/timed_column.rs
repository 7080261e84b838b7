//! What the Python package does, done by Rust, for `benchmarks/python/run.py`: `timed_column TABLE WORDS COLUMN`.
//!
//! TABLE is an Arrow file with one column of strings, WORDS has a word to look up in each line, COLUMN is the `.ocol` file that is
//! written and read. Each line of standard input names one thing to do, and is answered by the seconds that it took.
#![expect(
    clippy::disallowed_methods,
    reason = "the clock of the workspace is of a higher rank than this crate; an example may read its own"
)]

use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use arrow_array::ArrayRef;
use outcrop_column::arrow::ArrowStrings;
use outcrop_column::{Column, EncodeOptions, Encoder, Index, InputColumn, Profile, Result};

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
        let start = Instant::now();
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
        let answer = format!("{:.9}\n", start.elapsed().as_secs_f64());
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
            let arrays = column.scan()?.collect::<Result<Vec<_>>>()?;
            black_box(arrays);
        }
        other => {
            let message = format!("{other:?}: expected encode, open, find, find and rows or decode");
            return Err(std::io::Error::other(message).into());
        }
    }
    Ok(())
}
