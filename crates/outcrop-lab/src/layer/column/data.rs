//! Which of the user's columns are measured: those that take most of their file first.

use outcrop_column_bench::tabular::{Table, TableColumn, TableFormat};
use outcrop_measure::units::format_data;
use outcrop_schema::column::{DELIMITER, HEADER, arguments};
use outcrop_schema::{Setting, Settings};
use outcrop_workload::word::quoted;

/// Columns that one run takes: each makes several cells.
const MOST_COLUMNS: usize = 24;
/// Columns left out that are named.
const NAMED: usize = 6;

/// Some names, and how many more there are.
pub(super) fn named(names: &[String]) -> String {
    let (some, more) = names.split_at(names.len().min(NAMED));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", some.join(", "))
}

/// The columns that are not compared, and how much of the file that is; none where there are none.
pub(super) fn others(table: &Table) -> Option<String> {
    let names = table.other_columns();
    let extent = table.others_extent().map_or_else(String::new, |(bytes, share)| {
        format!(
            ", which take {}, {:.0} % of what all columns take in the file",
            format_data(bytes as f64),
            share * 100.0
        )
    });
    (!names.is_empty()).then(|| format!("{}{extent}", named(&names)))
}

/// What is true of all columns that are left out: those of numbers in text could be compared.
pub(super) const fn why_left_out(table: &Table) -> &'static str {
    match table.format {
        TableFormat::Parquet | TableFormat::Arrow => "cannot be compared as text",
        _ => "do not hold text",
    }
}

/// What is said of how the table is read, as the words of a command, each with a blank before it.
pub(super) fn flags(form: &Settings) -> String {
    let said = |name: &str| form.setting(name).map(Setting::spelling);
    let words = arguments(said).into_iter();
    words.map(|word| format!(" {}", quoted(&word))).collect()
}

/// The command that compares columns of numbers in text all the same, or says what those of Parquet take with zstd, in parentheses with a blank
/// before them; empty for any other input.
pub(super) fn others_compared(table: &Table, form: &Settings) -> String {
    match table.format {
        TableFormat::Delimited { .. } => format!(
            " (`outcrop column encode FILE{} --all-columns -o DIRECTORY/` compares them)",
            flags(form)
        ),
        TableFormat::Parquet => {
            " (`outcrop column encode FILE --all-columns -o DIRECTORY/` gives what each takes in Parquet with zstd:3)"
                .to_owned()
        }
        _ => String::new(),
    }
}

/// The columns that are measured, the largest in the file first, and what is said about the choice: how the table is read, columns
/// beyond the limit, columns that cannot be compared, and tables that cannot be read.
pub(super) fn chosen(table: &Table, form: &Settings) -> (Vec<String>, Option<String>) {
    let mut judged: Vec<&TableColumn> = table.judged_columns().collect();
    // Equal ones stay in the order of the file.
    judged.sort_by_key(|column| std::cmp::Reverse(column.extent.file_bytes));
    let mut taken: Vec<String> = judged.into_iter().map(|column| column.name.clone()).collect();
    let rest = taken.split_off(taken.len().min(MOST_COLUMNS));
    let mut parts = Vec::new();
    if table.format == TableFormat::Lines {
        parts.push(
            "assumes lines of text, each one value (it reads fields from a file or link whose name ends in .csv, .tsv or .psv)"
                .to_owned(),
        );
    }
    let is_found = !form.has(&DELIMITER) || !form.has(&HEADER);
    let assumed = table.assumed().filter(|_| is_found);
    parts.extend(assumed.map(|assumed| format!("assumes {assumed}")));
    if !rest.is_empty() {
        parts.push(format!(
            "takes the {MOST_COLUMNS} largest of {} columns and leaves out {}",
            taken.len() + rest.len(),
            named(&rest)
        ));
    }
    if let Some(others) = others(table) {
        parts.push(format!(
            "leaves out columns that {}: {others}{}",
            why_left_out(table),
            others_compared(table, form)
        ));
    }
    if !table.left_out.is_empty() {
        parts.push(format!(
            "leaves out what it cannot read: {}",
            table.left_out.join("; ")
        ));
    }
    (taken, (!parts.is_empty()).then(|| parts.join(", and ")))
}
