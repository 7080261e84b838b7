//! What fio's options say of a workload, in the words of Outcrop's factors; the table for people is `docs/from-fio.md`.

use outcrop_measure::ByteSize;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    ACCESS_PATTERN, ARRIVAL, CONTENT, ENGINE, IO_BLOCK_SIZE, JOBS, QUEUE_DEPTH, READ_WRITE_MIX, SCHEMA,
    SUBMISSION,
};
use outcrop_workload::{EngineKind, ReadWriteMix, Submission};

use crate::options::{Options, Problem};
use crate::quantity::{bytes, flag};

/// A factor, its value as plans spell it, and the option that says so.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) factor: FactorRef,
    pub(crate) value: String,
    pub(crate) option: &'static str,
}

/// What a job's options say of its workload: what can be said, and what cannot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workload {
    pub(crate) said: Vec<Said>,
    pub(crate) problems: Vec<Problem>,
}

/// The options that [`Workload::of`] always reads.
const READ: &[&str] = &[
    "rw",
    "rwmixread",
    "rwmixwrite",
    "random_distribution",
    "bs",
    "iodepth",
    "numjobs",
    "ioengine",
    "rate_iops",
    "rate_process",
    "zero_buffers",
    "buffer_compress_percentage",
    "iodepth_batch",
    "iodepth_batch_complete_min",
    "kb_base",
    "direct",
    "buffered",
];
/// Those that say when writes become durable.
const OF_DURABILITY: [&str; 3] = ["fsync", "fdatasync", "sync"];

/// Whether [`Workload::of`] reads an option.
pub(crate) fn reads(name: &str) -> bool {
    READ.contains(&name) || (OF_DURABILITY.contains(&name) && durability_factor().is_some())
}

/// The factor that says when writes become durable, where the device layer has it.
pub(crate) fn durability_factor() -> Option<FactorRef> {
    SCHEMA.factor("sync")
}

/// The factor that says whether the page cache is bypassed, where the device layer has it.
pub(crate) fn access_factor() -> Option<FactorRef> {
    SCHEMA.factor("access")
}

/// Whether requests bypass the page cache; fio's default is that they do not.
pub(crate) fn is_direct(options: &Options) -> bool {
    let is_set = |name: &str| options.value(name).map(flag);
    is_set("direct") == Some(Ok(true)) || is_set("buffered") == Some(Ok(false))
}

/// Engines of fio that wait for each request: a depth beyond 1 has no effect.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "pvsync", "pvsync2", "vsync", "mmap"];

impl Workload {
    /// Reads the options, with fio's own default where one is left out.
    pub(crate) fn of(options: &Options) -> Self {
        let mut workload = Self::default();
        let access = workload.take(access(options));
        let mix = access.as_ref().map(|(_, mix)| *mix);
        if let Some((pattern, mix)) = access {
            workload.say(&ACCESS_PATTERN, pattern, "rw");
            workload.say(&READ_WRITE_MIX, mix.to_string(), "rw");
        }
        if let Some(size) = workload.take(block_size(options, mix)) {
            workload.say(&IO_BLOCK_SIZE, ByteSize(size).to_string(), "bs");
        }
        let engine = engine(options);
        let depth = workload.take(count(options, "iodepth"));
        if let Some(depth) = depth {
            let is_synchronous = engine == EngineKind::Psync.to_string();
            let depth = if is_synchronous { 1 } else { depth };
            workload.say(&QUEUE_DEPTH, depth.to_string(), "iodepth");
        }
        let jobs = workload.take(count(options, "numjobs"));
        if let Some(jobs) = jobs {
            workload.say(&JOBS, jobs.to_string(), "numjobs");
        }
        workload.say(&ENGINE, engine, "ioengine");
        if let Some(arrival) = workload.take(arrival(options, mix, jobs.unwrap_or(1))) {
            workload.say(&ARRIVAL, arrival, "rate_iops");
        }
        if let Some(content) = workload.take(content(options)) {
            workload.say(&CONTENT, content, "buffer_compress_percentage");
        }
        workload.say(&SUBMISSION, submission(options).to_string(), "iodepth_batch");
        if let Some(factor) = access_factor() {
            let access = if is_direct(options) { "direct" } else { "buffered" };
            workload.say(factor, access.to_owned(), "direct");
        }
        if let Some(factor) = durability_factor()
            && let Some(durability) = workload.take(durability(options))
        {
            workload.say(factor, durability, "fsync");
        }
        workload
    }

