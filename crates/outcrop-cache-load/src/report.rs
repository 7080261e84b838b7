//! What a load measured: plain structs that a lab turns into records.

use std::time::Duration;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::OthersCpu;
use outcrop_workload::keyed::{Objective, RequestKind, VALUES_DIFFERED};

use crate::verdict::Verdict;

/// Requests of one kind.
#[derive(Clone, Debug, Default)]
pub struct KindReport {
    /// Requests that were answered.
    pub operations: u64,
    /// Closed loop: from the moment a request is made ready. Open loop: from the moment it was *due*; requests that
    /// were never answered are in it with their age, a lower bound.
    pub latency: LatencyHistogram,
    /// Open loop only: from the moment it was really made ready.
    pub service: LatencyHistogram,
}

/// Everything counted in one phase.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Gets, sets and deletes.
    pub kinds: [KindReport; 3],
    /// Gets that found a value.
    pub hits: u64,
    /// Gets that found none.
    pub misses: u64,
    /// Latencies of the gets that found a value, as in [`KindReport::latency`].
    pub hit_latency: LatencyHistogram,
    /// Latencies of the gets that found none; the set that may follow is not in it.
    pub miss_latency: LatencyHistogram,
    /// Bytes of the values found.
    pub hit_bytes: u64,
    /// Those of them that came within the measured time.
    pub hit_bytes_in_time: u64,
    /// Bytes of the values not found, as they would have been.
    pub missed_bytes: u64,
    /// Sets that followed a miss; they are among the sets.
    pub fills: u64,
    /// Answers that came within the measured time, of whatever kind.
    pub completed_in_time: u64,
    /// Those of them that are of sets on miss.
    pub fills_in_time: u64,
    /// Open loop: requests that were due in the measured time.
    pub due: u64,
    /// Of those, the ones that waited for their answer when half of the measured time was over.
    pub waiting_half_way: u64,
    /// The ones that waited when it ended.
    pub waiting_at_end: u64,
    /// Open loop: by how much each request was made ready after it was due and a connection was free for it.
    pub lateness: LatencyHistogram,
    /// Answers that came within the measured time and within the objective's limit.
    pub within_objective: u64,
    /// Values that were not those stored, those of other lengths among them.
    pub mismatches: u64,
    /// The first of them, in words.
    pub first_mismatch: Option<String>,
    /// Values of their keys in another length than this load stores: an earlier load stored them.
    pub other_lengths: u64,
    /// The first of them, in words.
    pub first_other_length: Option<String>,
    /// Requests that the server refused; they count in nothing else.
    pub refused: u64,
    /// The first of them, with the server's words.
    pub first_refusal: Option<String>,
    /// Due or sent in the measured time, and never answered.
    pub unfinished: u64,
    /// Connections that broke.
    pub broken_connections: u64,
    /// The first of them, in words.
    pub first_break: Option<String>,
}

impl Tally {
    /// Adds what another thread counted.
    pub fn merge(&mut self, other: Self) {
        for (ours, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            ours.operations += theirs.operations;
            ours.latency.merge(&theirs.latency);
            ours.service.merge(&theirs.service);
        }
        self.hits += other.hits;
        self.misses += other.misses;
        self.hit_latency.merge(&other.hit_latency);
        self.miss_latency.merge(&other.miss_latency);
        self.hit_bytes += other.hit_bytes;
        self.hit_bytes_in_time += other.hit_bytes_in_time;
        self.missed_bytes += other.missed_bytes;
        self.fills += other.fills;
        self.completed_in_time += other.completed_in_time;
        self.fills_in_time += other.fills_in_time;
        self.due += other.due;
        self.waiting_half_way += other.waiting_half_way;
        self.waiting_at_end += other.waiting_at_end;
        self.lateness.merge(&other.lateness);
        self.within_objective += other.within_objective;
        self.mismatches += other.mismatches;
        self.other_lengths += other.other_lengths;
        self.refused += other.refused;
        self.unfinished += other.unfinished;
        self.broken_connections += other.broken_connections;
        for (ours, theirs) in [
            (&mut self.first_mismatch, other.first_mismatch),
            (&mut self.first_other_length, other.first_other_length),
            (&mut self.first_refusal, other.first_refusal),
            (&mut self.first_break, other.first_break),
        ] {
            *ours = ours.take().or(theirs);
        }
    }

    /// Requests of one kind.
    pub const fn kind(&self, kind: RequestKind) -> &KindReport {
        &self.kinds[kind as usize]
    }

