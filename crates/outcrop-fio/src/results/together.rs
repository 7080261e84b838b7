//! Which entries of a report are one load: the clones of a job, and jobs of one cell that ran at the same time.
//!
//! What ran at the same time shared the machine: its parts are no repetitions of each other, and their operations add up.

use std::collections::BTreeSet;

use outcrop_schema::device::{JOBS, READ_WRITE_MIX};
use outcrop_workload::ReadWriteMix;

use super::described::{Described, cell_of};
use super::document::{Document, Job};
use super::figures::Figures;
use super::groups::{Groups, NOT_KNOWN, Order};
use super::trials::{Origin, options_of};
use crate::options::Options;
use crate::quantity::{flag, time};

/// The least share of the longest runtime that threads have to run on average: below it, some ended early.
const ALL_ALONG: f64 = 0.8;
/// fio counts runtimes in milliseconds and rounds those of threads down.
const ROUNDING_S: f64 = 1e-3;
/// Jobs that follow each other may overlap by this much of the shorter one, while the last requests of the first complete.
const NEGLIGIBLE: f64 = 0.05;

/// Entries of a report that are one load.
pub(super) struct Load<'d> {
    /// The first of its jobs that failed, else the first.
    pub(super) job: &'d Job,
    pub(super) options: Option<Options>,
    pub(super) figures: Figures,
    /// Its cell, or why it is none.
    pub(super) described: Result<Described, String>,
    /// Jobs of fio that are in it; clones are one.
    pub(super) sections: usize,
    /// Whether it waited for another job.
    waits: bool,
    /// When it began and ended, in seconds of one clock, where that is known.
    window: Option<(f64, f64)>,
}

/// The other jobs of a report that ran at the same time as a load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside {
    pub(super) jobs: usize,
    /// How many of them are known to have used another drive.
    pub(super) elsewhere: usize,
}

/// The loads of a report, and which other jobs ran at the same time as each.
pub(super) fn loads<'d>(jobs: &'d [Job], document: &Document, origin: Origin<'_>) -> Vec<(Load<'d>, Beside)> {
    let mut loads: Vec<(String, Load<'d>)> = Vec::new();
    let clones = clones(jobs, document, origin);
    let groups = Groups::of(document, &clones);
    for load in clones {
        let cell = load.described.as_ref().map(cell_of).unwrap_or_default();
        let is_like = |(known, other): &&mut (String, Load<'d>)| {
            *known == cell && load.described.is_ok() && order(jobs, &groups, other, &load) == Order::AtOnce
        };
        match loads.iter_mut().find(is_like) {
            Some((_, like)) => like.add(&load),
            None => loads.push((cell, load)),
        }
    }
    let mut loads: Vec<Load<'d>> = loads.into_iter().map(|(_, load)| load).collect();
    for load in loads.iter_mut().filter(|load| load.sections > 1) {
        if load.described.is_ok() {
            load.described = load.describe_all(origin);
        }
    }
    let beside: Vec<Result<Beside, String>> = loads
        .iter()
        .map(|load| beside(jobs, &groups, &loads, load))
        .collect();
    let with_others = |(mut load, beside): (Load<'d>, Result<Beside, String>)| match beside {
        Ok(beside) => (load, beside),
        Err(why) => {
            load.described = load.described.and(Err(why));
            (load, Beside::default())
        }
    };
    loads.into_iter().zip(beside).map(with_others).collect()
}

/// Which other jobs of a report ran at the same time as this load; why that is not known.
fn beside(jobs: &[Job], groups: &Groups, loads: &[Load<'_>], load: &Load<'_>) -> Result<Beside, String> {
    let mut beside = Beside::default();
    for other in loads.iter().filter(|other| !std::ptr::eq(*other, load)) {
        match order(jobs, groups, other, load) {
            Order::InTurn => {}
            Order::AtOnce => {
                beside.jobs += other.sections;
                if load
                    .drives()
                    .zip(other.drives())
                    .is_some_and(|(one, two)| one.is_disjoint(&two))
                {
                    beside.elsewhere += other.sections;
                }
            }
            Order::NotKnown => return Err(NOT_KNOWN.to_owned()),
        }
    }
    Ok(beside)
}

/// The jobs; the clones of one job, which without `group_reporting` have an entry each, are one.
fn clones<'d>(jobs: &'d [Job], document: &Document, origin: Origin<'_>) -> Vec<Load<'d>> {
    let mut loads: Vec<Load<'d>> = Vec::new();
    for job in jobs {
        let options = options_of(job, document);
        let are_clones = |options: &Options| options.value("numjobs").is_some_and(|count| count != "1");
        let is_clone = |load: &&mut Load<'d>| {
            load.job.name == job.name
                && load.job.group == job.group
                && load.options == options
                && options.as_ref().is_some_and(are_clones)
        };
        let figures = Figures::of(job);
        match loads.iter_mut().find(is_clone) {
            Some(load) => load.add_entry(job, &figures),
            None => loads.push(Load {
                job,
                options,
                figures,
                described: Ok(Described::default()),
                sections: 1,
                waits: false,
                window: None,
            }),
        }
    }
    for load in &mut loads {
        load.described = load.describe(origin);
        load.waits = load.option("wait_for").is_some();
        load.window = window(load);
    }
    loads
}

impl<'d> Load<'d> {
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.as_ref()?.value(name)
    }

    /// How long it ran, with its warm-up; 0 where that is not known.
    pub(super) fn length_s(&self) -> f64 {
        self.window.map_or(0.0, |(began, ended)| ended - began)
    }

    fn add_entry(&mut self, job: &'d Job, figures: &Figures) {
        self.figures = std::mem::take(&mut self.figures).with(figures);
        if self.job.error == 0 && job.error != 0 {
            self.job = job;
        }
    }

    /// Adds one of the same cell that ran at the same time.
    fn add(&mut self, other: &Load<'d>) {
        if self.option("startdelay") != other.option("startdelay") {
            self.described = Err(began_apart("startdelay"));
        } else if has_other_start(self, other) {
            self.described = Err(began_apart("job_start"));
        }
        let jobs = self.jobs().saturating_add(other.jobs());
        if let Some(options) = &mut self.options {
            options.set("numjobs", &jobs.to_string(), "");
        }
        self.add_entry(other.job, &other.figures);
        self.sections += other.sections;
    }

    /// The drives that it used; none where their names do not say it.
    fn drives(&self) -> Option<BTreeSet<&str>> {
        self.option("filename")?.split(':').map(drive).collect()
    }

    /// Threads that fio was asked for; where it does not say, as many as it reports.
    fn jobs(&self) -> u64 {
        let stated = self.described.as_ref().ok().and_then(|it| it.factor(&JOBS));
        let count = self
            .option("numjobs")
            .or(stated)
            .and_then(|jobs| jobs.parse().ok());
        count.unwrap_or(self.figures.entries as u64)
    }

    /// The cell of entries as fio reports them.
    fn describe(&self, origin: Origin<'_>) -> Result<Described, String> {
        let mut described = Described::of(self.options.as_ref(), origin.stem);
        described.deduce(&self.figures);
        described.assume(origin.assumed);
        match described
            .factor(&JOBS)
            .and_then(|jobs| jobs.parse::<usize>().ok())
        {
            Some(jobs) if self.figures.entries > 1 && jobs != self.figures.entries => Err(format!(
                "it has {jobs} jobs, and {} of them are reported",
                self.figures.entries
            )),
            None if self.options.is_none() && self.figures.entries > 1 => {
                described.say(&JOBS, self.figures.entries.to_string());
                Ok(described)
            }
            _ => Ok(described),
        }
    }

    /// The cell of all jobs that were added up.
    fn describe_all(&self, origin: Origin<'_>) -> Result<Described, String> {
        let mut described = self.describe(origin)?;
        described.remark(format!(
            "{} jobs of fio with the same options that ran at the same time, added up",
            self.sections
        ));
        Ok(described)
    }
}

