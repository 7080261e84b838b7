//! Sections of a job file as jobs of ours, or all that stands in the way.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use outcrop_measure::{ByteSize, TimeSpan};
use outcrop_schema::FactorRef;
use outcrop_schema::device::{ENGINE, JOBS, LATENCY_PARTS, READ_WRITE_MIX, SPAN};
use outcrop_workload::{EngineKind, LatencyParts, ReadWriteMix};

use super::meanings::{self, Meaning};
use super::sections::Section;
use super::{AtOnce, Job, JobFile, Target};
use crate::error::FioError;
use crate::options::{Given, Options, Problem};
use crate::quantity::{bytes, flag, time};
use crate::words::{self, Workload};

/// The jobs, or every problem with its place, each once.
pub(super) fn translate(
    path: &Path,
    at_once: AtOnce,
    sections: &[Section],
    problems: Vec<String>,
) -> Result<JobFile, FioError> {
    let mut translation = Translation {
        file: JobFile {
            jobs: Vec::new(),
            notes: Vec::new(),
        },
        problems,
        names: BTreeSet::new(),
    };
    if sections.is_empty() && translation.problems.is_empty() {
        translation.problems.push(format!(
            "{}: there is no job in it; a job begins with [NAME]",
            path.display()
        ));
    }
    for (index, section) in sections.iter().enumerate() {
        if index > 0
            && section.options.get("stonewall").is_none()
            && section.options.get("wait_for").is_none()
        {
            let (at, name, before) = (&section.at, &section.name, &sections[index - 1].name);
            let together = format!("{at}: [{name}] runs at the same time as [{before}] in fio");
            match at_once {
                AtOnce::Refused => translation.problem(format!(
                    "{together}, but here jobs run one after the other; add `stonewall` to it, or give --in-turn"
                )),
                AtOnce::InTurn => translation
                    .file
                    .notes
                    .push(format!("{together}, but is measured alone here")),
            }
        }
        translation.job(section);
    }
    if translation.problems.is_empty() {
        return Ok(translation.file);
    }
    Err(FioError::JobFile {
        problems: translation.problems,
    })
}

struct Translation {
    file: JobFile,
    problems: Vec<String>,
    names: BTreeSet<String>,
}

