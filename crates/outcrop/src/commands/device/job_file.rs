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

/// What the command line says in addition to the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub(super) at_once: AtOnce,
    /// Where scratch files are made, if it was typed.
    pub(super) directory: Option<&'a Path>,
    pub(super) size: Option<ByteSize>,
    /// The name of the device that jobs may overwrite.
    pub(super) destroy: &'a [String],
    pub(super) flags: &'a PlanFlags,
}

/// Measures the jobs of a file; a directory that was typed has precedence over the one that it names.
pub(super) fn run(path: &Path, given: Given<'_>) -> anyhow::Result<Ending> {
    let Given {
        at_once,
        directory,
        size,
        destroy,
        flags,
    } = given;
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
    let directory = match directory {
        Some(typed) => Some(typed.to_owned()),
        None => place(&file.jobs)?,
    };
    let options = PlanOptions {
        directory: Some(directory.unwrap_or_else(|| ".".into())),
        size,
        warm_up: flags.warm_up,
        duration: flags.duration,
        ..flags.options()
    };
    let overwritten = overwritten(path, &file.jobs, destroy)?;
    let drafts = file.jobs.iter();
    let drafts = drafts.map(|job| draft(job, overwritten.as_ref())).collect();
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

/// The one device that jobs write to, whose owner said its name.
struct Overwritten<'a> {
    path: &'a Path,
    name: &'a str,
    /// As far as the jobs on it reach; none where one of them reaches all of it.
    size: Option<ByteSize>,
}

/// The device that is overwritten; none where no job writes to one.
fn overwritten<'a>(
    file: &Path,
    jobs: &'a [Job],
    destroy: &'a [String],
) -> anyhow::Result<Option<Overwritten<'a>>> {
    let refuse = |text: String| Err(bad_input(anyhow::anyhow!(text)));
    let mut writers = jobs.iter().filter_map(|job| match &job.target {
        Target::Overwritten { path } => Some((path.as_path(), &job.at)),
        _ => None,
    });
    let (Some((path, at)), name) = (writers.next(), destroy.first()) else {
        return match destroy.first() {
            None => Ok(None),
            Some(_) => refuse(format!(
                "--destroy: no job of {} writes to a block device; leave it out",
                file.display()
            )),
        };
    };
    if let Some((other, at)) = writers.find(|(other, _)| *other != path) {
        return refuse(format!(
            "{at}: it writes to {}, but an earlier job to {}; --destroy names one device, so write one job file for each",
            other.display(),
            path.display()
        ));
    }
    let (Some(name), 1) = (name, destroy.len()) else {
        return refuse(format!(
            "{at}: it writes to {0}, and all data of a device are overwritten only where `--destroy NAME` repeats its name once: its serial \
             number or its name in /dev/disk/by-id, which `outcrop device {0}` prints",
            path.display()
        ));
    };
    let on_it = jobs.iter().filter(|job| is_on(job, path));
    let reaches = on_it.map(|job| {
        let mut said = job.workload.iter();
        let (_, span, _) = said.find(|(factor, ..)| factor.name == device::SPAN.name)?;
        span.parse().ok()
    });
    let sizes: Option<Vec<ByteSize>> = reaches.collect();
    let size = sizes.and_then(|sizes| sizes.into_iter().max());
    Ok(Some(Overwritten { path, name, size }))
}

/// Whether a job reads or writes what is at a path.
fn is_on(job: &Job, wanted: &Path) -> bool {
    matches!(&job.target, Target::Existing { path } | Target::Overwritten { path } if path == wanted)
}

fn draft(job: &Job, overwritten: Option<&Overwritten<'_>>) -> Draft {
    let question = job_file::question(&job.name);
    let mut draft = Draft::new(&job.name, &question, device::SCHEMA.name, &job.at)
        .with_duration(job.duration.unwrap_or(DURATION), &job.at)
        .with_warm_up(job.warm_up.unwrap_or(WARM_UP), &job.at);
    draft = match &job.target {
        // What a job overwrites, another one only reads of the same device: a device is one subject.
        Target::Existing { .. } | Target::Overwritten { .. }
            if overwritten.is_some_and(|device| is_on(job, device.path)) =>
        {
            overwritten.into_iter().fold(draft, overwriting)
        }
        Target::Existing { path } | Target::Overwritten { path } => draft
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

/// A draft whose subject is the device that its owner named.
fn overwriting(draft: Draft, owned: &Overwritten<'_>) -> Draft {
    const FLAG: &str = "--destroy";
    let draft = draft
        .with_subject(&device::KIND, device::Kind::Destroyed.name(), FLAG)
        .with_subject(&device::PATH, &owned.path.to_string_lossy(), FLAG)
        .with_subject(&device::DESTROY, owned.name, FLAG);
    match owned.size {
        Some(size) => draft.with_subject(&device::SIZE, &size.to_string(), FLAG),
        None => draft,
    }
}
