//! `info` and `verify`: what a file holds, and whether it is sound.

use super::flags::Described;
use super::print::{SHUFFLED, bytes, count};
use super::{of_column, open};
use crate::exit::{Ending, bad_input};
use crate::output::{Cell, Table, note};
use crate::work::LongWork;

pub(super) fn describe(described: &Described) -> anyhow::Result<()> {
    let report = open(&described.file)?.report().map_err(of_column)?;
    let mut table = Table::new([
        ("segment", "segment"),
        ("what", "what"),
        ("name", "name"),
        ("value", "value"),
    ]);
    if let Some(packed) = report.packed {
        let mut push = |what: &str, name: &str, cell| {
            table.push(vec![Cell::text("file"), Cell::text(what), Cell::text(name), cell]);
        };
        push("form", "packed", Cell::text(packed.form.name()));
        push("size", "file", bytes(report.file_bytes));
        push("size", "unpacked, in memory", bytes(packed.memory_bytes));
    }
    for (number, segment) in (0_u64..).zip(&report.segments) {
        let mut push = |what: &str, name: &str, cell| {
            table.push(vec![count(number), Cell::text(what), Cell::text(name), cell]);
        };
        push("count", "rows", count(segment.row_count));
        push("count", "distinct values", count(segment.value_count));
        push("count", "nulls", count(segment.null_count));
        push("size", "text", bytes(segment.text_bytes));
        push("size", SHUFFLED, bytes(segment.floor_bytes));
        for (name, &size) in &segment.section_bytes {
            push("section", name, bytes(size));
        }
        for (name, encoding) in &segment.encodings {
            push("blocks", name, count(encoding.block_count));
            push("block bytes", name, bytes(encoding.bytes));
        }
    }
    table.print(described.format)
}

pub(super) fn verify(described: &Described) -> anyhow::Result<Ending> {
    let work = LongWork::on_stderr();
    let mut column = open(&described.file)?;
    work.watch(&mut column, "checking");
    let report = column.verify().map_err(of_column)?;
    drop(work);
    let mut table = Table::new([("damage", "damage")]);
    report
        .damage
        .iter()
        .for_each(|damage| table.push(vec![Cell::text(damage.to_string())]));
    if report.damage.is_empty() {
        note(&format!("{} rows, no damage", report.row_count));
        return Ok(Ending::Done);
    }
    table.print(described.format)?;
    Err(bad_input(anyhow::anyhow!(
        "{} is damaged in {} places",
        described.file.display(),
        report.damage.len()
    )))
}
