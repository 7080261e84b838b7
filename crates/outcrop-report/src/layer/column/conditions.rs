//! Where a figure of columns was reached: what was chosen of all that decides it, and the column.

use outcrop_schema::FactorRef;
use outcrop_schema::column::{
    FORMAT, INDEX, Index, KERNELS, OPERATION, PROFILE, SEARCH_MODE, THREADS, WITHOUT, Without,
};
use outcrop_workload::column::SearchMode;

use super::cell::{column_words, columns};
use crate::cell::Cell;
use crate::number::counted;

/// What decides how fast a column is encoded, besides the column.
pub(super) const OF_ENCODING: &[FactorRef] = &[&THREADS, &INDEX, &PROFILE, &WITHOUT, &KERNELS];
/// What decides how soon rows are found. A scan reads the codes, whichever index the file has, but it was timed in one of the files.
pub(super) const OF_SEARCH: &[FactorRef] = &[&INDEX, &PROFILE, &WITHOUT, &KERNELS];
/// What decides how large a file is.
pub(super) const OF_SIZE: &[FactorRef] = &[&INDEX, &PROFILE, &WITHOUT];

/// A file without an index that is searched in memory: lookups there are of postings all the same, and faster than of those in a file, which are
/// compressed lists that each lookup decodes. A line without room for all of it keeps what stands before the first comma.
pub(super) const BUILT: &str = "no index, postings built in memory as plain row numbers";

/// Those of the deciding factors that are unusual or that the run varies, then the column: `postings, 1 M rows, 10 k words, skew 0`. The
/// factors come first, as a line without room for all of it keeps its beginning.
pub(super) fn conditions(cell: &Cell<'_>, cells: &[Cell<'_>], deciding: &[FactorRef]) -> String {
    let is_alike = |other: &&Cell<'_>| {
        let same = [&OPERATION as FactorRef, &SEARCH_MODE, &FORMAT];
        same.iter()
            .all(|factor| other.spelling(factor.about()) == cell.spelling(factor.about()))
    };
    let alike: Vec<&Cell<'_>> = cells.iter().filter(is_alike).collect();
    let is_said = |factor: &&FactorRef| {
        let value = cell.spelling(factor.about());
        let varies = alike.iter().any(|other| other.spelling(factor.about()) != value);
        let is_built = factor.name == INDEX.name && builds_postings(cell);
        varies || is_built || !cell.is_default(factor.about())
    };
    let settings = deciding.iter().filter(is_said);
    let mut parts: Vec<String> = settings.filter_map(|factor| in_words(cell, *factor)).collect();
    let column = columns(alike.iter().copied())
        .into_iter()
        .find(|(_, its)| its.iter().any(|one| std::ptr::eq(*one, cell)));
    parts.push(column.map_or_else(|| column_words(cell), |(words, _)| words));
    parts.join(", ")
}

/// Whether postings that its file lacks were built before it was searched.
fn builds_postings(cell: &Cell<'_>) -> bool {
    cell.is(&INDEX, &Index::None) && cell.is(&SEARCH_MODE, &SearchMode::InMemory)
}

/// The value of a factor as it stands beside a figure; none where the cell does not have it.
fn in_words(cell: &Cell<'_>, factor: FactorRef) -> Option<String> {
    let spelled = Some(cell.spelling(factor.about())).filter(|value| !value.is_empty())?;
    let words = match factor.name {
        name if name == THREADS.name => counted(*cell.get(&THREADS)? as usize, "thread"),
        name if name == INDEX.name => match cell.get(&INDEX)? {
            Index::None if builds_postings(cell) => BUILT.to_owned(),
            Index::None => "no index".to_owned(),
            Index::Postings => "postings".to_owned(),
            Index::Only => "postings only".to_owned(),
        },
        name if name == WITHOUT.name => match cell.get(&WITHOUT)? {
            Without::Nothing => "all techniques".to_owned(),
            Without::All => "without all techniques".to_owned(),
            _ => format!("without {spelled}"),
        },
        name if name == KERNELS.name => format!("{spelled} kernels"),
        _ => format!("{} {spelled}", factor.words()),
    };
    Some(words)
}
