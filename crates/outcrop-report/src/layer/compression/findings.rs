//! What could prove something wrong: with a codec, with a cell, or with a publication.

mod ratio;
mod robustness;
mod speed;
mod stages;

pub(super) use robustness::drops as of_published_robustness;
pub(super) use stages::growth as of_published_stages;

use super::references::Published;
use crate::cell::Cell;
use crate::finding::{About, Finding};

/// Findings of the page in reading order.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<Finding> {
    let mut findings = vec![
        speed::decompressing_is_faster(cells),
        speed::copy_is_fastest(cells).of_run("A codec seems faster than copying the same blocks"),
        speed::threads_scale(cells),
        speed::dpzip_against_zstd(cells),
        speed::incompressible_is_faster(cells),
        ratio::larger_blocks_save_more(cells),
        ratio::dpzip_curve(cells, published).about(About::Publication),
    ];
    findings.extend(stages::all(cells, published));
    findings
}
