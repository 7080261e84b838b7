//! What components predict, and what was observed: space, latency, throughput, and the kernel's own codecs.

use std::ops::RangeInclusive;

use outcrop_measure::metric::Unit;
use outcrop_schema::filesystem::{
    CODEC_TIME, COMPRESSED_SHARE, DATA_RATIO, IOPS, JOBS, LATENCY, PREDICTED_IOPS, PREDICTED_LATENCY,
    PREDICTED_SPACE, QUEUE_DEPTH,
};
use outcrop_workload::filesystem::Algorithm;

use super::super::cell::{algorithm, configuration, name_apart};
use super::Outside;
use crate::cell::Cell;
use crate::finding::{Finding, Side, Verdict};
use crate::number::Number;

/// How far latency and throughput may be from what components add up to, as a factor.
const TIME: f64 = 1.25;
/// What is compared of one read at a time.
const LATENCY_OF_ONE: &str = "latency";
/// From which to which multiple of what it is the codec's time may be, which a run measures once.
const CODEC: RangeInclusive<f64> = 0.5..=2.0;
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
    let words = |cell: &Cell<'_>| {
        let (what, quotient) = quotient(cell)?;
        let name = name_apart(cell);
        Some(format!("{name}: {what} {} × predicted", quotient.with_ends()))
    };
    let (by_codec, others): (Vec<_>, Vec<_>) = judged().partition(|cell| is_beyond_by_codec_time(cell));
    let others = Outside::by_intervals(others, |cell| {
        let (_, quotient) = quotient(cell)?;
        Some((Side::of(&quotient, &(1.0 / TIME..=TIME)), words(cell)?))
    });
    let outside = Outside {
        tested: others.tested + by_codec.len(),
        by_codec: by_codec.into_iter().filter_map(words).collect(),
        ..others
    };
    let apart = match cells.iter().any(|cell| is_zlib(cell) && quotient(cell).is_some()) {
        true => "zlib is judged separately (kernel-zlib-is-slower).",
        false => "",
    };
    let how = format!(
        "median latency of one read at a time, or reads per second with several in flight, {:.2} to {TIME:.2} times the prediction (outside \
         only if with half and with twice the codec's time as well, which a run measures once),",
        1.0 / TIME
    );
    let finding = outside.finding(
        ID,
        SENTENCE,
        &how,
        "no cell of another codec than zlib has a prediction",
    );
    // The opposite of the verdict would be read as the answer.
    let meaning = match finding.verdict {
        Verdict::Holds => {
            "The device's, the codec's and the filesystem's figures, each measured alone, predict a configuration that was not tried."
        }
        Verdict::DoesNotHold => {
            "The device's, the codec's and the filesystem's figures do not predict each configuration here: measure a configuration before \
             relying on its prediction."
        }
        Verdict::NotTestable(_) => "",
    };
    let meaning = format!("{meaning} {apart}").trim().to_owned();
    finding
        .by_intervals()
        .numbers(quotients(judged()))
        .meaning(meaning)
        .unless_disturbed(judged())
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
    let sides = |wanted: Side| {
        let sides = factors
            .iter()
            .map(|factor| Side::of(factor, &(f64::NEG_INFINITY..=TIME)));
        sides.filter(|side| *side == wanted).count()
    };
    let words: Vec<String> = factors
        .iter()
        .map(|factor| format!("{} is {} × that of the library", factor.name, factor.with_ends()))
        .collect();
    let words = words.join("; ");
    // What a factor up to the limit says is that it is not slower.
    let verdict = Verdict::of_sides(sides(Side::Within), sides(Side::Open), || {
        format!("the interval has values up to {TIME:.2} and beyond: {words}. More repetitions narrow it")
    });
    let tested = format!(
        "median latency of one read at a time minus device and filesystem, over the library's time for an extent, more than {TIME:.2}: \
         {words}."
    );
    let meaning = match verdict {
        Verdict::Holds => {
            "The kernel has an older zlib. A prediction from the library's time is too low by that factor in the codec's part; zstd is the \
             library's code, and is judged by prediction-is-observed."
        }
        Verdict::DoesNotHold => {
            "On this machine the kernel's zlib is about as fast as the library's, so predictions from the library hold for it."
        }
        Verdict::NotTestable(_) => "",
    };
    let finding = Finding::judged(ID, SENTENCE, verdict, tested)
        .by_intervals()
        .meaning(meaning);
    let finding = finding.numbers(factors.into_iter().chain(quotients(zlib())));
    Some(finding.unless_disturbed(zlib()))
}

