//! What a factor's value can be: a type with one spelling, perhaps a place on an axis, and a column in tables.

use std::any::Any;
use std::fmt;

use outcrop_measure::units::{ByteSize, Rate};
use outcrop_workload::filesystem::{
    Age, Algorithm, FileCompression, FilesystemChoice, FilesystemKind, OfferedLoad, SyncPolicy,
};
use outcrop_workload::keyed::{KeyPopularity, KeySize, Objective, Preset, RequestMix, ValueSize};
use outcrop_workload::{AccessPattern, Arrival, Arrivals, BlockContent, Content, ReadWriteMix};

/// The column that a factor has in `records.parquet` beside its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// Its spelling as text.
    Text,
    /// A whole number.
    Whole,
    /// A whole number of bytes.
    Bytes,
    /// Any number.
    Real,
}

/// A type that a factor's values have.
pub trait Value: Any + Clone + fmt::Debug + fmt::Display + PartialEq + Send + Sync {
    /// The column that it is stored in.
    const COLUMN: Column = Column::Text;

    /// Whether a bare number is one of bytes, also where words are values beside sizes.
    const IS_SIZE: bool = matches!(Self::COLUMN, Column::Bytes);

    /// Where it lies on an axis: the number that it is, or its place in the order of the documentation.
    fn place(&self) -> Option<f64> {
        None
    }
}

impl Value for String {}

macro_rules! numbers {
    ($($number:ty => $column:ident;)+) => {
        $(impl Value for $number {
            const COLUMN: Column = Column::$column;

            fn place(&self) -> Option<f64> {
                Some(*self as f64)
            }
        })+
    };
}

numbers! {
    u32 => Whole;
    u64 => Whole;
    f64 => Real;
}

impl Value for ByteSize {
    const COLUMN: Column = Column::Bytes;

    fn place(&self) -> Option<f64> {
        Some(self.0 as f64)
    }
}

/// Words take the order in which they are documented.
macro_rules! ordered {
    ($($word:ty),+ $(,)?) => {
        $(impl $crate::Value for $word {
            fn place(&self) -> Option<f64> {
                Self::ALL.iter().position(|one| one == self).map(|index| index as f64)
            }
        })+
    };
}
pub(crate) use ordered;

/// Enums of words that are values of factors.
macro_rules! words {
    ($($(#[$about:meta])* pub enum $name:ident: $what:literal { $($words:tt)+ })+) => {
        $(
            ::outcrop_workload::words! { $(#[$about])* pub enum $name: $what { $($words)+ } }
            $crate::value::ordered!($name);
        )+
    };
}
pub(crate) use words;

ordered!(
    outcrop_workload::EngineKind,
    outcrop_workload::Completions,
    outcrop_workload::LatencyParts,
    outcrop_workload::Submission,
    outcrop_workload::Replay,
    outcrop_workload::Caches,
    outcrop_workload::column::RowOrder,
    outcrop_workload::column::Operation,
    outcrop_workload::column::SearchMode,
    Preset,
);

ordered!(
    outcrop_workload::filesystem::FileOperation,
    outcrop_workload::filesystem::PageCache,
    outcrop_workload::filesystem::CompressPolicy,
    outcrop_workload::filesystem::Checksum,
    outcrop_workload::filesystem::CopyOnWrite,
    outcrop_workload::filesystem::FileAccess,
);

impl Value for AccessPattern {}
impl Value for Content {}
impl Value for KeyPopularity {}
impl Value for KeySize {}
impl Value for ValueSize {}
impl Value for RequestMix {}
impl Value for Objective {}

/// Closed loops before open ones, and those in the order of what they offer.
impl Value for Arrival {
    fn place(&self) -> Option<f64> {
        Some(self.per_second().map_or(0.0, Rate::per_second))
    }
}

/// Reads before writes.
impl Value for ReadWriteMix {
    fn place(&self) -> Option<f64> {
        Some(f64::from(self.write_percent()))
    }
}

/// Closed loops before open ones, and those in the order of what they offer.
impl Value for Arrivals {
    fn place(&self) -> Option<f64> {
        Some(match self {
            Self::Given(arrival) => return arrival.place(),
            Self::Share(_, percent) => *percent,
        })
    }
}

/// By filesystem, then by what it compresses with: levels in the order of their numbers.
impl Value for FilesystemChoice {
    fn place(&self) -> Option<f64> {
        /// More than any place of a compression.
        const OF_KIND: f64 = 1e6;
        let index = FilesystemKind::ALL.iter().position(|one| *one == self.kind)?;
        let compression = self.compression.and_then(|compression| compression.place());
        Some(index as f64 * OF_KIND + compression.map_or(0.0, |place| place + 1.0))
    }
}

/// By algorithm, then by level.
impl Value for FileCompression {
    fn place(&self) -> Option<f64> {
        let index = Algorithm::ALL.iter().position(|one| *one == self.algorithm);
        index.map(|index| index as f64 * 1e3 + f64::from(self.level.unwrap_or(0)))
    }
}

/// At the end before often.
impl Value for SyncPolicy {
    fn place(&self) -> Option<f64> {
        Some(match self {
            Self::End => 0.0,
            Self::Each(count) => 1.0 / f64::from(*count),
        })
    }
}

/// Fresh before overwritten.
impl Value for Age {
    fn place(&self) -> Option<f64> {
        Some(match self {
            Self::Fresh => 0.0,
            Self::Overwritten(percent) => f64::from(*percent),
        })
    }
}

/// Closed loops first, then by what is offered.
impl Value for OfferedLoad {
    fn place(&self) -> Option<f64> {
        match self {
            Self::Operations(arrivals) => arrivals.place(),
            Self::Bytes(_, bandwidth) => Some(bandwidth.0),
        }
    }
}

/// Natural blocks before generated ones.
impl Value for BlockContent {
    fn place(&self) -> Option<f64> {
        Some(f64::from(u8::from(matches!(self, Self::Generated(_)))))
    }
}
