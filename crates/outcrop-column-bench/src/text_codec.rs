//! What a column is worth without a dictionary: its newline text, as one block of a codec.

use outcrop_codec::{BlockCodec, CodecSpec, Coder, ContextUse};

use crate::error::BenchError;
use crate::input::ColumnInput;
use crate::measure::{Site, repeat};
use crate::report::{BenchReport, SizeReport};
use crate::spec::BenchSpec;
use crate::text_search::{checked_targets, rows_in_text};
use outcrop_workload::column::Operation;

/// The codec that copies: text under it is searched as it is.
const NONE: &str = "none";

pub(crate) fn run(
    input: &ColumnInput,
    codec: CodecSpec,
    spec: &BenchSpec,
    site: &Site<'_>,
) -> Result<BenchReport, BenchError> {
    let text = input.text();
    let mut coder = Coder::open(&codec, ContextUse::Reused)?;
    let mut target = vec![0; coder.compressed_bound(text.len())];
    let length = coder.compress(text, &mut target)?;
    let mut back = vec![0; text.len()];
    coder.decompress(&target[..length], &mut back)?;
    if back != text {
        return Err(BenchError::Wrong {
            operation: "decompressing text",
            detail: format!("{codec} did not decompress to the original bytes"),
        });
    }
    let rows = input.row_count();
    let measured = match spec.operation {
        Operation::Encode => repeat(spec, site, |_| {
            coder.compress(text, &mut target)?;
            Ok(rows)
        })?,
        Operation::Decode => repeat(spec, site, |_| {
            coder.decompress(&target[..length], &mut back)?;
            Ok(rows)
        })?,
        _ => {
            let targets = checked_targets(input, spec)?;
            let is_compressed = codec.family().name != NONE;
            repeat(spec, site, |number| {
                if is_compressed {
                    coder.decompress(&target[..length], &mut back)?;
                }
                Ok(rows_in_text(&back, targets.at(number)).len() as u64)
            })?
        }
    };
    let size = SizeReport {
        row_count: rows,
        null_count: input.null_count(),
        value_count: None,
        text_bytes: text.len() as u64,
        file_bytes: length as u64,
        parts: None,
    };
    Ok(measured.report(size))
}
