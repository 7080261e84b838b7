//! A cell's factors as the options of a job of fio.

use outcrop_measure::ByteSize;
use outcrop_results::CellView;
use outcrop_results::factors::NOT_STATED;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, COMPLETIONS, CONTENT, ENGINE, IO_BLOCK_SIZE, JOBS, LATENCY_PARTS,
    NUMA_NODE, QUEUE_DEPTH, READ_WRITE_MIX, SCHEMA, SPAN, SUBMISSION, SYNC,
};
use outcrop_schema::{FactorRef, Settings};
use outcrop_workload::filesystem::FileAccess;
use outcrop_workload::{
    AccessPattern, Arrival, Arrivals, Completions, Content, EngineKind, LatencyParts, NumaPlace,
    ReadWriteMix, Submission,
};
use serde_json::{Map, Value};

use crate::results::{CONDITION_PREFIX, LAYOUT, SHARED_WITH, SYNCS};

/// Factors that have options.
static TRANSLATED: [FactorRef; 15] = [
    &ACCESS,
    &ACCESS_PATTERN,
    &ARRIVAL,
    &COMPLETIONS,
    &CONTENT,
    &ENGINE,
    &IO_BLOCK_SIZE,
    &JOBS,
    &LATENCY_PARTS,
    &NUMA_NODE,
    &QUEUE_DEPTH,
    &READ_WRITE_MIX,
    &SPAN,
    &SUBMISSION,
    &SYNC,
];

/// The options of one job.
#[derive(Clone, Debug)]
pub(super) struct FioOptions {
    options: Vec<(String, String)>,
    /// Requests had a schedule, and latencies from the real start are apart.
    pub(super) is_open_loop: bool,
    pub(super) mix: ReadWriteMix,
}

/// The options of a cell.
///
/// # Errors
/// A clause that says what has no counterpart.
pub(super) fn of(cell: &CellView<'_>) -> Result<FioOptions, String> {
    let settings = SCHEMA.read(cell.factors);
    let mut options = Vec::new();
    let mut put = |name: &str, value: String| options.push((name.to_owned(), value));
    let pattern = settings
        .get(&ACCESS_PATTERN)
        .ok_or("its access pattern is not stated, but fio's `rw` needs it")?;
    let mix = *settings
        .get(&READ_WRITE_MIX)
        .ok_or("its mix of reads and writes is not stated, but fio's `rw` needs it")?;
    put("rw", rw(*pattern, mix, settings.get(&IO_BLOCK_SIZE))?);
    if !(mix == ReadWriteMix::READ_ONLY || mix == ReadWriteMix::WRITE_ONLY) {
        put("rwmixread", mix.read_percent().to_string());
    }
    if let AccessPattern::Zipfian { theta } = pattern {
        put("random_distribution", format!("zipf:{theta}"));
    }
    if let Some(size) = settings.get(&IO_BLOCK_SIZE) {
        put("bs", size_of(*size));
    }
    if let Some(depth) = settings.get(&QUEUE_DEPTH) {
        put("iodepth", depth.to_string());
    }
    let jobs = settings.get(&JOBS).copied().unwrap_or(1);
    put("numjobs", jobs.to_string());
    put("ioengine", engine(cell, &settings));
    if let Some(size) = settings.get(&SPAN).and_then(|span| span.bytes()) {
        put("size", size_of(size));
    }
    let is_open_loop = settings
        .get(&ARRIVAL)
        .is_some_and(|arrivals| *arrivals != Arrivals::Given(Arrival::Closed));
    for (name, value) in optional(&settings, jobs)? {
        put(name, value);
    }
    if settings.get(&SUBMISSION) == Some(&Submission::Batch) {
        let half = settings.get(&QUEUE_DEPTH).map_or(2, |depth| (depth / 2).max(2));
        put("iodepth_batch", half.to_string());
        put("iodepth_batch_complete_min", half.to_string());
    }
    let conditions: Vec<(&str, &str)> = cell
        .factors
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix(CONDITION_PREFIX)?, value.as_str())))
        // What fio did of itself is no option.
        .filter(|(name, _)| ![SYNCS, LAYOUT].contains(name))
        .collect();
    let is_buffered = settings.get(&ACCESS) == Some(&FileAccess::Buffered);
    if !conditions.iter().any(|(name, _)| *name == "direct") {
        put("direct", u8::from(!is_buffered).to_string());
    }
    for (name, value) in durable_writes(cell, mix)? {
        put(name, value);
    }
    let place = match conditions.is_empty() {
        true => cell.subject,
        // The subject of imported results names its conditions too.
        false => cell.subject.split(", ").next().unwrap_or(cell.subject),
    };
    put("filename", place.to_owned());
    for (name, value) in conditions {
        put(name, value.to_owned());
    }
    check_rest(cell)?;
    Ok(FioOptions {
        options,
        is_open_loop,
        mix,
    })
}

