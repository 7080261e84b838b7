//! fio's names for what `outcrop device` measures: understood where they mean the same, answered with ours where they do not.
//!
//! The table is `docs/from-fio.md`.

use clap::{ArgAction, Args};
use outcrop_lab::Draft;
use outcrop_schema::device::{ACCESS_PATTERN, ENGINE, IO_BLOCK_SIZE, JOBS, QUEUE_DEPTH, READ_WRITE_MIX};
use outcrop_schema::{About, FactorRef};

use super::factor_flags::Spell;
use crate::exit::bad_input;

/// fio's names of factors of ours.
pub(crate) const ALIASES: &[(FactorRef, &str)] = &[
    (&IO_BLOCK_SIZE, "bs"),
    (&QUEUE_DEPTH, "iodepth"),
    (&JOBS, "numjobs"),
    (&ENGINE, "ioengine"),
];

/// fio's options that are not one factor of ours.
#[derive(Debug, Args)]
pub(crate) struct FioWords {
    /// fio: read, write, randread, randwrite, rw, randrw
    #[arg(long, hide = true, value_name = "RW", alias = "readwrite")]
    rw: Option<String>,
    /// fio: share of reads of a mix, in per cent
    #[arg(long, hide = true, value_name = "PERCENT", requires = "rw")]
    rwmixread: Option<u8>,
    /// fio: whether the page cache is bypassed
    #[arg(long, hide = true, value_name = "0|1", num_args = 0..=1, default_missing_value = "1")]
    direct: Option<String>,
    /// fio: every trial is timed here
    #[arg(long = "time_based", hide = true, action = ArgAction::SetTrue, alias = "time-based")]
    is_time_based: bool,
    /// fio: what is read or written
    #[arg(long, hide = true, value_name = "PATH")]
    filename: Option<String>,
}

impl FioWords {
    /// The draft with what they say.
    pub(crate) fn write_over(&self, draft: Draft) -> anyhow::Result<Draft> {
        if self.direct.as_deref().is_some_and(|value| value != "1") {
            return Err(refusal(
                "--direct=0 is buffered I/O, which is not measured: every access bypasses the page cache; leave it out",
            ));
        }
        if let Some(path) = &self.filename {
            return Err(refusal(format!(
                "--filename is fio's: `--read-only {path}` reads what is there, and a directory in its place makes a file in it"
            )));
        }
        let Some(rw) = &self.rw else {
            return Ok(draft);
        };
        let (pattern, direction) = match rw.strip_prefix("rand") {
            Some(direction) => ("random", direction),
            None => ("sequential", rw.as_str()),
        };
        let mix = match (direction, self.rwmixread) {
            ("read", None) => "100:0".to_owned(),
            ("write", None) => "0:100".to_owned(),
            ("rw" | "readwrite", share) if share.unwrap_or(50) <= 100 => {
                let reads = share.unwrap_or(50);
                format!("{reads}:{}", 100 - reads)
            }
            _ => {
                return Err(refusal(format!(
                    "--rw={rw} is not known; expected read, write, randread, randwrite, rw or randrw (with --rwmixread), which \
                     are --access-pattern and --read-write-mix here"
                )));
            }
        };
        let draft = draft.with_workload(&ACCESS_PATTERN, [pattern], "--rw");
        Ok(draft.with_workload(&READ_WRITE_MIX, [mix], "--rw"))
    }
}

fn refusal(message: impl Into<String>) -> anyhow::Error {
    bad_input(anyhow::anyhow!(message.into()))
}

/// A value as fio spells it in our spelling; several where it is a range.
pub(crate) const SPELL: Spell = |factor: &About, value: &str| {
    let one = |text: &str| Ok(vec![text.to_owned()]);
    match factor.name {
        name if name == ACCESS_PATTERN.name => pattern(value),
        name if name == READ_WRITE_MIX.name => mix(value),
        name if name == ENGINE.name => match value {
            "libaio" | "posixaio" => Err(format!(
                "{value} is not built in; io_uring is asynchronous too (--engine io_uring)"
            )),
            "sync" | "pvsync" | "pvsync2" => one("psync"),
            "null" => one("noop"),
            _ => one(value),
        },
        name if name == QUEUE_DEPTH.name || name == JOBS.name => range(value),
        _ => one(value),
    }
};

fn pattern(value: &str) -> Result<Vec<String>, String> {
    let both = |pattern: &str, mix: &str| {
        Err(format!(
            "`{value}` is fio's word for two things; here it is --access-pattern {pattern} --read-write-mix {mix}"
        ))
    };
    match value {
        "randread" => both("random", "100:0"),
        "randwrite" => both("random", "0:100"),
        "randrw" => both("random", "50:50"),
        "read" => both("sequential", "100:0"),
        "write" => both("sequential", "0:100"),
        "rw" | "readwrite" => both("sequential", "50:50"),
        "rand" => Ok(vec!["random".to_owned()]),
        "seq" => Ok(vec!["sequential".to_owned()]),
        _ => Ok(vec![match value.strip_prefix("zipf:") {
            Some(theta) => format!("zipfian:{theta}"),
            None => value.to_owned(),
        }]),
    }
}

/// A mix named by its share of reads, or by its only direction.
fn mix(value: &str) -> Result<Vec<String>, String> {
    let spelled = match (value, value.parse::<u8>()) {
        ("read" | "randread", _) => "100:0".to_owned(),
        ("write" | "randwrite", _) => "0:100".to_owned(),
        ("rw" | "readwrite" | "randrw", _) => "50:50".to_owned(),
        (_, Ok(reads @ 0..=100)) => format!("{reads}:{}", 100 - reads),
        _ => value.to_owned(),
    };
    Ok(vec![spelled])
}

/// `1..64`: doubled from the first to the last.
fn range(value: &str) -> Result<Vec<String>, String> {
    let Some((first, last)) = value.split_once("..") else {
        return Ok(vec![value.to_owned()]);
    };
    let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
        return Ok(vec![value.to_owned()]);
    };
    if first == 0 || first > last {
        return Err(format!("`{value}` is not a range; expected for instance 1..64"));
    }
    let doubled = std::iter::successors(Some(first), |value| value.checked_mul(2));
    let mut values: Vec<u32> = doubled.take_while(|value| *value < last).collect();
    values.push(last);
    Ok(values.iter().map(u32::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_fio_become_ours() {
        let cases: [(&About, &str, &str); 11] = [
            (&ACCESS_PATTERN, "zipf:1.2", "zipfian:1.2"),
            (&ACCESS_PATTERN, "seq", "sequential"),
            (&ACCESS_PATTERN, "strided:64KiB", "strided:64KiB"),
            (&READ_WRITE_MIX, "70", "70:30"),
            (&READ_WRITE_MIX, "write", "0:100"),
            (&READ_WRITE_MIX, "70:30", "70:30"),
            (&READ_WRITE_MIX, "101", "101"),
            (&ENGINE, "sync", "psync"),
            (&QUEUE_DEPTH, "1..64", "1 2 4 8 16 32 64"),
            (&QUEUE_DEPTH, "3..20", "3 6 12 20"),
            (&QUEUE_DEPTH, "8", "8"),
        ];
        for (factor, theirs, ours) in cases {
            let spelled = SPELL(factor, theirs).unwrap();
            assert_eq!(spelled.join(" "), ours, "{theirs}");
        }
        for refused in ["0..4", "9..4"] {
            assert!(SPELL(&QUEUE_DEPTH, refused).is_err(), "{refused}");
        }
    }
}
