//! Which codec, of a run that has nothing without compression.

use std::collections::BTreeSet;

use outcrop_schema::FactorRef;
use outcrop_schema::kv::{BOTTOMMOST, COMPRESSION, COMPRESSION_BLOCK_SIZE, LEVEL_CODECS, THROUGHPUT};

use super::answer::MATTERS;
use super::cell::{
    blocks, has_speed_and_space, is_compressed, is_on_compression, is_plain, load, with_capability,
};
use super::space::Space;
use crate::answer::Claim;
use crate::cell::{Cell, best, families, largest_family};
use crate::change::{percent, ties};
use crate::layer::undecided::add_wide_rivals;
use crate::number::{Number, enumerated};
use crate::placement::{Bounds, Kept, Verdict};

/// The topic of the advice on which codec, of a run that has nothing without compression.
pub(super) const TOPIC: &str = "Codec";

/// With what a store without compression is measured, to which a cell of it can be compared: neither its blocks nor the filesystem below them
/// are compressed then.
pub(crate) fn measuring_plain(cell: &Cell<'_>) -> &'static str {
    let has_levels = [&LEVEL_CODECS as FactorRef, &BOTTOMMOST]
        .into_iter()
        .any(|factor| !cell.is_default(factor));
    match (has_levels, is_on_compression(cell)) {
        (false, false) => "`--compression none,…`",
        (true, false) => "`--compression none,…` and without `--bottommost` and `--level-codecs`",
        (false, true) => {
            "`--compression none,…` on a filesystem that does not compress (`--filesystem ext4,…`)"
        }
        (true, true) => {
            "`--compression none,…`, without `--bottommost` and `--level-codecs`, on a filesystem that does not compress (`--filesystem ext4,…`)"
        }
    }
}

/// Of codecs with blocks of one size, the one that takes the least space among those whose throughput ties with the highest; none where the
/// run has fewer than two, or cells without compression, which say more.
pub(super) fn smallest(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let (family, chosen) = compared(cells)?;
    let (fastest, top) = best(family.iter().copied(), &THROUGHPUT)?;
    let space = Space::of(&family);
    let bytes = |cell: &Cell<'_>| space.bytes(cell).unwrap_or(f64::INFINITY);
    let name = blocks(chosen);
    let share = |cell: &Cell<'_>| format!("{:.0} %", bytes(cell) / bytes(chosen) * 100.0);
    let others = family.iter().filter(|cell| !std::ptr::eq(**cell, chosen));
    let others: Vec<String> = others
        .filter_map(|cell| {
            let throughput = percent(cell.value(&THROUGHPUT)?, chosen.value(&THROUGHPUT)?);
            Some(format!(
                "{} takes {} of that, throughput {throughput}",
                blocks(cell),
                share(cell)
            ))
        })
        .collect();
    let why = format!(
        "the least of {} among the codecs whose throughput ties with the highest",
        space.words()
    );
    let text = format!(
        "{name} takes {why}; {} ({}). Nothing was measured without compression: with {} the report says whether to compress at all.",
        others.join("; "),
        load(chosen),
        measuring_plain(chosen)
    );
    let throughput = |cell: &Cell<'_>| format!("throughput, {}", blocks(cell));
    let stated = [chosen, fastest].into_iter();
    let mut numbers: Vec<Number> = stated
        .filter_map(|cell| Some(cell.number(&THROUGHPUT)?.clone().named(throughput(cell))))
        .collect();
    // A codec that may be as fast, and was left out as it is not known to be, may be the one to take.
    let rivals = family
        .iter()
        .filter_map(|cell| Some((throughput(cell), cell.number(&THROUGHPUT)?)));
    add_wide_rivals(&mut numbers, rivals, top);
    let claim = Claim::new(TOPIC, format!("{name}: {why}"), text, numbers);
    let claim = claim.advising(format!("Compress with {name}: it takes {why} ({})", load(chosen)));
    // One that was left out as it does not tie may have been disturbed.
    let claim = claim.unless_disturbed(family.iter().copied());
    Some(claim.under(&name, &judged(chosen, &family, bounds)))
}

/// How a codec is within the limits, and where it does not keep them, which others do or may.
fn judged(chosen: &Cell<'_>, family: &[&Cell<'_>], bounds: &Bounds<'_>) -> Verdict {
    let mut verdict = bounds.judge_store(chosen, None);
    if verdict.is_kept() {
        return verdict;
    }
    let others = family.iter().filter(|cell| !std::ptr::eq(**cell, chosen));
    let judged: Vec<(&Cell<'_>, Verdict)> = others
        .map(|cell| (*cell, bounds.judge_store(cell, None)))
        .collect();
    let named = |is_so: fn(&Verdict) -> bool| -> Vec<String> {
        let those = judged.iter().filter(|(_, verdict)| is_so(verdict));
        those.map(|(cell, _)| blocks(cell)).collect()
    };
    let keeping = named(|verdict| verdict.kept == Kept::Keeps);
    let may_keep = named(|verdict| verdict.kept == Kept::MayBreak || verdict.is_open_by_interval);
    let meet = if keeping.len() == 1 { "meets" } else { "meet" };
    for (names, how) in [(&keeping, meet), (&may_keep, "may meet")] {
        if !names.is_empty() {
            verdict.why = format!("{}, and {} {how} the limits", verdict.why, enumerated(names));
        }
    }
    verdict.is_open_by_interval |= !may_keep.is_empty();
    verdict
}

fn codecs<'c>(family: &[&'c Cell<'_>]) -> BTreeSet<&'c str> {
    family.iter().map(|cell| cell.spelling(&COMPRESSION)).collect()
}

/// The codecs that are compared, and the one that is advised. Where the same were measured with blocks of several sizes, those of the size
/// whose choice has the most throughput for its space: of several that differ by little, of the smallest.
pub(super) fn compared<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<(Vec<&'c Cell<'a>>, &'c Cell<'a>)> {
    if cells
        .iter()
        .any(|cell| is_plain(cell) && has_speed_and_space(cell))
    {
        return None;
    }
    let known = || with_capability(cells).filter(|cell| is_compressed(cell) && has_speed_and_space(cell));
    let largest = largest_family(known(), &[&COMPRESSION]);
    let first = *largest.first().filter(|_| largest.len() > 1)?;
    // Of one load, one store and one place: the luckiest of several loads says nothing of the codecs.
    let is_alike = |cell: &&Cell<'_>| cell.is_like(first, &[&COMPRESSION, &COMPRESSION_BLOCK_SIZE]);
    let of_each_size = families(known().filter(is_alike), &[&COMPRESSION]).into_iter();
    let found = of_each_size
        .filter(|family| codecs(family) == codecs(&largest))
        .filter_map(|family| Some((chosen_of(&family)?, family)));
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(cell, _)| cell.get(&COMPRESSION_BLOCK_SIZE).map(|size| size.0));
    let chosen: Vec<&Cell<'_>> = found.iter().map(|(cell, _)| *cell).collect();
    let space = Space::of(&chosen);
    let worth = |cell: &Cell<'_>| Some(cell.value(&THROUGHPUT)? / space.bytes(cell)?);
    let most = chosen.iter().filter_map(|cell| worth(cell)).fold(0.0, f64::max);
    let is_as_good = |cell: &Cell<'_>| worth(cell).is_some_and(|worth| worth * MATTERS >= most);
    let (cell, family) = found.into_iter().find(|(cell, _)| is_as_good(cell))?;
    Some((family, cell))
}

/// Of codecs with blocks of one size, the one that is advised.
fn chosen_of<'c, 'a>(family: &[&'c Cell<'a>]) -> Option<&'c Cell<'a>> {
    let (_, top) = best(family.iter().copied(), &THROUGHPUT)?;
    let space = Space::of(family);
    let bytes = |cell: &Cell<'_>| space.bytes(cell).unwrap_or(f64::INFINITY);
    let tied = family
        .iter()
        .copied()
        .filter(|cell| cell.number(&THROUGHPUT).is_some_and(|number| ties(number, top)));
    tied.min_by(|one, other| bytes(one).total_cmp(&bytes(other)))
}
