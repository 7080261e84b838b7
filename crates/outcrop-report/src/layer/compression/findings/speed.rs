//! Speeds that contradict what is believed of codecs.

use std::ops::RangeInclusive;

use outcrop_measure::ByteSize;
use outcrop_measure::metric::Unit;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, CONTENT, Direction, SPEED, THREADS};
use outcrop_workload::{BlockContent, Content};

use super::super::cell::{CompressionCell, ends, some_of};
use crate::cell::Cell;
use crate::finding::{Finding, Side, Verdict};
use crate::number::{Number, counted};

/// Of the sum of one thread each that this many threads together have to reach.
const SCALING: f64 = 0.8;
/// How much faster incompressible pages have to be.
const INCOMPRESSIBLE: f64 = 3.0;
/// The pages that dpzip is made for.
const PAGE: ByteSize = ByteSize(4096);
/// Quotients of what is no slower.
const AS_FAST: RangeInclusive<f64> = 1.0..=f64::INFINITY;

fn plain<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> {
    cells.iter().filter(|cell| cell.is_plain())
}

/// One speed as a multiple of another, with the interval that theirs give it.
fn quotient(name: &str, one: &Number, other: &Number) -> Number {
    Number::computed(name, Unit::Ratio, &[one, other], |speeds| speeds[0] / speeds[1])
}

/// Why quotients of speeds leave a sentence open.
fn why_open(open: usize, all: usize, limit: &str) -> String {
    format!(
        "the interval of {open} of {all} quotients has values on both sides of {limit}, or they are of one trial"
    )
}

/// The least of some quotients.
fn least(quotients: &[Number]) -> Option<Number> {
    let least = quotients
        .iter()
        .min_by(|one, other| one.value.total_cmp(&other.value));
    least.cloned()
}

