//! How many requests a second are offered.

use outcrop_workload::ReadWriteMix;

use crate::options::{Given, Options, Problem};
use crate::quantity::bytes;

/// What else of a job decides its rate.
pub(super) struct Asked {
    pub(super) mix: Option<ReadWriteMix>,
    pub(super) jobs: u64,
    /// Bytes of a request, where they are known.
    pub(super) size: Option<u64>,
}

/// fio's rate, which is one of each job; ours is one of all of them.
pub(super) fn arrival(options: &Options, asked: &Asked) -> Result<String, Problem> {
    let per_second = match (options.get("rate_iops"), options.get("rate")) {
        (None, None) => return Ok("closed".to_owned()),
        (Some(_), Some(given)) => {
            return Err(Problem::of(
                given,
                "it contradicts rate_iops; keep one of the two",
            ));
        }
        (Some(given), None) => number(given, options, asked.mix, "a number of requests per second")?,
        (None, Some(given)) => of_bytes(given, options, asked)?,
    };
    let rate = per_second.saturating_mul(asked.jobs);
    match options
        .get("rate_process")
        .map(|given| (given, given.value.as_str()))
    {
        None | Some((_, "linear")) => Ok(format!("constant:{rate}")),
        Some((_, "poisson")) => Ok(format!("poisson:{rate}")),
        Some((given, other)) => Err(Problem::of(
            given,
            format!("`{other}` is not known; expected linear or poisson"),
        )),
    }
}

/// A rate in bytes is one in requests where it is a whole number of them: all have one size.
fn of_bytes(given: &Given, options: &Options, asked: &Asked) -> Result<u64, Problem> {
    let rate = number(given, options, asked.mix, "a number of bytes per second")?;
    match asked.size {
        Some(size) if size > 0 && rate.is_multiple_of(size) => Ok(rate / size),
        Some(size) => Err(Problem::of(
            given,
            format!(
                "{rate} bytes per second is not a whole number of requests of {size} bytes each; use rate_iops instead"
            ),
        )),
        None => Err(Problem::of(
            given,
            "the size of requests is not known; give rate_iops",
        )),
    }
}

/// The value of the direction that a job has: of reads, of writes.
fn number(given: &Given, options: &Options, mix: Option<ReadWriteMix>, what: &str) -> Result<u64, Problem> {
    let refuse = |reason: String| Problem::of(given, reason);
    let mut parts = given.value.split(',').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let second = parts.next().filter(|text| !text.is_empty()).unwrap_or(first);
    let text = match mix {
        Some(mix) if !mix.has_reads() => second,
        Some(mix) if mix.has_writes() => {
            return Err(refuse(format!(
                "`{}` limits reads and writes separately; here one rate covers all requests",
                given.value
            )));
        }
        _ => first,
    };
    match bytes(text, options.is_si()) {
        Ok(rate) if rate > 0 => Ok(rate),
        _ => Err(refuse(format!("`{text}` is not {what}"))),
    }
}
