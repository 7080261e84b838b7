//! Progress of one long piece of work: a bar on a terminal, a few lines elsewhere, nothing where it is over soon.

use crate::output::note;
use crate::progress::clock_time;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use outcrop_column::Column;
use std::io::{IsTerminal as _, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Work that is over within this time is not talked about.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where the work is shown. Clones are the same work.
#[derive(Clone)]
pub(crate) struct LongWork {
    shown: Arc<Mutex<Shown>>,
}

struct Shown {
    bar: ProgressBar,
    is_terminal: bool,
    step: &'static str,
    /// Tenths of the step that a log has heard of.
    tenths: u64,
}

impl LongWork {
    /// A bar when stderr is a terminal, lines when it is a file or a pipe.
    pub(crate) fn on_stderr() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let shown = Shown {
            bar: ProgressBar::hidden(),
            is_terminal,
            step: "",
            tenths: 0,
        };
        Self {
            shown: Arc::new(Mutex::new(shown)),
        }
    }

    /// The step `what` is at `done` of `total`; a total of 0 is not known.
    pub(crate) fn advance(&self, what: &'static str, done: u64, total: u64) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.advance(what, done, total);
    }

    /// Shows what `column` reports, as the step `what`.
    pub(crate) fn watch(&self, column: &mut Column, what: &'static str) {
        let work = self.clone();
        column.watch(move |progress| work.advance(what, progress.done, progress.total));
    }

    /// `input`, whose bytes are the step `what`.
    pub(crate) fn counted<'a>(
        &'a self,
        what: &'static str,
        total: u64,
        input: impl Read + 'a,
    ) -> impl Read + 'a {
        Counted {
            work: self,
            what,
            done: 0,
            total,
            input,
        }
    }
}

impl Shown {
    fn advance(&mut self, what: &'static str, done: u64, total: u64) {
        if self.step != what {
            self.begin(what, total);
        }
        self.bar.set_position(done);
        if self.is_terminal || total == 0 || self.bar.elapsed() < PATIENCE {
            return;
        }
        let tenths = (u128::from(done) * 10 / u128::from(total)) as u64;
        if tenths > self.tenths {
            self.tenths = tenths;
            note(&line(what, tenths, self.bar.eta()));
        }
    }

    fn begin(&mut self, what: &'static str, total: u64) {
        self.bar.finish_and_clear();
        self.step = what;
        self.tenths = 0;
        if !self.is_terminal {
            self.bar = ProgressBar::hidden();
            self.bar.set_length(total);
            return;
        }
        self.bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
        let template = if total == 0 {
            "{spinner} {msg} {binary_bytes}, {binary_bytes_per_sec}"
        } else {
            "{bar:24} {percent:>3} %  {msg}, {eta} left"
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        self.bar.set_message(what);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// What a log says.
fn line(what: &str, tenths: u64, left: Duration) -> String {
    format!("{:3} %  {what}, {} left", tenths * 10, clock_time(left))
}

struct Counted<'a, R> {
    work: &'a LongWork,
    what: &'static str,
    done: u64,
    total: u64,
    input: R,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.done += read as u64;
        self.work.advance(self.what, self.done, self.total);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_told_the_step_its_share_and_the_time_left() {
        assert_eq!(
            line("encoding", 3, Duration::from_secs(65)),
            " 30 %  encoding, 1:05 left"
        );
    }

    #[test]
    fn reading_counts_every_byte_and_changes_none() {
        let work = LongWork::on_stderr();
        let mut seen = Vec::new();
        work.counted("reading", 5, &b"slate"[..])
            .read_to_end(&mut seen)
            .unwrap();
        assert_eq!(seen, b"slate");
        assert_eq!(work.shown.lock().unwrap().bar.position(), 5);
    }
}
