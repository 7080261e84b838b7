//! Trials of the device layer in the form of fio's results, so that fio-plot and scripts read them.
//!
//! Keys and units are those of fio 3. A key whose value is not known is `null`, a percentile that the
//! operations do not support is left out, and nothing is made up.

mod direction;
mod harmless;
mod job_text;
mod options;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::DateTime;
use outcrop_results::{CellView, RunView, TrialEntry, Value as Figure, write_atomically};
use outcrop_schema::device::{self, Direction, JOBS};
use serde_json::{Map, Value, json};

use crate::error::FioError;
use crate::job_file::is_source_of;
use direction::Recorded;
pub use job_text::{ExportedJobs, export_jobs};

/// What the version begins with in a result of ours, where fio's begin with `fio-`.
pub(crate) const PROGRAM: &str = "outcrop-";

/// Trials in fio's form.
#[derive(Clone, Debug)]
pub struct Exported {
    jobs: Vec<Job>,
    /// Cells and trials that have no counterpart, each in a sentence with the reason.
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug)]
struct Job {
    trial: u32,
    repetition: u32,
    /// fio's spelling of the access size.
    size: String,
    file_name: String,
    body: Map<String, Value>,
    ended_ms: i64,
}

/// A run's trials in fio's form.
///
/// # Errors
/// When no completed trial is of the device layer, or a histogram is damaged.
pub fn export(run: &RunView) -> Result<Exported, FioError> {
    let mut exported = Exported {
        jobs: Vec::new(),
        left_out: Vec::new(),
    };
    let has_job_names = is_source_of(&run.plan);
    let mut others = 0;
    for cell in run.cells() {
        if cell.layer != device::SCHEMA.name {
            others += cell.completed.len();
            continue;
        }
        let options = match options::of(&cell) {
            Ok(options) => options,
            Err(why) => {
                let label = device::SCHEMA.label(&device::SCHEMA.read(cell.factors));
                exported.left_out.push(format!("{label}: {why}"));
                continue;
            }
        };
        let recorded = Recorded::of(&cell)?;
        let jobs = cell.completed.iter();
        exported.jobs.extend(jobs.map(|trial| {
            let mut exported = job(trial, &cell, &options, &recorded);
            // Whoever wrote a job file looks for the names that it gives its jobs.
            if let Some(name) = trial.plans.first().filter(|_| has_job_names) {
                exported.body.insert("jobname".to_owned(), name.as_str().into());
            }
            exported
        }));
    }
    if exported.jobs.is_empty() && exported.left_out.is_empty() {
        return Err(FioError::NothingToExport {
            run: run.name.clone(),
        });
    }
    if others > 0 {
        exported.left_out.push(format!(
            "{others} trials of other layers: fio's format covers devices only"
        ));
    }
    exported.jobs.sort_by_key(|job| job.trial);
    Ok(exported)
}

impl Exported {
    /// All jobs in one report, in the order of the run.
    pub fn document(&self) -> Value {
        report(&self.jobs.iter().collect::<Vec<_>>())
    }

    /// Writes a report for each trial into a folder, as fio-plot takes them, and replaces files of the same names. The folder is made where
    /// it is missing.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn write_folder(&self, folder: &Path) -> Result<Vec<PathBuf>, FioError> {
        let paths = self.paths_in(folder);
        for (job, path) in self.jobs.iter().zip(&paths) {
            let place = path.parent().unwrap_or(folder);
            fs::create_dir_all(place).map_err(FioError::io("create", place))?;
            write_atomically(path, format!("{:#}\n", report(&[job])).as_bytes())?;
        }
        Ok(paths)
    }

    /// The files of a folder, in the order of the trials: one job a file, for fio-plot would add up several, and folders by access size and by
    /// repetition where there are several of them.
    pub fn paths_in(&self, folder: &Path) -> Vec<PathBuf> {
        let sizes: BTreeSet<&str> = self.jobs.iter().map(|job| job.size.as_str()).collect();
        let repetitions: BTreeSet<u32> = self.jobs.iter().map(|job| job.repetition).collect();
        let mut taken: Vec<PathBuf> = Vec::new();
        for job in &self.jobs {
            let mut place = folder.to_owned();
            if sizes.len() > 1 {
                place.push(&job.size);
            }
            if repetitions.len() > 1 {
                place.push(format!("repetition-{}", job.repetition + 1));
            }
            let numbered = (2_u32..).map(|number| format!("{}-{number}", job.file_name));
            let mut paths = std::iter::once(job.file_name.clone())
                .chain(numbered)
                .map(|name| place.join(format!("{name}.json")));
            taken.push(paths.find(|path| !taken.contains(path)).unwrap_or_default());
        }
        taken
    }
}

