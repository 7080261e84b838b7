//! Speeds that contradict what is believed of codecs.

use outcrop_measure::metric::Unit;

use super::super::cell::{Cell, Content, Direction};
use super::some_of;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// Of the sum of one thread each that so many threads together have to reach.
const SCALING: f64 = 0.8;
/// How much faster incompressible pages have to be.
const INCOMPRESSIBLE: f64 = 3.0;

fn plain<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> + Clone {
    cells.iter().filter(|cell| cell.is_plain())
}

/// The least and the largest value that a number's interval leaves open.
fn ends(number: &Number) -> (f64, f64) {
    number.interval.map_or((number.value, number.value), |interval| {
        (interval.low, interval.high)
    })
}

/// Decompressing is not slower than compressing.
pub(super) fn decompressing_is_faster(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "decompressing-is-faster";
    const SENTENCE: &str = "No codec decompresses more slowly than it compresses.";
    let pairs: Vec<(&Cell<'_>, &Number, &Number)> = plain(cells)
        .filter(|cell| !cell.is_copy() && cell.content == Content::Natural)
        .filter_map(|cell| {
            let [compress, decompress] = Direction::BOTH.map(|direction| cell.speed(direction));
            Some((cell, compress?, decompress?))
        })
        .collect();
    if pairs.is_empty() {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "no codec was timed in both directions on natural blocks",
        );
    }
    let slower: Vec<String> = pairs
        .iter()
        .filter(|(_, compress, decompress)| ends(decompress).1 < ends(compress).0)
        .map(|(cell, compress, decompress)| format!("{}: {compress} in, {decompress} out", cell.words()))
        .collect();
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(slower.is_empty()),
        tested: format!(
            "Whether the interval of the decompress speed lies below that of the compress speed, in {} cells; it does in {}.",
            pairs.len(),
            slower.len()
        ),
        meaning: if slower.is_empty() {
            String::new()
        } else {
            format!(
                "These pay more for reading than for writing, which is wrong for data that is written once and read often: {}.",
                some_of(&slower)
            )
        },
        numbers: Vec::new(),
    }
}

/// Nothing is faster than a copy: a codec that is, was not measured at what it says.
pub(super) fn copy_is_fastest(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "copy-is-fastest";
    const SENTENCE: &str = "No codec is faster than copying the same blocks.";
    let mut tested = 0;
    let mut faster = Vec::new();
    for copy in plain(cells).filter(|cell| cell.is_copy()) {
        let peers = plain(cells).filter(|cell| {
            !cell.is_copy()
                && (cell.block_size_bytes, cell.threads, cell.view.subject)
                    == (copy.block_size_bytes, copy.threads, copy.view.subject)
                && cell.content == copy.content
        });
        for cell in peers {
            for direction in Direction::BOTH {
                let Some((speed, limit)) = cell.speed(direction).zip(copy.speed(direction)) else {
                    continue;
                };
                tested += 1;
                if ends(speed).0 > ends(limit).1 {
                    faster.push(format!(
                        "{}, {}: {speed} against {limit}",
                        cell.words(),
                        direction.name()
                    ));
                }
            }
        }
    }
    if tested == 0 {
        return Finding::not_testable(ID, SENTENCE, "no cell has the codec none beside another one");
    }
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(faster.is_empty()),
        tested: format!("{tested} speeds against that of a copy of the same blocks with as many threads."),
        meaning: if faster.is_empty() {
            String::new()
        } else {
            format!(
                "Writing less than was read can be faster than a copy, for blocks of one byte value; elsewhere it points to an error: {}.",
                some_of(&faster)
            )
        },
        numbers: Vec::new(),
    }
}

