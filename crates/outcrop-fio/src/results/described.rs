//! Which cell a job is, in the words of records: what its options or the name of its file say, what its figures show, and what is assumed.

use std::collections::BTreeMap;

use outcrop_measure::ByteSize;
use outcrop_results::SHARED_WITH;
use outcrop_results::factors::NOT_STATED;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    self, ACCESS, ACCESS_PATTERN, CONTENT, DRIVES, Direction, ENGINE, IO_BLOCK_SIZE, JOBS, NUMA_NODE,
    QUEUE_DEPTH, READ_WRITE_MIX, REPLAY, SPAN, SYNC,
};
use outcrop_workload::{Durability, ReadWriteMix};

use super::figures::Figures;
use super::together::Beside;
use super::{CONDITION_PREFIX, LAYOUT, file_name};
use crate::options::{Given, Options, WITHOUT_ORDER};
use crate::quantity::{bytes, flag, time};
use crate::words::{self, Workload};

/// Options that say nothing about what was measured, or that ask for what fio's figures have anyway, whatever their value.
const WITHOUT_EFFECT: &[&str] = &[
    "name",
    "filename",
    "directory",
    "filename_format",
    "size",
    "runtime",
    "time_based",
    "ramp_time",
    "loops",
    "group_reporting",
    "new_group",
    "thread",
    "stonewall",
    "description",
    "direct",
    "buffered",
    "randseed",
    "randrepeat",
    "allrandrepeat",
    "norandommap",
    "softrandommap",
    "random_generator",
    "refill_buffers",
    "scramble_buffers",
    "output",
    "output-format",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "unified_rw_reporting",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "log_hist_msec",
    "log_unix_epoch",
    "per_job_logs",
    "bwavgtime",
    "iopsavgtime",
    "eta",
    "exitall",
    "exitall_on_error",
    "continue_on_error",
    "create_serialize",
    "create_only",
    "create_on_open",
    "unlink",
    "allow_file_create",
    "unit_base",
    "significant_figures",
    "disk_util",
    "startdelay",
    "wait_for",
];
/// Options that ask for nothing with 0, which is fio's default.
const OFF_AT_ZERO: &[&str] = &[
    "thinktime",
    "offset",
    "offset_increment",
    "io_size",
    "number_ios",
    "fill_device",
    "verify",
    "dedupe_percentage",
    "sync_file_range",
    "latency_target",
    "sqthread_poll",
    "nice",
    "zonesize",
    "zoneskip",
];
/// What the later of two options sets.
const BY_ORDER: [(FactorRef, [&str; 2]); 2] = [
    (&ACCESS, ["direct", "buffered"]),
    (&READ_WRITE_MIX, ["rwmixread", "rwmixwrite"]),
];
/// What is said of a mix in which fio synced more often than Outcrop does.
pub(crate) const SYNCS: &str = "syncs";
/// Syncs are more if they are this many times those that were asked for; the last writes of a job may have none.
const MUCH_MORE_OFTEN: f64 = 1.1;
/// Beyond this, the list of conditions in a subject's name is cut.
const MOST_CONDITIONS: usize = 8;

/// A cell in the words of records.
#[derive(Clone, Debug, Default)]
pub(super) struct Described {
    pub(super) factors: BTreeMap<String, String>,
    pub(super) subject: String,
    pub(super) remarks: Vec<String>,
}

impl Described {
    pub(super) fn of(options: Option<&Options>, stem: &str) -> Self {
        let mut described = Self::default();
        match options {
            Some(options) => described.say_options(options),
            None => {
                described.subject = "files of fio".to_owned();
                for (factor, value) in file_name::factors(stem) {
                    described.say(factor, value);
                }
            }
        }
        for factor in [
            &ACCESS_PATTERN as FactorRef,
            &IO_BLOCK_SIZE,
            &READ_WRITE_MIX,
            &QUEUE_DEPTH,
            &ENGINE,
            &SPAN,
        ] {
            let stated = described.factors.entry(factor.name.to_owned());
            stated.or_insert_with(|| NOT_STATED.to_owned());
        }
        described
    }

