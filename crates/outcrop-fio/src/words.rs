//! What fio's options say of a workload, in the words of Outcrop's factors; the table for people is `docs/from-fio.md`.

mod rates;
mod sizes;

use outcrop_measure::ByteSize;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, COMPLETIONS, CONTENT, ENGINE, IO_BLOCK_SIZE, JOBS, NUMA_NODE,
    QUEUE_DEPTH, READ_WRITE_MIX, SUBMISSION, SYNC,
};
use outcrop_workload::filesystem::FileAccess;
use outcrop_workload::{Completions, Content, Durability, EngineKind, ReadWriteMix, Submission};

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
    "bsrange",
    "rate",
    "rate_iops",
    "rate_process",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "zero_buffers",
    "buffer_compress_percentage",
    "iodepth_batch",
    "iodepth_batch_complete_min",
    "kb_base",
    "direct",
    "buffered",
    "hipri",
    "fsync",
    "fdatasync",
    "sync",
];

/// Whether [`Workload::of`] reads an option.
pub(crate) fn reads(name: &str) -> bool {
    READ.contains(&name)
}

/// Whether requests bypass the page cache; fio's default is that they do not.
pub(crate) fn is_direct(options: &Options) -> bool {
    direct(options).is_ok_and(|direct| direct == Some(true))
}

/// The same, as far as options say it: both of them set one thing.
fn direct(options: &Options) -> Result<Option<bool>, Vec<Problem>> {
    options.later(
        ("direct", flag),
        ("buffered", |text| flag(text).map(|is_set| !is_set)),
    )
}

/// Engines of fio that wait for each request: a depth beyond 1 has no effect.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "pvsync", "pvsync2", "vsync", "mmap"];

/// Options that make writes durable.
pub(crate) const SYNCS: [&str; 3] = ["fsync", "fdatasync", "sync"];

/// The engine and the depth that it ignores, where a job asks for more than one request in flight of an engine that waits for each.
pub(crate) fn ignored_depth(options: &Options) -> Option<(&str, u64)> {
    let given = options.value("ioengine").unwrap_or("psync");
    let depth = count(options, "iodepth").ok()?;
    let is_ignored = engine(options) == EngineKind::Psync.to_string() && depth > 1;
    is_ignored.then_some((given, depth))
}

