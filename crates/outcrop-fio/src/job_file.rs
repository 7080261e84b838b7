//! Job files of fio: what each job asks for in the words of Outcrop, or every option that it cannot have, with its line.

mod meanings;
mod sections;
mod translate;

use std::path::{Path, PathBuf};

use outcrop_measure::{ByteSize, TimeSpan};
use outcrop_schema::FactorRef;

use crate::error::FioError;
pub use crate::words::compressible;
pub use meanings::{Meaning, all as meanings};

/// The jobs of a file, each measured by itself.
#[derive(Clone, Debug)]
pub struct JobFile {
    /// In the order of the file.
    pub jobs: Vec<Job>,
    /// What was given and changes nothing, each with its line.
    pub notes: Vec<String>,
}

/// One job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name, in the letters that a plan's name may have; no two jobs of a file have the same.
    pub name: String,
    /// Where its section begins: `job.fio:7`.
    pub at: String,
    /// Factors of the workload: each with its value as plans spell it, and where it was given.
    pub workload: Vec<(FactorRef, String, String)>,
    /// What it reads or writes.
    pub target: Target,
    /// The time measured.
    pub duration: Option<TimeSpan>,
    /// The warm-up.
    pub warm_up: Option<TimeSpan>,
    /// How often it runs.
    pub repetitions: Option<u32>,
}

/// What a job reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file or device that is there, and only read.
    Existing {
        /// Its path.
        path: PathBuf,
    },
    /// A block device that is there, and that the job writes to: its owner has to say that it may.
    Overwritten {
        /// Its path.
        path: PathBuf,
    },
    /// A file that fio would make: here a scratch file.
    Scratch {
        /// Where, if the job says.
        directory: Option<PathBuf>,
        /// How large, if the job says.
        size: Option<ByteSize>,
    },
}

/// What becomes of jobs that fio would run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// They are refused: what each of them gives alone is another figure.
    Refused,
    /// They are measured one after the other, because the user asked for that.
    InTurn,
}

/// How a plan's question ends that was made of a job.
const OF_A_JOB: &str = "of a fio job file reach?";

/// What the plan of a job asks; by it an export knows that the names of a run's plans are those of jobs.
pub fn question(name: &str) -> String {
    format!("What does the job {name} {OF_A_JOB}")
}

/// Whether an expanded plan was made of a job file.
pub(crate) fn is_source_of(plan: &str) -> bool {
    plan.contains(OF_A_JOB)
}

/// Reads a job file, and the files that it includes.
///
/// `variable` answers for `${NAME}`: fio takes these from the environment.
///
/// # Errors
/// All options that have no counterpart, each with file and line; a file that cannot be read.
pub fn read(
    path: &Path,
    at_once: AtOnce,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<JobFile, FioError> {
    let (sections, problems) = sections::read(path, variable)?;
    translate::translate(path, at_once, &sections, problems)
}
