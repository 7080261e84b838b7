//! What columns take and how fast they answer, what to do about it, and how sure that is.

use outcrop_measure::metric::{Metric, Unit};
use outcrop_measure::units::{format_data, format_exact_count, format_ratio};
use outcrop_results::RunView;
use outcrop_schema::FactorRef;
use outcrop_schema::column::{
    ENCODE_SPEED, Index, LATENCY, OPERATION, ORDER, PROFILE, ROWS, SCHEMA, SIZE_OVER_FLOOR, STORED_BYTES,
    TABLE_ROWS,
};
use outcrop_workload::column::{Operation, RowOrder, SearchMode};

use super::advice;
use super::baselines;
use super::cell::{is_file, is_generated, is_plain_file, is_plain_text, is_search};
use super::conditions::{BUILT, OF_ENCODING, OF_SEARCH, OF_SIZE, conditions};
use super::judgement::{Judgement, judge, place};
use super::whole::{Whole, in_file, is_whole, rows_of, total_of, wholes};
use crate::answer::{Absence, Answer, Capability, Caution, Reading};
use crate::cell::{Cell, best};
use crate::command::Commands;
use crate::layer::{cautions, subjects};
use crate::number::Number;
use crate::placement::Bounds;
use crate::ties;

/// Columns of a file that the table names; the figure has them all.
const MOST_ROWS: usize = 6;
/// The columns of the table, besides the user's file.
const AS_OCOL: &str = "as .ocol";
const IN_PARQUET: &str = "Parquet, zstd:3";
const LOOKUP: &str = "rows of a value, p50";

/// The answer of a run with columns.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Answer {
    let is_made = |judgement: &Judgement<'_>| is_generated(judgement.best);
    let (made, of_files): (Vec<_>, Vec<_>) = judge(cells).into_iter().partition(is_made);
    let wholes = wholes(cells);
    let mut subject = format!("columns · {}", subjects(cells));
    if let Some(rows) = rows_of(&wholes) {
        subject += &format!(" · sizes: {rows}");
    }
    let searched = searched_rows(&of_files, &wholes);
    // What the head says of all columns is not repeated in each.
    let is_one = searched.is_some();
    if let Some(rows) = searched {
        subject += &format!(" · speeds: {rows}");
    }
    let (advice, capabilities) = if of_files.is_empty() && wholes.is_empty() {
        let mut capabilities = of_generated(run, cells, &made);
        capabilities.extend(baselines::made_wholes(cells));
        (advice::on_generated(cells, &made), capabilities)
    } else {
        let advice = advice::on_files(&wholes, &of_files, bounds);
        let capabilities = if wholes.is_empty() {
            on_rows(of_files)
        } else {
            on_wholes(&wholes, &of_files, is_one)
        };
        (advice, capabilities)
    };
    Answer {
        subject,
        capabilities,
        advice,
        cautions: cautions(run, &SCHEMA, cells, own_cautions(cells, &wholes)),
    }
}

/// Which rows were encoded and searched, where that is the same for all columns.
fn searched_rows(of_files: &[Judgement<'_>], wholes: &[Whole<'_>]) -> Option<String> {
    let first = of_files.first()?.rows();
    let is_said = rows_of(wholes).as_ref() == Some(&first);
    let is_one = of_files.iter().all(|judgement| judgement.rows() == first);
    (is_one && !is_said).then_some(first)
}

/// What was found of looking up a value.
fn lookup(judgement: Option<&Judgement<'_>>, rows_are_said: bool) -> Reading {
    let found = judgement.and_then(|judgement| {
        let gain = judgement.index.as_ref()?;
        let rows = if rows_are_said {
            String::new()
        } else {
            format!("{}; ", judgement.rows())
        };
        let place = place(gain.mode);
        // The sizes of the row are those without an index, and so is the time.
        let index = match gain.mode {
            SearchMode::InMemory => BUILT,
            SearchMode::OnDisk | SearchMode::Scan => "no index",
        };
        let beside = format!(
            "{rows}{place}, {index}; with postings {} and {} instead of {}",
            gain.with,
            format_data(gain.with_bytes),
            format_data(gain.without_bytes)
        );
        Some((gain.without.clone(), beside))
    });
    let why = judgement.and_then(|judgement| judgement.no_lookup);
    Reading::of(LOOKUP, found, || {
        Absence::recorded_or(why, || "no search".to_owned())
    })
}

/// `dictionary→plain, Snappy` of `in this file (dictionary→plain, Snappy)`, for a column that is called so.
fn form_in(place: &str) -> &str {
    let form = place.split_once('(').and_then(|(_, form)| form.strip_suffix(')'));
    form.unwrap_or(place)
}

