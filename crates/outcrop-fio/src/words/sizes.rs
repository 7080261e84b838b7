//! How large requests are.

use outcrop_workload::ReadWriteMix;

use crate::options::{Given, Options, Problem};
use crate::quantity::bytes;

/// Bytes of a request, where all have the same.
pub(super) fn block_size(options: &Options, mix: Option<ReadWriteMix>) -> Result<u64, Problem> {
    /// fio's default.
    const USUAL: u64 = 4096;
    if let Some(given) = options.get("bsrange") {
        return of_range(given, options, mix);
    }
    let Some(given) = options.get("bs") else {
        return Ok(USUAL);
    };
    let refuse = |reason: String| Problem::of(given, reason);
    let size = |text: &str| bytes(text, options.is_si()).map_err(refuse);
    of_directions(given, mix, &size)
}

/// A range whose ends are the same, which is how some job files give one size.
fn of_range(given: &Given, options: &Options, mix: Option<ReadWriteMix>) -> Result<u64, Problem> {
    let size = |text: &str| {
        let refuse = |reason: String| Problem::of(given, reason);
        let (low, high) = text.split_once('-').unwrap_or((text, text));
        let ends = [low, high].map(|end| bytes(end, options.is_si()));
        match ends {
            [Ok(low), Ok(high)] if low == high => Ok(low),
            [Err(reason), _] | [_, Err(reason)] => Err(refuse(reason)),
            _ => Err(refuse(format!(
                "`{text}` varies the size of requests, which is fixed here; write one job for each size"
            ))),
        }
    };
    of_directions(given, mix, &size)
}

/// The size in the direction that a job has: of reads, of writes, of trims; one that is left out is as the one before.
fn of_directions(
    given: &Given,
    mix: Option<ReadWriteMix>,
    size: &dyn Fn(&str) -> Result<u64, Problem>,
) -> Result<u64, Problem> {
    let mut parts = given.value.split(',');
    // The other direction of a job that only writes may have any size.
    if mix.is_some_and(|mix| !mix.has_reads()) {
        let first = parts.next().unwrap_or_default();
        return size(parts.next().filter(|text| !text.is_empty()).unwrap_or(first));
    }
    let of_reads = size(parts.next().unwrap_or_default())?;
    if mix.is_some_and(|mix| !mix.has_writes()) {
        return Ok(of_reads);
    }
    match parts.next().filter(|text| !text.is_empty()).map(size) {
        None => Ok(of_reads),
        Some(of_writes) if of_writes.as_ref() == Ok(&of_reads) => Ok(of_reads),
        Some(Err(problem)) => Err(problem),
        Some(Ok(_)) => Err(Problem::of(
            given,
            format!(
                "`{}` gives reads and writes different sizes; here all requests of a cell have the same size",
                given.value
            ),
        )),
    }
}