/// A report of some jobs. They did not run at the same time: each is a group of its own.
fn report(jobs: &[&Job]) -> Value {
    let ended_ms = jobs.iter().map(|job| job.ended_ms).max().unwrap_or_default();
    let time = DateTime::from_timestamp_millis(ended_ms).unwrap_or_default();
    let numbered = jobs.iter().enumerate().map(|(group, job)| {
        let mut body = job.body.clone();
        body.insert("groupid".to_owned(), group.into());
        Value::Object(body)
    });
    json!({
        "fio version": format!("{PROGRAM}{}", env!("CARGO_PKG_VERSION")),
        "timestamp": ended_ms / 1000,
        "timestamp_ms": ended_ms,
        "time": time.format("%a %b %e %H:%M:%S %Y").to_string(),
        "jobs": numbered.collect::<Vec<_>>(),
        "disk_util": [],
    })
}

fn job(trial: &TrialEntry, cell: &CellView<'_>, options: &options::FioOptions, recorded: &Recorded) -> Job {
    let began_ms =
        DateTime::parse_from_rfc3339(&trial.started_at).map_or(0, |began| began.timestamp_millis());
    let runtime_ms = (trial.duration_s * 1e3).round() as i64;
    let jobs = cell
        .factor(JOBS.name)
        .and_then(|jobs| jobs.parse::<i64>().ok())
        .unwrap_or(1);
    let of = |direction: Direction| direction::json(trial, direction, recorded, options);
    let cpu_ns = figure(trial, device::CPU_PER_OPERATION.name);
    let iops = figure(trial, device::IOPS.both.name);
    let cpu_percent = cpu_ns
        .zip(iops)
        .map(|(cpu_ns, iops)| cpu_ns * iops / 1e7 / jobs as f64);
    let distribution = recorded.latencies(trial.repetition);
    let body = json!({
        "jobname": options.name(),
        "groupid": 0,
        "job_start": began_ms,
        "error": 0,
        "eta": 0,
        "elapsed": runtime_ms / 1000,
        "job options": options.to_json(trial.duration_s),
        "read": of(Direction::Read),
        "write": of(Direction::Write),
        "trim": direction::none(),
        "sync": direction::syncs(trial, recorded),
        "job_runtime": runtime_ms * jobs,
        // Outcrop counts the CPU time of both together, which only their sum shows.
        "usr_cpu": cpu_percent.map(|_| 0.0),
        "sys_cpu": cpu_percent,
        "latency_ns": distribution.as_ref().map(|all| all.within(1)),
        "latency_us": distribution.as_ref().map(|all| all.within(1_000)),
        "latency_ms": distribution.as_ref().map(|all| all.within(1_000_000)),
    });
    let mut body = match body {
        Value::Object(body) => body,
        _ => Map::new(),
    };
    let has_both = body["write"].get(direction::LATENCY_WITH_SYNC).is_some();
    if has_both {
        body.insert("desc".to_owned(), about_syncs(trial, recorded).into());
    }
    Job {
        trial: trial.trial,
        repetition: trial.repetition,
        size: options.size().to_owned(),
        file_name: options.file_name(),
        body,
        ended_ms: began_ms + runtime_ms,
    }
}

/// What a reader of the latencies must know where syncs follow writes. fio has the description of a job there.
fn about_syncs(trial: &TrialEntry, recorded: &Recorded) -> String {
    let others = match recorded.unsynced_writes(trial.repetition) {
        Some(_) => "all other latencies of writes are without it, as in fio",
        None => {
            "this run did not record the latency of writes without it, so clat_ns and lat_ns of writes are left out"
        }
    };
    format!(
        "{} of writes is Outcrop's own latency, which includes the sync that follows a write; {others}",
        direction::LATENCY_WITH_SYNC
    )
}

/// The value of a metric in a trial.
fn figure(trial: &TrialEntry, metric: &str) -> Option<f64> {
    let mut figures = trial.values.iter();
    figures.find(|figure: &&Figure| figure.metric == metric)?.value
}
