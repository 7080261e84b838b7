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
        "What btrfs stores with zstd equals the library's output for its extents, in whole sectors.";
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

/// Latency, or throughput where several reads are in flight; of codecs whose code in the kernel is the library's.
pub(super) fn prediction_is_observed(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "prediction-is-observed";
    const SENTENCE: &str = "Device, codec and filesystem add up to the latency and throughput of cold reads.";
    let judged = || cells.iter().filter(|cell| !is_zlib(cell));
    let outside = Outside::of(judged(), |cell| {
        let (what, quotient) = quotient(cell)?;
        let is_off = !(1.0 / (1.0 + TIME)..=1.0 + TIME).contains(&quotient);
        Some(is_off.then(|| format!("{}: {what} {quotient:.2} × predicted", configuration(cell))))
    });
    let apart = match cells.iter().any(|cell| is_zlib(cell) && quotient(cell).is_some()) {
        true => " zlib is judged separately (kernel-zlib-is-slower).",
        false => "",
    };
    let how = "median latency of one read at a time, or reads per second with several in flight, against the prediction, within 25 %,";
    let finding = outside.finding(
        ID,
        SENTENCE,
        how,
        "no cell of another codec than zlib has a prediction",
    );
    finding.numbers(quotients(judged())).meaning(format!(
        "The device's, the codec's and the filesystem's figures, each measured alone, predict a configuration that was not tried.{apart}"
    ))
}

/// The kernel's zlib is older code than the library's: by which factor it is slower, where zlib was measured.
///
/// It is no part of the verdict on predictions, which start from the library's time.
pub(super) fn kernel_zlib_is_slower(cells: &[Cell<'_>]) -> Option<Finding> {
    const ID: &str = "kernel-zlib-is-slower";
    const SENTENCE: &str = "The kernel's zlib takes longer to decompress an extent than the library's.";
    let zlib = || cells.iter().filter(|cell| is_zlib(cell));
    zlib().find(|cell| quotient(cell).is_some())?;
    let factors: Vec<Number> = zlib().filter_map(kernel_factor).collect();
    if factors.is_empty() {
        let reason = "no cell reads one block at a time with a prediction";
        return Some(Finding::not_testable(ID, SENTENCE, reason));
    }
    let holds = factors.iter().all(|factor| factor.value > 1.0 + TIME);
    let words: Vec<String> = factors
        .iter()
        .map(|factor| format!("{} is {:.1} × that of the library", factor.name, factor.value))
        .collect();
    let words = words.join("; ");
    let tested = format!(
        "median latency of one read at a time minus device and filesystem, over the library's time for an extent, more than {:.2}: \
         {words}.",
        1.0 + TIME
    );
    let meaning = match holds {
        true => {
            "The kernel has an older zlib. A prediction from the library's time is too low by that factor in the codec's part; zstd is the \
             library's code, and is judged by prediction-is-observed."
        }
        false => {
            "On this machine the kernel's zlib is about as fast as the library's, so predictions from the library hold for it."
        }
    };
    let finding = Finding::tested(ID, SENTENCE, holds, tested).meaning(meaning);
    Some(finding.numbers(factors.into_iter().chain(quotients(zlib()))))
}

fn is_zlib(cell: &Cell<'_>) -> bool {
    algorithm(cell) == Some(Algorithm::Zlib)
}

/// Observed ÷ predicted, of the cells that have both.
fn quotients<'c, 'a: 'c>(cells: impl Iterator<Item = &'c Cell<'a>>) -> Vec<Number> {
    let number = |cell: &'c Cell<'a>| {
        let (what, quotient) = quotient(cell)?;
        let name = format!("{what} ÷ predicted, {}", configuration(cell));
        Some(derived(&name, quotient, 1))
    };
    cells.filter_map(number).collect()
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

/// The kernel's time of an extent over the library's: of the latency what device and filesystem leave.
fn kernel_factor(cell: &Cell<'_>) -> Option<Number> {
    if !(cell.is(&JOBS, &1) && cell.is(&QUEUE_DEPTH, &1)) {
        return None;
    }
    let library = cell.value(&CODEC_TIME)?;
    let rest = cell.value(&PREDICTED_LATENCY)? - library;
    let factor = (cell.value(&LATENCY.p50)? - rest) / library;
    let name = format!("kernel time of {}", configuration(cell));
    Some(Number::derived(name, factor, Unit::Ratio, 1))
}