/// How two jobs ran, as far as options and clocks say it.
///
/// *Source*: fio(1), `wait_for`, `startdelay`, `stonewall` and `new_group`.
fn order(jobs: &[Job], groups: &Groups, one: &Load<'_>, other: &Load<'_>) -> Order {
    if (one.waits && waited_for(jobs, one, other)) || (other.waits && waited_for(jobs, other, one)) {
        return Order::InTurn;
    }
    if one.job.group != other.job.group {
        return groups.order(one, other);
    }
    let are_at_once = overlap(one, other).unwrap_or(true);
    if are_at_once { Order::AtOnce } else { Order::InTurn }
}

/// Whether two jobs overlap by more than what is negligible; none where it is not known when they ran.
pub(super) fn overlap(one: &Load<'_>, other: &Load<'_>) -> Option<bool> {
    let ((one_began, one_ended), (other_began, other_ended)) = one.window.zip(other.window)?;
    let shorter_s = (one_ended - one_began).min(other_ended - other_began);
    Some(one_ended.min(other_ended) - one_began.max(other_began) > shorter_s * NEGLIGIBLE)
}

/// Why jobs that overlap only in part are neither one load nor repetitions.
fn began_apart(how: &str) -> String {
    format!(
        "fio began it and others with the same options at different times ({how}) that overlap, so they are neither one load nor repetitions; \
         with stonewall each runs alone"
    )
}

/// Whether fio reports that jobs began so far apart that one ran without the other for more than what is negligible.
fn has_other_start(one: &Load<'_>, other: &Load<'_>) -> bool {
    let starts = one.job.job_start.zip(other.job.job_start);
    let shorter_s = one.length_s().min(other.length_s());
    starts.is_some_and(|(one, other)| (one - other).abs() / 1e3 > shorter_s * NEGLIGIBLE)
}