impl Translation {
    /// A global option is at fault once, not for each job.
    fn problem(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn job(&mut self, section: &Section) {
        for given in section.options.iter().filter(|given| !words::reads(&given.name)) {
            self.judge(given);
        }
        self.note_ignored_depth(section);
        let workload = Workload::of(&section.options);
        for problem in &workload.problems {
            self.problem(sentence(problem, section));
        }
        for said in &workload.said {
            if let Err(why) = said.factor.read(&said.value) {
                let given = section.options.get(said.option);
                let at = given.map_or(&section.at, |given| &given.at);
                self.problem(format!("{at}: {}: {why}", said.option));
            }
        }
        self.judge_invalidation(section);
        self.note_parts(section, &workload);
        self.note_ignored_syncs(section, &workload);
        let job = Self::build(section, &workload);
        match job {
            Ok(mut job) => {
                job.name = self.free_name(&section.name);
                self.file.jobs.push(job);
            }
            Err(problem) => self.problem(sentence(&problem, section)),
        }
    }

    /// Whoever asks for a depth reads figures as those of that depth; fio itself only prints a line about it.
    fn note_ignored_depth(&mut self, section: &Section) {
        let Some((engine, depth)) = words::ignored_depth(&section.options) else {
            return;
        };
        let is_given = section.options.get("ioengine").is_some();
        let by_default = if is_given { "" } else { ", fio's default," };
        let at = section
            .options
            .get("iodepth")
            .map_or(&section.at, |given| &given.at);
        let note = format!(
            "{at}: iodepth={depth} has no effect, as in fio: ioengine={engine}{by_default} waits for each request, so 1 is in flight; \
             write ioengine=io_uring or libaio for {depth}"
        );
        if !self.file.notes.contains(&note) {
            self.file.notes.push(note);
        }
    }

    /// A job of buffered I/O begins with none of its file's pages in the page cache, as with fio's default.
    fn judge_invalidation(&mut self, section: &Section) {
        const NO_PAGES: &str = "every trial begins with none of the file's pages in the page cache";
        let Some(given) = section.options.get("invalidate") else {
            return;
        };
        let is_direct = words::is_direct(&section.options);
        match flag(&given.value) {
            Err(why) => self.problem(format!("{}: invalidate: {why}", given.at)),
            Ok(false) if !is_direct => self.problem(format!(
                "{}: invalidate={}: {NO_PAGES}; leave it out",
                given.at, given.value
            )),
            Ok(_) if is_direct => self.note_without_effect(given, "requests bypass the page cache"),
            Ok(_) => self.note_without_effect(given, NO_PAGES),
        }
    }

    /// Engines that wait for each request have no submission of its own.
    fn note_parts(&mut self, section: &Section, workload: &Workload) {
        if let Some(given) = section.options.get("slat_percentiles")
            && !has_parts(workload)
        {
            self.note_without_effect(given, "this engine returns when a request is complete");
        }
    }

    /// A job that only reads has no writes to make durable, whatever `[global]` says for those that do.
    fn note_ignored_syncs(&mut self, section: &Section, workload: &Workload) {
        if mix_of(workload).is_none_or(ReadWriteMix::has_writes) {
            return;
        }
        let given = words::SYNCS
            .into_iter()
            .filter_map(|name| section.options.get(name));
        for given in given.filter(|given| !matches!(given.value.as_str(), "0" | "none")) {
            self.file.notes.push(format!(
                "{}: {} has no effect on [{}], as in fio: it only reads, and syncs follow writes",
                given.at,
                typed(given),
                section.name
            ));
        }
    }

    /// Says once that an option changes nothing.
    fn note_without_effect(&mut self, given: &Given, why: &str) {
        let note = format!("{}: {} has no effect: {why}", given.at, typed(given));
        if !self.file.notes.contains(&note) {
            self.file.notes.push(note);
        }
    }

    /// What an option means that is no factor.
    fn judge(&mut self, given: &Given) {
        let typed = typed(given);
        match meanings::of(&given.name) {
            Meaning::Read => {}
            Meaning::Always(why) => self.note_without_effect(given, why),
            Meaning::Refused(_) if given.value == "0" => {}
            Meaning::Refused(why) | Meaning::NeverTaken(why) => {
                self.problem(format!("{}: {typed}: {why}", given.at));
            }
            Meaning::Unknown => self.problem(format!(
                "{}: {typed}: Outcrop does not know this option; leave it out, or see docs/from-fio.md",
                given.at
            )),
        }
    }

    fn build(section: &Section, workload: &Workload) -> Result<Job, Problem> {
        let options = &section.options;
        let at_of = |option: &str| {
            options
                .get(option)
                .map_or_else(|| section.at.clone(), |given| given.at.clone())
        };
        let mut said: Vec<(FactorRef, String, String)> = workload
            .said
            .iter()
            .map(|said| (said.factor, said.value.clone(), at_of(said.option)))
            .collect();
        let jobs = workload
            .value(&JOBS)
            .and_then(|jobs| jobs.parse::<u64>().ok())
            .unwrap_or(1);
        let writes = mix_of(workload).is_some_and(ReadWriteMix::has_writes);
        let size = size_of(options)?;
        let target = target(options, size, jobs, writes)?;
        if let (Target::Existing { .. } | Target::Overwritten { .. }, Some(size)) = (&target, size) {
            said.push((&SPAN, ByteSize(size).to_string(), at_of("size")));
        }
        if options.read("slat_percentiles", flag)? == Some(true) && has_parts(workload) {
            let apart = LatencyParts::Apart.to_string();
            said.push((&LATENCY_PARTS, apart, at_of("slat_percentiles")));
        }
        let repetitions = options.read("loops", |text| {
            text.parse::<u32>()
                .map_err(|_| format!("`{text}` is not a number of repetitions"))
        })?;
        Ok(Job {
            name: String::new(),
            at: section.at.clone(),
            workload: said,
            target,
            duration: options
                .read("runtime", time)?
                .filter(|time| !time.is_zero())
                .map(TimeSpan),
            warm_up: options.read("ramp_time", time)?.map(TimeSpan),
            repetitions: repetitions.filter(|count| *count > 0),
        })
    }

    /// The section's name in the letters of plans' names, numbered where it was there before.
    fn free_name(&mut self, name: &str) -> String {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let plain: String = name
            .chars()
            .map(|c| if is_allowed(c) { c } else { '-' })
            .take(56)
            .collect();
        let plain = match plain.trim_matches(['-', '.']) {
            "" => "job".to_owned(),
            some => some.to_owned(),
        };
        let numbered = (2_u32..).map(|number| format!("{plain}-{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let free = names
            .find(|name| !self.names.contains(name))
            .unwrap_or(plain.clone());
        self.names.insert(free.clone());
        free
    }
}

/// How many of a job's requests read; none where that is not known.
fn mix_of(workload: &Workload) -> Option<ReadWriteMix> {
    workload.value(&READ_WRITE_MIX)?.parse().ok()
}

/// Whether the submission of a job's requests can be timed apart.
fn has_parts(workload: &Workload) -> bool {
    workload.value(&ENGINE) != Some(EngineKind::Psync.name())
}

/// An option as it was typed.
fn typed(given: &Given) -> String {
    match given.value.as_str() {
        "" => given.name.clone(),
        value => format!("{}={value}", given.name),
    }
}

fn sentence(problem: &Problem, section: &Section) -> String {
    let at = if problem.at.is_empty() {
        &section.at
    } else {
        &problem.at
    };
    format!("{at}: {}: {}", problem.option, problem.reason)
}

/// The size of the file: `size` is what fio moves before it begins anew, `filesize` how large the file is, and here both are one.
fn size_of(options: &Options) -> Result<Option<u64>, Problem> {
    // All of it, which is what leaving it out says.
    let whole = |name: &str| options.value(name) == Some("100%");
    let read = |name: &str| match whole(name) {
        true => Ok(None),
        false => options.read(name, |text| bytes(text, options.is_si())),
    };
    match (read("size")?, read("filesize")?, options.get("filesize")) {
        (Some(size), Some(file), Some(given)) if size != file => Err(Problem::of(
            given,
            "size has another value; here a job has one file of one size, and its runtime limits how much is transferred; keep one of the two",
        )),
        (size, file, _) => Ok(size.or(file)),
    }
}

/// What a job reads or writes: a file that is there is only ever read, what is not there is a scratch file, and whether a device may be
/// overwritten is not for the file to say.
fn target(options: &Options, size: Option<u64>, jobs: u64, writes: bool) -> Result<Target, Problem> {
    let directory = options.value("directory").map(PathBuf::from);
    let Some(given) = options.get("filename") else {
        // Each of fio's clones has a file of this size.
        let size = size.map(|size| ByteSize(size.saturating_mul(jobs)));
        return Ok(Target::Scratch { directory, size });
    };
    let path = directory.as_deref().unwrap_or(Path::new("")).join(&given.value);
    let path = path.as_path();
    if !path.exists() {
        if path.starts_with("/dev") {
            return Err(Problem::of(given, format!("there is no {}", path.display())));
        }
        if given.value.contains(':') {
            return Err(Problem::of(given, "write one job for each file"));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        return Ok(Target::Scratch {
            directory: parent.map(Path::to_owned),
            size: size.map(ByteSize),
        });
    }
    let path = path.to_owned();
    if !writes {
        return Ok(Target::Existing { path });
    }
    if std::fs::metadata(&path).is_ok_and(|found| found.file_type().is_block_device()) {
        return Ok(Target::Overwritten { path });
    }
    let reason = format!(
        "{} already exists, and Outcrop does not write to files that it did not create; leave filename out for a scratch file",
        path.display()
    );
    Err(Problem::of(given, reason))
}