    fn say_options(&mut self, options: &Options) {
        let workload = Workload::of(options);
        let has_one_size = options.get("bssplit").is_none();
        let is_known = |said: &&words::Said| has_one_size || said.factor.name != IO_BLOCK_SIZE.name;
        for said in workload.said.iter().filter(is_known) {
            self.say(said.factor, said.value.clone());
        }
        if let Some(span) = span(options, &workload) {
            self.say(&SPAN, ByteSize(span).to_string());
        }
        for factor in [&ACCESS as FactorRef, &CONTENT] {
            let stated = self.factors.entry(factor.name.to_owned());
            stated.or_insert_with(|| NOT_STATED.to_owned());
        }
        self.say_what_is_certain(options);
        self.say_what_has_no_order(&workload);
        let has_problem = |name: &str| workload.problems.iter().any(|problem| problem.option == name);
        let others = options.iter().filter(|given| {
            let name = given.name.as_str();
            has_problem(name) || !(words::reads(name) || is_without_effect(given, options, &workload))
        });
        let conditions: Vec<(String, String)> = others
            .map(|given| (given.name.clone(), given.value.clone()))
            .collect();
        self.subject = subject(options, &conditions);
        // What no factor has is part of the workload all the same: cells that differ in it are two.
        for (name, value) in conditions {
            self.factors.insert(format!("{CONDITION_PREFIX}{name}"), value);
        }
        self.say_layout(options);
    }

    /// States that fio has no option for, or that hold where none of its options was given: a run of ours has them all, and would match no
    /// cell without them.
    fn say_what_is_certain(&mut self, options: &Options) {
        let is_given = |names: &[&str]| names.iter().any(|name| options.get(name).is_some());
        let is_several = |name: &str| options.value(name).is_some_and(|places| places.contains(':'));
        let certain: [(FactorRef, bool); 3] = [
            (&DRIVES, !is_several("filename") && !is_several("directory")),
            (&REPLAY, !is_given(&["read_iolog"])),
            (
                &NUMA_NODE,
                !is_given(&["numa_cpu_nodes", "numa_mem_policy", "cpus_allowed", "cpumask"]),
            ),
        ];
        for (factor, is_certain) in certain {
            if let Some(usual) = factor.default.filter(|_| is_certain) {
                self.say(factor, usual.to_owned());
            }
        }
    }

    /// Says which options contradict each other without an order, so that what they set is not stated.
    fn say_what_has_no_order(&mut self, workload: &Workload) {
        for (factor, [one, other]) in BY_ORDER {
            let is_open = |name| {
                let mut problems = workload.problems.iter();
                problems.any(|problem| problem.option == name && problem.reason.ends_with(WITHOUT_ORDER))
            };
            if is_open(one) && is_open(other) {
                self.remark(format!(
                    "{one} and {other} of fio contradict each other in one JSON object, which has no order that says which of the two counts: {} is not \
                     stated",
                    factor.name
                ));
            }
        }
    }

    pub(super) fn say(&mut self, factor: FactorRef, value: String) {
        let spelled = factor.read(&value).map(|setting| setting.spelling().to_owned());
        self.factors
            .insert(factor.name.to_owned(), spelled.unwrap_or(value));
    }

    pub(super) fn factor(&self, factor: FactorRef) -> Option<&str> {
        let value = self.factors.get(factor.name)?;
        (value != NOT_STATED).then_some(value)
    }

    /// What the figures themselves show, where nobody states it: the only direction, and the size of all requests.
    pub(super) fn deduce(&mut self, figures: &Figures) {
        let (reads, writes) = (figures.read.count, figures.write.count);
        if self.factor(&READ_WRITE_MIX).is_none() && (reads > 0.0) != (writes > 0.0) {
            let mix = if reads > 0.0 {
                Direction::Read.mix()
            } else {
                Direction::Write.mix()
            };
            self.say(&READ_WRITE_MIX, mix.to_string());
        }
        let all = figures.of_direction(None);
        let size = all.bytes / all.count;
        let is_whole = all.count > 0.0 && size.fract() == 0.0 && (512.0..9e15).contains(&size);
        let is_stated = self.factor(&IO_BLOCK_SIZE).is_some();
        let has_sizes = ["bssplit", "bsrange", "bs"]
            .iter()
            .any(|name| self.factors.contains_key(&format!("{CONDITION_PREFIX}{name}")));
        if !is_stated && is_whole && !has_sizes {
            self.say(&IO_BLOCK_SIZE, ByteSize(size as u64).to_string());
        }
    }

