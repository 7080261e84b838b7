//! How a run ended, in numbers.

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// Trials of the run in all.
    pub total: usize,
    /// Completed trials in the folder, those of earlier sessions too.
    pub finished: usize,
    /// Trials in the folder that gave a figure; the others that completed say only why there is none.
    pub measured: usize,
    /// Trials of this session that failed, each with its sentence in the journal.
    pub failed: usize,
    /// What this session wrote to its subjects, preparation included.
    pub bytes_written: u64,
    /// Trials that did not fit into the time that the run promised; a resume measures them.
    pub left_out: usize,
    /// True when the run was stopped before its last trial; it can be resumed.
    pub is_interrupted: bool,
}

impl RunOutcome {
    /// Whether the run ended and no trial, of this session or an earlier one, gave a figure.
    pub const fn has_measured_nothing(&self) -> bool {
        !self.is_interrupted && self.finished > 0 && self.measured == 0
    }
}
