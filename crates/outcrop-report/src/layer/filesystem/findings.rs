//! Sentences about filesystems, checked against the records.

mod effective;
mod prediction;
mod quality;
mod reserved;

use outcrop_measure::metric::Unit;

use super::cell::generators;
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// All of them, in the order of the page.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<Finding> {
    let always = [
        effective::reads_were_cold(cells).of_run("Some reads that are called cold came from memory"),
        effective::compression_happened(cells).of_run("Some data that should be compressed are not"),
        effective::options_are_effective(cells).of_run("The kernel shows other options than were requested"),
        effective::amplification_in_bounds(cells),
        quality::bytes_are_the_kernels(cells)
            .of_run("The device also read for others, or the kernel counted other bytes"),
        prediction::space_is_the_codecs(cells),
        quality::cpu_is_accounted(cells).of_run("Other processes used CPU time during trials"),
        quality::littles_law(cells)
            .of_run("Operations in flight are not operations per second × mean latency (Little's law)"),
        generators(cells).finding("filesystem-generator-was-on-time"),
        prediction::prediction_is_observed(cells),
    ];
    let where_measured = [
        prediction::kernel_zlib_is_slower(cells),
        reserved::space_is_not_reserved(cells),
    ];
    always
        .into_iter()
        .chain(where_measured.into_iter().flatten())
        .collect()
}

/// What a test of several cells came to: those that are outside, in words, of all that were tested.
struct Outside {
    tested: usize,
    names: Vec<String>,
}

impl Outside {
    /// Tests cells; `test` gives nothing for a cell that cannot be tested, and words for one that is outside.
    fn of<'c, 'a: 'c>(
        cells: impl IntoIterator<Item = &'c Cell<'a>>,
        test: impl Fn(&'c Cell<'a>) -> Option<Option<String>>,
    ) -> Self {
        let results: Vec<Option<String>> = cells.into_iter().filter_map(test).collect();
        Self {
            tested: results.len(),
            names: results.into_iter().flatten().collect(),
        }
    }

    /// `none`, or the first few and how many more.
    fn words(&self) -> String {
        const NAMED: usize = 4;
        match self.names.len() {
            0 => "none is outside".to_owned(),
            count => {
                let named = self
                    .names
                    .iter()
                    .take(NAMED)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join("; ");
                let more = if count > NAMED {
                    format!("; and {} more", count - NAMED)
                } else {
                    String::new()
                };
                format!("{count} outside: {named}{more}")
            }
        }
    }

    /// The finding; not testable where no cell could be tested.
    fn finding(&self, id: &str, sentence: &str, how: &str, if_none: &str) -> Finding {
        if self.tested == 0 {
            return Finding::not_testable(id, sentence, if_none);
        }
        let tested = format!("{how} in {}; {}.", counted(self.tested, "cell"), self.words());
        Finding::tested(id, sentence, self.names.is_empty(), tested)
    }
}

/// A derived number of a finding.
fn derived(name: &str, value: f64, n: usize) -> Number {
    Number::derived(name, value, Unit::Ratio, n)
}
