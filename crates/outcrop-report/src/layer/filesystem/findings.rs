//! Sentences about filesystems, checked against the records.

mod effective;
mod prediction;
mod quality;
mod reserved;

use outcrop_measure::metric::Unit;

use super::cell::generators;
use crate::cell::Cell;
use crate::finding::{Finding, Side, Verdict, as_sentence};
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
    /// Those whose interval reaches from within the limits to beyond them.
    open: Vec<String>,
    /// Those that lie beyond them, but may do so by the one time that the run has of the codec.
    by_codec: Vec<String>,
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
            open: Vec::new(),
            by_codec: Vec::new(),
        }
    }

    /// Tests cells by whole intervals; `test` gives the side of a cell's figure and words for it, and nothing for a cell that cannot be tested.
    fn by_intervals<'c, 'a: 'c>(
        cells: impl IntoIterator<Item = &'c Cell<'a>>,
        test: impl Fn(&'c Cell<'a>) -> Option<(Side, String)>,
    ) -> Self {
        let results: Vec<(Side, String)> = cells.into_iter().filter_map(test).collect();
        let of = |wanted: Side| {
            let found = results.iter().filter(move |(side, _)| *side == wanted);
            found.map(|(_, words)| words.clone()).collect()
        };
        Self {
            tested: results.len(),
            names: of(Side::Beyond),
            open: of(Side::Open),
            by_codec: Vec::new(),
        }
    }

    /// `none is outside`, or those that are, and those that intervals and the codec's time leave open.
    fn words(&self) -> String {
        let outside = match self.names.len() {
            0 => "none is outside".to_owned(),
            count => format!("{count} outside: {}", first_few(&self.names)),
        };
        let open = [(&self.open, "interval"), (&self.by_codec, "codec's time")];
        let open = open.into_iter().filter(|(words, _)| !words.is_empty());
        let open = open.map(|(words, by)| format!("{} open, by the {by}: {}", words.len(), first_few(words)));
        [outside].into_iter().chain(open).collect::<Vec<_>>().join("; ")
    }

    /// The finding; not testable where no cell could be tested.
    fn finding(&self, id: &str, sentence: &str, how: &str, if_none: &str) -> Finding {
        if self.tested == 0 {
            return Finding::not_testable(id, sentence, if_none);
        }
        let cells = counted(self.tested, "cell");
        let tested = format!("{how} in {cells}; {}.", self.words());
        let why = |words: &[String], why: &str, remedy: &str| {
            let count = words.len();
            let sentence = || {
                as_sentence(&format!(
                    "in {count} of {cells}, {why}: {}. {remedy}",
                    first_few(words)
                ))
            };
            (count > 0).then(sentence)
        };
        let why_open = || {
            let by_interval = why(
                &self.open,
                "the interval has values within the limits and beyond them",
                "More repetitions narrow it",
            );
            let by_codec = why(
                &self.by_codec,
                "the codec was timed once in this run, so how far its time varies is unknown",
                "Another run tells",
            );
            let both: Vec<String> = by_interval.into_iter().chain(by_codec).collect();
            both.join(" ")
        };
        let open = self.open.len() + self.by_codec.len();
        let verdict = Verdict::of_sides(self.names.len(), open, why_open);
        Finding::judged(id, sentence, verdict, tested)
    }
}

/// The first few of some words, and how many more there are.
fn first_few(words: &[String]) -> String {
    const NAMED: usize = 4;
    let named = words[..words.len().min(NAMED)].join("; ");
    match words.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}

/// A derived number of a finding.
fn derived(name: &str, value: f64, n: usize) -> Number {
    Number::derived(name, value, Unit::Ratio, n)
}
