//! Answers timed requests on column files, one per line, so that a script can interleave them with its peers.
//!
//! Requests (fields between tabs; values in hexadecimal) and answers (seconds, then what was counted):
//!
//! ```text
//! encode TEXT FILE none|postings|only smallest|balanced|fastest THREADS   seconds bytes
//! open NAME FILE in-memory|mapped|on-disk                                 seconds rows
//! find NAME VALUE | prefix NAME VALUE | scan NAME VALUE                   seconds rows
//! decode NAME                                                             seconds bytes
//! cold FILE VALUE          opens on disk, finds                           seconds rows
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::Path;

use outcrop_column::{Column, EncodeOptions, Index, Profile, encode_text};
use outcrop_probe::Clock;

type Answer = Result<(f64, u64), Box<dyn Error>>;

/// Counts bytes and drops them.
struct Sink(u64);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (clock, mut columns) = (Clock::new(), BTreeMap::new());
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        match answer(&fields, &clock, &mut columns) {
            Ok((seconds, count)) => writeln!(out, "{seconds:.9}\t{count}")?,
            Err(error) => writeln!(out, "error\t{error}")?,
        }
        out.flush()?;
    }
    Ok(())
}

fn answer(fields: &[&str], clock: &Clock, columns: &mut BTreeMap<String, Column>) -> Answer {
    let column = |name: &str| {
        columns
            .get(name)
            .ok_or_else(|| format!("no column is open as {name:?}"))
    };
    let start = clock.ticks();
    let seconds = || clock.nanos(clock.ticks() - start) as f64 / 1e9;
    match fields {
        ["encode", text, file, index, profile, threads] => {
            let options = EncodeOptions {
                index: index_of(index)?,
                profile: profile_of(profile)?,
                threads: threads.parse()?,
            };
            let report = encode_text(File::open(text)?, options)?.write(Path::new(file))?;
            Ok((seconds(), report.file_bytes))
        }
        ["open", name, file, mode] => {
            let mut opened = if *mode == "on-disk" {
                Column::open_on_disk(file)?
            } else {
                Column::open(file)?
            };
            if *mode == "in-memory" {
                opened.preload()?;
            }
            let rows = opened.row_count();
            columns.insert((*name).to_owned(), opened);
            Ok((seconds(), rows))
        }
        ["find", name, value] => {
            let value = bytes_of(value)?;
            let rows = column(name)?.find(&value)?.rows()?;
            Ok((seconds(), rows.len() as u64))
        }
        ["scan", name, value] => {
            let value = bytes_of(value)?;
            let rows = column(name)?.find(&value)?.rows_by_scan()?;
            Ok((seconds(), rows.len() as u64))
        }
        ["prefix", name, value] => {
            let value = bytes_of(value)?;
            let rows = column(name)?.find_prefix(&value)?.rows()?;
            Ok((seconds(), rows.len() as u64))
        }
        ["decode", name] => {
            let mut sink = Sink(0);
            column(name)?.decode_text(&mut sink)?;
            Ok((seconds(), sink.0))
        }
        ["cold", file, value] => {
            let value = bytes_of(value)?;
            let rows = Column::open_on_disk(file)?.find(&value)?.rows()?;
            Ok((seconds(), rows.len() as u64))
        }
        _ => Err(format!("unknown request {fields:?}").into()),
    }
}

fn index_of(name: &str) -> Result<Index, String> {
    match name {
        "none" => Ok(Index::None),
        "postings" => Ok(Index::Postings),
        "only" => Ok(Index::Only),
        _ => Err(format!("unknown index {name:?}")),
    }
}

fn profile_of(name: &str) -> Result<Profile, String> {
    match name {
        "smallest" => Ok(Profile::Smallest),
        "balanced" => Ok(Profile::Balanced),
        "fastest" => Ok(Profile::Fastest),
        _ => Err(format!("unknown profile {name:?}")),
    }
}

fn bytes_of(hexadecimal: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let pairs = hexadecimal.as_bytes().chunks(2);
    pairs
        .map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?))
        .collect()
}
