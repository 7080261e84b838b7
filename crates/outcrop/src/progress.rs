//! Live progress on a terminal, plain lines elsewhere; always on stderr.

use crate::output::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use outcrop_lab::{Event, Observer};
use outcrop_measure::units::format_bytes;
use outcrop_results::Outcome;
use std::io::IsTerminal as _;
use std::time::Duration;

/// Shows the events of a run in the form that suits where stderr goes.
pub(crate) enum Progress {
    /// A bar that is drawn again in place.
    Terminal(ProgressBar),
    /// A line at every tenth of the trials and every quarter of the preparation.
    Lines(Lines),
    /// Nothing but warnings, notes and trials that failed.
    Quiet,
}

impl Progress {
    /// A bar when stderr is a terminal, lines when it is a file or a pipe, neither when the user wants quiet.
    pub(crate) fn on_stderr(is_quiet: bool) -> Self {
        if is_quiet {
            return Self::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Lines::default());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        Self::Terminal(bar)
    }

    fn say(&self, text: &str) {
        match self {
            Self::Terminal(bar) => bar.suspend(|| note(text)),
            Self::Lines(_) | Self::Quiet => note(text),
        }
    }

    fn advance(&mut self, step: Step, done: u64, total: u64, message: &str) {
        match self {
            Self::Terminal(bar) => {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(message.to_owned());
            }
            Self::Lines(lines) => lines.advance(step, done, total, message),
            Self::Quiet => {}
        }
    }
}

impl Observer for Progress {
    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::Preparing {
                bytes_done,
                bytes_total,
                remaining,
            } => {
                let message = format!(
                    "preparing: {} of {} written, {} left in all",
                    format_bytes(bytes_done),
                    format_bytes(bytes_total),
                    clock_time(remaining)
                );
                self.advance(Step::Preparing, bytes_done, bytes_total, &message);
            }
            Event::TrialStarted {
                finished,
                total,
                cell,
                remaining,
                ..
            } => {
                let message = format!("{} left · {}", clock_time(remaining), cell.label());
                self.advance(Step::Measuring, finished as u64, total as u64, &message);
            }
            Event::TrialFinished {
                finished,
                total,
                cell,
                entry,
                remaining,
            } => {
                if let Outcome::Failed { message } = &entry.outcome {
                    self.say(&format!("trial {} failed: {message}", entry.trial));
                }
                let reached = cell
                    .reached(entry)
                    .map_or_else(String::new, |reached| format!(": {reached}"));
                let message = format!("{} left · {}{reached}", clock_time(remaining), cell.label());
                self.advance(Step::Measuring, finished as u64, total as u64, &message);
            }
            Event::Note(text) => self.say(&format!("note: {text}")),
            Event::Warning(text) => self.say(&format!("warning: {text}")),
            _ => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// What a run is doing; each step counts from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Preparing,
    Measuring,
}

/// Remembers what was said last, so that a log gets ten lines and not ten thousand.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    last: Option<(Step, u64)>,
}

impl Lines {
    fn advance(&mut self, step: Step, done: u64, total: u64, message: &str) {
        if let Some(line) = self.line(step, done, total, message) {
            note(&line);
        }
    }

    fn line(&mut self, step: Step, done: u64, total: u64, message: &str) -> Option<String> {
        let parts = match step {
            Step::Preparing => 4,
            Step::Measuring => 10,
        };
        let part = (u128::from(done) * parts)
            .checked_div(u128::from(total))
            .unwrap_or(0) as u64;
        let is_news = self
            .last
            .is_none_or(|(last_step, last)| last_step != step || part > last);
        if !is_news {
            return None;
        }
        self.last = Some((step, part));
        Some(format!("{:3} %  {message}", u128::from(part) * 100 / parts))
    }
}

/// `1:05` or `1:02:03`.
pub(crate) fn clock_time(span: Duration) -> String {
    let seconds = span.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_a_few_lines_per_step_however_many_events_there_are() {
        let mut lines = Lines::default();
        let said = (0..=1000)
            .filter_map(|done| lines.line(Step::Preparing, done, 1000, "writing"))
            .count();
        assert_eq!(said, 5);
        assert_eq!(
            lines.line(Step::Measuring, 0, 40, "first trial").as_deref(),
            Some("  0 %  first trial")
        );
    }

    #[test]
    fn a_step_without_work_divides_by_nothing() {
        assert_eq!(
            Lines::default().line(Step::Measuring, 0, 0, "none").as_deref(),
            Some("  0 %  none")
        );
    }

    #[test]
    fn remaining_time_reads_like_a_clock() {
        assert_eq!(clock_time(Duration::from_secs(65)), "1:05");
        assert_eq!(clock_time(Duration::from_secs(3723)), "1:02:03");
    }
}