    /// Requests of all kinds.
    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.operations).sum()
    }

    /// Requests of all kinds that the server answered, by a refusal or otherwise.
    pub fn answers(&self) -> u64 {
        self.operations() + self.refused
    }

    /// Refusals ÷ answers; none without an answer.
    pub fn refused_share(&self) -> Option<f64> {
        ratio(self.refused, self.operations())
    }

    /// Latencies of all kinds.
    pub fn latency(&self) -> LatencyHistogram {
        self.of_all_kinds(|kind| &kind.latency)
    }

    /// Times from the moment a request was made ready, of all kinds; empty in a closed loop.
    pub fn service(&self) -> LatencyHistogram {
        self.of_all_kinds(|kind| &kind.service)
    }

    fn of_all_kinds(&self, of: impl Fn(&KindReport) -> &LatencyHistogram) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for kind in &self.kinds {
            all.merge(of(kind));
        }
        all
    }

    /// Hits ÷ gets; none without a get.
    pub fn hit_ratio(&self) -> Option<f64> {
        ratio(self.hits, self.misses)
    }

    /// Hits ÷ requests of all kinds, sets on miss left out: what some studies call their hit ratio. None without a request.
    pub fn hits_per_request(&self) -> Option<f64> {
        let requests = self.operations() - self.fills;
        (requests > 0).then(|| self.hits as f64 / requests as f64)
    }

    /// Bytes of the values found ÷ those of all values asked for; none without a get.
    pub fn byte_hit_ratio(&self) -> Option<f64> {
        ratio(self.hit_bytes, self.missed_bytes)
    }
}

fn ratio(part: u64, rest: u64) -> Option<f64> {
    (part + rest > 0).then(|| part as f64 / (part + rest) as f64)
}

/// What happened before measuring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmUpReport {
    /// Sets that filled the cache.
    pub sets: u64,
    /// Sets that the server refused.
    pub refused: u64,
    /// The first of those, with the server's words.
    pub first_refusal: Option<String>,
    /// Requests of the load itself.
    pub operations: u64,
    /// Those of them that were sets on miss.
    pub fills: u64,
    /// How long it took.
    pub duration: Duration,
    /// Whether the hit ratio stood still at its end; none where nobody looked.
    pub is_steady: Option<bool>,
}

impl WarmUpReport {
    /// Adds a stretch of the load.
    pub(crate) fn count(&mut self, tally: &Tally) {
        self.operations += tally.operations();
        self.fills += tally.fills;
    }
}

/// CPU time of the driver's threads in the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriverCpu {
    /// Of all threads.
    pub total_ns: u64,
    /// Of the busiest thread, over the measured time: near 1, the driver is the limit.
    pub busiest_share: f64,
}

/// CPU time of the server's process in the measured time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCpu {
    /// User and kernel, all threads; where the server lives in this process, those that were there before and after.
    pub total_ns: u64,
    /// What serves the port.
    pub process: String,
}

/// Everything that one load measured.
#[derive(Clone, Debug)]
pub struct LoadReport {
    /// How many requests the trace has whose requests these were; none where there was no trace.
    pub trace_requests: Option<u64>,
    /// Whether requests followed a schedule.
    pub is_open_loop: bool,
    /// Requests per second that the schedule asked for.
    pub requested_per_second: Option<f64>,
    /// By which goodput was counted.
    pub objective: Option<Objective>,
    /// Measured time.
    pub duration_ns: u64,
    /// Whether the user stopped it before its time.
    pub is_interrupted: bool,
    /// What was counted.
    pub tally: Tally,
    /// Before measuring.
    pub warm_up: WarmUpReport,
    /// Our own CPU time.
    pub driver_cpu: DriverCpu,
    /// The server's, or why it is not known.
    pub server_cpu: Result<ServerCpu, Unavailable>,
    /// The share of the CPUs of this machine that neither the driver nor the server used in the measured time; none where that is not
    /// known, as of a server on this machine whose CPU time is not.
    pub others_cpu_share: Option<f64>,
}

/// From this share of a CPU on, a thread has no time to spare.
const BUSY_SHARE: f64 = 0.95;

impl LoadReport {
    /// How many of a trace's requests were made, and how many it has, where it was not replayed to its end.
    pub fn part_of_trace(&self) -> Option<(u64, u64)> {
        let all = self.trace_requests?;
        let tally = &self.tally;
        let made = (tally.answers() + tally.unfinished).saturating_sub(tally.fills);
        (made < all).then_some((made, all))
    }

    /// Answers per second of measured time, refusals left out.
    pub fn throughput_per_second(&self) -> f64 {
        self.tally.completed_in_time as f64 * 1e9 / self.duration_ns.max(1) as f64
    }

    /// Bytes of the values found per second of measured time.
    pub fn read_bytes_per_second(&self) -> f64 {
        self.tally.hit_bytes_in_time as f64 * 1e9 / self.duration_ns.max(1) as f64
    }

