//! Codecs over whole files in independent blocks, as lzbench does it: passes over all blocks until the time is up, a clock
//! reading per pass, the median pass, and the fastest. Prints CSV: a line per file and codec, compressed sizes by percentile of
//! blocks, and a line per round, whose codecs ran side by side and are to be compared with each other.
//!
//! `codec_blocks BLOCK_BYTES ROUNDS MILLISECONDS CODEC,CODEC,… FILE…`; with 0 ms nothing is timed. `CODEC@fresh` makes a context for
//! every block, as lzbench does with some codecs; `CODEC@leaking` never frees the decompressing ones, as it does with
//! libdeflate's. Codecs take turns, round by round, so that what changes about the machine hits
//! all alike.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use outcrop_codec::{BlockCodec, CodecSpec, Coder, ContextUse};
use outcrop_measure::interval::median;
use outcrop_probe::Clock;

/// Where the distribution of compressed block sizes is read.
const PERCENTILES: [usize; 11] = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [block_bytes, rounds, milliseconds, codecs, files @ ..] = arguments.as_slice() else {
        return Err("give BLOCK_BYTES ROUNDS MILLISECONDS CODEC,CODEC,… FILE…".into());
    };
    let time = Duration::from_millis(milliseconds.parse()?);
    let (block_bytes, rounds): (usize, usize) = (block_bytes.parse()?, rounds.parse()?);
    println!(
        "codec,file,block_bytes,original_bytes,compressed_bytes,compress_ns,decompress_ns,compress_fastest_ns,decompress_fastest_ns"
    );
    let mut sizes: Vec<Vec<f64>> = Vec::new();
    let mut by_round = String::new();
    for file in files {
        let data = std::fs::read(file)?;
        let blocks: Vec<&[u8]> = data.chunks(block_bytes).collect();
        let mut subjects = codecs
            .split(',')
            .map(|codec| Subject::open(codec, &blocks))
            .collect::<Outcome<Vec<_>>>()?;
        sizes.resize(subjects.len(), Vec::new());
        for _ in 0..rounds {
            for subject in &mut subjects {
                subject.round(&blocks, time)?;
            }
        }
        for (subject, sizes) in subjects.iter().zip(&mut sizes) {
            sizes.extend(subject.lengths.iter().map(|&length| length as f64));
            println!(
                "{},{file},{block_bytes},{},{},{:.0},{:.0},{:.0},{:.0}",
                subject.spec,
                data.len(),
                subject.lengths.iter().sum::<usize>(),
                median(&subject.compress_ns).unwrap_or(f64::NAN),
                median(&subject.decompress_ns).unwrap_or(f64::NAN),
                subject.fastest_ns[0],
                subject.fastest_ns[1],
            );
            let rounds = subject.compress_ns.iter().zip(&subject.decompress_ns);
            for (round, (compress, decompress)) in rounds.enumerate() {
                writeln!(
                    by_round,
                    "{},{file},{round},{compress:.0},{decompress:.0}",
                    subject.spec
                )?;
            }
        }
    }
    println!("codec,percentile,compressed_block_bytes");
    for (codec, sizes) in codecs.split(',').zip(&mut sizes) {
        sizes.sort_by(f64::total_cmp);
        for percentile in PERCENTILES {
            let index = (sizes.len().saturating_sub(1) * percentile + 50) / 100;
            println!("{codec},{percentile},{}", sizes.get(index).unwrap_or(&f64::NAN));
        }
    }
    print!("codec,file,round,compress_ns,decompress_ns\n{by_round}");
    Ok(())
}

/// A codec, and what it made of the blocks of one file.
struct Subject {
    spec: CodecSpec,
    coder: Coder,
    /// Whether each decompressing context stays in memory.
    leaks: bool,
    packed: Vec<u8>,
    lengths: Vec<usize>,
    back: Vec<u8>,
    /// The median pass of each round.
    compress_ns: Vec<f64>,
    decompress_ns: Vec<f64>,
    /// The fastest pass of all rounds: compressing, decompressing.
    fastest_ns: [f64; 2],
}

