//! What columns take and how fast they answer, what to do about it, and how sure that is.

use outcrop_measure::units::format_ratio;
use outcrop_results::RunView;
use outcrop_schema::column::{
    ENCODE_SPEED, Index, LATENCY, ORDER, PROFILE, ROWS, Rows, SCHEMA, SIZE_OVER_FLOOR,
};
use outcrop_workload::column::{Operation, RowOrder, SearchMode};

use super::advice;
use super::cell::{column_words, is_generated, is_plain_file, is_search};
use super::judgement::{Judgement, judge};
use crate::answer::{Answer, Capability, Caution, Reading};
use crate::cell::{Cell, best};
use crate::layer::{cautions, subjects};
use crate::number::Number;

/// Columns of a file that the table names; the figure has them all.
const MOST_ROWS: usize = 6;

/// The answer of a run with columns.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let is_made = |judgement: &Judgement<'_>| is_generated(judgement.best);
    let (made, of_files): (Vec<_>, Vec<_>) = judge(cells).into_iter().partition(is_made);
    let (advice, capabilities) = if of_files.is_empty() {
        (advice::on_generated(cells, &made), of_generated(cells))
    } else {
        (advice::on_files(&of_files), on_files(of_files))
    };
    Answer {
        subject: format!("string columns · {}", subjects(cells)),
        capabilities,
        advice,
        cautions: cautions(run, &SCHEMA, cells, own_cautions(cells)),
    }
}

/// The columns of files, the largest first: their size, and how soon rows of a value are found.
fn on_files(mut judged: Vec<Judgement<'_>>) -> Vec<Capability> {
    judged.sort_by(|left, right| right.text_bytes.total_cmp(&left.text_bytes));
    let row = |judgement: Judgement<'_>| {
        let share = format_ratio(judgement.text_bytes / judgement.file.value);
        let size = format!("{}, 1/{share} of text", judgement.best.spelling(&PROFILE));
        let lookup = judgement.index.map(|gain| {
            let beside = format!("postings; by scan {}", gain.without);
            (gain.with.clone(), beside)
        });
        Capability {
            label: judgement.words,
            readings: vec![
                Reading::of("size", Some((judgement.file.clone(), size)), String::new),
                Reading::of("rows of a value, p50", lookup, || "no search".to_owned()),
            ],
        }
    };
    judged.into_iter().take(MOST_ROWS).map(row).collect()
}

fn of_generated(cells: &[Cell<'_>]) -> Vec<Capability> {
    let in_random_order = |cell: &&Cell<'_>| is_plain_file(cell) && cell.is(&ORDER, &RowOrder::Random);
    let sizes = cells.iter().filter(in_random_order);
    let largest = sizes
        .filter_map(|cell| Some((cell, cell.number(&SIZE_OVER_FLOOR)?)))
        .max_by(|left, right| left.1.value.total_cmp(&right.1.value));
    let lookup = |mode, indexes: &[Index]| {
        let is_wanted = |cell: &&Cell<'_>| is_search(cell, Operation::Equality, mode, indexes);
        best(cells.iter().filter(is_wanted), &LATENCY.p50)
    };
    let in_file = |mode| lookup(mode, &[Index::Postings]);
    let (in_memory, on_disk) = (in_file(SearchMode::InMemory), in_file(SearchMode::OnDisk));
    let rows = [
        ("Largest size ÷ floor", largest),
        ("Fastest encode", best(cells, &ENCODE_SPEED)),
        ("Rows of a value, in memory", in_memory),
        ("Rows of a value, on disk", on_disk),
        ("Rows of a value, by scan", lookup(SearchMode::Scan, &Index::ALL)),
    ];
    let row = |(label, found): (&str, Option<(&Cell<'_>, &Number)>)| {
        let found = found.map(|(cell, number)| (number.clone(), column_words(cell)));
        let (label, if_missing) = (label.to_owned(), || "see the column- plans".to_owned());
        let readings = vec![Reading::of("generated columns", found, if_missing)];
        Capability { label, readings }
    };
    rows.map(row).into()
}

/// What limits the answer about columns beside what limits that of every layer.
fn own_cautions(cells: &[Cell<'_>]) -> Vec<Caution> {
    let is_limited = |cell: &&Cell<'_>| !is_generated(cell) && !cell.is(&ROWS, &Rows::All);
    let limited = cells.iter().find(is_limited).map(|cell| {
        let rows = cell.spelling(&ROWS);
        format!("Of each column at most the first {rows} rows were taken; later ones may be of another kind.")
    });
    let searches =
        "Searches ask for values drawn uniformly from the distinct ones, one at a time, in one thread.";
    let cautions = limited.into_iter().chain([searches.to_owned()]);
    cautions.map(Caution::note).collect()
}
