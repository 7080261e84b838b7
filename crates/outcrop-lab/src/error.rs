//! The one error type of this crate: what was seen, what is accepted, what to do.

use std::io;
use std::path::{Path, PathBuf};

use outcrop_results::ResultsError;
use outcrop_workload::word::quoted;

use crate::profile::shipped_hint;

/// Why a plan cannot be run, or a run cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A plan, or a flag that stands for a part of one, is wrong.
    #[error("{at}: {message}")]
    BadPlan {
        /// `file:line:column`, or the flag.
        at: String,
        /// What was seen and what is accepted.
        message: String,
    },
    /// A plan file cannot be read.
    #[error("cannot read the plan {}: {source}{}", path.display(), meant.as_deref().map(|meant| format!("; {meant}")).unwrap_or_default())]
    ReadPlan {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
        /// Which plan was probably meant, as a clause.
        meant: Option<String>,
    },
    /// Neither a file nor a plan that ships has this name.
    #[error("there is no plan `{name}`, and no such file; {}", shipped_hint(name))]
    NoPlan {
        /// What was given.
        name: String,
    },
    /// The budget is too small even for the shortest trials.
    #[error(
        "a budget of {budget} is too short for {trials} {}, which {} at least {shortest}; raise the budget, or reduce cells or repetitions",
        if *trials == 1 { "trial" } else { "trials" },
        if *trials == 1 { "takes" } else { "take" }
    )]
    OverBudget {
        /// What was given.
        budget: String,
        /// Trials of the run.
        trials: usize,
        /// The time that the shortest trials take.
        shortest: String,
    },
    /// The run folder does not fit the plan it is to be resumed with.
    #[error("cannot resume {}: {reason}", path.display())]
    CannotResume {
        /// The run folder.
        path: PathBuf,
        /// What does not fit, and what to do.
        reason: String,
    },
    /// The data are not those of the finished trials.
    #[error(
        "the data of {} have changed since its finished trials ({subject}), so nothing more is measured; restore them and resume, or start a new run",
        path.display()
    )]
    OtherData {
        /// The run folder.
        path: PathBuf,
        /// What was measured, as the run calls it.
        subject: String,
    },
    /// Not one trial of a layer could be measured.
    #[error("no trial of the {layer} layer could be measured; the first failed with: {message}")]
    LayerFailed {
        /// The layer.
        layer: String,
        /// The first failure's sentence.
        message: String,
    },
    /// An error after which no further trial can succeed; finished trials are kept.
    #[error("{message}{}", what_is_kept("outcrop run", *finished, run))]
    Fatal {
        /// The failure's sentence.
        message: String,
        /// Completed trials in the run folder.
        finished: usize,
        /// The run folder.
        run: PathBuf,
        /// Whether the user named something that cannot be measured.
        is_bad_input: bool,
    },
    /// A layer could not make its subjects.
    #[error("{message}")]
    Preparation {
        /// The layer's own sentence.
        message: String,
        /// Whether the user named something that cannot be measured.
        is_bad_input: bool,
    },
    /// The run folder could not be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The run was stopped while it prepared its subject; nothing was measured.
    #[error(
        "stopped while preparing the subject; nothing was measured yet, and `outcrop run --resume` starts it again"
    )]
    StoppedInPreparation,
    /// The time that the run promised was over before anything was measured.
    #[error(
        "preparing alone took longer than the {seconds} s that this run may take, and nothing was measured; the disk is slow or busy: give a smaller --size, or a longer --budget"
    )]
    NoTimeLeft {
        /// What was promised.
        seconds: u64,
    },
}

impl LabError {
    /// A layer could not make its subjects.
    pub fn preparing(error: &impl ToString) -> Self {
        Self::Preparation {
            message: error.to_string(),
            is_bad_input: false,
        }
    }

    /// True when the user's input is at fault, not the measurement (exit code 2).
    pub const fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::BadPlan { .. }
                | Self::ReadPlan { .. }
                | Self::NoPlan { .. }
                | Self::OverBudget { .. }
                | Self::CannotResume { .. }
                | Self::OtherData { .. }
                | Self::Preparation {
                    is_bad_input: true,
                    ..
                }
                | Self::Fatal {
                    is_bad_input: true,
                    ..
                }
        )
    }
}

/// What becomes of the trials before an error that ends a run, as a clause that follows the error, and how this command goes on; nothing is said
/// where there are none.
pub fn what_is_kept(command: &str, finished: usize, run: &Path) -> String {
    let kept = match finished {
        0 => return String::new(),
        1 => "the finished trial is kept".to_owned(),
        finished => format!("the {finished} finished trials are kept"),
    };
    let run = quoted(&run.to_string_lossy());
    format!("; {kept} (`outcrop report {run}` shows them); fix this, then run `{command} --resume {run}`")
}
