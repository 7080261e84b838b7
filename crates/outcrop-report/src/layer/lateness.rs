//! Whether the load generators of open loops kept their own schedule, in every layer that records how late they were.

use outcrop_measure::metric::{Metric, Unit};
use outcrop_measure::units::format_nanoseconds;
use outcrop_results::TrialEntry;
use outcrop_schema::lateness::{LATE, P99, is_late};

use crate::answer::{Caution, Gravity};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// A trial of an open loop.
struct Trial {
    /// The cell and the trial in words.
    words: String,
    /// p99 of the generator's delay, in nanoseconds.
    late_ns: f64,
    /// Median time from issue to completion.
    service_ns: f64,
}

impl Trial {
    fn share(&self) -> f64 {
        self.late_ns / self.service_ns
    }
}

/// The generators of the open loops of a layer.
pub(super) struct Generators {
    has_open_loop: bool,
    /// Trials that say how late they were.
    checked: usize,
    /// Those that were late, worst first.
    late: Vec<Trial>,
}

impl Generators {
    /// Those of these cells, which are open loops, by the median service latency of their layer.
    pub(super) fn of<'c, 'a: 'c>(
        open: impl IntoIterator<Item = &'c Cell<'a>>,
        service_p50: &Metric,
        words: fn(&Cell<'_>) -> String,
    ) -> Self {
        let trial = |cell: &Cell<'_>, trial: &TrialEntry| {
            Some(Trial {
                words: format!("{}, trial {}", words(cell), trial.repetition + 1),
                late_ns: trial.number(&P99)?,
                service_ns: trial.number(service_p50)?,
            })
        };
        let open: Vec<&Cell<'_>> = open.into_iter().collect();
        let mut late: Vec<Trial> = Vec::new();
        for cell in &open {
            late.extend(cell.trials().iter().filter_map(|one| trial(cell, one)));
        }
        let checked = late.len();
        late.retain(|one| is_late(one.late_ns, one.service_ns));
        late.sort_by(|one, other| other.share().total_cmp(&one.share()));
        Self {
            has_open_loop: !open.is_empty(),
            checked,
            late,
        }
    }

    /// Whether any of them issued requests late.
    pub(super) fn are_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Says that latencies include delays of the generator.
    pub(super) fn caution(&self) -> Option<Caution> {
        let worst = self.late.first()?;
        let text = format!(
            "In {} of {} open-loop trials this machine issued requests late, and the latencies include that delay (worst: p99 {} late, {}). The service latencies do not.",
            self.late.len(),
            self.checked,
            format_nanoseconds(worst.late_ns),
            worst.words
        );
        Some(Caution::warning(text).graded(Gravity::Late))
    }

    /// Requests were issued when they were due: a check of the run.
    pub(super) fn finding(&self, id: &str) -> Finding {
        self.tested(id).of_run("Open loops issued requests late")
    }

    fn tested(&self, id: &str) -> Finding {
        const SENTENCE: &str = "Open loops issued their requests on time.";
        if self.checked == 0 {
            let reason = match self.has_open_loop {
                false => "no open loop was run, and a closed loop has no schedule to be late for.",
                true => {
                    "no open-loop trial has a p99 of its lateness: it had too few requests, or an earlier version recorded it."
                }
            };
            return Finding::not_testable(id, SENTENCE, reason);
        }
        let (checked, late) = (self.checked, self.late.len());
        let tested = format!(
            "p99 of the delay from when a request was due, and a slot, a connection or a thread was free for it, until it was issued, in {}: \
             in each, at most {:.0} % of the median time from issue to completion; {late} later.",
            counted(checked, "open-loop trial"),
            LATE * 100.0,
        );
        let count = Number::derived("trials that were late", late as f64, Unit::Count, checked);
        let worst = self.late.first().into_iter().flat_map(|trial| {
            let time = |what: &str, value| {
                Number::derived(format!("{what} ({})", trial.words), value, Unit::Nanoseconds, 1)
            };
            [
                time("p99 of the generator's delay", trial.late_ns),
                time("median service time", trial.service_ns),
            ]
        });
        Finding::tested(id, SENTENCE, self.late.is_empty(), tested)
            .otherwise(
                "The latencies of these trials include delays of this machine: the thread woke late, had no CPU, or was busy with other requests. The service latencies do not include them.",
            )
            .numbers([count].into_iter().chain(worst))
    }
}