impl Subject {
    /// Compresses every block once, and checks that it comes back.
    fn open(codec: &str, blocks: &[&[u8]]) -> Outcome<Self> {
        let (codec, context, leaks) = match codec.split_once('@') {
            Some((codec, "fresh")) => (codec, ContextUse::Fresh, false),
            Some((codec, "leaking")) => (codec, ContextUse::Fresh, true),
            Some((_, other)) => return Err(format!("@{other}: write @fresh or @leaking").into()),
            None => (codec, ContextUse::Reused, false),
        };
        let spec: CodecSpec = codec.parse()?;
        let coder = Coder::open(&spec, context)?;
        let bound = blocks
            .iter()
            .map(|block| coder.compressed_bound(block.len()))
            .sum();
        let mut subject = Self {
            spec,
            coder,
            leaks,
            packed: vec![0; bound],
            lengths: vec![0; blocks.len()],
            back: vec![0; blocks.iter().map(|block| block.len()).sum()],
            compress_ns: Vec::new(),
            decompress_ns: Vec::new(),
            fastest_ns: [f64::INFINITY; 2],
        };
        subject.compress(blocks)?;
        subject.decompress(blocks)?;
        subject.check_and_clear(blocks)?;
        Ok(subject)
    }

    fn round(&mut self, blocks: &[&[u8]], time: Duration) -> Outcome<()> {
        if time.is_zero() {
            return Ok(());
        }
        let clock = Clock::new();
        let compress = passes(&clock, time, || {
            let started = clock.ticks();
            self.compress(blocks)?;
            Ok(clock.ticks() - started)
        })?;
        let decompress = passes(&clock, time, || {
            let started = clock.ticks();
            self.decompress(blocks)?;
            let took = clock.ticks() - started;
            self.check_and_clear(blocks)?;
            Ok(took)
        })?;
        self.compress_ns.extend(median(&compress));
        self.decompress_ns.extend(median(&decompress));
        for (fastest, passes) in self.fastest_ns.iter_mut().zip([compress, decompress]) {
            *fastest = passes.into_iter().fold(*fastest, f64::min);
        }
        Ok(())
    }

    fn compress(&mut self, blocks: &[&[u8]]) -> Outcome<()> {
        let mut target = self.packed.as_mut_slice();
        for (block, length) in blocks.iter().zip(&mut self.lengths) {
            *length = self.coder.compress(black_box(block), target)?;
            target = &mut target[*length..];
        }
        Ok(())
    }

    /// Holds what was restored against the blocks, and forgets it: each pass restores anew, into memory that was written
    /// a moment ago.
    fn check_and_clear(&mut self, blocks: &[&[u8]]) -> Outcome<()> {
        let mut back = self.back.as_slice();
        for (number, block) in blocks.iter().enumerate() {
            let (front, rest) = back.split_at(block.len());
            if front != *block {
                return Err(format!("{} restores other bytes in block {number}", self.spec).into());
            }
            back = rest;
        }
        self.back.fill(0);
        Ok(())
    }

    fn decompress(&mut self, blocks: &[&[u8]]) -> Outcome<()> {
        let (mut source, mut target) = (self.packed.as_slice(), self.back.as_mut_slice());
        for (block, &length) in blocks.iter().zip(&self.lengths) {
            let (page, rest) = target.split_at_mut(block.len());
            let packed = black_box(&source[..length]);
            if self.leaks {
                let mut codec = self.spec.open()?;
                codec.decompress(packed, page)?;
                std::mem::forget(codec);
            } else {
                self.coder.decompress(packed, page)?;
            }
            (source, target) = (&source[length..], rest);
        }
        Ok(())
    }
}

/// Nanoseconds of each pass, which answers its ticks: as many as fit `time`, three at least.
fn passes(clock: &Clock, time: Duration, mut pass: impl FnMut() -> Outcome<u64>) -> Outcome<Vec<f64>> {
    let until = clock.ticks_in(time);
    let (began, mut passes) = (clock.ticks(), Vec::new());
    while passes.len() < 3 || clock.ticks() - began < until {
        passes.push(clock.nanos(pass()?) as f64);
    }
    Ok(passes)
}
