//! `values`: the distinct values with the number of their rows, the most frequent first.

use super::flags::{AnswerFormat, Values};
use super::print::CountedValues;
use super::{Access, of_opened, open};
use crate::output::{Format, note};
use outcrop_report::number::counted;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A value with its rows: ordered by rows, of equal ones the value that comes first in byte order is greater.
type Counted = (u64, Reverse<Option<Vec<u8>>>);

pub(super) fn values(args: &Values) -> anyhow::Result<()> {
    let column = open(&args.file, Access::OnDisk, &args.memory_limit)?;
    let most = args.top.unwrap_or(usize::MAX);
    // The least of those kept is on top, to be dropped first.
    let mut kept: BinaryHeap<Reverse<Counted>> = BinaryHeap::new();
    let (mut value_count, mut has_null) = (0_usize, false);
    // In the order in which equal counts are shown: whoever comes later is not kept.
    for selection in [column.find_null(), column.find_range(..)] {
        let selection = selection.map_err(of_opened)?;
        let counted = selection.for_each_value(|value, rows| {
            if rows == 0 {
                return Ok(());
            }
            // As in `info` and `encode`, null is no value, though its rows are listed.
            match value {
                Some(_) => value_count += 1,
                None => has_null = true,
            }
            let is_full = kept.len() >= most;
            if is_full && kept.peek().is_none_or(|Reverse((least, _))| *least >= rows) {
                return Ok(());
            }
            kept.push(Reverse((rows, Reverse(value.map(<[u8]>::to_vec)))));
            if is_full {
                kept.pop();
            }
            Ok(())
        });
        counted.map_err(of_opened)?;
    }
    let rows = column.row_count();
    let shown = match most < value_count + usize::from(has_null) {
        true => format!("; the {} most frequent are shown", kept.len()),
        false => String::new(),
    };
    note(&format!(
        "{}{} in {}{shown}",
        counted(value_count, "distinct value"),
        if has_null { " and null" } else { "" },
        counted(rows as usize, "row")
    ));
    print(kept, args.format)
}

fn print(kept: BinaryHeap<Reverse<Counted>>, format: Format) -> anyhow::Result<()> {
    let format = match format {
        Format::Text => AnswerFormat::Text,
        Format::Json => AnswerFormat::Json,
        Format::Csv => AnswerFormat::Csv,
    };
    let mut answers = CountedValues::begin(format, "rows_count", None)?;
    for Reverse((rows, Reverse(value))) in kept.into_sorted_vec() {
        answers.push(value.as_deref(), rows)?;
    }
    answers.finish(serde_json::Map::new())
}