/// A factor that is not as usual and has no option would be lost.
fn check_rest(cell: &CellView<'_>) -> Result<(), String> {
    for (name, value) in cell.factors {
        if name.strip_prefix(CONDITION_PREFIX) == Some(SHARED_WITH) {
            return Err(format!(
                "fio ran it at the same time as {value}, and an exported job runs alone"
            ));
        }
        let mut translated = TRANSLATED.iter();
        if name.starts_with(CONDITION_PREFIX) || translated.any(|factor| factor.name == name) {
            continue;
        }
        let usual = SCHEMA.factor(name).and_then(|factor| factor.default);
        if usual != Some(value.as_str()) && value != NOT_STATED {
            return Err(format!("fio has no option for {name} = {value}"));
        }
    }
    Ok(())
}

/// The options that only an unusual cell has.
fn optional(settings: &Settings, jobs: u32) -> Result<Vec<(&'static str, String)>, String> {
    let mut options = rate(settings, jobs)?;
    options.extend(content(settings)?);
    options.extend(numa_node(settings)?);
    if settings.get(&COMPLETIONS) == Some(&Completions::Polled) {
        options.push(("hipri", "1".to_owned()));
    }
    // fio always times the two apart.
    if settings.get(&LATENCY_PARTS) == Some(&LatencyParts::Apart) {
        options.push(("slat_percentiles", "1".to_owned()));
    }
    Ok(options)
}

/// Where threads and buffers are, in fio's options.
fn numa_node(settings: &Settings) -> Result<Vec<(&'static str, String)>, String> {
    match settings.get(&NUMA_NODE) {
        None | Some(NumaPlace::Any) => Ok(Vec::new()),
        Some(NumaPlace::Node(node)) => Ok(vec![
            ("numa_cpu_nodes", node.to_string()),
            ("numa_mem_policy", format!("bind:{node}")),
        ]),
        Some(place) => Err(format!("fio has no option for {} = {place}", NUMA_NODE.name)),
    }
}

/// When writes become durable, and whether what is synced was written before: a fio that was not told to may only have reserved the space.
fn durable_writes(cell: &CellView<'_>, mix: ReadWriteMix) -> Result<Vec<(&'static str, String)>, String> {
    let mut options = durability(cell)?;
    if !options.is_empty() && mix == ReadWriteMix::WRITE_ONLY {
        let is_reserved = cell.factor(&format!("{CONDITION_PREFIX}{LAYOUT}")).is_some();
        options.push(("overwrite", u8::from(!is_reserved).to_string()));
    }
    Ok(options)
}

/// When writes become durable, in fio's options.
fn durability(cell: &CellView<'_>) -> Result<Vec<(&'static str, String)>, String> {
    let value = cell.factor(SYNC.name);
    let parts: Vec<&str> = value.unwrap_or("none").split(':').collect();
    let option = |call: Option<&str>| {
        if call == Some("fsync") {
            "fsync"
        } else {
            "fdatasync"
        }
    };
    Ok(match parts.as_slice() {
        ["none"] => Vec::new(),
        ["dsync"] => vec![("sync", "dsync".to_owned())],
        ["each", call @ ..] => vec![(option(call.first().copied()), "1".to_owned())],
        ["every", count, call @ ..] => vec![(option(call.first().copied()), (*count).to_owned())],
        _ => {
            return Err(format!(
                "fio has no way to make writes durable like {}",
                parts.join(":")
            ));
        }
    })
}