    /// Marks a mix in which fio synced more often than it was asked to, because it also syncs between reads. No cell of ours matches it then.
    pub(super) fn say_syncs(&mut self, figures: &Figures) {
        let asked = self.factor(&SYNC).and_then(|sync| match sync.parse().ok()? {
            Durability::After { writes, .. } => Some(f64::from(writes.get())),
            Durability::None | Durability::Dsync => None,
        });
        let syncs = figures.syncs.as_ref().map(|syncs| syncs.count);
        let (Some(asked), Some(syncs)) = (asked, syncs.filter(|syncs| *syncs > 0.0)) else {
            return;
        };
        let writes_per_sync = figures.write.count / syncs;
        if figures.read.count == 0.0 || writes_per_sync * MUCH_MORE_OFTEN >= asked {
            return;
        }
        self.factors.insert(
            format!("{CONDITION_PREFIX}{SYNCS}"),
            "also between reads".to_owned(),
        );
        self.remark(format!(
            "fio synced once for {writes_per_sync:.1} writes, and was asked to sync once for {asked}: in a mix it also syncs between reads, which no run of \
             Outcrop does, so the two are not compared"
        ));
    }

    /// Marks synced writes to a file that fio may not have written before: each sync then commits the first write of its blocks as well, and no cell of ours matches it.
    ///
    /// *Source*: fio(1), `overwrite` and `fallocate`.
    fn say_layout(&mut self, options: &Options) {
        let is_only_written = self
            .factor(&READ_WRITE_MIX)
            .is_some_and(|mix| mix == ReadWriteMix::WRITE_ONLY.to_string());
        let none = Durability::None.to_string();
        let is_synced = self.factor(&SYNC).is_some_and(|sync| sync != none);
        if is_laid_out(options) || is_device(options) || !is_only_written || !is_synced {
            return;
        }
        self.factors.insert(
            format!("{CONDITION_PREFIX}{LAYOUT}"),
            "perhaps not written before".to_owned(),
        );
        self.remark(
            "without overwrite=1, fio may not have written the file before, and each sync then also commits the first write of its blocks; \
             Outcrop writes its file in full first, so the two are not compared: add overwrite=1 to the job"
                .to_owned(),
        );
    }

    /// Marks a job that shared the device, or the machine alone, with others: alone it has other figures.
    pub(super) fn say_shared(&mut self, beside: Beside) {
        let is_elsewhere = beside.elsewhere == beside.jobs;
        let others = match (beside.jobs, is_elsewhere) {
            (0, _) => return,
            (1, true) => "another job on another drive".to_owned(),
            (1, false) => "another job".to_owned(),
            (count, true) => format!("{count} other jobs on other drives"),
            (count, false) => format!("{count} other jobs"),
        };
        let (shared, how) = match is_elsewhere {
            true => ("machine", "at the same time as"),
            false => ("device", "shared with"),
        };
        self.remark(format!(
            "fio ran this job at the same time as {others}, so its figures are those of a shared {shared}"
        ));
        self.subject.push_str(&format!(", {how} {others}"));
        self.factors
            .insert(format!("{CONDITION_PREFIX}{SHARED_WITH}"), others);
    }

    pub(super) fn assume(&mut self, assumed: &[(FactorRef, String)]) {
        for (factor, value) in assumed {
            if self.factor(*factor).is_none() {
                let by_order = BY_ORDER.iter().filter(|(decided, _)| decided.name == factor.name);
                for name in by_order.flat_map(|(_, options)| options) {
                    self.factors.remove(&format!("{CONDITION_PREFIX}{name}"));
                }
                self.factors.insert(factor.name.to_owned(), value.clone());
                self.remark(assumption(*factor, value));
            }
        }
    }

    pub(super) fn remark(&mut self, text: String) {
        self.remarks.push(text);
    }
}

