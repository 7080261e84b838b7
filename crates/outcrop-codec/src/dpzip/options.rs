//! What of the hardware is fixed, pages and groups, and what varies: the table's shape, and how a match is chosen.

use std::fmt;
use std::str::FromStr;

use crate::CodecError;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;
/// Bytes that the hardware takes in one step.
pub(super) const GROUP_BYTES: usize = 4;

/// Which candidate of a position is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The newest that agrees in four bytes.
    FirstFit,
    /// The one that agrees longest in stage 1's sixteen bytes.
    Longest,
}

/// The parameters of a dpzip codec; spelled `256x4`, `512x4+longest+lazy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DpzipOptions {
    bucket_bits: u32,
    ways: usize,
    /// Which candidate of a position is taken.
    pub selection: Selection,
    /// Whether a group waits for the longest match of its four positions.
    pub lazy: bool,
}

impl Default for DpzipOptions {
    /// The published table: 256 buckets of four ways, first fit.
    fn default() -> Self {
        Self {
            bucket_bits: 8,
            ways: 4,
            selection: Selection::FirstFit,
            lazy: false,
        }
    }
}

impl DpzipOptions {
    /// A table of `buckets` × `ways`.
    ///
    /// # Errors
    /// When `buckets` is no power of two from 256 to 4096, or `ways` is not from 1 to 16.
    pub fn new(buckets: usize, ways: usize, selection: Selection, lazy: bool) -> Result<Self, CodecError> {
        if !buckets.is_power_of_two() || !(256..=4096).contains(&buckets) || !(1..=16).contains(&ways) {
            return Err(CodecError::setting(
                "dpzip",
                format!("{buckets}x{ways}"),
                ACCEPTED,
            ));
        }
        Ok(Self {
            bucket_bits: buckets.ilog2(),
            ways,
            selection,
            lazy,
        })
    }

    /// log2 of the number of buckets.
    pub fn bucket_bits(&self) -> u32 {
        self.bucket_bits
    }

    /// Candidates per bucket.
    pub fn ways(&self) -> usize {
        self.ways
    }

    /// Bytes of the hardware's table: 12-bit positions.
    pub fn table_bytes(&self) -> usize {
        (self.ways << self.bucket_bits) * 12 / 8
    }
}

/// What may stand behind `dpzip:`.
pub(crate) const ACCEPTED: &str = "BUCKETSxWAYS with 256, 512, 1024, 2048 or 4096 buckets of 1 to 16 ways, then +longest and \
                                   +lazy if wanted, such as 256x4 or 512x4+longest+lazy";

impl FromStr for DpzipOptions {
    type Err = CodecError;

    fn from_str(text: &str) -> Result<Self, CodecError> {
        let refuse = || CodecError::setting("dpzip", text.to_owned(), ACCEPTED);
        let mut parts = text.split('+');
        let (buckets, ways) = parts
            .next()
            .and_then(|shape| shape.split_once('x'))
            .ok_or_else(refuse)?;
        let buckets = buckets.parse().map_err(|_| refuse())?;
        let ways = ways.parse().map_err(|_| refuse())?;
        let (mut selection, mut lazy) = (Selection::FirstFit, false);
        for part in parts {
            match part {
                "longest" => selection = Selection::Longest,
                "lazy" => lazy = true,
                _ => return Err(refuse()),
            }
        }
        Self::new(buckets, ways, selection, lazy)
    }
}

impl fmt::Display for DpzipOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", 1 << self.bucket_bits, self.ways)?;
        if self.selection == Selection::Longest {
            f.write_str("+longest")?;
        }
        if self.lazy {
            f.write_str("+lazy")?;
        }
        Ok(())
    }
}
