//! Speeds that contradict what is believed of codecs.

use outcrop_measure::ByteSize;
use outcrop_measure::metric::Unit;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, CONTENT, Direction, SPEED, THREADS};
use outcrop_workload::{BlockContent, Content};

use super::super::cell::{CompressionCell, ends, some_of};
use crate::cell::Cell;
use crate::finding::{Finding, Verdict};
use crate::number::{Number, counted};

/// Of the sum of one thread each that this many threads together have to reach.
const SCALING: f64 = 0.8;
/// How much faster incompressible pages have to be.
const INCOMPRESSIBLE: f64 = 3.0;
/// The pages that dpzip is made for.
const PAGE: ByteSize = ByteSize(4096);

fn plain<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> {
    cells.iter().filter(|cell| cell.is_plain())
}

/// Decompressing is not slower than compressing.
pub(super) fn decompressing_is_faster(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "decompressing-is-faster";
    const SENTENCE: &str = "No codec decompresses more slowly than it compresses.";
    let natural = plain(cells).filter(|cell| !cell.is_copy() && cell.is_natural());
    let (mut tested, mut slower) = (0, Vec::new());
    for cell in natural {
        let [compress, decompress] = Direction::ALL.map(|direction| cell.number(&SPEED.of(direction)));
        let Some((compress, decompress)) = compress.zip(decompress) else {
            continue;
        };
        tested += 1;
        if ends(decompress).1 < ends(compress).0 {
            slower.push(format!("{}: {compress} in, {decompress} out", cell.words()));
        }
    }
    if tested == 0 {
        let reason = "no codec was timed in both directions on natural blocks";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let tested = format!(
        "Whether the interval of the decompress speed lies below that of the compress speed, in {}; it does in {}.",
        counted(tested, "cell"),
        slower.len()
    );
    Finding::tested(ID, SENTENCE, slower.is_empty(), tested).otherwise(format!(
        "Reading costs more than writing here, which does not suit data that is written once and read often: {}.",
        some_of(&slower, "; ")
    ))
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
    let (mut efficiencies, mut poor) = (Vec::new(), Vec::new());
    for many in plain(cells).filter(|cell| cell.threads() > 1 && !cell.is_copy()) {
        let alone = plain(cells).find(|one| one.threads() == 1 && one.is_like(many, &[&THREADS]));
        let speed = alone.and_then(|one| one.number(&SPEED.compress));
        let Some((together, alone)) = many.number(&SPEED.compress).zip(speed) else {
            continue;
        };
        let threads = f64::from(many.threads());
        let speedup = together.value / alone.value;
        if ends(together).1 / ends(alone).0 / threads < SCALING {
            poor.push(format!("{}: {speedup:.2} of {threads}", many.words()));
        }
        efficiencies.push(speedup / threads);
    }
    if efficiencies.is_empty() {
        let reason = "no codec was measured with one and with more threads";
        return Finding::not_testable(ID, &sentence, reason);
    }
    let count = efficiencies.len();
    let mean = efficiencies.iter().sum::<f64>() / count as f64;
    let tested = format!(
        "Speed of n threads ÷ n ÷ speed of one, in {}, as good as the intervals allow; below the bar: {}.",
        counted(count, "cell"),
        poor.len()
    );
    Finding::tested(ID, sentence, poor.is_empty(), tested)
        .otherwise(format!(
            "Possible causes are memory bandwidth, two hardware threads on one core, or other load on the machine: {}.",
            some_of(&poor, "; ")
        ))
        .numbers([Number::derived("mean efficiency", mean, Unit::Ratio, count)])
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
    let (mut numbers, mut is_slower, mut reaches) = (Vec::new(), false, true);
    for direction in Direction::ALL {
        let metric = SPEED.of(direction);
        if let Some((ours, theirs)) = dpzip.number(&metric).zip(zstd.number(&metric)) {
            let (name, ratio) = (format!("dpzip ÷ zstd:1, {direction}"), ours.value / theirs.value);
            numbers.push(Number::derived(name, ratio, Unit::Ratio, ours.n));
            is_slower |= ends(ours).1 < ends(theirs).0;
            reaches &= ours.value >= theirs.value;
        }
    }
    let ratio = |number: &Number| format!("{} {:.2}", number.name, number.value);
    let ratios: Vec<String> = numbers.iter().map(ratio).collect();
    let tested = format!(
        "Speeds on the same blocks with one thread: {}.",
        ratios.join(", ")
    );
    let mut finding = Finding::tested(ID, SENTENCE, reaches, tested).numbers(numbers);
    if !reaches && !is_slower {
        let reason = "The median is lower, but the intervals overlap, so these trials do not settle it.";
        finding.verdict = Verdict::NotTestable(reason.to_owned());
    }
    finding
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
    let with_compressible = |random: &Cell<'_>| {
        let peers = || pages().filter(|cell| cell.is_like(random, &[&CONTENT]));
        let natural = peers().find(|cell| cell.is_natural());
        let other = natural.or_else(|| peers().find(|cell| cell.is(&CONTENT, &halved)))?;
        let speed = |cell: &Cell<'_>| cell.number(&SPEED.compress).cloned();
        Some((speed(random)?, speed(other)?, other.words()))
    };
    let mut random = pages().filter(|cell| cell.is(&CONTENT, &BlockContent::Generated(Content::Random)));
    let Some((random, other, words)) = random.find_map(with_compressible) else {
        let reason = "dpzip was not measured on both random and compressible pages of 4 KiB; the plan robustness does that";
        return Finding::not_testable(ID, &sentence, reason);
    };
    let ratio = random.value / other.value;
    let tested = format!("Random pages at {random} against {words} at {other}: {ratio:.2} times.");
    let holds = ends(&random).1 / ends(&other).0 >= INCOMPRESSIBLE;
    Finding::tested(ID, sentence, holds, tested).numbers([Number::derived(
        "random ÷ compressible",
        ratio,
        Unit::Ratio,
        random.n,
    )])
}