/// A stride counts from start to start here, and from the end of one request to the start of the next in fio.
fn rw(pattern: AccessPattern, mix: ReadWriteMix, size: Option<&ByteSize>) -> Result<String, String> {
    let direction = match (mix.has_reads(), mix.has_writes()) {
        (true, false) => "read",
        (false, true) => "write",
        _ => "rw",
    };
    match pattern {
        AccessPattern::Sequential => Ok(direction.to_owned()),
        AccessPattern::Random | AccessPattern::Zipfian { .. } => Ok(format!("rand{direction}")),
        AccessPattern::Strided { stride } => {
            let between = size.and_then(|size| stride.0.checked_sub(size.0));
            let between =
                between.ok_or("its access size is not stated, but fio's `rw` needs it for a stride")?;
            Ok(format!("{direction}:{}", size_of(ByteSize(between))))
        }
    }
}

/// fio's engine of the same kind, or the word that an imported result has.
fn engine(cell: &CellView<'_>, settings: &Settings) -> String {
    match settings.get(&ENGINE) {
        Some(EngineKind::Noop) => "null".to_owned(),
        Some(engine) => engine.to_string(),
        None => cell.factor(ENGINE.name).unwrap_or(NOT_STATED).to_owned(),
    }
}

/// fio's rate is one of each job.
fn rate(settings: &Settings, jobs: u32) -> Result<Vec<(&'static str, String)>, String> {
    let (rate, process) = match settings.get(&ARRIVAL) {
        None | Some(Arrivals::Given(Arrival::Closed)) => return Ok(Vec::new()),
        Some(Arrivals::Given(Arrival::Constant { per_second })) => (per_second, "linear"),
        Some(Arrivals::Given(Arrival::Poisson { per_second })) => (per_second, "poisson"),
        Some(other) => return Err(format!("fio has no arrival process like {other}")),
    };
    let is_mixed = settings
        .get(&READ_WRITE_MIX)
        .is_some_and(|mix| mix.has_reads() && mix.has_writes());
    if is_mixed {
        return Err("fio limits the rates of reads and writes separately".to_owned());
    }
    let of_job = rate.per_second() / f64::from(jobs);
    if of_job.fract() != 0.0 || of_job >= 9e15 {
        return Err(format!(
            "fio's rate is a whole number per job, but {rate} over {jobs} jobs is not"
        ));
    }
    Ok(vec![
        ("rate_iops", format!("{of_job:.0}")),
        ("rate_process", process.to_owned()),
    ])
}

fn content(settings: &Settings) -> Result<Vec<(&'static str, String)>, String> {
    Ok(match settings.get(&CONTENT) {
        None | Some(Content::Random) => Vec::new(),
        Some(Content::Zeros) => vec![("zero_buffers", "1".to_owned())],
        Some(Content::Compressible { ratio }) => {
            let percent = (100.0 - 100.0 / ratio).round();
            vec![("buffer_compress_percentage", percent.to_string())]
        }
        Some(other) => return Err(format!("fio has no content like {other}")),
    })
}

/// In fio's words `4k` is 4096 bytes.
pub(super) fn size_of(size: ByteSize) -> String {
    let units = [("g", 1_u64 << 30), ("m", 1 << 20), ("k", 1 << 10)];
    let whole = units
        .iter()
        .find(|(_, unit)| size.0 > 0 && size.0.is_multiple_of(*unit));
    match whole {
        Some((letter, unit)) => format!("{}{letter}", size.0 / unit),
        None => size.0.to_string(),
    }
}

impl FioOptions {
    /// All of them, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let options = self.options.iter();
        options.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(super) fn value(&self, name: &str) -> &str {
        let found = self.options.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// The size of accesses; empty where it is not stated.
    pub(super) fn size(&self) -> &str {
        self.value("bs")
    }

    /// `randrw-70-32-1`: the kind of I/O first, as the files of fio-plot's own benchmark have it.
    pub(super) fn file_name(&self) -> String {
        let parts = ["rw", "rwmixread", "iodepth", "numjobs"].map(|name| self.value(name));
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("-").replace(':', "-")
    }

    /// The name of the job.
    pub(super) fn name(&self) -> &str {
        self.value("rw")
    }

    /// As fio writes options: every value is text.
    pub(super) fn to_json(&self, duration_s: f64) -> Value {
        let runtime = [
            ("name".to_owned(), self.name().to_owned()),
            ("time_based".to_owned(), String::new()),
            ("runtime".to_owned(), format!("{}ms", (duration_s * 1e3).round())),
            ("group_reporting".to_owned(), String::new()),
        ];
        let all = self.options.iter().cloned().chain(runtime);
        Value::Object(
            all.map(|(name, value)| (name, value.into()))
                .collect::<Map<_, _>>(),
        )
    }
}
