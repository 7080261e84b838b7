//! Live progress on a terminal, plain lines elsewhere; always on stderr.

use crate::output::{harmless, note};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use outcrop_lab::{Event, Observer};
use outcrop_measure::units::format_bytes;
use outcrop_probe::Clock;
use outcrop_results::Outcome;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often a bar is drawn where nothing happens: within a long trial, only the time left changes.
const TICK: Duration = Duration::from_secs(1);

/// Shows the events of a run. A failure is said once, however many trials end in it.
pub(crate) struct Progress {
    form: Form,
    /// The trial that failed first and how many did, by what they said.
    failures: BTreeMap<String, (u32, usize)>,
}

/// The form that suits where stderr goes.
enum Form {
    /// A bar that is drawn again in place, and each second.
    Terminal(Bar),
    /// A line at every tenth of the trials and every quarter of the preparation.
    Lines(Lines),
    /// Nothing but warnings, notes and trials that failed.
    Quiet,
}

impl Progress {
    /// A bar when stderr is a terminal, lines when it is a file or a pipe, neither when the user wants quiet.
    pub(crate) fn on_stderr(is_quiet: bool) -> Self {
        let form = if is_quiet {
            Form::Quiet
        } else if std::io::stderr().is_terminal() {
            Form::Terminal(Bar::new())
        } else {
            Form::Lines(Lines::default())
        };
        Self {
            form,
            failures: BTreeMap::new(),
        }
    }

    /// What is to be said of a trial that failed; nothing where an earlier one said the same.
    fn failed(&mut self, trial: u32, message: &str) -> Option<String> {
        let (_, count) = self.failures.entry(message.to_owned()).or_insert((trial, 0));
        *count += 1;
        (*count == 1).then(|| format!("trial {trial} failed: {message}"))
    }

    /// How many trials failed as an earlier one did.
    fn failed_alike(&self) -> Vec<String> {
        let mut failures: Vec<_> = self.failures.values().filter(|(_, count)| *count > 1).collect();
        failures.sort();
        let in_words = |(first, count): &&(u32, usize)| match count - 1 {
            1 => format!("one more trial failed with the same message as trial {first}"),
            more => format!("{more} more trials failed with the same message as trial {first}"),
        };
        failures.iter().map(in_words).collect()
    }

    fn say(&self, text: &str) {
        match &self.form {
            Form::Terminal(bar) => bar.drawn.suspend(|| note(text)),
            Form::Lines(_) | Form::Quiet => note(text),
        }
    }

    fn advance(&mut self, step: Step, (done, total): (u64, u64), remaining: Duration, doing: &str) {
        match &mut self.form {
            Form::Terminal(bar) => bar.advance(step, (done, total), remaining, doing),
            Form::Lines(lines) => {
                let message = format!("{} left · {doing}", clock_time(remaining));
                lines.advance(step, done, total, &message);
            }
            Form::Quiet => {}
        }
    }
}

/// The bar of a terminal. Its time left runs down by itself, so that a trial of minutes does not look as if it hung.
pub(crate) struct Bar {
    drawn: ProgressBar,
    /// What its style is for.
    step: Option<Step>,
    countdown: Countdown,
}

impl Bar {
    fn new() -> Self {
        let drawn = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
        Self {
            drawn,
            step: None,
            countdown: Countdown::new(),
        }
    }

    fn advance(&mut self, step: Step, (done, total): (u64, u64), remaining: Duration, doing: &str) {
        self.countdown.set(remaining);
        let before = self.step.replace(step);
        if before != Some(step) {
            self.drawn.set_style(style(step, self.countdown.clone()));
        }
        self.drawn.set_length(total);
        self.drawn.set_position(done);
        self.drawn.set_message(harmless(doing).into_owned());
        if before.is_none() {
            // Its thread ends with the bar.
            self.drawn.enable_steady_tick(TICK);
        }
    }
}

/// Trials are counted, bytes are in the words behind the bar.
const fn template(step: Step) -> &'static str {
    match step {
        Step::Preparing => "{bar:24} {left} left · {wide_msg}",
        Step::Measuring => "{bar:24} {pos}/{len} {left} left · {wide_msg}",
    }
}

