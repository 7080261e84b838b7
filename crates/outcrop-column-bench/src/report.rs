//! What a trial gives back: plain numbers.

use outcrop_column::{EncodeReport, Kernels, PackedForm};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unavailable;

/// Sizes of what was written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SizeReport {
    /// Rows, nulls included.
    pub row_count: u64,
    /// Rows that are null.
    pub null_count: u64,
    /// Distinct values, null not counted; `None` where the format does not know.
    pub value_count: Option<u64>,
    /// The rows as newline text.
    pub text_bytes: u64,
    /// All of what was written.
    pub file_bytes: u64,
    /// The parts of a column file.
    pub parts: Option<PartsReport>,
}

/// The parts of a column file. A packed one has none: they are those that its ordinary form would have.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PartsReport {
    /// The packed form of the file; `None` for the ordinary one.
    pub packed: Option<&'static str>,
    /// The dictionary.
    pub dictionary_bytes: u64,
    /// The forward codes, with their class map.
    pub codes_bytes: u64,
    /// The postings.
    pub postings_bytes: u64,
    /// What their row numbers would take at the same number of bits for each; 0 where there are none.
    pub plain_postings_bytes: u64,
    /// The least that the order of the rows takes in a coding that knows only how often each value occurs.
    pub order_floor_bytes: u64,
    /// Encodings of the code blocks, the most frequent first.
    pub encodings: Vec<EncodingShare>,
}

/// How many blocks chose an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodingShare {
    /// The encoding.
    pub name: &'static str,
    /// Blocks of 65,536 rows.
    pub block_count: u64,
}

impl SizeReport {
    /// Of a column file whose rows have so much text, newlines included.
    pub(crate) fn of_file(report: &EncodeReport, text_bytes: u64) -> Self {
        Self {
            row_count: report.row_count,
            null_count: report.null_count,
            value_count: Some(report.value_count),
            text_bytes,
            file_bytes: report.file_bytes,
            parts: Some(PartsReport {
                packed: report.packed.map(PackedForm::name),
                dictionary_bytes: report.dictionary_bytes,
                codes_bytes: report.codes_bytes + report.class_map_bytes,
                postings_bytes: report.postings_bytes,
                plain_postings_bytes: match report.postings_bytes {
                    0 => 0,
                    _ => plain_bytes(report.row_count),
                },
                order_floor_bytes: report.floor_bytes,
                encodings: Vec::new(),
            }),
        }
    }

    /// Floor for the codes and the dictionary as it is: no column file can be
    /// smaller without a model of the order.
    pub fn floor_bytes(&self) -> Option<u64> {
        let parts = self.parts.as_ref()?;
        Some(parts.order_floor_bytes + parts.dictionary_bytes)
    }
}

/// The numbers of all rows, at the bits that the last one has.
fn plain_bytes(row_count: u64) -> u64 {
    let bits = u64::from(row_count.saturating_sub(1).max(1).ilog2()) + 1;
    (row_count * bits).div_ceil(8)
}

/// What queries read from a file that was opened anew for each.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ColdReads {
    /// Queries counted.
    pub queries: u64,
    /// Reads of all of them, opening not counted.
    pub reads: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Most reads of one query.
    pub most_reads: u64,
}

/// What came of a trial.
#[derive(Clone, Debug)]
pub struct BenchReport {
    /// Sizes.
    pub size: SizeReport,
    /// Operations measured.
    pub operations: u64,
    /// Rows that they went through or found, all together.
    pub rows: u64,
    /// Measured time.
    pub elapsed_ns: u64,
    /// CPU time of the process in it.
    pub cpu_ns: u64,
    /// Time of each operation.
    pub latency: LatencyHistogram,
    /// Growth of the process's resident memory over one encode at its highest; `None` for other operations.
    pub encode_peak_memory_bytes: Option<Result<u64, Unavailable>>,
    /// Median time to open the file from memory, which unpacks a packed one; `None` but for encoding.
    pub open_ns: Option<u64>,
    /// Reads of queries on disk; `None` elsewhere.
    pub cold_reads: Option<ColdReads>,
    /// The widest kernels that ran; `None` for text, which uses none of ours.
    pub kernels: Option<Kernels>,
}
