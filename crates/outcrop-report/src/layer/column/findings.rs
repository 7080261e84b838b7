//! Sentences about columns, checked against the records.

use std::collections::BTreeMap;

use outcrop_measure::metric::Unit;

use super::cell::Cell;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// How far a file may lie above the floor, on uniform and on skewed rows.
const ABOVE_FLOOR: [f64; 2] = [1.02, 1.05];
/// Files below this are mostly header and tables: the bar is about data.
const LEAST_FLOOR_BYTES: f64 = 65_536.0;
/// Reads of a cold lookup.
const MOST_READS: f64 = 3.0;
/// Memory over the file, the dictionary beside it.
const MOST_MEMORY: f64 = 2.5;
/// Text below this takes less memory than the program's own rounding.
const LEAST_TEXT_BYTES: f64 = 32e6;

/// All of them, in the order of the page.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<Finding> {
    vec![
        near_floor(cells),
        cold_reads(cells),
        same_bytes(cells),
        memory(cells),
        beside_text(cells),
    ]
}

fn encodes<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> {
    cells
        .iter()
        .filter(|cell| cell.is(&[("operation", "encode"), ("format", "ocol")]))
}

fn near_floor(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "size-near-floor";
    const SENTENCE: &str =
        "Rows in random order take at most 2 % more than the floor if uniform, 5 % more if skewed.";
    let of_random = encodes(cells).filter(|cell| cell.is(&[("index", "none"), ("order", "random")]));
    let ratios: Vec<(f64, f64)> = of_random
        .filter(|cell| {
            cell.value("floor_bytes")
                .is_some_and(|floor| floor >= LEAST_FLOOR_BYTES)
        })
        .filter_map(|cell| {
            let bar = ABOVE_FLOOR[usize::from(cell.parsed::<f64>("skew")? > 0.0)];
            Some((cell.value("size_over_floor")?, bar))
        })
        .collect();
    if ratios.is_empty() {
        let reason =
            "no random column without an index has a floor of 64 KiB or more; column-size makes some";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let outside = ratios.iter().filter(|(ratio, bar)| ratio > bar).count();
    let worst = ratios.iter().map(|(ratio, _)| *ratio).fold(0.0, f64::max);
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(outside == 0),
        tested: format!(
            "file ÷ (floor + dictionary) in {} cells; {outside} are above their bar.",
            ratios.len()
        ),
        meaning: String::new(),
        numbers: vec![Number::derived(
            "largest size ÷ floor",
            worst,
            Unit::Ratio,
            ratios.len(),
        )],
    }
}

fn cold_reads(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cold-lookup-reads";
    const SENTENCE: &str = "A lookup through postings in a file just opened takes at most three reads.";
    let most: Vec<f64> = cells
        .iter()
        .filter(|cell| cell.is(&[("operation", "equality"), ("search_mode", "on-disk")]))
        .filter(|cell| ["postings", "only"].contains(&cell.factor("index")))
        .filter_map(|cell| cell.value("cold_reads_max"))
        .collect();
    let Some(worst) = most.iter().copied().reduce(f64::max) else {
        return Finding::not_testable(ID, SENTENCE, "no equality search on disk; column-search has some");
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(worst <= MOST_READS),
        tested: format!(
            "the most reads of one of 64 cold lookups, in {} cells.",
            most.len()
        ),
        meaning: String::new(),
        numbers: vec![Number::derived("most reads", worst, Unit::Count, most.len())],
    }
}

fn same_bytes(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "threads-change-no-byte";
    const SENTENCE: &str = "A file has the same size however many threads wrote it.";
    let mut sizes: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for cell in encodes(cells) {
        let key = (cell.column_key(), cell.factor("index"), cell.factor("profile"));
        sizes.entry(key).or_default().extend(cell.value("file_bytes"));
    }
    sizes.retain(|_, sizes| sizes.len() > 1);
    if sizes.is_empty() {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "no column was encoded with several numbers of threads",
        );
    }
    let differing = sizes
        .values()
        .filter(|sizes| sizes.iter().any(|size| *size != sizes[0]))
        .count();
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(differing == 0),
        tested: format!("sizes of {} files by threads; {differing} differ.", sizes.len()),
        meaning: String::new(),
        numbers: Vec::new(),
    }
}

fn memory(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "encode-memory";
    const SENTENCE: &str = "Encoding takes at most 2.5 times the file, and the dictionary, of memory.";
    let ratios: Vec<f64> = encodes(cells)
        .filter(|cell| {
            cell.value("text_bytes")
                .is_some_and(|text| text >= LEAST_TEXT_BYTES)
        })
        .filter_map(|cell| {
            let beside = cell.value("encode_peak_memory")? - cell.value("dictionary_bytes")?;
            Some(beside / cell.value("file_bytes")?)
        })
        .collect();
    let Some(worst) = ratios.iter().copied().reduce(f64::max) else {
        let reason = "no column of 32 MB of text or more was encoded; `--full` does so";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(worst <= MOST_MEMORY),
        tested: format!(
            "(peak memory − dictionary) ÷ file in {} cells of 32 MB of text or more.",
            ratios.len()
        ),
        meaning: String::new(),
        numbers: vec![Number::derived(
            "largest memory ÷ file",
            worst,
            Unit::Ratio,
            ratios.len(),
        )],
    }
}

fn beside_text(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "smaller-than-text-under-a-codec";
    const SENTENCE: &str = "No column file without index is larger than its text under a general compressor.";
    let judged = super::judgement::judge(cells);
    let mut compared = 0;
    let mut larger = Vec::new();
    let mut worst: f64 = 0.0;
    for judgement in &judged {
        let smallest = encodes(cells)
            .filter(|cell| cell.column_key() == judgement.best.column_key() && cell.factor("index") == "none")
            .filter_map(|cell| cell.value("file_bytes"))
            .reduce(f64::min);
        let (Some((codec, bytes)), Some(ours)) = (judgement.codec, smallest) else {
            continue;
        };
        compared += 1;
        worst = worst.max(ours / bytes);
        if ours > bytes {
            larger.push(format!("{} ({:.2} times {codec})", judgement.words, ours / bytes));
        }
    }
    if compared == 0 {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "no column was also compressed as text; a plan with format = [\"ocol\", \"zstd:19\"] does so",
        );
    }
    let meaning = if larger.is_empty() {
        String::new()
    } else {
        format!(
            "Larger: {}. A column file can be searched where compressed text cannot.",
            larger.join(", ")
        )
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(larger.is_empty()),
        tested: format!(
            "the smallest profile against the smallest codec in {compared} columns; {} are larger.",
            larger.len()
        ),
        meaning,
        numbers: vec![Number::derived(
            "largest column file ÷ text under a codec",
            worst,
            Unit::Ratio,
            compared,
        )],
    }
}
