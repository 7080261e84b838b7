//! fio's names for what `outcrop device` measures: understood where they mean the same, answered with ours where they do not.
//!
//! The table is `docs/from-fio.md`.

mod foreign;

use clap::{ArgAction, Args};
use outcrop_lab::Draft;
use outcrop_measure::units::TimeSpan;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, ENGINE, IO_BLOCK_SIZE, JOBS, QUEUE_DEPTH, READ_WRITE_MIX, SYNC,
};
use outcrop_schema::{About, FactorRef};
use outcrop_workload::Arrival;

use super::device::Device;
use super::factor_flags::{FactorFlags, Given, Spell, contradiction};
use super::plan_flags::PlanFlags;
use crate::exit::bad_input;
use foreign::Foreign;

/// fio's names of Outcrop's factors.
pub(crate) const ALIASES: &[(FactorRef, &str)] = &[
    (&IO_BLOCK_SIZE, "bs"),
    (&QUEUE_DEPTH, "iodepth"),
    (&JOBS, "numjobs"),
    (&ENGINE, "ioengine"),
];

/// fio's options that are not a single factor.
#[derive(Debug, Args)]
pub(crate) struct FioWords {
    /// fio: read, write, randread, randwrite, rw, randrw
    #[arg(long, hide = true, value_name = "RW", alias = "readwrite")]
    rw: Option<String>,
    /// fio: share of reads of a mix, in per cent
    #[arg(long, hide = true, value_name = "PERCENT", value_delimiter = ',')]
    rwmixread: Vec<String>,
    /// fio: where random accesses go
    #[arg(long = "random_distribution", hide = true, value_name = "DISTRIBUTION")]
    distribution: Option<String>,
    /// fio: requests per second of each job
    #[arg(long = "rate_iops", hide = true, value_name = "RATE", value_delimiter = ',')]
    rates: Vec<String>,
    /// fio: how they are spaced
    #[arg(long = "rate_process", hide = true, value_name = "PROCESS")]
    process: Option<String>,
    /// fio: the time measured
    #[arg(long, hide = true, value_name = "TIME")]
    runtime: Option<String>,
    /// fio: the warm-up
    #[arg(long = "ramp_time", hide = true, value_name = "TIME", alias = "ramp-time")]
    ramp_time: Option<String>,
    /// fio: whether the page cache is bypassed
    #[arg(long, hide = true, value_name = "0|1", num_args = 0..=1, default_missing_value = "1")]
    direct: Option<String>,
    /// fio: writes between two calls of fsync
    #[arg(long, hide = true, value_name = "N")]
    fsync: Option<String>,
    /// fio: writes between two calls of fdatasync
    #[arg(long, hide = true, value_name = "N")]
    fdatasync: Option<String>,
    /// fio: every trial is timed here
    #[arg(long = "time_based", hide = true, action = ArgAction::SetTrue, alias = "time-based")]
    is_time_based: bool,
    /// fio: what is read or written
    #[arg(long, hide = true, value_name = "PATH")]
    filename: Option<String>,
    #[command(flatten)]
    foreign: Foreign,
}

impl FioWords {
    /// The draft with what they say; `native` is what our own flags say, which they may not contradict.
    pub(crate) fn write_over(&self, draft: Draft, native: &FactorFlags<Device>) -> anyhow::Result<Draft> {
        if let Some(path) = &self.filename {
            return Err(refusal(format!(
                "--filename is a fio option: `--read-only {path}` measures an existing file without writing; a directory as the argument gets a scratch file"
            )));
        }
        self.foreign.check().map_err(refusal)?;
        let mut draft = draft;
        let jobs = native.of(&JOBS).map_or(&[][..], |given| given.values.as_slice());
        for (said, typed) in self.said(jobs).map_err(refusal)? {
            if let Some(ours) = native.of(said.factor).filter(|ours| !ours.agrees(&said)) {
                return Err(refusal(contradiction(&typed, &ours.as_typed())));
            }
            draft = draft.with_workload(said.factor.about(), said.values, &said.flag);
        }
        Ok(draft)
    }

    /// The warm-up and the measured time, in whichever words they were given.
    pub(crate) fn times(&self, flags: &PlanFlags) -> anyhow::Result<(Option<TimeSpan>, Option<TimeSpan>)> {
        let one = |flag: &str, theirs: &Option<String>, name: &str, ours: Option<TimeSpan>| {
            let Some(text) = theirs else { return Ok(ours) };
            let span = time(flag, text)?;
            match ours.filter(|ours| *ours != span) {
                Some(ours) => Err(contradiction(
                    &format!("{flag} {text}"),
                    &format!("{name} {ours}"),
                )),
                None => Ok(Some(span)),
            }
        };
        let warm_up = one("--ramp_time", &self.ramp_time, "--warm-up", flags.warm_up);
        let duration = one("--runtime", &self.runtime, "--duration", flags.duration);
        Ok((warm_up.map_err(refusal)?, duration.map_err(refusal)?))
    }

