//! fio's names for what `outcrop device` measures: understood where they mean the same, answered with ours where they do not.
//!
//! The table is `docs/from-fio.md`.

mod foreign;
mod spelling;

use clap::{ArgAction, Args};
use outcrop_lab::Draft;
use outcrop_measure::units::TimeSpan;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, ENGINE, IO_BLOCK_SIZE, JOBS, QUEUE_DEPTH, READ_WRITE_MIX, SYNC,
};
use outcrop_workload::{Arrival, ReadWriteMix};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use super::device::Device;
use super::factor_flags::{FactorFlags, Given, contradiction};
use super::plan_flags::PlanFlags;
use crate::exit::bad_input;
use foreign::Foreign;
pub(crate) use spelling::SPELL;

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
    /// The draft, in which our own flags stand already, with what they say; `native` is what our own flags say, which they may not contradict.
    pub(crate) fn write_over(&self, draft: Draft, native: &FactorFlags<Device>) -> anyhow::Result<Draft> {
        if let Some(path) = &self.filename {
            return Err(refusal(instead_of_filename(path, self.writes(native))));
        }
        let mut draft = draft;
        let jobs = native.of(&JOBS).map_or(&[][..], |given| given.values.as_slice());
        for (said, typed) in self.said(jobs).map_err(refusal)? {
            if let Some(ours) = native.of(said.factor).filter(|ours| !ours.agrees(&said)) {
                if is_fios_no_sync(&said) {
                    continue;
                }
                if !is_fios_no_sync(ours) {
                    return Err(refusal(contradiction(&typed, &ours.as_typed())));
                }
            }
            draft = draft.with_workload(said.factor.about(), said.values, &said.flag);
        }
        Ok(draft)
    }

    /// Refuses those of fio's options that Outcrop does not have, whatever else is asked for, and those that turn off what Outcrop's flags ask for.
    pub(crate) fn check_foreign(&self, native: &FactorFlags<Device>) -> anyhow::Result<()> {
        self.foreign.check().map_err(refusal)?;
        native.all().iter().try_for_each(|ours| self.check_beside(ours))
    }

    /// Refuses an option that turns off what one of Outcrop's flags asks for.
    pub(crate) fn check_beside(&self, ours: &Given) -> anyhow::Result<()> {
        self.foreign.check_beside(ours).map_err(refusal)
    }

    /// Refuses to check what was written where fio's option says not to.
    pub(crate) fn check_verify(&self) -> anyhow::Result<()> {
        match self.foreign.has("do_verify") {
            true => Err(refusal(contradiction("--do_verify=0", "--verify"))),
            false => Ok(()),
        }
    }

    /// Whether what was given asks for writes.
    fn writes(&self, native: &FactorFlags<Device>) -> bool {
        let theirs = self.rw.as_deref().unwrap_or_default();
        let is_of_writes = |mix: &String| mix.parse().is_ok_and(ReadWriteMix::has_writes);
        let ours = native.of(&READ_WRITE_MIX);
        let ours = ours.is_some_and(|given| given.values.iter().any(is_of_writes));
        ours || theirs.contains("write") || theirs.ends_with("rw")
    }

    /// Refuses a value that was typed behind a switch, and that was taken for the directory.
    pub(crate) fn check_path(&self, path: &Path) -> anyhow::Result<()> {
        let is_value = matches!(path.to_str(), Some("0" | "1")) && !path.exists();
        let mut switches = self.foreign.switches();
        if self.is_time_based {
            switches.push("--time_based".to_owned());
        }
        match switches.as_slice() {
            [_, ..] if is_value => Err(refusal(format!(
                "`{}` was taken for a directory, which does not exist: fio's {} takes no value here; leave the value out",
                path.display(),
                switches.join(" or ")
            ))),
            _ => Ok(()),
        }
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
        said.extend(self.sync()?);
        Ok(said)
    }

    /// The syncs that follow writes. 0 is fio's default, and says nothing next to another.
    fn sync(&self) -> Result<Option<(Given, String)>, String> {
        let mut said: Option<(u32, Given, String)> = None;
        for (flag, writes, call) in [
            ("--fsync", &self.fsync, ":fsync"),
            ("--fdatasync", &self.fdatasync, ""),
        ] {
            let Some(writes) = writes else { continue };
            let Ok(count) = writes.parse::<u32>() else {
                return Err(format!(
                    "{flag} {writes} is not a number of writes, such as {flag} 1 for each write; --sync takes a list: --sync each{call},every:8{call}"
                ));
            };
            let sync = match count {
                0 => "none".to_owned(),
                count => format!("every:{count}{call}"),
            };
            let typed = format!("{flag} {writes}");
            said = match said {
                Some((1.., _, before)) if count > 0 => return Err(contradiction(&before, &typed)),
                Some(before @ (1.., ..)) => Some(before),
                _ => {
                    let mut given = stated(&SYNC, vec![sync], flag);
                    given.typed = vec![count.to_string()];
                    Some((count, given, typed))
                }
            };
        }
        Ok(said.map(|(_, given, typed)| (given, typed)))
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

/// Whether it is the 0 that is fio's default of each of its syncs (`sync`, `fsync`, `fdatasync`), and says nothing next to another.
fn is_fios_no_sync(given: &Given) -> bool {
    given.factor.name == SYNC.name && given.typed == ["0"]
}

fn stated(factor: FactorRef, values: Vec<String>, flag: &str) -> Given {
    let flag = flag.to_owned();
    Given {
        factor,
        typed: values.clone(),
        values,
        flag,
    }
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
        _ if rw.contains(',') => {
            return Err(format!(
                "--rw={rw} names several kinds of I/O, and --rw takes one; --access-pattern and --read-write-mix take lists, such as \
                 --access-pattern random --read-write-mix 100:0,0:100 for randread and randwrite"
            ));
        }
        _ if direction.contains(":-") => {
            return Err(format!(
                "--rw={rw} goes backwards; here requests in sequence go forwards"
            ));
        }
        _ if direction.contains(':') && rw.starts_with("rand") => {
            return Err(format!(
                "--rw={rw} draws a place once for several requests; here one is drawn for each: leave the number out"
            ));
        }
        _ if direction.contains(':') => {
            return Err(format!(
                "--rw={rw} leaves bytes out between two requests; here a stride counts from start to start: with 4 KiB requests, read:60k is \
                 --access-pattern strided:64KiB --read-write-mix 100:0"
            ));
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

/// What to type for fio's name of what is read or written.
fn instead_of_filename(path: &str, writes: bool) -> String {
    let found = std::fs::metadata(path).ok().filter(|_| writes);
    let quoted = outcrop_report::quoted(path);
    match found.map(|found| found.file_type().is_block_device()) {
        Some(true) => format!(
            "--filename is a fio option: `outcrop device {quoted} --destroy NAME` overwrites all data of the device, where NAME is its serial \
             number (of a loop device: the path of its file); `--read-only {quoted}` only reads it"
        ),
        Some(false) if !Path::new(path).is_dir() => format!(
            "--filename is a fio option: Outcrop does not write to files that it did not create; a directory as the argument gets a scratch \
             file, and `--read-only {quoted}` measures this file without writing"
        ),
        _ => format!(
            "--filename is a fio option: `--read-only {quoted}` measures an existing file without writing; a directory as the argument gets a scratch file"
        ),
    }
}
