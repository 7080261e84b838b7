//! How large the blocks of a codec should be.

use outcrop_schema::kv::{COMPRESSION, COMPRESSION_BLOCK_SIZE, STORED_BYTES, THROUGHPUT};

use super::answer::{COMPRESS, MATTERS, to_compress_as};
use super::cell::{
    base, blocks, codec as codec_of, engine, is_compressed, is_plain, load_and_place, with_capability,
};
use super::codec;
use super::space::Space;
use crate::answer::Claim;
use crate::cell::{Cell, best, families, largest_family};
use crate::change::{self, Difference};
use crate::disturbed::why_disturbed;
use crate::layer::undecided::FEW;
use crate::number::Number;
use crate::placement::Bounds;

/// The sizes of one codec, all else equal.
struct Sizes<'c, 'a> {
    family: Vec<&'c Cell<'a>>,
    fastest: &'c Cell<'a>,
    highest: &'c Number,
    /// Those whose throughput the trials do not distinguish from the highest, and the others.
    tied: Vec<&'c Cell<'a>>,
    slower: Vec<&'c Cell<'a>>,
}

/// The block size of the codec that is advised: the one that the advice on it names, or else the smallest whose throughput ties with the
/// highest; what other sizes save and cost; and which sizes are the fastest with other codecs.
pub(super) fn claim(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let compressed = to_compress_as(cells, bounds);
    // Where blocks are better stored as they are, no size is advised under that topic.
    let saves = compressed.is_none_or(|(_, _, saved, _)| saved > MATTERS);
    let compressed = compressed.map(|(cell, ..)| cell);
    let of_codecs = || codec::compared(cells).map(|(_, cell)| cell);
    let advised = compressed.or_else(of_codecs);
    let topic = match (compressed, advised) {
        (None, Some(_)) => codec::TOPIC,
        _ => COMPRESS,
    };
    let named = format!("the size under \"{topic}\", which gives space and throughput the same weight");
    // The sizes of another codec than the one that is advised are not those to set.
    let sizes = match advised {
        Some(cell) => Sizes::like(cells, cell),
        None => Sizes::most(cells),
    }?;
    let chosen = advised
        .filter(|_| saves)
        .or_else(|| sizes.tied.first().copied())?;
    let (size, store) = (size_of(chosen), engine(chosen));
    let (why, tie) = sizes.why(chosen, &named);
    let more = sizes.beyond(chosen)?;
    let others = of_other_codecs(cells, chosen);
    let text = format!(
        "Blocks of {size}: {why}{more}. {store}, {}{others}.",
        load_and_place(chosen)
    );
    // Whether to compress at all is said above, or is not decided.
    let action = format!(
        "With {store}, use blocks of {size}: {why}{more} ({})",
        load_and_place(chosen)
    );
    let numbers = sizes.family.iter().filter_map(|cell| {
        let name = format!("throughput, {}", size_of(cell));
        Some(cell.number(&THROUGHPUT)?.clone().named(name))
    });
    let claim = Claim::new(
        "Block size",
        format!("{store}: {size}{tie}{more}{others}"),
        text,
        numbers.collect(),
    );
    let claim = match saves {
        true => claim.advising(action),
        false => claim,
    };
    let claim = claim
        .unless_disturbed(sizes.family.iter().copied())
        .resting_on(topic);
    let verdict = bounds.judge_store(chosen, base(cells, chosen, bounds));
    Some(claim.under(&blocks(chosen), &verdict))
}

