//! Sentences about columns, checked against the records.

use outcrop_measure::metric::Unit;
use outcrop_schema::FactorRef;
use outcrop_schema::column::{
    COLD_READS_MAX, DICTIONARY_BYTES, ENCODE_PEAK_MEMORY, FILE_BYTES, FLOOR_BYTES, FORMAT, INDEX, Index,
    KERNELS, Kernels, LATENCY, OPERATION, ORDER, PROFILE, SEARCH_MODE, SIZE_OVER_FLOOR, SKEW, TEXT_BYTES,
    THREADS, WITHOUT, Without,
};
use outcrop_workload::column::{Operation, RowOrder, SearchMode};

use super::cell::{is_file, is_plain_file, is_plain_text, is_search};
use super::judgement::judge;
use super::whole::wholes;
use crate::cell::{Cell, best, families};
use crate::finding::{Finding, Side, Verdict};
use crate::number::{Number, counted};

/// How far a file may lie above the floor, on uniform and on skewed rows.
const ABOVE_FLOOR: [f64; 2] = [1.02, 1.05];
/// Files below this are mostly header and tables: the bar is about data.
const LEAST_FLOOR_BYTES: f64 = 65_536.0;
/// Of columns below this, headers decide: the footer of a Parquet file is not counted, that of a column file is.
const LEAST_COLUMN_BYTES: f64 = 65_536.0;
/// What a file may lose by a technique before it is said to be larger: the choice of each block is made from a sample.
const SAME_SIZE: f64 = 1.001;
/// What vector instructions must make of the time of a scan.
const HALF: f64 = 0.5;
/// Reads of a cold lookup: a block of values, a page of the table of lists, a group of lists, and the list itself where it is too long for a
/// group, as those of frequent values are.
const MOST_READS: f64 = 4.0;
/// Memory over the file, the dictionary beside it.
const MOST_MEMORY: f64 = 2.5;
/// Text below this takes less memory than the program's own rounding.
const LEAST_TEXT_BYTES: f64 = 32e6;

/// All of them, in the order of the page.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<Finding> {
    let findings = [
        near_floor,
        cold_reads,
        same_bytes,
        memory,
        beside_text,
        beside_parquet,
        techniques_save,
        vectors_scan,
        codes_beside_text,
    ];
    findings.map(|finding| finding(cells)).into()
}

/// A sentence that holds if none of some values is above its bar; `tested` says of how many values how many are.
fn at_most(
    id: &str,
    sentence: &str,
    values: impl Iterator<Item = (f64, f64)>,
    (largest, unit): (&str, Unit),
    if_none: &str,
    tested: impl FnOnce(usize, usize) -> String,
) -> Finding {
    let values: Vec<(f64, f64)> = values.collect();
    let Some(worst) = values.iter().map(|(value, _)| *value).reduce(f64::max) else {
        return Finding::not_testable(id, sentence, if_none);
    };
    let above = values.iter().filter(|(value, bar)| value > bar).count();
    let finding = Finding::tested(id, sentence, above == 0, tested(values.len(), above));
    finding.numbers([Number::derived(largest, worst, unit, values.len())])
}

fn near_floor(cells: &[Cell<'_>]) -> Finding {
    let is_random = |cell: &&Cell<'_>| is_plain_file(cell) && cell.is(&ORDER, &RowOrder::Random);
    let ratio_and_bar = |cell: &Cell<'_>| {
        let bar = ABOVE_FLOOR[usize::from(*cell.get(&SKEW)? > 0.0)];
        let is_data = cell.value(&FLOOR_BYTES)? >= LEAST_FLOOR_BYTES;
        is_data.then_some((cell.value(&SIZE_OVER_FLOOR)?, bar))
    };
    at_most(
        "size-near-floor",
        "Rows in random order take at most 2 % more than the floor if uniform, 5 % more if skewed.",
        cells.iter().filter(is_random).filter_map(ratio_and_bar),
        ("largest size ÷ floor", Unit::Ratio),
        "no random column without an index has a floor of 64 KiB or more; the plan column-size has some",
        |count, above| {
            format!(
                "file ÷ floor, which includes the dictionary, in {}; {above} above the bar.",
                counted(count, "cell")
            )
        },
    )
}

