//! What is said of a run that ended before its last trial, and the command that goes on with it.

use std::path::Path;

use outcrop_lab::RunOutcome;
use outcrop_measure::ByteSize;
use outcrop_report::quoted;

/// How a run ended early.
pub(super) struct Interrupted<'r> {
    pub(super) outcome: &'r RunOutcome,
    /// Trials that were complete before this process began.
    pub(super) finished_before: usize,
    /// The limit on written bytes, and whether it ended the run; else a signal did.
    pub(super) limit: Option<ByteSize>,
    pub(super) is_by_limit: bool,
    /// What all trials together write to a usual device, as estimated.
    pub(super) likely_bytes: u64,
    /// Whether shorter trials write less.
    pub(super) takes_duration: bool,
    /// Whether its folder stays.
    pub(super) is_kept: bool,
    /// Command and folder that resume it.
    pub(super) command: &'r str,
    pub(super) dir: &'r Path,
}

impl Interrupted<'_> {
    /// A limit with which a resume comes further: twice the old one, and what all trials write to a usual device, in whole MiB.
    fn larger(&self, limit: ByteSize) -> ByteSize {
        const MIB: u64 = 1 << 20;
        let likely = self.likely_bytes.div_ceil(MIB).saturating_mul(MIB);
        ByteSize(limit.0.saturating_mul(2).max(likely))
    }

    /// In a sentence.
    pub(super) fn in_words(&self) -> String {
        let RunOutcome { finished, total, .. } = self.outcome;
        if !self.is_kept {
            let reached = self.limit.filter(|_| self.is_by_limit);
            let reached = reached.map_or_else(String::new, |limit| {
                format!("{limit} (--max-written) was reached, and ")
            });
            return format!(
                "interrupted: {finished} of {total} trials were measured; {reached}--no-save keeps none of them"
            );
        }
        let kept = format!("interrupted: {finished} of {total} trials are kept");
        let resume = format!(
            "{} --resume {}",
            self.command,
            quoted(&self.dir.to_string_lossy())
        );
        let with = |limit: ByteSize| format!("`{resume} --max-written {limit}`");
        match self.limit {
            None => format!("{kept}; resume with `{resume}`"),
            Some(limit) if self.is_by_limit && *finished == self.finished_before => format!(
                "{kept}; {limit} (--max-written) was reached before {} was complete, and would be again, because every call counts from zero and \
                 prepares its target again: with that, one trial writes more than the limit; resume with a larger limit, such as {}{}",
                if *finished == 0 {
                    "a trial"
                } else {
                    "another trial"
                },
                with(self.larger(limit)),
                if self.takes_duration {
                    ", or start a new run with a shorter --duration"
                } else {
                    ""
                }
            ),
            Some(limit) if self.is_by_limit => format!(
                "{kept}; resume with {}; every call may write up to {limit}",
                with(limit)
            ),
            Some(limit) => format!("{kept}; resume with {}", with(limit)),
        }
    }
}
