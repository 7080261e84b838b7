//! Where zstd's time goes, cell by cell: measured here or published, so that the same checks run on both.

use std::ops::RangeInclusive;

use outcrop_measure::metric::Metric;
use outcrop_schema::compression::{
    CACHES, CODEC, COMPRESSION_BLOCK_SIZE, CONTENT, CodecName, PUBLISHED_SEQUENCES_SHARE,
    STAGE_LITERALS_SHARE, STAGE_MATCH_FINDING_SHARE, STAGE_SEQUENCES_SHARE, STAGE_SUM_RATIO,
};
use outcrop_workload::{BlockContent, Content};

use super::cell::CompressionCell;
use crate::answer::{Caution, Claim};
use crate::cell::{Cell, largest_family};

/// The stages' sum ÷ the whole within which shares are believed.
pub(super) const STAGE_SUM: RangeInclusive<f64> = 0.85..=1.15;

/// A part of zstd's work on a block.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) words: &'static str,
    /// Its share, measured or else published.
    share: &'static [Metric],
}

/// LZ77: what was seen before.
pub(super) static MATCH_FINDING: Stage = Stage {
    words: "match finding (LZ)",
    share: &[STAGE_MATCH_FINDING_SHARE],
};
/// Huffman: what was not.
static LITERALS: Stage = Stage {
    words: "literals (Huffman)",
    share: &[STAGE_LITERALS_SHARE],
};
/// FSE: how the two alternate.
static SEQUENCES: Stage = Stage {
    words: "sequences (FSE)",
    share: &[STAGE_SEQUENCES_SHARE, PUBLISHED_SEQUENCES_SHARE],
};
/// In the order of the work.
pub(super) static STAGES: [&Stage; 3] = [&MATCH_FINDING, &LITERALS, &SEQUENCES];

impl Stage {
    /// Its part of the stages' sum, 0 to 1, where all of them are known.
    pub(super) fn share(&self, cell: &Cell<'_>) -> Option<f64> {
        let own = |stage: &Self| Some(cell.first_number(stage.share)?.value);
        // Medians of shares need not add up to one, although the shares of each trial do. Published ones stay as they are.
        let sum = STAGES.into_iter().map(own).sum::<Option<f64>>()?;
        Some(own(self)? / if cell.view().is_some() { sum } else { 1.0 })
    }
}

/// The cells among these that say where the time goes, on natural blocks or independent bytes: by block size, level and entropy.
pub(super) fn of<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let is_known = |cell: &&Cell<'_>| !is_independent(cell) || bits(cell).is_some();
    let has_shares = |cell: &&Cell<'_>| MATCH_FINDING.share(cell).is_some();
    let mut stages: Vec<_> = cells.iter().filter(is_known).filter(has_shares).collect();
    let place = |cell: &Cell<'_>| (cell.size_bytes(), level(cell));
    // Natural blocks of no wanted entropy come before those of one.
    let entropy = |cell: &Cell<'_>| bits(cell).unwrap_or(f64::NEG_INFINITY);
    stages.sort_by(|one, other| {
        let by_place = place(one).cmp(&place(other));
        by_place.then(entropy(one).total_cmp(&entropy(other)))
    });
    stages
}

/// The same of one subject: that of which there are most.
pub(super) fn of_one_subject<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    largest_family(of(cells), &[&CACHES, &CODEC, &COMPRESSION_BLOCK_SIZE, &CONTENT])
}

/// The level of zstd.
pub(super) fn level(cell: &Cell<'_>) -> Option<i32> {
    cell.get(&CODEC).and_then(CodecName::level)
}

/// Bits per byte that were asked for; none for data taken as they are.
pub(super) fn bits(cell: &Cell<'_>) -> Option<f64> {
    match cell.get(&CONTENT)? {
        BlockContent::NaturalNear(bits) => Some(*bits),
        BlockContent::Generated(Content::Entropy { bits_per_byte }) => Some(*bits_per_byte),
        _ => None,
    }
}

/// Whether its bytes were made, each drawn alone, and not taken from the subject.
pub(super) fn is_independent(cell: &Cell<'_>) -> bool {
    matches!(cell.get(&CONTENT), Some(BlockContent::Generated(_)))
}

/// Whether it has natural blocks and warm caches.
pub(super) fn is_usual(cell: &Cell<'_>) -> bool {
    !is_independent(cell) && cell.is_default(&CACHES)
}

/// The cell among others that is of the same level, block size and entropy.
pub(super) fn alike<'c, 'a>(among: &[&'c Cell<'a>], cell: &Cell<'_>) -> Option<&'c Cell<'a>> {
    let place = |cell: &Cell<'_>| (level(cell), cell.size_bytes(), bits(cell));
    among.iter().copied().find(|one| place(one) == place(cell))
}

/// `level 3, 16 KiB, 4 bit/B`.
pub(super) fn words(cell: &Cell<'_>) -> String {
    let level = level(cell).map_or_else(|| "–".to_owned(), |level| level.to_string());
    let mut text = format!("level {level}, {}", cell.size());
    if let Some(bits) = bits(cell) {
        text.push_str(&format!(", {bits} bit/B"));
    }
    if is_independent(cell) {
        text.push_str(" independent");
    }
    if !cell.is_default(&CACHES) {
        text.push_str(", cold");
    }
    text
}

/// Whether it has blocks of 4 KiB whose entropy was asked for, and warm caches.
pub(super) fn at_4_kib(cell: &Cell<'_>) -> bool {
    cell.size_bytes() == 4096 && bits(cell).is_some() && cell.is_default(&CACHES)
}

/// Where the time goes: a stage's least and greatest share over natural blocks with warm caches whose parts add up.
pub(super) fn claim(cells: &[Cell<'_>], stage: &Stage) -> Option<Claim> {
    let adds_up = |cell: &Cell<'_>| {
        let sum = cell.value(&STAGE_SUM_RATIO);
        sum.is_some_and(|sum| STAGE_SUM.contains(&sum))
    };
    let mut shares: Vec<(f64, &Cell<'_>)> = of_one_subject(cells)
        .into_iter()
        .filter(|cell| is_usual(cell) && adds_up(cell))
        .filter_map(|cell| Some((stage.share(cell)?, cell)))
        .collect();
    shares.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let ((least, least_cell), (most, most_cell)) = (shares.first()?, shares.last()?);
    let percent = |share: &f64| format!("{:.0} %", share * 100.0);
    Some(Claim::new(
        stage.words,
        format!("{} to {} of the time", percent(least), percent(most)),
        format!(
            "from {} of zstd's time at {} to {} at {}, over natural blocks with warm caches.",
            percent(least),
            words(least_cell),
            percent(most),
            words(most_cell)
        ),
        Vec::new(),
    ))
}

/// Stage cells whose parts do not add up.
pub(super) fn sums(cells: &[Cell<'_>]) -> Option<Caution> {
    let sums = cells.iter().filter_map(|cell| cell.value(&STAGE_SUM_RATIO));
    let sums: Vec<f64> = sums.collect();
    let off = sums.iter().filter(|sum| !STAGE_SUM.contains(sum)).count();
    (off > 0).then(|| {
        Caution::warning(format!(
            "In {off} of {} cells the stages of zstd do not add up to 0.85 to 1.15 of the whole, so their shares are unreliable. The captions name these cells.",
            sums.len()
        ))
    })
}