fn style(step: Step, countdown: Countdown) -> ProgressStyle {
    let style = ProgressStyle::with_template(template(step)).unwrap_or_else(|_| ProgressStyle::default_bar());
    // Rounded, as the first of its seconds has begun when it is drawn.
    let half = TICK / 2;
    let left = move |_: &ProgressState, line: &mut dyn Write| {
        // What cannot be written to the line is left out of it.
        let _ = line.write_str(&clock_time(countdown.left() + half));
    };
    style.progress_chars("█▉▊▋▌▍▎▏ ").with_key("left", left)
}

/// A time that runs down; clones are of the same one.
#[derive(Clone)]
struct Countdown {
    clock: Clock,
    ends_ns: Arc<AtomicU64>,
}

impl Countdown {
    fn new() -> Self {
        Self {
            clock: Clock::new(),
            ends_ns: Arc::default(),
        }
    }

    fn set(&self, left: Duration) {
        let left_ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
        let ends_ns = self.clock.now_ns().saturating_add(left_ns);
        self.ends_ns.store(ends_ns, Ordering::Relaxed);
    }

    /// What is left; nothing once it is over.
    fn left(&self) -> Duration {
        self.left_at(self.clock.now_ns())
    }

    fn left_at(&self, now_ns: u64) -> Duration {
        Duration::from_nanos(self.ends_ns.load(Ordering::Relaxed).saturating_sub(now_ns))
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
                let doing = format!(
                    "preparing: {} of {} written",
                    format_bytes(bytes_done),
                    format_bytes(bytes_total)
                );
                self.advance(Step::Preparing, (bytes_done, bytes_total), remaining, &doing);
            }
            Event::TrialStarted {
                finished,
                total,
                cell,
                remaining,
                ..
            } => {
                let counts = (finished as u64, total as u64);
                self.advance(Step::Measuring, counts, remaining, &cell.label());
            }
            Event::TrialFinished {
                finished,
                total,
                cell,
                entry,
                remaining,
            } => {
                if let Outcome::Failed { message } = &entry.outcome
                    && let Some(news) = self.failed(entry.trial, message)
                {
                    self.say(&news);
                }
                let reached = cell
                    .reached(entry)
                    .map_or_else(String::new, |reached| format!(": {reached}"));
                let doing = format!("{}{reached}", cell.label());
                self.advance(
                    Step::Measuring,
                    (finished as u64, total as u64),
                    remaining,
                    &doing,
                );
            }
            Event::Note(text) => self.say(&format!("note: {text}")),
            Event::Warning(text) => self.say(&format!("warning: {text}")),
            _ => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Form::Terminal(bar) = &self.form {
            bar.drawn.finish_and_clear();
        }
        for alike in self.failed_alike() {
            note(&alike);
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
    fn a_failure_is_said_once_with_how_many_trials_had_it() {
        let mut progress = Progress::on_stderr(true);
        let mut said: Vec<String> = (3..8)
            .filter_map(|trial| progress.failed(trial, "the file is truncated"))
            .collect();
        said.extend(progress.failed(9, "no space"));
        assert_eq!(
            said,
            [
                "trial 3 failed: the file is truncated",
                "trial 9 failed: no space"
            ]
        );
        assert_eq!(
            progress.failed_alike(),
            ["4 more trials failed with the same message as trial 3"]
        );
    }

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
    fn the_time_left_runs_down_within_a_trial_and_ends_at_nothing() {
        let countdown = Countdown::new();
        countdown.set(Duration::from_secs(25));
        let shown_in_a_style = countdown.clone();
        let ends_ns = countdown.ends_ns.load(Ordering::Relaxed);
        let left = |seconds: u64| shown_in_a_style.left_at(ends_ns - seconds * 1_000_000_000);
        assert_eq!([25, 24, 1, 0].map(left), [25, 24, 1, 0].map(Duration::from_secs));
        assert_eq!(countdown.left_at(ends_ns + 1), Duration::ZERO);
        assert!(countdown.left() <= Duration::from_secs(25));
    }

    #[test]
    fn bytes_are_counted_in_words_and_trials_beside_the_bar() {
        for step in [Step::Preparing, Step::Measuring] {
            assert!(ProgressStyle::with_template(template(step)).is_ok());
        }
        assert!(!template(Step::Preparing).contains("{pos}"));
        assert!(template(Step::Measuring).contains("{pos}/{len}"));
    }

    #[test]
    fn remaining_time_reads_like_a_clock() {
        assert_eq!(clock_time(Duration::from_secs(65)), "1:05");
        assert_eq!(clock_time(Duration::from_secs(3723)), "1:02:03");
    }
}