impl Workload {
    /// Reads the options, with fio's own default where one is left out.
    pub(crate) fn of(options: &Options) -> Self {
        let mut workload = Self::default();
        let mix = match access(options) {
            Ok((pattern, mix)) => {
                workload.say(&ACCESS_PATTERN, pattern, "rw");
                mix
            }
            Err(problems) => Err(problems),
        };
        let mix = match mix {
            Ok(mix) => {
                workload.say(&READ_WRITE_MIX, mix.to_string(), "rw");
                Some(mix)
            }
            Err(problems) => {
                workload.problems.extend(problems);
                None
            }
        };
        let size = workload.take(sizes::block_size(options, mix));
        if let Some(size) = size {
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
        let asked = rates::Asked {
            mix,
            jobs: jobs.unwrap_or(1),
            size,
        };
        if let Some(arrival) = workload.take(rates::arrival(options, &asked)) {
            workload.say(&ARRIVAL, arrival, "rate_iops");
        }
        if let Some(Some(node)) = workload.take(numa_node(options)) {
            workload.say(&NUMA_NODE, node, "numa_cpu_nodes");
        }
        if let Some(Some(content)) = workload.take(content(options)) {
            workload.say(&CONTENT, content, "buffer_compress_percentage");
        }
        if let Some(Some(true)) = workload.take(options.read("hipri", flag)) {
            workload.say(&COMPLETIONS, Completions::Polled.to_string(), "hipri");
        }
        workload.say(&SUBMISSION, submission(options).to_string(), "iodepth_batch");
        match direct(options) {
            Ok(Some(true)) => workload.say(&ACCESS, FileAccess::Direct.to_string(), "direct"),
            Ok(_) => workload.say(&ACCESS, FileAccess::Buffered.to_string(), "direct"),
            Err(problems) => workload.problems.extend(problems),
        }
        if let Some(durability) = workload.take(durability(options)) {
            // fio syncs after writes: where there are none, the options have no effect.
            let durability = match mix.is_some_and(|mix| !mix.has_writes()) {
                true => Durability::None.to_string(),
                false => durability,
            };
            workload.say(&SYNC, durability, "fsync");
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

/// The share of reads, or why options do not say it.
type Mix = Result<ReadWriteMix, Vec<Problem>>;

/// Where requests go, and how many of them read.
fn access(options: &Options) -> Result<(String, Mix), Vec<Problem>> {
    let refuse = |name: &str, reason: String| Err(vec![problem(options, name, reason)]);
    let rw = options.value("rw").unwrap_or("read");
    let (is_random, direction) = match rw.strip_prefix("rand") {
        Some(direction) => (true, direction),
        None => (false, rw),
    };
    let (direction, distance) = match direction.split_once(':') {
        Some((direction, distance)) => (direction, Some(distance)),
        None => (direction, None),
    };
    let mix = match direction {
        "read" => Ok(ReadWriteMix::READ_ONLY),
        "write" => Ok(ReadWriteMix::WRITE_ONLY),
        "rw" | "readwrite" => share_of_reads(options).map(of_reads),
        _ => {
            let reason = if direction.contains("trim") {
                format!("`{rw}` trims; Outcrop measures reads and writes")
            } else {
                format!("`{rw}` is not known; expected read, write, rw, randread, randwrite or randrw")
            };
            return refuse("rw", reason);
        }
    };
    if let Some(distance) = distance {
        let mix = mix?;
        let pattern = stride(options, is_random, distance, mix).map_err(|problem| vec![problem])?;
        return Ok((pattern, Ok(mix)));
    }
    let distribution = options.value("random_distribution").filter(|_| is_random);
    let pattern = match distribution.map(|text| (text, text.split_once(':'))) {
        None if !is_random => "sequential".to_owned(),
        None | Some(("random", None)) => "random".to_owned(),
        Some((_, Some(("zipf", theta)))) if theta.parse::<f64>().is_ok() => format!("zipfian:{theta}"),
        Some((text, _)) => {
            let reason = format!("`{text}` is not one of Outcrop's distributions; use random or zipf:THETA");
            return refuse("random_distribution", reason);
        }
    };
    Ok((pattern, mix))
}

/// Requests in sequence that leave out so much between two of them.
fn stride(options: &Options, is_random: bool, distance: &str, mix: ReadWriteMix) -> Result<String, Problem> {
    let refuse = |reason: String| problem(options, "rw", reason);
    if is_random {
        return Err(refuse(format!(
            "`:{distance}` draws a place once for several requests; here one is drawn for each"
        )));
    }
    if distance.starts_with('-') {
        return Err(refuse(format!(
            "`:{distance}` goes backwards; here requests in sequence go forwards"
        )));
    }
    let size = sizes::block_size(options, Some(mix))?;
    let between = bytes(distance, options.is_si()).map_err(refuse)?;
    match between {
        0 => Ok("sequential".to_owned()),
        between if between.is_multiple_of(size) => {
            Ok(format!("strided:{}", ByteSize(size.saturating_add(between))))
        }
        _ => Err(refuse(format!(
            "`:{distance}` is not a multiple of the request's {}, to which requests are aligned here",
            ByteSize(size)
        ))),
    }
}

fn of_reads(percent: u8) -> ReadWriteMix {
    ReadWriteMix::of_reads(percent).unwrap_or(ReadWriteMix::READ_ONLY)
}

/// The share of reads of a mix, which two options set; fio's default is one half.
fn share_of_reads(options: &Options) -> Result<u8, Vec<Problem>> {
    let percent = |text: &str| match text.parse::<u8>() {
        Ok(percent @ 0..=100) => Ok(percent),
        _ => Err(format!("`{text}` is not a percentage from 0 to 100")),
    };
    let of_writes = |text: &str| percent(text).map(|writes| 100 - writes);
    let share = options.later(("rwmixread", percent), ("rwmixwrite", of_writes))?;
    Ok(share.unwrap_or(50))
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

/// What writes contain; fio's buffers are random where nothing else is asked for, and none of our contents is a pattern. In whichever order
/// options stand, fio looks at the share that compresses first, then at a pattern, then at zeros.
fn content(options: &Options) -> Result<Option<String>, Problem> {
    let is_zeros = options.read("zero_buffers", flag)? == Some(true);
    let percent = |text: &str| match text.parse::<u8>() {
        Ok(percent @ 0..=98) => Ok(percent),
        Ok(percent @ 99..=100) => Err(format!(
            "`{percent}` leaves next to nothing to write; zero_buffers writes zeros"
        )),
        _ => Err(format!("`{text}` is not a percentage from 0 to 98")),
    };
    let compresses = options.read("buffer_compress_percentage", percent)?;
    let repeats = options
        .value("dedupe_percentage")
        .is_some_and(|share| share != "0");
    Ok(match compresses.filter(|percent| *percent > 0) {
        Some(percent) => Some(compressible(percent).to_string()),
        None if repeats => Some("random".to_owned()),
        None if options.get("buffer_pattern").is_some() => None,
        None if is_zeros => Some("zeros".to_owned()),
        None => Some("random".to_owned()),
    })
}

/// Content of which a compressor saves this share, in per cent below 99: a ratio of three decimals.
pub fn compressible(percent: u8) -> Content {
    let ratio = 100.0 / (100.0 - f64::from(percent));
    Content::Compressible {
        ratio: (ratio * 1000.0).round() / 1000.0,
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
                "it contradicts another option that makes writes durable; keep one of the two".to_owned(),
            ))
        }
    }
}

/// The node of threads and buffers, where both are bound to one.
fn numa_node(options: &Options) -> Result<Option<String>, Problem> {
    let nodes = options.value("numa_cpu_nodes");
    let memory = options.value("numa_mem_policy");
    let follows =
        |node: &str| memory.is_none_or(|policy| policy == "local" || policy == format!("bind:{node}"));
    match (nodes, memory) {
        (None, None | Some("default" | "local")) => Ok(None),
        (Some(node), _) if node.parse::<u32>().is_ok() && follows(node) => Ok(Some(node.to_owned())),
        _ => {
            let reason = "threads and their buffers are bound to the same node here; for anything else, run outcrop under `numactl`";
            let at_fault = if nodes.is_some() {
                "numa_cpu_nodes"
            } else {
                "numa_mem_policy"
            };
            Err(problem(options, at_fault, reason.to_owned()))
        }
    }
}

fn submission(options: &Options) -> Submission {
    let number = |name: &str| options.value(name).and_then(|text| text.parse::<u32>().ok());
    let handed_over = match number("iodepth_batch") {
        // As many as the depth.
        Some(0) => number("iodepth"),
        given => given,
    };
    let several = |count: Option<u32>| count.is_some_and(|count| count > 1);
    match several(handed_over) || several(number("iodepth_batch_complete_min")) {
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
mod tests;
