//! What dictionary, postings, vector instructions and each technique are worth, said in a sentence each.

use outcrop_measure::metric::Unit;
use outcrop_schema::column::{
    FILE_BYTES, Index, KERNELS, Kernels, LATENCY, OPERATION, PARQUET_ZSTD_BYTES, WITHOUT, Without,
};
use outcrop_workload::column::{Operation, SearchMode};

use super::cell::{column_key, column_words, is_generated, is_plain_text, searches};
use super::whole::is_whole;
use crate::answer::{Capability, Claim, Reading};
use crate::cell::{Cell, families};
use crate::finding::as_sentence;
use crate::number::Number;

/// What each was found to be worth; nothing of what was not measured.
pub(super) fn claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    let claims = [kernels_claim(cells), techniques_claim(cells)];
    claims.into_iter().flatten().collect()
}

/// Rows of a value in one column: text, codes by plain loops, codes by the fastest kernels, postings.
fn kernels_claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let has_scalar = |cell: &&Cell<'_>| {
        is_lookup(cell, SearchMode::Scan, Index::None) && cell.is(&KERNELS, &Kernels::Scalar)
    };
    let scalar_cell = cells.iter().find(has_scalar)?;
    let of_column = || {
        cells
            .iter()
            .filter(|cell| column_key(cell) == column_key(scalar_cell))
    };
    let fastest = |mode, index| {
        let timed = of_column().filter(move |cell| is_lookup(cell, mode, index));
        let timed = timed.filter_map(|cell| Some((cell, cell.number(&LATENCY.p50)?)));
        timed.min_by(|left, right| left.1.value.total_cmp(&right.1.value))
    };
    let scalar = scalar_cell.number(&LATENCY.p50)?;
    let (vector_cell, vector) = fastest(SearchMode::Scan, Index::None)?;
    let is_text = |cell: &&Cell<'_>| is_plain_text(cell) && cell.is(&OPERATION, &Operation::Equality);
    let text = of_column()
        .find(is_text)
        .and_then(|cell| cell.number(&LATENCY.p50));
    let postings = fastest(SearchMode::InMemory, Index::Postings).map(|(_, number)| number);
    let kernels = vector_cell.spelling(&KERNELS);
    let times = |slow: &Number, fast: &Number| match slow.value / fast.value {
        many @ 10.0.. => format!("{many:.0} times"),
        few => format!("{few:.1} times"),
    };
    let mut brief = format!(
        "a scan of codes is {} as fast with {kernels} as with plain loops",
        times(scalar, vector)
    );
    let mut numbers = vec![
        scalar.clone().named("scan of codes, plain loops, p50"),
        vector.clone().named(format!("scan of codes, {kernels}, p50")),
    ];
    for (number, name) in [(text, "scan of the text"), (postings, "postings")] {
        numbers.extend(number.map(|number| number.clone().named(format!("{name}, p50"))));
    }
    if let Some(text) = text {
        brief += &format!(", and {} as fast as a scan of the text", times(text, vector));
        if let Some(postings) = postings {
            brief += &format!("; postings are {} as fast as that scan", times(text, postings));
        }
    }
    let sentence = format!(
        "For the rows of a value in {}, {brief}",
        column_words(scalar_cell)
    );
    Some(Claim::new("Kernels", brief, as_sentence(&sentence), numbers))
}

fn is_lookup(cell: &Cell<'_>, mode: SearchMode, index: Index) -> bool {
    searches(cell, Operation::Equality, mode, &[index])
}

/// The most that each technique saves of any file.
fn techniques_claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let encodes = cells
        .iter()
        .filter(|cell| cell.is(&OPERATION, &Operation::Encode));
    let of_column = families(encodes, &[&WITHOUT]);
    let size = |files: &[&Cell<'_>], without: Without| {
        let file = files.iter().find(|file| file.is(&WITHOUT, &without))?;
        file.value(&FILE_BYTES)
    };
    let saving = |without: Without| {
        let parts = of_column.iter().filter_map(|files| {
            let (whole, larger) = (size(files, Without::Nothing)?, size(files, without)?);
            Some(((1.0 - whole / larger) * 100.0, column_words(files[0])))
        });
        let most = parts.max_by(|left, right| left.0.total_cmp(&right.0))?;
        Some((without, most.0, most.1))
    };
    let left_out = Without::ALL
        .into_iter()
        .filter(|without| *without != Without::Nothing);
    let mut savings: Vec<_> = left_out.filter_map(saving).collect();
    savings.sort_by(|left, right| right.1.total_cmp(&left.1));
    let name = |without: Without| match without {
        Without::All => "all together".to_owned(),
        other => other.to_string(),
    };
    let parts: Vec<String> = savings
        .iter()
        .map(|(without, percent, _)| format!("{} {percent:.1} %", name(*without)))
        .collect();
    let most = savings.first()?;
    let brief = format!("save at most this much of a file: {}", parts.join(", "));
    let text = format!("The techniques {brief}. The most was saved on {}.", most.2);
    let number = |(without, percent, _): &(Without, f64, String)| {
        let ratio = 1.0 - percent / 100.0;
        Number::derived(
            format!("file with ÷ without {}, at least", name(*without)),
            ratio,
            Unit::Ratio,
            of_column.len(),
        )
    };
    let numbers = savings.iter().map(number).collect();
    Some(Claim::new("Techniques", brief, text, numbers))
}

/// Whole columns that were made: what each takes as a column file and in Parquet.
pub(super) fn made_wholes(cells: &[Cell<'_>]) -> Vec<Capability> {
    let made = cells.iter().filter(|cell| is_whole(cell) && is_generated(cell));
    let row = |cell: &Cell<'_>| {
        let reading = |label: &str, metric| {
            let found = cell.number(metric).map(|number| (number.clone(), String::new()));
            Reading::of(label, found, || "not known".to_owned())
        };
        Capability {
            label: column_words(cell),
            readings: vec![
                reading("as .ocol", &FILE_BYTES),
                reading("Parquet, zstd:3", &PARQUET_ZSTD_BYTES),
            ],
        }
    };
    made.map(row).collect()
}
