//! What cells of this layer have beyond their factors and metrics: a direction, a concurrency, words.

use outcrop_measure::metric::Metric;
use outcrop_measure::units::format_bytes;
use outcrop_results::TrialEntry;
use outcrop_results::factors::NOT_STATED;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, ARRIVAL_REQUESTED, ByDirection, COMPLETIONS, CONTENT, DRIVES, Direction,
    ENGINE, IO_BLOCK_SIZE, IOPS, JOBS, LATENCY, LATENCY_PARTS, NUMA_NODE, PUBLISHED_MEAN_LATENCY,
    QUEUE_DEPTH, READ_WRITE_MIX, REPLAY, SPAN, SUBMISSION, SYNC,
};
use outcrop_workload::{AccessPattern, Arrivals, EngineKind, Replay};

use crate::cell::Cell;
use crate::layer::overload::Overload;
use crate::number::Number;

/// The median latency, by direction.
pub(super) const P50: ByDirection<Metric> = ByDirection {
    both: LATENCY.both.p50,
    read: LATENCY.read.p50,
    write: LATENCY.write.p50,
};
/// The latency that one in a hundred exceeds, by direction.
pub(super) const P99: ByDirection<Metric> = ByDirection {
    both: LATENCY.both.p99,
    read: LATENCY.read.p99,
    write: LATENCY.write.p99,
};
/// The latency that one in a thousand exceeds, by direction.
pub(super) const P99_9: ByDirection<Metric> = ByDirection {
    both: LATENCY.both.p99_9,
    read: LATENCY.read.p99_9,
    write: LATENCY.write.p99_9,
};

/// A cell of a device, measured by this run or published by somebody.
pub(super) trait DeviceCell {
    /// The cell itself.
    fn cell(&self) -> &Cell<'_>;

    /// Share of reads, 0 to 100.
    fn read_percent(&self) -> Option<u8> {
        self.cell().get(&READ_WRITE_MIX).map(|mix| mix.read_percent())
    }

    /// The direction of a cell that does nothing else.
    fn only(&self) -> Option<Direction> {
        Direction::ALL
            .into_iter()
            .find(|direction| self.cell().is(&READ_WRITE_MIX, &direction.mix()))
    }

    /// Whether it reads and writes.
    fn is_mixed(&self) -> bool {
        self.read_percent().is_some() && self.only().is_none()
    }

    /// Whether it wrote, in a closed loop, what it read afterwards: its writes have figures of their own, by direction.
    fn reads_back(&self) -> bool {
        self.cell().is(&REPLAY, &Replay::Written)
    }

    /// Whether it goes to random places.
    fn is_random(&self) -> bool {
        self.cell().is(&ACCESS_PATTERN, &AccessPattern::Random)
    }

    /// Whether its writes wait until they are durable. Advice is of those that do not, where a run has them.
    fn is_synced(&self) -> bool {
        self.cell().get(&SYNC).is_some_and(|sync| !sync.is_none())
    }

    /// Drives that were loaded at the same time.
    fn drives(&self) -> u32 {
        self.cell().get(&DRIVES).copied().unwrap_or(1)
    }

    /// Submitting threads, of all drives.
    fn jobs(&self) -> u32 {
        self.cell().get(&JOBS).copied().unwrap_or(1) * self.drives()
    }

    /// Requests kept in flight over all jobs, as asked for.
    fn concurrency(&self) -> Option<f64> {
        let depth = self.cell().place(&QUEUE_DEPTH)?;
        Some(depth * f64::from(self.jobs()))
    }

    /// Whether a new request goes out when one completes.
    fn is_closed_loop(&self) -> bool {
        self.cell().is_default(&ARRIVAL)
    }

    /// What an open loop offers per second; where that is a share of the closed loop's rate, as its trials had it.
    fn offered(&self) -> Option<f64> {
        match self.cell().get(&ARRIVAL)? {
            Arrivals::Given(_) => self.cell().place(&ARRIVAL),
            Arrivals::Share(..) => self.cell().value(&ARRIVAL_REQUESTED),
        }
    }

    /// Whether its requests went anywhere.
    fn reaches_device(&self) -> bool {
        !self.cell().is(&ENGINE, &EngineKind::Noop)
    }

    /// Whether its rate is the device's: always in a closed loop; in an open loop, where the schedule sets it, only if the
    /// device fell behind. The draw of a random schedule is not behind.
    fn shows_capability(&self) -> bool {
        self.reaches_device() && (self.is_closed_loop() || self.is_overloaded())
    }

    /// By how much the device fell behind an open loop: its latencies grow with the length of the trial.
    fn overload(&self) -> Option<Overload> {
        let (asked, answered) = (
            self.cell().value(&ARRIVAL_REQUESTED)?,
            self.cell().value(&IOPS.both)?,
        );
        Overload::of(asked, answered).filter(|_| !self.is_closed_loop())
    }

    /// Whether it is an open loop whose device fell behind.
    fn is_overloaded(&self) -> bool {
        self.overload().is_some()
    }

    /// A metric of one direction: the directed metric (`read_iops`), or the plain one of a cell that does
    /// nothing else.
    fn directed(&self, direction: Direction, metric: &ByDirection<Metric>) -> Option<&Number> {
        let plain = || {
            let is_pure = self.only() == Some(direction);
            self.cell().number(&metric.both).filter(|_| is_pure)
        };
        self.cell().number(&metric.of(Some(direction))).or_else(plain)
    }