    /// What was said of a factor.
    pub(crate) fn value(&self, factor: FactorRef) -> Option<&str> {
        let said = self.said.iter().find(|said| said.factor.name == factor.name);
        said.map(|said| said.value.as_str())
    }

    fn say(&mut self, factor: FactorRef, value: String, option: &'static str) {
        self.said.push(Said {
            factor,
            value,
            option,
        });
    }

    fn take<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }
}

/// Where requests go, and how many of them read.
fn access(options: &Options) -> Result<(String, ReadWriteMix), Problem> {
    let rw = options.value("rw").unwrap_or("read");
    let (is_random, direction) = match rw.strip_prefix("rand") {
        Some(direction) => (true, direction),
        None => (false, rw),
    };
    let mix = match direction {
        "read" => ReadWriteMix::READ_ONLY,
        "write" => ReadWriteMix::WRITE_ONLY,
        "rw" | "readwrite" => of_reads(share_of_reads(options)?),
        _ => {
            let reason = if direction.contains(':') {
                format!(
                    "`{rw}` moves on by a distance between requests; rw without it is random or in sequence"
                )
            } else if direction.contains("trim") {
                format!("`{rw}` trims; Outcrop measures reads and writes")
            } else {
                format!("`{rw}` is not known; expected read, write, rw, randread, randwrite or randrw")
            };
            return Err(problem(options, "rw", reason));
        }
    };
    let distribution = options.value("random_distribution").filter(|_| is_random);
    let pattern = match distribution.map(|text| (text, text.split_once(':'))) {
        None if !is_random => "sequential".to_owned(),
        None | Some(("random", None)) => "random".to_owned(),
        Some((_, Some(("zipf", theta)))) if theta.parse::<f64>().is_ok() => format!("zipfian:{theta}"),
        Some((text, _)) => {
            let reason = format!("`{text}` is not one of Outcrop's distributions; take random or zipf:THETA");
            return Err(problem(options, "random_distribution", reason));
        }
    };
    Ok((pattern, mix))
}

fn of_reads(percent: u8) -> ReadWriteMix {
    ReadWriteMix::of_reads(percent).unwrap_or(ReadWriteMix::READ_ONLY)
}

/// The share of reads of a mix; fio's default is one half.
fn share_of_reads(options: &Options) -> Result<u8, Problem> {
    let percent = |text: &str| match text.parse::<u8>() {
        Ok(percent @ 0..=100) => Ok(percent),
        _ => Err(format!("`{text}` is not a share in per cent, from 0 to 100")),
    };
    if let Some(reads) = options.read("rwmixread", percent)? {
        return Ok(reads);
    }
    let writes = options.read("rwmixwrite", percent)?;
    Ok(writes.map_or(50, |writes| 100 - writes))
}

/// Bytes of a request, where all have the same.
fn block_size(options: &Options, mix: Option<ReadWriteMix>) -> Result<u64, Problem> {
    /// fio's default.
    const USUAL: u64 = 4096;
    let Some(given) = options.get("bs") else {
        return Ok(USUAL);
    };
    let refuse = |reason: String| Problem::of(given, reason);
    // Of reads, of writes, of trims; one that is left out is as the one before.
    let mut parts = given.value.split(',');
    let size = |text: &str| bytes(text, options.is_si()).map_err(refuse);
    let of_reads = size(parts.next().unwrap_or_default())?;
    let of_writes = match parts.next() {
        Some(text) if !text.is_empty() => size(text)?,
        _ => of_reads,
    };
    match mix {
        Some(mix) if !mix.has_writes() => Ok(of_reads),
        Some(mix) if !mix.has_reads() => Ok(of_writes),
        _ if of_reads == of_writes => Ok(of_reads),
        _ => Err(Problem::of(
            given,
            format!(
                "`{}` gives reads and writes other sizes; here all requests of a cell have one",
                given.value
            ),
        )),
    }
}