/// What is remarked of a trial for which a value was assumed.
pub(super) fn assumption(factor: FactorRef, value: &str) -> String {
    format!(
        "{} = {value} was assumed, because fio's result does not state it",
        factor.name
    )
}

/// Whether an option changes nothing about what was measured, with the value that it has.
///
/// *Source*: fio(1).
fn is_without_effect(given: &Given, options: &Options, workload: &Workload) -> bool {
    let value = given.value.as_str();
    let is_off = || flag(value) == Ok(false);
    let depth = || workload.value(&QUEUE_DEPTH)?.parse::<u64>().ok();
    // How a file comes to be is part of writing it, and devices are there already.
    let makes_no_file = || {
        let mix = workload
            .value(&READ_WRITE_MIX)
            .and_then(|mix| mix.parse::<ReadWriteMix>().ok());
        is_device(options) || mix.is_some_and(|mix| !mix.has_writes())
    };
    match given.name.as_str() {
        // Direct access bypasses the page cache.
        "invalidate" => !is_off() || words::is_direct(options),
        // fio takes 0, and what is above the depth, for the depth.
        "iodepth_low" => {
            let low = bytes(value, options.is_si()).ok();
            low.zip(depth())
                .is_some_and(|(low, depth)| low == 0 || low >= depth)
        }
        // A file that is written in full before the job has all of its space, however that was reserved.
        "fallocate" => matches!(value, "native" | "posix" | "1") || makes_no_file() || is_laid_out(options),
        // Outcrop writes its file in full first.
        "overwrite" => true,
        "file_append" => is_off() || makes_no_file(),
        "nrfiles" => value == "1",
        name if OFF_AT_ZERO.contains(&name) => is_off() || time(value).is_ok_and(|span| span.is_zero()),
        name => WITHOUT_EFFECT.contains(&name),
    }
}

/// Whether fio writes a job's file in full before the job.
fn is_laid_out(options: &Options) -> bool {
    let overwrite = options.value("overwrite");
    overwrite.is_some_and(|value| flag(value) == Ok(true))
}

fn is_device(options: &Options) -> bool {
    let place = options.value("filename");
    place.is_some_and(|place| place.starts_with("/dev/"))
}

/// What all clones of a job read or write together: `size` is that of each clone's file. None where it is not known.
///
/// *Source*: fio(1), `filename` and `filename_format`.
fn span(options: &Options, workload: &Workload) -> Option<u64> {
    let size = bytes(options.value("size")?, options.is_si()).ok()?;
    let clones = || workload.value(&JOBS)?.parse::<u64>().ok();
    let files = match (options.value("filename"), options.value("filename_format")) {
        (Some(_), _) => 1,
        // All clones make the same name of it, in a folder each where there are several.
        (None, Some(format)) if !format.contains("$jobnum") => {
            let directories = options.value("directory").unwrap_or_default().split(':');
            clones()?.min(directories.count() as u64)
        }
        _ => clones()?,
    };
    size.checked_mul(files)
}

/// What was measured, with the conditions that no factor has.
fn subject(options: &Options, conditions: &[(String, String)]) -> String {
    let place = match (options.value("filename"), options.value("directory")) {
        (Some(file), _) => file.to_owned(),
        (None, Some(directory)) => format!("files of fio in {directory}"),
        (None, None) => "files of fio".to_owned(),
    };
    let said = conditions.iter().take(MOST_CONDITIONS);
    let said = said.map(|(name, value)| match value.as_str() {
        "" => format!(", {name}"),
        value => format!(", {name}={value}"),
    });
    let more = if conditions.len() > MOST_CONDITIONS {
        ", …"
    } else {
        ""
    };
    let subject: String = std::iter::once(place).chain(said).collect();
    format!("{}{more}", subject.chars().take(200).collect::<String>())
}

/// FNV-1a, as the lab identifies its cells.
pub(super) fn cell_of(described: &Described) -> String {
    let mut text = format!("{}\0{}\0", device::SCHEMA.name, described.subject);
    for (name, value) in &described.factors {
        text.push_str(&format!("{name}\x01{value}\0"));
    }
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