/// Decompressing is not slower than compressing.
pub(super) fn decompressing_is_faster(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "decompressing-is-faster";
    const SENTENCE: &str = "No codec decompresses more slowly than it compresses.";
    let natural = plain(cells).filter(|cell| !cell.is_copy() && cell.is_natural());
    let (mut compared, mut quotients, mut slower) = (Vec::new(), Vec::new(), Vec::new());
    for cell in natural {
        let [compress, decompress] = Direction::ALL.map(|direction| cell.number(&SPEED.of(direction)));
        let Some((compress, decompress)) = compress.zip(decompress) else {
            continue;
        };
        let quotient = quotient("least decompress ÷ compress speed", decompress, compress);
        if Side::over_trials(&quotient, &AS_FAST) == Side::Beyond {
            slower.push(format!("{}: {compress} in, {decompress} out", cell.words()));
        }
        compared.push(cell);
        quotients.push(quotient);
    }
    if compared.is_empty() {
        let reason = "no codec was timed in both directions on natural blocks";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let (beyond, open) = Side::count(&quotients, &AS_FAST);
    let tested = format!(
        "Whether the interval of the decompress speed lies below that of the compress speed, in {}; it does in {beyond}, and {open} are undecided.",
        counted(compared.len(), "cell")
    );
    let verdict = Verdict::of_sides(beyond, open, || why_open(open, compared.len(), "1"));
    let finding = Finding::judged(ID, SENTENCE, verdict, tested).otherwise(format!(
        "Reading costs more than writing here, which does not suit data that is written once and read often: {}.",
        some_of(&slower, "; ")
    ));
    finding
        .numbers(least(&quotients))
        .by_intervals()
        .unless_disturbed(compared)
}

/// Nothing is faster than a copy: a codec that is, was not measured at what it says.
pub(super) fn copy_is_fastest(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "copy-is-fastest";
    const SENTENCE: &str = "No codec is faster than copying the same blocks.";
    let (mut tested, mut faster) = (0, Vec::new());
    for copy in plain(cells).filter(|cell| cell.is_copy()) {
        for cell in plain(cells).filter(|cell| !cell.is_copy() && cell.is_like(copy, &[&CODEC])) {
            for direction in Direction::ALL {
                let metric = SPEED.of(direction);
                let Some((speed, limit)) = cell.number(&metric).zip(copy.number(&metric)) else {
                    continue;
                };
                tested += 1;
                if ends(speed).0 > ends(limit).1 {
                    faster.push(format!("{}, {direction}: {speed}, copy {limit}", cell.words()));
                }
            }
        }
    }
    if tested == 0 {
        return Finding::not_testable(ID, SENTENCE, "no cell has the codec none and another codec");
    }
    let tested =
        format!("{tested} speeds, compared with that of a copy of the same blocks by as many threads.");
    Finding::tested(ID, SENTENCE, faster.is_empty(), tested).otherwise(format!(
        "Writing less than was read can be faster than a copy, for blocks of one byte value; elsewhere it points to an error: {}.",
        some_of(&faster, "; ")
    ))
}

/// Threads add up.
pub(super) fn threads_scale(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "threads-scale";
    let sentence = format!("n threads compress at least {SCALING} × n times as fast as one thread.");
    let (mut compared, mut efficiencies, mut poor) = (Vec::new(), Vec::new(), Vec::new());
    let range = SCALING..=f64::INFINITY;
    for many in plain(cells).filter(|cell| cell.threads() > 1 && !cell.is_copy()) {
        let alone = plain(cells).find(|one| one.threads() == 1 && one.is_like(many, &[&THREADS]));
        let speeds = alone.and_then(|one| Some((one, one.number(&SPEED.compress)?)));
        let Some((together, (one, alone))) = many.number(&SPEED.compress).zip(speeds) else {
            continue;
        };
        let threads = f64::from(many.threads());
        let efficiency = Number::computed("least efficiency", Unit::Ratio, &[together, alone], |speeds| {
            speeds[0] / speeds[1] / threads
        });
        if Side::over_trials(&efficiency, &range) == Side::Beyond {
            let speedup = together.value / alone.value;
            poor.push(format!("{}: {speedup:.2} of {threads}", many.words()));
        }
        efficiencies.push(efficiency);
        compared.extend([one, many]);
    }
    if efficiencies.is_empty() {
        let reason = "no codec was measured with one and with more threads";
        return Finding::not_testable(ID, &sentence, reason);
    }
    let count = efficiencies.len();
    let (beyond, open) = Side::count(&efficiencies, &range);
    let tested = format!(
        "Speed of n threads ÷ n ÷ speed of one, in {}, by intervals; below the bar: {beyond}; undecided: {open}.",
        counted(count, "cell")
    );
    let verdict = Verdict::of_sides(beyond, open, || why_open(open, count, &SCALING.to_string()));
    let finding = Finding::judged(ID, sentence, verdict, tested).otherwise(format!(
        "Possible causes are memory bandwidth, two hardware threads on one core, or other load on the machine: {}.",
        some_of(&poor, "; ")
    ));
    finding
        .numbers(least(&efficiencies))
        .by_intervals()
        .unless_disturbed(compared)
}

/// dpzip against zstd at 4 KiB, in both directions.
pub(super) fn dpzip_against_zstd(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "dpzip-against-zstd";
    const SENTENCE: &str =
        "At 4 KiB dpzip in software is at least as fast as zstd at level 1, in both directions.";
    let pages = || {
        let natural = plain(cells).filter(|cell| cell.threads() == 1 && cell.is_natural());
        natural.filter(|cell| cell.is(&COMPRESSION_BLOCK_SIZE, &PAGE))
    };
    let with_zstd = |dpzip| {
        let mut peers = pages().filter(|cell: &&Cell<'_>| cell.is_like(dpzip, &[&CODEC]));
        Some((dpzip, peers.find(|cell| cell.spelling(&CODEC) == "zstd:1")?))
    };
    let mut dpzip = pages().filter(|cell| cell.family() == "dpzip");
    let Some((dpzip, zstd)) = dpzip.find_map(with_zstd) else {
        let reason = "dpzip and zstd:1 were not both measured at 4 KiB with one thread";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let quotients: Vec<Number> = Direction::ALL
        .into_iter()
        .filter_map(|direction| {
            let metric = SPEED.of(direction);
            let (ours, theirs) = dpzip.number(&metric).zip(zstd.number(&metric))?;
            Some(quotient(&format!("dpzip ÷ zstd:1, {direction}"), ours, theirs))
        })
        .collect();
    let shown: Vec<String> = quotients
        .iter()
        .map(|number| format!("{} {:.2}", number.name, number.value))
        .collect();
    let tested = format!("Speeds on the same blocks with one thread: {}.", shown.join(", "));
    let (slower, open) = Side::count(&quotients, &AS_FAST);
    let verdict = Verdict::of_sides(slower, open, || why_open(open, quotients.len(), "1"));
    let finding = Finding::judged(ID, SENTENCE, verdict, tested).numbers(quotients);
    finding.by_intervals().unless_disturbed([dpzip, zstd])
}

/// Pages that cannot be compressed are left alone.
pub(super) fn incompressible_is_faster(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "incompressible-is-faster";
    let sentence = format!(
        "dpzip compresses incompressible pages at least {INCOMPRESSIBLE:.0} times as fast as compressible ones."
    );
    let pages = || {
        let pages = plain(cells).filter(|cell| cell.is(&COMPRESSION_BLOCK_SIZE, &PAGE));
        pages.filter(|cell| cell.family() == "dpzip")
    };
    // Real pages, or those that an entropy coder halves: one long repeat for half a page is nothing that a coder has work with.
    let halved = BlockContent::Generated(Content::Entropy { bits_per_byte: 4.0 });
    let with_compressible = |random| {
        let peers = || pages().filter(|cell: &&Cell<'_>| cell.is_like(random, &[&CONTENT]));
        let natural = peers().find(|cell| cell.is_natural());
        let other = natural.or_else(|| peers().find(|cell| cell.is(&CONTENT, &halved)))?;
        let speeds = random.number(&SPEED.compress).zip(other.number(&SPEED.compress));
        Some(([random, other], speeds?))
    };
    let mut random = pages().filter(|cell| cell.is(&CONTENT, &BlockContent::Generated(Content::Random)));
    let Some((compared, (random, other))) = random.find_map(with_compressible) else {
        let reason = "dpzip was not measured on both random and compressible pages of 4 KiB; the plan robustness does that";
        return Finding::not_testable(ID, &sentence, reason);
    };
    let quotient = quotient("random ÷ compressible", random, other);
    let tested = format!(
        "Random pages at {random} against {} at {other}: {:.2} times.",
        compared[1].words(),
        quotient.value
    );
    let (beyond, open) = Side::count([&quotient], &(INCOMPRESSIBLE..=f64::INFINITY));
    let verdict = Verdict::of_sides(beyond, open, || why_open(open, 1, &INCOMPRESSIBLE.to_string()));
    let finding = Finding::judged(ID, sentence, verdict, tested).numbers([quotient]);
    finding.by_intervals().unless_disturbed(compared)
}