fn is_zlib(cell: &Cell<'_>) -> bool {
    algorithm(cell) == Some(Algorithm::Zlib)
}

/// Observed ÷ predicted, of the cells that have both.
fn quotients<'c, 'a: 'c>(cells: impl Iterator<Item = &'c Cell<'a>>) -> Vec<Number> {
    let number = |cell: &'c Cell<'a>| {
        let (what, quotient) = quotient(cell)?;
        Some(quotient.named(format!("{what} ÷ predicted, {}", name_apart(cell))))
    };
    cells.filter_map(number).collect()
}

/// What was compared, and observed ÷ predicted.
fn quotient(cell: &Cell<'_>) -> Option<(&'static str, Number)> {
    let (what, observed, predicted) = match is_one_at_a_time(cell) {
        true => (LATENCY_OF_ONE, LATENCY.p50, PREDICTED_LATENCY),
        false => ("reads per second", IOPS, PREDICTED_IOPS),
    };
    let both = [cell.number(&observed)?, cell.number(&predicted)?];
    let quotient = Number::computed(what, Unit::Ratio, &both, |values| values[0] / values[1]);
    Some((what, quotient))
}

/// Whether it lies beyond the limits, but would not with another time of the codec that a second measurement may give.
fn is_beyond_by_codec_time(cell: &Cell<'_>) -> bool {
    let Some((what, quotient)) = quotient(cell) else {
        return false;
    };
    let limits = 1.0 / TIME..=TIME;
    if Side::of(&quotient, &limits) != Side::Beyond {
        return false;
    }
    let of_prediction = codec_share(cell);
    let prediction = |factor: f64| 1.0 + of_prediction * (factor - 1.0);
    let (shortest, longest) = (prediction(*CODEC.start()), prediction(*CODEC.end()));
    // A longer time of the codec predicts a longer latency and fewer reads per second.
    let (least, most) = match what {
        LATENCY_OF_ONE => (longest.recip(), shortest.recip()),
        _ => (shortest, longest),
    };
    let (low, high) = quotient.ends().unwrap_or((quotient.value, quotient.value));
    high * most >= *limits.start() && low * least <= *limits.end()
}

/// At most this share of the time that was predicted is the codec's.
fn codec_share(cell: &Cell<'_>) -> f64 {
    let Some(codec) = cell.value(&CODEC_TIME) else {
        return 0.0;
    };
    if !is_one_at_a_time(cell) {
        // The latency or the CPU time bounds the rate; which of them, and how much of it is the codec's, is not recorded.
        return 1.0;
    }
    // The median of fewer compressed extents is that of the others.
    let is_of_others = cell.value(&COMPRESSED_SHARE).is_some_and(|share| share < 0.5);
    let of_latency = cell.value(&PREDICTED_LATENCY).map(|latency| codec / latency);
    match of_latency {
        Some(share) if !is_of_others => share.min(1.0),
        _ => 0.0,
    }
}

fn is_one_at_a_time(cell: &Cell<'_>) -> bool {
    cell.is(&JOBS, &1) && cell.is(&QUEUE_DEPTH, &1)
}

/// The kernel's time of an extent over the library's: of the latency what device and filesystem leave.
fn kernel_factor(cell: &Cell<'_>) -> Option<Number> {
    if !is_one_at_a_time(cell) {
        return None;
    }
    // The library's time is one figure of the run, which the prediction contains.
    let library = cell.value(&CODEC_TIME)?;
    let both = [cell.number(&LATENCY.p50)?, cell.number(&PREDICTED_LATENCY)?];
    let name = format!("kernel time of {}", name_apart(cell));
    Some(Number::computed(name, Unit::Ratio, &both, |values| {
        (values[0] - (values[1] - library)) / library
    }))
}