/// The drive that a device is, or is a part of, where its name says so: names by path, and those of mapped devices, do not.
///
/// *Source*: Linux, `Documentation/admin-guide/devices.txt`.
fn drive(place: &str) -> Option<&str> {
    let name = place.strip_prefix("/dev/")?;
    let digit = |text: &str| text.find(|c: char| c.is_ascii_digit());
    let letters = digit(name).unwrap_or(name.len());
    match &name[..letters] {
        // Namespaces and partitions of it follow.
        kind @ ("nvme" | "mmcblk" | "nbd") => {
            let number = name[letters..].find(|c: char| !c.is_ascii_digit());
            Some(&name[..number.map_or(name.len(), |number| kind.len() + number)])
        }
        disk if ["sd", "vd", "xvd", "hd"]
            .iter()
            .any(|kind| disk.starts_with(kind)) =>
        {
            Some(disk)
        }
        _ => None,
    }
}

/// Whether one began when the other had ended, for which it waited itself or through others.
fn waited_for(jobs: &[Job], later: &Load<'_>, earlier: &Load<'_>) -> bool {
    let mut next = later.option("wait_for");
    // No job is waited for twice, or fio would not have begun.
    for _ in 0..jobs.len() {
        let Some(name) = next else { return false };
        if name == earlier.job.name {
            return true;
        }
        let named = jobs.iter().find(|job| job.name == name);
        let options = named.and_then(|job| job.options.as_ref());
        next = options.and_then(|options| options.get("wait_for").map(String::as_str));
    }
    false
}

/// When a job began and ended; none if its delay is not a number, or fio does not report how long it ran.
fn window(load: &Load<'_>) -> Option<(f64, f64)> {
    let given = |name: &str| match load.option(name) {
        Some(text) => time(text).ok().map(|span| span.as_secs_f64()),
        None => Some(0.0),
    };
    let began = match load.job.job_start {
        Some(ms) => ms / 1e3,
        None => given("startdelay")?,
    };
    let ended = began + given("ramp_time")? + load.figures.runtime_s;
    (load.figures.runtime_s > 0.0).then_some((began, ended))
}

/// Why figures are not those of their cell: fio reports several sections of a job file as one, with the options of one of them, or a job's
/// verification with its requests.
pub(super) fn of_several(
    described: &Described,
    options: Option<&Options>,
    figures: &Figures,
) -> Option<String> {
    const REMEDY: &str = "with stonewall, or without group_reporting, each has its own figures";
    let mix = described.factor(&READ_WRITE_MIX);
    if let Some(mix) = mix.and_then(|mix| mix.parse::<ReadWriteMix>().ok()) {
        let is_merged = mix.has_reads() || figures.mixed.is_some();
        if mix.has_writes() && is_merged && options.is_some_and(verifies) {
            return Some(format!(
                "its options ask for a mix of {mix} that is verified, and fio counts the reads that verify what was written with the others; \
                 do_verify=0 leaves them out"
            ));
        }
        let excluded = [
            (mix.has_reads(), figures.read.count, "reads"),
            (mix.has_writes(), figures.write.count, "writes"),
        ];
        let counted = excluded
            .into_iter()
            .find(|(is_asked, count, _)| !is_asked && *count > 0.0);
        if let Some((_, count, what)) = counted {
            // A report without options may be of a job that verifies.
            let verifies =
                !mix.has_reads() && options.is_none_or(|options| options.value("verify").is_some());
            let cause = match verifies {
                true => {
                    "they verify what was written, and do_verify=0 leaves them out; or these are several jobs that fio reports as one"
                }
                false => "these are several jobs that fio reports as one",
            };
            return Some(format!(
                "its options ask for a mix of {mix}, and fio counted {count} {what}: {cause}; {REMEDY}"
            ));
        }
    }
    let (jobs, times) = threads(described, figures)?;
    (times > jobs + 0.5).then(|| {
        format!(
            "it has {jobs} {}, and its threads ran {times:.1} times as long as the longest of them: fio reports several jobs as one; {REMEDY}",
            if jobs > 1.0 { "jobs" } else { "job" }
        )
    })
}

/// Whether fio reads what a job wrote once more, to verify it.
///
/// *Source*: fio(1), `verify` and `do_verify`.
fn verifies(options: &Options) -> bool {
    let is_off = |name: &str| options.value(name).is_some_and(|text| flag(text) == Ok(false));
    options.value("verify").is_some() && !is_off("verify") && !is_off("do_verify")
}

/// What is to be said of threads that did not all run until the end.
pub(super) fn ended_early(described: &Described, figures: &Figures) -> Option<String> {
    let (jobs, times) = threads(described, figures)?;
    let rounded = jobs * ROUNDING_S / figures.runtime_s;
    (times + rounded < jobs * ALL_ALONG).then(|| {
        format!(
            "its {jobs} jobs together ran {times:.1} times as long as the longest of them: some ended early, and fewer requests were in flight then"
        )
    })
}

/// How many jobs there are, and how many times as long as the longest they ran together.
fn threads(described: &Described, figures: &Figures) -> Option<(f64, f64)> {
    let jobs: f64 = described.factor(&JOBS)?.parse().ok()?;
    let threads_s = figures.threads_s.filter(|_| figures.runtime_s > 0.0)?;
    Some((jobs, threads_s / figures.runtime_s))
}
