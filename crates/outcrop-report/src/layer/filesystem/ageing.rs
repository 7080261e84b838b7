//! What ageing leaves: extents, and the space that the files take after it.

use std::collections::BTreeSet;

use outcrop_schema::filesystem::{AGE, EXTENTS, SPACE_RATIO};

use super::cell::{configuration, is_fresh};
use crate::answer::Claim;
use crate::cell::{Cell, families};
use crate::finding::as_sentence;

/// The same configuration before and after.
struct Pair<'c, 'a> {
    fresh: &'c Cell<'a>,
    aged: &'c Cell<'a>,
    /// Extents after it for each one before.
    growth: f64,
}

impl Pair<'_, '_> {
    /// `btrfs zstd:3: 128 → 5,210 extents, data ÷ space 3.52 → 2.10`, with the age where the run has several.
    fn words(&self, has_several: bool) -> String {
        let age = match has_several {
            true => format!(", {}", self.aged.spelling(&AGE)),
            false => String::new(),
        };
        format!(
            "{}{age}: {} → {} extents, data ÷ space {} → {}",
            configuration(self.aged),
            self.fresh.number_or_dash(&EXTENTS),
            self.aged.number_or_dash(&EXTENTS),
            self.fresh.number_or_dash(&SPACE_RATIO),
            self.aged.number_or_dash(&SPACE_RATIO)
        )
    }
}

/// Extents and space of each configuration as it was written and after it was overwritten, the most scattered first.
pub(super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    const NAMED: usize = 3;
    let pairs = pairs(cells);
    let ages: BTreeSet<&str> = pairs.iter().map(|pair| pair.aged.spelling(&AGE)).collect();
    let words: Vec<String> = pairs.iter().map(|pair| pair.words(ages.len() > 1)).collect();
    let history = match ages.first()? {
        age if ages.len() == 1 => format!("{age} of their 4 KiB blocks"),
        _ => "4 KiB blocks".to_owned(),
    };
    let more = match words.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let brief = format!("{}{more}", words[..words.len().min(NAMED)].join("; "));
    let text = format!(
        "Files as they were written, and after ageing ({history}, at random). {}",
        as_sentence(&words.join("; "))
    );
    let numbers = pairs.iter().filter_map(|pair| {
        let name = format!(
            "extents after ageing {}, {}",
            pair.aged.spelling(&AGE),
            configuration(pair.aged)
        );
        Some(pair.aged.number(&EXTENTS)?.clone().named(name))
    });
    Some(Claim::new("After ageing", brief, text, numbers.collect()))
}

/// A pair of each configuration: whatever is done with the files afterwards, they lie as ageing left them.
fn pairs<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<Pair<'c, 'a>> {
    let known = cells.iter().filter(|cell| cell.value(&EXTENTS).is_some());
    let mut pairs: Vec<Pair<'c, 'a>> = Vec::new();
    for family in families(known, &[&AGE]) {
        let fresh = family.iter().copied().find(|cell| is_fresh(cell));
        let Some(fresh) = fresh else { continue };
        for aged in family.iter().copied().filter(|cell| !is_fresh(cell)) {
            let is_known = |pair: &Pair<'_, '_>| {
                configuration(pair.aged) == configuration(aged)
                    && pair.aged.spelling(&AGE) == aged.spelling(&AGE)
            };
            let (Some(after), Some(before)) = (aged.value(&EXTENTS), fresh.value(&EXTENTS)) else {
                continue;
            };
            if !pairs.iter().any(is_known) {
                let growth = after / before.max(1.0);
                pairs.push(Pair { fresh, aged, growth });
            }
        }
    }
    pairs.sort_by(|one, other| other.growth.total_cmp(&one.growth));
    pairs
}
