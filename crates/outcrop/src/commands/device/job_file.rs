//! `outcrop device --job FILE`: the jobs of a fio job file, each a plan of one run.

use std::path::{Path, PathBuf};

use outcrop_fio::job_file::{self, AtOnce, Target};
use outcrop_fio::{FioError, Job};
use outcrop_lab::{Draft, PlanOptions, PlanSet};
use outcrop_measure::units::ByteSize;
use outcrop_schema::device;

use super::{DURATION, WARM_UP};
use crate::commands::plan_flags::PlanFlags;
use crate::exit::{Ending, bad_input};
use crate::output::note;
use crate::session;

/// Measures the jobs of a file; a directory that it names has precedence over the command's own default.
pub(super) fn run(
    path: &Path,
    at_once: AtOnce,
    directory: &Path,
    size: Option<ByteSize>,
    flags: &PlanFlags,
) -> anyhow::Result<Ending> {
    let file = job_file::read(path, at_once, &|name| std::env::var(name).ok());
    let file = file.map_err(|error| match error {
        error @ (FioError::Io { .. } | FioError::JobFile { .. }) => bad_input(error),
        other => other.into(),
    })?;
    if !flags.quiet {
        for text in &file.notes {
            note(&format!("note: {text}"));
        }
    }
    let directory = match place(&file.jobs)? {
        Some(stated) if directory == Path::new(".") => stated,
        _ => directory.to_owned(),
    };
    let options = PlanOptions {
        directory: Some(directory),
        size,
        warm_up: flags.warm_up,
        duration: flags.duration,
        ..flags.options()
    };
    let drafts = file.jobs.iter().map(draft).collect();
    let set = PlanSet::from_drafts(drafts, &options).map_err(session::lab_error)?;
    session::start(&set, "fio-job", flags)
}

/// The one place of all scratch files, where jobs say one.
fn place(jobs: &[Job]) -> anyhow::Result<Option<PathBuf>> {
    let mut places: Vec<(&PathBuf, &str)> = Vec::new();
    for job in jobs {
        if let Target::Scratch {
            directory: Some(directory),
            ..
        } = &job.target
        {
            places.push((directory, &job.at));
        }
    }
    let Some((first, _)) = places.first() else {
        return Ok(None);
    };
    match places.iter().find(|(other, _)| other != first) {
        None => Ok(Some((*first).clone())),
        Some((other, at)) => Err(bad_input(anyhow::anyhow!(
            "{at}: its file is in {}, but that of an earlier job is in {}; all scratch files of a run are in one directory",
            other.display(),
            first.display()
        ))),
    }
}

fn draft(job: &Job) -> Draft {
    let question = format!("What does job {} of a fio job file achieve?", job.name);
    let mut draft = Draft::new(&job.name, &question, device::SCHEMA.name, &job.at)
        .with_duration(job.duration.unwrap_or(DURATION), &job.at)
        .with_warm_up(job.warm_up.unwrap_or(WARM_UP), &job.at);
    draft = match &job.target {
        Target::Existing { path } => draft
            .with_subject(&device::KIND, device::Kind::ReadOnly.name(), &job.at)
            .with_subject(&device::PATH, &path.to_string_lossy(), &job.at),
        Target::Scratch { size, .. } => {
            let scratch = draft.with_subject(&device::KIND, device::Kind::ScratchFile.name(), &job.at);
            match size {
                Some(size) => scratch.with_subject(&device::SIZE, &size.to_string(), &job.at),
                None => scratch,
            }
        }
    };
    if let Some(repetitions) = job.repetitions {
        draft = draft.with_repetitions(repetitions, &job.at);
    }
    job.workload.iter().fold(draft, |draft, (factor, value, at)| {
        draft.with_workload(factor.about(), [value.clone()], at)
    })
}
