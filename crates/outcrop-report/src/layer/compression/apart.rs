//! What is not compared with the candidates, as its speeds are not known under their conditions: its ratio is one of the same data all the same.

use outcrop_schema::compression::{
    CACHES, CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO, CONTEXT, MEASUREMENT, THREADS,
};

use super::cell::CompressionCell;
use super::wishes::{Candidate, LEAST_RATIO, SAME_RATIO};
use crate::answer::{Claim, NOT_DECIDED};
use crate::cell::Cell;
use crate::placement::{Bound, Bounded, Bounds, Kept};

/// The highest ratio of a codec and block size that no candidate has.
#[derive(Clone, Copy)]
pub(super) struct Apart<'c, 'a> {
    cell: &'c Cell<'a>,
    pub(super) ratio: f64,
}

impl<'c, 'a> Apart<'c, 'a> {
    /// Of the same data as the candidates: neither threads nor contexts change a ratio.
    pub(super) fn of(cells: &'c [Cell<'a>], candidates: &[Candidate<'_, '_>]) -> Option<Self> {
        let first = candidates.first()?.cell;
        let is_known = |cell: &Cell<'_>| {
            let same = |one: &Cell<'_>| {
                one.spelling(&CODEC) == cell.spelling(&CODEC) && one.size_bytes() == cell.size_bytes()
            };
            candidates.iter().any(|one| same(one.cell))
        };
        let apart = cells.iter().filter(|cell| {
            let but_for = [
                &CODEC as outcrop_schema::FactorRef,
                &COMPRESSION_BLOCK_SIZE,
                &THREADS,
                &CONTEXT,
                &CACHES,
                &MEASUREMENT,
            ];
            !cell.is_copy() && cell.is_like(first, &but_for) && !is_known(cell)
        });
        let with_ratio = apart.filter_map(|cell| {
            let ratio = cell.value(&COMPRESSION_RATIO)?;
            Some(Self { cell, ratio })
        });
        with_ratio.max_by(|one, other| one.ratio.total_cmp(&other.ratio))
    }

    /// Whether its ratio is above another by more than a header's bytes.
    pub(super) fn is_above(&self, ratio: f64) -> bool {
        self.ratio > ratio * (1.0 + SAME_RATIO)
    }

    /// `zstd:4, 24 KiB, fresh context has 2.60`.
    pub(super) fn in_short(&self) -> String {
        format!("{} has {:.2}", self.cell.words(), self.ratio)
    }

    /// The same as a sentence with a blank before it.
    pub(super) fn sentence(&self) -> String {
        let has = self.in_short();
        format!(" {has}, and is not compared: its speeds are not known under the same conditions.")
    }

    /// `; zstd:4, 24 KiB, fresh context keeps it (2.60)`: behind a limit that what is compared breaks; empty where it may break it too.
    pub(super) fn keeping(&self, bounds: &Bounds<'_>) -> String {
        let verdict = bounds.judge(Bounded {
            ratio: Bound::of(self.cell.number(&COMPRESSION_RATIO)),
            ..Bounded::default()
        });
        match verdict.kept {
            Kept::Keeps => format!("; {} keeps it ({:.2})", self.cell.words(), self.ratio),
            _ => String::new(),
        }
    }

    /// That it makes the data smaller where no candidate does; none where it does not either.
    pub(super) fn alone(&self) -> Option<Claim> {
        let brief = format!(
            "none of those compared saves 2 %, but {} has a ratio of {:.2}",
            self.cell.words(),
            self.ratio
        );
        let text = format!("Not decided: {brief}. Its speeds are not known under the same conditions.");
        let brief = format!("{NOT_DECIDED}: {brief}");
        (self.ratio >= LEAST_RATIO).then(|| Claim::new("Compression", brief, text, Vec::new()))
    }
}