/// A whole number that is 1 where nothing says otherwise.
fn count(options: &Options, name: &str) -> Result<u64, Problem> {
    let read = |text: &str| match bytes(text, options.is_si()) {
        Ok(count @ 1..=0xffff_ffff) => Ok(count),
        _ => Err(format!("`{text}` is not a number of at least 1")),
    };
    Ok(options.read(name, read)?.unwrap_or(1))
}

/// The engine in our words where it is one of ours, else in fio's.
fn engine(options: &Options) -> String {
    let engine = options.value("ioengine").unwrap_or("psync");
    match engine {
        engine if SYNCHRONOUS.contains(&engine) && engine != "mmap" => EngineKind::Psync.to_string(),
        "null" => EngineKind::Noop.to_string(),
        other => other.to_owned(),
    }
}

/// fio's rate, which is one of each job; ours is one of all of them.
fn arrival(options: &Options, mix: Option<ReadWriteMix>, jobs: u64) -> Result<String, Problem> {
    let Some(given) = options.get("rate_iops") else {
        return Ok("closed".to_owned());
    };
    let refuse = |reason: String| Problem::of(given, reason);
    let mut parts = given.value.split(',').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let second = parts.next().filter(|text| !text.is_empty()).unwrap_or(first);
    let text = match mix {
        Some(mix) if !mix.has_reads() => second,
        Some(mix) if mix.has_writes() => {
            return Err(refuse(format!(
                "`{}` bounds reads and writes apart; here a rate is one of all requests",
                given.value
            )));
        }
        _ => first,
    };
    let rate = match bytes(text, options.is_si()) {
        Ok(rate) if rate > 0 => rate.saturating_mul(jobs),
        _ => return Err(refuse(format!("`{text}` is not a number of requests per second"))),
    };
    match options.value("rate_process") {
        None | Some("linear") => Ok(format!("constant:{rate}")),
        Some("poisson") => Ok(format!("poisson:{rate}")),
        Some(other) => Err(problem(
            options,
            "rate_process",
            format!("`{other}` is not known; expected linear or poisson"),
        )),
    }
}

/// What writes contain; fio's buffers are random where nothing else is asked for.
fn content(options: &Options) -> Result<String, Problem> {
    if options.read("zero_buffers", flag)? == Some(true) {
        return Ok("zeros".to_owned());
    }
    let percent = |text: &str| match text.parse::<u8>() {
        Ok(percent @ 0..=98) => Ok(percent),
        Ok(percent @ 99..=100) => Err(format!(
            "`{percent}` leaves next to nothing; zero_buffers writes zeros"
        )),
        _ => Err(format!("`{text}` is not a share in per cent, from 0 to 98")),
    };
    match options.read("buffer_compress_percentage", percent)? {
        None | Some(0) => Ok("random".to_owned()),
        Some(percent) => Ok(format!("compressible:{:.3}", 100.0 / f64::from(100 - percent))),
    }
}

/// When writes become durable, as the factor spells it.
fn durability(options: &Options) -> Result<String, Problem> {
    let writes = |text: &str| {
        text.parse::<u32>()
            .map_err(|_| format!("`{text}` is not a number of writes"))
    };
    let fsync = options.read("fsync", writes)?.filter(|count| *count > 0);
    let fdatasync = options.read("fdatasync", writes)?.filter(|count| *count > 0);
    let dsync = match options.value("sync") {
        None | Some("0" | "none") => false,
        Some("2" | "dsync") => true,
        Some(other) => {
            let reason = format!("`{other}` is O_SYNC; sync=dsync (O_DSYNC) and fsync=1 have counterparts");
            return Err(problem(options, "sync", reason));
        }
    };
    match (fsync, fdatasync, dsync) {
        (None, None, false) => Ok("none".to_owned()),
        (None, None, true) => Ok("dsync".to_owned()),
        (Some(count), None, false) => Ok(format!("every:{count}:fsync")),
        (None, Some(count), false) => Ok(format!("every:{count}")),
        _ => {
            let given = if fsync.is_some() { "fsync" } else { "fdatasync" };
            Err(problem(
                options,
                given,
                "it stands with another way to make writes durable; keep one".to_owned(),
            ))
        }
    }
}

