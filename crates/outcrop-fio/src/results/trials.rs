//! A report of fio as trials: which job is which cell, under which conditions.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use outcrop_measure::ByteSize;
use outcrop_results::factors::NOT_STATED;
use outcrop_results::{Outcome, TrialEntry};
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    self, ACCESS_PATTERN, ARRIVAL, Direction, ENGINE, IMPORTED, IO_BLOCK_SIZE, JOBS, QUEUE_DEPTH,
    READ_WRITE_MIX, SPAN,
};
use outcrop_workload::ReadWriteMix;

use super::document::{Document, Job};
use super::figures::Figures;
use super::values::{Circumstances, values};
use super::{CONDITION_PREFIX, file_name};
use crate::options::Options;
use crate::quantity::bytes;
use crate::words::{self, Workload};

/// Where a report came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'o> {
    /// Name of the file, without its folder.
    pub(super) file: &'o str,
    /// The same without its ending.
    pub(super) stem: &'o str,
    /// `fio-3.33`.
    pub(super) version: &'o str,
    /// When it was written, where the report does not say.
    pub(super) written: DateTime<Utc>,
    /// Reports in the file, of which this is the last.
    pub(super) reports: usize,
    /// What holds where neither options nor names say anything.
    pub(super) assumed: &'o [(FactorRef, String)],
}

/// Options that say nothing about what was measured, or that ask for what fio's figures have anyway.
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
    "invalidate",
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
    "fallocate",
    "unlink",
    "overwrite",
    "file_append",
    "allow_file_create",
    "unit_base",
    "significant_figures",
    "disk_util",
    "rate_process",
    "startdelay",
    "wait_for",
    "iodepth_low",
];
/// Beyond this, the list of conditions in a subject's name is cut.
const MOST_CONDITIONS: usize = 8;

/// One job, or several that are one cell, as trials without a place in a run yet.
pub(super) fn trials(
    document: &Document,
    origin: Origin<'_>,
) -> Result<(Vec<TrialEntry>, Vec<String>), String> {
    let Some(jobs) = &document.jobs else {
        return Err(match document.client_stats {
            Some(_) => "it is of fio --client; import what the machines themselves wrote".to_owned(),
            None => "it is not a result of fio: it has no \"jobs\"".to_owned(),
        });
    };
    if jobs.is_empty() {
        return Err("fio reports no job in it".to_owned());
    }
    if jobs.iter().all(|job| job.read.is_none() && job.mixed.is_none()) {
        return Err("it is not a result of fio: its jobs have no \"read\"".to_owned());
    }
    let (mut trials, mut left_out) = (Vec::new(), Vec::new());
    let groups = grouped(jobs, document);
    for (job, options, figures) in &groups {
        let beside = groups
            .iter()
            .filter(|(other, ..)| other.group == job.group)
            .count()
            - 1;
        match trial(job, options.as_ref(), figures, beside, document, origin) {
            Ok(trial) => trials.push(trial),
            Err(why) => left_out.push(format!("job {:?}: {why}", job.name)),
        }
    }
    Ok((trials, left_out))
}

type Group<'d> = (&'d Job, Option<Options>, Figures);

/// The jobs; the clones of one job, which without `group_reporting` have an entry each, are one.
fn grouped<'d>(jobs: &'d [Job], document: &Document) -> Vec<Group<'d>> {
    let mut groups: Vec<Group<'d>> = Vec::new();
    for job in jobs {
        let options = options_of(job, document);
        let clones = |options: &Options| options.value("numjobs").is_some_and(|count| count != "1");
        let is_clone = |group: &&mut Group<'d>| {
            group.0.name == job.name
                && group.0.group == job.group
                && group.1 == options
                && options.as_ref().is_some_and(clones)
        };
        let figures = Figures::of(job);
        match groups.iter_mut().find(is_clone) {
            Some(group) => group.2 = std::mem::take(&mut group.2).with(&figures),
            None => groups.push((job, options, figures)),
        }
    }
    groups
}

/// The job's options over those of `[global]`; none where fio wrote neither.
fn options_of(job: &Job, document: &Document) -> Option<Options> {
    let given = [&document.global_options, &job.options];
    if job.options.is_none() && document.global_options.as_ref().is_none_or(BTreeMap::is_empty) {
        return None;
    }
    let mut options = Options::default();
    for (name, value) in given.into_iter().flatten().flatten() {
        options.set(name, value, "");
    }
    Some(options)
}