    /// A latency of all its requests, or of the only direction that there is.
    fn latency(&self, metric: &ByDirection<Metric>) -> Option<&Number> {
        let both = self.cell().number(&metric.both);
        both.or_else(|| self.directed(self.only()?, metric))
    }

    /// The mean latency, or what a publication calls one.
    fn mean_latency(&self) -> Option<&Number> {
        self.cell()
            .first_number(&[LATENCY.both.mean, PUBLISHED_MEAN_LATENCY])
    }

    /// The access in words: `4 KiB random`.
    fn access(&self) -> String {
        let size = self.cell().get(&IO_BLOCK_SIZE);
        let size = size.map_or_else(|| "size not stated".to_owned(), |size| format_bytes(size.0));
        match self.cell().spelling(&ACCESS_PATTERN) {
            // A result without its options.
            "" | NOT_STATED => size,
            pattern => format!("{size} {pattern}"),
        }
    }

    /// The depth in words: `QD 32`, `4 jobs × QD 64`.
    fn depth_words(&self) -> String {
        let depth = self.cell().get(&QUEUE_DEPTH);
        let depth = depth.map_or_else(|| "QD not stated".to_owned(), |depth| format!("QD {depth}"));
        let of_drive = match self.jobs() / self.drives() {
            1 => depth,
            jobs => format!("{jobs} jobs × {depth}"),
        };
        match self.drives() {
            1 => of_drive,
            drives => format!("{drives} drives × {of_drive}"),
        }
    }

    /// The requests in words: `4 KiB random reads`, `4 KiB random 70:30 mix`.
    fn requests(&self) -> String {
        let mix = match (self.only(), self.read_percent()) {
            (Some(direction), _) => format!(" {direction}s"),
            (None, Some(read)) => format!(" {read}:{} mix", 100 - read),
            (None, None) => String::new(),
        };
        format!("{}{mix}", self.access())
    }

    /// What else tells it from others, each behind a comma: an arrival process, an engine, content or a span that is not the usual one.
    fn circumstances(&self) -> String {
        let cell = self.cell();
        let mut words: Vec<String> = [
            &ARRIVAL as FactorRef,
            &SUBMISSION,
            &COMPLETIONS,
            &LATENCY_PARTS,
            &SYNC,
            &ACCESS,
            &NUMA_NODE,
            &ENGINE,
        ]
        .into_iter()
        .filter(|factor| cell.spelling(factor.about()) != NOT_STATED)
        .filter_map(|factor| cell.told(factor))
        .collect();
        // Where nothing is read back, the requests say so.
        words.extend(Some(cell.label(&[&REPLAY])).filter(|label| !label.is_empty()));
        let writes = self.only() != Some(Direction::Read) || self.reads_back();
        let content = cell.apart(&[&CONTENT]);
        if content.is_empty() && writes && !cell.is_default(&CONTENT) {
            words.push(format!("content {}", cell.spelling(&CONTENT)));
        }
        words.extend(content);
        let span = cell.spelling(&SPAN);
        // The span is the subject's size where nothing else was asked for, and the subject says its size: as a whole word, the last
        // one before a comma. `18MiB` does not say `8MiB`.
        let is_whole = format!("{},", cell.subject()).contains(&format!(" {span},"));
        let is_stated = span != NOT_STATED && cell.view().is_some();
        if is_stated && !cell.is_default(&SPAN) && !is_whole {
            words.push(format!("span {span}"));
        }
        words.extend(cell.subject_apart().map(|subject| format!("on {subject}")));
        words.iter().map(|word| format!(", {word}")).collect()
    }

    /// The same without a factor that is said otherwise.
    fn circumstances_but_for(&self, factor: FactorRef) -> String {
        let spelled = format!("{} {}", factor.words(), self.cell().spelling(factor));
        let said = self.cell().told(factor).into_iter().chain([spelled]);
        said.fold(self.circumstances(), |words, said| {
            words.replacen(&format!(", {said}"), "", 1)
        })
    }

    /// Its access behind a comma, where cells of the run differ in it; the size alone where all are random.
    fn access_apart(&self) -> String {
        let differs = |factor: FactorRef| !self.cell().apart(&[factor]).is_empty();
        match (differs(&IO_BLOCK_SIZE), differs(&ACCESS_PATTERN)) {
            (false, false) => String::new(),
            (true, false) if self.is_random() => format!(", {}", self.cell().shown(&IO_BLOCK_SIZE)),
            _ => format!(", {}", self.access()),
        }
    }

    /// The cell in words: `4 KiB random 70:30 mix, QD 32`, with the jobs where there are several, and what else is unusual.
    fn words(&self) -> String {
        format!(
            "{}, {}{}",
            self.requests(),
            self.depth_words(),
            self.circumstances()
        )
    }
}

impl DeviceCell for Cell<'_> {
    fn cell(&self) -> &Cell<'_> {
        self
    }
}

/// The value that one trial gave of a metric.
pub(super) fn value_of(trial: &TrialEntry, metric: &Metric) -> Option<f64> {
    let mut values = trial.values.iter();
    values.find(|value| value.metric == metric.name)?.value
}

/// A trial in words: `4 KiB random reads, QD 8, trial 2`.
pub(super) fn trial_words(cell: &Cell<'_>, trial: &TrialEntry) -> String {
    format!("{}, trial {}", cell.words(), trial.repetition + 1)
}