fn submission(options: &Options) -> Submission {
    let batched = |name: &str| {
        let value = options.value(name).and_then(|text| text.parse::<u32>().ok());
        value.is_some_and(|count| count > 1)
    };
    match batched("iodepth_batch") || batched("iodepth_batch_complete_min") {
        true => Submission::Batch,
        false => Submission::Refill,
    }
}

/// What is wrong with an option, whether or not it was given.
fn problem(options: &Options, name: &str, reason: String) -> Problem {
    match options.get(name) {
        Some(given) => Problem::of(given, reason),
        None => Problem {
            option: name.to_owned(),
            at: String::new(),
            reason,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pairs: &[(&str, &str)]) -> Workload {
        let mut options = Options::default();
        for (name, value) in pairs {
            options.set(name, value, "x.fio:1");
        }
        Workload::of(&options)
    }

    #[test]
    fn what_is_left_out_is_as_fio_has_it() {
        let workload = said(&[]);
        assert!(workload.problems.is_empty(), "{:?}", workload.problems);
        let values: Vec<&str> = workload.said.iter().map(|said| said.value.as_str()).collect();
        assert_eq!(
            values[..9],
            [
                "sequential",
                "100:0",
                "4KiB",
                "1",
                "1",
                "psync",
                "closed",
                "random",
                "refill"
            ]
        );
    }

    #[test]
    fn options_become_the_values_of_factors() {
        for (pairs, factor, value) in [
            (
                &[("rw", "randrw"), ("rwmixwrite", "30")][..],
                &READ_WRITE_MIX as FactorRef,
                "70:30",
            ),
            (&[("readwrite", "randwrite")], &READ_WRITE_MIX, "0:100"),
            (
                &[("rw", "randread"), ("random_distribution", "zipf:1.2")],
                &ACCESS_PATTERN,
                "zipfian:1.2",
            ),
            (&[("rw", "write"), ("bs", "4k,64k")], &IO_BLOCK_SIZE, "64KiB"),
            (&[("bs", "128KiB"), ("kb_base", "1000")], &IO_BLOCK_SIZE, "128KiB"),
            (&[("ioengine", "sync"), ("iodepth", "32")], &QUEUE_DEPTH, "1"),
            (&[("ioengine", "libaio"), ("iodepth", "32")], &QUEUE_DEPTH, "32"),
            (&[("ioengine", "libaio")], &ENGINE, "libaio"),
            (
                &[
                    ("rate_iops", "500"),
                    ("numjobs", "4"),
                    ("rate_process", "poisson"),
                ],
                &ARRIVAL,
                "poisson:2000",
            ),
            (
                &[("rw", "write"), ("rate_iops", "100,200")],
                &ARRIVAL,
                "constant:200",
            ),
            (
                &[("buffer_compress_percentage", "50")],
                &CONTENT,
                "compressible:2.000",
            ),
            (&[("zero_buffers", "")], &CONTENT, "zeros"),
            (&[("iodepth_batch_submit", "16")], &SUBMISSION, "batch"),
        ] {
            let workload = said(pairs);
            assert_eq!(workload.value(factor), Some(value), "{pairs:?}");
            assert!(workload.problems.is_empty(), "{pairs:?}: {:?}", workload.problems);
        }
    }

    #[test]
    fn what_has_no_counterpart_is_named_with_its_option() {
        for (pairs, option) in [
            (&[("rw", "randtrim")][..], "rw"),
            (&[("rw", "read:8k")], "rw"),
            (&[("rw", "randrw"), ("rwmixread", "170")], "rwmixread"),
            (&[("rw", "rw"), ("bs", "4k,8k")], "bs"),
            (
                &[("rw", "randread"), ("random_distribution", "pareto:0.9")],
                "random_distribution",
            ),
            (&[("iodepth", "0")], "iodepth"),
            (&[("rw", "rw"), ("rate_iops", "500")], "rate_iops"),
        ] {
            let problems = said(pairs).problems;
            assert_eq!(problems.len(), 1, "{pairs:?}: {problems:?}");
            assert_eq!(problems[0].option, option, "{pairs:?}");
        }
    }
}
