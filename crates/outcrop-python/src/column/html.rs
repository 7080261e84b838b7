//! A column in a notebook: what it holds and what it takes.

use std::path::Path;

use maud::html;
use outcrop_column::ColumnReport;
use outcrop_measure::units::{format_data, format_ratio};

pub(super) fn column(path: &Path, report: &ColumnReport) -> String {
    let sum = |of: fn(&outcrop_column::SegmentReport) -> u64| report.segments.iter().map(of).sum::<u64>();
    let text_bytes = sum(|segment| segment.text_bytes);
    // Of several segments the distinct values are counted in each, so that their sum is no count of the column's.
    let distinct = match &report.segments[..] {
        [only] => only.value_count.to_string(),
        _ => "–".to_owned(),
    };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let rows = [
        ("rows", report.row_count.to_string()),
        ("distinct values", distinct),
        ("nulls", sum(|segment| segment.null_count).to_string()),
        ("text", format_data(text_bytes as f64)),
        ("file", format_data(report.file_bytes as f64)),
        (
            "text ÷ file",
            format_ratio(text_bytes as f64 / report.file_bytes as f64),
        ),
    ];
    let markup = html! {
        table {
            caption { "Column " code { (name) } }
            tbody { @for (what, value) in &rows { tr { th scope="row" { (what) } td { (value) } } } }
        }
    };
    markup.into_string()
}