/// Whole columns, those that take most of their file first: their size in each form, and how soon rows of a value are found.
fn on_wholes(wholes: &[Whole<'_>], judged: &[Judgement<'_>], rows_are_said: bool) -> Vec<Capability> {
    let is_one = wholes
        .windows(2)
        .all(|pair| pair[0].sizes.rows_in_words() == pair[1].sizes.rows_in_words());
    let in_file = in_file(wholes);
    let row = |whole: &Whole<'_>| {
        let profile = whole.cell.spelling(&PROFILE);
        let rows = if is_one {
            String::new()
        } else {
            format!("; {}", whole.sizes.rows_in_words())
        };
        let ocol = (whole.ocol.clone(), format!("{profile}{rows}"));
        let stored = whole.stored().cloned().zip(whole.sizes.stored.as_ref());
        let stored = stored.map(|(number, (_, place))| (number, form_in(place).to_owned()));
        let unknown = || {
            whole
                .cell
                .unavailable(&STORED_BYTES)
                .unwrap_or("not known")
                .to_owned()
        };
        let encoding = whole.sizes.encoding_in_words().trim_start().to_owned();
        let parquet = whole.parquet().map(|number| (number.clone(), encoding));
        let judged = judged.iter().find(|judgement| whole.is_of_column(judgement.best));
        Capability {
            label: whole.sizes.name.clone(),
            readings: vec![
                Reading::of(in_file, stored, unknown),
                Reading::of(AS_OCOL, Some(ocol), String::new),
                Reading::of(IN_PARQUET, parquet, || "not known".to_owned()),
                lookup(judged, rows_are_said),
            ],
        }
    };
    let total = total(wholes);
    total
        .into_iter()
        .chain(wholes.iter().take(MOST_ROWS).map(row))
        .collect()
}

/// All columns together, where there are several.
fn total(wholes: &[Whole<'_>]) -> Option<Capability> {
    let total = total_of(wholes)?;
    // All of them are named below, or their number is.
    let some = match total.columns.len() == total.table_count {
        true => String::new(),
        false => total.which(),
    };
    let found = |form: &str, bytes: f64, beside: String| {
        let number = Number::derived(format!("{}, {form}", total.name()), bytes, Unit::Bytes, 1);
        (number, beside)
    };
    let of_columns = total.stored_bytes.map(|bytes| (bytes, some.clone()));
    let of_file = total
        .whole_file_bytes()
        .map(|bytes| (bytes, "compressed as a whole".to_owned()));
    let stored = of_columns
        .or(of_file)
        .map(|(bytes, beside)| found(total.place, bytes, beside));
    let unknown = || "the size of one column in the file is unknown".to_owned();
    let ocol = match &stored {
        Some(_) => found(AS_OCOL, total.ocol_bytes, String::new()),
        None => found(AS_OCOL, total.ocol_bytes, some),
    };
    let encoding = total.encoding_in_words().unwrap_or_default();
    let parquet = found(IN_PARQUET, total.parquet_zstd_bytes, encoding);
    Some(Capability {
        label: total.name(),
        readings: vec![
            Reading::of(total.place, stored, unknown),
            Reading::of(AS_OCOL, Some(ocol), String::new),
            Reading::of(IN_PARQUET, Some(parquet), String::new),
            Reading::of(LOOKUP, None, || "each column has its own".to_owned()),
        ],
    })
}

/// Columns of files of which rows were taken, the largest first: the size of those rows, and how soon rows of a value are found.
fn on_rows(mut judged: Vec<Judgement<'_>>) -> Vec<Capability> {
    judged.sort_by(|left, right| right.text_bytes.total_cmp(&left.text_bytes));
    let row = |judgement: Judgement<'_>| {
        let percent = judgement.file.value / judgement.text_bytes * 100.0;
        let digits = usize::from(percent < 10.0);
        let profile = judgement.best.spelling(&PROFILE);
        let beside = judgement.codec.map(|(codec, bytes)| {
            let ratio = format_ratio(judgement.file.value / bytes);
            format!(", {ratio} × {codec}")
        });
        let size = format!(
            "{profile}, {percent:.digits$} % of its text{}; {}",
            beside.unwrap_or_default(),
            judgement.rows()
        );
        Capability {
            readings: vec![
                Reading::of("size", Some((judgement.file.clone(), size)), String::new),
                lookup(Some(&judgement), false),
            ],
            label: judgement.words,
        }
    };
    judged.into_iter().take(MOST_ROWS).map(row).collect()
}

