//! How large the blocks of a codec should be.

use outcrop_schema::kv::{COMPRESSION_BLOCK_SIZE, STORED_BYTES, THROUGHPUT};

use super::answer::{COMPRESS, MATTERS};
use super::cell::{base, blocks, engine, is_compressed, load, with_capability};
use super::space::Space;
use crate::answer::Claim;
use crate::cell::{Cell, best, largest_family};
use crate::change::{self, Difference};
use crate::number::Number;
use crate::placement::Bounds;

/// The smallest block size whose throughput ties with the highest, or the one that has it, and what the largest saves beyond it.
pub(super) fn claim(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let compressed = with_capability(cells).filter(|cell| is_compressed(cell));
    let family = largest_family(compressed, &[&COMPRESSION_BLOCK_SIZE]);
    let (fastest, highest) = best(family.iter().copied(), &THROUGHPUT).filter(|_| family.len() > 1)?;
    let (tied, slower): (Vec<&Cell<'_>>, Vec<&Cell<'_>>) =
        family.iter().partition(|cell| is_tied(cell, highest));
    let chosen = *tied.first()?;
    let size = size_of(chosen);
    let mut more = saved_by_larger(&family, chosen)?;
    if more.is_empty() {
        more = faster(fastest, chosen)?;
    }
    let (why, tie) = match tied.as_slice() {
        [_, others @ ..] if !others.is_empty() => {
            let all: Vec<&str> = tied.iter().map(|cell| size_of(cell)).collect();
            (
                format!(
                    "the smallest of the sizes whose throughputs tie ({})",
                    all.join(", ")
                ),
                format!(" (tie with {})", all[1..].join(", ")),
            )
        }
        _ => {
            let doubt = doubt(&slower, highest);
            (
                format!("the highest throughput of the sizes measured{doubt}"),
                doubt.to_owned(),
            )
        }
    };
    let text = format!(
        "Blocks of {size}: {why}{more}. {}, {}.",
        engine(chosen),
        load(chosen)
    );
    // Whether to compress at all is said above, or is not decided.
    let action = format!("With {}, use blocks of {size}: {why}{more}", engine(chosen));
    let numbers = family.iter().filter_map(|cell| {
        let name = format!("throughput, {}", size_of(cell));
        Some(cell.number(&THROUGHPUT)?.clone().named(name))
    });
    let claim = Claim::new(
        "Block size",
        format!("{size}{tie}{more}"),
        text,
        numbers.collect(),
    );
    let claim = claim
        .advising(action)
        .unless_disturbed(family.iter().copied())
        .resting_on(COMPRESS);
    let verdict = bounds.judge_store(chosen, base(cells, chosen, bounds));
    Some(claim.under(&blocks(chosen), &verdict))
}

fn size_of<'c>(cell: &'c Cell<'_>) -> &'c str {
    cell.spelling(&COMPRESSION_BLOCK_SIZE)
}

/// Whether the trials do not distinguish the throughput of a cell from the highest, however far apart the medians are: of such sizes none has
/// the highest.
fn is_tied(cell: &Cell<'_>, highest: &Number) -> bool {
    cell.number(&THROUGHPUT)
        .is_some_and(|number| change::ties(number, highest) || number.overlaps(highest))
}

/// Why it is not certain that the others are slower than the highest; empty where it is.
fn doubt(slower: &[&Cell<'_>], highest: &Number) -> &'static str {
    let numbers = slower.iter().filter_map(|cell| cell.number(&THROUGHPUT));
    let mut caveats = numbers.map(|number| Difference::of(number, highest).caveat());
    caveats.find(|caveat| !caveat.is_empty()).unwrap_or_default()
}

/// What the size that takes the least space saves beyond the one chosen, and what becomes of the throughput; empty where that is little.
fn saved_by_larger(family: &[&Cell<'_>], chosen: &Cell<'_>) -> Option<String> {
    let (smallest, _) = best(family.iter().copied(), &STORED_BYTES)?;
    let space = Space::of(&[chosen, smallest]);
    let saved = space.bytes(chosen)? / space.bytes(smallest)?;
    if saved <= MATTERS {
        return Some(String::new());
    }
    Some(format!(
        "; {} takes {:.0} % less of {}, {}",
        size_of(smallest),
        (1.0 - 1.0 / saved) * 100.0,
        space.words(),
        throughput_of(smallest, chosen)?
    ))
}

/// That the fastest size may be faster than the one that is chosen; empty where it counts as the same.
fn faster(fastest: &Cell<'_>, chosen: &Cell<'_>) -> Option<String> {
    let difference = Difference::of(fastest.number(&THROUGHPUT)?, chosen.number(&THROUGHPUT)?);
    if std::ptr::eq(fastest, chosen) || difference == Difference::None {
        return Some(String::new());
    }
    Some(format!(
        "; {}: {}",
        size_of(fastest),
        throughput_of(fastest, chosen)?
    ))
}

/// `throughput +20 % (not certain: the intervals overlap)`.
fn throughput_of(cell: &Cell<'_>, chosen: &Cell<'_>) -> Option<String> {
    let (one, other) = (cell.number(&THROUGHPUT)?, chosen.number(&THROUGHPUT)?);
    let caveat = Difference::of(one, other).caveat();
    Some(format!(
        "throughput {}{caveat}",
        change::percent(one.value, other.value)
    ))
}