fn trial(
    job: &Job,
    options: Option<&Options>,
    figures: &Figures,
    beside: usize,
    document: &Document,
    origin: Origin<'_>,
) -> Result<TrialEntry, String> {
    if figures.trims > 0.0 {
        return Err("it trims; Outcrop has reads and writes".to_owned());
    }
    let mut described = Described::of(options, origin.stem);
    described.deduce(figures);
    described.assume(origin.assumed);
    if let Some(jobs) = described
        .factor(&JOBS)
        .and_then(|jobs| jobs.parse::<usize>().ok())
        && figures.entries > 1
        && jobs != figures.entries
    {
        return Err(format!(
            "it has {jobs} jobs, and {} of them are reported",
            figures.entries
        ));
    }
    let only = described
        .factor(&READ_WRITE_MIX)
        .and_then(|mix| mix.parse::<ReadWriteMix>().ok())
        .and_then(|mix| {
            Direction::ALL
                .into_iter()
                .find(|direction| direction.mix() == mix)
        });
    let source = format!("{}, {}", origin.version, origin.file);
    let circumstances = Circumstances {
        only,
        is_open_loop: described
            .factor(&ARRIVAL)
            .is_some_and(|arrival| arrival != "closed"),
        source: &source,
    };
    let outcome = match job.error {
        0 => Outcome::Completed,
        error => Outcome::Failed {
            message: format!(
                "fio's job {:?} in {} ended with error {error}",
                job.name, origin.file
            ),
        },
    };
    if beside > 0 {
        described.remark(format!(
            "fio ran this job at the same time as {beside} others, so its figures are those of a device that they used too"
        ));
    }
    if origin.reports > 1 {
        described.remark(format!(
            "the file has {} reports, and the last one is the whole job's",
            origin.reports
        ));
    }
    let values = match outcome {
        Outcome::Completed => values(figures, circumstances),
        _ => Vec::new(),
    };
    Ok(TrialEntry {
        trial: 0,
        cell: cell_of(&described),
        layer: device::SCHEMA.name.to_owned(),
        subject: described.subject,
        plans: vec![PLAN.to_owned()],
        repetition: 0,
        seed: 0,
        factors: described.factors,
        data: None,
        variant: None,
        started_at: started_at(job, document, figures, origin),
        duration_s: figures.runtime_s,
        outcome,
        values,
        histograms: Vec::new(),
        notes: described
            .remarks
            .iter()
            .map(|text| IMPORTED.remark(text))
            .collect(),
    })
}

/// What stands where a run has the name of its plan.
const PLAN: &str = "imported";

/// fio's own clock where it has one: when the report was written, less what the job took.
fn started_at(job: &Job, document: &Document, figures: &Figures, origin: Origin<'_>) -> String {
    let stated = document
        .timestamp
        .and_then(|seconds| DateTime::from_timestamp(seconds as i64, 0));
    let took_s = job.elapsed.unwrap_or(figures.runtime_s).clamp(0.0, 1e9);
    let began = job
        .job_start
        .and_then(|ms| DateTime::from_timestamp_millis(ms as i64))
        .unwrap_or_else(|| stated.unwrap_or(origin.written) - TimeDelta::seconds(took_s as i64));
    began.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A cell in the words of records.
#[derive(Debug, Default)]
struct Described {
    factors: BTreeMap<String, String>,
    subject: String,
    remarks: Vec<String>,
}

impl Described {
    fn of(options: Option<&Options>, stem: &str) -> Self {
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
        for said in &workload.said {
            self.say(said.factor, said.value.clone());
        }
        if let Some(Ok(size)) = options.value("size").map(|text| bytes(text, options.is_si())) {
            self.say(&SPAN, ByteSize(size).to_string());
        }
        let mut conditions: Vec<(String, String)> = Vec::new();
        if !words::is_direct(options)
            && words::access_factor().is_none()
            && workload.value(&ENGINE) != Some("noop")
        {
            conditions.push(("direct".to_owned(), "0".to_owned()));
        }
        let has_problem = |name: &str| workload.problems.iter().any(|problem| problem.option == name);
        let others = options.iter().filter(|given| {
            let name = given.name.as_str();
            has_problem(name) || !(words::reads(name) || WITHOUT_EFFECT.contains(&name))
        });
        conditions.extend(others.map(|given| (given.name.clone(), given.value.clone())));
        self.subject = subject(options, &conditions);
        // What no factor has is part of the workload all the same: cells that differ in it are two.
        for (name, value) in conditions {
            self.factors.insert(format!("{CONDITION_PREFIX}{name}"), value);
        }
    }

    fn say(&mut self, factor: FactorRef, value: String) {
        let spelled = factor.read(&value).map(|setting| setting.spelling().to_owned());
        self.factors
            .insert(factor.name.to_owned(), spelled.unwrap_or(value));
    }

    fn factor(&self, factor: FactorRef) -> Option<&str> {
        let value = self.factors.get(factor.name)?;
        (value != NOT_STATED).then_some(value)
    }

    /// What the figures themselves show, where nobody states it: the only direction, and the size of all requests.
    fn deduce(&mut self, figures: &Figures) {
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
        let is_whole = all.count > 0.0 && size.fract() == 0.0 && size >= 512.0 && size < 9e15;
        let is_stated = self.factor(&IO_BLOCK_SIZE).is_some();
        let has_sizes = ["bssplit", "bsrange", "bs"]
            .iter()
            .any(|name| self.factors.contains_key(&format!("{CONDITION_PREFIX}{name}")));
        if !is_stated && is_whole && !has_sizes {
            self.say(&IO_BLOCK_SIZE, ByteSize(size as u64).to_string());
        }
    }

    fn assume(&mut self, assumed: &[(FactorRef, String)]) {
        for (factor, value) in assumed {
            if self.factor(*factor).is_none() {
                self.factors.insert(factor.name.to_owned(), value.clone());
                self.remark(format!(
                    "{} = {value} was assumed: fio's result does not say",
                    factor.name
                ));
            }
        }
    }

    fn remark(&mut self, text: String) {
        self.remarks.push(text);
    }
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
fn cell_of(described: &Described) -> String {
    let mut text = format!("{}\0{}\0", device::SCHEMA.name, described.subject);
    for (name, value) in &described.factors {
        text.push_str(&format!("{name}\x01{value}\0"));
    }
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
