//! The packed form of small columns: everything in one body under one checksum, a few bytes besides
//! what a general compressor needs. It is unpacked to the ordinary form in memory when it is opened,
//! and then read by the same code.

mod frame;
mod list;
mod read;
mod write;

pub(crate) use read::{unpack, write_unpacked_behind};
pub(crate) use write::{PackableRows, is_packable};

/// The first three bytes of every column file; the fourth is the form.
const MAGIC: [u8; 3] = *b"\x8aOC";

/// The fourth byte of the ordinary form.
const ORDINARY: u8 = b'O';

/// Largest text of a packed column in bytes: each row's value and one more a row.
const TEXT_BYTES_LIMIT: u64 = 1 << 21;

/// Most distinct values of a packed column, null counted as one.
const SYMBOLS_LIMIT: u64 = 1 << 16;

/// Largest packed column in bytes, its checksum included; and largest content of a frame.
const PACKED_BYTES_LIMIT: u64 = 1 << 22;

/// How the body of a packed file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PackedForm {
    /// One value, or null, in all rows.
    Constant = b'C' as isize,
    /// The rows as lines under zstd.
    Text = b'T' as isize,
    /// The lengths of the rows' values and then the values, under zstd: for nulls and values with newlines.
    Lengths = b'L' as isize,
    /// The distinct values as lines under zstd, then code blocks.
    Dictionary = b'D' as isize,
    /// The same with lengths.
    DictionaryByLengths = b'E' as isize,
}

impl PackedForm {
    const ALL: [Self; 5] = [
        Self::Constant,
        Self::Text,
        Self::Lengths,
        Self::Dictionary,
        Self::DictionaryByLengths,
    ];

    fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&form| form as u8 == number)
    }

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Text => "text",
            Self::Lengths => "text by lengths",
            Self::Dictionary => "dictionary",
            Self::DictionaryByLengths => "dictionary by lengths",
        }
    }
}

/// What is said of a packed file besides what its rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackedReport {
    /// How its body is laid out.
    pub form: PackedForm,
    /// Bytes of memory that the column takes unpacked, as long as it is open.
    pub memory_bytes: u64,
}

/// Whether a file that begins with `start` (four bytes or more) is a column file, in whichever form.
pub fn is_column(start: &[u8]) -> bool {
    start
        .strip_prefix(&MAGIC)
        .and_then(<[u8]>::first)
        .is_some_and(|&form| form == ORDINARY || PackedForm::from_number(form).is_some())
}
