//! Space with and without the engine's log, which is not compressed: of few records it is most of what a database takes.

use outcrop_schema::kv::{LOG_BYTES, STORED_BYTES};

use super::cell::{is_compressed_below, words};
use crate::answer::Caution;
use crate::cell::Cell;

/// Where the log is a larger share of the space, codecs are compared without it.
const LOG_MATTERS: f64 = 0.10;
/// Where it is a larger one, space says more of the log than of the codec.
const LOG_DOMINATES: f64 = 0.50;

/// What is compared of some cells: all of their space, or that without the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    All,
    WithoutLog,
}

impl Space {
    /// What is to be compared of cells. Where an engine does not say what its log takes, or a filesystem compresses it, that is all of it.
    pub(super) fn of(cells: &[&Cell<'_>]) -> Self {
        let shares: Option<Vec<f64>> = cells.iter().map(|cell| log_share(cell)).collect();
        match shares {
            Some(shares) if shares.iter().any(|share| *share > LOG_MATTERS) => Self::WithoutLog,
            _ => Self::All,
        }
    }

    /// The space of a cell.
    pub(super) fn bytes(self, cell: &Cell<'_>) -> Option<f64> {
        let all = cell.value(&STORED_BYTES)?;
        match self {
            Self::All => Some(all),
            Self::WithoutLog => Some((all - cell.value(&LOG_BYTES)?).max(1.0)),
        }
    }

    /// `the space`.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::All => "the space",
            Self::WithoutLog => "the space without the log",
        }
    }
}

/// The log's share of the space after the load; none where it is not known.
pub(crate) fn log_share(cell: &Cell<'_>) -> Option<f64> {
    let (log, all) = (cell.value(&LOG_BYTES)?, cell.value(&STORED_BYTES)?);
    (!is_compressed_below(cell) && all > 0.0).then_some(log / all)
}

/// Whether a share of the space is worth a sentence.
pub(crate) fn matters(share: f64) -> bool {
    share > LOG_MATTERS
}

/// Said where the log is much of the space.
pub(super) fn caution(cells: &[Cell<'_>]) -> Option<Caution> {
    let shares = cells.iter().filter_map(|cell| Some((log_share(cell)?, cell)));
    let (share, cell) = shares.max_by(|one, other| one.0.total_cmp(&other.0))?;
    matters(share).then(|| {
        let text = format!(
            "The engine's log, which no codec compresses, takes up to {:.0} % of the space ({}). The advice of this layer \
             compares the space without it; where to compress, and space amplification, include it. With more records its share falls.",
            share * 100.0,
            words(cell)
        );
        Caution::warning_if(share > LOG_DOMINATES, text)
    })
}
