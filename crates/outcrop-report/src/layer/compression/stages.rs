//! Where zstd's time goes, cell by cell: measured here or published, in one form, so that the same checks run on both.

use super::cell::{Cell, Content};
use super::references::Published;

/// A part of zstd's work on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// LZ77: what was seen before.
    MatchFinding,
    /// Huffman: what was not.
    Literals,
    /// FSE: how the two alternate.
    Sequences,
}

impl Stage {
    /// In the order of the work.
    pub(super) const ALL: [Self; 3] = [Self::MatchFinding, Self::Literals, Self::Sequences];

    /// `match finding (LZ)`.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::MatchFinding => "match finding (LZ)",
            Self::Literals => "literals (Huffman)",
            Self::Sequences => "sequences (FSE)",
        }
    }

    /// The metric of its share.
    pub(super) const fn metric(self) -> &'static str {
        match self {
            Self::MatchFinding => "stage_match_finding_share",
            Self::Literals => "stage_literals_share",
            Self::Sequences => "stage_sequences_share",
        }
    }
}

/// What the blocks of a stage cell are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// Real data; where the entropy is given, the blocks nearest to it.
    Natural,
    /// Made, each byte drawn alone.
    Independent,
}

/// The shares of one cell.
#[derive(Clone, Debug)]
pub(super) struct StageShares {
    pub(super) level: i32,
    pub(super) block_size_bytes: u64,
    /// Bits per byte asked for; none for data taken as they are.
    pub(super) bits: Option<f64>,
    /// Bits per byte that the blocks really have, where that is known.
    pub(super) reached_bits: Option<f64>,
    pub(super) blocks: Blocks,
    pub(super) is_cold: bool,
    /// Shares of the stages' sum, 0 to 1, in the order of [`Stage::ALL`].
    pub(super) shares: [f64; 3],
    /// The stages' sum ÷ the whole, where that was measured.
    pub(super) sum_ratio: Option<f64>,
}

impl StageShares {
    /// The share of match finding.
    pub(super) fn match_finding(&self) -> f64 {
        let [share, ..] = self.shares;
        share
    }

    /// Whether it is of the same level, size and entropy.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.level, self.block_size_bytes, self.bits) == (other.level, other.block_size_bytes, other.bits)
    }

    /// `level 3, 16 KiB, 4 bit/B`.
    pub(super) fn words(&self) -> String {
        let size = outcrop_measure::units::format_bytes(self.block_size_bytes);
        let mut text = format!("level {}, {size}", self.level);
        if let Some(bits) = self.bits {
            text.push_str(&format!(", {bits} bit/B"));
        }
        if self.blocks == Blocks::Independent {
            text.push_str(" independent");
        }
        if self.is_cold {
            text.push_str(", cold");
        }
        text
    }
}

/// The stage cells of this run.
pub(super) fn measured(cells: &[Cell<'_>]) -> Vec<StageShares> {
    let of = |cell: &Cell<'_>| {
        let (blocks, bits) = match cell.content {
            Content::Natural => (Blocks::Natural, None),
            Content::NaturalOf(bits) => (Blocks::Natural, Some(bits)),
            Content::Entropy(bits) => (Blocks::Independent, Some(bits)),
            _ => return None,
        };
        let share = |stage: Stage| cell.value(stage.metric());
        // Medians of shares need not add up to one, although the shares of each trial do.
        let medians = [
            share(Stage::MatchFinding)?,
            share(Stage::Literals)?,
            share(Stage::Sequences)?,
        ];
        let sum: f64 = medians.iter().sum();
        Some(StageShares {
            level: cell.level().filter(|_| cell.family() == "zstd")?,
            block_size_bytes: cell.block_size_bytes,
            bits,
            reached_bits: cell.value("block_entropy"),
            blocks,
            is_cold: cell.view.factor("caches") == Some("cold"),
            shares: medians.map(|median| median / sum),
            sum_ratio: cell.value("stage_sum_ratio"),
        })
    };
    sorted(
        cells
            .iter()
            .filter(|cell| cell.is_of_stages())
            .filter_map(of)
            .collect(),
    )
}

/// The published cells.
pub(super) fn published(published: &Published) -> Vec<StageShares> {
    let mut all: Vec<StageShares> = Vec::new();
    for row in published.rows("asic-stages") {
        let factor = |name: &str| row.factors.get(name).map(String::as_str);
        let metric = row.metric.trim_end_matches("_as_published");
        let Some(index) = Stage::ALL.iter().position(|stage| stage.metric() == metric) else {
            continue;
        };
        let parsed = || {
            Some(StageShares {
                level: factor("codec")?.split_once(':')?.1.parse().ok()?,
                block_size_bytes: factor("compression_block_size")?
                    .parse::<outcrop_measure::ByteSize>()
                    .ok()?
                    .0,
                bits: Some(factor("content")?.split_once(':')?.1.parse().ok()?),
                reached_bits: None,
                blocks: Blocks::Natural,
                is_cold: false,
                shares: [0.0; 3],
                sum_ratio: None,
            })
        };
        let Some(cell) = parsed() else { continue };
        let place = match all.iter().position(|other| other.is_like(&cell)) {
            Some(place) => place,
            None => {
                all.push(cell);
                all.len() - 1
            }
        };
        if let Some(share) = all.get_mut(place).and_then(|cell| cell.shares.get_mut(index)) {
            *share = row.value;
        }
    }
    sorted(all)
}

fn sorted(mut all: Vec<StageShares>) -> Vec<StageShares> {
    all.sort_by(|one, other| {
        (one.block_size_bytes, one.level)
            .cmp(&(other.block_size_bytes, other.level))
            .then(one.bits.unwrap_or(0.0).total_cmp(&other.bits.unwrap_or(0.0)))
    });
    all
}