/// Threads add up.
pub(super) fn threads_scale(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "threads-scale";
    let sentence = format!("n threads compress at least {SCALING} n times as fast as one.");
    let mut efficiencies = Vec::new();
    let mut poor = Vec::new();
    for many in plain(cells).filter(|cell| cell.threads > 1 && !cell.is_copy()) {
        let is_alone = |one: &&Cell<'_>| {
            one.threads == 1
                && (one.codec.as_str(), one.block_size_bytes, one.view.subject)
                    == (many.codec.as_str(), many.block_size_bytes, many.view.subject)
                && one.content == many.content
        };
        let one = plain(cells)
            .find(is_alone)
            .and_then(|one| one.speed(Direction::Compress));
        let Some((many_speed, one_speed)) = many.speed(Direction::Compress).zip(one) else {
            continue;
        };
        let efficiency = many_speed.value / one_speed.value / f64::from(many.threads);
        if ends(many_speed).1 / ends(one_speed).0 / f64::from(many.threads) < SCALING {
            poor.push(format!(
                "{}: {:.2} of {}",
                many.words(),
                efficiency * f64::from(many.threads),
                many.threads
            ));
        }
        efficiencies.push(efficiency);
    }
    let Some(mean) = mean(&efficiencies) else {
        return Finding::not_testable(
            ID,
            &sentence,
            "no codec was measured with one and with more threads",
        );
    };
    Finding {
        id: ID.to_owned(),
        sentence,
        verdict: Verdict::from_test(poor.is_empty()),
        tested: format!(
            "Speed of n threads ÷ n ÷ speed of one, in {} cells, as good as the intervals allow; below are {}.",
            efficiencies.len(),
            poor.len()
        ),
        meaning: if poor.is_empty() {
            String::new()
        } else {
            format!(
                "Memory bandwidth, a shared core (two hardware threads of one) or another tenant of the machine: {}.",
                some_of(&poor)
            )
        },
        numbers: vec![Number::derived(
            "mean efficiency",
            mean,
            Unit::Ratio,
            efficiencies.len(),
        )],
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Whether a cell has that codec, with or without a spelling of its table (`dpzip:256x4`).
fn is_named(cell: &Cell<'_>, codec: &str) -> bool {
    cell.codec == codec || (codec == "dpzip" && cell.family() == codec)
}

/// dpzip against zstd at 4 KiB, in both directions.
pub(super) fn dpzip_against_zstd(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "dpzip-against-zstd";
    const SENTENCE: &str =
        "At 4 KiB dpzip in software is at least as fast as zstd at level 1, in both directions.";
    let at = |codec: &str| {
        plain(cells).find(|cell| {
            is_named(cell, codec)
                && cell.block_size_bytes == 4096
                && cell.threads == 1
                && cell.content == Content::Natural
        })
    };
    let Some((dpzip, zstd)) = at("dpzip").zip(at("zstd:1")) else {
        let reason = "dpzip and zstd:1 were not both measured at 4 KiB with one thread";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let mut numbers = Vec::new();
    let mut verdicts = Vec::new();
    for direction in Direction::BOTH {
        if let Some((ours, theirs)) = dpzip.speed(direction).zip(zstd.speed(direction)) {
            let name = format!("dpzip ÷ zstd:1, {}", direction.name());
            numbers.push(Number::derived(
                name,
                ours.value / theirs.value,
                Unit::Ratio,
                ours.n,
            ));
            verdicts.push((ends(ours).1 < ends(theirs).0, ours.value >= theirs.value));
        }
    }
    let parts: Vec<String> = numbers
        .iter()
        .map(|number| format!("{} {:.2}", number.name, number.value))
        .collect();
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: match (
            verdicts.iter().any(|(is_slower, _)| *is_slower),
            verdicts.iter().all(|(_, reaches)| *reaches),
        ) {
            (true, _) => Verdict::DoesNotHold,
            (false, true) => Verdict::Holds,
            (false, false) => Verdict::NotTestable(
                "The median is lower, and the intervals overlap: these trials cannot tell.".to_owned(),
            ),
        },
        tested: format!("Speeds on the same blocks with one thread: {}.", parts.join(", ")),
        meaning: String::new(),
        numbers,
    }
}

/// Pages that cannot be compressed are left alone.
pub(super) fn incompressible_is_faster(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "incompressible-is-faster";
    let sentence = format!(
        "dpzip takes in pages that cannot be compressed at least {INCOMPRESSIBLE:.0} times as fast as pages that can."
    );
    let at = |content: Content| {
        plain(cells)
            .find(|cell| is_named(cell, "dpzip") && cell.block_size_bytes == 4096 && cell.content == content)
    };
    // Real pages, or those that an entropy coder halves: one long repeat for half a page is nothing that a coder has work with.
    let compressible = at(Content::Natural).or_else(|| at(Content::Entropy(4.0)));
    let pair = at(Content::Random).zip(compressible).and_then(|(random, other)| {
        Some((
            random.speed(Direction::Compress)?,
            other.speed(Direction::Compress)?,
            other.words(),
        ))
    });
    let Some((random, other, words)) = pair else {
        let reason =
            "dpzip was not measured on random and on compressible pages of 4 KiB; plans/robustness.toml does";
        return Finding::not_testable(ID, &sentence, reason);
    };
    let ratio = random.value / other.value;
    Finding {
        id: ID.to_owned(),
        sentence,
        verdict: Verdict::from_test(ends(random).1 / ends(other).0 >= INCOMPRESSIBLE),
        tested: format!("Random pages at {random} against {words} at {other}: {ratio:.2} times."),
        meaning: String::new(),
        numbers: vec![Number::derived(
            "random ÷ compressible",
            ratio,
            Unit::Ratio,
            random.n,
        )],
    }
}