    /// Refuses all of them together with a flag that says what they would.
    pub(crate) fn none_with(&self, flag: &str) -> anyhow::Result<()> {
        let said = self.said(&[]).map_err(|message| anyhow::anyhow!(message))?;
        let times = [
            ("--runtime", &self.runtime),
            ("--ramp_time", &self.ramp_time),
            ("--filename", &self.filename),
        ];
        let mut typed = said.into_iter().map(|(_, typed)| typed);
        let others = times
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
        match typed.next().or_else(|| others.into_iter().next()) {
            Some(typed) => Err(anyhow::anyhow!(contradiction(&typed, flag))),
            None => Ok(()),
        }
    }

    /// What was given and changes nothing, for a note.
    pub(crate) fn without_effect(&self) -> Option<String> {
        self.foreign.without_effect()
    }

    /// The factors that they state, each with the flags as they were typed; `jobs` are the numbers of jobs that were given.
    fn said(&self, jobs: &[String]) -> Result<Vec<(Given, String)>, String> {
        let mut said = Vec::new();
        if let Some(rw) = &self.rw {
            let (pattern, direction) = match rw.strip_prefix("rand") {
                Some(direction) => ("random", direction),
                None => ("sequential", rw.as_str()),
            };
            let mixes = mixes(rw, direction, &self.rwmixread)?;
            let typed = match self.rwmixread.as_slice() {
                [] => format!("--rw {rw}"),
                shares => format!("--rw {rw} --rwmixread {}", shares.join(",")),
            };
            let pattern = match &self.distribution {
                None => pattern.to_owned(),
                Some(distribution) if pattern == "random" => distributed(distribution)?,
                Some(distribution) => {
                    let theirs = format!("--random_distribution {distribution}");
                    return Err(contradiction(&typed, &theirs));
                }
            };
            let typed_pattern = match &self.distribution {
                None => typed.clone(),
                Some(distribution) => format!("--random_distribution {distribution}"),
            };
            said.push((stated(&ACCESS_PATTERN, vec![pattern], "--rw"), typed_pattern));
            said.push((stated(&READ_WRITE_MIX, mixes, "--rw"), typed));
        } else if !self.rwmixread.is_empty() {
            let shares = self.rwmixread.join(",");
            return Err(format!(
                "--rwmixread {shares} needs an access pattern: --rw randrw --rwmixread {shares}, or --rw rw"
            ));
        } else if let Some(distribution) = &self.distribution {
            let flag = "--random_distribution";
            let typed = format!("{flag} {distribution}");
            said.push((
                stated(&ACCESS_PATTERN, vec![distributed(distribution)?], flag),
                typed,
            ));
        }
        said.extend(self.arrival(jobs)?);
        said.extend(self.access()?);
        for (flag, count, call) in [
            ("--fsync", &self.fsync, ":fsync"),
            ("--fdatasync", &self.fdatasync, ""),
        ] {
            let Some(count) = count else { continue };
            let sync = match count.parse::<u32>() {
                Ok(0) => "none".to_owned(),
                Ok(count) => format!("every:{count}{call}"),
                Err(_) => {
                    return Err(format!(
                        "{flag} {count} is not a number of writes; for each of them type {flag} 1"
                    ));
                }
            };
            said.push((stated(&SYNC, vec![sync], flag), format!("{flag} {count}")));
        }
        Ok(said)
    }

    /// Past the page cache or through it.
    fn access(&self) -> Result<Option<(Given, String)>, String> {
        let access = match self.direct.as_deref() {
            None => return Ok(None),
            Some("1") => "direct",
            Some("0") => "buffered",
            Some(other) => {
                return Err(format!(
                    "--direct {other} is not known; expected 1 or 0, which are --access direct and buffered here"
                ));
            }
        };
        let typed = format!("--direct {}", self.direct.as_deref().unwrap_or_default());
        Ok(Some((
            stated(&ACCESS, vec![access.to_owned()], "--direct"),
            typed,
        )))
    }

