//! What components predict, and what was observed: space, latency, throughput, and the kernel's own codecs.

use outcrop_measure::metric::Unit;
use outcrop_schema::filesystem::{
    CODEC_TIME, DATA_RATIO, IOPS, JOBS, LATENCY, PREDICTED_IOPS, PREDICTED_LATENCY, PREDICTED_SPACE,
    QUEUE_DEPTH,
};
use outcrop_workload::filesystem::Algorithm;

use super::super::cell::{algorithm, configuration};
use super::{Outside, derived};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::Number;

/// How far latency and throughput may be from what components add up to.
const TIME: f64 = 0.25;
/// How far space may be.
const SPACE: f64 = 0.01;

/// The library, block by block, predicts what btrfs stores.
pub(super) fn space_is_the_codecs(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "space-is-the-codecs";
    const SENTENCE: &str =
        "What btrfs stores with zstd is what the library makes of its extents, in whole sectors.";
    // The kernel's zstd is the library's; its zlib is older code that compresses a little less.
    let same_code = |cell: &&Cell<'_>| algorithm(cell) == Some(Algorithm::Zstd);
    let outside = Outside::of(cells.iter().filter(same_code), |cell| {
        let (seen, expected) = (cell.value(&DATA_RATIO)?, cell.value(&PREDICTED_SPACE)?);
        let is_off = (seen / expected - 1.0).abs() > SPACE;
        Some(is_off.then(|| format!("{}: {seen:.3}, predicted {expected:.3}", configuration(cell))))
    });
    let how = "data ratio against Σ ⌈compressed extent⌉ in 4 KiB sectors by the library, an extent that saves no sector and the rest of \
               its 512 KiB uncompressed, within 1 %,";
    outside.finding(
        ID,
        SENTENCE,
        how,
        "no cell has both the stored size and the library's",
    )
}

/// Latency, or throughput where several reads are in flight.
pub(super) fn prediction_is_observed(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "prediction-is-observed";
    const SENTENCE: &str = "Device, codec and filesystem add up to the latency and throughput of cold reads.";
    let compared = || cells.iter().filter_map(|cell| Some((cell, quotient(cell)?)));
    let outside = Outside::of(cells, |cell| {
        let (what, quotient) = quotient(cell)?;
        let is_off = !(1.0 / (1.0 + TIME)..=1.0 + TIME).contains(&quotient);
        Some(is_off.then(|| format!("{}: {what} {quotient:.2} × predicted", configuration(cell))))
    });
    let numbers = compared().map(|(cell, (what, quotient))| {
        derived(
            &format!("{what} ÷ predicted, {}", configuration(cell)),
            quotient,
            1,
        )
    });
    let numbers: Vec<Number> = numbers.chain(slower_codecs(cells)).collect();
    let slow = slower_codecs(cells)
        .map(|number| format!("{} is {:.1} × that of the library", number.name, number.value));
    let slow: Vec<String> = slow.collect();
    let meaning = if slow.is_empty() {
        "The device's, the codec's and the filesystem's figures, each measured alone, predict a configuration that was not tried."
            .to_owned()
    } else {
        format!(
            "The kernel's own codec is older or slower code than the library: {}. With that factor the sum is right.",
            slow.join("; ")
        )
    };
    let how = "median latency of one read at a time, or reads per second with several in flight, against the prediction, within 25 %,";
    outside
        .finding(ID, SENTENCE, how, "no cell has a prediction")
        .numbers(numbers)
        .meaning(meaning)
}

/// What was compared, and observed ÷ predicted.
fn quotient(cell: &Cell<'_>) -> Option<(&'static str, f64)> {
    let is_single = cell.is(&JOBS, &1) && cell.is(&QUEUE_DEPTH, &1);
    if is_single {
        return Some((
            "latency",
            cell.value(&LATENCY.p50)? / cell.value(&PREDICTED_LATENCY)?,
        ));
    }
    Some((
        "reads per second",
        cell.value(&IOPS)? / cell.value(&PREDICTED_IOPS)?,
    ))
}

/// Codecs of the kernel that take much longer than the library: what is left of the latency without device and filesystem, over the
/// library's time. zlib's is the one that is known for it.
fn slower_codecs<'c>(cells: &'c [Cell<'_>]) -> impl Iterator<Item = Number> + 'c {
    cells.iter().filter_map(|cell| {
        let is_single = cell.is(&JOBS, &1) && cell.is(&QUEUE_DEPTH, &1);
        let library = cell.value(&CODEC_TIME)?;
        let rest = cell.value(&PREDICTED_LATENCY)? - library;
        let factor = (cell.value(&LATENCY.p50)? - rest) / library;
        let is_slow = is_single && factor > 1.0 + TIME && algorithm(cell) == Some(Algorithm::Zlib);
        let name = format!("kernel time of {}", configuration(cell));
        is_slow.then(|| Number::derived(name, factor, Unit::Ratio, 1))
    })
}
