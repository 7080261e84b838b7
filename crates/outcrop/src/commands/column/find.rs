//! `find` and `get`: rows by value, and values by row.

use super::flags::{AnswerFormat, Find, Get, MemoryFlag};
use super::print::{Answers, Field, refuse_terminal};
use super::{of_column, open};
use crate::exit::bad_input;
use crate::output::note;
use anyhow::Context as _;
use outcrop_column::arrow::{batch_of_rows, batch_of_values, write_batch};
use outcrop_column::{Column, ColumnError, Selection};
use std::ops::Bound;

/// What a compiled expression may take; a larger one is refused instead of eating memory.
const REGEX_BYTES: usize = 4 << 20;

pub(super) fn find(args: &Find) -> anyhow::Result<()> {
    let wanted = Wanted::of(args)?;
    refuse_terminal(args.format == AnswerFormat::Arrow)?;
    let column = match args.memory {
        MemoryFlag::InMemory => open(&args.file)?,
        MemoryFlag::OnDisk => Column::open_on_disk(&args.file)
            .map_err(of_column)
            .with_context(|| format!("cannot open {}", args.file.display()))?,
    };
    let selections = wanted.select(&column).map_err(of_column)?;
    if args.values {
        print_values(&selections, args)
    } else {
        print_rows(&selections, args)
    }
}

/// What is looked for.
enum Wanted<'a> {
    Values(&'a [String]),
    Prefix(&'a str),
    Range(Bound<&'a [u8]>, Bound<&'a [u8]>),
    Regex(regex::bytes::Regex),
    Null,
}

impl<'a> Wanted<'a> {
    fn of(args: &'a Find) -> anyhow::Result<Self> {
        if args.is_null {
            return Ok(Self::Null);
        }
        if let Some(prefix) = &args.prefix {
            return Ok(Self::Prefix(prefix));
        }
        if let Some(range) = &args.range {
            let (start, end) = range.split_once("..").ok_or_else(|| {
                bad_input(anyhow::anyhow!(
                    "range {range:?}: A..B is expected, such as b..d, ..d or b.. (from A on and below B)"
                ))
            })?;
            let start = Some(start.as_bytes()).filter(|start| !start.is_empty());
            let end = Some(end.as_bytes()).filter(|end| !end.is_empty());
            return Ok(Self::Range(
                start.map_or(Bound::Unbounded, Bound::Included),
                end.map_or(Bound::Unbounded, Bound::Excluded),
            ));
        }
        if let Some(expression) = &args.regex {
            let compiled = regex::bytes::RegexBuilder::new(expression)
                .size_limit(REGEX_BYTES)
                .dfa_size_limit(REGEX_BYTES)
                .build();
            return Ok(Self::Regex(compiled.map_err(bad_input)?));
        }
        if args.value.is_empty() {
            return Err(bad_input(anyhow::anyhow!(
                "nothing to find: give values, --prefix, --range A..B, --regex or --is-null"
            )));
        }
        Ok(Self::Values(&args.value))
    }

    fn select<'c>(&self, column: &'c Column) -> Result<Vec<Selection<'c>>, ColumnError> {
        Ok(match self {
            Self::Values(values) => values
                .iter()
                .map(|value| column.find(value.as_bytes()))
                .collect::<Result<_, _>>()?,
            Self::Prefix(prefix) => vec![column.find_prefix(prefix.as_bytes())?],
            Self::Range(start, end) => vec![column.find_range((*start, *end))?],
            Self::Regex(regex) => vec![column.matching(|value| regex.is_match(value))?],
            Self::Null => vec![column.find_null()?],
        })
    }
}

fn print_rows(selections: &[Selection<'_>], args: &Find) -> anyhow::Result<()> {
    if args.count {
        let counts = selections.iter().map(Selection::count);
        let total = counts.sum::<Result<u64, _>>().map_err(of_column)?;
        let mut answers = Answers::begin(args.format, ["rows"], None)?;
        answers.push([Field::Number(total)])?;
        return answers.finish();
    }
    let mut rows = Vec::new();
    for selection in selections {
        rows.append(&mut selection.rows().map_err(of_column)?);
    }
    if selections.len() > 1 {
        rows.sort_unstable();
        rows.dedup();
    }
    note(&format!("{} rows", rows.len()));
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    if args.format == AnswerFormat::Arrow {
        let batch = batch_of_rows(rows).map_err(of_column)?;
        return write_batch(&batch, std::io::stdout().lock()).map_err(of_column);
    }
    let mut answers = Answers::begin(args.format, ["row"], None)?;
    for row in rows {
        answers.push([Field::Number(row)])?;
    }
    answers.finish()
}

fn print_values(selections: &[Selection<'_>], args: &Find) -> anyhow::Result<()> {
    let limit = args.limit.unwrap_or(usize::MAX);
    if args.format == AnswerFormat::Arrow {
        let batch = batch_of_values(selections, limit).map_err(of_column)?;
        return write_batch(&batch, std::io::stdout().lock()).map_err(of_column);
    }
    // People read the count first, as `uniq -c` has it; programs go by the names.
    let is_text = args.format == AnswerFormat::Text;
    let names = if is_text {
        ["rows", "value"]
    } else {
        ["value", "rows"]
    };
    let mut answers = Answers::begin(args.format, names, args.limit)?;
    for selection in selections {
        selection
            .for_each_value(|value, rows| {
                let (value, rows) = (Field::Value(value), Field::Number(rows));
                Ok(answers.push(if is_text { [rows, value] } else { [value, rows] })?)
            })
            .map_err(of_column)?;
        if answers.is_full() {
            break;
        }
    }
    answers.finish()
}

pub(super) fn get(args: &Get) -> anyhow::Result<()> {
    refuse_terminal(args.format == AnswerFormat::Arrow)?;
    let column = open(&args.file)?;
    if args.format == AnswerFormat::Arrow {
        let batch = column.get_batch(&args.row).map_err(of_column)?;
        return write_batch(&batch, std::io::stdout().lock()).map_err(of_column);
    }
    let mut answers = Answers::begin(args.format, ["row", "value"], None)?;
    for &row in &args.row {
        let value = column.get(row).map_err(of_column)?;
        answers.push([Field::Number(row), Field::Value(value.as_deref())])?;
    }
    answers.finish()
}
