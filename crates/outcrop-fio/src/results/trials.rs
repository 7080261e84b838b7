//! A report of fio as trials: which job is which cell, under which conditions.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use outcrop_results::{Outcome, TrialEntry};
use outcrop_schema::FactorRef;
use outcrop_schema::device::{self, ARRIVAL, Direction, IMPORTED, READ_WRITE_MIX, SYNC};
use outcrop_workload::ReadWriteMix;

use super::described::{Described, cell_of};
use super::document::{Document, Job};
use super::figures::Figures;
use super::together::{self, Beside, Load, ended_early, of_several};
use super::values::{Circumstances, from_submission_end, values};
use crate::options::Options;

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

/// One job, or several that are one cell, as trials without a place in a run yet.
pub(super) fn trials(
    document: &Document,
    origin: Origin<'_>,
) -> Result<(Vec<TrialEntry>, Vec<String>), String> {
    let Some(jobs) = &document.jobs else {
        return Err(match document.client_stats {
            Some(_) => "it was written by fio --client; import the files that the machines themselves wrote"
                .to_owned(),
            None => "it is not a result of fio: it has no \"jobs\"".to_owned(),
        });
    };
    if jobs.is_empty() {
        return Err("it contains no job".to_owned());
    }
    if jobs.iter().all(|job| job.read.is_none() && job.mixed.is_none()) {
        return Err("it is not a result of fio: its jobs have no \"read\"".to_owned());
    }
    let (mut trials, mut left_out) = (Vec::new(), Vec::new());
    for (load, beside) in &together::loads(jobs, document, origin) {
        match trial(load, *beside, document, origin) {
            Ok(trial) => trials.push(trial),
            Err(why) => left_out.push(format!("job {:?}: {why}", load.job.name)),
        }
    }
    Ok((trials, left_out))
}

/// The job's options over those of `[global]`; none where fio wrote neither.
pub(super) fn options_of(job: &Job, document: &Document) -> Option<Options> {
    let given = [&document.global_options, &job.options];
    if job.options.is_none() && document.global_options.as_ref().is_none_or(BTreeMap::is_empty) {
        return None;
    }
    let mut options = Options::default();
    for object in given.into_iter().flatten() {
        options.set_object(object);
    }
    Some(options)
}

fn trial(
    load: &Load<'_>,
    beside: Beside,
    document: &Document,
    origin: Origin<'_>,
) -> Result<TrialEntry, String> {
    let (job, figures) = (load.job, &load.figures);
    if let Some(why) = &figures.impossible {
        return Err(why.clone());
    }
    if figures.trims > 0.0 {
        return Err("it trims; Outcrop measures only reads and writes".to_owned());
    }
    let described = described(load, beside, origin)?;
    let outcome = match job.error {
        0 => Outcome::Completed,
        error => Outcome::Failed {
            message: format!(
                "fio's job {:?} in {} ended with error {error}",
                job.name, origin.file
            ),
        },
    };
    let source = format!("{}, {}", origin.version, origin.file);
    let circumstances = circumstances(&described, &source);
    let (values, remark) = match outcome {
        Outcome::Completed => (
            values(figures, circumstances),
            from_submission_end(figures, circumstances),
        ),
        _ => (Vec::new(), None),
    };
    let entry = TrialEntry {
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
        took_s: None,
        others_cpu_share: None,
        outcome,
        values,
        histograms: Vec::new(),
        notes: described
            .remarks
            .iter()
            .map(|text| IMPORTED.remark(text))
            .chain(remark)
            .collect(),
    };
    // What no journal may have is not brought into one.
    entry.check().map(|()| entry)
}

/// The cell of a load, and what its figures do not show.
fn described(load: &Load<'_>, beside: Beside, origin: Origin<'_>) -> Result<Described, String> {
    let mut described = load.described.clone()?;
    if let Some(why) = of_several(&described, load.options.as_ref(), &load.figures) {
        return Err(why);
    }
    if let Some(remark) = ended_early(&described, &load.figures).filter(|_| load.job.error == 0) {
        described.remark(remark);
    }
    described.say_syncs(&load.figures);
    described.say_shared(beside);
    if origin.reports > 1 {
        described.remark(format!(
            "the file has {} reports, and the last one is the whole job's",
            origin.reports
        ));
    }
    Ok(described)
}

/// What decides how the figures of a cell are named.
fn circumstances<'c>(described: &Described, source: &'c str) -> Circumstances<'c> {
    let mix = described
        .factor(&READ_WRITE_MIX)
        .and_then(|mix| mix.parse::<ReadWriteMix>().ok());
    let mut directions = Direction::ALL.into_iter();
    Circumstances {
        only: mix.and_then(|mix| directions.find(|direction| direction.mix() == mix)),
        has_syncs: described
            .factor(&SYNC)
            .is_some_and(|sync| sync.starts_with("each") || sync.starts_with("every")),
        is_open_loop: described
            .factor(&ARRIVAL)
            .is_some_and(|arrival| arrival != "closed"),
        source,
    }
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
