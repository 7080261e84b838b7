//! What could prove something wrong: with a codec, with a cell, or with a publication.

mod ratio;
mod speed;
mod stages;

pub(super) use ratio::{published_size_over_zstd, size_over_zstd};
pub(super) use stages::{STAGE_SUM, of_published as of_published_stages};

use super::cell::Cell;
use super::references::Published;
use crate::finding::Finding;

/// Findings of the page in reading order.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<Finding> {
    let mut findings = vec![
        speed::decompressing_is_faster(cells),
        speed::copy_is_fastest(cells),
        speed::threads_scale(cells),
        speed::dpzip_against_zstd(cells),
        speed::incompressible_is_faster(cells),
        ratio::larger_blocks_save_more(cells),
        ratio::dpzip_curve(cells, published),
    ];
    findings.extend(stages::all(cells, published));
    findings
}

/// The first names of a list, with how many more there are.
pub(super) fn some_of(names: &[String]) -> String {
    const MOST: usize = 6;
    let mut shown: Vec<String> = names.iter().take(MOST).cloned().collect();
    if names.len() > MOST {
        shown.push(format!("{} more", names.len() - MOST));
    }
    shown.join("; ")
}