impl<'c, 'a> Sizes<'c, 'a> {
    /// Those of the codec of a cell; none where it has one alone.
    fn like(cells: &'c [Cell<'a>], like: &Cell<'a>) -> Option<Self> {
        let its = with_capability(cells).filter(|cell| cell.is_like(like, &[&COMPRESSION_BLOCK_SIZE]));
        Self::of(its.collect())
    }

    /// Those of the codec of which a run has the most.
    fn most(cells: &'c [Cell<'a>]) -> Option<Self> {
        let compressed = with_capability(cells).filter(|cell| is_compressed(cell));
        Self::of(largest_family(compressed, &[&COMPRESSION_BLOCK_SIZE]))
    }

    fn of(family: Vec<&'c Cell<'a>>) -> Option<Self> {
        let (fastest, highest) = best(family.iter().copied(), &THROUGHPUT).filter(|_| family.len() > 1)?;
        let (tied, slower) = family.iter().partition(|cell| is_tied(cell, highest));
        Some(Self {
            family,
            fastest,
            highest,
            tied,
            slower,
        })
    }

    /// Why a size is the one to use, in words, and in a parenthesis which others are as fast; `named` is the reason where another advice
    /// names it.
    fn why(&self, chosen: &Cell<'_>, named: &str) -> (String, String) {
        let is_chosen = |cell: &&&Cell<'_>| std::ptr::eq(**cell, chosen);
        let others: Vec<&str> = self
            .tied
            .iter()
            .filter(|cell| !is_chosen(cell))
            .map(|cell| size_of(cell))
            .collect();
        let all = sizes_of(&self.tied).join(", ");
        match self.tied.iter().position(|cell| is_chosen(&cell)) {
            None => (named.to_owned(), String::new()),
            Some(_) if others.is_empty() => {
                let doubt = doubt(&self.slower, self.highest);
                let why = format!("the highest throughput of the sizes measured{doubt}");
                (why, doubt.to_owned())
            }
            Some(place) => {
                let why = match place {
                    0 => format!("the smallest of the sizes whose throughputs tie ({all})"),
                    _ => format!("{named}; the throughputs of several sizes tie ({all})"),
                };
                (why, format!(" (tie with {})", others.join(", ")))
            }
        }
    }

    /// Whether its throughputs tell which size is the fastest: each is known from several trials, well enough, and was not disturbed.
    fn are_known(&self) -> bool {
        let mut numbers = self.family.iter().filter_map(|cell| cell.number(&THROUGHPUT));
        let has_few = self.family.iter().any(|cell| cell.trials().len() < FEW);
        let is_disturbed = has_few && why_disturbed(self.family.iter().copied()).is_some();
        !is_disturbed && numbers.all(|number| !number.is_too_wide() && !number.rests_on_one_trial())
    }

    /// What the size that takes the least space saves beyond the one chosen, and, where that is little or another one is faster, what the
    /// fastest gains; empty where both are little.
    fn beyond(&self, chosen: &Cell<'_>) -> Option<String> {
        let (smallest, _) = best(self.family.iter().copied(), &STORED_BYTES)?;
        let saved = saved_by(smallest, chosen)?;
        let is_told = !saved.is_empty() && std::ptr::eq(smallest, self.fastest);
        let is_as_fast = self.tied.iter().any(|cell| std::ptr::eq(*cell, chosen));
        if is_told || (is_as_fast && !saved.is_empty()) {
            return Some(saved);
        }
        Some(saved + &gained_by(self.fastest, chosen)?)
    }
}

fn size_of<'c>(cell: &'c Cell<'_>) -> &'c str {
    cell.spelling(&COMPRESSION_BLOCK_SIZE)
}

fn sizes_of<'c>(cells: &[&'c Cell<'_>]) -> Vec<&'c str> {
    cells.iter().map(|cell| size_of(cell)).collect()
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

/// Which sizes are the fastest with each other codec of the same store under the same load, and without compression, as clauses. Empty where
/// no other has several sizes of which that is known.
fn of_other_codecs(cells: &[Cell<'_>], chosen: &Cell<'_>) -> String {
    let is_other = |cell: &&Cell<'_>| {
        cell.spelling(&COMPRESSION) != chosen.spelling(&COMPRESSION)
            && cell.is_like(chosen, &[&COMPRESSION, &COMPRESSION_BLOCK_SIZE])
    };
    let of_each = families(
        with_capability(cells).filter(is_other),
        &[&COMPRESSION_BLOCK_SIZE],
    );
    // Codecs of which the same is to be said are said together.
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for sizes in of_each.into_iter().filter_map(Sizes::of).filter(Sizes::are_known) {
        let first = sizes.family[0];
        let name = match is_plain(first) {
            true => "without compression".to_owned(),
            false => format!("with {}", codec_of(first)),
        };
        let what = match sizes_of(&sizes.tied).as_slice() {
            [only] => format!("{only} is the fastest{}", doubt(&sizes.slower, sizes.highest)),
            tied => format!("{} tie", tied.join(", ")),
        };
        match said.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(name),
            None => said.push((what, vec![name])),
        }
    }
    let clause = |(what, names): &(String, Vec<String>)| format!("; {}: {what}", names.join(" and "));
    said.iter().map(clause).collect()
}

/// What the size that takes the least space saves beyond the one chosen, and what becomes of the throughput; empty where that is little.
fn saved_by(smallest: &Cell<'_>, chosen: &Cell<'_>) -> Option<String> {
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

/// That the fastest size may be faster than the one that is chosen, and the space that this costs; empty where it counts as the same.
fn gained_by(fastest: &Cell<'_>, chosen: &Cell<'_>) -> Option<String> {
    let difference = Difference::of(fastest.number(&THROUGHPUT)?, chosen.number(&THROUGHPUT)?);
    if std::ptr::eq(fastest, chosen) || difference == Difference::None {
        return Some(String::new());
    }
    let space = Space::of(&[chosen, fastest]);
    let more = space.bytes(fastest)? / space.bytes(chosen)?;
    let takes = match more > MATTERS {
        true => format!(", {:.0} % more of {}", (more - 1.0) * 100.0, space.words()),
        false => String::new(),
    };
    Some(format!(
        "; {}: {}{takes}",
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