fn cold_reads(cells: &[Cell<'_>]) -> Finding {
    let (mode, indexes) = (SearchMode::OnDisk, [Index::Postings, Index::Only]);
    let lookups = cells
        .iter()
        .filter(|cell| is_search(cell, Operation::Equality, mode, &indexes));
    at_most(
        "cold-lookup-reads",
        "A lookup through postings in a newly opened file takes at most four reads.",
        lookups.filter_map(|cell| Some((cell.value(&COLD_READS_MAX)?, MOST_READS))),
        ("most reads", Unit::Count),
        "there was no equality search in a file that is not loaded; the plan column-search has some",
        |count, _| {
            format!(
                "the most reads of any of 64 cold lookups, in {}.",
                counted(count, "cell")
            )
        },
    )
}

fn same_bytes(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "threads-change-no-byte";
    const SENTENCE: &str = "The file size does not depend on the number of threads.";
    let size = |cell: &Cell<'_>| cell.value(&FILE_BYTES);
    let files = cells.iter().filter(|cell| is_file(cell) && size(cell).is_some());
    let mut by_threads = families(files, &[&THREADS]);
    by_threads.retain(|files| files.len() > 1);
    if by_threads.is_empty() {
        let reason = "no column was encoded with several numbers of threads";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let is_varied = |files: &&Vec<&Cell<'_>>| files.iter().any(|file| size(file) != size(files[0]));
    let (total, differing) = (by_threads.len(), by_threads.iter().filter(is_varied).count());
    let tested = format!("sizes of {total} files by threads; {differing} differ.");
    Finding::tested(ID, SENTENCE, differing == 0, tested)
}

fn memory(cells: &[Cell<'_>]) -> Finding {
    let is_large = |cell: &&Cell<'_>| is_file(cell) && cell.value(&TEXT_BYTES) >= Some(LEAST_TEXT_BYTES);
    let ratio = |cell: &Cell<'_>| {
        let beside = cell.value(&ENCODE_PEAK_MEMORY)? - cell.value(&DICTIONARY_BYTES)?;
        Some((beside / cell.value(&FILE_BYTES)?, MOST_MEMORY))
    };
    at_most(
        "encode-memory",
        "The memory for encoding is at most 2.5 times the file size, plus the dictionary.",
        cells.iter().filter(is_large).filter_map(ratio),
        ("largest memory ÷ file", Unit::Ratio),
        "no column of 32 MB of text or more was encoded; `--full` does that",
        |count, _| {
            format!(
                "(peak memory − dictionary) ÷ file in {} of 32 MB of text or more.",
                counted(count, "cell")
            )
        },
    )
}

fn beside_text(cells: &[Cell<'_>]) -> Finding {
    let judged = judge(cells);
    let compared = judged.iter().filter_map(|judgement| {
        let (ratio, codec) = judgement.over_codec()?;
        Some((ratio, format!("{} ({ratio:.2} times {codec})", judgement.words)))
    });
    let larger = compared.clone().filter(|(ratio, _)| *ratio > 1.0);
    let larger: Vec<String> = larger.map(|(_, words)| words).collect();
    let meaning = match larger.join(", ").as_str() {
        "" => String::new(),
        larger => format!("Larger: {larger}. A column file can be searched where compressed text cannot."),
    };
    let finding = at_most(
        "smaller-than-text-under-a-codec",
        "No column file without index is larger than its text under a general compressor.",
        compared.map(|(ratio, _)| (ratio, 1.0)),
        ("largest column file ÷ text under a codec", Unit::Ratio),
        "no column was also compressed as text; the plan column-codecs does so",
        |count, above| {
            format!(
                "the smallest profile compared with the smallest codec in {}; larger in {above}.",
                counted(count, "pair")
            )
        },
    );
    finding.meaning(meaning)
}

/// Of the cells in which a technique is left out, the bytes of the file with all of them over those without.
fn techniques_save(cells: &[Cell<'_>]) -> Finding {
    let encodes = cells
        .iter()
        .filter(|cell| cell.is(&OPERATION, &Operation::Encode));
    let of_column = families(encodes, &[&WITHOUT]);
    let ratios = of_column.iter().flat_map(|files| {
        let whole = files.iter().find(|file| file.is(&WITHOUT, &Without::Nothing));
        let whole = whole.and_then(|file| file.value(&FILE_BYTES));
        let others = files.iter().filter(|file| !file.is(&WITHOUT, &Without::Nothing));
        others.filter_map(move |file| Some((whole? / file.value(&FILE_BYTES)?, SAME_SIZE)))
    });
    at_most(
        "techniques-save",
        "No file is smaller without one of its techniques.",
        ratios,
        ("largest file with ÷ without a technique", Unit::Ratio),
        "no technique was left out; the plan column-ablation leaves out each",
        |count, above| {
            format!(
                "file ÷ the same file without a technique in {}; {above} above 1.",
                counted(count, "cell")
            )
        },
    )
}

/// Which cells of a family are meant.
type Choice = fn(&Cell<'_>) -> bool;

/// Median latencies of the same search with two kernels, or with codes and with text, each with the interval that theirs give it.
fn latency_ratios<'c>(
    cells: &'c [Cell<'c>],
    along: &[FactorRef],
    (first, second): (Choice, Choice),
) -> Vec<Number> {
    let least = |cells: &[&'c Cell<'c>], is_wanted: Choice| {
        let its = cells.iter().copied().filter(|cell| is_wanted(cell));
        best(its, &LATENCY.p50).map(|(_, number)| number)
    };
    let of_column = families(
        cells.iter().filter(|cell| cell.value(&LATENCY.p50).is_some()),
        along,
    );
    let ratio = |cells: &Vec<&'c Cell<'c>>| {
        let both = [least(cells, first)?, least(cells, second)?];
        Some(Number::computed("", Unit::Ratio, &both, |times| {
            times[0] / times[1]
        }))
    };
    of_column.iter().filter_map(ratio).collect()
}

/// A sentence that holds if the whole interval of no ratio of times is above a bar.
fn times_at_most(
    (id, sentence): (&str, &str),
    ratios: &[Number],
    (bar, largest): (f64, &str),
    if_none: &str,
    tested: &str,
) -> Finding {
    let Some(worst) = ratios
        .iter()
        .max_by(|one, other| one.value.total_cmp(&other.value))
    else {
        return Finding::not_testable(id, sentence, if_none);
    };
    let (above, open) = Side::count(ratios, &(0.0..=bar));
    let verdict = Verdict::of_sides(above, open, || {
        format!(
            "the interval of {open} of {} ratios has values on both sides of {bar}, or they are of one trial",
            ratios.len()
        )
    });
    let tested = format!(
        "{tested} in {}; by intervals, above {bar} in {above}, undecided in {open}.",
        counted(ratios.len(), "cell")
    );
    let finding = Finding::judged(id, sentence, verdict, tested);
    finding.numbers([worst.clone().named(largest)]).by_intervals()
}

fn is_scan(cell: &Cell<'_>) -> bool {
    cell.is(&SEARCH_MODE, &SearchMode::Scan)
}

fn vectors_scan(cells: &[Cell<'_>]) -> Finding {
    let is_vector = |cell: &Cell<'_>| is_scan(cell) && !cell.is(&KERNELS, &Kernels::Scalar);
    let is_scalar = |cell: &Cell<'_>| is_scan(cell) && cell.is(&KERNELS, &Kernels::Scalar);
    let ratios = latency_ratios(cells, &[&KERNELS], (is_vector, is_scalar));
    times_at_most(
        (
            "vectors-halve-a-scan",
            "Vector instructions at least halve the time of a scan of dictionary codes.",
        ),
        &ratios,
        (HALF, "largest time ÷ time of plain loops"),
        "no scan was measured with several kernels; the plan column-kernels does so",
        "p50 of the fastest kernels ÷ plain loops",
    )
}

fn codes_beside_text(cells: &[Cell<'_>]) -> Finding {
    let along: [FactorRef; 7] = [
        &FORMAT,
        &INDEX,
        &PROFILE,
        &KERNELS,
        &SEARCH_MODE,
        &THREADS,
        &WITHOUT,
    ];
    let ratios = latency_ratios(cells, &along, (is_scan, is_plain_text));
    times_at_most(
        (
            "codes-scan-faster-than-text",
            "A scan of dictionary codes takes no longer than one of the text.",
        ),
        &ratios,
        (1.0, "largest time ÷ time in plain text"),
        &format!(
            "no search of plain text was measured; a plan with {} = [\"ocol\", \"none\"] does so",
            FORMAT.name
        ),
        "p50 of the fastest scan of codes ÷ scan of text",
    )
}

fn beside_parquet(cells: &[Cell<'_>]) -> Finding {
    let wholes = wholes(cells);
    let compared = wholes.iter().filter_map(|whole| {
        let parquet = whole.sizes.parquet_zstd_bytes?;
        if whole.ocol.value.max(parquet) < LEAST_COLUMN_BYTES {
            return None;
        }
        let ratio = whole.ocol.value / parquet;
        Some((ratio, format!("{} ({ratio:.2} times)", whole.sizes.name)))
    });
    let larger = compared.clone().filter(|(ratio, _)| *ratio > 1.0);
    let larger: Vec<String> = larger.map(|(_, words)| words).collect();
    let meaning = match larger.join(", ").as_str() {
        "" => String::new(),
        larger => {
            format!("Larger as .ocol: {larger}. Parquet with zstd, or the file as it is, takes less there.")
        }
    };
    let finding = at_most(
        "smaller-than-parquet-zstd",
        "No column that takes 64 KiB or more in either of them is larger as .ocol than in Parquet with zstd:3.",
        compared.map(|(ratio, _)| (ratio, 1.0)),
        ("largest column file ÷ Parquet with zstd:3", Unit::Ratio),
        "no whole column of a file that takes 64 KiB or more was compared; column-choice with --data compares",
        |count, above| {
            format!(
                "whole columns compared with the same rows in Parquet in {}; larger in {above}.",
                counted(count, "pair")
            )
        },
    );
    finding.meaning(meaning)
}
