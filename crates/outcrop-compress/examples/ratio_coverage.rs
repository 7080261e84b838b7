//! How often the interval of a sampled ratio covers the ratio of all the data: draws samples at seeds 0, 1, … and counts.
//!
//! `ratio_coverage DATA CODEC BLOCK_BYTES SAMPLE_BYTES SEEDS [NATURAL_BITS]` prints one line of a Markdown table.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_codec::{CodecSpec, ContextUse};
use outcrop_compress::{Blocks, SizeReport, Source};
use outcrop_measure::interval::median;
use outcrop_measure::seed::Seed;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, codec, block, sample, seeds, bits @ ..] = arguments.as_slice() else {
        return Err("give DATA CODEC BLOCK_BYTES SAMPLE_BYTES SEEDS [NATURAL_BITS]".into());
    };
    let source = Source::open(Path::new(data))?;
    let spec: CodecSpec = codec.parse()?;
    let (block_bytes, sample_bytes, seeds): (u64, u64, u64) =
        (block.parse()?, sample.parse()?, seeds.parse()?);
    let bits: Option<f64> = bits.first().map(|bits| bits.parse()).transpose()?;
    let stop = AtomicBool::new(false);
    let measure = |limit_bytes: u64, seed: u64| -> Outcome<SizeReport> {
        let sample = source.draw(limit_bytes, block_bytes, Seed(seed), &stop)?;
        let mut blocks = Blocks::cut(&sample, usize::try_from(block_bytes)?);
        if let Some(bits) = bits {
            blocks = blocks.nearest_in_entropy(bits);
        }
        Ok(SizeReport::measure(&blocks, &spec, ContextUse::Reused, &stop)?)
    };
    let ratio = measure(u64::MAX, 0)?.ratio();
    let (mut covered, mut widths, mut reasons) = (0_usize, Vec::new(), Vec::new());
    for seed in 0..seeds {
        match measure(sample_bytes, seed)?.interval {
            Ok(interval) => {
                covered += usize::from((interval.low..=interval.high).contains(&ratio));
                widths.push((interval.high - interval.low) / ratio);
            }
            Err(reason) => reasons.push(reason.to_string()),
        }
    }
    let width = median(&widths).map_or_else(|| "–".to_owned(), |width| format!("{:.0} %", width * 100.0));
    let given = widths.len();
    println!(
        "| {codec}, {block} B, sample {sample} B | {ratio:.3} | {given} of {seeds} | {covered} | {width} | {} |",
        reasons.first().map_or("", String::as_str)
    );
    Ok(())
}