/// What was measured of columns that no file of the user's was judged by: made ones, or the user's own of which too little was measured.
fn of_generated(run: &RunView, cells: &[Cell<'_>], made: &[Judgement<'_>]) -> Vec<Capability> {
    let whose = if cells.iter().any(is_generated) {
        "generated columns"
    } else {
        "your columns"
    };
    let in_random_order = |cell: &&Cell<'_>| is_plain_file(cell) && cell.is(&ORDER, &RowOrder::Random);
    let sizes = cells.iter().filter(in_random_order);
    let largest = sizes
        .filter_map(|cell| Some((cell, cell.number(&SIZE_OVER_FLOOR)?)))
        .max_by(|left, right| left.1.value.total_cmp(&right.1.value));
    let is_encoded = |cell: &&Cell<'_>| is_file(cell);
    let lookup = |mode, indexes: &'static [Index]| {
        move |cell: &&Cell<'_>| is_search(cell, Operation::Equality, mode, indexes)
    };
    let in_text = |cell: &&Cell<'_>| is_plain_text(cell) && cell.is(&OPERATION, &Operation::Equality);
    let (encode, find) = ((&ENCODE_SPEED, OF_ENCODING), (&LATENCY.p50, OF_SEARCH));
    let rows = [
        ("Fastest encode", fastest(cells, is_encoded, encode)),
        (
            "Rows of a value, in memory",
            // A file that lacks postings gets them when it is loaded.
            fastest(cells, lookup(SearchMode::InMemory, &Index::ALL), find),
        ),
        (
            "Rows of a value, cached file",
            fastest(cells, lookup(SearchMode::OnDisk, &[Index::Postings]), find),
        ),
        (
            "Rows of a value, by scan",
            fastest(cells, lookup(SearchMode::Scan, &Index::ALL), find),
        ),
        ("Rows of a value, in plain text", fastest(cells, in_text, find)),
        ("Largest size ÷ text under a codec", over_codecs(made)),
        (
            "Largest size ÷ floor",
            largest.map(|(cell, number)| (number.clone(), conditions(cell, cells, OF_SIZE))),
        ),
    ];
    // What no plan of the run asks for is not missing; a run without any of it says where it would come from.
    let has_other = cells.iter().any(is_whole) || rows.iter().any(|(_, found)| found.is_some());
    let rows = rows
        .into_iter()
        .filter(|(_, found)| found.is_some() || !has_other);
    let row = |(label, found): (&str, Option<(Number, String)>)| {
        let if_missing = || {
            let command = Commands::of(run).plans(&["column-encode", "column-search"], &[&SCHEMA]);
            format!("`{command}` measures it")
        };
        let readings = vec![Reading::of(whose, found, if_missing)];
        let label = label.to_owned();
        Capability { label, readings }
    };
    rows.map(row).collect()
}

/// The best of the cells that are wanted, where it was reached, and with how many others it ties.
fn fastest(
    cells: &[Cell<'_>],
    is_wanted: impl Fn(&&Cell<'_>) -> bool,
    (metric, deciding): (&Metric, &[FactorRef]),
) -> Option<(Number, String)> {
    let wanted: Vec<&Cell<'_>> = cells.iter().filter(is_wanted).collect();
    let (cell, number) = best(wanted.iter().copied(), metric)?;
    let ties = ties::beside(&wanted, cell, metric);
    Some((number.clone(), conditions(cell, cells, deciding) + &ties))
}

/// The column that gains least over a general compressor: its smallest file over its text under the smallest codec.
fn over_codecs(made: &[Judgement<'_>]) -> Option<(Number, String)> {
    let compared = made
        .iter()
        .filter_map(|judgement| Some((judgement.over_codec()?, &judgement.words)));
    let ((ratio, codec), words) = compared.max_by(|left, right| left.0.0.total_cmp(&right.0.0))?;
    let name = format!("smallest column file ÷ text under {codec}");
    Some((
        Number::derived(name, ratio, Unit::Ratio, 1),
        format!("{codec}; {words}"),
    ))
}

/// What limits the answer about columns in addition to what limits that of every layer.
fn own_cautions(cells: &[Cell<'_>], wholes: &[Whole<'_>]) -> Vec<Caution> {
    // A table that does not say how many rows it has may have more than were taken.
    let is_limited = |cell: &&Cell<'_>| {
        let is_cut = cell
            .place(&ROWS)
            .is_some_and(|asked| cell.value(&TABLE_ROWS).is_none_or(|all| all > asked));
        is_cut && !is_generated(cell) && !is_whole(cell)
    };
    let limited = cells.iter().find(is_limited).map(|cell| {
        let rows = format_exact_count(cell.place(&ROWS).map_or(0, |rows| rows as u64));
        format!(
            "Speeds were measured on at most the first {rows} rows of each column; later rows may differ."
        )
    });
    let parts: Vec<String> = wholes
        .iter()
        .filter(|whole| !whole.sizes.has_all_rows())
        .map(|whole| format!("{} ({})", whole.sizes.name, whole.sizes.rows_in_words()))
        .collect();
    let partly = (!parts.is_empty()).then(|| {
        format!(
            "Columns longer than the limit of text were compared by their first rows: {}.",
            parts.join(", ")
        )
    });
    let searches =
        "Searches look up values drawn uniformly from the distinct ones, one at a time, in one thread.";
    let cautions = partly.into_iter().chain(limited).chain([searches.to_owned()]);
    cautions.map(Caution::note).collect()
}
