//! What `find` looks for: values from arguments or from stdin, a prefix, a range, an expression, or null.

use super::flags::Find;
use super::number_range::{NumberRange, Numeral};
use crate::exit::bad_input;
use crate::output::note;
use anyhow::Context as _;
use outcrop_column::{Column, ColumnError, Selection};
use outcrop_measure::units::ByteSize;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead, Read as _};
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt as _;

/// What a compiled expression may take; a larger one is refused instead of eating memory.
const REGEX_BYTES: usize = 4 << 20;

/// What is looked for.
pub(super) enum Wanted {
    /// Different values in the order in which they were first asked for.
    Values {
        values: Vec<Vec<u8>>,
        /// Whether there may be several, or each is to be answered: a list from stdin is answered in one form, however long it is.
        is_list: bool,
    },
    Prefix(Vec<u8>),
    Range(Bound<Vec<u8>>, Bound<Vec<u8>>),
    Numbers(NumberRange),
    Regex(Box<regex::bytes::Regex>),
    Null,
}

impl Wanted {
    pub(super) fn of(args: &Find) -> anyhow::Result<Self> {
        if args.is_null {
            return Ok(Self::Null);
        }
        if let Some(prefix) = &args.prefix {
            return Ok(Self::Prefix(bytes_of(prefix.as_bytes(), args.hex)?));
        }
        if let Some(range) = &args.range {
            return range_of(range, args.hex);
        }
        if let Some(range) = &args.number_range {
            return Ok(Self::Numbers(range.parse().map_err(bad_input)?));
        }
        if let Some(expression) = &args.regex {
            let compiled = regex::bytes::RegexBuilder::new(expression)
                .size_limit(REGEX_BYTES)
                .dfa_size_limit(REGEX_BYTES)
                .build();
            return Ok(Self::Regex(Box::new(compiled.map_err(bad_input)?)));
        }
        if args.value.is_empty() {
            return Err(bad_input(anyhow::anyhow!(
                "nothing to find: give values (- reads them from stdin), --prefix, --range A..B, --number-range A..B, --regex or --is-null"
            )));
        }
        let values = values_of(args)?;
        let is_list = args.by_value || values.len() > 1 || args.value.iter().any(|value| value == "-");
        Ok(Self::Values { values, is_list })
    }

    pub(super) fn select<'c>(&self, column: &'c Column) -> Result<Vec<Selection<'c>>, ColumnError> {
        Ok(match self {
            Self::Values { values, .. } => values
                .iter()
                .map(|value| column.find(value))
                .collect::<Result<_, _>>()?,
            Self::Prefix(prefix) => vec![column.find_prefix(prefix)?],
            Self::Range(start, end) => {
                let bounds = (as_slice(start), as_slice(end));
                vec![column.find_range(bounds)?]
            }
            Self::Numbers(range) => vec![column.matching(|value| range.contains(value))?],
            Self::Regex(regex) => vec![column.matching(|value| regex.is_match(value))?],
            Self::Null => vec![column.find_null()?],
        })
    }

    /// What else than values is looked for, as the list of the values that it selects, in byte order; none of values.
    pub(super) fn by_value(&self, column: &Column) -> Result<Option<Self>, ColumnError> {
        if matches!(self, Self::Values { .. }) {
            return Ok(None);
        }
        let mut found = BTreeSet::new();
        for selection in self.select(column)? {
            selection.for_each_value(|value, _| {
                found.extend(value.map(<[u8]>::to_vec));
                Ok(())
            })?;
        }
        Ok(Some(Self::Values {
            values: found.into_iter().collect(),
            is_list: true,
        }))
    }

    /// The texts that are looked for, in the order of the selections: values, a prefix, or the bounds of a range.
    pub(super) fn texts(&self) -> Vec<&[u8]> {
        match self {
            Self::Values { values, .. } => values.iter().map(Vec::as_slice).collect(),
            Self::Prefix(prefix) => vec![prefix],
            Self::Range(start, end) => [start, end]
                .into_iter()
                .filter_map(|bound| match bound {
                    Bound::Included(text) | Bound::Excluded(text) => Some(text.as_slice()),
                    Bound::Unbounded => None,
                })
                .collect(),
            Self::Numbers(_) | Self::Regex(_) | Self::Null => Vec::new(),
        }
    }

    /// The values, where several were asked for: each has its own answer.
    pub(super) fn several(&self) -> Option<&[Vec<u8>]> {
        match self {
            Self::Values {
                values,
                is_list: true,
            } => Some(values),
            _ => None,
        }
    }
}