    /// The open loop that fio's rate is: fio's is one of each job, ours is one of all of them.
    fn arrival(&self, jobs: &[String]) -> Result<Option<(Given, String)>, String> {
        if self.rates.is_empty() {
            return match &self.process {
                None => Ok(None),
                Some(process) => Err(format!(
                    "--rate_process {process} needs a rate: --rate_iops 5k --rate_process {process}"
                )),
            };
        }
        let process = match self.process.as_deref() {
            None | Some("linear") => "constant",
            Some("poisson") => "poisson",
            Some(other) => {
                return Err(format!(
                    "--rate_process {other} is not known; expected linear or poisson, which are --arrival constant:RATE and \
                     poisson:RATE here"
                ));
            }
        };
        let typed = format!("--rate_iops {}", self.rates.join(","));
        let is_mix = |rw: &str| rw.ends_with("rw") || rw.ends_with("readwrite");
        if let Some(rw) = self.rw.as_deref().filter(|rw| is_mix(rw)) {
            return Err(format!(
                "{typed} with --rw {rw} limits reads and writes separately in fio; give the rate of both together with --arrival {process}:RATE"
            ));
        }
        let count = match jobs {
            [] => 1.0,
            [one] => one.parse::<u32>().map_or(1.0, f64::from),
            several => {
                return Err(format!(
                    "{typed} is a rate per job, but --numjobs has the values {}: give one of them, or the rate of all jobs \
                     together with --arrival {process}:RATE",
                    several.join(", ")
                ));
            }
        };
        let of_all = |rate: &String| {
            let of_one = format!("{process}:{rate}");
            // What is no rate is refused by the factor, in its own words.
            let each = of_one
                .parse()
                .ok()
                .and_then(|arrival: Arrival| arrival.per_second());
            match each.filter(|_| count > 1.0) {
                Some(each) => format!("{process}:{}", each.per_second() * count),
                None => of_one,
            }
        };
        let values = self.rates.iter().map(of_all).collect();
        Ok(Some((stated(&ARRIVAL, values, "--rate_iops"), typed)))
    }
}

fn stated(factor: FactorRef, values: Vec<String>, flag: &str) -> Given {
    let flag = flag.to_owned();
    Given { factor, values, flag }
}

/// The mixes of a kind of I/O and the shares of reads that were given for it.
fn mixes(rw: &str, direction: &str, shares: &[String]) -> Result<Vec<String>, String> {
    let alone = match direction {
        "read" => "100:0",
        "write" => "0:100",
        "rw" | "readwrite" if shares.is_empty() => "50:50",
        "rw" | "readwrite" => {
            let mix = |share: &String| match share.parse::<u8>() {
                Ok(reads @ 0..=100) => Ok(format!("{reads}:{}", 100 - reads)),
                _ => Err(format!(
                    "--rwmixread {share} is not a share of reads; expected a percentage from 0 to 100, such as --rwmixread 70"
                )),
            };
            return shares.iter().map(mix).collect();
        }
        _ => {
            return Err(format!(
                "--rw={rw} is not known; expected read, write, randread, randwrite, rw or randrw (with --rwmixread), which \
                 are --access-pattern and --read-write-mix here"
            ));
        }
    };
    if shares.is_empty() {
        return Ok(vec![alone.to_owned()]);
    }
    let shares = shares.join(",");
    let mixed = if rw.starts_with("rand") { "randrw" } else { "rw" };
    Err(format!(
        "--rwmixread {shares} is the share of reads of a mix, but --rw {rw} is not a mix: --rw {mixed} --rwmixread {shares}, or \
         leave --rwmixread out"
    ))
}

/// Where random accesses go, in our words.
fn distributed(distribution: &str) -> Result<String, String> {
    match distribution.split_once(':') {
        None if distribution == "random" => Ok("random".to_owned()),
        Some(("zipf", theta)) => Ok(format!("zipfian:{theta}")),
        _ => Err(format!(
            "--random_distribution {distribution} is not one of Outcrop's; use random or zipf:1.2 (--access-pattern random, \
             zipfian:1.2)"
        )),
    }
}

/// A time as fio's flag has it, which has a unit here.
fn time(flag: &str, text: &str) -> Result<TimeSpan, String> {
    let why = |_| match text.parse::<f64>() {
        Ok(_) => format!("{flag} {text}: a time needs a unit here; for seconds type {flag} {text}s"),
        Err(_) => format!("{flag} {text} is not a time; type for instance {flag} 30s"),
    };
    text.parse().map_err(why)
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
            "posixaio" => Err(format!(
                "{value} is not available; io_uring and libaio are asynchronous too (--engine io_uring)"
            )),
            "sync" | "pvsync" | "pvsync2" => one("psync"),
            "null" => one("noop"),
            _ => one(value),
        },
        name if name == SYNC.name => match value {
            "0" => one("none"),
            "1" | "sync" => Err(format!(
                "--sync {value} is O_SYNC in fio; type --sync dsync for O_DSYNC, or --sync each:fsync for fsync after every write"
            )),
            _ => one(value),
        },
        name if name == QUEUE_DEPTH.name || name == JOBS.name => range(value),
        _ => one(value),
    }
};

fn pattern(value: &str) -> Result<Vec<String>, String> {
    let both = |pattern: &str, mix: &str| {
        Err(format!(
            "`{value}` is a fio word that combines two factors; use --access-pattern {pattern} --read-write-mix {mix}"
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
        return Err(format!("`{value}` is not a range; expected for example 1..64"));
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
