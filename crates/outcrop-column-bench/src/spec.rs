//! What one trial does to a column.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use outcrop_codec::CodecSpec;
use outcrop_column::{Index, Kernels, Profile, Technique};
use outcrop_measure::seed::Seed;
use outcrop_workload::column::{Operation, SearchMode};

/// What the rows are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A column file of Outcrop's.
    Ocol,
    /// Newline text, all of it as one block of a codec: what a column is worth without a dictionary. A search decompresses
    /// it and scans it; under the codec `none`, it scans the text as it is.
    Text(CodecSpec),
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "ocol" {
            return Ok(Self::Ocol);
        }
        let codec = text.parse::<CodecSpec>();
        codec.map(Self::Text).map_err(|error| {
            format!(
                "format {text:?}: expected \"ocol\", or a codec for newline text such as \"zstd:19\": {error}"
            )
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ocol => f.write_str("ocol"),
            Self::Text(codec) => write!(f, "{codec}"),
        }
    }
}

/// One trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchSpec {
    /// What is done.
    pub operation: Operation,
    /// What the rows are stored as.
    pub format: Format,
    /// Index of the file; of no meaning for text.
    pub index: Index,
    /// Profile of the file; of no meaning for text.
    pub profile: Profile,
    /// What the file is written without, to measure what that is worth; of no meaning for text.
    pub left_out: &'static [Technique],
    /// The widest kernels that run; `None` sets no limit. Of no meaning for text.
    pub kernels: Option<Kernels>,
    /// Threads that encode; all other operations use one.
    pub threads: usize,
    /// Where the file is, of no meaning for encoding.
    pub mode: SearchMode,
    /// Time before measuring starts.
    pub warm_up: Duration,
    /// Time measured; an operation that takes longer is done once.
    pub duration: Duration,
    /// What the targets of searches are drawn with.
    pub seed: Seed,
}

impl Default for BenchSpec {
    fn default() -> Self {
        Self {
            operation: Operation::default(),
            format: Format::Ocol,
            index: Index::default(),
            profile: Profile::default(),
            left_out: &[],
            kernels: None,
            threads: 1,
            mode: SearchMode::default(),
            warm_up: Duration::ZERO,
            duration: Duration::from_millis(100),
            seed: Seed(0),
        }
    }
}

impl BenchSpec {
    /// Refuses what cannot be measured.
    ///
    /// # Errors
    /// [`crate::BenchError::Spec`] with what to change.
    pub fn validate(&self) -> Result<(), crate::BenchError> {
        let refuse = |message: &str| Err(crate::BenchError::Spec(message.to_owned()));
        let needs_codes = matches!(
            self.operation,
            Operation::Decode | Operation::Scan | Operation::Get
        );
        if self.threads == 0 {
            return refuse("threads is 0; expected at least 1");
        }
        if let Format::Text(codec) = &self.format {
            return match self.operation {
                Operation::Scan | Operation::Size => Err(crate::BenchError::Spec(format!(
                    "newline text under {codec} has no dictionary codes to scan and no column file to measure the size of; use \
                     format = \"ocol\" for {}",
                    self.operation
                ))),
                _ => Ok(()),
            };
        }
        if self.index == Index::Only && needs_codes {
            return refuse(
                "a file with index = \"only\" has no codes, so it cannot be decoded, scanned or read by row; use \"none\" or \
                 \"postings\"",
            );
        }
        if self.operation == Operation::Size {
            // Index and mode have no meaning for it.
            return Ok(());
        }
        if self.index == Index::Only && self.mode == SearchMode::Scan {
            return refuse("a file with index = \"only\" has no codes to scan; use another search_mode");
        }
        if self.mode == SearchMode::Scan && needs_codes {
            return refuse(
                "search_mode = \"scan\" finds rows by value; use \"in-memory\" or \"on-disk\" here",
            );
        }
        Ok(())
    }
}