/// What a value takes while it is looked for: its line and two copies, allocated with some room,
const COPIES: u64 = 4;
/// and what says where it was found.
const VALUE_BYTES: u64 = 512;

/// Values to be looked for, each once.
struct Values<'a> {
    args: &'a Find,
    list: Vec<Vec<u8>>,
    known: BTreeSet<Vec<u8>>,
    /// Of the memory that may be taken.
    left_bytes: u64,
}

impl Values<'_> {
    fn push(&mut self, text: &[u8]) -> anyhow::Result<()> {
        let value = bytes_of(text, self.args.hex)?;
        if self.known.contains(&value) {
            return Ok(());
        }
        let taken = COPIES * value.len() as u64 + VALUE_BYTES;
        let left = self.left_bytes.checked_sub(taken);
        self.left_bytes = left.ok_or_else(|| self.too_many())?;
        self.known.insert(value.clone());
        self.list.push(value);
        Ok(())
    }

    /// A line each; one that has no end is read no further than there is memory.
    fn push_lines(&mut self, input: impl BufRead) -> anyhow::Result<()> {
        let (mut input, mut line) = (input, Vec::new());
        loop {
            let most = self.left_bytes / COPIES;
            line.clear();
            let read = input.by_ref().take(most + 1).read_until(b'\n', &mut line);
            if read.context("cannot read stdin")? == 0 {
                return Ok(());
            }
            if line.len() as u64 > most {
                return Err(self.too_many());
            }
            self.push(line.strip_suffix(b"\n").unwrap_or(&line))?;
        }
    }

    fn too_many(&self) -> anyhow::Error {
        let most = ByteSize(limit_of(self.args));
        bad_input(anyhow::anyhow!(
            "the values to find need more memory than --max-memory {most}; find fewer at once, or allow more"
        ))
    }
}

fn limit_of(args: &Find) -> u64 {
    args.memory_limit.bytes(&[&args.file])
}

/// The values of the arguments and of stdin. A value that is asked for twice is one value.
fn values_of(args: &Find) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut values = Values {
        args,
        list: Vec::new(),
        known: BTreeSet::new(),
        left_bytes: limit_of(args),
    };
    for value in &args.value {
        if value == "-" {
            values.push_lines(std::io::stdin().lock())?;
        } else {
            values.push(value.as_bytes())?;
        }
    }
    Ok(values.list)
}

fn range_of(range: &OsStr, is_hex: bool) -> anyhow::Result<Wanted> {
    let text = range.as_bytes();
    let dots = text.windows(2).position(|pair| pair == b"..").ok_or_else(|| {
        bad_input(anyhow::anyhow!(
            "range {range:?}: expected A..B, such as b..d, ..d or b.. (from A, below B)"
        ))
    })?;
    let bound = |text: &[u8]| Ok::<_, anyhow::Error>((!text.is_empty()).then_some(bytes_of(text, is_hex)?));
    let (start, end) = (bound(&text[..dots])?, bound(&text[dots + 2..])?);
    let is_number =
        |bound: &Option<Vec<u8>>| bound.as_deref().is_some_and(|text| Numeral::read(text).is_some());
    if is_number(&start) || is_number(&end) {
        note(
            "--range compares text byte by byte, so 100 lies between 10 and 20; --number-range compares numbers",
        );
    }
    Ok(Wanted::Range(
        start.map_or(Bound::Unbounded, Bound::Included),
        end.map_or(Bound::Unbounded, Bound::Excluded),
    ))
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(value) => Bound::Included(value),
        Bound::Excluded(value) => Bound::Excluded(value),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// The bytes that an argument stands for.
fn bytes_of(text: &[u8], is_hex: bool) -> anyhow::Result<Vec<u8>> {
    if !is_hex {
        return Ok(text.to_vec());
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let digits: Option<Vec<u8>> = text.iter().map(digit).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => Ok(digits
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()),
        _ => Err(bad_input(anyhow::anyhow!(
            "--hex {:?}: expected two hexadecimal digits per byte, such as ff00",
            String::from_utf8_lossy(text)
        ))),
    }
}