    /// Answers per second to the requests that were asked for: sets on miss left out, so that it compares with the offered load.
    pub fn answered_per_second(&self) -> f64 {
        let asked = self.tally.completed_in_time - self.tally.fills_in_time;
        asked as f64 * 1e9 / self.duration_ns.max(1) as f64
    }

    /// Answers within the objective's limit per second; none without an objective.
    pub fn goodput_per_second(&self) -> Option<f64> {
        self.objective?;
        Some(self.tally.within_objective as f64 * 1e9 / self.duration_ns.max(1) as f64)
    }

    /// Whether the objective was kept; none without an objective.
    pub fn verdict(&self) -> Option<Verdict> {
        Some(Verdict::of(self, self.objective?))
    }

    /// CPU time of the driver per answer, refusals included: they cost as well.
    pub fn driver_cpu_per_operation_ns(&self) -> Option<f64> {
        per_operation(self.driver_cpu.total_ns, self.tally.answers())
    }

    /// CPU time of the server per answer, refusals included: they cost as well.
    ///
    /// # Errors
    /// The server's process is not known, or nothing was answered.
    pub fn server_cpu_per_operation_ns(&self) -> Result<f64, Unavailable> {
        let cpu = self.server_cpu.as_ref().map_err(Clone::clone)?;
        per_operation(cpu.total_ns, self.tally.answers())
            .ok_or_else(|| Unavailable::because("no request was answered"))
    }

    /// Whether the driver had no time to spare, so that the figures are its own and not the server's.
    pub fn is_driver_the_limit(&self) -> bool {
        self.driver_cpu.busiest_share >= BUSY_SHARE
    }

    /// The share of the CPUs that others used, where that disturbed what was measured.
    pub fn disturbance(&self) -> Option<f64> {
        self.others_cpu_share.filter(|share| *share > OthersCpu::MATTER)
    }

    /// What a reader must know before he believes the figures; each a sentence.
    pub fn problems(&self) -> Vec<String> {
        let tally = &self.tally;
        let mut problems = Vec::new();
        let mut count = |count: u64, what: &str, first: &Option<String>| {
            if count > 0 {
                let first = first.as_deref().unwrap_or("no details");
                problems.push(format!("{count} {what}, the first: {first}"));
            }
        };
        count(
            tally.mismatches - tally.other_lengths,
            VALUES_DIFFERED,
            &tally.first_mismatch,
        );
        count(
            tally.other_lengths,
            "values differ in length from those of this load, so they come from an earlier load with other value sizes",
            &tally.first_other_length,
        );
        if let Some(share) = tally.refused_share() {
            let refused = format!("requests were refused, {:.1} % of all answers", share * 100.0);
            count(tally.refused, &refused, &tally.first_refusal);
        }
        let never = "sets of the warm-up were refused, so gets of those keys can never hit";
        count(self.warm_up.refused, never, &self.warm_up.first_refusal);
        count(tally.broken_connections, "connections broke", &tally.first_break);
        if tally.unfinished > 0 {
            problems.push(format!(
                "{} requests were never answered; their age at the end counts as latency",
                tally.unfinished
            ));
        }
        let is_stored =
            self.warm_up.sets > self.warm_up.refused || tally.kind(RequestKind::Set).operations > 0;
        if tally.hits == 0 && tally.misses > 0 && !is_stored {
            let remedy = match self.trace_requests.is_some() {
                true => "set keys after a miss (--set-on-miss), or replay a trace that has sets",
                false => "warm up, set on miss, or put sets in the mix",
            };
            problems.push(format!(
                "no get hit and nothing was set, so these keys cannot exist; {remedy}"
            ));
        }
        if tally.answers() == 0 {
            problems.push("nothing was answered".to_owned());
        }
        problems
    }

    /// Whether the figures say nothing of a cache: nothing came back, or what came back is wrong.
    pub fn is_void(&self) -> bool {
        self.tally.mismatches > 0 || self.tally.answers() == 0
    }
}

fn per_operation(cpu_ns: u64, operations: u64) -> Option<f64> {
    (operations > 0).then(|| cpu_ns as f64 / operations as f64)
}

#[cfg(test)]
impl LoadReport {
    /// What the driver would report of an open loop beside these counts.
    pub(crate) fn of_open_loop(
        objective: Objective,
        requested_per_second: Option<f64>,
        duration_ns: u64,
        tally: Tally,
    ) -> Self {
        Self {
            trace_requests: None,
            is_open_loop: true,
            requested_per_second,
            objective: Some(objective),
            duration_ns,
            is_interrupted: false,
            tally,
            warm_up: WarmUpReport::default(),
            driver_cpu: DriverCpu {
                total_ns: 0,
                busiest_share: 0.0,
            },
            server_cpu: Err(Unavailable::because("there is none")),
            others_cpu_share: None,
        }
    }
}
