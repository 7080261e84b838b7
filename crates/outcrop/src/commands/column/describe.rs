//! `info` and `verify`: what a file holds, and whether it is sound.

use super::flags::Described;
use super::print::{Figure, SHUFFLED, bytes_with_unit, count_with_unit, word};
use super::{Access, of_column, of_opened, open};
use crate::exit::{Ending, bad_input};
use crate::output::{Cell, Format, Table, harmless_line, note};
use crate::work::LongWork;
use outcrop_report::number::counted;
use std::borrow::Cow;

pub(super) fn describe(described: &Described) -> anyhow::Result<()> {
    let report = open(&described.file, Access::OnDisk, &described.memory_limit)?
        .report()
        .map_err(of_opened)?;
    let mut table = Table::new([
        ("segment", "segment"),
        ("what", "what"),
        ("name", "name"),
        ("value", "value"),
        ("", "unit"),
    ]);
    if let Some(packed) = report.packed {
        let mut push = |what: &str, name: &str, [figure, unit]: Figure| {
            table.push(vec![
                Cell::text("file"),
                Cell::text(what),
                Cell::text(name),
                figure,
                unit,
            ]);
        };
        push("form", "packed", word(packed.form.name()));
        push("size", "file", bytes_with_unit(report.file_bytes));
        push(
            "size",
            "unpacked, in memory",
            bytes_with_unit(packed.memory_bytes),
        );
    }
    if let Some(name) = &report.name {
        let [figure, unit] = word(&shown(name, described.format));
        let cells = ["file", "column", "name"].map(Cell::text);
        table.push(cells.into_iter().chain([figure, unit]).collect());
    }
    for (number, segment) in (0_u64..).zip(&report.segments) {
        let mut push = |what: &str, name: &str, [figure, unit]: Figure| {
            let segment = Cell::text(number.to_string());
            table.push(vec![segment, Cell::text(what), Cell::text(name), figure, unit]);
        };
        push("count", "rows", count_with_unit(segment.row_count));
        push("count", "distinct values", count_with_unit(segment.value_count));
        push("count", "nulls", count_with_unit(segment.null_count));
        push("size", "text", bytes_with_unit(segment.text_bytes));
        push("size", SHUFFLED, bytes_with_unit(segment.floor_bytes));
        for (name, &size) in &segment.section_bytes {
            push("section", name, bytes_with_unit(size));
        }
        for (name, encoding) in &segment.encodings {
            push("blocks", name, count_with_unit(encoding.block_count));
            push("block bytes", name, bytes_with_unit(encoding.bytes));
        }
    }
    table.print(described.format)
}

/// A name as a terminal may show it: a file that somebody else made does not steer the terminal.
fn shown(name: &str, format: Format) -> Cow<'_, str> {
    match format {
        Format::Text => harmless_line(name),
        _ => name.into(),
    }
}

pub(super) fn verify(described: &Described) -> anyhow::Result<Ending> {
    let work = LongWork::on_stderr();
    let mut column = open(&described.file, Access::OnDisk, &described.memory_limit)?;
    work.watch(&mut column, "checking");
    let report = column.verify().map_err(of_column)?;
    drop(work);
    let mut table = Table::new([("damage", "damage")]);
    report
        .damage
        .iter()
        .for_each(|damage| table.push(vec![Cell::text(damage.to_string())]));
    if report.damage.is_empty() {
        note(&format!(
            "{}, no damage",
            counted(report.row_count as usize, "row")
        ));
        // For programs, that there is no damage is an answer too: a table without rows.
        if described.format != Format::Text {
            table.print(described.format)?;
        }
        return Ok(Ending::Done);
    }
    table.print(described.format)?;
    Err(bad_input(anyhow::anyhow!(
        "{} is damaged in {}",
        described.file.display(),
        counted(report.damage.len(), "place")
    )))
}
